"""
Documents: the terms of a mode
==============================

Documents as tf-idf vectors have many sparse dimensions, and a mean has a little of every term. A
mode averages documents that are similar, and its terms tell what they are about.

The documents are posts of the 20 newsgroups, if scikit-learn has downloaded them before. Otherwise
they are the docstrings of the functions and classes of SciPy. The newsgroup or subpackage of each
document is known, for comparison. The text below is about SciPy.
"""

import inspect
import warnings
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import TfidfVectorizer

from modeclust import KModes, cluster_modes, report
from modeclust.exceptions import CenterLengthWarning
from modeclust.plotting import ModesDisplay
from modeclust.plotting.palette import COLORS

# %%
# From texts to rows
# ------------------
#
# ``TfidfVectorizer`` returns a CSR matrix, which ``KModes`` accepts. The length of a document
# should not matter, so the metric is "cosine": documents and modes are directions. Two documents
# without a common term have the distance :math:`\sqrt 2`.


def posts():
    """Return posts of some newsgroups, and the group of each."""
    news = fetch_20newsgroups(
        categories=[
            "comp.graphics",
            "rec.autos",
            "rec.sport.hockey",
            "sci.crypt",
            "sci.med",
            "sci.space",
            "soc.religion.christian",
            "talk.politics.mideast",
        ],
        remove=("headers", "footers", "quotes"),
        download_if_missing=False,
    )
    return [
        (text, news.target_names[group])
        for text, group in zip(news.data, news.target, strict=True)
        if len(text) > 500
    ]


def docstrings():
    """Return the documentation of functions and classes of SciPy, and the subpackage of each."""
    subpackages = [
        "fft",
        "integrate",
        "interpolate",
        "linalg",
        "ndimage",
        "optimize",
        "signal",
        "sparse",
    ]
    found = {}
    for subpackage in subpackages:
        module = import_module(f"scipy.{subpackage}")
        for member in (getattr(module, name) for name in module.__all__):
            text = inspect.getdoc(member)
            if callable(member) and len(text or "") > 500:
                found.setdefault(text, subpackage)
    return list(found.items())


try:
    documents = posts()
except OSError:  # the posts are not available
    documents = docstrings()
texts, origin = (np.array(column, dtype=object) for column in zip(*documents, strict=True))

vectorizer = TfidfVectorizer(
    stop_words="english", token_pattern="[a-zA-Z]{3,}", min_df=5, max_df=0.3, sublinear_tf=True
)
X = vectorizer.fit_transform(texts)
terms = vectorizer.get_feature_names_out()
print(f"{X.shape[0]} documents, {X.shape[1]} terms, {X.nnz / X.shape[0]:.0f} of them in a document")

# %%
# Modes by their terms
# --------------------
#
# Each mode averages a few similar documents. Each panel shows the largest terms of a mode; the
# marks are the mean of the 20 nearest documents of its cluster.

model = KModes(9, metric="cosine", random_state=0).fit(X)
ModesDisplay.from_estimator(model, X, feature_names=terms)
plt.show()

# %%
# What sets a mode apart
# ----------------------
#
# The largest terms of a mode may be large in all documents. What sets a mode apart are the terms
# that it has more of than all documents have. Here a term counts by its weight, times the logarithm
# of the ratio of this weight to the mean of all documents. This is the idea of c-TF-IDF, applied to
# modes. The table also shows the most frequent subpackage of each cluster with its share, and the
# exemplar: the document nearest to the mode.

overall = np.asarray(X.mean(axis=0)).ravel()
with np.errstate(divide="ignore", invalid="ignore"):
    telling = np.nan_to_num(model.modes_ * np.log(model.modes_ / overall))

for k in np.argsort(-model.counts_):
    names, counts = np.unique(origin[model.labels_ == k], return_counts=True)
    share = counts.max() / counts.sum()
    print(f"{counts.sum():4d} documents, {share:.0%} of {names[counts.argmax()]}")
    print(f"     {' '.join(terms[np.argsort(-telling[k])[:7]])}")
    print(f"     {texts[model.exemplar_indices_[k]].strip().splitlines()[0]}")

# %%
# Why directions
# --------------
#
# The mean of similar documents is long, and the mean of documents with little in common is short.
# By the euclidean metric, a document that is far from all centers is nearest to the shortest one.
# So one cluster collects what fits nowhere else, and ``KModes`` warns of it. Compare the lengths of
# the centers, and the size of the largest cluster:

warnings.simplefilter("ignore", CenterLengthWarning)
for metric in ("euclidean", "cosine"):
    other = KModes(9, metric=metric, random_state=0).fit(X)
    lengths = np.linalg.norm(other.cluster_centers_, axis=1)
    print(
        f"{metric:>9}: lengths {lengths.min():.2f} to {lengths.max():.2f}, "
        f"largest cluster {other.counts_.max()} of {X.shape[0]} documents"
    )

# %%
# From mean to mode
# -----------------
#
# The three clusters whose modes are farthest from the mean direction of their documents, which is
# the mode at an infinite bandwidth. At the top are the terms that gained the most weight, at the
# bottom the terms that lost the most. The latter are from documents at the edge of the cluster, and
# have no weight in the mode.

means = cluster_modes(X, model.labels_, bandwidth=np.inf, metric="cosine").modes
moved = np.linalg.norm(model.modes_ - means, axis=1)
figure, axes = plt.subplots(1, 3, figsize=(10, 4.4), layout="constrained", sharex=True)
for ax, k in zip(axes, np.argsort(-moved)[:3], strict=True):
    mean, mode = means[k], model.modes_[k]
    by_gain = np.argsort(mode - mean)
    shown = np.concatenate([by_gain[:5], by_gain[-9:]])
    places = np.arange(len(shown))
    ax.hlines(places, mean[shown], mode[shown], color="0.6", zorder=1)
    ax.scatter(mean[shown], places, color=COLORS[2], marker="s", label="mean")
    ax.scatter(mode[shown], places, color=COLORS[0], label="mode")
    ax.set_yticks(places, terms[shown])
    ax.set(title=f"cluster {k}", xlabel="weight of the term")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()

# %%
# The report
# ----------
#
# The report shows each cluster by its telling words and real documents.

report(model, list(texts), X=X, y=origin, path=None, title="Documents")

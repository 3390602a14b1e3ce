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
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import TfidfVectorizer

from modeclust import KModes
from modeclust.plotting import ModesDisplay
from modeclust.plotting.palette import COLORS

# %%
# From texts to rows
# ------------------
#
# ``TfidfVectorizer`` returns a CSR matrix, which ``KModes`` accepts. Its rows have unit length, so
# two documents without a common term have the distance :math:`\sqrt 2`.


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
# By default, each mode averages a few similar documents. Each panel shows the largest terms of a
# mode; the marks are the mean of the 20 nearest documents of its cluster.

model = KModes(9, random_state=0).fit(X)
ModesDisplay.from_estimator(model, X, feature_names=terms)
plt.show()

# %%
# What the modes are about
# ------------------------
#
# For each cluster, the table shows the most frequent subpackage with its share, and the number of
# terms that make up nine tenths of the weight of the mean and of the mode. If a cluster has a dense
# core, its mode has fewer terms than its mean. The largest cluster has the remaining documents,
# which are far from all cores. They are from several subpackages, and their mode is as broad as a
# mean.


def breadth(center):
    """Return the number of terms that make up nine tenths of a center."""
    shares = np.sort(np.abs(center))[::-1].cumsum() / np.abs(center).sum()
    return np.searchsorted(shares, 0.9) + 1


means = model.path_[0].centers
print("cluster  documents  most are from                 terms: mean  mode")
for k, (mean, mode) in enumerate(zip(means, model.modes_, strict=True)):
    names, counts = np.unique(origin[model.labels_ == k], return_counts=True)
    share = counts.max() / counts.sum()
    print(
        f"{k:7d}  {counts.sum():9d}  {names[counts.argmax()]:>22} {share:6.0%}  "
        f"{breadth(mean):11d}  {breadth(mode):4d}"
    )

# %%
# From mean to mode
# -----------------
#
# The three clusters whose centers moved the farthest. At the top are the terms that gained the most
# weight, at the bottom the terms that lost the most. The latter are from documents that do not fit
# into any cluster, and have no weight in the mode.

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
axes[-1].legend(loc="lower right", fontsize="small")
plt.show()

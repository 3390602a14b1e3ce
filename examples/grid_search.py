"""
Bandwidth and K by grid search
==============================

:class:`modeclust.KModes` works in ``GridSearchCV`` as any estimator does. What to search by is the
question: its own ``score`` can compare neither bandwidths nor K. Classes can, where some are known,
and the likelihood of held-out rows can tell bandwidths apart, where none are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.utils import shuffle

from modeclust import KModes
from modeclust.plotting import PathDisplay
from modeclust.plotting.palette import COLORS

# %%
# Two narrow groups lie beside one with a long tail. (With a tail half as long, K-means tells the
# three apart already, and the bandwidth matters little.)

narrow, y = make_blobs([150, 150], centers=[[0, 0], [0, 5]], cluster_std=0.4, random_state=0)
rng = np.random.default_rng(0)
tail = np.column_stack([2 + rng.gamma(1.2, 3, 300), rng.normal(0, 0.7, 300)])
X, y = shuffle(np.vstack([narrow, tail]), np.append(y, np.full(300, 2)), random_state=0)

numbers = [2, 3, 4, 5]
bandwidths = np.geomspace(0.25, 16, 7)

# %%
# With ``scoring=None`` a grid search takes the estimator's ``score``: the mean kernel value of a
# row at its nearest mode. That grows with the bandwidth whatever the data, since a wider kernel is
# higher everywhere but at its centre; and with K, since one of more modes is nearer. A search by it
# ends at the largest of the grid.

model = KModes(n_clusters=3, n_init=5, random_state=0)
by_score = GridSearchCV(model, {"bandwidth": bandwidths}, cv=3).fit(X)
print(f"by score: bandwidth {by_score.best_params_['bandwidth']:g}, the largest")
of_numbers = GridSearchCV(model.set_params(bandwidth=1.0), {"n_clusters": numbers}, cv=3).fit(X)
print(f"by score: K = {of_numbers.best_params_['n_clusters']}, the largest")

# %%
# Classes of the rows can be compared with clusters at any bandwidth and for any K. The adjusted
# Rand index is 1 for the same partition and 0 for one at random. It is measured on the third of
# the rows that a fit has not seen.

grid = {"n_clusters": numbers, "bandwidth": bandwidths}
by_class = GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=3).fit(X, y)
chosen = by_class.best_params_
index = by_class.cv_results_["mean_test_score"].reshape(len(bandwidths), len(numbers))
print(f"by class: K = {chosen['n_clusters']}, bandwidth {chosen['bandwidth']:g}")
print(f"adjusted Rand index {by_class.best_score_:.3f}")

# %%
# Without classes, the density itself can be judged. A kernel density of the same bandwidth is
# normalised, so that the likelihood of held-out rows falls both where it smooths too much and
# where it fits single rows. (``KModes(bandwidth="likelihood")`` does this by itself, leaving out
# one row at a time.) It says nothing of K; for that, see from which K on clusters are redundant,
# which is to say that the density does not dip between two modes.

by_likelihood = GridSearchCV(KernelDensity(), {"bandwidth": bandwidths}, cv=3).fit(X)
smooth = by_likelihood.best_params_["bandwidth"]
print(f"by likelihood: bandwidth {smooth:g}")
for n_clusters in numbers:
    pairs = model.set_params(n_clusters=n_clusters, bandwidth=smooth).fit(X).redundant_clusters()
    print(f"K = {n_clusters}: redundant pairs {pairs}")

# %%
# At the top left, the score only rises, and the likelihood has a peak. At the top right, no K does
# well at large bandwidths, which are nearly K-means: the tail draws a mean away, and its beginning
# goes to the narrow group beside it. At small bandwidths the right K stands out, and several
# bandwidths do equally well.
#
# At the bottom is the model that the search by class returns. Stars are the means that it started
# from, lines the ways to the modes.

fig, axes = plt.subplot_mosaic(
    [["scores", "index"], ["best", "best"]],
    figsize=(9, 7.6),
    height_ratios=(1, 1.2),
    layout="constrained",
)
score = by_score.cv_results_["mean_test_score"]
axes["scores"].plot(bandwidths, score, "o-", color=COLORS[0])
axes["scores"].set(xscale="log", xlabel="bandwidth", ylim=(0, 1.05))
axes["scores"].set_xticks(bandwidths, [f"{h:g}" for h in bandwidths])
axes["scores"].minorticks_off()
axes["scores"].set_ylabel("score of held-out rows", color=COLORS[0])
likelihood = axes["scores"].twinx()
per_row = by_likelihood.cv_results_["mean_test_score"] / (len(X) / 3)
likelihood.plot(bandwidths, per_row, "s--", color=COLORS[2])
likelihood.set_ylabel("log-likelihood of a held-out row", color=COLORS[2])

image = axes["index"].imshow(index.T, origin="lower", aspect="auto", cmap="cividis", vmin=0, vmax=1)
for (i, j), value in np.ndenumerate(index):
    dark = value < 0.5
    axes["index"].text(i, j, f"{value:.2f}", ha="center", va="center", color="w" if dark else "k")
axes["index"].set_xticks(range(len(bandwidths)), [f"{h:g}" for h in bandwidths])
axes["index"].set_yticks(range(len(numbers)), numbers)
axes["index"].set(xlabel="bandwidth", ylabel="K", title="adjusted Rand index")

PathDisplay.from_estimator(by_class.best_estimator_, X, ax=axes["best"])
plt.show()

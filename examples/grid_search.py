"""
Bandwidth and K by grid search
==============================

:class:`modeclust.KModes` works in ``GridSearchCV``, but its ``score`` cannot be used to choose the
bandwidth or K. If classes are known, compare the clusters with them. If not, the likelihood of
held-out rows can be used to choose the bandwidth.
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
# Two narrow groups are next to a group with a long tail. (If the tail were half as long, K-means
# would already separate the three groups, and the bandwidth would hardly matter.)

narrow, y = make_blobs([150, 150], centers=[[0, 0], [0, 5]], cluster_std=0.4, random_state=0)
rng = np.random.default_rng(0)
tail = np.column_stack([2 + rng.gamma(1.2, 3, 300), rng.normal(0, 0.7, 300)])
X, y = shuffle(np.vstack([narrow, tail]), np.append(y, np.full(300, 2)), random_state=0)

numbers = [2, 3, 4, 5]
bandwidths = np.geomspace(0.25, 16, 7)

# %%
# With ``scoring=None``, a grid search uses ``score`` of the estimator: the mean kernel value of a
# row at its nearest mode. For all data, it grows with the bandwidth, because a wider kernel is
# higher everywhere except at its center. It also grows with K, because the nearest of more modes is
# nearer. So the search ends at the largest values of the grid.

model = KModes(n_clusters=3, n_init=5, random_state=0)
by_score = GridSearchCV(model, {"bandwidth": bandwidths}, cv=3).fit(X)
print(f"by score: bandwidth {by_score.best_params_['bandwidth']:g}, the largest")
of_numbers = GridSearchCV(model.set_params(bandwidth=1.0), {"n_clusters": numbers}, cv=3).fit(X)
print(f"by score: K = {of_numbers.best_params_['n_clusters']}, the largest")

# %%
# Classes can be compared with clusters at any bandwidth and for any K. The adjusted Rand index is 1
# for the same partition and about 0 for a random one. It is computed on the third of the rows that
# were held out.

grid = {"n_clusters": numbers, "bandwidth": bandwidths}
by_class = GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=3).fit(X, y)
chosen = by_class.best_params_
index = by_class.cv_results_["mean_test_score"].reshape(len(bandwidths), len(numbers))
print(f"by class: K = {chosen['n_clusters']}, bandwidth {chosen['bandwidth']:g}")
print(f"adjusted Rand index {by_class.best_score_:.3f}")

# %%
# Without classes, use the density itself. A kernel density is normalised, so the likelihood of
# held-out rows decreases if it smooths too much, and also if it fits single rows.
# (``KModes(bandwidth="likelihood")`` does this with one row held out at a time.) The likelihood
# does not depend on K. To choose K, find the smallest K at which clusters are redundant: the
# density has no dip between two of the modes.

by_likelihood = GridSearchCV(KernelDensity(), {"bandwidth": bandwidths}, cv=3).fit(X)
smooth = by_likelihood.best_params_["bandwidth"]
print(f"by likelihood: bandwidth {smooth:g}")
for n_clusters in numbers:
    pairs = model.set_params(n_clusters=n_clusters, bandwidth=smooth).fit(X).redundant_clusters()
    print(f"K = {n_clusters}: redundant pairs {pairs}")

# %%
# At the top left, the score always increases, and the likelihood has a peak. At the top right, no K
# is good at large bandwidths, which are almost K-means: the tail moves a mean away from its group,
# and the beginning of the tail goes to the narrow group next to it. At small bandwidths the right K
# is clearly the best, and several bandwidths are equally good.
#
# At the bottom is the best model by classes. Stars are the means of K-means, and lines are their
# paths to the modes.

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

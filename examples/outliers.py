"""
Outliers: what they do to means, medoids and modes
==================================================

A mean gives every row the same weight, so far rows move it, or take it for themselves. By default,
K-modes does not let them: its start moves centers that serve outliers to where more rows are, and
far rows have almost no weight in a mode. This example shows the effect, and its limits.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from modeclust import KModes
from modeclust.plotting.palette import COLORS

try:
    import kmedoids  # pip install kmedoids
except ImportError:  # the example then runs without medoids
    kmedoids = None

# %%
# Three groups, and scattered outliers
# ------------------------------------
#
# There are three Gaussians with unit variance and 200 rows each, and 30 outliers, which are
# scattered over a square. We compare K-means, the default of :class:`modeclust.KModes`, and the
# algorithm of the paper, which has one bandwidth for labels and modes and starts from K-means.

GROUPS = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])


def draw(distance, seed):
    inliers, _ = make_blobs([200, 200, 200], centers=GROUPS, random_state=seed)
    scattered = np.random.RandomState(seed).uniform(-distance, distance, (30, 2))
    return np.vstack([inliers, GROUPS.mean(axis=0) + scattered])


def find_centers(X, seed):
    model = KModes(3, random_state=seed).fit(X)
    paper = KModes(3, bandwidth="knn", n_init=10, random_state=seed).fit(X)
    found = {
        "K-means": paper.path_[0].centers,
        "paper": paper.modes_,
        "centers": model.cluster_centers_,
        "modes": model.modes_,
    }
    if kmedoids is not None:
        found["medoids"] = X[kmedoids.fasterpam(cdist(X, X), 3, random_state=seed).medoids]
    return found


# %%
# Near outliers move means, far outliers get a center
# ---------------------------------------------------
#
# On the left, the outliers are in the clusters of the groups. They move the means a little. On the
# right, they are up to 100 from the groups, and the plot shows the middle only. K-means uses two of
# its centers for outliers, so the groups share one. The default has a mode in each group.

LOOKS = {
    "K-means": {"marker": "*", "s": 260, "facecolor": COLORS[2], "edgecolor": "black"},
    "modes": {"marker": "o", "s": 60, "facecolor": COLORS[0], "edgecolor": "black"},
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharex=True, sharey=True)
for ax, distance in zip(axes, (20, 100), strict=True):
    X = draw(distance, seed=0)
    found = find_centers(X, seed=0)
    ax.scatter(*X[:600].T, s=5, color="0.7", label="groups")
    ax.scatter(*X[600:].T, s=14, color=COLORS[1], marker="x", lw=1, label="outliers")
    for name, looks in LOOKS.items():
        ax.scatter(*found[name].T, label=name, zorder=3, **looks)
    ax.set(title=f"Outliers up to {distance} away", xlabel="x0", aspect="equal")
    ax.set(xlim=(-20, 28), ylim=(-20, 25))
axes[0].set_ylabel("x1")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# From near to far
# ----------------
#
# For each distance of the outliers, we compute the largest distance of a group to its nearest
# center, and take the median over five datasets. The unit is the standard deviation of a group.

distances = [5, 10, 20, 40, 100, 1000]
names = list(find_centers(draw(5, seed=0), seed=0))
misses = np.array(
    [
        [
            [cdist(GROUPS, centers).min(axis=1).max() for centers in found.values()]
            for seed in range(5)
            for found in [find_centers(draw(distance, seed), seed)]
        ]
        for distance in distances
    ]
)
medians = np.median(misses, axis=1)

print("distance", *(f"{name:>8}" for name in names))
for distance, row in zip(distances, medians, strict=True):
    print(f"{distance:8d}", *(f"{miss:8.2f}" for miss in row))

# %%
# The means move away from the groups, and then jump. The paper's algorithm is robust as long as
# K-means has a center in each group; then it starts from the wrong place, and stays there. Medoids
# are robust for longer, because they minimise distances and not squared distances, but they fail in
# the end. The centers of the default, ``cluster_centers_``, stay where they are.
#
# Its ``modes_`` are in the groups too, but farther from their middle than the centers. A mode
# averages about 28 of 200 rows, so it shows more detail than a center, and more noise. In a
# Gaussian there is no detail to show. A larger ``rows_per_mode`` makes it smoother.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, of_name, median, color in zip(names, misses.T, medians.T, COLORS, strict=False):
    ax.fill_between(distances, of_name.min(axis=0), of_name.max(axis=0), color=color, alpha=0.15)
    ax.plot(distances, median, color=color, marker="o", ms=4, label=name)
ax.set(xscale="log", xlabel="distance of the outliers")
ax.set_ylabel("worst served group:\ndistance to a center")
ax.legend(title="median, and range", fontsize="small")
plt.show()

# %%
# Outliers that are close together
# --------------------------------
#
# If every tenth row is an outlier, and they are around one place, they are a group like the others.
# Three clusters cannot serve four groups. With one more cluster, each group has its mode again.

X = draw(5, seed=0)[:600]
X = np.vstack([X, np.random.RandomState(0).normal(GROUPS.mean(axis=0) + [30, 0], 4, (67, 2))])
for n_clusters in (3, 4):
    model = KModes(n_clusters, random_state=0).fit(X)
    miss = cdist(GROUPS, model.modes_).min(axis=1).max()
    print(f"{n_clusters} clusters, of {model.counts_} rows: worst served group at {miss:.2f}")

"""
Outliers: what they do to means, medoids and modes
==================================================

A mean gives every row the same weight, so a few far rows can move it. A mode is where the rows are
dense, and rows beyond a few bandwidths have no weight. But K-modes starts from K-means: if K-means
uses a cluster for the outliers, K-modes keeps this cluster. This example shows both effects.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from modeclust import KModes, kmodes_path
from modeclust.plotting.palette import COLORS

try:
    import kmedoids  # pip install kmedoids
except ImportError:  # the example then runs without medoids
    kmedoids = None

# %%
# Three groups, and outliers
# --------------------------
#
# There are three Gaussians with unit variance and 200 rows each. One row in ten is an outlier. The
# outliers are widely scattered around a point to the right of the groups.

GROUPS = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])


def draw(distance, seed):
    inliers, _ = make_blobs([200, 200, 200], centers=GROUPS, random_state=seed)
    place = GROUPS.mean(axis=0) + [distance, 0]
    return np.vstack([inliers, np.random.RandomState(seed).normal(place, 4, (67, 2))])


def find_centers(X, seed):
    model = KModes(3, random_state=seed).fit(X)
    found = {"K-means": model.path_[0].centers, "K-modes": model.cluster_centers_}
    if kmedoids is not None:
        medoids = X[kmedoids.fasterpam(cdist(X, X), 3, random_state=seed).medoids]
        path = kmodes_path(X, 3, bandwidths=[model.bandwidth_], init=medoids)
        found |= {"K-medoids": medoids, "K-modes from medoids": path[-1].centers}
    return found


# %%
# Near outliers move means, far outliers get a cluster
# ----------------------------------------------------
#
# In the upper row, the outliers are in the clusters of the groups. They move a mean out of its
# group, its medoid a little, and its mode not at all. In the lower row, K-means uses a center for
# the outliers, so two groups share one center. The mode that starts there moves to one of the two
# groups, and the other group has none. The medoids are still right.

LOOKS = {
    "K-means": {"marker": "*", "s": 260, "facecolor": COLORS[2], "edgecolor": "black"},
    "K-modes": {"marker": "o", "s": 40, "facecolor": COLORS[0], "edgecolor": "black"},
    "K-medoids": {"marker": "s", "s": 150, "facecolor": "none", "edgecolor": "black", "lw": 1.5},
}
figure, axes = plt.subplots(2, 1, figsize=(7, 6.4), layout="constrained", sharex=True, sharey=True)
for ax, distance in zip(axes, (12, 20), strict=True):
    X = draw(distance, seed=0)
    found = find_centers(X, seed=0)
    ax.scatter(*X[:600].T, s=5, color="0.7", label="groups")
    ax.scatter(*X[600:].T, s=14, color=COLORS[1], marker="x", lw=1, label="outliers")
    for name, looks in LOOKS.items():
        if name in found:
            ax.scatter(*found[name].T, label=name, zorder=3, **looks)
    ax.set(title=f"Outliers {distance} to the right", ylabel="x1", aspect="equal")
axes[1].set_xlabel("x0")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
plt.show()

# %%
# From near to far
# ----------------
#
# For each distance of the outliers, we compute the largest distance of a group to its nearest
# center, over five datasets. The unit is the standard deviation of a group.

distances = [0, 3, 6, 9, 12, 15, 20, 25, 30]
names = list(find_centers(draw(0, seed=0), seed=0))
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

print("distance", *names, sep="  ")
for distance, row in zip(distances, medians, strict=True):
    print(
        f"{distance:8d}",
        *(f"{miss:{len(name)}.2f}" for name, miss in zip(names, row, strict=True)),
        sep="  ",
    )

# %%
# At first, the means move slowly away from the groups, and the modes stay. Once a mean moves to the
# outliers, the modes are farther away than the means. The medoids are robust for longer, because
# they minimise distances and not squared distances, but they fail in the end. Modes that start from
# medoids are near the groups as long as the medoids are.

COLOR = dict(zip(("K-means", "K-modes", "K-medoids"), (COLORS[2], COLORS[0], "black"), strict=True))
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, of_name, median in zip(names, misses.T, medians.T, strict=True):
    color = COLOR.get(name, COLORS[4])
    style = "--" if "from" in name else "-"
    ax.fill_between(distances, of_name.min(axis=0), of_name.max(axis=0), color=color, alpha=0.15)
    ax.plot(distances, median, style, color=color, marker="o", ms=4, label=name)
ax.set(xlabel="distance of the outliers", ylabel="worst served group:\ndistance to a center")
ax.legend(title="median, and range", fontsize="small")
plt.show()

# %%
# What to do
# ----------
#
# Far outliers that are close together form a cluster. With one more cluster for them, each group
# has its mode again.

X = draw(30, seed=0)
for n_clusters in (3, 4):
    model = KModes(n_clusters, random_state=0).fit(X)
    miss = cdist(GROUPS, model.cluster_centers_).min(axis=1).max()
    print(f"{n_clusters} clusters, of {model.counts_} rows: worst served group at {miss:.2f}")

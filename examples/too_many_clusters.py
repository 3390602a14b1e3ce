"""
Too many clusters: find the redundant ones, and merge them
==========================================================

K is often unknown. If it is too large, K-means splits groups without a warning. Between the centers
of two pieces of a group, the density has no dip. ``redundant_clusters`` returns such pairs, and
``merge_redundant`` merges them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.neighbors import KernelDensity

from modeclust import KModes, estimate_bandwidth
from modeclust.exceptions import WideBandwidthWarning
from modeclust.plotting import PathDisplay
from modeclust.plotting.palette import COLORS

# %%
# Twelve clusters for four groups
# -------------------------------

groups = [[0, 0], [7, 1], [3, 6], [10, 7]]
X, _ = make_blobs(
    [150, 250, 300, 150], centers=groups, cluster_std=[0.6, 1, 1.3, 0.8], random_state=0
)

model = KModes(12, random_state=0).fit(X)
merged = model.merge_redundant(X)
pairs = model.redundant_clusters()
print(f"{len(pairs)} redundant pairs: {', '.join(f'{i}-{j}' for i, j in pairs)}")
print(f"{len(model.cluster_centers_)} clusters of {model.counts_} rows")
print(f"{len(merged.cluster_centers_)} clusters of {merged.counts_} rows are left")

# %%
# Thick lines join redundant pairs. All of them are within the groups, and they connect all clusters
# of a group. In each group, the center of the largest cluster is kept, and K-modes runs again from
# there. The plots show the centers, which determine the labels.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.7), layout="constrained")
looks = {"bandwidth": model.bandwidth_, "legend": False}
display = PathDisplay.from_estimator(model, X, ax=axes[0], levels=[0.5], **looks)
display.means_.remove()  # means are not needed here
display.exemplars_.remove()
for pair in pairs:
    axes[0].plot(*model.cluster_centers_[list(pair)].T, color="black", lw=4, alpha=0.5, zorder=5)
PathDisplay.from_estimator(merged, X, ax=axes[1], levels=[0.1, 0.5, 0.9], **looks)
axes[0].set_title(f"K = {len(model.cluster_centers_)}; lines: redundant pairs")
axes[1].set_title(f"Merged: K = {len(merged.cluster_centers_)}")
plt.show()

# %%
# What redundant means
# --------------------
#
# We plot the density of the rows of both clusters along the segment between their centers. A pair
# is redundant if the dip is less than 2.5 standard deviations (``threshold``) deep, so that it may
# be chance; ``dip_significance_`` has this number for pairs of nearby centers. The plot shows the
# most redundant pair, the first pair that is not redundant, and two clusters of different groups.
# The second pair may still be in the same group, connected through other clusters.

depths = model.dip_significance_.toarray()
others = np.where(depths < 2.5, np.inf, depths)
first_other = np.unravel_index(others.argmin(), others.shape)
of_two_groups = model.predict(groups[:2])

steps = np.linspace(0, 1, 200)[:, np.newaxis]
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for (i, j), color in zip((pairs[0], first_other, of_two_groups), COLORS, strict=False):
    start, end = model.cluster_centers_[[i, j]]
    rows = X[np.isin(model.labels_, [i, j])]
    kernels = KernelDensity(bandwidth=model.bandwidth_).fit(rows)
    density = np.exp(kernels.score_samples(start + steps * (end - start)))
    density /= min(density[0], density[-1])
    label = f"clusters {i} and {j}: a dip of {depths[i, j]:.1f}"
    ax.plot(steps, density, color=color, label=label)
ax.set(xlabel="from one center (0) to the other (1)", ylabel="density / lower peak", ylim=(0, None))
ax.legend(fontsize="small")
plt.show()

# %%
# How many are left depends on the bandwidth
# ------------------------------------------
#
# We start with different K and different bandwidths, and merge. Here, a number is passed, and there
# is one bandwidth for labels and modes. For a range of bandwidths around the estimated one, the
# result is the number of groups, whatever K was. At much larger bandwidths the density has one
# peak. Then it is too wide to tell, and no clusters are merged. A warning says so, which is
# filtered here.

warnings.simplefilter("ignore", WideBandwidthWarning)

factors = np.geomspace(8, 1 / 4, 11)
bandwidth = estimate_bandwidth(X)
left = {
    n_clusters: [
        len(
            KModes(n_clusters, bandwidth=factor * bandwidth, random_state=0, max_iter=1000)
            .fit(X)
            .merge_redundant(X)
            .cluster_centers_
        )
        for factor in factors
    ]
    for n_clusters in (4, 8, 12)
}
print("bandwidth / estimated", *(f"{factor:5.2f}" for factor in factors))
for n_clusters, numbers in left.items():
    print(f"left of {n_clusters:2d}           ", *(f"{number:5d}" for number in numbers))

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.axhline(len(groups), color="0.5", ls=":", label="groups")
for (n_clusters, numbers), color, marker in zip(left.items(), COLORS, "osD", strict=False):
    ax.plot(factors, numbers, marker=marker, color=color, label=f"K = {n_clusters}")
ax.set(xscale="log", xlabel="bandwidth, over the estimated one", ylabel="clusters left")
ax.set_xticks([8, 4, 2, 1, 0.5, 0.25], ["8", "4", "2", "1", "½", "¼"])
ax.minorticks_off()
ax.invert_xaxis()  # in the order of the path
ax.set_ylim(0, None)
ax.legend(title="start with", fontsize="small")
plt.show()

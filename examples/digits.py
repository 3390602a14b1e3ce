"""
Digits: from blur to pattern
============================

K-means averages digits of different classes and styles. As the bandwidth decreases, each center
moves to where many digits of its cluster are similar, and becomes a digit that somebody could have
written. This is the paper's experiment with USPS, on the digits of scikit-learn.

As a script, ``python digits.py [FOLDER]`` also writes the picture and the page to a folder, by
default ``out``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from modeclust import KModes, estimate_bandwidth

# %%
# A third of the neighbour distance
# ---------------------------------
#
# The default bandwidth is the mean distance to the 10th neighbour. In 64 dimensions, it smooths a
# lot. A third of it averages only digits that are very similar.

X, y = load_digits(return_X_y=True)
X = X / 16
bandwidth = estimate_bandwidth(X) / 3
model = KModes(10, bandwidth=bandwidth, random_state=0).fit(X)
path = model.path_
print(f"{len(X)} digits of 8 x 8 pixels, 10 clusters, target bandwidth {bandwidth:.3f}")

# %%
# The centers along the path
# --------------------------
#
# Each row is a cluster, and each column is a bandwidth. The first column is K-means. Look at a row
# whose first image is blurred: it averages digits of two classes, or two ways to write a digit. To
# the right, only one of them is left, and its strokes become sharp.

columns = np.linspace(0, len(path) - 1, 7).round().astype(int)
figure, axes = plt.subplots(10, 7, figsize=(7, 11), layout="constrained")
figure.suptitle("Centroids of the digits, from K-means to ever smaller bandwidths", fontsize=11)
for i, column in zip(columns, axes.T, strict=True):
    column[0].set_title("K-means" if i == 0 else f"{path.bandwidths[i]:.3g}", fontsize=10)
    for center, ax in zip(path.centers[i], column, strict=True):
        ax.imshow(center.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
for k, ax in enumerate(axes[:, 0]):
    ax.set_ylabel(f"cluster {k}", fontsize=8)

# %%
# How typical are they?
# ---------------------
#
# A typical digit has neighbours of its own class. For each center at each bandwidth, ``report``
# finds the 20 nearest rows of its cluster. The purity is the share of their most frequent class. A
# center between classes has a low purity.

report = model.report(X, y, path=None, image_shape=(8, 8), title="Handwritten digits")
purity = np.array(
    [
        [np.bincount(y[rows]).max() / len(rows) for rows in clusters]
        for clusters in report.summary["exemplars"]
    ]
)
moves = np.linalg.norm(path.centers - path.centers[0], axis=2)

print("bandwidth  objective  iterations  sizes       farthest move  purity of")
print("                                  min to max  from K-means   20 neighbours")
for i, point in enumerate(path):
    name = "K-means" if i == 0 else f"{point.bandwidth:.3f}"
    sizes = f"{point.counts.min()} to {point.counts.max()}"
    print(
        f"{name:>9}  {point.objective:9.4f}  {point.n_iter:10d}  {sizes:<10}  "
        f"{moves[i].max():13.2f}  {purity[i].mean():13.3f}"
    )

# %%
# Most of the gain is in the clusters in which K-means mixed classes.

print("cluster  size  moved  purity: K-means  K-modes")
for k, size in enumerate(model.counts_):
    print(f"{k:7d}  {size:4d}  {moves[-1, k]:5.2f}  {purity[0, k]:15.2f}  {purity[-1, k]:7.2f}")
print(
    f"{'mean':>7}  {'':4}  {moves[-1].mean():5.2f}  "
    f"{purity[0].mean():15.3f}  {purity[-1].mean():7.3f}"
)
pairs = ", ".join(f"{i} and {j}" for i, j in model.redundant_clusters()) or "none"
print(f"redundant clusters: {pairs}")

# %%
# Slide along the path
# --------------------
#
# A notebook shows the report as a page. The slider selects a bandwidth, from K-means to the target,
# for the map, the centers and their neighbours. ``model.report(X, y, "digits.html")`` writes the
# same page to a file, which works offline.

report

# %%

# sphinx_gallery_start_ignore
if "__file__" in globals():  # a script, and not the gallery or a notebook
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "digits.png", dpi=120)
    report.save(folder / "digits.html")
    print(f"picture of the centroids along the path: {folder / 'digits.png'}")
    print(f"page to slide along the path, for a browser: {folder / 'digits.html'}")
# sphinx_gallery_end_ignore

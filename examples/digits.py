"""
Digits: from blur to pattern
============================

K-means averages digits of different identity and style. As the bandwidth falls, each centroid
moves to where many digits of its cluster are alike, and becomes a digit that somebody could have
written. This is the paper's experiment with USPS, on the digits that come with scikit-learn.

As a script, ``python digits.py [FOLDER]`` also writes the picture and the page into a folder, by
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
# The default bandwidth, the mean distance to the 10th neighbour, smooths a lot in 64 dimensions.
# A third of it averages only digits that are much alike.

X, y = load_digits(return_X_y=True)
X = X / 16
bandwidth = estimate_bandwidth(X) / 3
model = KModes(10, bandwidth=bandwidth, random_state=0).fit(X)
path = model.path_
print(f"{len(X)} digits of 8 x 8 pixels, 10 clusters, target bandwidth {bandwidth:.3f}")

# %%
# The centroids along the path
# ----------------------------
#
# Each row is a cluster, each column a bandwidth; the column at the left is K-means. Follow a row
# whose first image is a smear: it averages digits of two classes, or two ways to write one. To the
# right the image decides for one of them, and its strokes get sharp.

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
# A typical digit has neighbours of its own class. ``report`` looks up, for each centroid at each
# bandwidth, the 20 rows of its cluster that are nearest to it; the purity is the share of their
# commonest class. A centroid between classes has a low one.

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
# The clusters differ: most of the gain is where K-means mixed classes.

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
# The report shows itself, here as in a notebook. Its slider goes from K-means to the target; the
# map, the centroids and their neighbours follow. ``model.report(X, y, "digits.html")`` writes
# the same as a page for a browser, which works offline.

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

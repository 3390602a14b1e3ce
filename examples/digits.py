"""
Digits: from blur to pattern
============================

K-means averages digits of different classes and styles. The modes of K-modes average only digits
that are similar, so each of them is a digit that somebody could have written. This is the paper's
experiment with USPS, on the digits of scikit-learn, with the default bandwidths.

As a script, ``python digits.py [FOLDER]`` also writes the picture and the page to a folder, by
default ``out``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes

# %%
# Ten clusters, and nothing else to choose
# ----------------------------------------
#
# The fit has two stages. The first finds the labels at one bandwidth, the median distance of the
# rows to their centers. The second freezes the labels, and gives each cluster a bandwidth of its
# own, at which its mode averages only a few similar rows.

X, y = load_digits(return_X_y=True)
X = X / 16
model = KModes(n_clusters=10, random_state=0).fit(X)
path = model.path_
print(
    f"{len(X)} digits of 8 x 8 pixels, 10 clusters, bandwidth of the labels {model.bandwidth_:.3f}"
)

# %%
# From means to modes
# -------------------
#
# Each row is a cluster. The first column is K-means. The second has the centers, which determine
# the labels. In the others the labels stay, and the modes average fewer and fewer rows; the titles
# are medians over the clusters. Look at a row whose first image is blurred: it averages digits of
# two classes, or two ways to write a digit. To the right, only one of them is left, and its strokes
# become sharp.

n_labelled = np.count_nonzero(path.stage < 2)
columns = [0, n_labelled - 1, *np.linspace(n_labelled, len(path) - 1, 5).round().astype(int)]
rows_averaged = np.median(path.rows_averaged, axis=1)
figure, axes = plt.subplots(10, 7, figsize=(7, 11), layout="constrained")
figure.suptitle("Representatives of the digits, and how many rows they average", fontsize=11)
for i, column in zip(columns, axes.T, strict=True):
    name = ("means", "centers", "modes")[path.stage[i]]
    column[0].set_title(f"{name}\n{rows_averaged[i]:.0f} rows", fontsize=10)
    for center, ax in zip(path.centers[i], column, strict=True):
        ax.imshow(center.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
for k, ax in enumerate(axes[:, 0]):
    ax.set_ylabel(f"cluster {k}", fontsize=8)

# %%
# How typical are they?
# ---------------------
#
# A typical digit has neighbours of its own class. For each center or mode of the path, look at the
# 20 nearest rows of its cluster. The purity is the share of their most frequent class. A center
# between classes has a low purity.


def purity_of(center, rows):
    distances = np.linalg.norm(X[rows] - center, axis=1)
    nearest = rows[np.argsort(distances, kind="stable")[:20]]
    return np.bincount(y[nearest]).max() / len(nearest)


purity = np.array(
    [
        [
            purity_of(center, np.flatnonzero(point.labels == k))
            for k, center in enumerate(point.centers)
        ]
        for point in path
    ]
)
report = model.report(X, y, path=None, image_shape=(8, 8), title="Handwritten digits")
moves = np.linalg.norm(path.centers - path.centers[0], axis=2)

print("stage    bandwidth  rows averaged  sizes       farthest move  purity of")
print("         (median)   (median)       min to max  from K-means   20 neighbours")
for i, point in enumerate(path):
    stage = ("K-means", "centers", "modes")[point.stage]
    sizes = f"{point.counts.min()} to {point.counts.max()}"
    print(
        f"{stage:<7}  {point.bandwidth:9.3f}  {rows_averaged[i]:13.1f}  {sizes:<10}  "
        f"{moves[i].max():13.2f}  {purity[i].mean():13.3f}"
    )

# %%
# Most of the gain is in the clusters in which K-means mixed classes.

print("cluster  size  rows averaged  moved  purity: mean  mode")
for k, size in enumerate(model.counts_):
    print(
        f"{k:7d}  {size:4d}  {model.rows_averaged_[k]:13.1f}  {moves[-1, k]:5.2f}  "
        f"{purity[0, k]:12.2f}  {purity[-1, k]:4.2f}"
    )
print(
    f"{'mean':>7}  {'':4}  {model.rows_averaged_.mean():13.1f}  {moves[-1].mean():5.2f}  "
    f"{purity[0].mean():12.3f}  {purity[-1].mean():4.3f}"
)

# %%
# The labels are hardly better or worse than those of K-means. If you need only labels, K-means is
# enough here.

changed = np.mean(model.labels_ != path[0].labels)
of_kmeans, of_kmodes = (
    adjusted_rand_score(y, labels) for labels in (path[0].labels, model.labels_)
)
print(f"labels that are not those of K-means: {changed:.1%}")
print(f"adjusted Rand index: K-means {of_kmeans:.3f}, K-modes {of_kmodes:.3f}")

# %%
# Slide along the path
# --------------------
#
# A notebook shows the report as a page. The slider goes from K-means over the centers to the modes,
# for the map, the images and their neighbours. ``model.report(X, y, "digits.html")`` writes the
# same page to a file, which works offline.

report

# %%

# sphinx_gallery_start_ignore
if "__file__" in globals():  # a script, and not the gallery or a notebook
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "digits.png", dpi=120)
    report.save(folder / "digits.html")
    print(f"picture of means, centers and modes: {folder / 'digits.png'}")
    print(f"page to slide along the path, for a browser: {folder / 'digits.html'}")
# sphinx_gallery_end_ignore

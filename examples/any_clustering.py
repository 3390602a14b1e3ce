"""
Modes of clusters that HDBSCAN found
====================================

HDBSCAN finds clusters of any shape and leaves noise out, but it has no representatives: a mean or a
medoid is all that it can store. :func:`modeclust.cluster_modes` gives a mode of each cluster, for
the labels of any algorithm, or of a person. The labels stay as they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from modeclust import cluster_modes

# %%
# HDBSCAN clusters the digits in ten principal components. The modes are found in all 64 pixels: the
# rows of ``cluster_modes`` need not be those that were clustered.

X, y = load_digits(return_X_y=True)
labels = HDBSCAN(min_cluster_size=20, copy=True).fit_predict(
    PCA(10, random_state=0).fit_transform(X)
)
found = cluster_modes(X, labels)
print(f"{len(found.labels)} clusters, {np.mean(labels == -1):.0%} of the rows are noise")

# %%
# Each cluster has a bandwidth of its own, at which its mode averages few of its rows. The table has
# the most frequent digit among the 20 rows nearest to the mean and to the mode, with its share. One
# cluster has several digits: its mean is between them, and its mode is one of them.


def nearest_digits(point, n_rows=20):
    digits = np.bincount(y[np.argsort(np.linalg.norm(X - point, axis=1))[:n_rows]])
    return digits.argmax(), digits.max() / n_rows


means = np.array([X[labels == label].mean(axis=0) for label in found.labels])
print("cluster  rows  averaged  bandwidth  near the mean  near the mode")
for label, rows, averaged, bandwidth, mean, mode in zip(
    found.labels,
    found.counts,
    found.rows_averaged,
    found.bandwidths,
    means,
    found.modes,
    strict=True,
):
    near = "  ".join(
        f"{digit:5d} {share:7.0%}" for digit, share in map(nearest_digits, (mean, mode))
    )
    print(f"{label:7d}  {rows:4d}  {averaged:8.0f}  {bandwidth:9.1f}  {near}")

# %%
# From top to bottom: the mean of each cluster, its mode, and its exemplar, which is the row nearest
# to the mode. The mean is blurred by all styles of a digit. The mode is sharper, without the noise
# of a single row.

pictures = {"mean": means, "mode": found.modes, "exemplar": X[found.exemplar_indices]}
figure, axes = plt.subplots(
    3, len(found.labels), figsize=(10, 2.9), layout="constrained", squeeze=False
)
for row, (name, points) in zip(axes, pictures.items(), strict=True):
    for ax, point in zip(row, points, strict=True):
        ax.imshow(point.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(name)
for ax, label in zip(axes[0], found.labels, strict=True):
    ax.set_title(label)
plt.show()

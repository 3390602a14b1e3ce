"""Cluster handwritten digits, and watch blurry means become typical digits.

The paper's USPS experiment on the digits that ship with scikit-learn: K-means averages
digits of different identity and style; as the bandwidth falls, each centroid moves to where
many digits of its cluster are alike. Prints a table of the path and of the clusters, draws the
centroids along the path, and writes a page on which one slides along it.

    python examples/digits.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits

from modeclust import KModes, estimate_bandwidth

mpl.use("Agg")
import matplotlib.pyplot as plt

N_NEIGHBORS = 20


def neighbor_purity(X, y, point):
    """Return, for each centroid, the share of the commonest class in its neighbours.

    The neighbours are the 20 points of its own cluster that are nearest to it.
    """
    purity = np.full(len(point.centers), np.nan)
    for k, center in enumerate(point.centers):
        own = np.flatnonzero(point.labels == k)
        distances = np.linalg.norm(X[own] - center, axis=1)
        nearest = own[np.argsort(distances, kind="stable")[:N_NEIGHBORS]]
        if len(nearest):
            purity[k] = np.bincount(y[nearest]).max() / len(nearest)
    return purity


def print_path(X, y, path):
    print("bandwidth  objective  iterations  sizes       farthest move  purity of")
    print("                                  min to max  from K-means   20 neighbours")
    for point in path:
        moves = np.linalg.norm(point.centers - path[0].centers, axis=1)
        purity = np.nanmean(neighbor_purity(X, y, point))
        name = "K-means" if np.isinf(point.bandwidth) else f"{point.bandwidth:.3f}"
        sizes = f"{point.counts.min()} to {point.counts.max()}"
        print(
            f"{name:>9}  {point.objective:9.4f}  {point.n_iter:10d}  {sizes:<10}  "
            f"{moves.max():13.2f}  {purity:13.3f}"
        )


def print_clusters(X, y, path):
    means, modes = path[0], path[-1]
    before, after = neighbor_purity(X, y, means), neighbor_purity(X, y, modes)
    moves = np.linalg.norm(modes.centers - means.centers, axis=1)
    print("cluster  size  moved  purity: K-means  K-modes")
    for k in range(len(moves)):
        print(f"{k:7d}  {modes.counts[k]:4d}  {moves[k]:5.2f}  {before[k]:15.2f}  {after[k]:7.2f}")
    print(f"{'mean':>7}  {'':4}  {moves.mean():5.2f}  {before.mean():15.3f}  {after.mean():7.3f}")


def draw_path(path, file, n_columns=7):
    """Draw the centroids of each cluster in a row, from K-means to the target."""
    chosen = np.unique(np.linspace(0, len(path) - 1, n_columns).round().astype(int))
    n_clusters = path.centers.shape[1]
    figure, axes = plt.subplots(
        n_clusters, len(chosen), figsize=(len(chosen), n_clusters + 1), layout="constrained"
    )
    for column, i in enumerate(chosen):
        point = path[i]
        name = "K-means" if np.isinf(point.bandwidth) else f"{point.bandwidth:.3g}"
        axes[0, column].set_title(name, fontsize=10)
        for k, ax in enumerate(axes[:, column]):
            ax.imshow(point.centers[k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            if column == 0:
                ax.set_ylabel(f"cluster {k}", fontsize=8)
    figure.suptitle("Centroids of the digits, from K-means to ever smaller bandwidths", fontsize=11)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_digits(return_X_y=True)
    X = X / 16
    # Well below the neighbour distance, to average only digits that are much alike.
    bandwidth = estimate_bandwidth(X) / 3
    model = KModes(10, bandwidth=bandwidth, random_state=0).fit(X)

    print(f"{len(X)} digits of 8 x 8 pixels, 10 clusters, target bandwidth {bandwidth:.3f}\n")
    print_path(X, y, model.path_)
    print()
    print_clusters(X, y, model.path_)
    pairs = ", ".join(f"{i} and {j}" for i, j in model.redundant_clusters()) or "none"
    print(f"\nredundant clusters: {pairs}")
    picture, page = folder / "digits.png", folder / "digits.html"
    draw_path(model.path_, picture)
    model.report(X, y, page, image_shape=(8, 8), title="Handwritten digits")
    print(f"picture of the centroids along the path: {picture}")
    print(f"page to slide along the path, for a browser: {page}")


if __name__ == "__main__":
    main()

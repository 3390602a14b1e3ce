"""Time one K-modes iteration, and one whole fit, beside scikit-learn's K-means.

Both run on the same data, from the same start, with the same threads, interleaved in one
run; only the ratios mean anything on a shared machine. Prints a Markdown table.

    python benchmarks/kmeans.py [REPEATS]
"""

import sys
import time
import warnings
from statistics import median

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from modeclust import KModes, kmodes_path

WORKLOADS = {
    "100,000 x 16, K=20": (100_000, 16, 20),
    "300,000 x 2, K=20": (300_000, 2, 20),
    "10,000 x 256, K=10": (10_000, 256, 10),
}
LLOYD_ITERATIONS = 10


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def time_iteration(X, model):
    """Return the time of one iteration of K-modes over a path, and of one of Lloyd's.

    The path is that of a default fit, from its K-means centroids to its target.
    """
    path = model.path_
    options = {"init": path.centers[0], "store_labels": False, "max_iter": 10}
    ours, again = seconds(
        lambda: kmodes_path(X, model.n_clusters, bandwidths=path.bandwidths[1:], **options)
    )
    options = {"init": X[: model.n_clusters], "n_init": 1, "tol": 0}
    few, _ = seconds(lambda: KMeans(model.n_clusters, max_iter=1, **options).fit(X))
    many, means = seconds(
        lambda: KMeans(model.n_clusters, max_iter=1 + LLOYD_ITERATIONS, **options).fit(X)
    )
    return ours / again.n_iter.sum(), (many - few) / (means.n_iter_ - 1)


def time_fit(X, n_clusters):
    """Return the time of a default K-modes fit, and of K-means with as many restarts."""
    ours, model = seconds(lambda: KModes(n_clusters, random_state=0).fit(X))
    theirs, means = seconds(lambda: KMeans(n_clusters, n_init=10, random_state=0).fit(X))
    return ours, theirs, model.path_.inertias[0] / means.inertia_


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    warnings.simplefilter("ignore")
    print("| data | iteration, K-modes / Lloyd | fit, K-modes / K-means | inertia of K-means |")
    print("|---|---|---|---|")
    for name, (n_rows, n_features, n_clusters) in WORKLOADS.items():
        X, _ = make_blobs(n_rows, n_features, centers=n_clusters, cluster_std=4, random_state=0)
        X = X.astype(np.float32)
        model = KModes(n_clusters, n_init=1, random_state=0).fit(X)
        iterations = [time_iteration(X, model) for _ in range(repeats)]
        fits = [time_fit(X, n_clusters) for _ in range(min(repeats, 3))]
        iteration = median(ours / theirs for ours, theirs in iterations)
        fit = median(ours / theirs for ours, theirs, _ in fits)
        print(f"| {name} | {iteration:.2f} | {fit:.2f} | {fits[0][2]:.4f} |")


if __name__ == "__main__":
    main()

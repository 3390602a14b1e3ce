"""A run of each method: it takes rows, K and a bandwidth, and returns its number of iterations."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances

from modeclust import kmodes_path

Doubles = npt.NDArray[np.float64]
KMEANS, KMODES, SHIFT, MEDOIDS = "K-means", "K-modes", "mean-shift", "K-medoids"
IN_PAIRS = (SHIFT, MEDOIDS)  # those that take all pairs of rows
N_ITER, N_BANDWIDTHS = 20, 4  # of one run of K-modes; as many iterations of K-means
MEDOIDS_ITER = 2  # few, since it converges in few; its distances are shared by as many at any size
BLOCK = 250  # rows that a step of mean-shift takes at a time


def run_kmeans(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Run Lloyd's K-means from the first rows; return the number of iterations."""
    model = KMeans(n_clusters, init=X[:n_clusters], n_init=1, tol=0, max_iter=N_ITER)
    return int(model.fit(X).n_iter_)


def run_kmodes(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Run K-modes from the first rows along some bandwidths; return the number of iterations."""
    n_each = N_ITER // N_BANDWIDTHS
    path = kmodes_path(
        X,
        n_clusters,
        bandwidths=np.geomspace(4 * bandwidth, bandwidth, N_BANDWIDTHS),
        init=X[:n_clusters],
        path_iter=n_each,
        max_iter=n_each,
        tol=0,
        n_jobs=1,
        store_labels=False,
    )
    return int(path.n_iter.sum())


def run_mean_shift(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Do one step from every row."""
    shift_rows(X, X, bandwidth)
    return 1


def shift_rows(X: Doubles, places: Doubles, bandwidth: float) -> Doubles:
    """Return where eq. (3) takes each place."""
    moved = np.empty_like(places)
    for start in range(0, len(places), BLOCK):
        block = slice(start, start + BLOCK)
        weights = euclidean_distances(places[block], X, squared=True)
        weights *= -0.5 / bandwidth**2
        np.exp(weights, out=weights)
        moved[block] = weights @ X / weights.sum(axis=1, keepdims=True)
    return moved


def run_kmedoids(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Run K-medoids that alternates as K-means does; return the number of iterations."""
    import kmedoids

    distances = euclidean_distances(X)
    found = kmedoids.alternating(distances, np.arange(n_clusters), max_iter=MEDOIDS_ITER)
    return int(found.n_iter)


METHODS: dict[str, Callable[[Doubles, int, float], int]] = {
    KMEANS: run_kmeans,
    KMODES: run_kmodes,
    SHIFT: run_mean_shift,
    MEDOIDS: run_kmedoids,
}

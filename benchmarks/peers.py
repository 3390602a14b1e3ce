"""K-means of other libraries, from given centers and with all threads."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from environment import THREADS
from scipy import sparse
from sklearn.cluster import KMeans

OURS = "modeclust"
LLOYD = "scikit-learn Lloyd"
ELKAN = "scikit-learn Elkan"
INTELEX = "scikit-learn-intelex"
FAISS = "faiss"
DASK, DASK_ML = "dask", "dask-ml"
MODULES = {
    INTELEX: "sklearnex",
    FAISS: "faiss",
    "kmedoids": "kmedoids",
    DASK: "distributed",
    DASK_ML: "dask_ml",
    "genieclust": "genieclust",
}


class Means(NamedTuple):
    """The final centers of K-means, and its number of iterations."""

    centers: Any
    n_iter: int


Fit = Callable[..., Means]  # (X, start, max_iter, tol)


def is_installed(peer: str) -> bool:
    """Return whether an optional peer is installed."""
    return find_spec(MODULES[peer]) is not None


def missing_peers() -> list[str]:
    """Return a note for each peer that is not installed."""
    return [
        f"{peer} is not installed and left out; `pip install '.[bench]'` brings it."
        for peer in MODULES
        if not is_installed(peer)
    ]


def kmeans_peers(X: Any) -> dict[str, Fit]:
    """Return the installed peers that accept such rows, scikit-learn's Lloyd first."""
    is_dense = not sparse.issparse(X)
    peers: dict[str, Fit] = {LLOYD: partial(_fit_estimator, KMeans, "lloyd")}
    if is_dense:
        peers[ELKAN] = partial(_fit_estimator, KMeans, "elkan")
    if is_installed(INTELEX):
        peers[INTELEX] = _fit_intelex
    if is_dense and X.dtype == np.float32 and is_installed(FAISS):
        peers[FAISS] = _fit_faiss
    return peers


def _fit_estimator(estimator, algorithm, X, start, max_iter, tol):
    options = {"init": start, "n_init": 1, "max_iter": max_iter, "tol": tol}
    model = estimator(len(start), algorithm=algorithm, **options).fit(X)
    return Means(model.cluster_centers_, model.n_iter_)


def _fit_intelex(X, start, max_iter, tol):
    import daal4py
    from sklearnex.cluster import KMeans as IntelexKMeans

    daal4py.daalinit(THREADS)
    return _fit_estimator(IntelexKMeans, "lloyd", X, start, max_iter, tol)


def _fit_faiss(X, start, max_iter, tol):
    """Run `max_iter` iterations: faiss has no stopping rule like scikit-learn's."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    # By default, faiss uses only a sample of large data.
    sizes = {"max_points_per_centroid": len(X), "min_points_per_centroid": 1}
    model = faiss.Kmeans(X.shape[1], len(start), niter=max_iter, **sizes)
    model.train(X, init_centroids=start)
    return Means(model.centroids, max_iter)

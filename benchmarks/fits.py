"""Whole fits: K-means alone from one start, and K-modes with all its restarts."""

from functools import partial

import numpy as np
from effort import Effort
from peers import FAISS, LLOYD, OURS, kmeans_peers
from quality import inertia
from scipy import sparse
from sklearn.cluster import KMeans, kmeans_plusplus
from timing import Run, compare, interleave, seconds, summary
from workloads import Data

from modeclust import KModes

MAX_ITER, TOL = 300, 1e-4


def measure_kmeans(data: Data, effort: Effort):
    """Return the times of K-means from one k-means++ start, with scikit-learn's stopping rule.

    faiss has no such rule, and runs as many iterations as scikit-learn.
    """
    start, _ = kmeans_plusplus(data.X, data.n_clusters, random_state=0)
    start = start.toarray() if sparse.issparse(start) else start
    n_iter = kmeans_peers(data.X)[LLOYD](data.X, start, MAX_ITER, TOL).n_iter
    interleave(_kmeans_contestants(data.small(), start, 2), 1)
    runs = interleave(_kmeans_contestants(data.X, start, n_iter), effort.repeats)
    compared = compare(runs, LLOYD)
    for name, own in runs.items():
        compared[name]["inertia"] = inertia(data.X, own[-1].centers)
    return {"contestants": compared}


def _kmeans_contestants(X, start, faiss_iter):
    fits = {OURS: _fit_ours, **kmeans_peers(X)}
    return {
        name: partial(_time_fit, fit, X, start, faiss_iter if name == FAISS else MAX_ITER)
        for name, fit in fits.items()
    }


def _fit_ours(X, start, max_iter, tol):
    options = {"init": start, "n_init": 1, "max_iter": max_iter, "tol": tol}
    model = KModes(len(start), bandwidth=np.inf, **options).fit(X)
    return model.cluster_centers_, model.n_iter_


def _time_fit(fit, X, start, max_iter, _repeat):
    total, (centers, n_iter) = seconds(lambda: fit(X, start, max_iter, TOL))
    return Run(total, n_iter, centers)


def measure_whole_fit(data: Data, effort: Effort):
    """Return the times of K-modes with restarts and path, and of K-means with the same restarts.

    The inertia of K-modes is that of its K-means stage.
    """
    interleave(_whole_contestants(data.small(), data.n_clusters, 1, 2), 1)
    contestants = _whole_contestants(data.X, data.n_clusters, effort.n_init, effort.n_bandwidths)
    runs = interleave(contestants, effort.long_repeats)
    inertias = {name: [inertia(data.X, run.centers) for run in own] for name, own in runs.items()}
    return {
        "run": f'bandwidth="knn", n_init={effort.n_init}, n_bandwidths={effort.n_bandwidths}, '
        "random_state=repeat",
        "contestants": compare(runs, LLOYD),
        "inertia_ratio": summary(np.divide(inertias[OURS], inertias[LLOYD])),
    }


def _whole_contestants(X, n_clusters, n_init, n_bandwidths):
    def ours(repeat):
        options = {"bandwidth": "knn", "n_init": n_init, "n_bandwidths": n_bandwidths}
        model = KModes(n_clusters, **options, random_state=repeat)
        total, _ = seconds(lambda: model.fit(X))
        return Run(total, model.n_iter_, model.path_.centers[0])

    def theirs(repeat):
        model = KMeans(n_clusters, n_init=n_init, random_state=repeat)
        total, _ = seconds(lambda: model.fit(X))
        return Run(total, model.n_iter_, model.cluster_centers_)

    return {OURS: ours, LLOYD: theirs}

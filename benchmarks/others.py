"""K-modes compared with other kinds of clustering, on data of a size that they can handle."""

import numpy as np
from effort import Effort
from environment import THREADS
from joblib.externals.loky import get_reusable_executor
from mean_shift import fit_ours, fit_theirs
from peers import OURS, is_installed
from quality import assign_rows
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, euclidean_distances
from timing import Run, compare, interleave, seconds

from modeclust import KModes, estimate_bandwidth

THEIR_MEAN_SHIFT = "scikit-learn MeanShift"
OUR_MEAN_SHIFT, OUR_FLAT_SHIFT = "modeclust MeanShift", "modeclust MeanShift, epanechnikov"
MEDOIDS = "kmedoids fasterpam"


def measure_mean_shift(effort: Effort):
    """Compare with mean-shift, with every row as a seed, at the same bandwidth."""
    X, y = _data(300 if effort.quick else 5_000, 2, 10, std=1)
    bandwidth = estimate_bandwidth(X, random_state=0)
    fit_theirs(X[:50], bandwidth)  # starts its processes
    contestants = {
        THEIR_MEAN_SHIFT: lambda _: fit_theirs(X, bandwidth),
        OUR_MEAN_SHIFT: lambda _: fit_ours(X, bandwidth, "gaussian"),
        OUR_FLAT_SHIFT: lambda _: fit_ours(X, bandwidth, "epanechnikov"),
        OURS: _ours(X, 10),
    }
    run = f'every row a seed; bandwidth {bandwidth:.4g} ("knn"); their kernel is flat'
    found = _measure(X, y, contestants, effort, run)
    get_reusable_executor().shutdown()
    return found


def measure_medoids(effort: Effort):
    """Compare with K-medoids by FasterPAM, including its distance matrix."""
    if not is_installed("kmedoids"):
        return None
    from kmedoids import fasterpam

    X, y = _data(1_000 if effort.quick else 10_000, 16, 20, std=4)

    def medoids(_repeat):
        total, found = seconds(
            lambda: fasterpam(euclidean_distances(X), 20, random_state=0, n_cpu=THREADS)
        )
        return Run(total, found.n_iter, X[found.medoids])

    run = 'KModes(bandwidth="knn", n_init=10); the distance matrix is part of the time of theirs'
    return _measure(X, y, {MEDOIDS: medoids, OURS: _ours(X, 20)}, effort, run)


def _data(n_rows, n_features, n_clusters, std):
    X, y = make_blobs(n_rows, n_features, centers=n_clusters, cluster_std=std, random_state=0)
    return X.astype(np.float32), y


def _ours(X, n_clusters):
    def fit(repeat):
        model = KModes(n_clusters, bandwidth="knn", n_init=10, random_state=repeat)
        total, _ = seconds(lambda: model.fit(X))
        return Run(total, model.n_iter_, model.cluster_centers_)

    return fit


def _measure(X, y, contestants, effort, run):
    base = next(iter(contestants))
    runs = interleave(contestants, effort.repeats)
    compared = compare(runs, base)
    for name, own in runs.items():
        compared[name] |= _describe(X, y, own[-1].centers)
    return {"data": f"blobs {X.shape[0]:,} x {X.shape[1]}", "run": run, "contestants": compared}


def _describe(X, y, centers):
    labels, squares = assign_rows(X, centers)
    return {
        "n_clusters": len(centers),
        "adjusted_rand": float(adjusted_rand_score(y, labels)),
        "mean_distance": float(np.sqrt(squares).mean()),
    }


OTHERS = {"mean-shift": measure_mean_shift, "k-medoids": measure_medoids}

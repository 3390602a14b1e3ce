"""Exact nearest neighbours, compared with scikit-learn's search by brute force."""

import numpy as np
from effort import Effort
from environment import THREADS
from peers import OURS
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from timing import Run, compare, interleave, seconds
from workloads import WORKLOADS

from modeclust.solvers.neighbors import nearest_other_rows

THEIR_SEARCH = "scikit-learn, brute force"
N_NEIGHBORS, N_COMPONENTS = 10, 50


def measure_neighbors(effort: Effort):
    """Return the times of both searches, and how many neighbours are the same."""
    data = WORKLOADS["MNIST-10"].load(effort.quick)
    reduction = PCA(N_COMPONENTS, svd_solver="covariance_eigh", random_state=0)
    X = reduction.fit_transform(data.X.astype(np.float64))
    contestants = {THEIR_SEARCH: lambda _: _theirs(X), OURS: lambda _: _ours(X)}
    for contestant in contestants.values():
        contestant(0)  # after another library, threads are asleep
    runs = interleave(contestants, effort.long_repeats)
    theirs, ours = (runs[name][-1].centers for name in contestants)
    return {
        "data": f"MNIST {X.shape[0]:,} x {X.shape[1]} principal components",
        "source": data.source,
        "n_neighbors": N_NEIGHBORS,
        "contestants": compare(runs, THEIR_SEARCH),
        "same_neighbors": float(np.mean(ours == theirs)),
    }


def _theirs(X):
    model = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute", n_jobs=THREADS).fit(X)
    took, found = seconds(lambda: model.kneighbors(return_distance=True))
    return Run(took, centers=found[1])


def _ours(X):
    took, found = seconds(lambda: nearest_other_rows(X, N_NEIGHBORS, THREADS))
    return Run(took, centers=found[1])

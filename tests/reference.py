"""The slow truth: K-modes written straight from its formulas, in float64 NumPy.

It holds N x K arrays, has no blocks, no threads and no bounds, and shares no code with the
library. Weights are taken relative to the largest of each cluster, so that small bandwidths
do not underflow.
"""

import numpy as np

PROFILES = {
    "gaussian": lambda t: np.exp(-t / 2),
    "epanechnikov": lambda t: np.maximum(0, 1 - t),
    "biweight": lambda t: np.maximum(0, 1 - t) ** 2,
    "cauchy": lambda t: 1 / (1 + t),
}
LOG_PULLS = {
    "gaussian": lambda t: -t / 2,
    "epanechnikov": lambda t: np.where(t < 1, 0.0, -np.inf),
    "biweight": lambda t: np.log(np.maximum(0, 1 - t)),
    "cauchy": lambda t: -2 * np.log1p(t),
}
COMPACT = ("epanechnikov", "biweight")  # kernels that are 0 from t = 1 on


def squared_distances(X, centroids):
    return ((X[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2)


def assign(X, centroids):
    return squared_distances(X, centroids).argmin(axis=1)


def objective(X, centroids, bandwidth, kernel="gaussian", weight=None, scale=None):
    """L / sum q, with each point at its nearest centroid."""
    weight, scale = _ones(X, weight), _ones(X, scale)
    t = squared_distances(X, centroids).min(axis=1) / (bandwidth * scale) ** 2
    return (weight * PROFILES[kernel](t)).sum() / weight.sum()


def mode_step(X, labels, centroids, bandwidth, kernel="gaussian", weight=None, scale=None):
    weight, scale = _ones(X, weight), _ones(X, scale)
    moved = centroids.copy()
    for k in range(len(centroids)):
        own = (labels == k) & (weight > 0)
        if not own.any():
            continue
        t = ((X[own] - centroids[k]) ** 2).sum(axis=1) / (bandwidth * scale[own]) ** 2
        with np.errstate(divide="ignore"):
            logs = LOG_PULLS[kernel](t)
        if np.isinf(logs.max()):
            continue
        w = weight[own] / scale[own] ** 2 * np.exp(logs - logs.max())
        moved[k] = (w[:, None] * X[own]).sum(axis=0) / w.sum()
    return moved


def kmodes(X, centroids, bandwidth, n_iter, **options):
    """Run iterations of one assignment and one mode step each."""
    for _ in range(n_iter):
        centroids = mode_step(X, assign(X, centroids), centroids, bandwidth, **options)
    return centroids


def knn_bandwidth(X, n_neighbors=10):
    distances = np.sqrt(squared_distances(X, X))
    return np.sort(distances, axis=1)[:, n_neighbors].mean()


def density(X, places, bandwidth, kernel="gaussian"):
    return PROFILES[kernel](squared_distances(places, X) / bandwidth**2).sum(axis=1)


def pulls(X, places, bandwidth, kernel="gaussian", weight=None, scale=None):
    """The weight of each row at each place, relative to the largest there, or 0."""
    weight, scale = _ones(X, weight), _ones(X, scale)
    t = squared_distances(places, X) / (bandwidth * scale) ** 2
    with np.errstate(divide="ignore"):
        logs = LOG_PULLS[kernel](t) + np.log(weight) - 2 * np.log(scale)
    top = logs.max(axis=1, keepdims=True)
    return np.exp(logs - np.where(np.isinf(top), 0.0, top))


def shift(X, places, bandwidth, kernel="gaussian", weight=None, scale=None):
    """One mean-shift step of each place."""
    w = pulls(X, places, bandwidth, kernel, weight, scale)
    mass = w.sum(axis=1, keepdims=True)
    return np.where(mass > 0, w @ X / np.where(mass > 0, mass, 1.0), places)


def mean_shift(X, places, bandwidth, tol=1e-9, max_iter=100_000, **options):
    """Where plain mean-shift takes each place."""
    places = places.copy()
    active = np.arange(len(places))
    for _ in range(max_iter):
        moved = shift(X, places[active], bandwidth, **options)
        steps = np.linalg.norm(moved - places[active], axis=1)
        places[active] = moved
        active = active[steps > tol * bandwidth]
        if len(active) == 0:
            return places
    raise AssertionError("plain mean-shift did not converge")


def weighted_density(X, places, bandwidth, kernel="gaussian", weight=None, scale=None):
    """Sum of q G(t) / sum of q."""
    weight, scale = _ones(X, weight), _ones(X, scale)
    t = squared_distances(places, X) / (bandwidth * scale) ** 2
    return PROFILES[kernel](t) @ weight / weight.sum()


def project(V):
    """The point of the simplex that is nearest to each row.

    Sort, find the last coordinate that stays positive, and take off what is too much.
    """
    ordered = -np.sort(-V, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    places = np.arange(1, V.shape[1] + 1)
    last = np.count_nonzero(ordered - excess / places > 0, axis=1)
    level = excess[np.arange(len(V)), last - 1] / last
    return np.maximum(V - level[:, None], 0)


def _ones(X, values):
    return np.ones(len(X)) if values is None else np.asarray(values, dtype=float)

"""A slow reference implementation of K-modes from its formulas, in float64 NumPy.

It uses N x K arrays, without blocks, threads or bounds, and shares no code with the library.
Weights are relative to the largest weight of each cluster, so that they do not underflow at small
bandwidths.
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


def squared_distances(X, centers):
    return ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)


def assign(X, centers):
    return squared_distances(X, centers).argmin(axis=1)


def to_sphere(X):
    """Rows at length 1, for the metric "cosine". Rows of length 0 stay."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    X = X / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1)


def spherical_step(X, labels, centers, bandwidth, **options):
    """A mode step of rows and centers of length 1: the direction of the weighted mean."""
    moved = mode_step(X, labels, centers, bandwidth, **options)
    cancelled = np.linalg.norm(moved, axis=1) < 1e-12
    return np.where(cancelled[:, None], centers, to_sphere(moved))


def spherical_kmodes(X, centers, bandwidth, n_iter, **options):
    """Run iterations of one assignment and one spherical mode step each."""
    for _ in range(n_iter):
        centers = spherical_step(X, assign(X, centers), centers, bandwidth, **options)
    return centers


def objective(X, centers, bandwidth, kernel="gaussian", weight=None, scale=None):
    """L / sum q, with each row assigned to its nearest center."""
    weight, scale = _ones(X, weight), _ones(X, scale)
    t = squared_distances(X, centers).min(axis=1) / (bandwidth * scale) ** 2
    return (weight * PROFILES[kernel](t)).sum() / weight.sum()


def mode_step(X, labels, centers, bandwidth, kernel="gaussian", weight=None, scale=None):
    weight, scale = _ones(X, weight), _ones(X, scale)
    moved = centers.copy()
    for k in range(len(centers)):
        own = (labels == k) & (weight > 0)
        if not own.any():
            continue
        t = ((X[own] - centers[k]) ** 2).sum(axis=1) / (bandwidth * scale[own]) ** 2
        with np.errstate(divide="ignore"):
            logs = LOG_PULLS[kernel](t)
        if np.isinf(logs.max()):
            continue
        w = weight[own] / scale[own] ** 2 * np.exp(logs - logs.max())
        moved[k] = (w[:, None] * X[own]).sum(axis=0) / w.sum()
    return moved


def kmodes(X, centers, bandwidth, n_iter, **options):
    """Run iterations of one assignment and one mode step each."""
    for _ in range(n_iter):
        centers = mode_step(X, assign(X, centers), centers, bandwidth, **options)
    return centers


def knn_bandwidth(X, n_neighbors=10, statistic=np.mean):
    distances = np.sqrt(squared_distances(X, X))
    return statistic(np.sort(distances, axis=1)[:, n_neighbors])


def density(X, points, bandwidth, kernel="gaussian"):
    return PROFILES[kernel](squared_distances(points, X) / bandwidth**2).sum(axis=1)


def kernel_weights(X, points, bandwidth, kernel="gaussian", weight=None, scale=None):
    """The weight of each row at each point, relative to the largest weight at this point."""
    weight, scale = _ones(X, weight), _ones(X, scale)
    t = squared_distances(points, X) / (bandwidth * scale) ** 2
    with np.errstate(divide="ignore"):
        logs = LOG_PULLS[kernel](t) + np.log(weight) - 2 * np.log(scale)
    top = logs.max(axis=1, keepdims=True)
    return np.exp(logs - np.where(np.isinf(top), 0.0, top))


def shift(X, points, bandwidth, kernel="gaussian", weight=None, scale=None):
    """One mean-shift step of each point."""
    w = kernel_weights(X, points, bandwidth, kernel, weight, scale)
    mass = w.sum(axis=1, keepdims=True)
    return np.where(mass > 0, w @ X / np.where(mass > 0, mass, 1.0), points)


def mean_shift(X, points, bandwidth, tol=1e-9, max_iter=100_000, **options):
    """The end of plain mean-shift from each point."""
    points = points.copy()
    active = np.arange(len(points))
    for _ in range(max_iter):
        moved = shift(X, points[active], bandwidth, **options)
        steps = np.linalg.norm(moved - points[active], axis=1)
        points[active] = moved
        active = active[steps > tol * bandwidth]
        if len(active) == 0:
            return points
    raise AssertionError("plain mean-shift did not converge")


def weighted_density(X, points, bandwidth, kernel="gaussian", weight=None, scale=None):
    """Sum of q G(t) / sum of q."""
    weight, scale = _ones(X, weight), _ones(X, scale)
    t = squared_distances(points, X) / (bandwidth * scale) ** 2
    return PROFILES[kernel](t) @ weight / weight.sum()


def project(V):
    """Project each row onto the simplex.

    Sort, find the number of coordinates that stay positive, and subtract the threshold.
    """
    ordered = -np.sort(-V, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    counts = np.arange(1, V.shape[1] + 1)
    last = np.count_nonzero(ordered - excess / counts > 0, axis=1)
    level = excess[np.arange(len(V)), last - 1] / last
    return np.maximum(V - level[:, None], 0)


def _ones(X, values):
    return np.ones(len(X)) if values is None else np.asarray(values, dtype=float)

"""Rules that choose a bandwidth from the data."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from sklearn.metrics import pairwise_distances

from modeclust.algorithms.neighbors import nearest_rows
from modeclust.algorithms.solve import spread
from modeclust.rows.memory import MemoryRows
from modeclust.rows.reading import is_sparse
from modeclust.rows.sample import Sample
from modeclust.rows.units import working_dtype

Floats = npt.NDArray[np.float64]

RULES = ("knn", "silverman", "scott", "likelihood")
# Neighbour distances are averaged over at most this many rows (found among all rows).
N_SAMPLES = 5000
# The leave-one-out likelihood compares all pairs of at most this many rows.
LIKELIHOOD_ROWS = 1000
# A mapped file is read in pieces of about this many numbers.
PIECE = 2**23
# A product-form distance below this share of the largest norm is rounding.
ROUNDING = 1e-6


def global_bandwidth(
    X: Any,
    weight: Floats,
    rule: str,
    *,
    n_neighbors: int,
    n_samples: int,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> float:
    """Return one bandwidth for all rows by the `rule`; `weight` is positive throughout."""
    if rule == "knn":
        chosen = _choose(len(weight), n_samples, rng)
        distances = _neighbor_distances(X, weight, chosen, n_neighbors, n_jobs)
        bandwidth = float(np.average(distances, weights=weight[chosen]))
    elif rule == "likelihood":
        bandwidth = _likelihood(X, weight, min(n_samples, LIKELIHOOD_ROWS), rng)
    else:
        bandwidth = _normal_reference(X, weight, rule)
    if bandwidth > 0:
        return bandwidth
    # Each row has many equals, or all rows are equal: look at the distinct rows.
    distinct = Sample(X, weight).distinct()
    if len(distinct.weight) == 1:
        return 1.0
    once = np.ones(len(distinct.weight))
    chosen = _choose(len(once), n_samples, rng)
    return float(np.mean(_neighbor_distances(distinct.X, once, chosen, n_neighbors, n_jobs)))


def local_scales(
    X: Any,
    weight: Floats,
    *,
    n_neighbors: int,
    n_samples: int,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> Floats:
    """Return each row's neighbour distance over the mean one.

    Above `n_samples` rows the neighbours are sought among that many rows drawn at random:
    all distances grow by it, but hardly their ratios. A row with a distance of zero
    gets the smallest positive one.
    """
    among = _choose(len(weight), n_samples, rng)
    every = np.arange(len(weight))
    distances = _neighbor_distances(X, weight, every, n_neighbors, n_jobs, among)
    if not np.any(distances > 0):
        return np.ones(len(weight))
    distances = np.maximum(distances, distances[distances > 0].min())
    return np.asarray(distances / np.average(distances, weights=weight))


def _choose(n_rows: int, n_samples: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    if n_rows <= n_samples:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, n_samples, replace=False))


def _multiplicity(weight: Floats) -> Floats:
    """Return how often each row counts: whole weights are repetitions, others are not."""
    return weight if np.all(weight == np.round(weight)) else np.ones_like(weight)


def _neighbor_distances(
    X: Any,
    weight: Floats,
    queries: npt.NDArray[np.int64],
    n_neighbors: int,
    n_jobs: int | None,
    among: npt.NDArray[np.int64] | None = None,
) -> Floats:
    """Return the distance of each query row to its `n_neighbors`-th neighbour in `among`.

    A row of weight 2 counts as two rows, one the neighbour of the other at distance 0.
    """
    times = _multiplicity(weight)
    pool = X if among is None else X[among]
    pool_times = times if among is None else times[among]
    present = np.ones(len(queries), bool) if among is None else np.isin(queries, among)
    # A query that is in the pool is its own first neighbour, which does not count.
    wanted = np.minimum(n_neighbors, pool_times.sum() - 1) + present

    nearest = np.empty((len(queries), 0))
    counted = np.empty((len(queries), 0))
    for piece, piece_times in _pieces(pool, pool_times):
        distances, indices = nearest_rows(
            piece, _rows_of(X, queries), min(n_neighbors + 1, len(piece_times)), n_jobs
        )
        nearest = np.hstack([nearest, distances])
        counted = np.hstack([counted, piece_times[indices]])
    order = np.argsort(nearest, axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, order, axis=1)
    reached = np.cumsum(np.take_along_axis(counted, order, axis=1), axis=1)
    place = np.argmax(reached >= wanted[:, None], axis=1)
    found: Floats = nearest[np.arange(len(queries)), place]
    found[found < ROUNDING * _largest_norm(X, queries)] = 0.0
    return found


def _pieces(X: Any, times: Floats) -> Iterator[tuple[Any, Floats]]:
    """Yield the rows whole, or in pieces where they are a mapped file."""
    if not isinstance(X, np.memmap):
        yield X, times
        return
    size = max(PIECE // X.shape[1], 1)
    for first in range(0, len(times), size):
        piece = slice(first, first + size)
        yield np.asarray(X[piece], dtype=working_dtype(X.dtype)), times[piece]


def _rows_of(X: Any, indices: npt.NDArray[np.int64]) -> Any:
    rows = X if len(indices) == X.shape[0] else X[indices]
    return rows if is_sparse(rows) else np.asarray(rows, dtype=working_dtype(X.dtype))


def _largest_norm(X: Any, queries: npt.NDArray[np.int64]) -> float:
    rows = _rows_of(X, queries)
    if is_sparse(rows):
        return float(np.sqrt(rows.multiply(rows).sum(axis=1).max()))
    return float(np.linalg.norm(rows, axis=1).max())


def _likelihood(X: Any, weight: Floats, n_rows: int, rng: np.random.RandomState) -> float:
    """Return the bandwidth of the highest leave-one-out likelihood, gaussian kernel.

    All copies of a row are left out with it. From fewer rows than there are, the answer is
    scaled as the best bandwidth scales with their number.
    """
    chosen = _choose(len(weight), n_rows, rng)
    squared = np.square(pairwise_distances(_rows_of(X, chosen)))
    apart = squared > (ROUNDING * _largest_norm(X, chosen)) ** 2
    if not apart.any():
        return 0.0
    squared[~apart] = np.inf
    seen = apart.any(axis=1)
    squared, weights = squared[seen], weight[chosen][seen]
    nearest = squared.min(axis=1)
    excess = squared - nearest[:, None]
    n_features = X.shape[1]

    def loss(log_bandwidth: float) -> float:
        inverse = 0.5 * np.exp(-2 * log_bandwidth)
        terms = np.log(np.exp(-inverse * excess) @ weight[chosen]) - inverse * nearest
        return float(np.average(n_features * log_bandwidth - terms, weights=weights))

    finite = squared[np.isfinite(squared)]
    grid = np.linspace(0.5 * np.log(finite.min()), 0.5 * np.log(finite.max()), 30)
    best = int(np.argmin([loss(point) for point in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(loss, bounds=(low, high), method="bounded") if low < high else None
    bandwidth = np.exp(found.x if found is not None else low)
    return float(bandwidth * (len(chosen) / len(weight)) ** (1 / (n_features + 4)))


def _normal_reference(X: Any, weight: Floats, rule: str) -> float:
    """Return Scott's or Silverman's rule for one bandwidth in all directions."""
    n_features = X.shape[1]
    n_rows = _multiplicity(weight).sum()
    with MemoryRows(X, weight=weight) as rows:
        variance = spread(rows) * n_rows / max(n_rows - 1, 1)
    factor = 4 / (n_features + 2) if rule == "silverman" else 1.0
    return float(np.sqrt(variance) * (factor / n_rows) ** (1 / (n_features + 4)))

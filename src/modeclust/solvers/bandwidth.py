"""Rules that choose a bandwidth from the data."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from modeclust.data.dataset import Dataset
from modeclust.data.memory import MemoryDataset, thread_count
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import is_mapped
from modeclust.data.sample import Sample
from modeclust.solvers.neighbors import (
    distances_between,
    nearest_rows,
    query_parts,
    rows_of,
)
from modeclust.solvers.solve import spread

Doubles = npt.NDArray[np.float64]

RULES = ("knn", "silverman", "scott", "likelihood")
# Neighbour distances are averaged over at most this many rows (found among all rows).
N_SAMPLES = 5000
# A rule can be divided by at most this, and multiplied by as much.
MOST_PARTS = 1e6
# The leave-one-out likelihood compares all pairs of at most this many rows.
LIKELIHOOD_ROWS = 2000
# Rows this near are the same, in units in which no coordinate is beyond 1e12: squares of scales and
# bandwidths are then within all numbers.
SAME = 1e-38
# A mapped file is read in pieces of about this many numbers.
PIECE = 2**23


def parse_rule(text: str) -> tuple[str, float]:
    """Return the name of a rule, and what its bandwidth is to be divided by.

    >>> parse_rule("knn"), parse_rule("knn/3")
    (('knn', 1.0), ('knn', 3.0))
    """
    name, slash, divisor = text.partition("/")
    try:
        number = float(divisor) if slash else 1.0
    except ValueError:
        number = np.nan
    if name not in RULES or not 1 / MOST_PARTS <= number <= MOST_PARTS:
        raise ValueError(
            f"a rule must be one of {', '.join(RULES)}, or a part of one such as 'knn/3', "
            f"got {text!r}."
        )
    return name, number


def choose_bandwidth(
    X: Any,
    weight: Doubles | None,
    rule: str | float,
    *,
    local: bool,
    n_neighbors: int = 10,
    n_samples: int = N_SAMPLES,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[float, Doubles | None]:
    """Return the bandwidth by a rule, or as given, and the local scales if wanted.

    `X` is in units that suit it. Rows of weight 0 get a scale of 1. The scales are drawn first:
    one generator gives the same with any rule.
    """
    if not (local or isinstance(rule, str)):
        return rule, None
    present = slice(None) if weight is None or weight.all() else np.flatnonzero(weight)
    rows = X if isinstance(present, slice) else X[present]
    weights = np.ones(X.shape[0]) if weight is None else weight[present]
    options = {
        "n_neighbors": n_neighbors,
        "n_samples": n_samples,
        "rng": check_random_state(random_state),
        "n_jobs": thread_count(n_jobs),
    }
    scales = None
    if local:
        scales = np.ones(X.shape[0])
        scales[present] = local_scales(rows, weights, **options)
    bandwidth = global_bandwidth(rows, weights, rule, **options) if isinstance(rule, str) else rule
    return bandwidth, scales


def global_bandwidth(
    X: Any,
    weight: Doubles,
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
        chosen = _choose(len(weight), min(n_samples, LIKELIHOOD_ROWS), rng)
        bandwidth = likelihood_bandwidth(Sample(rows_of(X, chosen), weight[chosen]), len(weight))
    else:
        with MemoryDataset(X, weight=weight) as dataset:
            bandwidth = normal_bandwidth(dataset, multiplicity(weight).sum(), rule)
    if bandwidth > 0:
        return bandwidth
    return bandwidth_of_distinct(
        Sample(X, weight).distinct(),
        n_neighbors=n_neighbors,
        n_samples=n_samples,
        rng=rng,
        n_jobs=n_jobs,
    )


def bandwidth_of_distinct(
    distinct: Sample,
    *,
    n_neighbors: int,
    n_samples: int,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> float:
    """Return "knn" of distinct rows, for where each row has many equals or all are equal."""
    if len(distinct.weight) == 1:
        return 1.0
    once = np.ones(len(distinct.weight))
    chosen = _choose(len(once), n_samples, rng)
    return float(np.mean(_neighbor_distances(distinct.X, once, chosen, n_neighbors, n_jobs)))


def local_scales(
    X: Any,
    weight: Doubles,
    *,
    n_neighbors: int,
    n_samples: int,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> Doubles:
    """Return each row's neighbour distance over the mean one.

    Above `n_samples` rows the neighbours are sought among that many rows drawn at random:
    all distances grow by it, but hardly their ratios. A row with a distance of zero
    gets the smallest one that is not.
    """
    among = _choose(len(weight), n_samples, rng)
    every = np.arange(len(weight))
    distances = _neighbor_distances(X, weight, every, n_neighbors, n_jobs, among)
    if not np.any(distances > SAME):
        return np.ones(len(weight))
    distances = np.maximum(distances, distances[distances > SAME].min())
    return np.asarray(distances / np.average(distances, weights=weight))


def _choose(n_rows: int, n_samples: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    if n_rows <= n_samples:
        return np.arange(n_rows)
    return np.sort(sample_without_replacement(n_rows, n_samples, random_state=rng))


def multiplicity(weight: Doubles) -> Doubles:
    """Return how often each row counts: whole weights are repetitions, others are not."""
    return weight if np.all(weight == np.round(weight)) else np.ones_like(weight)


def _neighbor_distances(
    X: Any,
    weight: Doubles,
    queries: npt.NDArray[np.int64],
    n_neighbors: int,
    n_jobs: int | None,
    among: npt.NDArray[np.int64] | None = None,
) -> Doubles:
    """Return the distance of each query row to its `n_neighbors`-th neighbour in `among`.

    A row of weight 2 counts as two rows, one the neighbour of the other at distance 0.
    """
    times = multiplicity(weight)
    pool = X if among is None else X[among]
    pool_times = times if among is None else times[among]
    present = np.ones(len(queries), bool) if among is None else np.isin(queries, among)
    return pool_distances(X, queries, present, pool, pool_times, n_neighbors, n_jobs)


def pool_distances(
    X: Any,
    queries: npt.NDArray[np.int64],
    present: npt.NDArray[np.bool_],  # whether each query is in the pool
    pool: Any,
    pool_times: Doubles,
    n_neighbors: int,
    n_jobs: int | None,
) -> Doubles:
    """Return the distance of rows of `X` to their `n_neighbors`-th neighbours in a pool of rows."""
    # A query that is in the pool is its own first neighbour, which does not count.
    wanted = np.minimum(n_neighbors, pool_times.sum() - 1) + present

    found, indices, counted = [], [], []
    for first, piece in _pieces(pool):
        parts = (rows_of(X, queries[part]) for part in query_parts(len(queries)))
        distances, nearest = nearest_rows(
            piece, parts, min(n_neighbors + 1, piece.shape[0]), n_jobs
        )
        found.append(distances)
        indices.append(first + nearest)
        counted.append(pool_times[first + nearest])
    order = np.argsort(np.hstack(found), axis=1, kind="stable")
    reached = np.cumsum(np.take_along_axis(np.hstack(counted), order, axis=1), axis=1)
    place = np.argmax(reached >= wanted[:, None], axis=1)
    neighbors = np.take_along_axis(np.hstack(indices), order, axis=1)
    return distances_between(X, queries, pool, neighbors[np.arange(len(queries)), place])


def _pieces(X: Any) -> Iterator[tuple[int, Any]]:
    """Yield the rows whole, or in pieces where they are mapped, with the place of the first."""
    size = max(PIECE // X.shape[1], 1) if is_mapped(X) else X.shape[0]
    for first in range(0, X.shape[0], size):
        yield first, X if size == X.shape[0] else rows_of(X, slice(first, first + size))


def likelihood_bandwidth(sample: Sample, n_rows: int) -> float:
    """Return the bandwidth of the highest leave-one-out likelihood, gaussian kernel.

    All copies of a row are left out with it. From a sample of the `n_rows` that there are, the
    answer is scaled as the best bandwidth scales with their number.
    """
    rows, weights = sample.distinct()
    if len(weights) == 1:
        return 0.0
    squared = np.square(pairwise_distances(rows) if is_sparse(rows) else cdist(rows, rows))
    np.fill_diagonal(squared, np.inf)
    nearest = squared.min(axis=1)
    excess = squared - nearest[:, None]
    n_features = rows.shape[1]

    def loss(log_bandwidth: float) -> float:
        inverse = 0.5 * np.exp(-2 * log_bandwidth)
        terms = np.log(np.exp(-inverse * excess) @ weights) - inverse * nearest
        return float(np.average(n_features * log_bandwidth - terms, weights=weights))

    finite = squared[np.isfinite(squared) & (squared > SAME**2)]
    if len(finite) == 0:
        return 0.0
    grid = np.linspace(0.5 * np.log(finite.min()), 0.5 * np.log(finite.max()), 20)
    best = int(np.argmin([loss(point) for point in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(loss, bounds=(low, high), method="bounded") if low < high else None
    bandwidth = np.exp(found.x if found is not None else low)
    return float(bandwidth * (len(sample.weight) / n_rows) ** (1 / (n_features + 4)))


def normal_bandwidth(dataset: Dataset, n_rows: float, rule: str) -> float:
    """Return Scott's or Silverman's rule for one bandwidth in all directions.

    `n_rows` counts rows as often as their weights say.
    """
    n_features = dataset.n_features
    variance = spread(dataset) * n_rows / max(n_rows - 1, 1)
    factor = 4 / (n_features + 2) if rule == "silverman" else 1.0
    return float(np.sqrt(variance) * (factor / n_rows) ** (1 / (n_features + 4)))

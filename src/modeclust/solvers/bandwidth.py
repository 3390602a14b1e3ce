"""Rules that choose a bandwidth from the data, for every dataset."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state

from modeclust.data.dataset import Dataset, Part
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, Indices, is_sparse
from modeclust.data.sample import Sample
from modeclust.solvers.kmeans import mean_variance
from modeclust.solvers.neighbors import nearest_rows

RULES = ("knn", "silverman", "scott", "likelihood")
# With more rows than this, a sample of them is used.
N_SAMPLES = 5000
# With more features than this, distances hardly differ, and a fifth of the sample is enough.
MANY_FEATURES = 50
# Neighbours are searched among all rows for at least one of so many rows of the sample, and for
# more while this many numbers are read for each row of the sample.
ROWS_PER_QUERY = 40
NUMBERS_PER_ROW = 100_000
# The result of a rule can be multiplied or divided by a number up to this, and by its inverse.
MAX_FACTOR = 1e6
RULE = re.compile(
    rf"((?P<factor>[^\s*/]+)\s*\*\s*)?(?P<name>{'|'.join(RULES)})"
    r"(?(factor)|(\s*\*\s*(?P<factor_after>[^\s*/]+))?)(\s*/\s*(?P<divisor>[^\s*/]+))?"
)
# The leave-one-out likelihood compares all pairs of at most this many rows.
LIKELIHOOD_ROWS = 2000
# Rows at most this far apart count as equal. Internal coordinates are at most 1e12, so the squares
# of scales and bandwidths do not overflow.
SAME_ROW = 1e-38


class Rule(NamedTuple):
    """A rule, and the numbers by which its result is multiplied and divided."""

    name: str
    factor: float
    divisor: float


def parse_rule(text: str) -> Rule:
    """Return the rule that a text such as "knn", "knn / 4" or "0.4*knn" stands for.

    The factor can also follow the rule, as in "knn*0.4".

    >>> parse_rule("0.4*knn")
    Rule(name='knn', factor=0.4, divisor=1.0)
    """
    found = RULE.fullmatch(text.strip())
    try:
        factor = float(found["factor"] or found["factor_after"] or 1) if found else np.nan
        divisor = float(found["divisor"] or 1) if found else np.nan
    except ValueError:
        factor = divisor = np.nan
    least = 1 / MAX_FACTOR
    if not (least <= factor <= MAX_FACTOR and least <= divisor <= MAX_FACTOR):
        raise ValueError(
            f"a rule must be one of {', '.join(RULES)}, or one multiplied or divided by a number, "
            f"such as '0.4*knn' or 'knn/3', got {text!r}."
        )
    assert found is not None
    return Rule(found["name"], factor, divisor)


def choose_bandwidth(
    dataset: Dataset,
    bandwidth: str | float,
    *,
    local: bool,
    unit: float = 1.0,
    n_neighbors: int = 10,
    n_samples: int = N_SAMPLES,
    statistic: str = "mean",
    random_state: Any = None,
) -> tuple[float, Any]:
    """Return the bandwidth, given or chosen by a rule, and a column of local scales if `local`.

    The result of a rule is multiplied by `unit`, the scale of the dataset in the user's units. The
    local scale of a row of weight 0 is 1. The rows for the scales are drawn first, so that a seed
    gives the same scales with every rule.
    """
    if not (local or isinstance(bandwidth, str)):
        return float(bandwidth), None
    rng = check_random_state(random_state)
    rows = dataset.present(n_samples)
    scales = None
    if local:
        scales = dataset.from_present(local_scales(rows, n_neighbors, n_samples, rng))
    if not isinstance(bandwidth, str):
        return float(bandwidth), scales
    rule, factor, divisor = parse_rule(bandwidth)
    found = 0.0
    if rule == "knn":
        found = neighbor_bandwidth(rows, n_neighbors, n_samples, statistic, rng)
    elif rule == "likelihood":
        sample = rows.sample(min(n_samples, LIKELIHOOD_ROWS), rng)
        found = likelihood_bandwidth(sample, rows.n_present)
    else:
        found = normal_bandwidth(rows, rule)
    if not found > 0:  # each row has many copies, or all rows are equal
        found = _distinct_bandwidth(rows, n_neighbors, n_samples, statistic, rng)
    return found * unit * factor / divisor, scales


def average(values: Doubles, weights: Doubles, statistic: str) -> float:
    """Return the weighted mean or median; an integer weight is equivalent to repeating the value.

    >>> average(np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.0, 1.0]), "median")
    2.0
    """
    if statistic == "mean":
        return float(np.average(values, weights=weights))
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    # If half of the weight is below a value, up to rounding, the median is halfway to the next.
    half = below[-1] / 2 * np.array([1 - 1e-12, 1 + 1e-12])
    return float(values[order[np.searchsorted(below, half)]].mean())


def neighbor_bandwidth(
    dataset: Dataset,
    n_neighbors: int,
    n_samples: int,
    statistic: str,
    rng: np.random.RandomState,
) -> float:
    """Return the average distance of the rows to their `n_neighbors`-th nearest other row.

    With more than `n_samples` rows, it is a ratio estimate from two samples. Neighbours in a sample
    are fast to find, but farther than among all rows. How much farther, on average, is measured on
    a few rows of the sample: average(sample) * average(few, all rows) / average(few, sample).
    """
    if dataset.n_present <= n_samples:
        chosen = dataset.draw(n_samples, rng)
        distances = neighbor_distances(dataset, chosen, n_neighbors)
        return average(distances, dataset.weights_at(chosen), statistic)
    affordable = NUMBERS_PER_ROW * n_samples // (dataset.n_present * dataset.n_features)
    n_few = max(n_samples // ROWS_PER_QUERY, affordable, 2)
    if dataset.n_features > MANY_FEATURES:
        n_samples = max(n_samples // 5, 2)
    chosen = dataset.draw(n_samples, rng)
    few = np.sort(rng.permutation(len(chosen))[:n_few])
    sample = dataset.take(chosen)
    weight = sample.weight if dataset.weights_are_counts else None
    with MemoryDataset(sample.rows(), weight=weight, n_jobs=1) as rows:
        near = neighbor_distances(rows, np.arange(len(chosen)), n_neighbors)
    exact = average(
        neighbor_distances(dataset, chosen[few], n_neighbors), sample.weight[few], statistic
    )
    of_few = average(near[few], sample.weight[few], statistic)
    return exact * average(near, sample.weight, statistic) / of_few if of_few > 0 else exact


def _distinct_bandwidth(
    dataset: Dataset,
    n_neighbors: int,
    n_samples: int,
    statistic: str,
    rng: np.random.RandomState,
) -> float:
    """Return the result of "knn" for the distinct rows, or 1 if there is only one."""
    distinct = dataset.distinct()
    if len(distinct.weight) == 1:
        return 1.0
    with MemoryDataset(distinct.rows()) as rows:
        return neighbor_bandwidth(rows, n_neighbors, n_samples, statistic, rng)


@dataclass
class NearestRows:
    """The nearest rows of some queries, the nearest first."""

    distances: Doubles  # (n, k)
    counts: Doubles  # (n, k) how often each row counts

    def merge(self, other: "NearestRows") -> None:
        """Merge with the nearest of the rows that follow."""
        distances = np.hstack([self.distances, other.distances])
        order = np.argsort(distances, axis=1, kind="stable")
        order = order[:, : max(self.distances.shape[1], other.distances.shape[1])]
        self.distances = np.take_along_axis(distances, order, axis=1)
        counts = np.hstack([self.counts, other.counts])
        self.counts = np.take_along_axis(counts, order, axis=1)


def _nearest_in(part: Part, queries: Any, n_wanted: int) -> NearestRows:
    """Return the rows of a part that are nearest to each query."""
    if not len(part.indices):
        n_queries = sum(rows.shape[0] for rows in queries)
        nothing = np.empty((n_queries, 0))
        return NearestRows(nothing, nothing)
    n_found = min(n_wanted, len(part.indices))
    found = [nearest_rows(part.X, rows, n_found, part.n_jobs) for rows in queries]
    distances, nearest = map(np.concatenate, zip(*found, strict=True))
    return NearestRows(distances, part.counts[nearest])


def neighbor_distances(dataset: Dataset, queries: Indices, n_neighbors: int) -> Doubles:
    """Return the distance of some rows to their `n_neighbors`-th nearest other row.

    A row of weight 2 counts as two rows, each a neighbour of the other at distance 0.
    """
    parts = dataset.read_parts(queries)
    found = dataset.merge_parts(_nearest_in, parts, n_neighbors + 1)
    # Each row is its own first neighbour, which does not count.
    return _counted(found, min(n_neighbors, dataset.n_counted - 1) + 1)


def _counted(nearest: NearestRows, wanted: Any) -> Doubles:
    """Return the distance of the first neighbour at which the sum of counts reaches `wanted`."""
    reached = nearest.counts.cumsum(axis=1) >= wanted
    return np.asarray(nearest.distances[np.arange(len(reached)), reached.argmax(axis=1)])


def local_scales(
    dataset: Dataset, n_neighbors: int, n_samples: int, rng: np.random.RandomState
) -> Any:
    """Return a column: the distance of each row to its `n_neighbors`-th neighbour over their mean.

    Neighbours are searched among at most `n_samples` random rows. This increases all distances,
    but hardly changes their ratios. A distance of 0 counts as the smallest
    positive distance.
    """
    drawn = dataset.draw(n_samples, rng)
    pool = dataset.take(drawn)
    counts = pool.weight if dataset.weights_are_counts else np.ones(len(drawn))
    distances = dataset.column(_pool_distances, pool.X, counts, drawn, n_neighbors)
    return dataset.relative_column(distances, SAME_ROW)


def _pool_distances(
    part: Part, pool: Any, counts: Doubles, drawn: Indices, n_neighbors: int
) -> Doubles:
    """Return the distance of each row of a part to its neighbour in a pool of rows."""
    # A row of the pool is its own first neighbour, which does not count.
    wanted = np.minimum(n_neighbors, counts.sum() - 1) + np.isin(part.indices, drawn)
    n_found = min(n_neighbors + 1, len(drawn))
    distances, nearest = nearest_rows(pool, part.X, n_found, part.n_jobs)
    return _counted(NearestRows(distances, counts[nearest]), wanted[:, None])


def likelihood_bandwidth(sample: Sample, n_rows: int) -> float:
    """Return the bandwidth with the highest leave-one-out likelihood, for the gaussian kernel.

    A row is left out together with its copies. The best bandwidth of the sample is scaled to
    `n_rows` rows, by the rate at which the best bandwidth shrinks with the number of rows.
    """
    distinct = sample.distinct()
    rows, weights = distinct.X, distinct.weight
    if len(weights) == 1:
        return 0.0
    squared = np.square(pairwise_distances(rows) if is_sparse(rows) else cdist(rows, rows))
    np.fill_diagonal(squared, np.inf)
    finite = squared[np.isfinite(squared) & (squared > SAME_ROW**2)]
    if len(finite) == 0:
        return 0.0
    # In units of the smallest distance: the search then finds the same for rows of any size.
    unit = finite.min()
    squared /= unit
    nearest = squared.min(axis=1)
    excess = squared - nearest[:, None]
    n_features = rows.shape[1]

    def loss(log_bandwidth: float) -> float:
        inverse = 0.5 * np.exp(-2 * log_bandwidth)
        terms = np.log(np.exp(-inverse * excess) @ weights) - inverse * nearest
        return float(np.average(n_features * log_bandwidth - terms, weights=weights))

    grid = np.linspace(0.0, 0.5 * np.log(finite.max() / unit), 20)
    best = int(np.argmin([loss(point) for point in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(loss, bounds=(low, high), method="bounded") if low < high else None
    bandwidth = np.sqrt(unit) * np.exp(found.x if found is not None else low)
    return float(bandwidth * (len(sample.weight) / n_rows) ** (1 / (n_features + 4)))


def normal_bandwidth(dataset: Dataset, rule: str) -> float:
    """Return the bandwidth by Scott's or Silverman's rule, the same in all directions."""
    n_features, n_rows = dataset.n_features, dataset.n_counted
    variance = mean_variance(dataset) * n_rows / max(n_rows - 1, 1)
    factor = 4 / (n_features + 2) if rule == "silverman" else 1.0
    return float(np.sqrt(variance) * (factor / n_rows) ** (1 / (n_features + 4)))

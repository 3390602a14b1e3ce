"""How sure labels are, and which rows are outliers, by the distances of the rows of a fit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust.data.distance_pass import OwnDistancePass
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, Indices, is_sparse, take_rows
from modeclust.data.rescaling import Rescaling
from modeclust.data.sample import Sample
from modeclust.io.model_file import is_array
from modeclust.solvers.kmodes import Centers, assign
from modeclust.solvers.neighbors import nearest_rows

Labels = npt.NDArray[np.integer[Any]]

# The median absolute deviation of a normal distribution, times this, is its standard deviation.
NORMAL_DEVIATION = 1.4826
# The share of a normal distribution below its mean plus one standard deviation.
ONE_DEVIATION = 0.8413
# What is typical in a cluster is averaged with what is typical of all rows, as if these were this
# many more rows of the cluster: a few rows tell little about a distribution.
EXTRA_ROWS = 20.0
# A cluster smaller than this share of the mean size is small: its rows may all be outliers. The
# clusters of He, Xu & Deng (2003) are small by the same factor.
SMALL_SHARE = 0.2
# A cluster smaller than this share of the mean size consists of outliers if its typical row is
# farther from its neighbours, among some of all rows, than this share of the other rows.
FEW_SHARE, ISOLATED, ROWS_TO_COMPARE = 0.5, 0.99, 512
# The deviation if all distances are equal: that of a Gaussian in one dimension.
DEFAULT_DEVIATION = float(np.sqrt(2.0 / 9.0))
# A model keeps about this many rows in all, but at least and at most so many of each cluster. With
# more of them, scores find known noise hardly better.
KEPT_ROWS, FEWEST_KEPT, MOST_KEPT = 4096, 32, 128
# The gap of a row is its distance to the neighbour of this rank among them, which is lower if there
# are few: with 1, two outliers side by side have no gap.
NEIGHBOR = 10
# Ratios of distances are between these, so that neither squares nor logarithms overflow.
MIN_RATIO, MAX_RATIO = 1e-3, 1e150
EQUAL = 1e-9  # ratios of distances that differ by less are equal
SMALLEST_DEVIATION = 1e-100  # smaller ones count as 0
TINY, HUGE = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)
# Rows are scored in blocks: of this many rows, of this many for each cluster, or of this many
# numbers, whichever is the largest block.
ROWS_TO_SCORE, ROWS_TO_SCORE_PER_CLUSTER, NUMBERS_TO_SCORE = 8192, 64, 2**21


@dataclass(frozen=True)
class Spread:
    """How far rows are from the centers of their clusters.

    Distances d are compared by u = (d / median)^(2/3). In a Gaussian cluster of any dimension D, u
    is nearly normal, with the variance 2 / (9 D) (Wilson & Hilferty, 1931).
    """

    radius: float  # the median distance
    n_dimensions: float  # D, by the deviation of u

    def __post_init__(self) -> None:
        numbers = [self.radius, self.n_dimensions]
        if not all(type(number) is float and 0 < number < np.inf for number in numbers):
            raise ValueError("a spread must have a radius > 0 and a number of dimensions > 0")

    @classmethod
    def of(cls, distances: Doubles, labels: Labels, counts: Doubles, n_features: int) -> "Spread":
        """Return the spread of rows, each of which counts as many times as `counts` says."""
        n_clusters = int(labels.max(initial=0)) + 1
        radius = _typical(distances, counts)
        medians = cluster_quantiles(distances, labels, counts, n_clusters)
        ratios = distances / np.where(medians > 0, medians, radius)[labels]
        pooled = NORMAL_DEVIATION * _quantile(np.abs(ratios ** (2 / 3) - 1), counts)
        n_dimensions = 2 / (9 * pooled * pooled) if pooled > 0 else float(n_features)
        return cls(radius, float(min(max(n_dimensions, 1.0), n_features)))

    def in_units(self, unit: float) -> "Spread":
        """Return the spread of distances that are multiplied by `unit`."""
        return replace(self, radius=min(max(self.radius * unit, TINY), HUGE))

    def probabilities(self, distances: npt.NDArray[Any]) -> Doubles:
        """Return the shares of the clusters in rows at these distances (N, K) of their centers.

        The clusters count as Gaussians of equal weight and variance in `n_dimensions` dimensions.
        """
        ratios = np.minimum(distances.astype(np.float64) / self.radius, MAX_RATIO)
        nearest = ratios.min(axis=1, keepdims=True)
        shares = np.exp(-0.5 * self.n_dimensions * (ratios - nearest) * (ratios + nearest))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class OutlierScale:
    """What is typical of the rows of each cluster, and some of the rows.

    A row is compared by two numbers: u, from its distance to the center, as in `Spread`; and its
    gap, the logarithm of its distance to the `NEIGHBOR`-th kept row of its cluster, divided by the
    radius. The second one finds rows in holes, and beside clusters that are not round.
    """

    radius: Doubles  # (K,) the median distance to the center
    deviation: Doubles  # (K,) the standard deviation of u, by the median of |u - 1|
    gap: Doubles  # (K,) the median gap
    gap_deviation: Doubles  # (K,) how far 84% are above it at most: gaps are not symmetric
    is_small: npt.NDArray[np.bool_]  # (K,) clusters with too few rows to be compared with
    rows: Any  # (M, D) some rows of the fit, dense or CSR
    labels: npt.NDArray[np.int32]  # (M,) their clusters, in increasing order

    def __post_init__(self) -> None:
        columns = [self.radius, self.deviation, self.gap_deviation, self.gap]
        size = len(self.radius) if is_array(self.radius, "f", None) else 0
        is_right = all(is_array(column, "f", size) for column in columns)
        is_right = is_right and all(np.isfinite(column).all() for column in columns)
        is_right = is_right and bool((self.radius > 0).all())
        is_right = is_right and all((column > SMALLEST_DEVIATION).all() for column in columns[1:3])
        is_right = is_right and is_array(self.is_small, "b", size) and False in self.is_small
        is_right = is_right and len(getattr(self.rows, "shape", ())) == 2
        is_right = is_right and is_array(self.labels, "i", self.rows.shape[0])
        if is_right:
            large = np.flatnonzero(~self.is_small)
            is_right = np.array_equal(np.unique(self.labels), large)
            is_right = is_right and bool(np.all(np.diff(self.labels) >= 0))
        if not is_right:
            raise ValueError("an outlier scale must have radii and deviations > 0, and kept rows")

    def mapped(self, rows: Any, unit: float) -> "OutlierScale":
        """Return the scale for distances that are multiplied by `unit`, with the rows mapped."""
        with np.errstate(over="ignore"):
            radius = np.minimum(np.maximum(self.radius * unit, TINY), HUGE)
        return replace(self, radius=radius, rows=rows)

    def to_internal(self, rescaling: Rescaling) -> "OutlierScale":
        """Return the scale of internal rows."""
        rows = self.rows
        if is_sparse(rows) and rescaling.offset is not None:  # the new rows are dense
            rows = rows.toarray()
        return self.mapped(rescaling.to_internal(rows), 1 / rescaling.scale)

    def to_original(self, rescaling: Rescaling) -> "OutlierScale":
        """Return the scale of the user's rows."""
        rows = rescaling.to_original(self.rows).astype(self.rows.dtype)
        return self.mapped(rows, rescaling.scale)

    def scores(self, distances: Doubles, gaps: Doubles, labels: Labels) -> Doubles:
        """Return by how many deviations rows are farther away than is typical, or more alone."""
        u = np.minimum(distances / self.radius[labels], MAX_RATIO) ** (2 / 3)
        from_center = (u - 1) / self.deviation[labels]
        return np.maximum(from_center, (gaps - self.gap[labels]) / self.gap_deviation[labels])

    def gaps(self, X: Any, labels: Labels, n_threads: int) -> Doubles:
        """Return the gaps of internal rows of these clusters, none of which is small."""
        gaps = np.empty(len(labels))
        clusters = np.arange(len(self.radius))
        starts, ends = (self.labels.searchsorted(clusters, side) for side in ("left", "right"))
        for some in _blocks(X.shape, len(self.radius)):
            rows, own = take_rows(X, some), labels[some]
            order = np.argsort(own, kind="stable")
            for k, chosen in _by_cluster(own, order):
                kept, rank = self.rows[starts[k] : ends[k]], _rank(ends[k] - starts[k])
                distances, _ = nearest_rows(kept, rows[chosen], rank, n_threads)
                gaps[some][chosen] = distances[:, -1] / self.radius[k]
        return np.log(np.clip(gaps, MIN_RATIO, MAX_RATIO))


@dataclass(frozen=True)
class Typical:
    """What is typical of the rows of a fit."""

    spread: Spread
    scale: OutlierScale


def measure_typical(
    sample: Sample, centers: Centers, count_per_weight: float, n_threads: int
) -> Typical:
    """Return the spread and the outlier scale of a sample of distinct rows, in internal units."""
    n_clusters, n_features = centers.shape
    X, counts = sample.rows(), sample.weight * count_per_weight
    dataset = MemoryDataset(X, n_clusters=n_clusters, n_threads=n_threads)
    distances = assign_with_distances(dataset, centers)
    labels = dataset.labels()
    is_small = small_clusters(labels, counts, n_clusters)
    is_small |= _isolated_clusters(X, labels, counts, n_clusters, n_threads)
    used = np.flatnonzero(~is_small[labels] & (counts > 0))
    distances, labels, counts = distances[used], labels[used], counts[used]
    spread = Spread.of(distances, labels, counts, n_features)
    sizes = np.bincount(labels, counts, n_clusters)
    own = sizes / (sizes + EXTRA_ROWS)
    medians = cluster_quantiles(distances, labels, counts, n_clusters)
    medians = np.where(medians > 0, medians, spread.radius)
    excess = (distances / medians[labels]) ** (2 / 3) - 1
    deviation = _deviations(excess, labels, counts, own)
    most = min(max(KEPT_ROWS // n_clusters, FEWEST_KEPT), MOST_KEPT)
    kept = _systematic(labels, counts, most)
    scale = OutlierScale(
        np.exp(own * np.log(medians) + (1 - own) * np.log(spread.radius)),
        np.where(deviation > SMALLEST_DEVIATION, deviation, DEFAULT_DEVIATION),
        np.zeros(n_clusters),
        np.ones(n_clusters),
        is_small,
        take_rows(X, used[kept]),
        labels[kept],
    )
    gaps = scale.gaps(take_rows(X, used), labels, n_threads)
    gap = _shrunk(gaps, labels, counts, own)
    above = _shrunk(gaps - gap[labels], labels, counts, own, ONE_DEVIATION)
    gap_deviation = np.where(above > SMALLEST_DEVIATION, above, DEFAULT_DEVIATION)
    return Typical(spread, replace(scale, gap=gap, gap_deviation=gap_deviation))


def outlier_scores(dataset: MemoryDataset, centers: Centers, scale: OutlierScale) -> Doubles:
    """Return the outlier scores of all rows, at the nearest of the centers that are not small."""
    large = np.flatnonzero(~scale.is_small)
    distances = assign_with_distances(dataset, np.ascontiguousarray(centers[large]))
    labels = large[dataset.labels()]
    return scale.scores(distances, scale.gaps(dataset.X, labels, dataset.n_threads), labels)


def assign_with_distances(dataset: MemoryDataset, centers: Centers) -> Doubles:
    """Assign rows to their nearest centers, and return the distances."""
    assign(dataset, centers)
    return np.sqrt(dataset.run(OwnDistancePass(centers)).squared)


def small_clusters(labels: Labels, counts: Doubles, n_clusters: int) -> npt.NDArray[np.bool_]:
    """Return which clusters have too few rows to compare rows with them."""
    sizes = np.bincount(labels, counts, n_clusters)
    return np.asarray((sizes < SMALL_SHARE * sizes.sum() / (sizes > 0).sum()) | (sizes == 0))


def _isolated_clusters(
    X: Any, labels: Labels, counts: Doubles, n_clusters: int, n_threads: int
) -> npt.NDArray[np.bool_]:
    """Return which clusters of few rows consist of outliers, by the neighbours of their rows.

    Their typical row has its neighbours, among some of all rows, farther away than nearly all rows
    of other clusters.
    """
    sizes = np.bincount(labels, counts, n_clusters)
    is_few = (sizes > 0) & (sizes < FEW_SHARE * sizes.sum() / (sizes > 0).sum())
    found = np.zeros(n_clusters, dtype=np.bool_)
    if not is_few.any():
        return found
    everything = np.zeros_like(labels)
    some = _systematic(everything, counts, ROWS_TO_COMPARE)
    rank = _rank(len(some))
    distances, _ = nearest_rows(take_rows(X, some), X[:], rank, n_threads)
    for k in np.flatnonzero(is_few):
        own = labels == k
        typical = _quantile(distances[own, -1], counts[own])
        found[k] = typical > _quantile(distances[~own, -1], counts[~own], ISOLATED)
    return found


def cluster_quantiles(
    values: Doubles, labels: Labels, counts: Doubles, n_clusters: int, quantile: float = 0.5
) -> Doubles:
    """Return a quantile of the values in each cluster; 0 for clusters without rows.

    >>> labels = np.array([0, 0, 0, 1, 1])
    >>> cluster_quantiles(np.array([3.0, 1.0, 2.0, 7.0, 8.0]), labels, np.ones(5), 2)
    array([2. , 7.5])
    """
    order = np.lexsort((values, labels))
    values, labels, sums = values[order], labels[order], counts[order].cumsum()
    clusters = np.arange(n_clusters)
    starts, ends = labels.searchsorted(clusters), labels.searchsorted(clusters, side="right")
    occupied = ends > starts
    starts, ends = starts[occupied], ends[occupied]
    before = np.where(starts > 0, sums[starts - 1], 0.0)
    wanted = before + quantile * (sums[ends - 1] - before)
    low = np.minimum(sums.searchsorted(wanted), ends - 1)
    high = np.minimum(sums.searchsorted(wanted, side="right"), ends - 1)
    found = np.zeros(n_clusters)
    found[occupied] = (values[low] + values[high]) / 2
    return found


def _quantile(values: Doubles, counts: Doubles, quantile: float = 0.5) -> float:
    one = np.zeros(len(values), dtype=np.int64)
    return float(cluster_quantiles(values, one, counts, 1, quantile)[0])


def _typical(distances: Doubles, counts: Doubles) -> float:
    """Return the median distance; if it is 0, the mean; if that is 0, 1."""
    return _quantile(distances, counts) or float(distances.mean()) or 1.0


def _deviations(excess: Doubles, labels: Labels, counts: Doubles, own: Doubles) -> Doubles:
    """Return the deviation of u in each cluster, averaged with that of all rows, from u - 1."""
    everything = np.zeros_like(labels)
    found, of_all = (
        np.where(
            (middle := cluster_quantiles(np.abs(excess), some, counts, size)) > EQUAL,
            NORMAL_DEVIATION * middle,
            # Most rows are equal, as those of few categories are.
            np.maximum(cluster_quantiles(excess, some, counts, size, ONE_DEVIATION), 0.0),
        )
        for some, size in ((labels, len(own)), (everything, 1))
    )
    return np.asarray(own * found + (1 - own) * of_all)


def _shrunk(
    values: Doubles, labels: Labels, counts: Doubles, own: Doubles, quantile: float = 0.5
) -> Doubles:
    """Return a quantile in each cluster, averaged with that of all rows by the share `own`."""
    found = cluster_quantiles(values, labels, counts, len(own), quantile)
    return own * found + (1 - own) * _quantile(values, counts, quantile)


def _systematic(labels: Labels, counts: Doubles, most: int) -> Indices:
    """Return the indices of some rows of each cluster, at equal steps of their counts.

    A row that counts more than a step is returned more than once.
    """
    order = np.argsort(labels, kind="stable")
    parts = []
    for _, rows in _by_cluster(labels, order):
        sums, n_kept = counts[rows].cumsum(), min(len(rows), most)
        parts.append(rows[sums.searchsorted((np.arange(n_kept) + 0.5) * sums[-1] / n_kept)])
    return np.concatenate(parts)


def _by_cluster(labels: Labels, order: Indices) -> Iterator[tuple[int, Indices]]:
    """Yield each cluster with its rows, from rows in the order of their clusters."""
    clusters, starts = np.unique(labels[order], return_index=True)
    yield from zip(clusters.tolist(), np.split(order, starts[1:]), strict=True)


def _blocks(shape: tuple[int, int], n_clusters: int) -> Iterator[slice]:
    n_rows, n_features = shape
    by_clusters, by_numbers = ROWS_TO_SCORE_PER_CLUSTER * n_clusters, NUMBERS_TO_SCORE // n_features
    size = max(ROWS_TO_SCORE, by_clusters, by_numbers)
    for first in range(0, n_rows, size):
        yield slice(first, first + size)


def _rank(n_kept: int) -> int:
    """Return the rank of the neighbour: at most a quarter of the rows, but 3 if possible."""
    return int(max(min(NEIGHBOR, n_kept // 4), min(3, n_kept)))

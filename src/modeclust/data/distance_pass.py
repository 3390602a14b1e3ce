"""Distances of rows to given centers, how they are spread, or kernel values there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.mode_pass import ModeSums
from modeclust.data.reading import Doubles
from modeclust.io.model_file import is_array

# The median absolute deviation of a normal distribution, times this, is its standard deviation.
NORMAL_DEVIATION = 1.4826
# The radius and the deviation of a cluster are averaged with those of all rows, as if these were
# this many more rows of the cluster: a few rows tell little about a distribution.
EXTRA_ROWS = 20.0
# A cluster smaller than this share of the mean size is small: its rows may all be outliers. The
# clusters of He, Xu & Deng (2003) are small by the same factor.
SMALL_SHARE = 0.2
# The deviation if all distances are equal: that of a Gaussian in one dimension.
DEFAULT_DEVIATION = float(np.sqrt(2.0 / 9.0))
# If there are more rows than this, and than this many for each cluster, the spread is measured on
# every n-th row, so that about as many are left.
MAX_ROWS, MAX_ROWS_PER_CLUSTER = 20_000, 500
# Ratios of distances are at most this, so that their squares do not overflow.
MAX_RATIO = 1e150
TINY, HUGE = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)


@dataclass
class OwnDistances:
    """The squared distance of each row to its own center."""

    squared: Doubles  # (N,)

    def merge(self, other: "OwnDistances") -> None:
        """Append the distances of the rows that follow."""
        self.squared = np.concatenate([self.squared, other.squared])


@dataclass(frozen=True)
class OwnDistancePass:
    """Measure the distance of each row to its own center, by the current labels."""

    centers: Doubles  # (K, D)
    step: int = 1  # only every `step`-th row of the dataset counts

    def run(self, rows: _core.Rows) -> OwnDistances:
        """Return the distances of some rows."""
        squared = _core.own_distances(rows, self.centers, rows.labels)
        return OwnDistances(squared[-rows.first_row % self.step :: self.step])


def spread_step(n_rows: int, n_clusters: int) -> int:
    """Return n if the spread is measured on every n-th row."""
    return max(n_rows // max(MAX_ROWS, MAX_ROWS_PER_CLUSTER * n_clusters), 1)


@dataclass(frozen=True)
class Spread:
    """How far the rows of each cluster are from its center.

    Distances d of cluster k are compared by u = (d / radius_k)^(2/3). In a Gaussian cluster of any
    dimension D, u is nearly normal, with the variance 2 / (9 D) (Wilson & Hilferty, 1931).
    """

    radius: Doubles  # (K,) the median distance
    deviation: Doubles  # (K,) the standard deviation of u, by the median of |u - 1|
    is_small: npt.NDArray[np.bool_]  # (K,) clusters with too few rows to be compared with
    typical_radius: float  # the median distance of all rows
    n_dimensions: float  # D, by the deviation of u over all rows

    def __post_init__(self) -> None:
        is_right = is_array(self.radius, "f", None)
        n_clusters = len(self.radius) if is_right else 0
        is_right = is_right and is_array(self.deviation, "f", n_clusters)
        is_right = is_right and is_array(self.is_small, "b", n_clusters)
        is_right = is_right and False in self.is_small
        numbers = [self.typical_radius, self.n_dimensions]
        is_right = is_right and all(type(number) is float for number in numbers)
        if is_right:
            numbers += [*self.radius.tolist(), *self.deviation.tolist()]
            is_right = not np.isnan(numbers).any() and min(numbers) > 0 and max(numbers) < np.inf
        if not is_right:
            raise ValueError("a spread must have radii > 0 and deviations > 0 of some clusters")

    @classmethod
    def of(
        cls,
        distances: Doubles,
        labels: npt.NDArray[np.integer[Any]],
        counts: Doubles,
        shape: tuple[int, int],
    ) -> "Spread":
        """Return the spread of some rows; `shape` has the number of clusters and of features.

        `counts` says how often each row counts. If all distances are 0, the radii are 1.
        """
        n_clusters, n_features = shape
        sizes = np.bincount(labels, counts, n_clusters)
        is_small = (sizes < SMALL_SHARE * sizes.sum() / max((sizes > 0).sum(), 1)) | (sizes == 0)
        kept = (counts > 0) & ~is_small[labels]
        distances, labels, counts = distances[kept], labels[kept], counts[kept]
        everything = np.zeros_like(labels)
        typical = float(cluster_medians(distances, everything, counts, 1)[0])
        typical = typical or float(distances.mean()) or 1.0
        medians = cluster_medians(distances, labels, counts, n_clusters)
        medians = np.where(medians > 0, medians, typical)
        excess = np.abs(relative_sizes(distances, medians[labels]) - 1)
        pooled = NORMAL_DEVIATION * cluster_medians(excess, everything, counts, 1)[0]
        deviations = NORMAL_DEVIATION * cluster_medians(excess, labels, counts, n_clusters)
        deviations = np.where(deviations > 0, deviations, pooled)
        own = sizes / (sizes + EXTRA_ROWS)
        deviations = own * deviations + (1 - own) * pooled
        n_dimensions = 2 / (9 * pooled * pooled) if pooled > 0 else float(n_features)
        return cls(
            np.exp(own * np.log(medians) + (1 - own) * np.log(typical)),
            deviations if pooled > 0 else np.full(n_clusters, DEFAULT_DEVIATION),
            is_small,
            typical,
            float(min(max(n_dimensions, 1.0), n_features)),
        )

    def in_units(self, unit: float) -> "Spread":
        """Return the spread of distances that are multiplied by `unit`."""
        if unit == 1.0:
            return self
        with np.errstate(over="ignore"):
            radius = np.minimum(np.maximum(self.radius * unit, TINY), HUGE)
        typical = min(max(self.typical_radius * unit, TINY), HUGE)
        return Spread(radius, self.deviation, self.is_small, typical, self.n_dimensions)

    def scores(self, distances: Doubles, labels: npt.NDArray[np.integer[Any]]) -> Doubles:
        """Return how many deviations farther rows are from their centers than is typical."""
        scores = relative_sizes(distances, self.radius[labels])
        scores -= 1.0
        scores /= self.deviation[labels]
        return scores

    def probabilities(self, distances: npt.NDArray[Any]) -> Doubles:
        """Return the shares of the clusters in rows at these distances (N, K) of their centers.

        The clusters count as Gaussians of equal weight and variance in `n_dimensions` dimensions.
        """
        with np.errstate(over="ignore"):
            ratios = np.minimum(distances.astype(np.float64) / self.typical_radius, MAX_RATIO)
        nearest = ratios.min(axis=1, keepdims=True)
        shares = np.exp(-0.5 * self.n_dimensions * (ratios - nearest) * (ratios + nearest))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def relative_sizes(distances: Doubles, radii: Doubles) -> Doubles:
    """Return (d / r)^(2/3)."""
    with np.errstate(over="ignore"):
        ratios = np.minimum(distances / radii, MAX_RATIO)
    return np.asarray(np.cbrt(ratios * ratios))


def cluster_medians(
    values: Doubles, labels: npt.NDArray[np.integer[Any]], counts: Doubles, n_clusters: int
) -> Doubles:
    """Return the median of the values in each cluster; 0 for clusters without rows.

    >>> labels = np.array([0, 0, 0, 1, 1])
    >>> cluster_medians(np.array([3.0, 1.0, 2.0, 7.0, 8.0]), labels, np.ones(5), 2)
    array([2. , 7.5])
    """
    order = np.lexsort((values, labels))
    values, labels, sums = values[order], labels[order], counts[order].cumsum()
    clusters = np.arange(n_clusters)
    starts, ends = labels.searchsorted(clusters), labels.searchsorted(clusters, side="right")
    occupied = ends > starts
    starts, ends = starts[occupied], ends[occupied]
    middle = (np.where(starts > 0, sums[starts - 1], 0.0) + sums[ends - 1]) / 2
    low = np.minimum(sums.searchsorted(middle), ends - 1)
    high = np.minimum(sums.searchsorted(middle, side="right"), ends - 1)
    medians = np.zeros(n_clusters)
    medians[occupied] = (values[low] + values[high]) / 2
    return medians


@dataclass
class LevelSums:
    """The sums of a mode step, and the distribution of the distances of the rows to their modes."""

    sums: ModeSums
    histogram: Doubles  # (K, bins, 3), as in `_core.distance_histogram`

    def merge(self, other: "LevelSums") -> None:
        """Add the rows that follow."""
        self.sums.merge(other.sums)
        self.histogram += other.histogram


@dataclass(frozen=True)
class LevelPass:
    """A mode step with frozen labels that finds the distribution of the distances too."""

    centers: Doubles  # (K, D)
    kernel: int
    inverse_squares: Doubles  # (K,) 1 / bandwidth^2 of each cluster
    unit: float  # a typical squared distance

    def run(self, rows: _core.Rows) -> LevelSums:
        """Return the sums and the distribution for some rows, by their current labels."""
        squared = np.empty(rows.n_rows)
        sums = rows.mode_pass(
            self.centers, self.kernel, 1.0, False, -1.0, self.inverse_squares, squared
        )
        n_clusters = len(self.centers)
        histogram = _core.distance_histogram(rows, squared, rows.labels, n_clusters, self.unit)
        return LevelSums(ModeSums(self.kernel, *sums), histogram)


@dataclass
class Nothing:
    """The result of a pass that writes to an array."""

    def merge(self, other: "Nothing") -> None:
        """Do nothing."""


@dataclass(frozen=True)
class KernelValuePass:
    """Write the kernel value of each row at each center, q G(t)."""

    centers: Doubles  # (K, D)
    kernel: int
    inverse_squared_bandwidth: float
    kernel_values: Doubles  # (N, K), OUT

    def run(self, rows: _core.Rows) -> Nothing:
        """Write the kernel values of all rows."""
        _core.kernel_values(
            rows,
            self.centers,
            kernel=self.kernel,
            inverse_squared_bandwidth=self.inverse_squared_bandwidth,
            out=self.kernel_values,
        )
        return Nothing()

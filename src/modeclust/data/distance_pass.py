"""Distances of rows to given centers, or kernel values there."""

from dataclasses import dataclass

import numpy as np

from modeclust import _core
from modeclust.data.reading import Doubles


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

    def run(self, rows: _core.Rows) -> OwnDistances:
        """Return the distances of some rows."""
        return OwnDistances(_core.own_distances(rows, self.centers, rows.labels))


@dataclass
class DistanceHistogram:
    """The distribution of the squared distances |x - c|^2 / s^2 in each cluster, in narrow bins."""

    sums: Doubles  # (3, K, bins), as in `_core.distance_histogram`
    lowest: Doubles  # (K,) at which the bins begin
    unit: float  # a typical squared distance

    def merge(self, other: "DistanceHistogram") -> None:
        """Add the rows that follow."""
        self.sums += other.sums

    def bandwidths_for(self, kernel: int, rows_averaged: Doubles) -> Doubles:
        """Return the bandwidths (K,) at which a mode step averages this many rows (K,).

        They are infinite for clusters that do not have more rows than that.
        """
        return _core.bandwidths_for_rows(kernel, self.sums, self.lowest, self.unit, rows_averaged)


@dataclass(frozen=True)
class HistogramPass:
    """Find the distribution of the distances of rows to their own centers."""

    centers: Doubles  # (K, D)
    nearest_distance: Doubles  # (K,) squared, of the nearest row of positive weight; may be inf
    unit: float

    def run(self, rows: _core.Rows) -> DistanceHistogram:
        """Return the distribution for some rows, by their current labels."""
        lowest = np.where(np.isfinite(self.nearest_distance), self.nearest_distance, 0.0)
        if rows.has_precision:
            lowest = np.zeros(len(self.centers))  # a row farther away may have the smaller t
        squared = _core.own_distances(rows, self.centers, rows.labels)
        sums = _core.distance_histogram(rows, squared, rows.labels, lowest, self.unit)
        return DistanceHistogram(sums, lowest, self.unit)


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

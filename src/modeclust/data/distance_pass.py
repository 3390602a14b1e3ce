"""Distances of rows to given centers, or kernel values there."""

from dataclasses import dataclass

import numpy as np

from modeclust import _core
from modeclust.data.mode_pass import ModeSums
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
        return LevelSums(ModeSums(self.kernel, *sums, n_threads=rows.n_threads), histogram)


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

"""A pass that measures the density along segments between pairs of centroids."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from modeclust import _core


@dataclass
class SegmentDensities:
    """The densities at points along each segment."""

    values: npt.NDArray[np.float64]  # (P, G)

    def merge(self, other: "SegmentDensities") -> None:
        """Add the densities of other rows."""
        self.values += other.values


@dataclass(frozen=True)
class SegmentPass:
    """Sum q G(t) over the rows of two clusters at points between their centroids."""

    centroids: npt.NDArray[np.float64]  # (K, D)
    pairs: npt.NDArray[np.int64]  # (P, 2)
    fractions: npt.NDArray[np.float64]  # (G,) the points, from 0 (first) to 1 (second)
    kernel: int
    inverse_squared_bandwidth: float

    def run(self, rows: _core.Rows) -> SegmentDensities:
        """Return the densities of some rows, by the labels that they have."""
        return SegmentDensities(
            _core.segment_densities(
                rows,
                rows.labels,
                self.centroids,
                self.pairs,
                self.fractions,
                kernel=self.kernel,
                inverse_squared_bandwidth=self.inverse_squared_bandwidth,
            )
        )

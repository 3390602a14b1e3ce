"""Passes with soft assignments: each row may belong to several clusters."""

from dataclasses import dataclass

import numpy as np

from modeclust import _core
from modeclust.data.mode_pass import ModeSums
from modeclust.data.reading import Doubles


@dataclass(frozen=True)
class SoftPass:
    """Sum the weight of each row at every center, times its membership.

    The sums are those of a mode pass in which a row is in each cluster k with the weight q z_k.
    Rows with membership 0 are not read.
    """

    centers: Doubles  # (K, D)
    memberships: Doubles  # (N, K)
    kernel: int
    inverse_squared_bandwidth: float

    def run(self, rows: _core.Rows) -> ModeSums:
        """Return the sums of some rows."""
        sums = _core.soft_sums(
            rows,
            self.centers,
            self.memberships,
            kernel=self.kernel,
            inverse_squared_bandwidth=self.inverse_squared_bandwidth,
        )
        return ModeSums(
            self.kernel,
            sums.reference,
            sums.mass,
            sums.totals,
            sums.counts,
            sums.nearest,
            sums.nearest_distance,
            reached_at_previous=np.zeros(len(self.centers), dtype=np.bool_),
            objective=sums.objective,
            inertia=sums.inertia,
            weight=sums.weight,
        )


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

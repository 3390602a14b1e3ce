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
            np.zeros(len(self.centers)),
            sums.totals,
            sums.counts,
            sums.nearest,
            sums.nearest_distance,
            reached_at_previous=np.zeros(len(self.centers), dtype=np.bool_),
            objective=sums.objective,
            inertia=sums.inertia,
            weight=sums.weight,
            unit_length=rows.unit_length,
        )

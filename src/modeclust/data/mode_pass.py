"""The mode pass: assign, weigh and sum (eq. 3 and section 2 of the paper)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from modeclust import _core

# Smaller sums of squares are 0.
SMALLEST_MASS = 1e-300


@dataclass
class ModeSums:
    """The sums of a mode pass over some rows, per cluster.

    The weight of a row x in the cluster of the center c is q g(t) / s^2 / g(reference), with
    t = |x - c|^2 / (bandwidth s)^2. The reference is about the smallest t of the cluster. Without
    it, all weights of a cluster would underflow at small bandwidths.
    """

    kernel: int
    reference: npt.NDArray[np.float64]  # (K,) about the smallest t; inf without rows
    mass: npt.NDArray[np.float64]  # (K,) sum of weights
    mass_squared: npt.NDArray[np.float64]  # (K,) sum of weight^2 / q
    totals: npt.NDArray[np.float64]  # (K, D) sum of weight x
    counts: npt.NDArray[np.int64]  # (K,) rows with this label, whatever their weight
    nearest: npt.NDArray[np.int64]  # (K,) the row nearest to the center; -1 without rows
    nearest_distance: npt.NDArray[np.float64]  # (K,) its squared distance
    reached_at_previous: npt.NDArray[np.bool_]  # (K,) whether a row is in the support
    objective_at_previous: float = 0.0  # sum of q G(t) at the previous bandwidth
    objective: float = 0.0  # sum of q G(t)
    inertia: float = 0.0  # sum of q |x - c|^2 / s^2
    weight: float = 0.0  # sum of q
    changed: int = 0  # rows whose label changed
    searched: int = 0  # rows whose nearest center had to be searched
    unit_length: bool = False  # whether rows and centers have length 1 (metric "cosine")
    n_threads: int = 1  # for what is computed from the sums

    @classmethod
    def zeros(cls, kernel: int, n_clusters: int, n_features: int) -> Self:
        """Return the sums of no rows."""
        return cls(
            kernel=kernel,
            reference=np.full(n_clusters, np.inf),
            mass=np.zeros(n_clusters),
            mass_squared=np.zeros(n_clusters),
            totals=np.zeros((n_clusters, n_features)),
            counts=np.zeros(n_clusters, dtype=np.int64),
            nearest=np.full(n_clusters, -1, dtype=np.int64),
            nearest_distance=np.full(n_clusters, np.inf),
            reached_at_previous=np.zeros(n_clusters, dtype=np.bool_),
        )

    def mean_objective(self, *, at_previous: bool = False) -> float:
        """Return the objective divided by the sum of q; at most 1, even with rounding errors."""
        objective = self.objective_at_previous if at_previous else self.objective
        return float(min(objective / self.weight, 1.0))

    def merge(self, other: Self) -> None:
        """Add the sums of the rows that follow."""
        _core.merge_mode_sums(
            self.kernel,
            self.reference,
            self.mass,
            self.mass_squared,
            self.totals,
            other.reference,
            other.mass,
            other.mass_squared,
            other.totals,
        )
        self.counts += other.counts
        closer = other.nearest_distance < self.nearest_distance
        self.nearest[closer] = other.nearest[closer]
        self.nearest_distance[closer] = other.nearest_distance[closer]
        self.reached_at_previous |= other.reached_at_previous
        self.objective_at_previous += other.objective_at_previous
        self.objective += other.objective
        self.inertia += other.inertia
        self.weight += other.weight
        self.changed += other.changed
        self.searched += other.searched
        self.unit_length |= other.unit_length

    def rows_averaged(self) -> npt.NDArray[np.float64]:
        """Return how many rows the mode step averages in each cluster, (sum w)^2 / sum w^2.

        A row of weight 2 counts as two rows. 0 without rows.
        """
        return self.mass * self.mass / np.maximum(self.mass_squared, SMALLEST_MASS)

    def moved(self, centers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the centers after the mode step; a center with no weight stays.

        With the metric "cosine", they are divided by their lengths. Where the sum cancels, the
        center stays.
        """
        return _core.means(self.totals, self.mass, centers, self.unit_length, self.n_threads)

    def means(self, centers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the weighted means of the rows, whatever their length."""
        return _core.means(self.totals, self.mass, centers, n_threads=self.n_threads)


def to_unit_length(
    points: npt.NDArray[np.float64], otherwise: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """Return points divided by their lengths, or a row of `otherwise` where the length is 0."""
    ones = np.ones(len(points))
    return _core.means(points, ones, points if otherwise is None else otherwise, unit_length=True)


@dataclass(frozen=True)
class ModePass:
    """Assign each row to its nearest center, or keep its label, and sum its weight."""

    centers: npt.NDArray[np.float64]  # (K, D)
    kernel: int
    inverse_squared_bandwidth: float  # 0 is an infinite bandwidth: K-means
    reassign: bool = True
    # The previous bandwidth of the path, at which the objective is measured too.
    inverse_squared_previous: float | None = None
    # (K,) by which the inverse squared bandwidth is multiplied in each cluster; None means 1. If it
    # is negative, and labels are kept, the rows of the cluster are left out.
    cluster_factors: npt.NDArray[np.float64] | None = None

    @property
    def assigns(self) -> bool:
        """Whether rows get new labels."""
        return self.reassign

    def run(self, rows: _core.Rows) -> ModeSums:
        """Run the pass over some rows, and update their labels."""
        previous = self.inverse_squared_previous
        return ModeSums(
            self.kernel,
            *rows.mode_pass(
                self.centers,
                self.kernel,
                self.inverse_squared_bandwidth,
                self.reassign,
                -1.0 if previous is None else previous,
                self.cluster_factors,
            ),
            n_threads=rows.n_threads,
        )

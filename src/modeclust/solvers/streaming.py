r"""Streaming K-modes: of earlier batches, only sufficient statistics are kept.

A profile G is convex, so it lies above its tangents. Let b be the center of the cluster of a row
when it was read, and w = q g(|x - b|^2 / (sigma s)^2) / s^2 the weight of the row there. Then

    q G(|x - c|^2 / (sigma s)^2)  >=  a constant - w |x - c|^2 (up to one factor for all rows)

for every c, with equality at b. The right-hand sides of all rows of a cluster add up to one
parabola. It is given by the sums of w and of w x, as in a mode step: the sufficient statistics.

A batch is fitted together with these statistics: the objective is L of the batch plus the
discounted parabolas of all earlier rows. This is K-modes with one more block of rows, whose weights
are fixed. So `solve` can be used unchanged, and no iteration lowers the objective. Then the batch
is replaced by its parabolas at the new centers. Older parabolas belong to older centers; the
discount removes their influence.

This is stochastic majorisation-minimisation (Mairal, 2013). On-line EM (Cappé & Moulines, 2009) and
on-line K-means are other cases; the latter is the case of an infinite bandwidth.
"""

import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust._core import center_moves
from modeclust.data.dataset import Dataset
from modeclust.data.mode_pass import ModePass, ModeSums
from modeclust.io.model_file import is_array
from modeclust.solvers.kmodes import Centers, State, inverse_square, restate, solve, state_of
from modeclust.solvers.options import SolverOptions

# The statistics of n rows are multiplied by (n / (n + m))^DISCOUNT when m rows follow. After n
# rows, an initial error has shrunk by n^(-(1 + DISCOUNT) (1 - r)), where r < 1 is the factor of one
# mode step. Without a discount, this is slow if clusters are wide compared with the bandwidth. In
# return, the effective number of rows is (1 + 2 DISCOUNT) / (1 + DISCOUNT)^2 = 5/9 of their number.
DISCOUNT = 2.0
# The sums of a cluster without new rows are set to 0 below this, before they underflow.
NEGLIGIBLE_MASS = 1e-250


@dataclass(frozen=True, eq=False)
class SufficientStatistics:
    """The discounted sums of all rows seen; `ModeSums` explains mass and reference."""

    # (K, D) sum of weight x / mass; the center if the mass is 0. With the metric "cosine", they are
    # shorter than 1.
    centers: Centers
    mass: npt.NDArray[np.float64]  # (K,)
    mass_squared: npt.NDArray[np.float64]  # (K,)
    reference: npt.NDArray[np.float64]  # (K,)
    weight: float  # sum of q of all rows, not discounted
    scale: float = 1.0  # the local scale that counts as 1 in these sums

    def __post_init__(self) -> None:
        centers, mass, reference = self.centers, self.mass, self.reference
        squared = self.mass_squared
        numbers: list[Any] = [self.weight, self.scale]
        is_right = (
            is_array(centers, "f", None, None)
            and is_array(mass, "f", len(centers))
            and is_array(squared, "f", len(centers))
            and is_array(reference, "f", len(centers))
            and bool(np.isfinite(centers).all() and np.isfinite(mass + squared).all())
            and bool((mass >= 0).all() and (squared >= 0).all() and (reference >= 0).all())
            and all(isinstance(value, float) and 0 < value < np.inf for value in numbers)
        )
        if not is_right:
            raise ValueError(
                "sufficient statistics must be finite sums >= 0 of the same number of clusters"
            )

    def discounted(self, weight: float, half_life: float) -> Self:
        """Return the statistics, discounted for a batch of this total weight."""
        by_length = (self.weight / (self.weight + weight)) ** DISCOUNT
        factor = min(by_length, 2.0 ** (-weight / half_life))
        kept = self.mass * factor >= NEGLIGIBLE_MASS
        return replace(
            self,
            mass=np.where(kept, self.mass * factor, 0.0),
            mass_squared=np.where(kept, self.mass_squared * factor, 0.0),
            reference=np.where(kept, self.reference, np.inf),
        )

    def with_batch(self, discounted: ModeSums, batch: ModeSums, centers: Centers) -> Self:
        """Return the statistics of all rows, with a batch whose sums were taken at `centers`."""
        discounted.merge(batch)
        return replace(
            self,
            centers=discounted.means(centers),
            mass=discounted.mass,
            mass_squared=discounted.mass_squared,
            reference=discounted.reference,
            weight=self.weight + batch.weight,
        )

    def rows_averaged(self) -> npt.NDArray[np.float64]:
        """Return how many rows the modes average; discounted rows count for less."""
        return self.mass**2 / np.where(self.mass_squared > 0, self.mass_squared, np.inf)

    def sums(self, kernel: int) -> ModeSums:
        """Return the statistics as the sums of a pass."""
        sums = ModeSums.zeros(kernel, *self.centers.shape)
        sums.reference[:] = self.reference
        sums.mass[:] = self.mass
        sums.mass_squared[:] = self.mass_squared
        sums.totals[:] = self.mass[:, None] * self.centers
        return sums


class DatasetWithStatistics:
    """A dataset, and sums of earlier rows that are added to the result of each pass."""

    def __init__(self, statistics: ModeSums, dataset: Dataset) -> None:
        self._statistics = statistics
        self._dataset = dataset

    def run(self, pass_: ModePass) -> ModeSums:
        """Run a pass over the dataset, and return its sums with those of the earlier rows."""
        sums = copy.deepcopy(self._statistics)
        sums.merge(self._dataset.run(pass_))
        return sums


def update(
    dataset: Dataset,
    statistics: SufficientStatistics,
    bandwidth: float,
    options: SolverOptions,
    *,
    half_life: float,
    start: Centers | None = None,
) -> tuple[State, SufficientStatistics]:
    """Fit a batch of rows together with the statistics of the earlier rows.

    There are at most `options.path_iter` iterations from `start`, or from the means of the earlier
    rows. Returns the state of a pass over the batch alone at the new centers, and the statistics
    with the batch included.
    """
    sums = statistics.discounted(dataset.total_weight, half_life).sums(options.kernel)
    state = solve(
        DatasetWithStatistics(sums, dataset),
        statistics.centers if start is None else start,
        bandwidth,
        replace(options, max_iter=options.path_iter),
    )
    batch = dataset.run(ModePass(state.centers, options.kernel, inverse_square(bandwidth)))
    updated = statistics.with_batch(sums, batch, state.centers)
    return restate(state, state.centers, batch), updated


def update_modes(
    dataset: Dataset,
    statistics: SufficientStatistics,
    bandwidths: npt.NDArray[np.float64],
    options: SolverOptions,
    *,
    half_life: float,
    start: Centers | None = None,
) -> tuple[State, SufficientStatistics]:
    """Move modes with bandwidths of their own (K,) to a batch of rows, which keep their labels.

    There are at most `options.path_iter` mode steps, from `start` as in `update`. Returns as
    `update` does; the rows averaged are those of all batches.
    """
    sums = statistics.discounted(dataset.total_weight, half_life).sums(options.kernel)
    both, factors = DatasetWithStatistics(sums, dataset), 1.0 / (bandwidths * bandwidths)
    modes, n_iter, residual, settled = statistics.centers, 0, np.inf, False
    modes = modes if start is None else start
    while n_iter < options.path_iter and not settled:
        moved = both.run(
            ModePass(modes, options.kernel, 1.0, False, cluster_factors=factors)
        ).moved(modes)
        residual, _, settled = center_moves(modes, moved, options.tol * float(bandwidths.min()))
        modes, n_iter = moved, n_iter + 1
    batch = dataset.run(ModePass(modes, options.kernel, 1.0, False, cluster_factors=factors))
    updated = statistics.with_batch(sums, batch, modes)
    state = state_of(float(np.median(bandwidths)), modes, batch, n_iter, residual, settled)
    return (
        state._replace(
            stage=2, cluster_bandwidths=bandwidths, rows_averaged=updated.rows_averaged()
        ),
        updated,
    )

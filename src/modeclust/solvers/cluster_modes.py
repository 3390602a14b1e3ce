"""The modes of given clusters, each with a bandwidth of its own.

One bandwidth for all clusters averages many rows in a dense cluster and almost none in a loose one.
So the bandwidth of a cluster is set by the number of rows that its mode averages, (sum w)^2 / sum
w^2 with the weights w of the mode step. This number is lowered level by level, and the mode is
followed, while the labels stay as they are.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust._core import bandwidths_for_rows, each_move
from modeclust.data.dataset import Dataset
from modeclust.data.distance_pass import LevelPass
from modeclust.data.mode_pass import ModePass, ModeSums, to_unit_length
from modeclust.solvers.kmodes import (
    MOVE_ROUNDING,
    SMALLEST_BANDWIDTH,
    Centers,
    Relaxation,
    State,
)

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Modes are equally pure with up to 24 levels.
N_LEVELS = 8
# The first level averages at most this share of the rows of a cluster.
FIRST_SHARE = 0.8
# By default, the last level averages this many times the square root of the number of rows, and at
# least this many rows.
ROOTS_AVERAGED = 2.0
FEWEST_AVERAGED = 10.0
# A level ends when no mode step is longer than this share of the bandwidth of its cluster, or after
# this many steps; the last level has limits of its own.
SMALL_STEP, LEVEL_STEPS = 1e-2, 20
LAST_STEP, LAST_STEPS = 1e-3, 200
# A mode that averages less than this share of the rows that it shall average in the end goes back
# to a larger bandwidth: the density has no peak of so few rows.
LEAST_AVERAGED = 0.5
# A factor by which a pass leaves out the rows of a cluster.
LEFT_OUT = -1.0
# By default, the mode of a smaller cluster is its mean.
FEWEST_ROWS = 3


class Labelled(NamedTuple):
    """A clustering whose labels stay as they are: those of the last pass that assigned labels."""

    centers: Centers  # the modes at `bandwidth`
    bandwidth: float
    kernel: int
    rows_per_mode: float | None  # how many rows a mode shall average; None for the default
    count_per_weight: float  # how many rows a sample weight of 1 stands for


class Modes(NamedTuple):
    """The modes at one level."""

    centers: Centers
    bandwidths: Doubles  # (K,)
    frozen: Flags  # (K,) clusters whose modes stay where they are until the last level
    sums: ModeSums  # of a pass at these modes and bandwidths
    histogram: Doubles  # of the distances of the rows to these modes
    n_iter: int = 0
    residual: float = 0.0  # the longest of the last mode steps
    settled: bool = True

    def state(self, default: float) -> State:
        """Return the modes as a state of a path.

        Its bandwidth is the median of those of the clusters; `default` if all are infinite.
        """
        sums = self.sums
        finite = sorted(self.bandwidths[np.isfinite(self.bandwidths)].tolist())
        return State(
            bandwidth=finite[len(finite) // 2] if finite else default,
            centers=self.centers,
            objective=sums.mean_objective(),
            inertia=sums.inertia,
            counts=sums.counts,
            nearest=sums.nearest,
            unsupported=(sums.mass <= 0) & (sums.nearest >= 0),
            n_iter=self.n_iter,
            residual=self.residual,
            converged=self.settled,
            stage=2,
            rows_averaged=sums.rows_averaged(),
            cluster_bandwidths=self.bandwidths,
            frozen=self.frozen,
            mass=sums.mass,
            reference=sums.reference,
        )


def rows_to_average(sizes: Doubles) -> Doubles:
    """Return how many rows the mode of a cluster averages by default.

    >>> rows_to_average(np.array([2.0, 10.0, 100.0, 10_000.0]))
    array([  2.,   8.,  20., 200.])
    """
    enough = np.maximum(FEWEST_AVERAGED, ROOTS_AVERAGED * np.sqrt(sizes))
    return np.where(sizes < FEWEST_ROWS, sizes, np.minimum(FIRST_SHARE * sizes, enough))


def follow_modes(dataset: Dataset, labelled: Labelled, done: list[State]) -> Iterator[State]:
    """Yield the modes at each level, from most of the rows of a cluster down to few.

    `done` are the states of the levels that an interrupted fit has already reached.
    """
    levels = Levels(dataset, labelled)
    modes = levels.resumed(done[-1]) if done else levels.start
    tried = [_own_bandwidths(state) for state in done]
    for number in range(len(done), N_LEVELS):
        bandwidths = levels.bandwidths_for(levels.wanted(number), modes)
        if number > 0:
            bandwidths = np.minimum(bandwidths, modes.bandwidths)
        found = levels.ascend(modes, bandwidths, SMALL_STEP, LEVEL_STEPS)
        modes = levels.without_failures(modes, found)
        if number == N_LEVELS - 1:
            modes = levels.to_peaks(modes, tried)
        tried.append(modes.bandwidths)
        yield modes.state(labelled.bandwidth)


class Levels:
    """The levels of `follow_modes`: how many rows each mode averages."""

    def __init__(self, dataset: Dataset, labelled: Labelled) -> None:
        self._dataset = dataset
        self._kernel = labelled.kernel
        n_clusters = len(labelled.centers)
        everything = dataset.run(ModePass(labelled.centers, labelled.kernel, 0.0, False))
        sizes = everything.rows_averaged()
        # A typical squared distance to a mode.
        self._unit = everything.inertia / everything.weight or 1.0
        bandwidths = np.full(n_clusters, labelled.bandwidth)
        self.start = self._at(labelled.centers, bandwidths, np.zeros(n_clusters, dtype=bool))
        wanted = rows_to_average(sizes * labelled.count_per_weight)
        if labelled.rows_per_mode is not None:
            wanted = np.full(n_clusters, max(labelled.rows_per_mode, 1.0))
        averaged = self.start.sums.rows_averaged()
        self.last = np.minimum(wanted / labelled.count_per_weight, sizes)
        self._fewest = LEAST_AVERAGED * self.last
        self._first = np.maximum(np.minimum(FIRST_SHARE * sizes, averaged), self.last)
        self._ratio = self.last / np.where(self._first > 0, self._first, 1.0)

    def resumed(self, state: State) -> Modes:
        """Return the modes that an interrupted fit has reached."""
        assert state.frozen is not None
        return self._at(state.centers, _own_bandwidths(state), state.frozen)

    def wanted(self, number: int) -> Doubles:
        """Return how many rows the modes shall average at a level, 0 for clusters without rows."""
        return self._first * self._ratio ** (number / (N_LEVELS - 1))

    def bandwidths_for(self, wanted: Doubles, modes: Modes) -> Doubles:
        """Return the bandwidths at which the modes average the wanted numbers of rows."""
        return bandwidths_for_rows(self._kernel, modes.histogram, self._unit, wanted)

    def ascend(self, modes: Modes, bandwidths: Doubles, small_step: float, max_steps: int) -> Modes:
        """Return the modes after mode steps at given bandwidths.

        Each mode moves until its step is not longer than this share of its bandwidth, or until it
        averages too few rows. Frozen modes keep their places and bandwidths.
        """
        frozen = modes.frozen
        bandwidths = np.where(frozen, modes.bandwidths, bandwidths)
        inverse, tolerances = _inverse_squares(bandwidths), small_step * bandwidths
        factors = np.where(frozen, LEFT_OUT, inverse)
        centers, lengths = modes.centers.copy(), np.zeros(len(frozen))
        moving = (~frozen).nonzero()[0]
        relaxation, n_iter = Relaxation(), 0
        while len(moving) > 0 and n_iter < max_steps:
            sums = self._dataset.run(ModePass(centers, self._kernel, 1.0, False, None, factors))
            before, moved = centers[moving], sums.moved(centers)[moving]
            lengths[moving], small = each_move(
                before, moved, tolerances[moving], MOVE_ROUNDING, sums.n_threads
            )
            n_iter += 1
            centers[moving] = relaxation.next(before, moved)
            if sums.unit_length:
                centers[moving] = to_unit_length(centers[moving])
            few = (sums.mass**2 < self._fewest * sums.mass_squared)[moving]
            ends = small | few
            if True in ends:
                centers[moving[small]] = moved[small]
                centers[moving[few]] = before[few]
                factors[moving[ends]] = LEFT_OUT
                moving = moving[~ends]
                if len(moving) > 0:
                    relaxation.keep(~ends)
        found = self._dataset.run(LevelPass(centers, self._kernel, inverse, self._unit))
        longest, settled = max(lengths), len(moving) == 0
        return Modes(
            centers, bandwidths, frozen, found.sums, found.histogram, n_iter, longest, settled
        )

    def without_failures(self, before: Modes, after: Modes) -> Modes:
        """Return the modes after a level, but those before it in clusters that failed.

        These average far fewer rows than they shall in the end.
        """
        failed = self._failed(after) & ~before.frozen
        if True not in failed:
            return after
        centers = np.where(failed[:, None], before.centers, after.centers)
        bandwidths = np.where(failed, before.bandwidths, after.bandwidths)
        found = self._at(centers, bandwidths, before.frozen | failed)
        return found._replace(n_iter=after.n_iter, residual=after.residual, settled=after.settled)

    def to_peaks(self, modes: Modes, tried: list[Doubles]) -> Modes:
        """Return the modes of the last level at peaks of the density.

        A mode that averages too few rows there starts again with the bandwidth of an earlier level,
        the last at which its peak averages enough; `tried` has these bandwidths. If there is none,
        the mode stays where it is.
        """
        modes = modes._replace(frozen=np.zeros_like(modes.frozen))
        found = self.ascend(modes, modes.bandwidths, LAST_STEP, LAST_STEPS)
        n_iter, residual, settled = modes.n_iter + found.n_iter, found.residual, found.settled
        while (start := self._wider(modes, found, tried)) is not None:
            found = self.ascend(start, start.bandwidths, LAST_STEP, LAST_STEPS)
            n_iter += found.n_iter
            residual, settled = max(residual, found.residual), settled and found.settled
        found = found._replace(
            frozen=modes.frozen, n_iter=n_iter, residual=residual, settled=settled
        )
        return self.without_failures(modes, found)

    def _wider(self, modes: Modes, found: Modes, tried: list[Doubles]) -> Modes | None:
        """Return what was found, but modes that failed as they were before, at a larger bandwidth.

        The others are frozen. If no larger bandwidth was tried, return None.
        """
        failed = self._failed(found)
        if True not in failed:
            return None
        bandwidths = found.bandwidths
        for earlier in tried:
            bandwidths = np.where(failed & (earlier > found.bandwidths), earlier, bandwidths)
        frozen = bandwidths == found.bandwidths
        if False not in frozen:
            return None
        centers = np.where(frozen[:, None], found.centers, modes.centers)
        return found._replace(centers=centers, bandwidths=bandwidths, frozen=frozen)

    def _failed(self, modes: Modes) -> Flags:
        return modes.sums.rows_averaged() < self._fewest

    def _at(self, centers: Centers, bandwidths: Doubles, frozen: Flags) -> Modes:
        """Return modes at given bandwidths, with the sums of a pass there."""
        pass_ = LevelPass(centers, self._kernel, _inverse_squares(bandwidths), self._unit)
        found = self._dataset.run(pass_)
        return Modes(centers, bandwidths, frozen, found.sums, found.histogram)


def _own_bandwidths(state: State) -> Doubles:
    """Return the bandwidth of each cluster at a level."""
    assert state.cluster_bandwidths is not None
    return state.cluster_bandwidths


def _inverse_squares(bandwidths: Doubles) -> Doubles:
    finite = np.maximum(bandwidths, SMALLEST_BANDWIDTH)
    return 1.0 / (finite * finite)

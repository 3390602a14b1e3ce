"""Mean-shift: points ascend the kernel density of all rows until they reach its modes."""

import os
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import radius_neighbors_graph
from threadpoolctl import threadpool_limits

from modeclust import _core
from modeclust.data.mode_pass import to_unit_length
from modeclust.data.reading import is_sparse
from modeclust.kernels import EPANECHNIKOV
from modeclust.solvers.kmodes import inverse_square

Points = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

PROCESS = os.getpid()

# Number of points that ascend together: at most MAX_POINTS, with at most MAX_NUMBERS coordinates in
# total, but at least MIN_POINTS.
MAX_POINTS, MAX_NUMBERS, MIN_POINTS = 16384, 2**21, 8
# Rows that are left out of a sum would contribute less than this share of it.
NEGLIGIBLE = 1e-10
# Two trajectories in the same cell, CELL bandwidths wide, are joined if both are about to arrive:
# their steps are shorter than ABOUT_TO_ARRIVE bandwidths.
CELL, ABOUT_TO_ARRIVE = 1e-3, 0.03
# A trajectory is slow if its steps are shorter than SLOW bandwidths and shrink at a steady rate r,
# to within STEADY (1 - r). Its steps are then lengthened by a factor of up to MAX_LENGTHENING, to
# at most SLOW bandwidths.
SLOW, STEADY, MAX_LENGTHENING = 0.1, 0.5, 50.0
# Modes are distinguished from saddle points by an ascent that starts this many bandwidths away.
NUDGE = 1e-3


@dataclass(frozen=True)
class Density:
    """The kernel density of a dataset at one bandwidth, divided by the sum of the weights."""

    rows: _core.DensityRows
    n_rows: int
    kernel: int
    bandwidth: float
    weight: float  # the sum of all weights
    precision: float  # the largest 1 / s^2
    spread: float  # see `weight_spread`
    unit_length: bool = False  # whether rows and points have length 1 (metric "cosine")

    @property
    def is_smooth(self) -> bool:
        """Whether the density has slopes everywhere.

        With the Epanechnikov kernel it consists of paraboloids: each trajectory ends on a peak
        after few steps, and the next peak may be very near.
        """
        return self.kernel != EPANECHNIKOV

    def at(self, bandwidth: float) -> "Density":
        """Return the density at another bandwidth."""
        return replace(self, bandwidth=bandwidth)

    def shift(self, points: Points, reach: Vector) -> tuple[Points, Vector, Vector]:
        """Return the points after one mean-shift step, and density and smallest t before it."""
        sums = self.rows.shift_sums(
            points,
            kernel=self.kernel,
            inverse_squared_bandwidth=inverse_square(self.bandwidth),
            nearest=reach,
            negligible=min(self.spread - 2.0 * np.log(NEGLIGIBLE / self.n_rows), 600.0),
        )
        moved = _core.means(sums.totals, sums.mass, points, self.unit_length)
        # A rounding error could make the density exceed 1.
        return moved, np.minimum(sums.density / self.weight, 1.0), sums.smallest

    def place(self, points: Points) -> Points:
        """Return points where the density is defined: on the sphere, or as they are."""
        return to_unit_length(points) if self.unit_length else points

    def reach_after(self, reach: Vector, moves: Vector) -> Vector:
        """Return an upper bound on the smallest t at points after moves of these lengths."""
        after: Vector = np.sqrt(reach) + moves / self.bandwidth * np.sqrt(self.precision)
        with np.errstate(over="ignore"):  # an infinite bound is valid
            return after * after


class Ascent(NamedTuple):
    """Where trajectories ended."""

    points: Points  # (M, D)
    density: Vector  # (M,)
    converged: npt.NDArray[np.bool_]  # (M,)
    n_iter: int  # of the longest trajectory


class Modes(NamedTuple):
    """The modes that were reached, the densest first."""

    points: Points  # (C, D)
    density: Vector  # (C,)
    labels: Indices  # (M,) the mode of each seed
    converged: bool
    n_iter: int


class Limits(NamedTuple):
    """When a trajectory ends, and which ends are merged into one mode; both in bandwidths."""

    tol: float
    max_iter: int
    merge_radius: float


def find_modes(
    density: Density, seeds: Iterator[Points], limits: Limits, rng: np.random.RandomState
) -> Modes:
    """Ascend from all seeds, given in parts, and return the modes that they reach."""
    points, densities, labels = [], [], []
    converged, n_iter, n_found = True, 0, 0
    radius = density.bandwidth * limits.merge_radius
    for ends in map(partial(ascend, density, limits=limits), seeds):
        group, first = _group(ends.points, ends.density, radius)
        points.append(ends.points[first])
        densities.append(ends.density[first])
        labels.append(n_found + group)
        n_found += len(first)
        converged &= bool(ends.converged.all())
        n_iter = max(n_iter, ends.n_iter)
    found, values = np.concatenate(points), np.concatenate(densities)
    if density.is_smooth:
        found, values = _leave_saddles(density, found, values, limits, rng)
    group, first = _group(found, values, radius)  # the densest first
    reached = values[first] > 0
    if not reached.all() and reached.any():
        # The kernel reaches no row from the other ends, which are merged into the nearest mode.
        group = nearest_mode(found[first], found[first[reached]], 0.0)[group]
        first = first[reached]
    return Modes(found[first], values[first], group[np.concatenate(labels)], converged, n_iter)


def ascend(density: Density, seeds: Points, limits: Limits, *, join: bool = True) -> Ascent:
    """Move each seed by mean-shift until its step is below `tol` bandwidths.

    If steps shrink at a steady rate, they are lengthened to the sum of all steps that would follow.
    If the density is lower there, the point returns to the end of the plain step. So the density
    never decreases along a trajectory.

    A trajectory that is about to arrive is joined to another one that has passed the same point,
    and shares its end. This requires that the steps of the other trajectory only became shorter
    from there on: then there is no saddle between the two.
    """
    if len(seeds) == 0:
        return Ascent(seeds, np.empty(0), np.empty(0, bool), 0)
    trajectories = _Trajectories(density, seeds)
    joins = _Joins(density.bandwidth, len(seeds))
    for n_iter in range(1, limits.max_iter + 1):
        trajectories.step(limits.tol)
        if join and density.is_smooth:
            trajectories.leave(joins.find(trajectories, n_iter))
        if len(trajectories.active) == 0:
            break
    points, densities, converged = trajectories.points, trajectories.density, trajectories.converged
    heads, parted = joins.heads(trajectories.quickened)
    if len(parted):
        alone = ascend(density, points[parted], limits, join=False)
        points[parted], densities[parted] = alone.points, alone.density
        converged[parted] = alone.converged
        n_iter += alone.n_iter
    return Ascent(points[heads], densities[heads], converged[heads], n_iter)


class _Trajectories:
    """All trajectories of one call; those that have not ended are `active`."""

    def __init__(self, density: Density, seeds: Points) -> None:
        n = len(seeds)
        self._kde = density
        self.points = seeds.copy()
        self.density = np.full(n, -np.inf)
        self.converged = np.zeros(n, bool)
        self.quickened = np.zeros(n, dtype=np.int64)  # the last iteration with a longer step
        self._n_iter = 0
        self.active = np.arange(n)
        # For the active trajectories:
        self._reach = np.full(n, np.inf)
        self._plain = self.points.copy()  # where the last plain step led
        self._step = np.zeros_like(seeds)  # the last plain step
        self._factor = np.ones(n)  # length of the last step, in plain steps
        self._rate = np.full(n, np.nan)
        self.lengths = np.full(n, np.inf)

    def step(self, tol: float) -> None:
        """Do one step with all active trajectories; those that arrive become inactive."""
        self._n_iter += 1
        bandwidth = self._kde.bandwidth
        here = self.points[self.active]
        moved, density, reach = self._kde.shift(here, self._reach)
        # The density decreases only after lengthened steps, or by a rounding error.
        fell = (self._factor > 1.0) & (density < self.density[self.active])
        rose = ~fell
        step = moved - here
        lengths = _lengths(step)
        self.density[self.active[rose]] = density[rose]
        self.quickened[self.active[rose & (lengths > self.lengths)]] = self._n_iter
        rate = self._shrinkage(step)
        steady = np.abs(rate - self._rate) < STEADY * (1.0 - rate)
        is_slow = rose & steady & (rate > 0.0) & (lengths < SLOW * bandwidth)
        is_slow &= self._kde.is_smooth
        # A longer step could lead to another mode.
        max_factor = np.clip(SLOW / np.maximum(lengths / bandwidth, 1e-30), 1.0, MAX_LENGTHENING)
        factor = np.where(is_slow, 1.0 / (1.0 - np.minimum(rate, 1.0 - 1.0 / max_factor)), 1.0)
        target = self._kde.place(here + factor[:, None] * step)
        target[fell] = self._plain[fell]
        arrived = rose & (lengths <= tol * bandwidth)
        self.converged[self.active[arrived]] = True
        # A plain step ends among the rows; a longer step or a nudge may end outside of them.
        self.points[self.active] = np.where(arrived[:, None], moved, target)
        moves = _lengths(target - here)
        self._reach = self._kde.reach_after(reach, moves)
        self._plain, self._step = moved, step
        self._factor = factor
        # After a decrease, the next plain step cannot be compared with a previous one.
        self._rate = np.where(rose, rate, np.nan)
        self.lengths = np.where(rose, lengths, np.inf)
        self._step[fell] = 0.0
        self.leave(arrived)

    def _shrinkage(self, step: Points) -> Vector:
        """Return the factor by which plain steps shrink."""
        squares = np.einsum("md,md->m", self._step, self._step)
        along = np.einsum("md,md->m", self._step, step)
        shrunk = np.divide(along, squares, out=np.full_like(along, np.nan), where=squares > 1e-280)
        return np.asarray(1.0 - (1.0 - shrunk) / self._factor)

    def leave(self, some: npt.NDArray[np.bool_]) -> None:
        """Make some of the active trajectories inactive."""
        if not np.any(some):
            return
        stay = ~some
        self.active = self.active[stay]
        for name in ("_reach", "_plain", "_step", "_factor", "_rate", "lengths"):
            setattr(self, name, getattr(self, name)[stay])


class _Joins:
    """Finds trajectories that reach a point that another one has passed."""

    def __init__(self, bandwidth: float, n_trajectories: int) -> None:
        self._bandwidth = bandwidth
        # The first trajectory in each cell, and its iteration there.
        self._passed: dict[bytes, tuple[int, int]] = {}
        self._other = np.arange(n_trajectories)  # the trajectory that each one joined, or itself
        self._when = np.zeros(n_trajectories, dtype=np.int64)  # the iteration of the other one

    def find(self, trajectories: _Trajectories, n_iter: int) -> npt.NDArray[np.bool_]:
        """Record the points of the active trajectories; return which of them joined another one."""
        joined = np.zeros(len(trajectories.active), bool)
        near = np.flatnonzero(trajectories.lengths < ABOUT_TO_ARRIVE * self._bandwidth)
        numbers = trajectories.active[near]
        cells = _cells(trajectories.points[numbers], CELL * self._bandwidth)
        for index, trajectory, cell in zip(near, numbers.tolist(), cells, strict=True):
            other, when = self._passed.setdefault(cell, (trajectory, n_iter))
            if other != trajectory and self._head(other) != trajectory:
                self._other[trajectory], self._when[trajectory] = other, when
                joined[index] = True
        return joined

    def _head(self, trajectory: int) -> int:
        """Return the trajectory that this one was joined to, directly or through others."""
        while self._other[trajectory] != trajectory:
            trajectory = self._other[trajectory]
        return trajectory

    def heads(self, quickened: npt.NDArray[np.int64]) -> tuple[Indices, Indices]:
        """Return the trajectory whose end each one shares, and those that must continue alone."""
        joined = self._other != np.arange(len(self._other))
        parted = joined & (quickened[self._other] > self._when)
        while np.any(more := joined & parted[self._other] & ~parted):
            parted |= more
        self._other[parted] = np.flatnonzero(parted)
        heads = self._other
        while not np.array_equal(heads[heads], heads):
            heads = heads[heads]
        return heads, np.flatnonzero(parted)


def _lengths(steps: Points) -> Vector:
    return np.asarray(np.sqrt(np.einsum("md,md->m", steps, steps)))


def _leave_saddles(
    density: Density, points: Points, values: Vector, limits: Limits, rng: np.random.RandomState
) -> tuple[Points, Vector]:
    """Move ends of trajectories away from saddle points; return them with their density.

    Each end is moved a little and ascends again: back to the same mode, or away from the saddle.
    """
    nudges = rng.normal(size=points.shape)
    nudges *= NUDGE * density.bandwidth / np.linalg.norm(nudges, axis=1, keepdims=True)
    parts = map(partial(ascend, density, limits=limits), in_parts(density.place(points + nudges)))
    ends, densities = zip(*((part.points, part.density) for part in parts), strict=True)
    again, new_density = np.concatenate(ends), np.concatenate(densities)
    higher = new_density > values
    return np.where(higher[:, None], again, points), np.maximum(new_density, values)


def _group(points: Points, density: Vector, radius: float) -> tuple[Indices, Indices]:
    """Return the group of each point, and the densest point of each group.

    The densest point that is not in a group starts a new one, with all such points within
    `radius`.
    """
    # Most points are almost equal. Points in the same small cell are grouped first.
    width = radius / (2.0 * np.sqrt(points.shape[1]))
    known: dict[bytes, int] = {}  # faster than sorting cells of many coordinates
    cells = _cells(points, width)
    cell = np.array([known.setdefault(key, len(known)) for key in cells], dtype=np.intp)
    densest = _densest(cell, density)
    # The threads of OpenMP do not survive a fork: a forked process would wait for them forever.
    is_forked = os.getpid() != PROCESS
    with threadpool_limits(1, user_api="openmp") if is_forked else nullcontext():
        near = sparse.csr_array(radius_neighbors_graph(points[densest], radius, include_self=True))
    group = np.full(len(densest), -1, dtype=np.intp)
    first: list[np.intp] = []
    for one in np.argsort(-density[densest], kind="stable"):
        if group[one] < 0:
            others = near.indices[near.indptr[one] : near.indptr[one + 1]]
            group[others[group[others] < 0]] = len(first)
            group[one] = len(first)  # by rounding, it may not be its own neighbour
            first.append(densest[one])
    return group[cell], np.array(first)


def nearest_mode(points: Points, modes: Points, radius: float) -> Indices:
    """Return the first mode within `radius` of each point, or the nearest if there is none."""
    labels = np.empty(len(points), dtype=np.intp)
    for begin in range(0, len(points), 1024):
        some = slice(begin, begin + 1024)
        distances = cdist(points[some], modes)
        within = distances <= radius
        labels[some] = np.where(within.any(axis=1), within.argmax(axis=1), distances.argmin(axis=1))
    return labels


def _densest(group: Indices, density: Vector) -> Indices:
    """Return the densest member of each group."""
    order = np.lexsort((np.arange(len(group)), -density, group))
    _, first = np.unique(group[order], return_index=True)
    return order[first]


def _cells(points: Points, width: float) -> list[bytes]:
    """Return a key for the grid cell of each point."""
    with np.errstate(over="ignore"):
        cells = np.floor(points / width) + 0.0  # turns -0.0, which has other bits, into 0.0
    return [] if cells.size == 0 else cells.view(f"V{cells[0].nbytes}").ravel().tolist()


class ModesAtBandwidth(NamedTuple):
    """A bandwidth, and the modes at this bandwidth."""

    bandwidth: float
    modes: Modes


def merge_modes(
    density: Density,
    found: ModesAtBandwidth,
    bandwidth: float,
    limits: Limits,
    rng: np.random.RandomState,
) -> ModesAtBandwidth:
    """Return the modes at a larger bandwidth, by ascending from the modes of `found`."""
    seeds = in_parts(found.modes.points)
    return ModesAtBandwidth(bandwidth, find_modes(density.at(bandwidth), seeds, limits, rng))


def in_parts(seeds: Any) -> Iterator[Points]:
    """Yield dense or CSR seeds in dense parts. The seeds of a part ascend together."""
    size = min(max(MIN_POINTS, MAX_NUMBERS // seeds.shape[1]), MAX_POINTS)
    for first in range(0, seeds.shape[0], size):
        part = seeds[first : first + size]
        yield np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)

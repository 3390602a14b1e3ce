"""Mean-shift: places that climb the kernel density of all rows, and the modes where they end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import radius_neighbors_graph

from modeclust.algorithms.neighbors import openmp_threads
from modeclust.algorithms.solve import inverse_square
from modeclust.data.dataset import Dataset
from modeclust.data.shift_pass import ShiftPass
from modeclust.kernels import EPANECHNIKOV

Places = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# At most so many places climb together, of so many numbers in all, or these few.
MOST_PLACES, MOST_NUMBERS, FEWEST_PLACES = 16384, 2**21, 8
# What is left out of a sum is below this share of it.
NEGLIGIBLE = 1e-10
# Two climbs in the same cell, of so many bandwidths, are one from there on, where both are about
# to arrive: their steps are shorter than so many bandwidths.
CELL, ABOUT_TO_ARRIVE = 1e-3, 0.03
# A climb creeps where its steps are shorter than so many bandwidths and each of them shrinks by
# the same rate r, to this share of 1 - r. It then takes steps up to so many times as long, but not
# longer than the shortest that do not creep.
CREEPING, STEADY, LONGEST = 0.1, 0.5, 50.0
# How far from a mode, in bandwidths, a climb starts that shows that it is one.
NUDGE = 1e-3
# From one bandwidth to the next, where their number of modes is counted.
WIDER = 1.2
NARROWEST = 1e-6
# A search starts where there are between so many times the modes that are wanted, by an estimate,
# or where bandwidths with more and with fewer are so near to each other.
FEW, MANY, NARROW_ENOUGH = 2, 8, 1.005
# If that was too large a bandwidth, the next is smaller by this factor.
FINER = 1.01
# Bandwidths are tried down to this share of the first.
SMALLEST = 1e-12


@dataclass(frozen=True)
class Density:
    """The kernel density of some rows at one bandwidth, over the sum of their weights."""

    rows: Dataset
    kernel: int
    bandwidth: float
    weight: float  # the sum of all
    precision: float  # the largest 1 / s^2
    spread: float  # how much weights and scales may make up for, in units of t
    largest_norm: float  # of the rows, squared
    each: Callable[..., Iterator[Any]] = map  # how several climbs are done, each by itself

    @property
    def is_smooth(self) -> bool:
        """Whether the density has slopes everywhere.

        That of the Epanechnikov kernel is made of paraboloids with a peak at each end of a climb,
        which comes after few steps; the next peak may be very near.
        """
        return self.kernel != EPANECHNIKOV

    def at(self, bandwidth: float) -> "Density":
        """Return the density at another bandwidth."""
        return replace(self, bandwidth=bandwidth)

    def shift(self, places: Places, reach: Vector) -> tuple[Places, Vector, Vector]:
        """Return where mean-shift takes each place, the density there, and its reach."""
        shift_pass = ShiftPass(
            places,
            self.kernel,
            inverse_square(self.bandwidth),
            reach,
            min(self.spread - 2.0 * np.log(NEGLIGIBLE / self.rows.n_rows), 600.0),
            self.largest_norm,
        )
        sums = self.rows.run(shift_pass)
        # Of equal rows it is 1, but for rounding.
        return sums.moved(places), np.minimum(sums.density / self.weight, 1.0), sums.smallest

    def reach_after(self, reach: Vector, moves: Vector) -> Vector:
        """Return an upper bound on the smallest t at places that moved so far from others."""
        after: Vector = np.sqrt(reach) + moves / self.bandwidth * np.sqrt(self.precision)
        with np.errstate(over="ignore"):  # infinity is a bound
            return after * after


class Climb(NamedTuple):
    """Where climbs ended."""

    places: Places  # (M, D)
    density: Vector  # (M,)
    converged: npt.NDArray[np.bool_]  # (M,)
    n_iter: int  # of the longest


class Modes(NamedTuple):
    """The modes that some climbs reached, the densest first."""

    places: Places  # (C, D)
    density: Vector  # (C,)
    labels: Indices  # (M,) the mode of each seed
    converged: bool
    n_iter: int


class Limits(NamedTuple):
    """When a climb ends, and which ends are one mode; both in bandwidths."""

    tol: float
    max_iter: int
    merge_radius: float


def find_modes(
    density: Density, seeds: Iterator[Places], limits: Limits, rng: np.random.RandomState
) -> Modes:
    """Climb from all seeds, which come in parts, and return the modes that they reach."""
    places, heights, labels = [], [], []
    converged, n_iter, n_found = True, 0, 0
    radius = density.bandwidth * limits.merge_radius
    for ends in density.each(partial(climb, density, limits=limits), seeds):
        group, first = _group(ends.places, ends.density, radius)
        places.append(ends.places[first])
        heights.append(ends.density[first])
        labels.append(n_found + group)
        n_found += len(first)
        converged &= bool(ends.converged.all())
        n_iter = max(n_iter, ends.n_iter)
    found, height = np.concatenate(places), np.concatenate(heights)
    if density.is_smooth:
        found, height = _leave_saddles(density, found, height, limits, rng)
    group, first = _group(found, height, radius)  # the densest first
    reached = height[first] > 0
    if not reached.all() and reached.any():
        # No row pulls at the others: the nearest of those that are modes will do for them.
        group = nearest_mode(found[first], found[first[reached]], 0.0)[group]
        first = first[reached]
    return Modes(found[first], height[first], group[np.concatenate(labels)], converged, n_iter)


def climb(density: Density, seeds: Places, limits: Limits, *, join: bool = True) -> Climb:
    """Move each seed by mean-shift until its step is below `tol` bandwidths.

    Steps that shrink by the same factor from one to the next are made longer, by what all
    that would follow amount to; where the density turns out to be lower there, the climb goes
    back to where the plain step had led. So it never falls.

    A climb that is about to arrive and comes to a place that another one has passed ends there,
    and shares the end of the other one, as long as that only slowed down from there on: then
    no saddle was between the two.
    """
    if len(seeds) == 0:
        return Climb(seeds, np.empty(0), np.empty(0, bool), 0)
    walk = _Walk(density, seeds)
    crossings = _Crossings(density.bandwidth, len(seeds))
    for n_iter in range(1, limits.max_iter + 1):
        walk.step(limits.tol)
        if join and density.is_smooth:
            walk.leave(crossings.meet(walk, n_iter))
        if len(walk.active) == 0:
            break
    places, heights, converged = walk.places, walk.density, walk.converged
    heads, parted = crossings.heads(walk.quickened)
    if len(parted):
        alone = climb(density, places[parted], limits, join=False)
        places[parted], heights[parted] = alone.places, alone.density
        converged[parted] = alone.converged
        n_iter += alone.n_iter
    return Climb(places[heads], heights[heads], converged[heads], n_iter)


class _Walk:
    """All climbs of one call: those that go on are `active`."""

    def __init__(self, density: Density, seeds: Places) -> None:
        n = len(seeds)
        self._ground = density
        self.places = seeds.copy()
        self.density = np.full(n, -np.inf)
        self.converged = np.zeros(n, bool)
        self.quickened = np.zeros(n, dtype=np.int64)  # the last iteration that sped up
        self._n_iter = 0
        self.active = np.arange(n)
        # Of the active ones:
        self._reach = np.full(n, np.inf)
        self._plain = self.places.copy()  # where the last plain step led
        self._step = np.zeros_like(seeds)  # the last plain step
        self._factor = np.ones(n)  # how much longer than it the last step was
        self._rate = np.full(n, np.nan)
        self.lengths = np.full(n, np.inf)

    def step(self, tol: float) -> None:
        """Do one step with all active climbs; those that arrive are left."""
        self._n_iter += 1
        bandwidth = self._ground.bandwidth
        here = self.places[self.active]
        moved, density, reach = self._ground.shift(here, self._reach)
        # A plain step never does, but for rounding.
        fell = (self._factor > 1.0) & (density < self.density[self.active])
        rose = ~fell
        step = moved - here
        lengths = _lengths(step)
        self.density[self.active[rose]] = density[rose]
        self.quickened[self.active[rose & (lengths > self.lengths)]] = self._n_iter
        rate = self._shrinkage(step)
        steady = np.abs(rate - self._rate) < STEADY * (1.0 - rate)
        creeps = rose & steady & (rate > 0.0) & (lengths < CREEPING * bandwidth)
        creeps &= self._ground.is_smooth
        # Not so long that it could lead to another mode.
        most = np.clip(CREEPING / np.maximum(lengths / bandwidth, 1e-30), 1.0, LONGEST)
        factor = np.where(creeps, 1.0 / (1.0 - np.minimum(rate, 1.0 - 1.0 / most)), 1.0)
        there = here + factor[:, None] * step
        there[fell] = self._plain[fell]
        arrived = rose & (lengths <= tol * bandwidth)
        self.converged[self.active[arrived]] = True
        # A plain step ends among the rows, which a longer one or a nudge may have left.
        self.places[self.active] = np.where(arrived[:, None], moved, there)
        moves = _lengths(there - here)
        self._reach = self._ground.reach_after(reach, moves)
        self._plain, self._step = moved, step
        self._factor = factor
        # After a fall the next plain step has none before it to be compared with.
        self._rate = np.where(rose, rate, np.nan)
        self.lengths = np.where(rose, lengths, np.inf)
        self._step[fell] = 0.0
        self.leave(arrived)

    def _shrinkage(self, step: Places) -> Vector:
        """Return by what factor plain steps shrink."""
        squares = np.einsum("md,md->m", self._step, self._step)
        along = np.einsum("md,md->m", self._step, step)
        shrunk = np.divide(along, squares, out=np.full_like(along, np.nan), where=squares > 1e-280)
        return np.asarray(1.0 - (1.0 - shrunk) / self._factor)

    def leave(self, some: npt.NDArray[np.bool_]) -> None:
        """Go on without some of the active climbs."""
        if not np.any(some):
            return
        stay = ~some
        self.active = self.active[stay]
        for name in ("_reach", "_plain", "_step", "_factor", "_rate", "lengths"):
            setattr(self, name, getattr(self, name)[stay])


class _Crossings:
    """Which climbs came to a place that another had passed."""

    def __init__(self, bandwidth: float, n_climbs: int) -> None:
        self._bandwidth = bandwidth
        self._passed: dict[bytes, tuple[int, int]] = {}  # the climb, and when it passed
        self._other = np.arange(n_climbs)  # the climb that each one joined, or itself
        self._when = np.zeros(n_climbs, dtype=np.int64)  # when the other had passed there

    def meet(self, walk: _Walk, n_iter: int) -> npt.NDArray[np.bool_]:
        """Note where the active climbs are; return which of them met another one."""
        met = np.zeros(len(walk.active), bool)
        near = np.flatnonzero(walk.lengths < ABOUT_TO_ARRIVE * self._bandwidth)
        cells = _cells(walk.places[walk.active[near]], CELL * self._bandwidth)
        for place, cell in zip(near, cells, strict=True):
            climber = int(walk.active[place])
            other, when = self._passed.setdefault(cell.tobytes(), (climber, n_iter))
            if self._head(other) != climber:
                self._other[climber], self._when[climber] = other, when
                met[place] = True
        return met

    def _head(self, climber: int) -> int:
        """Return the climb that goes on for this one."""
        while self._other[climber] != climber:
            climber = self._other[climber]
        return climber

    def heads(self, quickened: npt.NDArray[np.int64]) -> tuple[Indices, Indices]:
        """Return whose end each climb shares, and which climbs must go on by themselves."""
        joined = self._other != np.arange(len(self._other))
        parted = joined & (quickened[self._other] > self._when)
        while np.any(more := joined & parted[self._other] & ~parted):
            parted |= more
        self._other[parted] = np.flatnonzero(parted)
        heads = self._other
        while not np.array_equal(heads[heads], heads):
            heads = heads[heads]
        return heads, np.flatnonzero(parted)


def _lengths(steps: Places) -> Vector:
    lengths: Vector = np.sqrt(np.einsum("md,md->m", steps, steps))
    return lengths


def _leave_saddles(
    density: Density, places: Places, height: Vector, limits: Limits, rng: np.random.RandomState
) -> tuple[Places, Vector]:
    """Return ends of climbs, of which none is on a saddle, and the density there.

    A nudge does no harm to a mode, and leads away from a saddle.
    """
    nudges = rng.normal(size=places.shape)
    nudges *= NUDGE * density.bandwidth / np.linalg.norm(nudges, axis=1, keepdims=True)
    parts = density.each(partial(climb, density, limits=limits), in_parts(places + nudges))
    ends, heights = zip(*((part.places, part.density) for part in parts), strict=True)
    again, density_there = np.concatenate(ends), np.concatenate(heights)
    higher = density_there > height
    return np.where(higher[:, None], again, places), np.maximum(density_there, height)


def _group(places: Places, density: Vector, radius: float) -> tuple[Indices, Indices]:
    """Return the group of each place, and the place of each group, its densest.

    A place within `radius` of a denser one that is the first of a group belongs to that.
    """
    # Most are all but equal: those in one small cell are one before any are compared.
    width = radius / (2.0 * np.sqrt(places.shape[1]))
    known: dict[bytes, int] = {}  # quicker than sorting cells of many coordinates
    cells = (cell.tobytes() for cell in _cells(places, width))
    cell = np.array([known.setdefault(key, len(known)) for key in cells], dtype=np.intp)
    densest = _densest(cell, density)
    with openmp_threads():
        near = sparse.csr_array(radius_neighbors_graph(places[densest], radius, include_self=True))
    group = np.full(len(densest), -1, dtype=np.intp)
    first: list[np.intp] = []
    for one in np.argsort(-density[densest], kind="stable"):
        if group[one] < 0:
            others = near.indices[near.indptr[one] : near.indptr[one + 1]]
            group[others[group[others] < 0]] = len(first)
            group[one] = len(first)  # which is not within any radius of itself, by rounding
            first.append(densest[one])
    return group[cell], np.array(first)


def nearest_mode(places: Places, modes: Places, radius: float) -> Indices:
    """Return the first mode within `radius` of each place, or else the nearest."""
    labels = np.empty(len(places), dtype=np.intp)
    for begin in range(0, len(places), 1024):
        some = slice(begin, begin + 1024)
        distances = cdist(places[some], modes)
        within = distances <= radius
        labels[some] = np.where(within.any(axis=1), within.argmax(axis=1), distances.argmin(axis=1))
    return labels


def _densest(group: Indices, density: Vector) -> Indices:
    """Return the densest member of each group."""
    order = np.lexsort((np.arange(len(group)), -density, group))
    _, first = np.unique(group[order], return_index=True)
    return order[first]


def _cells(places: Places, width: float) -> Places:
    """Return the cell of a grid that each place is in."""
    with np.errstate(over="ignore"):
        return np.floor(places / width) + 0.0  # without -0.0, which has other bits


class Level(NamedTuple):
    """The modes at one bandwidth, and which of them each mode of the last one moved to."""

    bandwidth: float
    modes: Modes


def widen(
    density: Density, level: Level, bandwidth: float, limits: Limits, rng: np.random.RandomState
) -> Level:
    """Return the modes that those of `level` move to where the bandwidth is larger."""
    seeds = in_parts(level.modes.places)
    return Level(bandwidth, find_modes(density.at(bandwidth), seeds, limits, rng))


def in_parts(seeds: Any) -> Iterator[Any]:
    """Yield dense or CSR seeds in parts that are climbed from together."""
    size = min(max(FEWEST_PLACES, MOST_NUMBERS // seeds.shape[1]), MOST_PLACES)
    for first in range(0, seeds.shape[0], size):
        yield seeds[first : first + size]


class NoBandwidthError(Exception):
    """At no bandwidth are there so many modes; says what there is around it."""

    def __init__(self, lower: tuple[float, int], upper: tuple[float, int]) -> None:
        super().__init__(lower, upper)
        self.lower, self.upper = lower, upper


def find_level(
    n_modes: int,
    start: float,
    search: Callable[[float], Modes],
    widened: Callable[[Level, float], Level],
    glance: Callable[[float], float] | None = None,
) -> Level:
    """Return the modes, from all seeds, at a bandwidth where there are `n_modes`.

    `search` finds the modes from all seeds at a bandwidth; `widened` those that the modes of a
    level move to at a larger one, which is quick. The number of these never grows. `glance`
    estimates how many modes there are, from some of the seeds, which shows where to begin.
    """
    narrower = 2.0
    if glance is not None:
        start, narrower = _start_with_about(n_modes, start, glance), FINER
    low = _level_with_at_least(n_modes, start, narrower, search)
    high = None
    while True:
        n_low = len(low.modes.places)
        if n_low == n_modes:
            return low
        if high is not None and high.bandwidth < low.bandwidth * (1.0 + NARROWEST):
            raise NoBandwidthError((low.bandwidth, n_low), (high.bandwidth, len(high.modes.places)))
        bandwidth = (
            low.bandwidth * WIDER
            if high is None
            else float(np.sqrt(low.bandwidth * high.bandwidth))
        )
        level = widened(low, bandwidth)
        n_level = len(level.modes.places)
        if n_level == n_modes:
            # All seeds may reach modes that were not there at smaller bandwidths.
            level = Level(bandwidth, search(bandwidth))
            n_level = len(level.modes.places)
        if n_level >= n_modes:
            low = level
        else:
            high = level


def _start_with_about(n_modes: int, start: float, glance: Callable[[float], float]) -> float:
    """Return a bandwidth with more than `n_modes` modes, by estimates, but not many more.

    In many dimensions nearly every row becomes a mode of its own within a narrow range of
    bandwidths, below which a search from all seeds takes long.
    """
    low, high, n_low = start, np.inf, glance(start)
    if n_low >= n_modes:
        return start
    while n_low < FEW * n_modes:
        low, high = low / 2.0, low
        if low < SMALLEST * start:
            return start
        n_low = glance(low)
    while n_low > MANY * n_modes and low * NARROW_ENOUGH < high < np.inf:
        middle = float(np.sqrt(low * high))
        n_middle = glance(middle)
        if n_middle < FEW * n_modes:
            high = middle
        else:
            low, n_low = middle, n_middle
    return low


def estimated_count(modes: Modes, n_seeds: int) -> float:
    """Return about how many modes `n_seeds` would reach, by those that some of them did.

    Modes that one alone has reached are taken to be as frequent among all: those of lone rows are.
    """
    alone = int(np.sum(np.bincount(modes.labels) == 1))
    return float(len(modes.places) - alone + alone * n_seeds / len(modes.labels))


def _level_with_at_least(
    n_modes: int, start: float, narrower: float, search: Callable[[float], Modes]
) -> Level:
    """Return the modes at `start`, or at a smaller bandwidth where there are so many.

    It becomes smaller by the factor `narrower` first, and by twice its exponent each time up to 2.
    """
    bandwidth = start
    first = level = Level(bandwidth, search(bandwidth))
    while len(level.modes.places) < n_modes:
        bandwidth /= narrower
        narrower = min(narrower**2, 2.0)
        if bandwidth < SMALLEST * start:
            raise NoBandwidthError(
                (level.bandwidth, len(level.modes.places)), (start, len(first.modes.places))
            )
        level = Level(bandwidth, search(bandwidth))
    return level

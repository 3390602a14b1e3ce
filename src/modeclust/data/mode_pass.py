"""One pass over the rows: assign, weigh, sum (eq. 3 and section 2 of the paper)."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled, unsigned
from modeclust.data.blocks import Block, Groups
from modeclust.data.bounds import SAFE
from modeclust.data.centroid_pass import CentroidPass
from modeclust.data.reading import Centroids, fill_own_distances, row_count
from modeclust.data.room import Room, room_for
from modeclust.data.search import search_pending
from modeclust.data.summing import RISE, add_tile, means, merge_references, refer
from modeclust.exponential import exp_of_minus_half
from modeclust.kernels import GAUSSIAN, has_compact_support, profile, relative_pull

NO_GAPS = np.empty(0)


@dataclass
class ModeSums:
    """What one pass leaves of the rows, per cluster; the sums of two blocks merge exactly.

    The weight of a row is q g(t) / s^2 / g(reference), where the reference is about the
    smallest t of its cluster so far: at no bandwidth do all weights underflow.
    """

    kernel: int
    reference: npt.NDArray[np.float64]  # (K,) about the smallest t met; inf with no row
    mass: npt.NDArray[np.float64]  # (K,) sum of weights
    totals: npt.NDArray[np.float64]  # (K, D) sum of weight x
    counts: npt.NDArray[np.int64]  # (K,) rows with this label, whatever their weight
    nearest: npt.NDArray[np.int64]  # (K,) the row nearest the centroid, -1 with none
    nearest_distance: npt.NDArray[np.float64]  # (K,) its squared distance
    reached_there: npt.NDArray[np.bool_]  # (K,) whether the kernel reaches a row, at `measure_at`
    objective_there: float = 0.0  # sum of q G(t), at `measure_at`
    objective: float = 0.0  # sum of q G(t)
    inertia: float = 0.0  # sum of q |x - c|^2 / s^2
    weight: float = 0.0  # sum of q
    changed: int = 0  # rows whose label changed
    searched: int = 0  # rows whose nearest centroid had to be searched

    @classmethod
    def zeros(cls, kernel: int, n_clusters: int, n_features: int) -> Self:
        """Return the sums of no rows."""
        return cls(
            kernel=kernel,
            reference=np.full(n_clusters, np.inf),
            mass=np.zeros(n_clusters),
            totals=np.zeros((n_clusters, n_features)),
            counts=np.zeros(n_clusters, dtype=np.int64),
            nearest=np.full(n_clusters, -1, dtype=np.int64),
            nearest_distance=np.full(n_clusters, np.inf),
            reached_there=np.zeros(n_clusters, dtype=np.bool_),
        )

    def mean_objective(self, *, there: bool = False) -> float:
        """Return the objective over the sum of q: at most 1, which rounding could exceed."""
        objective = self.objective_there if there else self.objective
        return float(min(objective / self.weight, 1.0))

    def merge(self, other: Self) -> None:
        """Add the sums of rows that come after these."""
        merge_references(
            self.kernel,
            self.reference,
            self.mass,
            self.totals,
            other.reference,
            other.mass,
            other.totals,
        )
        self.counts += other.counts
        closer = other.nearest_distance < self.nearest_distance
        self.nearest[closer] = other.nearest[closer]
        self.nearest_distance[closer] = other.nearest_distance[closer]
        self.reached_there |= other.reached_there
        self.objective_there += other.objective_there
        self.objective += other.objective
        self.inertia += other.inertia
        self.weight += other.weight
        self.changed += other.changed
        self.searched += other.searched

    def moved(self, centroids: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the centroids after the mode step; one with no weight stays."""
        return means(self.totals, self.mass, centroids)


@dataclass(frozen=True)
class ModePass(CentroidPass):
    """Assign each row to its nearest centroid, or keep its label, and sum its pull."""

    kernel: int
    inverse_squared_bandwidth: float  # 0 is an infinite bandwidth: K-means
    reassign: bool = True
    measure_at: float | None = None  # another one, at which to take the objective too

    @property
    def assigns(self) -> bool:
        """Whether rows get new labels."""
        return self.reassign

    def start(self) -> ModeSums:
        """Return the sums of no rows."""
        return ModeSums.zeros(self.kernel, *self.centroids.shape)

    def add(self, block: Block, sums: ModeSums) -> None:
        """Add one block's rows to `sums`, and bring its labels and bounds up to date."""
        state = block.state
        if not self.reassign:
            state.check_labels()
        known = not self.reassign or self._bounds.carry(state, block.X)
        state.forget_upper()
        added = Totals(
            *_sweep(
                block.X,
                block.start,
                block.weight,
                block.inverse_squared_scale,
                block.negligible,
                self._layouts.suiting(block.X, state.n_searched if known else None),
                self.kernel,
                self.inverse_squared_bandwidth,
                -1.0 if self.measure_at is None else self.measure_at,
                self.reassign,
                known,
                self._bounds.half_gaps if known and self.reassign else NO_GAPS,
                state.groups,
                room_for(block.X, *self.centroids.shape),
                state.labels,
                state.lower,
                state.slack,
                sums.reference,
                sums.mass,
                sums.totals,
                sums.counts,
                sums.nearest,
                sums.nearest_distance,
                sums.reached_there,
            )
        )
        if not known:
            state.typical = float(np.mean(state.lower, dtype=np.float64))
        sums.objective_there += added.objective_there
        sums.objective += added.objective
        sums.inertia += added.inertia
        sums.weight += added.weight
        sums.changed += added.changed
        sums.searched += added.searched
        if self.reassign:
            state.n_searched = added.searched


class Totals(NamedTuple):
    """The sums over all clusters that some rows leave."""

    objective_there: float
    objective: float
    inertia: float
    weight: float
    changed: int
    searched: int


@compiled
def _sweep(
    X: Any,  # IN
    start: int,
    weight: Any,  # (n,), or empty for 1
    inverse_squared_scale: Any,  # (n,), or empty for 1
    negligible: float,
    centroids: Centroids,
    kernel: int,
    inverse_squared_bandwidth: float,
    measure_at: float,  # below 0 for nowhere
    reassign: bool,
    known: bool,  # whether there are labels and bounds
    half_gaps: Any,  # (K,)
    groups: Groups,
    room: Room,
    labels: Any,  # IN/OUT from here on
    lower: Any,
    slack: Any,
    reference: Any,
    mass: Any,
    totals: Any,
    counts: Any,
    nearest: Any,
    nearest_distance: Any,
    reached_there: Any,
) -> Any:
    """Add one block to its sums; return what it leaves over all clusters."""
    # Arrays are taken out of their tuples here: each use of one in there would cost a count.
    centers, norms = centroids.rows, centroids.norms
    distances, pending, every = room.distances, room.pending, room.every
    sums = (reference, mass, totals, counts, nearest, nearest_distance)
    weights = (weight, inverse_squared_scale, negligible)
    n_rows = row_count(X)
    objective_there = objective = inertia = total_weight = 0.0
    changed = searched = 0
    for k in range(reference.size):
        room.heights[k] = profile(kernel, reference[k])
    for first in range(0, n_rows, distances.size):
        last = min(first + distances.size, n_rows)
        n_pending = 0
        if known:
            fill_own_distances(X, first, every[: last - first], centers, norms, labels, distances)
        if reassign:
            n_pending = _find_pending(first, last, known, labels, lower, slack, half_gaps, room)
        if n_pending > 0:
            searched += n_pending
            search_pending(
                X, first, n_pending, known, centroids, groups, room, labels, lower, slack
            )
            for m in range(n_pending):
                changed += room.before[m] != labels[first + pending[m]]
        if measure_at >= 0.0:
            objective_there += _measure(
                first, last, weights, kernel, measure_at, distances, labels, reached_there
            )
        added = weigh(
            first, last, start, weights, kernel, inverse_squared_bandwidth, room, labels, sums
        )
        add_tile(X, first, last - first, labels, room.pulls, room.order, room.ends, mass, totals)
        objective += added[0]
        inertia += added[1]
        total_weight += added[2]
    # A plain tuple: for a named one numba runs Python code, in which an interrupt is fatal.
    return objective_there, objective, inertia, total_weight, changed, searched


@compiled
def _find_pending(
    first: int,
    last: int,
    known: bool,
    labels: Any,
    lower: Any,
    slack: Any,
    half_gaps: Any,
    room: Room,
) -> int:
    """Write the rows of a tile whose own distance is not below their bounds; return how many."""
    distances, pending = room.distances, room.pending
    n_pending = 0
    for i in range(first, last):
        if known:
            k = unsigned(labels[i])
            bound = lower[i] - slack[k]
            bound = bound if bound > half_gaps[k] else half_gaps[k]
            if distances[i - first] < bound * bound * SAFE:
                continue
        pending[n_pending] = i - first
        n_pending += 1
    return n_pending


@compiled
def _measure(
    first: int,
    last: int,
    weights: Any,
    kernel: int,
    inverse_squared_bandwidth: float,
    distances: Any,
    labels: Any,
    reached: Any,
) -> float:
    """Return the objective of a tile's rows, and note which clusters the kernel reaches."""
    weight, inverse_squared_scale, _ = weights
    objective = 0.0
    for m in range(last - first):
        q = weight[first + m] if weight.size > 0 else 1.0
        precision = inverse_squared_scale[first + m] if inverse_squared_scale.size > 0 else 1.0
        t = distances[m] * precision * inverse_squared_bandwidth
        objective += q * profile(kernel, t)
        if q > 0.0 and (t < 1.0 or not has_compact_support(kernel)):
            reached[labels[first + m]] = True
    return objective


@compiled
def weigh(
    first: int,
    last: int,
    start: int,
    weights: Any,
    kernel: int,
    inverse_squared_bandwidth: float,
    room: Room,
    labels: Any,
    sums: Any,
) -> Any:
    """Write the pulls of a tile's rows; return their objective, inertia and weight."""
    weight, inverse_squared_scale, negligible = weights
    reference, mass, totals, counts, nearest, nearest_distance = sums
    q = precision = room.ones
    distances, excess, pulls = room.distances, room.excess, room.pulls
    heights, own_heights = room.heights, room.own_heights
    n = last - first
    objective = inertia = total_weight = 0.0
    scaled = inverse_squared_scale.size > 0
    if weight.size > 0:
        q = weight[first:last]
    if scaled:
        precision = inverse_squared_scale[first:last]
    for m in range(n):
        t = distances[m] * precision[m]
        inertia += q[m] * t
        total_weight += q[m]
        excess[m] = t * inverse_squared_bandwidth

    for m in range(n):
        k = unsigned(labels[first + m])
        counts[k] += 1
        nearer = distances[m] < nearest_distance[k]
        # Without scales, no row but a nearer one can lower the reference.
        if (nearer or (scaled and excess[m] < reference[k])) and q[m] > 0.0:
            if nearer:
                nearest_distance[k] = distances[m]
                nearest[k] = start + first + m
            if excess[m] < (reference[k] - RISE if mass[k] > 0.0 else reference[k]):
                refer(kernel, excess[m], k, reference, mass, totals)
                heights[k] = profile(kernel, reference[k])

    if inverse_squared_bandwidth == 0.0:
        objective = total_weight
        for m in range(n):
            pulls[m] = q[m]
    elif kernel == GAUSSIAN:
        for m in range(n):
            k = unsigned(labels[first + m])
            own_heights[m] = heights[k]
            # A row without weight may be nearer by any amount.
            excess[m] = min(max(excess[m] - reference[k], -RISE), negligible)
        exp_of_minus_half(excess, n, room.bits, room.bits_as_floats, pulls)
        for m in range(n):
            pull = q[m] * pulls[m] if excess[m] < negligible else 0.0
            objective += pull * own_heights[m]
            pulls[m] = pull
    else:
        for m in range(n):
            t = excess[m]
            objective += q[m] * profile(kernel, t)
            # Without weight, not even next to a cluster that has none yet.
            pull = relative_pull(kernel, t, reference[labels[first + m]]) if q[m] > 0.0 else 0.0
            pulls[m] = q[m] * pull
    if scaled:
        for m in range(n):
            pulls[m] *= precision[m]
    return objective, inertia, total_weight

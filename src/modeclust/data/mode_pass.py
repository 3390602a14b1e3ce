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
    """The sums of one pass, per cluster; the sums of two blocks merge exactly.

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
    reached_at_previous: npt.NDArray[np.bool_]  # (K,) is a row in the support?
    objective_at_previous: float = 0.0  # sum of q G(t) at the previous bandwidth
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
            reached_at_previous=np.zeros(n_clusters, dtype=np.bool_),
        )

    def mean_objective(self, *, at_previous: bool = False) -> float:
        """Return the objective divided by the sum of q; rounding must not take it above 1."""
        objective = self.objective_at_previous if at_previous else self.objective
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
        self.reached_at_previous |= other.reached_at_previous
        self.objective_at_previous += other.objective_at_previous
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
    """Assign each row to its nearest centroid, or keep its label, and sum the kernel weights."""

    kernel: int
    inverse_squared_bandwidth: float  # 0 is an infinite bandwidth: K-means
    reassign: bool = True
    # 1 / h^2 of the previous bandwidth of a path, at which the objective is measured too.
    inverse_squared_previous: float | None = None

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
                -1.0 if self.inverse_squared_previous is None else self.inverse_squared_previous,
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
                sums.reached_at_previous,
            )
        )
        if not known:
            state.typical = float(np.mean(state.lower, dtype=np.float64))
        sums.objective_at_previous += added.objective_at_previous
        sums.objective += added.objective
        sums.inertia += added.inertia
        sums.weight += added.weight
        sums.changed += added.changed
        sums.searched += added.searched
        if self.reassign:
            state.n_searched = added.searched


class Totals(NamedTuple):
    """The sums over all clusters that some rows leave."""

    objective_at_previous: float
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
    inverse_squared_previous: float,  # below 0 for none
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
    reached_at_previous: Any,
) -> Any:
    """Add one block to its sums; return what it leaves over all clusters."""
    # Arrays are taken out of their tuples here: each use of one in there would cost a count.
    centers, norms = centroids.rows, centroids.norms
    distances, pending, every = room.distances, room.pending, room.every
    sums = (reference, mass, totals, counts, nearest, nearest_distance)
    weights = (weight, inverse_squared_scale, negligible)
    n_rows = row_count(X)
    objective_at_previous = objective = inertia = total_weight = 0.0
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
        if inverse_squared_previous >= 0.0:
            objective_at_previous += _measure(
                first,
                last,
                weights,
                kernel,
                inverse_squared_previous,
                distances,
                labels,
                reached_at_previous,
            )
        added = weigh(
            first, last, start, weights, kernel, inverse_squared_bandwidth, room, labels, sums
        )
        add_tile(X, first, last - first, labels, room.pulls, room.order, room.ends, mass, totals)
        objective += added[0]
        inertia += added[1]
        total_weight += added[2]
    # A plain tuple: for a named one numba runs Python code, in which an interrupt is fatal.
    return objective_at_previous, objective, inertia, total_weight, changed, searched


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

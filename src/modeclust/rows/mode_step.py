"""One pass over the rows: assign, weigh, sum (eq. 3 and section 2 of the paper)."""

from dataclasses import dataclass
from functools import cached_property
from threading import local
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled
from modeclust.exponential import exp_of_minus_half
from modeclust.kernels import GAUSSIAN, has_compact_support, profile, relative_pull
from modeclust.rows.blocks import Block, BlockState
from modeclust.rows.reading import (
    FEWEST_FOR_PRODUCTS,
    CentroidLayouts,
    Centroids,
    Floats,
    add_row,
    fill_own_distances,
    row_count,
)
from modeclust.rows.search import SAFE, half_gaps, moves_of_others, search_rows

# Rows are worked on in tiles that stay in the cache: this many bytes of them, within limits.
TILE_BYTES, TILE_ROWS = 2**16, (16, 512)
# A gaussian weight of exp(-50) or less of the largest one: a whole block of such rows does not
# change the last bit of the sums.
NEGLIGIBLE = 100.0
LARGEST_BOUND = 1e38


@dataclass
class ModeSums:
    """What one pass leaves of the rows, per cluster; the sums of two blocks merge exactly.

    The weight of a row is q g(t) / s^2 / g(reference), where the reference is the
    smallest t of its cluster so far: at no bandwidth do all weights underflow.
    """

    kernel: int
    reference: npt.NDArray[np.float64]  # (K,) smallest t met; inf with no row
    mass: npt.NDArray[np.float64]  # (K,) sum of weights
    totals: npt.NDArray[np.float64]  # (K, D) sum of weight x
    counts: npt.NDArray[np.int64]  # (K,) rows with this label, whatever their weight
    nearest: npt.NDArray[np.int64]  # (K,) the row nearest the centroid, -1 with none
    nearest_distance: npt.NDArray[np.float64]  # (K,) its squared distance
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
        )

    def merge(self, other: Self) -> None:
        """Add the sums of rows that come after these."""
        _merge_references(
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
        self.objective += other.objective
        self.inertia += other.inertia
        self.weight += other.weight
        self.changed += other.changed
        self.searched += other.searched

    def moved(self, centroids: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the centroids after the mode step; one with no weight stays."""
        moved = centroids.copy()
        pulled = self.mass > 0
        moved[pulled] = self.totals[pulled] / self.mass[pulled, None]
        return moved


@dataclass(frozen=True)
class ModeStep:
    """Assign each row to its nearest centroid, or keep its label, and sum its pull."""

    centroids: npt.NDArray[np.float64]  # (K, D)
    kernel: int
    inverse_squared_bandwidth: float  # 0 is an infinite bandwidth: K-means
    reassign: bool = True

    def start(self) -> ModeSums:
        """Return the sums of no rows."""
        return ModeSums.zeros(self.kernel, *self.centroids.shape)

    def add(self, block: Block, sums: ModeSums) -> None:
        """Add one block's rows to `sums`, and bring its labels and bounds up to date."""
        known = not self.reassign or self._carry_bounds(block.state)
        added = _sweep(
            block.X,
            block.start,
            block.weight,
            block.inverse_squared_scale,
            self._layouts.suiting(block.X),
            self.kernel,
            self.inverse_squared_bandwidth,
            self.reassign,
            known,
            self._half_gaps,
            _room(block.X, *self.centroids.shape),
            block.labels,
            block.state.lower,
            block.state.slack,
            sums.reference,
            sums.mass,
            sums.totals,
            sums.counts,
            sums.nearest,
            sums.nearest_distance,
        )
        if not known:
            block.state.typical = float(np.mean(block.state.lower, dtype=np.float64))
        sums.objective += added.objective
        sums.inertia += added.inertia
        sums.weight += added.weight
        sums.changed += added.changed
        sums.searched += added.searched

    def _carry_bounds(self, state: BlockState) -> bool:
        """Widen a block's bounds by what the centroids moved since; return if any are left."""
        before = state.anchor
        state.anchor = self.centroids
        if before is not None and before.shape == self.centroids.shape:
            moves = self._moves_since(before)
            state.slack += moves
            # Where centroids jump, most bounds fail and testing them is lost work.
            if moves.max() < state.typical:
                return True
        state.slack = np.zeros(len(self.centroids))
        return False

    def _moves_since(self, before: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if id(before) not in self._moves:
            self._moves[id(before)] = moves_of_others(before, self.centroids)
        return self._moves[id(before)]

    @cached_property
    def _moves(self) -> dict[int, npt.NDArray[np.float64]]:
        return {}

    @cached_property
    def _half_gaps(self) -> npt.NDArray[np.float64]:
        return half_gaps(self.centroids)

    @cached_property
    def _layouts(self) -> CentroidLayouts:
        return CentroidLayouts(self.centroids)


class Room(NamedTuple):
    """Room for the work on one tile, kept by each thread from pass to pass."""

    distances: npt.NDArray[np.float64]  # (tile,) squared
    seconds: npt.NDArray[np.float64]  # (tile,) bounds from the search
    pending: npt.NDArray[np.int64]  # (tile,) rows to be searched
    products: Floats  # (tile, K), or none where rows are searched by differences
    scores: npt.NDArray[np.float64]  # (K,)
    heights: npt.NDArray[np.float64]  # (K,) the kernel at each reference
    ones: npt.NDArray[np.float64]  # (tile,) the weights where none are given
    excess: npt.NDArray[np.float64]  # (tile,) t, and then t - reference
    pulls: npt.NDArray[np.float64]  # (tile,)
    bits: npt.NDArray[np.int64]  # (tile,)
    bits_as_floats: npt.NDArray[np.float64]  # the same memory


class Totals(NamedTuple):
    """The sums over all clusters that some rows leave."""

    objective: float
    inertia: float
    weight: float
    changed: int
    searched: int


_rooms = local()


def _room(X: Any, n_clusters: int, n_features: int) -> Room:
    """Return this thread's room, made anew where the shape or dtype of the work is new."""
    dense = isinstance(X, np.ndarray)
    dtype = np.dtype(X.dtype) if dense else np.dtype(np.float64)
    key = (dense, dtype, n_clusters, n_features)
    if getattr(_rooms, "key", None) != key:
        row_bytes = n_features * dtype.itemsize if dense else 1024
        n = int(np.clip(TILE_BYTES // row_bytes, *TILE_ROWS))
        n_products = n if dense and n_features >= FEWEST_FOR_PRODUCTS else 0
        bits = np.empty(n, dtype=np.int64)
        _rooms.key = key
        _rooms.room = Room(
            distances=np.empty(n),
            seconds=np.empty(n),
            pending=np.empty(n, dtype=np.int64),
            products=np.empty((n_products, n_clusters), dtype),
            scores=np.empty(n_clusters),
            heights=np.empty(n_clusters),
            ones=np.ones(n),
            excess=np.empty(n),
            pulls=np.empty(n),
            bits=bits,
            bits_as_floats=bits.view(np.float64),
        )
    room: Room = _rooms.room
    return room


@compiled
def _sweep(
    X: Any,  # IN
    start: int,
    weight: Any,  # (n,), or empty for 1
    inverse_squared_scale: Any,  # (n,), or empty for 1
    centroids: Centroids,
    kernel: int,
    inverse_squared_bandwidth: float,
    reassign: bool,
    known: bool,  # whether the labels can be relied on
    half_gaps: Any,  # (K,)
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
) -> Any:
    """Add one block to its sums; return what it leaves over all clusters."""
    # Arrays are taken out of their tuples here: each use of one in there would cost a count.
    centers, norms = centroids.rows, centroids.norms
    distances, pending = room.distances, room.pending
    sums = (reference, mass, totals, counts, nearest, nearest_distance)
    weights = (weight, inverse_squared_scale)
    n_rows = row_count(X)
    objective = inertia = total_weight = 0.0
    changed = searched = 0
    for first in range(0, n_rows, distances.size):
        last = min(first + distances.size, n_rows)
        n_pending = 0
        if known:
            fill_own_distances(X, first, last, centers, norms, labels, distances)
        if reassign:
            for i in range(first, last):
                if known:
                    k = labels[i]
                    bound = max(lower[i] - slack[k], half_gaps[k])
                    if bound > 0.0 and distances[i - first] < bound * bound * SAFE:
                        continue
                pending[n_pending] = i
                n_pending += 1
        if n_pending > 0:
            searched += n_pending
            changed += _search(X, first, n_pending, centroids, room, labels, lower, slack)
        added = _add_rows(
            X, first, last, start, weights, kernel, inverse_squared_bandwidth, room, labels, sums
        )
        objective += added[0]
        inertia += added[1]
        total_weight += added[2]
    return Totals(objective, inertia, total_weight, changed, searched)


@compiled
def _search(
    X: Any,
    first: int,
    n_pending: int,
    centroids: Centroids,
    room: Room,
    labels: Any,
    lower: Any,
    slack: Any,
) -> int:
    """Search a tile's pending rows, renew what is known of them; return how many changed."""
    pending, before = room.pending, room.bits
    for m in range(n_pending):
        before[m] = labels[pending[m]]
    search_rows(
        X,
        pending,
        n_pending,
        centroids,
        room.products,
        room.scores,
        labels,
        room.seconds,
    )
    changed = 0
    for m in range(n_pending):
        i = pending[m]
        k = labels[i]
        changed += before[m] != k
        own = room.distances[i - first : i - first + 1]
        fill_own_distances(X, i, i + 1, centroids.rows, centroids.norms, labels, own)
        # Kept with the slack of today, in single precision, rounded down and never infinite.
        lower[i] = min((room.seconds[m] + slack[k]) * (1.0 - 1.2e-7), LARGEST_BOUND)
    return changed


@compiled
def _add_rows(
    X: Any,
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
    """Add a tile's rows to the sums, in their order; return objective, inertia and weight."""
    weight, inverse_squared_scale = weights
    reference, mass, totals, counts, nearest, nearest_distance = sums
    q = precision = room.ones
    distances = room.distances
    excess, pulls, heights = room.excess, room.pulls, room.heights
    n = last - first
    objective = inertia = total_weight = 0.0
    if weight.size > 0:
        q = weight[first:last]
    if inverse_squared_scale.size > 0:
        precision = inverse_squared_scale[first:last]
    for m in range(n):
        t = distances[m] * precision[m]
        inertia += q[m] * t
        total_weight += q[m]
        excess[m] = t * inverse_squared_bandwidth

    referenced = not has_compact_support(kernel)
    for m in range(n):
        k = labels[first + m]
        counts[k] += 1
        if distances[m] < nearest_distance[k] and q[m] > 0.0:
            nearest_distance[k] = distances[m]
            nearest[k] = start + first + m
        if excess[m] < reference[k] and q[m] > 0.0:
            t = excess[m] if referenced else 0.0
            if mass[k] > 0.0:
                rescale = relative_pull(kernel, reference[k], t)
                mass[k] *= rescale
                for j in range(totals.shape[1]):
                    totals[k, j] *= rescale
            reference[k] = t
            heights[k] = profile(kernel, t)

    if inverse_squared_bandwidth == 0.0:
        objective = total_weight
        for m in range(n):
            pulls[m] = q[m]
    elif kernel == GAUSSIAN:
        for m in range(n):
            # A row without weight may be nearer than the reference.
            t = max(excess[m] - reference[labels[first + m]], 0.0)
            excess[m] = min(t, NEGLIGIBLE)
        exp_of_minus_half(excess, n, room.bits, room.bits_as_floats, pulls)
        for m in range(n):
            pulls[m] = q[m] * pulls[m] if excess[m] < NEGLIGIBLE else 0.0
    else:
        for m in range(n):
            t = excess[m]
            objective += q[m] * profile(kernel, t)
            pulls[m] = q[m] * relative_pull(kernel, t, reference[labels[first + m]])

    gaussian = kernel == GAUSSIAN and inverse_squared_bandwidth > 0.0
    for m in range(n):
        pull = pulls[m]
        if pull > 0.0:
            k = labels[first + m]
            if gaussian:
                objective += pull * heights[k]
            pull *= precision[m]
            mass[k] += pull
            add_row(X, first + m, pull, totals, k)
    return objective, inertia, total_weight


@compiled
def _merge_references(
    kernel: int,
    reference: Any,  # IN/OUT
    mass: Any,
    totals: Any,
    other_reference: Any,  # IN
    other_mass: Any,
    other_totals: Any,
) -> None:
    """Add sums taken at other references, at the smaller reference of each cluster."""
    for k in range(mass.size):
        if other_reference[k] == np.inf:
            continue
        if reference[k] == np.inf:
            reference[k] = other_reference[k]
        common = min(reference[k], other_reference[k])
        ours = relative_pull(kernel, reference[k], common)
        theirs = relative_pull(kernel, other_reference[k], common)
        reference[k] = common
        mass[k] = ours * mass[k] + theirs * other_mass[k]
        for j in range(totals.shape[1]):
            totals[k, j] = ours * totals[k, j] + theirs * other_totals[k, j]

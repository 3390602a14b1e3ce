"""One pass of K-means over the rows, which reads only rows whose label may have changed."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled, unsigned
from modeclust.data.blocks import Block, BlockState, Groups
from modeclust.data.bounds import SAFE, rounded_up
from modeclust.data.centroid_pass import CentroidPass
from modeclust.data.reading import (
    Centroids,
    add_row,
    fill_own_distances,
    row_count,
)
from modeclust.data.room import Room, room_for
from modeclust.data.search import search_pending
from modeclust.data.summing import add_tile, means


@dataclass
class MeanSums:
    """The sums of the rows of each cluster, or how they changed since the last pass."""

    mass: npt.NDArray[np.float64]  # (K,) sum of weights
    totals: npt.NDArray[np.float64]  # (K, D) sum of weight x
    counts: npt.NDArray[np.int64]  # (K,) rows with this label and a positive weight
    changed: int = 0  # rows whose label changed
    searched: int = 0  # rows whose nearest centroid had to be searched
    read: int = 0  # rows that were read

    @classmethod
    def zeros(cls, n_clusters: int, n_features: int) -> Self:
        """Return the sums of no rows."""
        return cls(
            mass=np.zeros(n_clusters),
            totals=np.zeros((n_clusters, n_features)),
            counts=np.zeros(n_clusters, dtype=np.int64),
        )

    def merge(self, other: Self) -> None:
        """Add the sums of other rows, or the changes of these."""
        self.mass += other.mass
        self.totals += other.totals
        self.counts += other.counts
        self.changed += other.changed
        self.searched += other.searched
        self.read += other.read

    def moved(self, centroids: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the means of the clusters; a centroid with no weight stays."""
        return means(self.totals, self.mass, centroids)


@dataclass(frozen=True)
class MeanPass(CentroidPass):
    """Assign each row to its nearest centroid, and sum what that changes.

    A block that took part in the pass with the centroids `after` adds the rows whose label
    changes to their new cluster and takes them from the old one. Any other block adds all
    its rows.
    """

    after: npt.NDArray[np.float64] | None = None
    assigns: ClassVar[bool] = True

    def start(self) -> MeanSums:
        """Return the sums of no rows."""
        return MeanSums.zeros(*self.centroids.shape)

    def add(self, block: Block, sums: MeanSums) -> None:
        """Add one block to `sums`, and bring its labels and bounds up to date."""
        state = block.state
        summed = self._has_summed(state)
        measured = state.upper.size > 0
        known = self._bounds.carry(state, block.X) and measured
        if state.upper.size == 0:
            state.upper = np.empty_like(state.lower)
        added = Totals(
            *_sweep(
                block.X,
                block.weight,
                block.inverse_squared_scale,
                self._layouts.suiting(block.X, state.n_searched if known else None),
                summed,
                known,
                self._bounds.half_gaps,
                state.groups,
                room_for(block.X, *self.centroids.shape),
                state.labels,
                state.lower,
                state.upper,
                state.slack,
                state.drift,
                sums.mass,
                sums.totals,
                sums.counts,
            )
        )
        if not known:
            state.typical = float(np.mean(state.lower, dtype=np.float64))
        sums.changed += added.changed
        sums.searched += added.searched
        state.n_searched = added.searched
        sums.read += added.read

    def _has_summed(self, state: BlockState) -> bool:
        """Return whether the last pass over this block was a K-means pass at `after`."""
        return (
            self.after is not None
            and state.anchor is not None
            and state.upper.size > 0
            and (state.anchor is self.after or np.array_equal(state.anchor, self.after))
        )


class Totals(NamedTuple):
    """What a block adds up over all clusters."""

    changed: int
    searched: int
    read: int


@compiled
def _sweep(
    X: Any,  # IN
    weight: Any,  # (n,), or empty for 1
    inverse_squared_scale: Any,  # (n,), or empty for 1
    centroids: Centroids,
    summed: bool,  # whether only changes are to be added
    known: bool,  # whether there are bounds
    half_gaps: Any,  # (K,)
    groups: Groups,
    room: Room,
    labels: Any,  # IN/OUT from here on
    lower: Any,
    upper: Any,
    slack: Any,
    drift: Any,
    mass: Any,
    totals: Any,
    counts: Any,
) -> Any:
    """Add one block to its sums; return what it leaves over all clusters."""
    distances, pending, before, pulls = room.distances, room.pending, room.before, room.pulls
    centers, norms = centroids.rows, centroids.norms
    n_rows = row_count(X)
    changed = searched = read = 0
    for first in range(0, n_rows, distances.size):
        last = min(first + distances.size, n_rows)
        n = last - first
        n_pending = n
        if known:
            n_pending = _find_unsure(
                first, last, labels, lower, upper, slack, drift, half_gaps, pending
            )
            places = pending[:n_pending]
            fill_own_distances(X, first, places, centers, norms, labels, distances)
            read += n_pending if summed else n
            n_pending = _find_pending(
                first, places, labels, lower, upper, slack, drift, half_gaps, distances
            )
        else:
            read += n
            pending[:n] = room.every[:n]
        if n_pending > 0:
            searched += n_pending
            search_pending(
                X, first, n_pending, known, centroids, groups, room, labels, lower, slack
            )
        for m in range(n_pending):
            i = first + pending[m]
            upper[i] = rounded_up(np.sqrt(distances[pending[m]]) - drift[labels[i]])
            changed += before[m] != labels[i]
        if summed:
            for m in range(n_pending):
                i = first + pending[m]
                here, there = labels[i], before[m]
                if here != there:
                    pull = _pull(i, weight, inverse_squared_scale)
                    counts[here] += pull > 0.0
                    counts[there] -= pull > 0.0
                    mass[here] += pull
                    mass[there] -= pull
                    add_row(X, i, pull, totals, here)
                    add_row(X, i, -pull, totals, there)
        else:
            for m in range(n):
                pulls[m] = _pull(first + m, weight, inverse_squared_scale)
                counts[labels[first + m]] += pulls[m] > 0.0
            add_tile(X, first, n, labels, pulls, room.order, room.ends, mass, totals)
    # A plain tuple: for a named one numba runs Python code, in which an interrupt is fatal.
    return changed, searched, read


@compiled
def _find_unsure(
    first: int,
    last: int,
    labels: Any,
    lower: Any,
    upper: Any,
    slack: Any,
    drift: Any,
    half_gaps: Any,
    places: Any,
) -> int:
    """Write the places of rows whose bounds do not settle their label; return how many."""
    n = 0
    for i in range(first, last):
        k = unsigned(labels[i])
        bound = lower[i] - slack[k]
        bound = bound if bound > half_gaps[k] else half_gaps[k]
        if upper[i] + drift[k] < bound * SAFE:
            continue
        places[n] = i - first
        n += 1
    return n


@compiled
def _find_pending(
    first: int,
    places: Any,
    labels: Any,
    lower: Any,
    upper: Any,
    slack: Any,
    drift: Any,
    half_gaps: Any,
    distances: Any,
) -> int:
    """Keep those of the `places` that their measured distance does not settle either."""
    n = 0
    for m in range(places.size):
        i = first + places[m]
        k = unsigned(labels[i])
        own = distances[places[m]]
        bound = lower[i] - slack[k]
        bound = bound if bound > half_gaps[k] else half_gaps[k]
        if own < bound * bound * SAFE:
            # Kept with the drift of today.
            upper[i] = rounded_up(np.sqrt(own) - drift[k])
            continue
        places[n] = places[m]
        n += 1
    return n


@compiled
def _pull(i: int, weight: Any, inverse_squared_scale: Any) -> float:
    pull = 1.0
    if weight.size > 0:
        pull *= weight[i]
    if inverse_squared_scale.size > 0:
        pull *= inverse_squared_scale[i]
    return pull

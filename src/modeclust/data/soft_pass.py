"""Passes with soft assignments: each row may belong to several clusters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled
from modeclust.data.blocks import Block
from modeclust.data.centroid_pass import CentroidPass
from modeclust.data.mode_pass import ModeSums, weigh
from modeclust.data.reading import Centroids, fill_own_distances, row_count, squared_distance
from modeclust.data.room import Room, room_for
from modeclust.data.summing import add_tile
from modeclust.kernels import profile

Doubles = npt.NDArray[np.float64]

# A far row may be the only one of its cluster: all count, as far as `exp` goes.
NEGLIGIBLE = 600.0


@dataclass(frozen=True)
class SoftPass(CentroidPass):
    """Sum the kernel weight of each row at every centroid, times its membership.

    These are the sums of `ModePass` for rows that are in cluster k with the weight q z_k. A row of
    membership 0 is not read.
    """

    memberships: Doubles  # (N, K)
    kernel: int
    inverse_squared_bandwidth: float

    def start(self) -> ModeSums:
        """Return the sums of no rows."""
        return ModeSums.zeros(self.kernel, *self.centroids.shape)

    def add(self, block: Block, sums: ModeSums) -> None:
        """Add one block's rows to `sums`."""
        objective, inertia, weight = _sweep(
            block.X,
            block.start,
            block.weight,
            block.inverse_squared_scale,
            self.memberships[block.rows],
            self._layouts.suiting(block.X),
            self.kernel,
            self.inverse_squared_bandwidth,
            room_for(block.X, *self.centroids.shape),
            sums.reference,
            sums.mass,
            sums.totals,
            sums.counts,
            sums.nearest,
            sums.nearest_distance,
        )
        sums.objective += objective
        sums.inertia += inertia
        sums.weight += weight


@compiled
def _sweep(
    X: Any,  # IN
    start: int,
    weight: Any,  # (n,), or empty for 1
    inverse_squared_scale: Any,  # (n,), or empty for 1
    memberships: Any,  # (n, K)
    centroids: Centroids,
    kernel: int,
    inverse_squared_bandwidth: float,
    room: Room,
    reference: Any,  # IN/OUT from here on
    mass: Any,
    totals: Any,
    counts: Any,
    nearest: Any,
    nearest_distance: Any,
) -> Any:
    """Add one block to its sums, cluster by cluster in tiles; return what is over all."""
    centers, norms = centroids.rows, centroids.norms
    distances, places = room.distances, room.pending
    sums = (reference, mass, totals, counts, nearest, nearest_distance)
    n_rows = row_count(X)
    own = np.empty(n_rows, np.int32)
    share = np.empty(n_rows)
    objective = inertia = total_weight = 0.0
    for k in range(reference.size):
        room.heights[k] = profile(kernel, reference[k])
    for first in range(0, n_rows, distances.size):
        last = min(first + distances.size, n_rows)
        for k in range(reference.size):
            n_places = 0
            for i in range(first, last):
                own[i] = k
                share[i] = memberships[i, k] * (weight[i] if weight.size > 0 else 1.0)
                distances[i - first] = 0.0
                if share[i] > 0.0:
                    places[n_places] = i - first
                    n_places += 1
            if n_places == 0:
                continue
            fill_own_distances(X, first, places[:n_places], centers, norms, own, distances)
            weights = (share, inverse_squared_scale, NEGLIGIBLE)
            added = weigh(
                first, last, start, weights, kernel, inverse_squared_bandwidth, room, own, sums
            )
            add_tile(X, first, last - first, own, room.pulls, room.order, room.ends, mass, totals)
            objective += added[0]
            inertia += added[1]
            total_weight += added[2]
    return objective, inertia, total_weight


@dataclass
class Nothing:
    """The partial sums of a pass that writes its results to an array."""

    def merge(self, other: "Nothing") -> None:
        """Do nothing."""


@dataclass(frozen=True)
class KernelValuePass(CentroidPass):
    """Write the kernel value G(t) of each row at each centroid to an array."""

    kernel: int
    inverse_squared_bandwidth: float
    kernel_values: Doubles  # (N, K), OUT

    def start(self) -> Nothing:
        """Return nothing."""
        return Nothing()

    def add(self, block: Block, nothing: Nothing) -> None:
        """Write one block's part."""
        _fill_kernel_values(
            block.X,
            block.weight,
            block.inverse_squared_scale,
            self._layouts.suiting(block.X, n_searched=0),
            self.kernel,
            self.inverse_squared_bandwidth,
            self.kernel_values[block.rows],
        )


@compiled
def _fill_kernel_values(
    X: Any,  # IN
    weight: Any,
    inverse_squared_scale: Any,
    centroids: Centroids,
    kernel: int,
    inverse_squared_bandwidth: float,
    kernel_values: Any,  # OUT
) -> None:
    for i in range(row_count(X)):
        q = weight[i] if weight.size > 0 else 1.0
        precision = inverse_squared_scale[i] if inverse_squared_scale.size > 0 else 1.0
        factor = precision * inverse_squared_bandwidth
        for k in range(kernel_values.shape[1]):
            t = squared_distance(X, i, centroids.rows, centroids.norms, k)
            kernel_values[i, k] = q * profile(kernel, t * factor)

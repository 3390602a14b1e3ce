"""A pass that measures the density along segments between pairs of centroids."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled
from modeclust.data.blocks import Block
from modeclust.data.centroid_pass import CentroidPass
from modeclust.data.reading import Centroids, dot_difference, row_count, squared_distance
from modeclust.exponential import exp_of_minus_half
from modeclust.kernels import GAUSSIAN, profile


@dataclass
class SegmentDensities:
    """The densities at places along each segment."""

    values: npt.NDArray[np.float64]  # (P, G)

    def merge(self, other: "SegmentDensities") -> None:
        """Add the densities that other rows make."""
        self.values += other.values


@dataclass(frozen=True)
class SegmentPass(CentroidPass):
    """Sum q G(t) over the rows of two clusters at places between their centroids.

    For a row x of cluster i and the place p = c_i + a (c_j - c_i),
    |x - p|^2 = |x - c_i|^2 - 2 a (x - c_i).(c_j - c_i) + a^2 |c_j - c_i|^2, so that a row
    costs one product for each segment that starts or ends at its cluster.
    """

    pairs: npt.NDArray[np.int64]  # (P, 2)
    fractions: npt.NDArray[np.float64]  # (G,) the places, from 0 (first) to 1 (second)
    kernel: int
    inverse_squared_bandwidth: float

    def start(self) -> SegmentDensities:
        """Return the densities of no rows."""
        return SegmentDensities(np.zeros((len(self.pairs), len(self.fractions))))

    def add(self, block: Block, densities: SegmentDensities) -> None:
        """Add one block's rows, by the labels they have."""
        _add_densities(
            block.X,
            block.weight,
            block.inverse_squared_scale,
            block.labels,
            self._layouts.suiting(block.X),
            self._ends,
            self.fractions,
            self.kernel,
            self.inverse_squared_bandwidth,
            densities.values,
        )

    @cached_property
    def _ends(self) -> "_Ends":
        ends = self.pairs.ravel()
        order = np.argsort(ends, kind="stable")
        edges = np.searchsorted(ends[order], np.arange(len(self.centroids) + 1))
        there = self.centroids[self.pairs[:, 1]] - self.centroids[self.pairs[:, 0]]
        directions = np.stack([there, -there], axis=1).reshape(len(ends), -1)
        return _Ends(
            edges,
            order,
            directions,
            np.einsum("ed,ed->e", self.centroids[ends], directions),
            np.einsum("ed,ed->e", directions, directions),
        )


class _Ends(NamedTuple):
    """The ends of all segments: 2 p is the first of pair p, 2 p + 1 its second."""

    edges: npt.NDArray[np.intp]  # (K + 1,) where each cluster's ends are in `order`
    order: npt.NDArray[np.intp]  # (2 P,) ends by cluster
    directions: npt.NDArray[np.float64]  # (2 P, D) from each end to the other
    bases: npt.NDArray[np.float64]  # (2 P,) centroid . direction
    squared_lengths: npt.NDArray[np.float64]  # (2 P,)


@compiled
def _add_densities(
    X: Any,  # IN
    weight: Any,
    inverse_squared_scale: Any,
    labels: Any,
    centroids: Centroids,
    ends: _Ends,
    fractions: Any,
    kernel: int,
    inverse_squared_bandwidth: float,
    densities: Any,  # IN/OUT (P, G)
) -> None:
    """Add the densities that one block's rows make on the segments of their clusters."""
    n_places = fractions.size
    t, heights = np.empty(n_places), np.empty(n_places)
    bits = np.empty(n_places, dtype=np.int64)
    bits_as_floats = bits.view(np.float64)
    for i in range(row_count(X)):
        q = weight[i] if weight.size > 0 else 1.0
        if q == 0.0:
            continue
        k = labels[i]
        first, last = ends.edges[k], ends.edges[k + 1]
        if first == last:
            continue
        precision = inverse_squared_scale[i] if inverse_squared_scale.size > 0 else 1.0
        factor = precision * inverse_squared_bandwidth
        own = squared_distance(X, i, centroids.rows, centroids.norms, k)
        for e in ends.order[first:last]:
            along = dot_difference(X, i, centroids, k, ends.directions[e], ends.bases[e])
            length = ends.squared_lengths[e]
            nearest = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
            closest = factor * (own - nearest * (2.0 * along - nearest * length))
            # Beside a peak, which has rows within a few bandwidths, this row adds nothing.
            if closest > 150.0 and kernel == GAUSSIAN:
                continue
            for g in range(n_places):
                a = fractions[g] if e % 2 == 0 else 1.0 - fractions[g]
                squared = own - a * (2.0 * along - a * length)
                t[g] = max(squared, 0.0) * factor
            if kernel == GAUSSIAN:
                for g in range(n_places):
                    t[g] = min(t[g], 700.0)
                exp_of_minus_half(t, n_places, bits, bits_as_floats, heights)
            else:
                for g in range(n_places):
                    heights[g] = profile(kernel, t[g])
            for g in range(n_places):
                densities[e // 2, g] += q * heights[g]

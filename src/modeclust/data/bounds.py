"""Bounds on distances, which spare most rows the search for their nearest centroid.

First Hamerly's: for each row one lower bound on the distance to every centroid but its own,
and half the gap between its own centroid and the next. Centroids that move lower the first by
as much as any of them moved. Where rows are long and centroids many, a row that fails is
compared only with groups of centroids whose own bound fails (Yinyang K-means). All are a
cache: a pass without them is as right.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled, compiled_inline
from modeclust.data.blocks import BlockState, Groups
from modeclust.data.reading import FEWEST_FOR_PRODUCTS, Csr, Floats

# What bounds are lowered by, relatively, so that rounding never makes them too high.
SAFE = 1.0 - 1e-9
# Gaps between centroids are worth it up to this many differences.
MOST_FOR_GAPS = 2**23
# Groups pay where centroids are many and large: at least so many, of so many numbers in all.
# With 64 features that is from K = 1024 on; below, they gained in some cases and lost in others
# (`benchmarks/bounds.py`).
FEWEST_FOR_GROUPS, FEWEST_NUMBERS = 64, 2**16
# They have this many members, and their bounds take at most this share of the rows' memory.
GROUP_SIZES, GROUP_MEMORY = (8, 32), 0.125

Vector = npt.NDArray[np.float64]


@compiled_inline
def rounded_down(value: float) -> float:
    """Return a number that in single precision too is not above `value`, and not infinite."""
    return min(value * (1.0 - 1.2e-7) - 3e-45, 1e38)


@compiled_inline
def rounded_up(value: float) -> float:
    """Return a number that in single precision too is not below `value`."""
    return value + 1.2e-7 * abs(value) + 3e-45


class Moves(NamedTuple):
    """How far centroids moved, at most."""

    own: Vector  # (K,) each
    others: Vector  # (K,) the farthest of all but this one


class Bounds:
    """What the bounds of a block are worth when the centroids are now these."""

    def __init__(self, centroids: npt.NDArray[np.float64]) -> None:
        self._centroids = centroids
        self._moves: dict[int, tuple[npt.NDArray[np.float64], Moves]] = {}
        self._groups: dict[int, list[npt.NDArray[np.int64]]] = {}

    @cached_property
    def half_gaps(self) -> Vector:
        """Half the distance of each centroid to its nearest other one, or less."""
        return half_gaps(self._centroids)

    def carry(self, state: BlockState, X: Floats | Csr) -> bool:
        """Widen a block's bounds by what the centroids moved since; return if any are left."""
        before = state.anchor
        state.anchor = self._centroids
        if before is not None and before.shape == self._centroids.shape:
            moves = self._moves_since(before)
            state.slack += moves.others
            state.drift += moves.own
            groups = state.groups
            if groups.slack.size:
                groups.slack[:] += np.maximum.reduceat(moves.own[groups.members], groups.edges[:-1])
            # Where centroids jump, most bounds fail and testing them is lost work.
            if moves.others.max() < state.typical:
                return True
        state.forget_bounds(len(self._centroids))
        state.groups = self._group(X, len(state.labels))
        return False

    def _group(self, X: Floats | Csr, n_rows: int) -> Groups:
        """Return groups of the centroids for a block, if they are worth it."""
        size = group_size(X, *self._centroids.shape)
        if size == 0:
            return Groups.none()
        if size not in self._groups:
            self._groups[size] = group_rows(self._centroids, size)
        groups = self._groups[size]
        sizes = [len(members) for members in groups]
        of = np.empty(len(self._centroids), dtype=np.int64)
        for g, members in enumerate(groups):
            of[members] = g
        return Groups(
            of=of,
            members=np.concatenate(groups),
            edges=np.cumsum([0, *sizes]),
            lower=np.empty((n_rows, len(groups)), dtype=np.float32),
            slack=np.zeros(len(groups)),
        )

    def _moves_since(self, before: npt.NDArray[np.float64]) -> Moves:
        # Threads may both find none and make the same one.
        if id(before) not in self._moves:
            # With the array, so that no other takes over its id.
            self._moves[id(before)] = before, moves_between(before, self._centroids)
        return self._moves[id(before)][1]


def group_size(X: Floats | Csr, n_clusters: int, n_features: int) -> int:
    """Return how many centroids a group has, or 0 where there are to be none."""
    if (
        isinstance(X, Csr)
        or n_features < FEWEST_FOR_PRODUCTS
        or n_clusters < FEWEST_FOR_GROUPS
        or n_clusters * n_features < FEWEST_NUMBERS
    ):
        return 0
    smallest, largest = GROUP_SIZES
    size_for_memory = 4 * n_clusters / (GROUP_MEMORY * n_features * X.itemsize)
    size = max(smallest, int(np.ceil(size_for_memory)))
    return size if size <= largest else 0


def group_rows(points: npt.NDArray[np.float64], size: int) -> list[npt.NDArray[np.int64]]:
    """Return groups of at most `size` rows that are near each other, by halving."""

    def halve(indices: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        if len(indices) <= size:
            return [indices]
        here = points[indices]
        one = here[np.argmax(row_distances(here, np.broadcast_to(here.mean(axis=0), here.shape)))]
        other = here[np.argmax(row_distances(here, np.broadcast_to(one, here.shape)))]
        order = np.argsort(np.einsum("kd,d->k", here, one - other), kind="stable")
        middle = len(indices) // 2
        return halve(indices[order[:middle]]) + halve(indices[order[middle:]])

    return halve(np.arange(len(points)))


def half_gaps(centroids: npt.NDArray[np.float64]) -> Vector:
    """Return half the distance of each centroid to its nearest other one, or less.

    Where that would cost more than it spares, 0.
    """
    n_clusters, n_features = centroids.shape
    if n_clusters == 1 or n_clusters**2 * n_features > MOST_FOR_GAPS:
        return np.zeros(n_clusters)
    gaps: Vector = 0.5 * SAFE * np.sqrt(_squared_gaps(np.ascontiguousarray(centroids)))
    return gaps


@compiled
def _squared_gaps(centroids: Any) -> Any:
    """Return the squared distance of each centroid to its nearest other one.

    Not a matrix product: the threads of BLAS would get in the way of those of the pass.
    """
    gaps = np.full(centroids.shape[0], np.inf)
    for k in range(gaps.size):
        here = centroids[k]
        for other in range(k):
            there = centroids[other]
            squared = 0.0
            for j in range(here.size):
                difference = here[j] - there[j]
                squared += difference * difference
            gaps[k] = min(gaps[k], squared)
            gaps[other] = min(gaps[other], squared)
    return gaps


def moves_between(before: npt.NDArray[np.float64], after: npt.NDArray[np.float64]) -> Moves:
    """Return how far each centroid moved, and how far any other one did."""
    own = row_distances(before, after) / SAFE
    if len(own) == 1:
        return Moves(own, np.zeros(1))
    fastest = np.argmax(own)
    others = np.full(len(own), own[fastest])
    others[fastest] = np.delete(own, fastest).max()
    return Moves(own, others)


@compiled
def row_distances(before: Any, after: Any) -> Any:
    """Return the distance between each two rows."""
    distances = np.empty(before.shape[0])
    for k in range(distances.size):
        squared = 0.0
        for j in range(before.shape[1]):
            difference = after[k, j] - before[k, j]
            squared += difference * difference
        distances[k] = np.sqrt(squared)
    return distances

"""Blocks: runs of rows, the unit of work of every pass.

Their edges depend on the shape of the problem alone and never on the number of threads,
and what they leave is merged in their order: any number of threads gives the same bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Csr, Floats


class Groups(NamedTuple):
    """Centroids in groups, and bounds on the distance of each row to each group.

    The distance of row i to every centroid of group g but its own is at least
    lower[i, g] - slack[g].
    """

    of: npt.NDArray[np.int64]  # (K,) the group of each centroid
    members: npt.NDArray[np.int64]  # (K,) centroids by group
    edges: npt.NDArray[np.int64]  # (G + 1,) where each group's members begin
    lower: npt.NDArray[np.float32]  # (n, G)
    slack: npt.NDArray[np.float64]  # (G,) how far centroids of the group moved, at most

    @classmethod
    def none(cls) -> Self:
        """Return no groups."""
        empty = np.empty(0, dtype=np.int64)
        return cls(empty, empty, empty, np.empty((0, 0), dtype=np.float32), np.empty(0))


@dataclass
class BlockState:
    """What is remembered of a block between passes.

    Only the labels matter; the bounds are a cache, and a pass without them is as right. The
    distance of row i to its own centroid k is at most upper[i] + drift[k], where a pass keeps
    `upper`, and to every other centroid at least lower[i] - slack[k].
    """

    labels: npt.NDArray[np.int32]  # (n,)
    lower: npt.NDArray[np.float32]  # (n,)
    upper: npt.NDArray[np.float32]  # (n,), or empty
    slack: npt.NDArray[np.float64]  # (K,) how far other centroids moved in all, at most
    drift: npt.NDArray[np.float64]  # (K,) how far each centroid moved in all, at most
    anchor: npt.NDArray[np.float64] | None = None  # the centroids that the bounds hold for
    typical: float = 0.0  # a typical lower bound
    n_searched: int | None = None  # rows that the last pass searched
    groups: Groups = field(default_factory=Groups.none)

    @classmethod
    def of(cls, labels: npt.NDArray[np.int32]) -> Self:
        """Return a state with labels that are written to, and no bounds."""
        lower = np.empty(len(labels), dtype=np.float32)
        return cls(labels, lower, lower[:0], np.empty(0), np.empty(0))

    def forget_bounds(self, n_clusters: int) -> None:
        """Begin anew, with nothing known of `n_clusters` centroids."""
        self.slack = np.zeros(n_clusters)
        self.drift = np.zeros(n_clusters)
        self.groups = Groups.none()
        self.typical = 0.0
        self.forget_upper()

    def forget_upper(self) -> None:
        """Give up the bounds on own distances, which only K-means keeps."""
        self.upper = np.empty(0, dtype=np.float32)

    def check_labels(self) -> None:
        """Raise an error where no pass has given the rows labels yet."""
        if self.anchor is None:
            raise RuntimeError("The rows have no labels yet: a pass that assigns must come first.")


@dataclass(frozen=True, slots=True)
class Block:
    """A run of rows with what is known of each of them."""

    start: int  # the place of its first row among all rows
    X: Floats | Csr
    weight: npt.NDArray[np.float64]  # sample weights q; empty stands for 1
    inverse_squared_scale: npt.NDArray[np.float64]  # 1 / s^2; empty stands for 1
    state: BlockState
    negligible: float = 100.0  # t this far above another makes no difference to it

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """The labels of the rows, to be read and written."""
        return self.state.labels

    @property
    def rows(self) -> slice:
        """The place of the block among all rows."""
        return slice(self.start, self.start + len(self.labels))


def rows_per_block(
    n_rows: int,
    n_features: int,
    n_clusters: int,
    row_length: float | None = None,
    n_blocks: int = 16,
) -> int:
    """Return how many rows a block has, by the shape of the problem.

    About 2^22 numbers; fewer rows where there would be less than `n_blocks` to keep threads busy,
    but so many that the turn of a thread costs little beside them; and so many that to make and
    merge (K, D) sums stays small beside adding rows to them, which takes longer for each number
    of a sparse row. `row_length` is how many numbers a sparse row has.
    """
    if row_length is None:
        length, fewest = float(n_features), 8.0 * n_clusters
    else:
        length = max(row_length, 1.0)
        fewest = 0.5 * n_clusters * n_features / length
    size = min(max(int(2**22 / length), 2048), 2**18)
    # A short row takes as long as some numbers more.
    size = min(size, max(-(-n_rows // n_blocks), int(2**18 / (length + 16.0)), 2048))
    size = -(-n_rows // -(-n_rows // size))  # all of them alike
    if size >= fewest:
        return size
    return -(-n_rows // max(int(n_rows / fewest), 1))


def block_edges(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of each block, last excluded; only the last block is short.

    >>> list(block_edges(10, 4))
    [(0, 4), (4, 8), (8, 10)]
    """
    for first in range(0, n_rows, size):
        yield first, min(first + size, n_rows)

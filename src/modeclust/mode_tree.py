"""The tree of modes: which modes of a density merge as the bandwidth increases."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.path import Backend, Floats, make_frame


class TreeLevel(NamedTuple):
    """The modes at one bandwidth of a tree, a named tuple.

    Parameters
    ----------
    bandwidth : float
        The bandwidth.
    modes : ndarray of shape (C, D)
        The modes, the densest first.
    density : ndarray of shape (C,)
        The density at each mode.
    counts : ndarray of shape (C,)
        Number of rows of each mode.
    parents : ndarray of shape (C,) or None
        The mode of the next level that each mode moves to; None at the last level.
    """

    bandwidth: float
    modes: Floats
    density: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    parents: npt.NDArray[np.intp] | None

    def __repr__(self) -> str:
        return (
            f"TreeLevel(bandwidth={self.bandwidth:.6g}, {len(self.modes)} modes, "
            f"counts={self.counts.tolist()})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ModeTree:
    """The modes of a kernel density at increasing bandwidths, and which of them merge.

    ``len(tree)`` is the number of bandwidths; ``tree[i]`` is a
    `mode_tree.TreeLevel`.

    Attributes
    ----------
    levels : tuple of TreeLevel
        The modes at each bandwidth, the smallest first.
    first_labels : ndarray of shape (N,)
        The mode of each row at the smallest bandwidth.
    """

    levels: tuple[TreeLevel, ...]
    first_labels: npt.NDArray[np.intp]

    def __post_init__(self) -> None:
        if not self.levels:
            raise ValueError("a mode tree must have at least one level")

    @property
    def bandwidths(self) -> npt.NDArray[np.float64]:
        """The bandwidths, increasing."""
        return np.array([level.bandwidth for level in self.levels])

    @property
    def n_modes(self) -> npt.NDArray[np.int64]:
        """The number of modes at each bandwidth."""
        return np.array([len(level.modes) for level in self.levels])

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, index: int) -> TreeLevel:
        if isinstance(index, slice):
            raise TypeError(
                f"the index of a level must be an integer, got {index!r}; slice tree.levels."
            )
        return self.levels[operator.index(index)]

    def __iter__(self) -> Iterator[TreeLevel]:
        return iter(self.levels)

    def __repr__(self) -> str:
        n_modes = self.n_modes
        return (
            f"ModeTree({len(self)} bandwidths from {self.levels[0].bandwidth:.4g} to "
            f"{self.levels[-1].bandwidth:.4g}, {n_modes[0]} to {n_modes[-1]} modes)"
        )

    def labels(self, index: int) -> npt.NDArray[np.intp]:
        """Return the mode of each row at a level.

        Parameters
        ----------
        index : int
            The index of the level.

        Returns
        -------
        ndarray of shape (N,)
            The labels.
        """
        level = range(len(self))[operator.index(index)]
        labels = self.first_labels
        for below in self.levels[:level]:
            if below.parents is not None:
                labels = below.parents[labels]
        return labels

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the tree as a table with one row for each bandwidth and mode.

        Its columns are `step`, `bandwidth`, `mode`, `count`, `density`, `parent` (-1 at the last
        bandwidth), and one for each feature of the mode: `x0`, `x1`, ...

        Parameters
        ----------
        backend : {"polars", "pandas", "dict"}, optional
            The type of the result. By default, a frame of polars or pandas, whichever is imported
            or else installed, and a dict of arrays if neither is.

        Returns
        -------
        polars.DataFrame, pandas.DataFrame or dict of ndarray
            The table.
        """
        sizes = self.n_modes
        parents = [
            np.full(len(level.modes), -1) if level.parents is None else level.parents
            for level in self.levels
        ]
        columns: dict[str, Any] = {
            "step": np.repeat(np.arange(len(self)), sizes),
            "bandwidth": np.repeat(self.bandwidths, sizes),
            "mode": np.concatenate([np.arange(size) for size in sizes]),
            "count": np.concatenate([level.counts for level in self.levels]),
            "density": np.concatenate([level.density for level in self.levels]),
            "parent": np.concatenate(parents),
        }
        coordinates = np.concatenate([level.modes for level in self.levels])
        columns |= {f"x{j}": values for j, values in enumerate(coordinates.T)}
        return make_frame(columns, backend)

"""The interface between the algorithms and the data.

An algorithm defines a `Pass`. A `Dataset` runs it over its rows: all at once in memory, or chunk by
chunk on Dask, where it merges the partial sums. No algorithm mentions threads, files or Dask, and
no dataset mentions an algorithm.
"""

from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.sample import Sample


class PartialSums(Protocol):
    """The result of a pass over some of the rows. Merging is associative."""

    def merge(self, other: Self, /) -> None:
        """Add the result for the rows that follow."""


P = TypeVar("P", bound=PartialSums)
P_co = TypeVar("P_co", bound=PartialSums, covariant=True)


class Pass(Protocol[P_co]):
    """What to compute from the rows. It must not depend on the kind of dataset.

    A pass that assigns each row to its nearest centroid has the attributes `centroids` and
    ``assigns = True``. A dataset that loses the labels of some rows recomputes them from there.
    """

    def run(self, rows: _core.Rows, /) -> P_co:
        """Return the result for some rows: one call into the core."""


def pass_assigns(pass_: Any) -> bool:
    """Return whether a pass assigns each row to its nearest centroid."""
    return bool(getattr(pass_, "assigns", False))


class Dataset(Protocol):
    """The rows with their weights and local scales, in memory, in a file or on Dask workers."""

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]  # in which the rows are read: float32 or float64
    is_sparse: bool
    weight: Any  # sample weights of the rows, in a form of the dataset's own

    @property
    def total_weight(self) -> float:
        """The sum of the sample weights."""

    def set_relative_scale(self, scale: Any, /) -> float:
        """Set the local scales, divided by their weighted mean, and return that mean."""

    def run(self, pass_: Pass[P], /) -> P:
        """Run a pass over all rows, and return its merged result."""

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the label of each row by the last pass that assigned labels."""

    def labels_at(self, indices: npt.NDArray[np.int64], /) -> npt.NDArray[np.int32]:
        """Return the labels of the rows at `indices`."""

    def take(self, indices: npt.NDArray[np.int64], /) -> Sample:
        """Return the rows at `indices` with their weights."""

    def sample(self, n_rows: int, rng: np.random.RandomState, /) -> Sample:
        """Return `n_rows` rows of positive weight, drawn without replacement, or all if fewer."""

    def distinct(self) -> Sample:
        """Return each distinct row once, with the total weight of its copies."""

"""The interface between the algorithms and the data.

An algorithm defines a `Pass`. A `Dataset` runs it over its rows: all at once in memory, or chunk by
chunk on Dask, where it merges the partial sums. No algorithm mentions threads, files or Dask, and
no dataset mentions an algorithm.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.reading import Doubles, Floats, Indices
from modeclust.data.sample import Sample


class PartialSums(Protocol):
    """The result of a pass over some of the rows. Merging is associative."""

    def merge(self, other: Self, /) -> None:
        """Add the result for the rows that follow."""


P = TypeVar("P", bound=PartialSums)
P_co = TypeVar("P_co", bound=PartialSums, covariant=True)


class Pass(Protocol[P_co]):
    """What to compute from the rows. It must not depend on the kind of dataset.

    A pass that assigns each row to its nearest center has the attributes `centers` and
    ``assigns = True``. A dataset that loses the labels of some rows recomputes them from there.
    """

    def run(self, rows: _core.Rows, /) -> P_co:
        """Return the result for some rows: one call into the core."""


def pass_assigns(pass_: Any) -> bool:
    """Return whether a pass assigns each row to its nearest center."""
    return bool(getattr(pass_, "assigns", False))


class Part(NamedTuple):
    """Some rows of a dataset in memory, for functions that are written in NumPy."""

    X: Any  # dense or CSR
    counts: Doubles  # how often each row counts: its weight if all weights are integers, else 1
    indices: Indices  # of the rows in the dataset
    n_jobs: int  # the number of threads to use


class Dataset(Protocol):
    """The rows with their weights and local scales, in memory, in a file or on Dask workers.

    A *column* is one number for each row, in a format that only the dataset knows.
    """

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]  # in which the rows are read: float32 or float64
    is_sparse: bool
    unit_length: bool  # whether rows are brought to length 1 (metric "cosine"); so are centers then
    location: str  # where the rows are, and in which chunks; a checkpoint compares it
    stores_labels: bool  # whether the labels of every bandwidth of a path can be stored

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    @property
    def total_weight(self) -> float:
        """The sum of the sample weights."""

    @property
    def weights_are_counts(self) -> bool:
        """Whether all weights are integers, which stand for repeated rows."""

    @property
    def n_present(self) -> int:
        """The number of rows of positive weight."""

    @property
    def n_counted(self) -> float:
        """The number of rows of positive weight; integer weights count as repetitions."""

    def set_relative_scale(self, scale: Any, /) -> float:
        """Set a column of local scales, divided by its weighted mean; return that mean."""

    def run(self, pass_: Pass[P], /) -> P:
        """Run a pass over all rows, and return its merged result."""

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the label of each row by the last pass that assigned labels."""

    def labels_at(self, indices: Indices, /) -> npt.NDArray[np.int32]:
        """Return the labels of the rows at `indices`."""

    def distances(self, centers: Doubles, /) -> Floats:
        """Return the distance of each row to each center, (n_rows, K)."""

    def weights_at(self, indices: Indices, /) -> Doubles:
        """Return the weights of the rows at `indices`."""

    def take(self, indices: Indices, /) -> Sample:
        """Return the rows at `indices` with their weights."""

    def draw(self, n_rows: int, rng: np.random.RandomState, /) -> Indices:
        """Draw rows of positive weight without replacement; return the indices of all if fewer."""

    def sample(self, n_rows: int, rng: np.random.RandomState, /) -> Sample:
        """Return `n_rows` rows of positive weight, drawn without replacement, or all if fewer."""

    def distinct(self) -> Sample:
        """Return each distinct row once, with the total weight of its copies."""

    def present(self, n_gathered: int, /) -> "Dataset":
        """Return the rows of positive weight as a dataset without local scales.

        Up to `n_gathered` rows are copied into memory if they are elsewhere.
        """

    def from_present(self, column: Any, /) -> Any:
        """Return a column of `present` as a column of this dataset; other rows get 1."""

    def read_parts(self, indices: Indices, /) -> Iterable[Any]:
        """Return the rows at `indices` in parts, which may be iterated over repeatedly."""

    def merge_parts(self, function: Callable[..., P], /, *arguments: Any) -> P:
        """Return the merged results of ``function(part, *arguments)``, for `Part` after `Part`."""

    def column(self, function: Callable[..., Doubles], /, *arguments: Any) -> Any:
        """Return the column of the results of ``function(part, *arguments)``."""

    def relative_column(self, column: Any, zero: float, /) -> Any:
        """Return a column divided by its weighted mean.

        Numbers of at most `zero` count as the smallest number above it. All are 1 if there is none.
        """

"""A dataset in the memory of this machine, or mapped into it from a file."""

import os
from collections.abc import Callable, Iterator
from typing import Any, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from modeclust import _core
from modeclust.data.dataset import Dataset, P, Part, Pass
from modeclust.data.reading import (
    ROWS_AT_ONCE,
    Doubles,
    Floats,
    Indices,
    UnitRows,
    is_sparse,
    take_rows,
    working_dtype,
)
from modeclust.data.rescaling import Rescaling, internal_rows, is_mapped
from modeclust.data.sample import Sample, equal_rows, row_keys

NOTHING = np.empty(0)
# Memory-mapped rows are read in parts of about this many numbers.
NUMBERS_AT_ONCE = 2**23


class MemoryDataset:
    """The rows of an ndarray, a CSR matrix or a memory-mapped file.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), CSR matrix in canonical form, or UnitRows
        Finite numbers. Float32 and float64 in C order are read in place. Anything else is
        converted block by block.
    weight : ndarray of shape (n_rows,), optional
        Sample weights q >= 0; 1 by default.
    scale : ndarray of shape (n_rows,), optional
        Local scales s > 0; 1 by default. `set_scale` can set them later.
    n_clusters : int, default=1
        Number of centers of the passes; it determines the block size.
    n_jobs : int, optional
        Number of threads, as in the estimators.
    n_threads : int, optional
        Number of threads as a positive number, instead of `n_jobs`.
    first_row : int, default=0
        Index of the first row, if these rows are a part of a larger dataset.
    """

    location = "memory"
    stores_labels = True

    def __init__(
        self,
        X: Any,
        *,
        weight: Doubles | None = None,
        scale: Doubles | None = None,
        n_clusters: int = 1,
        n_jobs: int | None = None,
        n_threads: int | None = None,
        first_row: int = 0,
    ) -> None:
        self.is_sparse = is_sparse(X)
        self.dtype = working_dtype(X.dtype)
        self.X = X
        self.n_rows, self.n_features = X.shape
        self.weight = NOTHING if weight is None else weight
        self.n_threads = n_threads or thread_count(n_jobs)
        self.rows = internal_rows(
            X,
            weight=None if weight is None else np.ascontiguousarray(weight, np.float64),
            n_clusters=n_clusters,
            n_threads=self.n_threads,
            first_row=first_row,
        )
        self.unit_length = self.rows.unit_length
        self.set_scale(scale)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Do nothing: the threads of the core are shared by all datasets."""

    @property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.weight.sum()) if self.weight.size else float(self.n_rows)

    @property
    def n_present(self) -> int:
        """The number of rows of positive weight."""
        return int(np.count_nonzero(self.weight)) if self.weight.size else self.n_rows

    @property
    def n_counted(self) -> float:
        """The number of rows of positive weight; integer weights count as repetitions."""
        return self.total_weight if self.weights_are_counts else float(self.n_present)

    @property
    def weights_are_counts(self) -> bool:
        """Whether all weights are integers, which stand for repeated rows."""
        return bool(np.all(self.weight == np.round(self.weight)))

    def set_scale(self, scale: Doubles | None) -> None:
        """Set the local scales; None stands for 1."""
        self.inverse_squared_scale = NOTHING if scale is None else 1.0 / np.square(scale)
        self.rows.set_precision(None if scale is None else self.inverse_squared_scale)
        self.rows.negligible = negligible_excess(self.weight, self.inverse_squared_scale)

    def set_relative_scale(self, scale: Doubles) -> float:
        """Set the local scales, divided by their weighted mean, and return that mean."""
        mean = self._mean(scale)
        self.set_scale(scale / mean)
        return mean

    def run(self, pass_: Pass[P]) -> P:
        """Run a pass over all rows, and return its merged result."""
        return pass_.run(self.rows)

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the label of each row by the last pass that assigned labels."""
        return self.rows.labels.copy()

    def labels_at(self, indices: Indices) -> npt.NDArray[np.int32]:
        """Return the labels of the rows at `indices`."""
        return self.rows.labels[indices]

    def weights_at(self, indices: Indices) -> Doubles:
        """Return the weights of the rows at `indices`."""
        return self.weight[indices] if self.weight.size else np.ones(len(indices))

    def take(self, indices: Indices) -> Sample:
        """Return the rows at `indices` with their weights."""
        return Sample(take_rows(self.X, indices), self.weights_at(indices), self.unit_length)

    def draw(self, n_rows: int, rng: np.random.RandomState) -> Indices:
        """Draw rows of positive weight without replacement; return the indices of all if fewer."""
        if n_rows >= self.n_present:
            return self._present()
        # This takes memory only for the rows that are drawn.
        drawn = np.sort(sample_without_replacement(self.n_present, n_rows, random_state=rng))
        return np.asarray(self._present()[drawn] if self.weight.size else drawn)

    def sample(self, n_rows: int, rng: np.random.RandomState) -> Sample:
        """Return `n_rows` rows of positive weight, drawn without replacement, or all if fewer."""
        return self.take(self.draw(n_rows, rng))

    def distinct(self) -> Sample:
        """Return each distinct row once, with the total weight of its copies.

        It reads all rows but copies few. Use it if a sample has too few distinct rows.
        """
        keys = row_keys(self.rows)
        present = self._present()
        _, first, kind = np.unique(keys[present], return_index=True, return_inverse=True)
        # Different rows may have equal keys.
        others = [
            present[rows][~equal_rows(self.X[present[rows]], self.X[present[first[kind[rows]]]])]
            for rows in np.array_split(np.arange(len(present)), -(-len(present) // 4096))
        ]
        other = np.concatenate(others)
        same = np.isin(present, other, invert=True)
        weight = self.weight[present] if self.weight.size else np.ones(len(present))
        totals = np.bincount(kind[same], weights=weight[same], minlength=len(first))
        indices = np.concatenate([present[first], other])
        weights = np.concatenate([totals, self.weights_at(other)])
        return self.take(indices)._replace(weight=weights).distinct()

    def _present(self) -> Indices:
        """Return the indices of the rows of positive weight; others count as missing."""
        return np.flatnonzero(self.weight) if self.weight.size else np.arange(self.n_rows)

    def present(self, n_gathered: int = 0) -> "MemoryDataset":
        """Return the rows of positive weight as a dataset without local scales."""
        if not self.weight.size:
            return MemoryDataset(self.X, n_threads=self.n_threads)
        if self.weight.all():
            return MemoryDataset(self.X, weight=self.weight, n_threads=self.n_threads)
        present = self._present()
        X = self.X.part(present) if isinstance(self.X, UnitRows) else self.X[present]
        return MemoryDataset(X, weight=self.weight[present], n_threads=self.n_threads)

    def from_present(self, column: Doubles) -> Doubles:
        """Return a column of `present` as a column of this dataset; other rows get 1."""
        if len(column) == self.n_rows:
            return column
        full = np.ones(self.n_rows)
        full[self._present()] = column
        return full

    def read_parts(self, indices: Indices) -> "RowParts":
        """Return the rows at `indices` in parts, which may be iterated over repeatedly."""
        return RowParts(self.X, indices)

    def merge_parts(self, function: Callable[..., P], *arguments: Any) -> P:
        """Return the merged results of ``function(part, *arguments)``, for `Part` after `Part`."""
        parts = self._parts()
        merged = function(next(parts), *arguments)
        for part in parts:
            merged.merge(function(part, *arguments))
        return merged

    def column(self, function: Callable[..., Doubles], *arguments: Any) -> Doubles:
        """Return the column of the results of ``function(part, *arguments)``."""
        return np.concatenate([function(part, *arguments) for part in self._parts()])

    def relative_column(self, column: Doubles, zero: float) -> Doubles:
        """Return a column divided by its weighted mean; see `Dataset`."""
        positive = column[column > zero]
        if not len(positive):
            return np.ones(len(column))
        column = np.maximum(column, positive.min())
        return np.asarray(column / self._mean(column))

    def _mean(self, column: Doubles) -> float:
        return float(np.average(column, weights=self.weight if self.weight.size else None))

    def _parts(self) -> Iterator[Part]:
        """Yield all rows at once, or in parts if they are memory-mapped."""
        size = self.n_rows
        if is_mapped(self.X):
            length = self.X.X.nnz // self.n_rows + 1 if self.is_sparse else self.n_features
            size = max(NUMBERS_AT_ONCE // length, 1)
        counts = np.ones(self.n_rows)
        if self.weight.size and self.weights_are_counts:
            counts = self.weight
        for first in range(0, self.n_rows, size):
            some = slice(first, min(first + size, self.n_rows))
            X = take_rows(self.X, some) if is_mapped(self.X) else self.X
            indices = np.arange(some.start, some.stop)
            yield Part(X, counts[some], indices, self.n_threads)

    def distances(self, centers: Doubles) -> Floats:
        """Return the distance of each row to each center, (n_rows, K)."""
        out = np.empty((self.n_rows, len(centers)), dtype=self.dtype)
        _core.distances(self.rows, np.ascontiguousarray(centers, dtype=np.float64), out)
        if np.isinf(out.max(initial=0.0)):
            far = np.flatnonzero(np.isinf(out).any(axis=1))
            with np.errstate(over="ignore"):
                out[far] = _far_distances(self.take(far).dense(), centers)
        return out


def open_dataset(
    X: Any,
    rescaling: Rescaling,
    *,
    weight: Any,
    n_clusters: int,
    n_threads: int,
    scale: Any = None,
) -> Dataset:
    """Return the dataset of checked rows; use it as a context manager."""
    from modeclust.data.dask.chunks import Chunks
    from modeclust.data.dask.dataset import DaskDataset

    if isinstance(X, Chunks):
        return DaskDataset(X, rescaling, weight=weight, scale=scale, n_clusters=n_clusters)
    return MemoryDataset(
        rescaling.rows(X, n_threads),
        weight=weight,
        scale=scale,
        n_clusters=n_clusters,
        n_threads=n_threads,
    )


class RowParts:
    """Some rows of `X`, which are read in parts each time they are iterated over."""

    def __init__(self, X: Any, indices: Indices) -> None:
        self._X = X
        self._indices = indices
        self._dtype = working_dtype(X.dtype)

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, len(self._indices), ROWS_AT_ONCE):
            rows = self._X[self._indices[first : first + ROWS_AT_ONCE]]
            yield np.asarray(rows, dtype=self._dtype) if isinstance(rows, np.ndarray) else rows


def negligible_excess(weight: Doubles, inverse_squared_scale: Doubles) -> float:
    """Return how far t must be above the smallest t for a row to be negligible.

    At 100, a gaussian weight is exp(-50) of the largest: a million such rows do not change the
    last bit of the sum. Unequal sample weights and scales raise the limit, up to 600, beyond which
    `exp` underflows.
    """
    return min(100.0 + weight_spread(weight, inverse_squared_scale), 600.0)


def weight_spread(weight: Doubles, inverse_squared_scale: Doubles) -> float:
    """Return the largest difference of t that sample weights and scales can compensate."""
    spread = 0.0
    for factors in (weight, inverse_squared_scale):
        positive = factors[factors > 0]
        if positive.size:
            spread += float(np.log(positive.max()) - np.log(positive.min()))
    return 2.0 * spread


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    None means every core, or ``OMP_NUM_THREADS`` if it is set, as in scikit-learn's
    `KMeans`. This limits nested parallelism, such as a grid search in processes. -1 means every
    core, -2 all but one.
    """
    if n_jobs is None:
        # It may be a list, with one number for each level of nesting.
        wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        return int(wanted) if wanted.isdecimal() and int(wanted) > 0 else int(joblib.cpu_count())
    return int(joblib.effective_n_jobs(n_jobs))


def _far_distances(rows: Doubles, centers: Doubles) -> Doubles:
    """Return distances whose squares overflow."""
    unit = np.abs(rows).max(axis=1, keepdims=True)
    near = rows / unit
    columns = [np.linalg.norm(near - center / unit, axis=1) for center in centers]
    distances: Doubles = np.stack(columns, axis=1) * unit
    return distances

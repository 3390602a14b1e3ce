"""The chunks of a Dask collection: checks and statistics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust._sklearn import check_feature_names, check_n_features
from modeclust.data.dask.tasks import computed, current_client, merged, on_workers, sent
from modeclust.data.reading import (
    Doubles,
    Indices,
    check_directions,
    core_rows,
    is_dask,
    is_sparse,
    working_dtype,
)
from modeclust.data.rescaling import Rescaling, column_limits


@dataclass
class ChunkStats:
    """Sizes, limits and validity of one or more chunks."""

    lengths: list[int]
    n_bytes: int
    lowest: Doubles  # (D,)
    highest: Doubles
    has_nan: bool
    has_inf: bool
    is_sparse: bool
    empty: Indices  # rows of length 0, if they were counted

    def merge(self, other: "ChunkStats") -> None:
        """Add the statistics of the chunks that follow."""
        self.empty = np.concatenate([self.empty, sum(self.lengths) + other.empty])
        self.lengths = self.lengths + other.lengths
        self.n_bytes += other.n_bytes
        self.lowest = np.minimum(self.lowest, other.lowest)
        self.highest = np.maximum(self.highest, other.highest)
        self.has_nan |= other.has_nan
        self.has_inf |= other.has_inf
        self.is_sparse |= other.is_sparse


def chunk_stats(part: Any, metric: str = "euclidean") -> ChunkStats:
    """Return the statistics of a chunk; rows of length 0 are counted for the metric "cosine"."""
    if is_sparse(part) and (part.format not in ("csr", "csc") or metric == "cosine"):
        part = sparse.csr_array(part)
    values = part.data if is_sparse(part) else np.asarray(part)
    n_rows, n_features = part.shape
    if values.dtype.kind not in "fiub":
        values = values.astype(np.float64)  # or an error
    finite = np.isfinite(values)
    lowest, highest = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    if n_rows and finite.all():
        lowest, highest = column_limits(part if is_sparse(part) else values)
    empty = np.empty(0, dtype=np.int64)
    if metric == "cosine" and finite.all():
        lengths = core_rows(_canonical(part) if is_sparse(part) else values).inverse_lengths()
        empty = np.flatnonzero(np.isinf(lengths))
    has_nan = bool(np.isnan(values).any())
    n_bytes = values.nbytes + (part.indices.nbytes if is_sparse(part) else 0)
    has_inf = not has_nan and not finite.all()
    return ChunkStats([n_rows], n_bytes, lowest, highest, has_nan, has_inf, is_sparse(part), empty)


def _canonical(part: Any) -> Any:
    """Return a CSR chunk without duplicates."""
    if not part.has_canonical_format:
        part = part.copy()
        part.sum_duplicates()
    return part


class Column(NamedTuple):
    """One number per row, in the chunks of a collection."""

    parts: list[Any]  # tasks or arrays
    lowest: float
    highest: float
    total: float
    n_positive: npt.NDArray[np.int64]  # in each part
    is_whole: bool  # whether all numbers are integers

    @classmethod
    def of(cls, parts: Sequence[Any]) -> "Column":
        """Return a column and its statistics."""
        parts = list(parts)
        found = computed(*(on_workers(_describe, part) for part in parts))
        lowest, highest, total, n_positive, is_whole = zip(*found, strict=True)
        return cls(
            parts, min(lowest), max(highest), sum(total), np.array(n_positive), all(is_whole)
        )

    def over(self, divisor: float) -> "Column":
        """Return the column divided by a number."""
        return Column.of([on_workers(np.divide, part, divisor) for part in self.parts])


def _describe(part: Any) -> tuple[float, float, float, int, bool]:
    values = np.asarray(part, dtype=np.float64)
    if not len(values):
        return np.inf, -np.inf, 0.0, 0, True
    # The caller finds NaN by the sum.
    is_whole = bool(np.all(values == np.round(values)))
    return values.min(), values.max(), values.sum(), int(np.sum(values > 0)), is_whole


@dataclass(frozen=True)
class Chunks:
    """The checked rows of a Dask array."""

    X: Any  # the array
    parts: list[Any]  # tasks that give its rows, dense or CSR
    n_features: int
    dtype: np.dtype[Any]  # in which they are read
    stats: ChunkStats

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return sum(self.stats.lengths), self.n_features

    @property
    def rescaling(self) -> Rescaling:
        """The rescaling for these rows."""
        stats = self.stats
        return Rescaling.from_limits(stats.lowest, stats.highest, stats.is_sparse, self.dtype)

    def prepared(self, rescaling: Rescaling) -> list[Any]:
        """Return tasks that give the rescaled rows in the form that passes read."""
        shared_rescaling = sent(rescaling)
        return [
            on_workers(_prepare, part, shared_rescaling, self.dtype, worker=worker)
            for part, worker in zip(self.parts, self.workers, strict=True)
        ]

    @cached_property
    def workers(self) -> list[str | None]:
        """The worker for each chunk: the one that holds it, or the worker of its neighbours."""
        client = current_client()
        workers = client and list(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            return [None] * len(self.parts)
        from distributed import futures_of

        holders = client.who_has(futures_of(self.X)) if futures_of(self.X) else {}
        near = np.arange(len(self.parts)) * len(workers) // len(self.parts)
        return [
            next(iter(holders.get(part.key, ())), workers[number])
            for part, number in zip(self.parts, near, strict=True)
        ]


def _prepare(part: Any, rescaling: Rescaling, dtype: np.dtype[Any]) -> Any:
    if is_sparse(part):
        part = _canonical(sparse.csr_array(part, dtype=dtype))
    else:
        part = np.ascontiguousarray(part, dtype=dtype)
    return rescaling.rows(part)


def check_chunks(
    X: Any,
    *,
    estimator: Any = None,
    reset: bool = True,
    min_rows: int = 1,
    metric: str = "euclidean",
) -> Chunks:
    """Return the checked rows of a Dask array or frame."""
    array = as_array(X, estimator=estimator, reset=reset)
    parts = list(array.to_delayed().ravel())
    try:
        stats = merged([on_workers(chunk_stats, part, metric) for part in parts])
    except (ValueError, TypeError) as error:
        raise ValueError(f"X must hold numbers: {error}") from error
    for wrong, name in ((stats.has_nan, "NaN"), (stats.has_inf, "infinity")):
        if wrong:
            raise ValueError(f"Input X contains {name}.")
    check_directions(stats.empty)
    n_rows, n_features = sum(stats.lengths), array.shape[1]
    for n, least, what in ((n_rows, min_rows, "sample"), (n_features, 1, "feature")):
        if n < least:
            raise ValueError(
                f"Found array with {n} {what}(s) (shape={(n_rows, n_features)}) while a minimum "
                f"of {least} is required."
            )
    return Chunks(array, parts, n_features, working_dtype(array.dtype), stats)


def as_array(X: Any, *, estimator: Any = None, reset: bool = True) -> Any:
    """Return a Dask array or frame as an array whose chunks have whole rows."""
    from dask.array import Array

    meta = getattr(X, "_meta", None)
    if hasattr(type(X), "to_dask_array"):
        X = _numbers(X).to_dask_array()
    elif not isinstance(X, Array):
        raise TypeError(f"X must be a Dask array or frame, got a {type(X).__name__}.")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data, e.g. by "
            "X.reshape(-1, 1) if it has a single feature."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold numbers, got a Dask collection of dtype {X.dtype}.")
    if np.isnan(X.shape[1]):
        raise ValueError(
            f"X must have a known number of columns, got chunks of shape {X.chunks}; call "
            "X.compute_chunk_sizes() first."
        )
    if estimator is not None:
        check_feature_names(estimator, meta, reset=reset)
        check_n_features(estimator, X, reset=reset)
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _numbers(frame: Any) -> Any:
    """Return a frame with columns of NumPy numbers; raise an error for other columns."""
    from pandas.api.types import is_numeric_dtype

    kinds = dict(frame._meta.dtypes) if frame.ndim == 2 else {}
    if other := [name for name, kind in kinds.items() if not is_numeric_dtype(kind)]:
        raise ValueError(
            f"X must hold numbers, but column {other[0]!r} does not; leave it out, or encode it as "
            "numbers."
        )
    # Booleans among numbers, nullable numbers and Arrow numbers would become objects.
    are_numeric = all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in kinds.values())
    return frame if are_numeric else frame.astype(float)


def map_rows(
    array: Any, function: Callable[[Any], Any], dtype: np.dtype[Any], n_columns: int | None = None
) -> Any:
    """Return a lazy array of the results of `function`.

    It has `n_columns` columns. If None, it has one dimension: one number for each row.
    """
    empty = np.empty(0 if n_columns is None else (0, n_columns), dtype=dtype)
    shape = {"drop_axis": 1} if n_columns is None else {"chunks": (array.chunks[0], (n_columns,))}
    return array.map_blocks(_of_chunk, function, empty, meta=empty, **shape)


def _of_chunk(part: Any, function: Callable[[Any], Any], empty: Any) -> Any:
    """Return the result of a function for the rows of a chunk, which may have none."""
    return function(part) if part.shape[0] else empty


def check_column(values: Any, chunks: Chunks, name: str) -> Column:
    """Return one finite number for each row as a column in the same chunks."""
    n_rows = chunks.shape[0]
    if not is_dask(values):
        values = np.asarray(values, dtype=np.float64)
        if values.ndim == 0:
            values = np.full(n_rows, values)
    elif hasattr(values, "to_dask_array"):
        values = values.to_dask_array()
    if values.ndim == 1 and np.isnan(values.shape[0]):
        values = values.compute_chunk_sizes()
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name}.shape == {values.shape}, expected {(n_rows,)}, one value for each row of X."
        )
    lengths = chunks.stats.lengths
    if isinstance(values, np.ndarray):
        parts = np.split(values, np.cumsum(lengths)[:-1])
    else:
        parts = list(values.rechunk((tuple(lengths),)).to_delayed())
    column = Column.of(parts)
    if not np.isfinite(column.total):
        raise ValueError(f"Input {name} contains NaN or infinity.")
    return column

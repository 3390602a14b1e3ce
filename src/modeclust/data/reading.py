"""Reading rows, and passing them to the compiled core."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.floating[Any]]
Indices = npt.NDArray[np.int64]

# Rows are copied at most this many at a time.
ROWS_AT_ONCE = 1024
# An error names at most this many rows.
MAX_NAMED = 5


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a sparse matrix or array of scipy, or `UnitRows` of one."""
    return isinstance(X, sparse.spmatrix | sparse.sparray) or (
        isinstance(X, UnitRows) and is_sparse(X.X)
    )


def is_dask(X: Any) -> bool:
    """Return whether `X` is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def working_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype in which rows of `dtype` are read: float32 stays, the rest is float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def take_rows(X: Any, indices: Any) -> Any:
    """Return some rows of `X`, which may be memory-mapped, as an array in memory or as CSR."""
    rows = X[indices]
    return rows if is_sparse(rows) else np.asarray(rows, dtype=working_dtype(X.dtype))


class UnitRows:
    """Rows that are brought to length 1 as they are read, for the metric "cosine".

    The rows are not copied. The core multiplies each by its factor, 1 / |x|, and so does indexing,
    with the same bits.
    """

    def __init__(self, X: Any, factors: Doubles) -> None:
        self.X = X
        self.factors = factors
        self.shape = X.shape
        self.dtype = working_dtype(X.dtype)

    @classmethod
    def of(cls, X: Any, n_threads: int = 1) -> "UnitRows":
        """Return the rows of `X` at length 1; raise an error if some have length 0."""
        factors = core_rows(X, n_threads=n_threads).inverse_lengths()
        check_directions(np.flatnonzero(np.isinf(factors)))
        return cls(X, factors)

    def __getitem__(self, indices: Any) -> Any:
        rows, factors = take_rows(self.X, indices), self.factors[indices]
        if is_sparse(rows):
            factors = np.repeat(factors, np.diff(rows.indptr))
            data = np.multiply(rows.data, factors, dtype=np.float64).astype(self.dtype)
            return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
        return np.multiply(rows, factors[:, None], dtype=np.float64).astype(self.dtype)

    def part(self, indices: Any) -> "UnitRows":
        """Return some of the rows."""
        return UnitRows(self.X[indices], self.factors[indices])


def in_memory(X: Any, metric: str, *, copy: bool = False) -> Any:
    """Return rows in memory, which have length 1 with the metric "cosine"."""
    if metric == "cosine":
        return UnitRows.of(X)[:]
    if is_sparse(X):
        return X.copy() if copy else X
    return (np.array if copy else np.asarray)(X, dtype=working_dtype(X.dtype))


def check_directions(empty: Any) -> None:
    """Raise an error that names the rows of length 0, which have no direction."""
    if not len(empty):
        return
    names = ", ".join(str(row) for row in empty[:MAX_NAMED])
    others = len(empty) - MAX_NAMED
    more = f" and {others} others" if others > 0 else ""
    raise ValueError(
        f"metric='cosine' needs rows that are not all zeros, but these are: {names}{more}; leave "
        "them out."
    )


def row_slices(n_rows: int) -> Iterator[slice]:
    """Yield slices of at most `ROWS_AT_ONCE` rows."""
    for first in range(0, n_rows, ROWS_AT_ONCE):
        yield slice(first, first + ROWS_AT_ONCE)


def core_rows(X: Any, **options: Any) -> _core.Rows:
    """Return dense or CSR rows for the core, which reads them in place.

    Dense rows may have any number type, byte order and strides, and may be memory-mapped. Rows that
    are not float32 or float64 in C order are converted in small tiles when they are read.
    """
    if isinstance(X, UnitRows):
        return core_rows(X.X, factors=X.factors, **options)
    if is_sparse(X):
        data = np.asarray(X.data, dtype=working_dtype(X.dtype))
        return _core.Rows(data, X.indices, X.indptr, X.shape[1], **options)
    X = np.asarray(X)
    if X.dtype.itemsize > 8 or X.dtype.kind not in "fiub":
        X = X.astype(np.float64)
    if not X.dtype.isnative:
        return _core.Rows(X.view(X.dtype.newbyteorder("=")), swapped=True, **options)
    return _core.Rows(X, **options)

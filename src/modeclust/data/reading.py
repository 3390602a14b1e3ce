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


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a sparse matrix or array of scipy."""
    return isinstance(X, sparse.spmatrix | sparse.sparray)


def is_dask(X: Any) -> bool:
    """Return whether `X` is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def working_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype in which rows of `dtype` are read: float32 stays, the rest is float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def read_rows(X: Any, indices: Any) -> Any:
    """Return some rows of `X`, which may be memory-mapped, as an array in memory or as CSR."""
    rows = X[indices]
    return rows if is_sparse(rows) else np.asarray(rows, dtype=working_dtype(X.dtype))


def row_slices(n_rows: int) -> Iterator[slice]:
    """Yield slices of at most `ROWS_AT_ONCE` rows."""
    for first in range(0, n_rows, ROWS_AT_ONCE):
        yield slice(first, first + ROWS_AT_ONCE)


def core_rows(X: Any, **options: Any) -> _core.Rows:
    """Return dense or CSR rows for the core, which reads them in place.

    Dense rows may have any number type, byte order and strides, and may be memory-mapped. Rows that
    are not float32 or float64 in C order are converted in small tiles when they are read.
    """
    if is_sparse(X):
        data = np.asarray(X.data, dtype=working_dtype(X.dtype))
        return _core.Rows(data, X.indices, X.indptr, X.shape[1], **options)
    X = np.asarray(X)
    if X.dtype.itemsize > 8 or X.dtype.kind not in "fiub":
        X = X.astype(np.float64)
    if not X.dtype.isnative:
        return _core.Rows(X.view(X.dtype.newbyteorder("=")), swapped=True, **options)
    return _core.Rows(X, **options)

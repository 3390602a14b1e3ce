"""How rows are read: what kind they are, and how the compiled core takes them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core

Floats = npt.NDArray[np.floating[Any]]


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a scipy matrix or array, which is then CSR."""
    return bool(sparse.issparse(X))


def working_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype in which rows of `dtype` are read: float32 stays, the rest is float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def core_rows(X: Any, **options: Any) -> _core.Rows:
    """Return dense or CSR rows for the core, which reads them where they are.

    Dense rows may have any number type, byte order and strides, and may be memory-mapped: what is
    not float32 or float64 in C order is converted in small tiles, as it is read.
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

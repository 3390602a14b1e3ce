"""Rows as the compiled core reads them."""

from typing import Any

import numpy as np

from modeclust import _core
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import RescaledRows, working_dtype


def core_rows(X: Any, **options: Any) -> _core.Rows:
    """Return dense or CSR rows for the core, which reads them where they are.

    Dense rows may have any number type, byte order and strides, and may be memory-mapped: what is
    not float32 or float64 in C order is converted in small tiles, as it is read.
    """
    if is_sparse(X):
        data = np.asarray(X.data, dtype=working_dtype(X.dtype))
        return _core.Rows(data, X.indices, X.indptr, X.shape[1], **options)
    if isinstance(X, RescaledRows):
        options |= {"offset": X.rescaling.offset, "scale": X.rescaling.scale}
        X = X.mapped
    X = np.asarray(X)
    if X.dtype.itemsize > 8 or X.dtype.kind not in "fiub":
        X = X.astype(np.float64)
    if not X.dtype.isnative:
        return _core.Rows(X.view(X.dtype.newbyteorder("=")), swapped=True, **options)
    return _core.Rows(X, **options)

"""What users may pass as Dask collections, checked in one pass over all of it."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from modeclust.data.dask.chunks import Chunks, Column, chunk_stats, is_dask, merged, on_workers
from modeclust.data.reading import working_dtype


def check_chunks(X: Any, *, estimator: Any = None, reset: bool = True, min_rows: int = 1) -> Chunks:
    """Return the rows of a Dask array or frame, of which all numbers are finite."""
    array = as_array(X, estimator=estimator, reset=reset)
    parts = list(array.to_delayed().ravel())
    try:
        stats = merged([on_workers(chunk_stats, part) for part in parts])
    except (ValueError, TypeError) as error:
        raise ValueError(f"X must hold numbers: {error}") from error
    for wrong, name in ((stats.has_nan, "NaN"), (stats.has_inf, "infinity")):
        if wrong:
            raise ValueError(f"Input X contains {name}.")
    n_rows, n_features = sum(stats.lengths), array.shape[1]
    for n, least, what in ((n_rows, min_rows, "sample"), (n_features, 1, "feature")):
        if n < least:
            raise ValueError(
                f"Found array with {n} {what}(s) (shape={(n_rows, n_features)}) while a minimum "
                f"of {least} is required."
            )
    return Chunks(array, parts, n_features, working_dtype(array.dtype), stats)


def as_array(X: Any, *, estimator: Any = None, reset: bool = True) -> Any:
    """Return a Dask array or frame as an array of which each chunk has whole rows."""
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
        _check_feature_names(estimator, meta, reset=reset)
        _check_n_features(estimator, X, reset=reset)
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _numbers(frame: Any) -> Any:
    """Return a frame of numbers as arrays know them; refuse other columns."""
    from pandas.api.types import is_numeric_dtype

    kinds = dict(frame._meta.dtypes) if frame.ndim == 2 else {}
    if other := [name for name, kind in kinds.items() if not is_numeric_dtype(kind)]:
        raise ValueError(
            f"X must hold numbers, but column {other[0]!r} does not; leave it out, or encode it as "
            "numbers."
        )
    # Flags beside numbers, nullable numbers and those of Arrow would become objects.
    are_numeric = all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in kinds.values())
    return frame if are_numeric else frame.astype(float)


def check_column(values: Any, chunks: Chunks, name: str) -> Column | None:
    """Return a number for each row as a column of the same chunks, all finite."""
    if values is None:
        return None
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

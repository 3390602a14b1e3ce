"""Columns of a table: from a polars frame or from an array, in memory or in chunks."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.cli.readers.files import TableError, quoted
from modeclust.cli.readers.number_texts import has_thousands
from modeclust.data.machine import exceeds_share
from modeclust.data.reading import is_dask, is_sparse
from modeclust.preparation.values import MISSING_VALUES

MAX_COLUMNS = 2**22  # every column has a name in memory
CHUNK_BYTES = 2**26


@dataclass
class FrameColumns:
    """The columns of a polars frame."""

    frame: Any
    notices: Sequence[str] = ()
    unnamed: Sequence[str] = ()
    is_named: bool = True
    decimal_comma: bool | None = None  # None if the frame does not come from a text file

    def __post_init__(self) -> None:
        self.names: list[str] = self.frame.columns
        self.features = [name for name in self.names if name not in self.unnamed]

    def matrix(self, names: Sequence[str], advice: str) -> npt.NDArray[Any]:
        """Return columns as an array of float32 or float64, with NaN for missing values."""
        import polars as pl

        columns = [_to_numbers(self.frame[name], advice, self.decimal_comma) for name in names]
        dtypes = {column.dtype for column in columns}
        dtype = pl.Float32 if dtypes == {pl.Float32} else pl.Float64
        frame = pl.DataFrame([column.cast(dtype) for column in columns])
        return np.array(frame.to_numpy(), order="C")

    def with_decimal_commas(self) -> Any:
        """Return the frame; text that is numbers with decimal commas is read, if asked for."""
        import polars as pl

        frame = self.frame
        for name in frame.columns if self.decimal_comma else ():
            if frame[name].dtype == pl.String and frame[name].str.contains("[.,]").any():
                with suppress(TableError):
                    frame = frame.with_columns(_to_numbers(frame[name], "", decimal_comma=True))
        return frame

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a numeric column unchanged and any other as text, with None for missing values."""
        series = self.frame[name]
        has_missing = series.null_count() > 0
        if is_numeric(series.dtype) and not has_missing:
            return np.asarray(series.to_numpy())
        texts = [None if value is None else str(value) for value in _to_list(series)]
        return np.array(texts, dtype=object if has_missing else str)


class ArrayColumns:
    """The columns of a two-dimensional array, and other arrays with one value per row."""

    notices: Sequence[str] = ()
    is_named = False

    def __init__(self, X: Any, others: dict[str, Any]):
        self.features = name_features(X, others)
        self.names = [*self.features, *others]
        if X.ndim == 1:
            X = X[:, np.newaxis]
        if is_sparse(X):
            # A small sparse file can declare a huge number of rows.
            if exceeds_share(8 * X.shape[0]):
                raise TableError(f"{X.shape[0]} rows do not fit in memory")
            X = sparse.csr_array(X)
        self._X = X.astype(np.float64) if X.dtype.kind == "b" else X
        self._others = others

    def matrix(self, names: Sequence[str], advice: str) -> Any:
        """Return columns as an array of numbers."""
        if list(names) == self.features:
            return self._X
        if others := [name for name in names if name in self._others]:
            array = self._others[others[0]]
            if array.dtype.kind not in "biuf":
                raise TableError(
                    f"Array {others[0]!r} contains {array.dtype} instead of numbers; {advice}"
                )
            if len(names) > 1:
                raise TableError(f"Array {others[0]!r} is not a column of the table; {advice}")
            array = array.astype(np.float64) if array.dtype.kind == "b" else array
            return array[:, np.newaxis]
        indices = {name: j for j, name in enumerate(self.features)}
        return self._X[:, [indices[name] for name in names]]

    def column(self, name: str) -> Any:
        """Return a column unchanged."""
        if name in self._others:
            return self._others[name]
        values = self.matrix([name], "")
        return (values.toarray() if is_sparse(values) else values)[:, 0]


def name_features(X: Any, others: dict[str, Any]) -> list[str]:
    """Check the shape and type of an array, and return the names x0, x1, ... of its columns."""
    if X.ndim not in (1, 2) or X.dtype.kind not in "biuf":
        raise TableError(
            f"expected a two-dimensional array of numbers, got {X.dtype} with {X.ndim} dimensions"
        )
    n_features = X.shape[1] if X.ndim == 2 else 1
    if n_features > MAX_COLUMNS:
        raise TableError(f"expected at most {MAX_COLUMNS} columns, got {n_features}")
    names = [f"x{j}" for j in range(n_features)]
    if clash := others.keys() & set(names):
        raise TableError(
            f"array {min(clash)!r} has the same name as a column of the table; rename it"
        )
    return names


def chunk_length(n_columns: int) -> int:
    """Return the number of rows in a chunk of data that is streamed."""
    return max(1, CHUNK_BYTES // (8 * n_columns))


def is_numeric(dtype: Any) -> bool:
    """Return whether a polars type is a type of numbers or booleans."""
    import polars as pl

    return bool(dtype.is_numeric() or dtype == pl.Boolean)


def iterate_blocks(*arrays: Any) -> Iterator[tuple[Any, ...]]:
    """Yield arrays whole, or chunk by chunk if the first one is a Dask array.

    An array may be None. At most one chunk per thread is in memory.
    """
    first_array = arrays[0]
    if not is_dask(first_array):
        yield arrays
        return
    import dask

    n_threads = dask.config.get("num_workers", None) or os.cpu_count() or 1
    n_chunks = first_array.numblocks[0]
    for start in range(0, n_chunks, n_threads):
        indices = range(start, min(start + n_threads, n_chunks))
        yield from dask.compute(
            *([None if array is None else array.blocks[i] for array in arrays] for i in indices)
        )


def _to_list(column: Any) -> list[Any]:
    """Return a polars column as a list; dates that Python does not have are an error."""
    try:
        values: list[Any] = column.to_list()
    except (OverflowError, ValueError) as error:
        raise TableError(f"Column {quoted(column.name)} cannot be read: {error}") from None
    return values


def _to_numbers(column: Any, advice: str, decimal_comma: bool | None) -> Any:
    """Return a polars column as numbers, or raise an error that shows a value that is not one."""
    import polars as pl

    if is_numeric(column.dtype) or column.dtype == pl.Null:
        return column if column.dtype.is_float() else column.cast(pl.Float64)
    if column.dtype == pl.String:
        if decimal_comma:
            if has_thousands(column):
                column = column.str.replace_all(".", "", literal=True)
            column = column.str.replace_all(",", ".", literal=True)
        text = column.str.strip_chars()
        text = text.filter(~text.str.to_lowercase().is_in(MISSING_VALUES).fill_null(value=True))
        numbers = text.cast(pl.Float64, strict=False)
        if decimal_comma is False and has_thousands(column):  # kept as text by `keep_texts`
            raise TableError(
                f"Column {quoted(column.name)} has dots that may separate thousands; pass "
                "--decimal-comma if they do, and --no-decimal-comma if they are decimal points."
            )
        if numbers.null_count() == 0:
            return column.str.strip_chars().cast(pl.Float64, strict=False)
        example = text.filter(numbers.is_null())[0]
        if decimal_comma is False and re.fullmatch(r"[+-]?\d*,\d+", example):
            advice = f"pass --decimal-comma if it is a number; otherwise {advice}"
    else:
        (example,) = _to_list(column.drop_nulls().head(1)) or (None,)
    kind = "text" if column.dtype == pl.String else str(column.dtype)
    raise TableError(
        f"Column {quoted(column.name)} contains {kind}, e.g. {str(example)[:40]!r}, instead of "
        f"numbers; {advice}"
    )

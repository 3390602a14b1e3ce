"""Columns of a table: of a polars frame, or of an array, in memory or in chunks."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.data.machine import exceeds_share
from modeclust.data.reading import is_dask, is_sparse

# What people write for a value that is not there.
MISSING = ("", "?", "na", "n/a", "nan", "none", "null")
MOST_LISTED = 10
LONGEST_NAME = 60
MOST_COLUMNS = 2**24  # each has a name


class TableError(ValueError):
    """A file of data cannot be used; the message says why and what to do."""


class FileError(TableError):
    """A `TableError` that names its file."""


def quoted(name: str) -> str:
    """Return a name in quotes, of which a long one is cut."""
    return repr(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}...")


def listed(names: Any) -> str:
    """Return names, quoted, of which a long list is cut."""
    names = list(names)
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(quoted(name) for name in names[:MOST_LISTED]) + more


class FrameColumns:
    """The columns of a polars frame."""

    def __init__(
        self,
        frame: Any,
        notices: Sequence[str] = (),
        unnamed: Sequence[str] = (),
        *,
        is_named: bool = True,
        decimal_comma: bool | None = None,  # None for what is no text
    ):
        self.names: list[str] = frame.columns
        self.features = [name for name in self.names if name not in unnamed]
        self.notices = notices
        self.is_named = is_named
        self._frame = frame
        self._decimal_comma = decimal_comma

    def matrix(self, names: Sequence[str], advice: str) -> npt.NDArray[Any]:
        """Return columns of numbers as float32 or float64; what is missing is NaN."""
        import polars as pl

        columns = [_numbers(self._frame[name], advice, self._decimal_comma) for name in names]
        dtypes = {column.dtype for column in columns}
        kind = pl.Float32 if dtypes == {pl.Float32} else pl.Float64
        frame = pl.DataFrame([column.cast(kind) for column in columns])
        return np.array(frame.to_numpy(), order="C")

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers as it is, any other as text; None is for what is missing."""
        series = self._frame[name]
        has_gaps = series.null_count() > 0
        if is_plain(series.dtype) and not has_gaps:
            return np.asarray(series.to_numpy())
        texts = [None if value is None else str(value) for value in series.to_list()]
        return np.array(texts, dtype=object if has_gaps else str)


class ArrayColumns:
    """The columns of an array, and arrays of one dimension beside it."""

    notices: Sequence[str] = ()
    is_named = False

    def __init__(self, X: Any, beside: dict[str, Any]):
        if X.ndim == 1:
            X = X[:, np.newaxis]
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise TableError(f"expected numbers in two dimensions, got {X.dtype} in {X.ndim}")
        if X.shape[1] > MOST_COLUMNS:
            raise TableError(f"expected up to {MOST_COLUMNS} columns, got {X.shape[1]}")
        if is_sparse(X):
            if exceeds_share(8 * X.shape[0]):  # a few numbers may be said to be in very many rows
                raise TableError(f"{X.shape[0]} rows are too many for memory")
            X = sparse.csr_array(X)
        self.features = [f"x{j}" for j in range(X.shape[1])]
        if clash := beside.keys() & set(self.features):
            raise TableError(
                f"array {min(clash)!r} has the name that a column of the table has; give it another"
            )
        self._beside = beside
        self.names = [*self.features, *beside]
        self._X = X.astype(np.float64) if X.dtype.kind == "b" else X

    def matrix(self, names: Sequence[str], advice: str) -> Any:
        """Return columns of numbers."""
        if list(names) == self.features:
            return self._X
        if beside := [name for name in names if name in self._beside]:
            array = self._beside[beside[0]]
            if array.dtype.kind not in "biuf":
                raise TableError(f"Array {beside[0]!r} holds {array.dtype}, not numbers; {advice}")
            if len(names) > 1:
                raise TableError(f"Array {beside[0]!r} is no column of the table; {advice}")
            array = array.astype(np.float64) if array.dtype.kind == "b" else array
            return array[:, np.newaxis]
        place = {name: j for j, name in enumerate(self.features)}
        return self._X[:, [place[name] for name in names]]

    def column(self, name: str) -> Any:
        """Return a column as it is."""
        if name in self._beside:
            return self._beside[name]
        values = self.matrix([name], "")
        return (values.toarray() if is_sparse(values) else values)[:, 0]


def is_plain(dtype: Any) -> bool:
    """Return whether numpy knows what a polars column holds."""
    import polars as pl

    return bool(dtype.is_numeric() or dtype == pl.Boolean)


def in_blocks(X: Any, *beside: Any) -> Iterator[tuple[Any, ...]]:
    """Yield rows and what is beside them: as they are, or chunk after chunk where they stream.

    As many chunks are in memory as there are threads.
    """
    if not is_dask(X):
        yield (X, *beside)
        return
    import dask

    together = dask.config.get("num_workers", None) or os.cpu_count() or 1
    for first in range(0, X.numblocks[0], together):
        numbers = range(first, min(first + together, X.numblocks[0]))
        yield from dask.compute(
            *([None if a is None else a.blocks[n] for a in (X, *beside)] for n in numbers)
        )


def _numbers(column: Any, advice: str, decimal_comma: bool | None) -> Any:
    """Return a polars column as numbers, or say that it holds something else and what to do."""
    import polars as pl

    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column if column.dtype.is_float() else column.cast(pl.Float64)
    if column.dtype == pl.String:
        if decimal_comma:
            column = column.str.replace_all(",", ".", literal=True)
        text = column.str.strip_chars()
        text = text.filter(~text.str.to_lowercase().is_in(MISSING).fill_null(value=True))
        numbers = text.cast(pl.Float64, strict=False)
        if numbers.null_count() == 0:
            return column.str.strip_chars().cast(pl.Float64, strict=False)
        example = text.filter(numbers.is_null())[0]
        if decimal_comma is False and re.fullmatch(r"[+-]?\d*,\d+", example):
            advice = f"if it is a number, pass --decimal-comma; else {advice}"
    else:
        example = column.drop_nulls().first()
    kind = "text" if column.dtype == pl.String else str(column.dtype)
    raise TableError(
        f"Column {quoted(column.name)} holds {kind}, e.g. {str(example)[:40]!r}, and not numbers; "
        f"{advice}"
    )

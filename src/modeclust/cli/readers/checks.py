"""Checks of the values of the columns."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modeclust.cli.readers.columns import iterate_blocks
from modeclust.cli.readers.files import TableError, quoted, reading
from modeclust.data.reading import is_dask, is_sparse
from modeclust.io.atomic import StrPath

BLOCK_VALUES = 2**22


def check_finite(
    X: Any, names: Sequence[str], path: StrPath, advice: str, *, allow_negative: bool = True
) -> None:
    """Raise an error that names the column and row of the first invalid value, if there is one."""
    step = max(1, BLOCK_VALUES // len(names))
    counts = np.zeros(len(names), dtype=np.int64)
    first: tuple[int, int] | None = None
    n_rows = 0
    for chunk in _read_blocks(X, path):
        for start in range(0, chunk.shape[0], step):
            rows, columns = _find_invalid(chunk[start : start + step], allow_negative)
            np.add.at(counts, columns, 1)
            if first is None and len(rows):
                first = n_rows + start + int(rows[0]), int(columns[0])
        n_rows += chunk.shape[0]
    if first is None:
        return
    row, column = first
    kind = "missing or infinite" if allow_negative else "missing, infinite or negative"
    fix = "fill" if allow_negative else "correct"
    raise TableError(
        _invalid_values(names[column], path, kind, int(counts[column]), row, fix) + advice
    )


def _find_invalid(block: Any, allow_negative: bool) -> Any:
    """Return the rows and columns of values that are missing, infinite, or negative."""
    block = block.tocoo() if is_sparse(block) else block
    values = block.data if is_sparse(block) else block
    invalid = ~np.isfinite(values)
    if not allow_negative:
        invalid |= values < 0
    return (block.row[invalid], block.col[invalid]) if is_sparse(block) else np.nonzero(invalid)


def check_complete(values: Any, name: str, path: StrPath, option: str) -> None:
    """Raise an error that names the first row with a missing value, if there is one."""
    n_missing, first, n_rows = 0, 0, 0
    for block in _read_blocks(values, path):
        is_missing = _is_missing(block)
        if n_missing == 0:
            first = n_rows + int(is_missing.argmax())
        n_missing += int(is_missing.sum())
        n_rows += len(block)
    if n_missing:
        raise TableError(
            _invalid_values(name, path, "missing", n_missing, first, "fill")
            + f"choose another {option}."
        )


def _invalid_values(name: str, path: StrPath, kind: str, count: int, row: int, fix: str) -> str:
    """Return the start of a message about invalid values in a column."""
    values, them, rows = ("value", "it", "row") if count == 1 else ("values", "them", "rows")
    fix = f"fill {them} in" if fix == "fill" else f"{fix} {them}"
    return (
        f"Column {quoted(name)} of {os.fspath(path)!r} has {count} {kind} {values}, first in row "
        f"{row + 1} (counted from 1); {fix}, remove the {rows}, or "
    )


def _is_missing(values: Any) -> Any:
    if values.dtype.kind in "fmM":
        return np.isnan(values)
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def to_classes(values: Any, name: str, path: StrPath) -> Any:
    """Return a column of labels as classes: text or integers, none missing."""
    check_complete(values, name, path, "--label-column")
    if values.dtype.kind == "f":
        for block in _read_blocks(values, path):
            fractions = block[~np.isfinite(block) | (block != np.round(block))]
            if len(fractions):
                raise TableError(
                    f"Column {quoted(name)} of {os.fspath(path)!r} contains numbers that are not "
                    f"integers, e.g. {fractions[0]}, and so are not classes; bin them first, or "
                    "choose another --label-column."
                )
        return values.astype(np.int64)
    if values.dtype.kind not in "biuSUmM" and not is_dask(values):
        raise TableError(
            f"Array {quoted(name)} must contain classes as integers or text, got {values.dtype}; "
            "choose another --label-column."
        )
    return values


def _read_blocks(X: Any, path: StrPath) -> Iterator[Any]:
    """Yield the blocks of an array; errors name the file."""
    with reading(path):
        for (block,) in iterate_blocks(X):
            yield block

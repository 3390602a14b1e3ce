"""Files of data: reading rows with names for their columns, and writing labels."""

import difflib
import gzip
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.files import shown, written
from modeclust.formats import WRITERS, Columns, TableError, ending_of, listed, open_columns
from modeclust.rows.reading import is_sparse

BLOCK_NUMBERS = 2**22
TO_CLUSTER = "leave it out with --columns, or name it with --label-column."
TO_WEIGH = "weights are numbers >= 0; name another column with --weight-column."


class Table(NamedTuple):
    """Rows of numbers, with what else is known of them."""

    X: Any  # (N, D), dense or CSR
    columns: list[str]  # names of the D features
    labels: npt.NDArray[Any] | None = None  # (N,) the classes, where there is a column of them
    weight: npt.NDArray[np.float64] | None = None  # (N,)
    image_shape: tuple[int, int] | None = None
    title: str = ""
    notices: tuple[str, ...] = ()  # what the user should know of how it was read


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
    weight_column: str | None = None,
) -> Table:
    """Read a file, in the format that its ending says.

    Parameters
    ----------
    path : str or path-like
        A csv, tsv, parquet, feather, npy, npz or mtx file. Columns of arrays are named x0, x1, ...
    columns : sequence of str, optional
        The columns to use, in this order. By default all but those of labels and weights.
    label_column : str, optional
        The column of classes.
    weight_column : str, optional
        The column of sample weights.

    Returns
    -------
    Table
        The rows, all numbers finite.
    """
    check_distinct(columns or (), label_column, weight_column)
    source = open_columns(Path(path))
    asked = [*(columns or ()), label_column, weight_column]
    check_present([name for name in asked if name is not None], source.names, path)
    if columns is None:
        columns = [name for name in source.features if name not in (label_column, weight_column)]
    if not columns:
        raise TableError(f"{os.fspath(path)!r} has no column left to cluster by.")
    X = source.matrix(columns, TO_CLUSTER)
    if X.shape[0] == 0:
        raise TableError(f"{os.fspath(path)!r} has no rows.")
    _check_finite(X, columns, path, "choose other columns with --columns.")
    labels = weight = None
    if label_column is not None:
        labels = _classes(source.column(label_column), label_column)
    if weight_column is not None:
        weight = source.matrix([weight_column], TO_WEIGH)
        _check_finite(weight, [weight_column], path, "choose another --weight-column.")
        weight = (weight.toarray() if is_sparse(weight) else np.asarray(weight))[:, 0]
    title = shown(Path(path).name)
    return Table(X, list(columns), labels, weight, title=title, notices=tuple(source.notices))


def write_labels(path: str | os.PathLike[str], labels: npt.NDArray[np.integer[Any]]) -> None:
    """Write labels as one column `label`, in the format that the ending says."""
    write_columns(path, {"label": labels})


def write_columns(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write columns of one length, in the format that the ending says."""
    ending = ending_of(path)
    with written(path) as file:
        if ending.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
                WRITERS[ending](packed, columns)  # type: ignore[arg-type]
        else:
            WRITERS[ending](file, columns)


def _classes(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return labels as classes: whole numbers as such, other fractions as text."""
    if values.dtype.kind not in "biufSUmM":
        raise TableError(
            f"Array {name!r} must hold classes as numbers or text, got {values.dtype}; name "
            "another one with --label-column."
        )
    if values.dtype.kind != "f":
        return values
    whole = np.isfinite(values).all() and (values == np.round(values)).all()
    return values.astype(np.int64 if whole else str)


def check_distinct(columns: Sequence[str], *others: str | None) -> None:
    """Refuse a feature that is named twice, or that is used as label or weight as well."""
    if twice := [name for name, times in Counter(columns).items() if times > 1]:
        raise TableError(f"--columns must name a column once, got {listed(twice)} more than once.")
    if both := [name for name in columns if name in others]:
        raise TableError(
            f"Column {listed(both)} cannot be a feature and a label or weight at once; leave it "
            "out of --columns."
        )


def check_present(asked: Sequence[str], names: Sequence[str], path: Any) -> None:
    """Refuse names of columns that are not there, and suggest those that are."""
    known = set(names)
    missing = [name for name in asked if name not in known]
    if not missing:
        return
    near = [match for name in missing for match in difflib.get_close_matches(name, names, 1)]
    hint = f"did you mean {listed(near)}?" if near else f"it has {listed(names)}."
    raise TableError(f"{os.fspath(path)!r} has no column {listed(missing)}; {hint}")


def _check_finite(X: Any, names: Sequence[str], path: Any, advice: str) -> None:
    """Refuse what is missing or infinite, naming the first column and row of it."""
    step = max(1, BLOCK_NUMBERS // len(names))
    bad = np.zeros(len(names), dtype=np.int64)
    first: tuple[int, int] | None = None
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        if is_sparse(block):
            block = block.tocoo()
            wrong = ~np.isfinite(block.data)
            rows, columns = block.row[wrong], block.col[wrong]
        else:
            rows, columns = np.nonzero(~np.isfinite(block))
        np.add.at(bad, columns, 1)
        if first is None and len(rows):
            first = start + int(rows[0]), int(columns[0])
    if first is not None:
        row, column = first
        values = "value" if bad[column] == 1 else "values"
        raise TableError(
            f"Column {names[column]!r} of {os.fspath(path)!r} has {bad[column]} missing or "
            f"infinite {values}, first in row {row + 1} (from 1); fill them in, leave out "
            f"such rows, or {advice}"
        )

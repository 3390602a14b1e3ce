"""Files of data: reading rows with names for their columns, and writing labels."""

import difflib
import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.columns import TableError, in_blocks, listed
from modeclust.files import shown, written
from modeclust.formats import (
    AS_SEEN,
    STREAMERS,
    WRITERS,
    Columns,
    TextFormat,
    ending_of,
    open_columns,
)
from modeclust.machine import SHARE_TO_READ, exceeds_share, memory
from modeclust.rows.chunks import is_dask
from modeclust.rows.reading import is_sparse
from modeclust.streams import readable

BLOCK_NUMBERS = 2**22
MOST_COMPARED = 10_000
TO_CLUSTER = "leave it out with --exclude, or name it with --label-column."
TO_WEIGH = "weights are numbers >= 0; name another column with --weight-column."


class Table(NamedTuple):
    """Rows of numbers, with what else is known of them."""

    X: Any  # (N, D), dense or CSR; a Dask array where it streams, as labels and weight then are
    columns: list[str]  # names of the D features
    labels: Any = None  # (N,) the classes, where there is a column of them
    weight: Any = None  # (N,)
    image_shape: tuple[int, int] | None = None
    title: str = ""
    notices: tuple[str, ...] = ()  # what the user should know of how it was read
    is_named: bool = True  # whether the file has the names of columns


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
    weight_column: str | None = None,
    *,
    exclude: Sequence[str] = (),
    stream: bool | None = None,
    text: TextFormat = AS_SEEN,
    note: Callable[[str], None] = lambda told: None,
) -> Table:
    """Read a file, in the format that its ending says.

    Parameters
    ----------
    path : str or path-like
        A csv, tsv, parquet, feather, npy, npz, mtx, zarr or hdf5 file, or a folder of Parquet
        files. Columns of arrays are named x0, x1, ...; ``big.h5/images`` is the array "images".
    columns : sequence of str, optional
        The columns to use, in this order. By default all that have no other use.
    label_column : str, optional
        The column of classes.
    weight_column : str, optional
        The column of sample weights.
    exclude : sequence of str, optional
        The columns to leave out.
    stream : bool, optional
        Whether to open the data as Dask arrays, and not to read it. By default where its numbers
        take more than a quarter of memory, and the format allows it.
    text : TextFormat, optional
        What is known of a text file, such as whether its first line names the columns.
    note : callable, optional
        Takes sentences that say how it is read.

    Returns
    -------
    Table
        The rows, all numbers finite.
    """
    check_distinct(columns or (), label_column, weight_column, exclude=exclude)
    source = open_columns(Path(path), text)
    for notice in source.notices:  # at once: what follows may take long, or fail for that reason
        note(notice)
    is_named = source.is_named
    beside = [name for name in (label_column, weight_column) if name is not None]
    check_present([*(columns or ()), *beside, *exclude], source.names, path)
    columns = chosen_columns(columns, source.features, [*beside, *exclude], path)
    source = _opened(source, columns, beside, path, stream, note)
    X = source.matrix(columns, TO_CLUSTER)
    if X.shape[0] == 0:
        raise TableError(f"{os.fspath(path)!r} has no rows.")
    _check_finite(X, columns, path, "leave out the column with --exclude.")
    labels = weight = None
    if label_column is not None:
        with readable(Path(path), ending_of(path)):
            labels = source.column(label_column)
        labels = _classes(labels, label_column, path)
    if weight_column is not None:
        weight = source.matrix([weight_column], TO_WEIGH)
        advice = "choose another --weight-column."
        _check_finite(weight, [weight_column], path, advice, not_negative=True)
        weight = (weight.toarray() if is_sparse(weight) else weight)[:, 0]
        weight = weight if is_dask(weight) else np.asarray(weight)
    title = shown(Path(path).name)
    return Table(
        X,
        columns,
        labels,
        weight,
        title=title,
        notices=tuple(source.notices),
        is_named=is_named,
    )


def _opened(
    source: Any,
    columns: Sequence[str],
    beside: Sequence[str],
    path: str | os.PathLike[str],
    stream: bool | None,
    note: Callable[[str], None],
) -> Any:
    """Return a source whose columns are read, or in chunks where they are too many."""
    if not hasattr(source, "in_chunks"):
        if stream:
            raise TableError(
                f"{os.fspath(path)!r} can only be read whole; convert it to Parquet, or leave out "
                "--stream."
            )
        return source
    size = source.n_bytes(columns)
    if stream is None:
        stream = exceeds_share(size) and not (source.is_mapped and find_spec("dask") is None)
    with readable(Path(path), ending_of(path)):
        if not stream:
            return source.read([*columns, *beside])
        note(
            f"{shown(Path(path).name)} is streamed and not read at once: {_size(size)} of "
            f"numbers, where up to {SHARE_TO_READ:.0%} of {_size(memory())} of memory are "
            "read by default."
        )
        return source.in_chunks([*columns, *beside])


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.3g} MB"


def write_labels(path: str | os.PathLike[str], labels: Any, n_clusters: int = 0) -> list[int]:
    """Write labels as one column `label`, in the format that the ending says.

    Those of a Dask array are computed as they are written. Returns how many there are of each.
    """
    streamer = STREAMERS.get(ending_of(path, to_write=True))
    if streamer is None or not is_dask(labels):
        labels = np.asarray(labels)
        write_columns(path, {"label": labels})
        return list(np.bincount(labels, minlength=n_clusters).tolist())
    counts = np.zeros(n_clusters, dtype=np.int64)

    def parts() -> Iterator[npt.NDArray[np.int32]]:
        for (part,) in in_blocks(labels):
            np.add(counts, np.bincount(part, minlength=n_clusters), out=counts)
            yield part

    with _packed(path) as file:
        streamer(file, "label", parts(), len(labels))
    return list(counts.tolist())


def write_columns(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write columns of one length, in the format that the ending says."""
    writer = WRITERS[ending_of(path, to_write=True)]
    with _packed(path) as file:
        writer(file, columns)


@contextmanager
def _packed(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write that appears when it is complete, compressed if its name says so."""
    with written(path) as file:
        if ending_of(path, to_write=True).endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file


def _classes(values: Any, name: str, path: Any) -> Any:
    """Return labels as classes, text or whole numbers, one for each row, as displays need them."""
    n_missing, first, n_before = 0, 0, 0
    for block in _read_blocks(values, path):
        missing = _is_missing(block)
        if n_missing == 0:
            first = n_before + int(missing.argmax())
        n_missing += int(missing.sum())
        n_before += len(block)
        others = block[~missing & _is_no_class(block)]
        if len(others):
            raise TableError(
                f"Column {name!r} of {os.fspath(path)!r} holds numbers that are not whole, e.g. "
                f"{others[0]}, and not classes; group them first, or choose another "
                "--label-column."
            )
    if n_missing:
        them, classes = ("it", "class") if n_missing == 1 else ("them", "classes")
        raise TableError(
            f"Column {name!r} of {os.fspath(path)!r} has {n_missing} missing {classes}, first in "
            f"row {first + 1} (from 1); give {them} a class of its own, leave out such rows, or "
            "choose another --label-column."
        )
    if values.dtype.kind not in "biufSUmM" and not is_dask(values):
        raise TableError(
            f"Array {name!r} must hold classes as numbers or text, got {values.dtype}; name "
            "another one with --label-column."
        )
    return values.astype(np.int64) if values.dtype.kind == "f" else values


def _is_missing(values: Any) -> Any:
    """Return which values of a column are not there."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _is_no_class(values: Any) -> Any:
    """Return which values of a column are infinite, or between whole numbers."""
    if values.dtype.kind == "f":
        return np.isinf(values) | (values != np.round(values))
    return np.zeros(len(values), dtype=bool)


def chosen_columns(
    columns: Sequence[str] | None, features: Sequence[str], others: Sequence[str], path: Any
) -> list[str]:
    """Return the columns to cluster by: those asked for, or else all but others."""
    chosen = [name for name in features if name not in others] if columns is None else columns
    if not chosen:
        raise TableError(f"{os.fspath(path)!r} has no column left to cluster by.")
    return list(chosen)


def check_distinct(
    columns: Sequence[str], *others: str | None, exclude: Sequence[str] = ()
) -> None:
    """Refuse a column that is named twice, or has two uses."""
    if twice := [name for name, times in Counter(columns).items() if times > 1]:
        raise TableError(f"--columns must name a column once, got {listed(twice)} more than once.")
    if both := [name for name in columns if name in others]:
        raise TableError(
            f"Column {listed(both)} cannot be a feature and a label or weight at once; leave it "
            "out of --columns."
        )
    if both := [name for name in exclude if name in columns or name in others]:
        raise TableError(
            f"Column {listed(both)} cannot be used and left out at once; leave it out of --exclude."
        )


def check_present(asked: Sequence[str], names: Sequence[str], path: Any) -> None:
    """Refuse names of columns that are not there, and suggest those that are."""
    known = set(names)
    missing = [name for name in asked if name not in known]
    if not missing:
        return
    compared = names if len(names) <= MOST_COMPARED else ()  # of very many it takes minutes
    near = [match for name in missing for match in difflib.get_close_matches(name, compared, 1)]
    hint = f"did you mean {listed(near)}?" if near else f"it has {listed(names)}."
    raise TableError(f"{os.fspath(path)!r} has no column {listed(missing)}; {hint}")


def _check_finite(
    X: Any, names: Sequence[str], path: Any, advice: str, *, not_negative: bool = False
) -> None:
    """Refuse what is missing, infinite or as asked negative, naming its first column and row."""
    step = max(1, BLOCK_NUMBERS // len(names))
    bad = np.zeros(len(names), dtype=np.int64)
    first: tuple[int, int] | None = None
    n_before = 0
    for chunk in _read_blocks(X, path):
        for start in range(0, chunk.shape[0], step):
            rows, columns = _wrong(chunk[start : start + step], not_negative=not_negative)
            np.add.at(bad, columns, 1)
            if first is None and len(rows):
                first = n_before + start + int(rows[0]), int(columns[0])
        n_before += chunk.shape[0]
    if first is not None:
        row, column = first
        is_one = bad[column] == 1
        values, it, rows = ("value", "it", "row") if is_one else ("values", "them", "rows")
        wrong, mend = "missing or infinite", f"fill {it} in"
        if not_negative:
            wrong, mend = "missing, infinite or negative", f"correct {it}"
        raise TableError(
            f"Column {names[column]!r} of {os.fspath(path)!r} has {bad[column]} {wrong} "
            f"{values}, first in row {row + 1} (from 1); {mend}, leave out the {rows}, or {advice}"
        )


def _read_blocks(X: Any, path: Any) -> Iterator[Any]:
    """Yield rows as `in_blocks` does; where they cannot be read, that is told of the file."""
    with readable(Path(path), ending_of(path)):
        for (block,) in in_blocks(X):
            yield block


def _wrong(block: Any, *, not_negative: bool) -> Any:
    """Return the rows and columns of what is missing, infinite or as asked negative."""
    block = block.tocoo() if is_sparse(block) else block
    values = block.data if is_sparse(block) else block
    wrong = ~np.isfinite(values)
    if not_negative:
        wrong |= values < 0
    return (block.row[wrong], block.col[wrong]) if is_sparse(block) else np.nonzero(wrong)

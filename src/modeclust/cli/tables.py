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

from modeclust.cli.columns import TableError, in_blocks, listed, quoted
from modeclust.cli.formats import (
    AS_SEEN,
    STREAMERS,
    TABLES,
    WRITERS,
    Columns,
    TextFormat,
    ending_of,
    open_columns,
)
from modeclust.cli.streams import readable
from modeclust.data.machine import SHARE_TO_READ, exceeds_share, memory
from modeclust.data.reading import is_dask, is_sparse
from modeclust.io.atomic import shown, written
from modeclust.io.frames import unused_column

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
    ids: "Columns | None" = None  # what tells rows apart, by the name of its column
    image_shape: tuple[int, int] | None = None
    title: str = ""
    notices: tuple[str, ...] = ()  # what the user should know of how it was read
    is_named: bool = True  # whether the file has the names of columns


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
    weight_column: str | None = None,
    id_column: str | None = None,
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
    id_column : str, optional
        The column that tells rows apart, to be written beside labels.
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
    check_distinct(columns or (), label_column, weight_column, id_column, exclude=exclude)
    source = open_columns(Path(path), text)
    for notice in source.notices:  # at once: what follows may take long, or fail for that reason
        note(notice)
    is_named = source.is_named
    uses = (label_column, weight_column, id_column)
    beside = [name for name in dict.fromkeys(uses) if name is not None]
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
    ids = None
    if id_column is not None:
        with readable(Path(path), ending_of(path)):
            ids = {id_column: source.column(id_column)}
        _check_complete(ids[id_column], id_column, path, "one", "--id-column")
    title = shown(Path(path).name)
    return Table(
        X,
        columns,
        labels,
        weight,
        ids,
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


def check_ids(path: str | os.PathLike[str], id_column: str | None) -> None:
    """Refuse to write ids in a format that has no room for them beside labels."""
    ending = ending_of(path, to_write=True)
    if id_column is not None and ending not in TABLES:
        raise TableError(
            f"--id-column needs labels in a file that ends in one of {', '.join(TABLES)}, got "
            f"{ending}; leave it out, or convert the data."
        )


def write_labels(
    path: str | os.PathLike[str], labels: Any, n_clusters: int = 0, ids: Columns | None = None
) -> list[int]:
    """Write labels as a column `label`, behind that of ids, in the format that the ending says.

    Those of a Dask array are computed as they are written. Returns how many there are of each.
    """
    columns: dict[str, Any] = dict(ids or {})
    name = unused_column("label", columns)
    chunked = next((c.chunks for c in (labels, *columns.values()) if is_dask(c)), None)
    streamer = STREAMERS.get(ending_of(path, to_write=True))
    if streamer is None or chunked is None:
        columns = {n: _as_plain(np.asarray(c)) for n, c in (*columns.items(), (name, labels))}
        write_columns(path, columns)
        return list(np.bincount(columns[name], minlength=n_clusters).tolist())
    if not is_dask(labels):
        import dask.array as da

        labels = da.from_array(labels, chunks=chunked)
    columns[name] = labels
    counts = np.zeros(n_clusters, dtype=np.int64)

    def parts() -> Iterator[Columns]:
        for blocks in in_blocks(*columns.values()):
            part = dict(zip(columns, blocks, strict=True))
            np.add(counts, np.bincount(part[name], minlength=n_clusters), out=counts)
            yield part

    with _packed(path) as file:
        streamer(file, {n: c.dtype for n, c in columns.items()}, parts(), len(labels))
    return list(counts.tolist())


def _as_plain(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return text that is of objects, as in chunks, as that of numpy."""
    return column.astype(str) if column.dtype.kind == "O" else column


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
    _check_complete(values, name, path, "a class", "--label-column")
    for block in _read_blocks(values, path):
        others = block[_is_no_class(block)]
        if len(others):
            raise TableError(
                f"Column {quoted(name)} of {os.fspath(path)!r} holds numbers that are not whole, "
                f"e.g. {others[0]}, and not classes; group them first, or choose another "
                "--label-column."
            )
    if values.dtype.kind not in "biufSUmM" and not is_dask(values):
        raise TableError(
            f"Array {quoted(name)} must hold classes as numbers or text, got {values.dtype}; name "
            "another one with --label-column."
        )
    return values.astype(np.int64) if values.dtype.kind == "f" else values


def _check_complete(values: Any, name: str, path: Any, what: str, option: str) -> None:
    """Refuse a column in which something is missing, naming the first row of it."""
    n_missing, first, n_before = 0, 0, 0
    for block in _read_blocks(values, path):
        missing = _is_missing(block)
        if n_missing == 0:
            first = n_before + int(missing.argmax())
        n_missing += int(missing.sum())
        n_before += len(block)
    if n_missing:
        it, rows, number = ("it", "row", "") if n_missing == 1 else ("them", "rows", "s")
        raise TableError(
            f"Column {quoted(name)} of {os.fspath(path)!r} has {n_missing} missing value{number}, "
            f"first in row {first + 1} (from 1); give {it} {what} of its own, leave out the "
            f"{rows}, or choose another {option}."
        )


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
            f"Column {listed(both)} cannot be a feature and a label, weight or id at once; leave "
            "it out of --columns."
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
            f"Column {quoted(names[column])} of {os.fspath(path)!r} has {bad[column]} {wrong} "
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

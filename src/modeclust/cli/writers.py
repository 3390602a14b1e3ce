"""Writing of labels and other columns, in the format that the ending of the file tells."""

import gzip
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from modeclust.cli.readers.columns import iterate_blocks
from modeclust.cli.readers.files import TableError, find_ending
from modeclust.data.reading import is_dask
from modeclust.io.atomic import StrPath, written
from modeclust.path import unused_column

Columns = dict[str, npt.NDArray[Any]]
# Takes a file, and the columns in parts, of which there is at least one.
Writer = Callable[[BinaryIO, Iterator[Columns]], None]


def check_columns(path: StrPath, **asked: Any) -> None:
    """Raise an error if the format of the labels has no place for other columns.

    `asked` has the options that add columns.
    """
    ending = output_ending(path)
    for name, value in asked.items():
        if value and ending not in MULTI_COLUMN_ENDINGS:
            raise TableError(
                f"--{name.replace('_', '-')} needs labels in a format with several columns "
                f"({', '.join(MULTI_COLUMN_ENDINGS)}), got {ending}; remove the option, or use "
                "another format."
            )


def output_ending(path: StrPath) -> str:
    """Return the ending that tells the format of a file to write."""
    if ending := find_ending(Path(path).name, WRITERS):
        return ending
    raise TableError(f"{os.fspath(path)!r} must end in one of {', '.join(WRITERS)}.")


def write_labels(
    path: StrPath,
    labels: Any,
    n_clusters: int = 0,
    ids: dict[str, Any] | None = None,
    others: dict[str, Any] | None = None,
) -> list[int]:
    """Write a column `label`, after the column of ids if there is one, and before others.

    `ids` has the name of their column. An array of several columns among the others is written as
    columns with a number in their names. Dask arrays are computed while they are written. The
    result is the number of rows in each cluster.
    """
    columns: dict[str, Any] = dict(ids or {})
    name = unused_column("label", columns)
    columns[name] = labels
    for other, values in (others or {}).items():
        columns[unused_column(other, columns)] = values
    rows = next((column.chunks[0] for column in columns.values() if is_dask(column)), None)
    if rows is not None:
        import dask.array as da

        columns = {
            name: column if is_dask(column) else da.from_array(column, (rows, *column.shape[1:]))
            for name, column in columns.items()
        }
    counts: list[npt.NDArray[np.intp]] = []

    def parts() -> Iterator[Columns]:
        for blocks in iterate_blocks(*columns.values()):
            part = dict(zip(columns, blocks, strict=True))
            counts.append(np.bincount(part[name], minlength=n_clusters))
            yield _split_columns(part)

    _write(path, parts())
    return list(np.sum(counts, axis=0).tolist())


def _split_columns(columns: Columns) -> Columns:
    """Return columns in which those of a two-dimensional array have names with a number."""
    split: Columns = {}
    for name, column in columns.items():
        if np.ndim(column) == 1:
            split[name] = column
        else:
            split |= {f"{name}_{k}": values for k, values in enumerate(np.asarray(column).T)}
    return split


def write_columns(path: StrPath, columns: dict[str, Any]) -> None:
    """Write columns of equal length."""
    _write(path, iter([columns]))


def _write(path: StrPath, parts: Iterator[dict[str, Any]]) -> None:
    ending = output_ending(path)
    columns = ({n: _as_text(np.asarray(c)) for n, c in part.items()} for part in parts)
    with ExitStack() as stack:
        file: Any = stack.enter_context(written(path))
        if ending.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        WRITERS[ending](file, columns)


def _as_text(column: npt.NDArray[Any]) -> Any:
    """Return a column of objects, as streamed text is, as text; None stays, for an empty cell."""
    if column.dtype.kind != "O":
        return column
    texts: Any = column.astype(str)
    if (is_missing := column == None).any():  # noqa: E711  of each value
        texts = texts.astype(object)
        texts[is_missing] = None
        return texts.tolist()
    return texts


def _write_frame(
    file: BinaryIO, parts: Iterator[Columns], kind: str = "csv", **options: Any
) -> None:
    import polars as pl
    from polars.io.plugins import register_io_source

    frames = (pl.DataFrame(part) for part in parts)
    first = next(frames)
    source = register_io_source(lambda *_: chain([first], frames), schema=first.schema)
    getattr(source, f"sink_{kind}")(file, **options)


def _join(parts: Iterator[Columns]) -> Columns:
    first, *others = parts
    return {n: np.concatenate([c, *(part[n] for part in others)]) for n, c in first.items()}


def _write_npy(file: BinaryIO, parts: Iterator[Columns]) -> None:
    (column,) = _join(parts).values()
    np.save(file, column, allow_pickle=False)


def _write_npz(file: BinaryIO, parts: Iterator[Columns]) -> None:
    # `np.savez` of older numpy versions takes `allow_pickle=False` as one more array.
    with zipfile.ZipFile(file, "w") as archive:
        for name, column in _join(parts).items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, column, allow_pickle=False)


def _write_mtx(file: BinaryIO, parts: Iterator[Columns]) -> None:
    from scipy.io import mmwrite

    mmwrite(file, np.column_stack(list(_join(parts).values())))


_write_tsv = partial(_write_frame, separator="\t")
_write_ipc = partial(_write_frame, kind="ipc")
WRITERS: dict[str, Writer] = {
    ".csv": _write_frame,
    ".csv.gz": _write_frame,
    ".tsv": _write_tsv,
    ".tsv.gz": _write_tsv,
    ".parquet": partial(_write_frame, kind="parquet"),
    ".feather": _write_ipc,
    ".arrow": _write_ipc,
    ".ipc": _write_ipc,
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".mtx": _write_mtx,
    ".mtx.gz": _write_mtx,
}
SINGLE_COLUMN_ENDINGS = (".npy", ".mtx", ".mtx.gz")
MULTI_COLUMN_ENDINGS = [ending for ending in WRITERS if ending not in SINGLE_COLUMN_ENDINGS]

"""Writing of labels and other columns, in the format that the ending of the file tells."""

import gzip
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from modeclust.cli.readers.columns import iterate_blocks
from modeclust.cli.readers.files import TableError, find_ending
from modeclust.data.reading import is_dask
from modeclust.io.atomic import written
from modeclust.path import unused_column

StrPath = str | os.PathLike[str]
Columns = dict[str, npt.NDArray[Any]]
Writer = Callable[[BinaryIO, Columns], None]
# Takes a file, the type of each column, the parts of the columns, and the number of rows.
StreamWriter = Callable[[BinaryIO, dict[str, np.dtype[Any]], Iterable[Columns], int], None]


def check_id_column(path: StrPath, id_column: str | None) -> None:
    """Raise an error if the format of the labels has no place for ids."""
    ending = output_ending(path)
    if id_column is not None and ending not in MULTI_COLUMN_ENDINGS:
        raise TableError(
            "--id-column needs labels in a format with several columns "
            f"({', '.join(MULTI_COLUMN_ENDINGS)}), got {ending}; remove the option, or convert the "
            "data."
        )


def output_ending(path: StrPath) -> str:
    """Return the ending that tells the format of a file to write."""
    if ending := find_ending(Path(path).name, WRITERS):
        return ending
    raise TableError(f"{os.fspath(path)!r} must end in one of {', '.join(WRITERS)}.")


def write_labels(
    path: StrPath, labels: Any, n_clusters: int = 0, ids: dict[str, Any] | None = None
) -> list[int]:
    """Write a column `label`, after the column of ids if there is one.

    A Dask array is computed while it is written.

    Parameters
    ----------
    path : str or path-like
        File to write.
    labels : array of shape (N,)
        Labels, a numpy or Dask array.
    n_clusters : int, default=0
        Number of clusters.
    ids : dict of {str: array of shape (N,)}, optional
        Row ids, with the name of their column.

    Returns
    -------
    list of int
        Number of rows in each cluster.
    """
    columns: dict[str, Any] = dict(ids or {})
    name = unused_column("label", columns)
    columns[name] = labels
    chunks = next((column.chunks for column in columns.values() if is_dask(column)), None)
    stream_writer = STREAM_WRITERS.get(output_ending(path))
    if stream_writer is None or chunks is None:
        columns = {n: _as_text(np.asarray(column)) for n, column in columns.items()}
        write_columns(path, columns)
        return list(np.bincount(columns[name], minlength=n_clusters).tolist())
    if not is_dask(labels):
        import dask.array as da

        columns[name] = da.from_array(labels, chunks=chunks)
    counts = np.zeros(n_clusters, dtype=np.int64)

    def parts() -> Iterator[Columns]:
        for blocks in iterate_blocks(*columns.values()):
            part = dict(zip(columns, blocks, strict=True))
            np.add(counts, np.bincount(part[name], minlength=n_clusters), out=counts)
            yield part

    with _open_output(path) as file:
        dtypes = {n: column.dtype for n, column in columns.items()}
        stream_writer(file, dtypes, parts(), len(labels))
    return list(counts.tolist())


def write_columns(path: StrPath, columns: Columns) -> None:
    """Write columns of equal length."""
    writer = WRITERS[output_ending(path)]
    with _open_output(path) as file:
        writer(file, columns)


@contextmanager
def _open_output(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file that appears when it is complete, compressed if its name ends in .gz."""
    with written(path) as file:
        if output_ending(path).endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as compressed:
                yield compressed  # type: ignore[misc]
        else:
            yield file


def _as_text(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column of objects, as streamed text is, as text."""
    return column.astype(str) if column.dtype.kind == "O" else column


def _frame_writer(kind: str, **options: Any) -> Writer:
    def write(file: BinaryIO, columns: Columns) -> None:
        import polars as pl

        getattr(pl.DataFrame(columns), f"write_{kind}")(file, **options)

    return write


def _frame_stream_writer(kind: str, **options: Any) -> StreamWriter:
    def write(
        file: BinaryIO, dtypes: dict[str, np.dtype[Any]], parts: Iterable[Columns], n_rows: int
    ) -> None:
        import polars as pl
        from polars.io.plugins import register_io_source

        schema = pl.DataFrame({n: _as_text(np.empty(0, d)) for n, d in dtypes.items()}).schema

        def frames(*_: Any) -> Iterator[Any]:
            for part in parts:
                yield pl.DataFrame({n: _as_text(v) for n, v in part.items()}, schema=schema)

        frame = register_io_source(frames, schema=schema)
        getattr(frame, f"sink_{kind}")(file, **options)

    return write


def _write_npy(file: BinaryIO, columns: Columns) -> None:
    (column,) = columns.values()
    np.save(file, column, allow_pickle=False)


def _stream_npy(
    file: BinaryIO, dtypes: dict[str, np.dtype[Any]], parts: Iterable[Columns], n_rows: int
) -> None:
    header = {"descr": "<i4", "fortran_order": False, "shape": (n_rows,)}
    np.lib.format.write_array_header_1_0(file, header)
    for part in parts:
        (column,) = part.values()
        file.write(column.astype("<i4").tobytes())


def _write_npz(file: BinaryIO, columns: Columns) -> None:
    # `np.savez` of older numpy versions takes `allow_pickle=False` as one more array.
    with zipfile.ZipFile(file, "w") as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(column), allow_pickle=False)


def _write_mtx(file: BinaryIO, columns: Columns) -> None:
    from scipy.io import mmwrite

    mmwrite(file, np.column_stack(list(columns.values())))


# The name of each format in polars, and the options to write it.
FRAME_FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    ".csv": ("csv", {}),
    ".csv.gz": ("csv", {}),
    ".tsv": ("csv", {"separator": "\t"}),
    ".tsv.gz": ("csv", {"separator": "\t"}),
    ".parquet": ("parquet", {}),
    ".feather": ("ipc", {}),
    ".arrow": ("ipc", {}),
    ".ipc": ("ipc", {}),
}
MULTI_COLUMN_ENDINGS = (*FRAME_FORMATS, ".npz")
WRITERS: dict[str, Writer] = {
    **{ending: _frame_writer(kind, **opts) for ending, (kind, opts) in FRAME_FORMATS.items()},
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".mtx": _write_mtx,
    ".mtx.gz": _write_mtx,
}
STREAM_WRITERS: dict[str, StreamWriter] = {
    **{e: _frame_stream_writer(kind, **opts) for e, (kind, opts) in FRAME_FORMATS.items()},
    ".npy": _stream_npy,
}

"""Reading of a data file into a table: features, labels, weights and ids."""

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeclust.cli.readers import array_files
from modeclust.cli.readers.checks import check_complete, check_finite, to_classes
from modeclust.cli.readers.columns import ArrayColumns, FrameColumns
from modeclust.cli.readers.csv_files import CsvFormat, read_csv
from modeclust.cli.readers.files import CSV_ENDINGS, TableError, ending_of, reading, split_container
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.parquet_files import ParquetChunks, ParquetScan, read_ipc, scan_parquet
from modeclust.data.machine import SHARE_TO_READ, exceeds_share, memory
from modeclust.data.reading import is_dask, is_sparse
from modeclust.io.atomic import StrPath, shown

Columns = FrameColumns | ArrayColumns
Scan = array_files.ArrayScan | ParquetScan  # columns that can be loaded or streamed

READERS: dict[str, Callable[[Path], Columns | Scan]] = {
    ".parquet": scan_parquet,
    ".feather": read_ipc,
    ".arrow": read_ipc,
    ".ipc": read_ipc,
    ".npy": array_files.scan_npy,
    ".npz": array_files.read_npz,
    ".mtx": array_files.read_mtx,
    ".mtx.gz": array_files.read_mtx,
    ".zarr": array_files.scan_zarr,
    ".h5": array_files.scan_hdf5,
    ".hdf5": array_files.scan_hdf5,
}
FOLDERS = (".parquet", ".zarr")  # formats that can be folders
# What to do about a feature with text, and one with missing values: if it can be left out or not.
TEXT_ADVICE = {
    True: "exclude it with --exclude, or use it as --id-column or --label-column.",
    False: "correct it, or use a column of numbers.",
}
FINITE_ADVICE = {True: "exclude the column with --exclude.", False: "correct the data."}
ALL_COLUMNS = ReadOptions()
WEIGHT_ADVICE = "weights must be numbers >= 0; choose another --weight-column."


class Table(NamedTuple):
    """Rows of a data file.

    If the file is streamed, `X`, `labels`, `weight` and the ids are Dask arrays. `X` is None if the
    frame is to be prepared.
    """

    X: Any  # (N, D), dense or CSR
    columns: list[str]  # names of the D features
    labels: Any = None  # (N,), classes
    weight: Any = None  # (N,)
    ids: dict[str, Any] | None = None  # name of the id column: (N,)
    image_shape: tuple[int, int] | None = None
    title: str = ""
    notices: tuple[str, ...] = ()  # remarks on how the file was read
    is_named: bool = True  # whether the file has column names
    # All columns that were read, without labels and weights, if it is a table in memory.
    frame: Any = None


def read_table(
    path: StrPath,
    options: ReadOptions = ALL_COLUMNS,
    note: Callable[[str], None] = lambda message: None,
) -> Table:
    """Read a data file in the format that its ending tells, or a folder of Parquet files.

    The columns of arrays are named x0, x1, ...; ``big.h5/images`` is the array "images" in big.h5.
    `note` is called with each remark on how the file is read. All numbers of the table are finite.
    """
    source = open_file(Path(path), options.csv_format)
    for notice in source.notices:  # before anything that may fail or take long
        note(notice)
    columns = options.choose_features(source.names, source.features, path)
    table = _load_or_stream(source, columns, path, options, note)
    frame: Any = table.with_decimal_commas() if isinstance(table, FrameColumns) else None
    is_frame = options.as_frame and frame is not None
    X: Any = None if is_frame else table.matrix(columns, TEXT_ADVICE[options.can_exclude])
    if (frame if X is None else X).shape[0] == 0:
        raise TableError(f"{os.fspath(path)!r} has no rows.")
    if X is not None:
        check_finite(X, columns, path, FINITE_ADVICE[options.can_exclude])
    labels = weight = ids = None
    if (name := options.label_column) is not None:
        with reading(path):
            labels = table.column(name)
        labels = to_classes(labels, name, path)
    if (name := options.weight_column) is not None:
        matrix: Any = table.matrix([name], WEIGHT_ADVICE)
        advice = "choose another --weight-column."
        check_finite(matrix, [name], path, advice, allow_negative=False)
        weight = (matrix.toarray() if is_sparse(matrix) else matrix)[:, 0]
        weight = weight if is_dask(weight) else np.asarray(weight)
    if (name := options.id_column) is not None:
        with reading(path):
            ids = {name: table.column(name)}
        check_complete(ids[name], name, path, "--id-column")
    unused = [options.label_column, options.weight_column, *options.exclude]
    return Table(
        X,
        columns,
        labels,
        weight,
        ids,
        title=shown(Path(path).name),
        notices=tuple(table.notices),
        is_named=source.is_named,
        # Columns of Parquet that were excluded are not read.
        frame=None if frame is None else frame.drop([n for n in unused if n in frame.columns]),
    )


def open_file(path: Path, csv_format: CsvFormat) -> Columns | Scan:
    """Return the columns of a file, or a scan if the format can be streamed."""
    ending = ending_of(path)
    if csv_format.options and ending not in CSV_ENDINGS:
        raise TableError(
            f"{csv_format.options[0]} applies only to text files ({', '.join(CSV_ENDINGS)}), got "
            f"{str(path)!r}; remove the option."
        )
    file, _ = split_container(path)
    if not (file.is_dir() and ending in FOLDERS):
        with file.open("rb"):  # raises an OSError if the file cannot be opened
            pass
    with reading(path):
        return read_csv(path, csv_format) if ending in CSV_ENDINGS else READERS[ending](path)


def _load_or_stream(
    source: Columns | Scan,
    columns: Sequence[str],
    path: StrPath,
    options: ReadOptions,
    note: Callable[[str], None],
) -> Columns | ParquetChunks:
    """Return the columns in memory, or as Dask arrays if they are too large."""
    stream = options.stream
    if isinstance(source, FrameColumns | ArrayColumns):
        if stream:
            raise TableError(
                f"{os.fspath(path)!r} cannot be streamed; convert it to Parquet, or remove the "
                "option --stream."
            )
        return source
    n_bytes = source.n_bytes(columns)
    if stream is None:
        stream = exceeds_share(n_bytes) and not (source.is_mapped and find_spec("dask") is None)
    # A column can hold both labels and ids.
    optional = set(options.optional) & set(source.names)
    names = list(dict.fromkeys([*columns, *options.others, *sorted(optional)]))
    size = f"{_format_size(n_bytes)} of numbers"
    limit = f"{SHARE_TO_READ:.0%} of memory ({_format_size(memory())})"
    if stream and not options.can_stream:
        raise TableError(
            f"{os.fspath(path)!r} has {size}, more than {limit}, and would be streamed, which only "
            "--method kmodes can do; pass that, or --no-stream to load all rows into memory."
        )
    with reading(path):
        if not stream:
            return source.load(names)
        note(
            f"{shown(Path(path).name)} is streamed in chunks: it has {size}. By default, data that "
            f"takes more than {limit} is streamed."
            + (" Its columns are taken as they are." if options.as_frame else "")
        )
        return source.in_chunks(names)


def _format_size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.3g} MB"

"""Formats of data files: their columns read, and columns written."""

import csv
import gzip
import io
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.cli.columns import ArrayColumns, FrameColumns, TableError, listed
from modeclust.cli.streams import (
    ArrayScan,
    container_of,
    readable,
    scan_hdf5,
    scan_parquet,
    scan_zarr,
)
from modeclust.io.model_file import TEXT as MODEL_TEXT
from modeclust.io.npy import array_of, check_header

FOLDERS = (".parquet", ".zarr")
GZIP, NPY, ZIP = b"\x1f\x8b", b"\x93NUMPY", b"PK"

Columns = dict[str, npt.NDArray[Any]]
Writer = Callable[[BinaryIO, Columns], None]
Parts = Iterable[Columns]
# Takes the types of columns by their names, and how many rows the parts have.
Streamer = Callable[[BinaryIO, dict[str, np.dtype[Any]], Parts, int], None]


class TextFormat(NamedTuple):
    """What a user knows of a text file; None where it is to be seen from the text."""

    header: bool | None = None
    separator: str | None = None
    decimal_comma: bool = False

    @property
    def options(self) -> list[str]:
        """Return the options that say it."""
        told = {
            "--header": self.header is True,
            "--no-header": self.header is False,
            "--separator": self.separator is not None,
            "--decimal-comma": self.decimal_comma,
        }
        return [option for option, is_told in told.items() if is_told]

    def separator_of(self, ending: str) -> str:
        """Return what separates fields, by the ending unless it is told."""
        if self.separator is None:
            return SEPARATORS[ending]
        separator = self.separator.replace("\\t", "\t")  # as it is typed
        if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
            raise TableError(
                f"--separator must be one character of ASCII and no quote, e.g. ';', got "
                f"{self.separator!r}."
            )
        return separator


AS_SEEN = TextFormat()


def ending_of(path: str | os.PathLike[str], *, to_write: bool = False) -> str:
    """Return the ending of a file's name that says its format, such as ".csv.gz".

    A folder without one is of Parquet files.
    """
    known = [*WRITERS] if to_write else ENDINGS
    for name in (Path(path).name, "" if to_write else container_of(Path(path))[0].name):
        for ending in sorted(known, key=len, reverse=True):
            if name.lower().endswith(ending):
                return ending
    if Path(path).is_dir() and not to_write:
        return ".parquet"
    raise TableError(f"{os.fspath(path)!r} must end in one of {', '.join(known)}.")


def open_columns(path: Path, text: TextFormat = AS_SEEN) -> Any:
    """Return the columns of a file, or a scan of them where they may be too many to be read."""
    ending = ending_of(path)
    if text.options and ending not in SEPARATORS:
        raise TableError(
            f"{text.options[0]} is for text ({', '.join(SEPARATORS)}), and {str(path)!r} is none; "
            "leave it out."
        )
    outer = container_of(path)[0]
    if not (outer.is_dir() and ending in FOLDERS):
        with outer.open("rb"):  # what is wrong with the file as such stays an OSError
            pass
    with readable(path, ending):
        if ending in SEPARATORS:
            return _read_text(path, text.separator_of(ending), text)
        return READERS[ending](path)


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content:
        raise TableError("the file is empty")
    return gzip.decompress(content) if path.name.lower().endswith(".gz") else content


def _read_text(path: Path, separator: str, text: TextFormat) -> FrameColumns:
    """Read csv or tsv."""
    import polars as pl

    content = _content(path).rstrip(b"\r\n")
    if b"\n" not in content:  # lines that end as they once did on a Macintosh
        content = content.replace(b"\r", b"\n")
    header = _header(content, separator)
    if text.separator is None:
        _check_separated(header, separator)
    has_header, notices = _has_header(header, text)
    names = [name.strip() for name in header] if has_header else []
    unnamed = [f"unnamed_{j + 1}" for j, name in enumerate(names) if not name]
    names = [name or f"unnamed_{j + 1}" for j, name in enumerate(names)]
    if not has_header:
        names = [f"x{j}" for j in range(len(header))]
    if unnamed:
        notices.append(f"columns without a name are left out: {', '.join(unnamed)}")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise TableError(f"column names must differ, got {listed(twice)} more than once")
    try:
        frame = pl.read_csv(
            content,
            separator=separator,
            has_header=has_header,
            new_columns=names,
            infer_schema_length=None,
        )
    except pl.exceptions.PolarsError:
        _find_open_quote(content, separator)
        _find_ragged_line(content, separator, len(names))
        raise
    if frame.height == 0:
        raise TableError("there is a header and no rows")
    return FrameColumns(
        frame, notices, unnamed, is_named=has_header, decimal_comma=text.decimal_comma
    )


def _has_header(fields: list[str], text: TextFormat) -> tuple[bool, list[str]]:
    """Return whether the first line names the columns, and what to tell of that.

    One of nothing but numbers does not, unless they are those that pandas gives to columns without
    names. A single 0 is more often a number.
    """
    if text.header is not None:
        return text.header, []
    if not all(_is_number(field, text.decimal_comma) for field in fields):
        return True, []
    if len(fields) > 1 and fields == [str(j) for j in range(len(fields))]:
        told = "the first line counts the columns and was read as their names"
        return True, [f"{told}; if it is a row, pass --no-header"]
    told = "the first line holds numbers and was read as a row; columns are x0, ..."
    return False, [f"{told}; if it has their names, pass --header"]


def _header(content: bytes, separator: str) -> list[str]:
    """Return the fields of the first line, or say why this is no text of such fields."""
    if content.startswith(GZIP):
        raise TableError("the file is compressed; add .gz to its name")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError("the text is UTF-16; convert it, e.g. with iconv -f UTF-16 -t UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(
            f"the text is not UTF-8 (byte {error.object[error.start]:#x} at {error.start}); "
            "convert it, e.g. with iconv -f LATIN1 -t UTF-8"
        ) from None
    if "\0" in text:
        raise TableError("the file is binary or UTF-16; expected text in UTF-8")
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        header = next((row for row in rows if row), None)
    except csv.Error:  # a field of very many lines
        header = ["\n"]
    if header is None:
        raise TableError("the file is empty")
    if any("\n" in name for name in header):
        _find_open_quote(content, separator)
    return header


def _check_separated(header: list[str], separator: str) -> None:
    """Refuse a first line of one field in which something else seems to separate fields."""
    for other, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        # The separator itself is in a name that was quoted.
        if len(header) == 1 and other != separator and other in header[0]:
            hint = "name it .tsv" if other == "\t" else f"pass --separator '{other}'"
            raise TableError(f"fields seem to be separated by {name}; {hint}")


def _find_open_quote(content: bytes, separator: str) -> None:
    """Refuse a quote that is never closed; there are two of any other."""
    if content.count(b'"') % 2 == 0:
        return
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator)
    line = 0
    with suppress(csv.Error):  # a field of very many lines
        for _ in rows:
            line, last = rows.line_num, line
        line = last
    raise TableError(f'the quote (") that is opened in line {line + 1} is never closed')


def _find_ragged_line(content: bytes, separator: str, n_fields: int) -> None:
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator)
    for row in rows:
        if len(row) > n_fields:
            raise TableError(
                f"line {rows.line_num} has {len(row)} fields, and the first one {n_fields}"
            )


def _is_number(text: str, decimal_comma: bool) -> bool:
    try:
        float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return False
    return True


def _read_ipc(path: Path) -> FrameColumns:
    import polars as pl

    content = _content(path)
    if content.startswith(b"ARROW1"):
        return FrameColumns(pl.read_ipc(io.BytesIO(content)))
    return FrameColumns(pl.read_ipc_stream(io.BytesIO(content)))


def _scan_npy(path: Path) -> ArrayScan:
    n_bytes = path.stat().st_size
    if n_bytes == 0:
        raise TableError("the file is empty")
    with path.open("rb") as file:
        _check_start(file, NPY)
        check_header(file, n_bytes)
    with _no_objects():
        return ArrayScan(np.load(path, mmap_mode="r", allow_pickle=False), {})


@contextmanager
def _no_objects() -> Iterator[None]:
    """Say of Python objects, which numpy would unpickle, that they are none of the data."""
    try:
        yield
    except ValueError as error:
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            raise TableError("expected arrays of numbers or text, got Python objects") from None
        raise


def _check_start(file: BinaryIO, expected: bytes) -> None:
    """Refuse a file that does not begin as expected; numpy would try to unpickle it."""
    start = file.read(len(NPY))
    file.seek(0)
    if not start.startswith(expected):
        for other, ending in ((NPY, ".npy"), (ZIP, ".npz")):
            if start.startswith(other):
                raise ValueError(f"it seems to be an {ending} file; name it so")
        raise ValueError("it does not begin as such files do")


def _read_npz(path: Path) -> ArrayColumns:
    content = io.BytesIO(_content(path))
    _check_start(content, ZIP)
    with zipfile.ZipFile(content) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if MODEL_TEXT in names:
            raise TableError("this is a model or a checkpoint; expected data")
        members = (array_of(archive.read(name)) for name in archive.namelist())
        with _no_objects():
            if {"format", "data", "shape"} <= set(names):
                return _read_sparse(content, members)
            arrays = dict(zip(names, members, strict=True))
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    name = "X" if "X" in arrays else tables[0] if len(tables) == 1 else None
    if name is None:
        raise TableError(
            f"expected an array X, or one array in two dimensions, got {listed(arrays) or 'none'}"
        )
    X = arrays.pop(name)
    return ArrayColumns(X, {key: v for key, v in arrays.items() if v.shape == X.shape[:1]})


def _read_sparse(content: BinaryIO, members: Iterator[npt.NDArray[Any]]) -> ArrayColumns:
    """Read a sparse matrix, once each of its parts was seen to be there."""
    for _ in members:
        pass
    content.seek(0)
    matrix = sparse.load_npz(content)
    if hasattr(matrix, "check_format"):  # the other formats check their indices
        matrix.check_format(full_check=True)
    return ArrayColumns(matrix, {})


def _read_mtx(path: Path) -> ArrayColumns:
    from scipy.io import mminfo, mmread

    # Without an end to the last line, scipy's reader can run past it, as at a byte of zero.
    content = _content(path) + b"\n"
    if b"\0" in content:
        raise TableError("the file is binary; expected text")
    n_rows, n_columns, n_entries, kind, *_ = mminfo(io.BytesIO(content))
    n_entries = n_entries if kind == "coordinate" else n_rows * n_columns
    n_lines = content.count(b"\n")
    if n_entries > 2 * n_lines:  # of a symmetric matrix one half is written
        raise TableError(f"its head says {n_entries} numbers, and it has {n_lines} lines")
    return ArrayColumns(mmread(io.BytesIO(content), spmatrix=False), {})


def _frame_writer(kind: str, **options: Any) -> Writer:
    def write(file: BinaryIO, columns: Columns) -> None:
        import polars as pl

        getattr(pl.DataFrame(columns), f"write_{kind}")(file, **options)

    return write


def _write_npy(file: BinaryIO, columns: Columns) -> None:
    (column,) = columns.values()
    np.save(file, column, allow_pickle=False)


def _write_npz(file: BinaryIO, columns: Columns) -> None:
    # Not by `np.savez`, to which in older numpy `allow_pickle=False` is one more array.
    with zipfile.ZipFile(file, "w") as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(column), allow_pickle=False)


def _write_mtx(file: BinaryIO, columns: Columns) -> None:
    from scipy.io import mmwrite

    mmwrite(file, np.column_stack(list(columns.values())))


def _frame_streamer(kind: str, **options: Any) -> Streamer:
    def write(file: BinaryIO, types: dict[str, np.dtype[Any]], parts: Parts, n_rows: int) -> None:
        import polars as pl
        from polars.io.plugins import register_io_source

        # Text in chunks is of objects.
        empty = {n: np.empty(0, str if t.kind == "O" else t) for n, t in types.items()}
        schema = pl.DataFrame(empty).schema

        def frames(*_: Any) -> Iterator[Any]:
            for part in parts:
                yield pl.DataFrame(
                    {n: v.astype(str) if v.dtype.kind == "O" else v for n, v in part.items()},
                    schema=schema,
                )

        frame = register_io_source(frames, schema=schema)
        getattr(frame, f"sink_{kind}")(file, **options)

    return write


def _stream_npy(file: BinaryIO, types: dict[str, np.dtype[Any]], parts: Parts, n_rows: int) -> None:
    header = {"descr": "<i4", "fortran_order": False, "shape": (n_rows,)}
    np.lib.format.write_array_header_1_0(file, header)
    for part in parts:
        (column,) = part.values()
        file.write(column.astype("<i4").tobytes())


# Of text.
SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
READERS: dict[str, Callable[[Path], Any]] = {
    ".parquet": scan_parquet,
    ".feather": _read_ipc,
    ".arrow": _read_ipc,
    ".ipc": _read_ipc,
    ".npy": _scan_npy,
    ".npz": _read_npz,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".zarr": scan_zarr,
    ".h5": scan_hdf5,
    ".hdf5": scan_hdf5,
}
ENDINGS = [*SEPARATORS, *READERS]
# How polars calls a format, and what else it has to know.
FRAMES: dict[str, tuple[str, dict[str, Any]]] = {
    ".csv": ("csv", {}),
    ".csv.gz": ("csv", {}),
    ".tsv": ("csv", {"separator": "\t"}),
    ".tsv.gz": ("csv", {"separator": "\t"}),
    ".parquet": ("parquet", {}),
    ".feather": ("ipc", {}),
    ".arrow": ("ipc", {}),
    ".ipc": ("ipc", {}),
}
WRITERS: dict[str, Writer] = {
    **{ending: _frame_writer(kind, **options) for ending, (kind, options) in FRAMES.items()},
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".mtx": _write_mtx,
    ".mtx.gz": _write_mtx,
}
# Those that need not have all of a column at once.
STREAMERS: dict[str, Streamer] = {
    **{ending: _frame_streamer(kind, **options) for ending, (kind, options) in FRAMES.items()},
    ".npy": _stream_npy,
}
# Those that hold columns of any kind.
TABLES = (*FRAMES, ".npz")

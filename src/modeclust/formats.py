"""Formats of data files: their columns read, and columns written."""

import csv
import gzip
import io
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.rows.reading import is_sparse

GZIP, NPY, ZIP = b"\x1f\x8b", b"\x93NUMPY", b"PK"
# What people write for a value that is not there.
MISSING = ("", "?", "na", "n/a", "nan", "none", "null")
MOST_LISTED = 10

Columns = dict[str, npt.NDArray[Any]]
Writer = Callable[[BinaryIO, Columns], None]


class TableError(ValueError):
    """A file of data cannot be used; the message says why and what to do."""


def ending_of(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file's name that says its format, such as ".csv.gz"."""
    name = Path(path).name.lower()
    for ending in sorted(READERS, key=len, reverse=True):
        if name.endswith(ending):
            return ending
    raise TableError(f"{os.fspath(path)!r} must end in one of {', '.join(READERS)}.")


def open_columns(path: Path) -> Any:
    """Return the columns of a file; whatever a reader raises becomes one clear error."""
    ending = ending_of(path)
    with path.open("rb"):  # what is wrong with the file as such stays an OSError
        pass
    try:
        return READERS[ending](path)
    except TableError as error:
        raise TableError(f"{str(path)!r}: {error}.") from None
    except (MemoryError, ModuleNotFoundError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise TableError(
            f"{str(path)!r} cannot be read as the {ending} file that its name says: {reason}"
        ) from error


def listed(names: Any) -> str:
    """Return names, quoted, of which a long list is cut."""
    names = list(names)
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(repr(name) for name in names[:MOST_LISTED]) + more


class _Frame:
    """The columns of a polars frame."""

    def __init__(self, frame: Any, notices: Sequence[str] = (), unnamed: Sequence[str] = ()):
        self.names: list[str] = frame.columns
        self.features = [name for name in self.names if name not in unnamed]
        self.notices = notices
        self._frame = frame

    def matrix(self, names: Sequence[str], advice: str) -> npt.NDArray[Any]:
        """Return columns of numbers as float32 or float64; what is missing is NaN."""
        import polars as pl

        columns = [_numbers(self._frame[name], advice) for name in names]
        dtypes = {column.dtype for column in columns}
        kind = pl.Float32 if dtypes == {pl.Float32} else pl.Float64
        frame = pl.DataFrame([column.cast(kind) for column in columns])
        return np.array(frame.to_numpy(), order="C")

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers as it is, any other as text; what is missing says so."""
        import polars as pl

        series = self._frame[name]
        if series.null_count() == 0 and (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            return np.asarray(series.to_numpy())
        return np.array(["(missing)" if v is None else str(v) for v in series.to_list()])


class _Matrix:
    """The columns of an array, and arrays of one dimension beside it."""

    notices: Sequence[str] = ()

    def __init__(self, X: Any, beside: dict[str, npt.NDArray[Any]]):
        if X.ndim == 1:
            X = X[:, np.newaxis]
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise TableError(f"expected numbers in two dimensions, got {X.dtype} in {X.ndim}")
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

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column as it is."""
        if name in self._beside:
            return self._beside[name]
        values = self.matrix([name], "")
        return np.asarray(values.toarray() if is_sparse(values) else values)[:, 0]


def _numbers(column: Any, advice: str) -> Any:
    """Return a polars column as numbers, or say that it holds something else and what to do."""
    import polars as pl

    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column if column.dtype.is_float() else column.cast(pl.Float64)
    if column.dtype == pl.String:
        text = column.str.strip_chars()
        text = text.filter(~text.str.to_lowercase().is_in(MISSING).fill_null(value=True))
        numbers = text.cast(pl.Float64, strict=False)
        if numbers.null_count() == 0:
            return column.str.strip_chars().cast(pl.Float64, strict=False)
        example = text.filter(numbers.is_null())[0]
    else:
        example = column.drop_nulls().first()
    kind = "text" if column.dtype == pl.String else str(column.dtype)
    raise TableError(
        f"Column {column.name!r} holds {kind}, e.g. {str(example)[:40]!r}, and not numbers; "
        f"{advice}"
    )


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content:
        raise TableError("the file is empty")
    return gzip.decompress(content) if path.name.lower().endswith(".gz") else content


def _read_text(path: Path, separator: str) -> _Frame:
    """Read csv or tsv; a first line of nothing but numbers is no header."""
    import polars as pl

    content = _content(path).rstrip(b"\r\n")
    if b"\n" not in content:  # lines that end as they once did on a Macintosh
        content = content.replace(b"\r", b"\n")
    header = _header(content, separator)
    has_header = not all(_is_number(name) for name in header)
    notices = []
    names = [name.strip() for name in header] if has_header else []
    unnamed = [f"unnamed_{j + 1}" for j, name in enumerate(names) if not name]
    names = [name or f"unnamed_{j + 1}" for j, name in enumerate(names)]
    if not has_header:
        names = [f"x{j}" for j in range(len(header))]
        notices.append("the first line holds numbers and was read as a row; columns are x0, ...")
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
    return _Frame(frame, notices, unnamed)


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
    for other, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if len(header) == 1 and other in header[0]:
            hint = "name it .tsv" if other == "\t" else "write it with " + _fields(separator)
            raise TableError(f"fields seem to be separated by {name}; {hint}")
    return header


def _fields(separator: str) -> str:
    return "tabs" if separator == "\t" else "commas"


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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_parquet(path: Path) -> _Frame:
    import polars as pl

    return _Frame(pl.read_parquet(io.BytesIO(_content(path))))


def _read_ipc(path: Path) -> _Frame:
    import polars as pl

    content = _content(path)
    if content.startswith(b"ARROW1"):
        return _Frame(pl.read_ipc(io.BytesIO(content)))
    return _Frame(pl.read_ipc_stream(io.BytesIO(content)))


def _read_npy(path: Path) -> _Matrix:
    if path.stat().st_size == 0:
        raise TableError("the file is empty")
    with path.open("rb") as file:
        _check_start(file, NPY)
    return _Matrix(np.load(path, mmap_mode="r", allow_pickle=False), {})


def _check_start(file: BinaryIO, expected: bytes) -> None:
    """Refuse a file that does not begin as expected; numpy would try to unpickle it."""
    start = file.read(len(NPY))
    file.seek(0)
    if not start.startswith(expected):
        for other, ending in ((NPY, ".npy"), (ZIP, ".npz")):
            if start.startswith(other):
                raise ValueError(f"it seems to be an {ending} file; name it so")
        raise ValueError("it does not begin as such files do")


def _read_npz(path: Path) -> _Matrix:
    content = io.BytesIO(_content(path))
    _check_start(content, ZIP)
    with np.load(content, allow_pickle=False) as file:
        if "model.json" in file.files:
            raise TableError("this is a model; expected data")
        if {"format", "data", "shape"} <= set(file.files):
            content.seek(0)
            matrix = sparse.load_npz(content)
            if hasattr(matrix, "check_format"):  # the other formats check their indices
                matrix.check_format(full_check=True)
            return _Matrix(sparse.csr_array(matrix), {})
        try:
            arrays = {name: file[name] for name in file.files}
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise TableError("expected arrays of numbers or text, got Python objects") from None
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    name = "X" if "X" in arrays else tables[0] if len(tables) == 1 else None
    if name is None:
        raise TableError(
            f"expected an array X, or one array in two dimensions, got {listed(arrays) or 'none'}"
        )
    X = arrays.pop(name)
    return _Matrix(X, {key: v for key, v in arrays.items() if v.shape == X.shape[:1]})


def _read_mtx(path: Path) -> _Matrix:
    from scipy.io import mmread

    # Without an end to the last line, scipy's reader can run past it.
    matrix = mmread(io.BytesIO(_content(path) + b"\n"))
    return _Matrix(sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix, {})


def _frame_writer(method: str, **options: Any) -> Writer:
    def write(file: BinaryIO, columns: Columns) -> None:
        import polars as pl

        getattr(pl.DataFrame(columns), method)(file, **options)

    return write


def _write_npy(file: BinaryIO, columns: Columns) -> None:
    (column,) = columns.values()
    np.save(file, column, allow_pickle=False)


def _write_npz(file: BinaryIO, columns: Columns) -> None:
    np.savez(file, allow_pickle=False, **columns)


def _write_mtx(file: BinaryIO, columns: Columns) -> None:
    from scipy.io import mmwrite

    mmwrite(file, np.column_stack(list(columns.values())))


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": lambda path: _read_text(path, ","),
    ".csv.gz": lambda path: _read_text(path, ","),
    ".tsv": lambda path: _read_text(path, "\t"),
    ".tsv.gz": lambda path: _read_text(path, "\t"),
    ".parquet": _read_parquet,
    ".feather": _read_ipc,
    ".arrow": _read_ipc,
    ".ipc": _read_ipc,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
}
WRITERS: dict[str, Writer] = {
    ".csv": _frame_writer("write_csv"),
    ".csv.gz": _frame_writer("write_csv"),
    ".tsv": _frame_writer("write_csv", separator="\t"),
    ".tsv.gz": _frame_writer("write_csv", separator="\t"),
    ".parquet": _frame_writer("write_parquet"),
    ".feather": _frame_writer("write_ipc"),
    ".arrow": _frame_writer("write_ipc"),
    ".ipc": _frame_writer("write_ipc"),
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".mtx": _write_mtx,
    ".mtx.gz": _write_mtx,
}

"""Files that may be larger than memory: opened, then read at once or in chunks, by Dask."""

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeclust.cli.columns import (
    ArrayColumns,
    FileError,
    FrameColumns,
    TableError,
    is_plain,
    listed,
)
from modeclust.io.atomic import in_a_line

CHUNK_BYTES = 2**26
# Of arrays of up to so many chunks any may be missing: they are then full of one value.
MOST_UNCHECKED = 10_000
# Kinds of types in which files have text. In chunks it is of no fixed width, but objects.
TEXT = "OSTU"
CONTAINERS = (".zarr", ".h5", ".hdf5")
# As pandas and Dask name an index without a name.
INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")


def container_of(path: Path) -> tuple[Path, str]:
    """Return the file or folder of arrays that a path leads into, and the name within it.

    The array "images" of a file is called as if it were in a folder: ``big.h5/images``.
    """
    for outer in (path, *path.parents):
        if outer.name.lower().endswith(CONTAINERS):
            return outer, path.relative_to(outer).as_posix().removeprefix(".")
    return path, ""


@contextmanager
def readable(path: Path, ending: str) -> Iterator[None]:
    """Turn whatever the reader of a format raises into one clear error."""
    try:
        yield
    except (FileError, MemoryError, ModuleNotFoundError):
        raise
    except TableError as error:
        raise FileError(f"{str(path)!r}: {str(error).rstrip('.')}.") from None
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise FileError(
            f"{str(path)!r} cannot be read as the {ending} file that its name says: "
            f"{in_a_line(error)}"
        ) from error


class ArrayScan:
    """An array that is not read yet, and arrays of one dimension beside it."""

    notices: Sequence[str] = ()
    is_named = False

    def __init__(self, X: Any, beside: dict[str, Any]):
        self.is_mapped = isinstance(X, np.memmap)  # and so needs no memory as it is
        self._X, self._beside = X, beside
        lazy = ArrayColumns(X if isinstance(X, np.ndarray) else _Outline(X), beside)
        self.names, self.features = lazy.names, lazy.features

    def n_bytes(self, columns: Sequence[str]) -> int:
        """Return what all the numbers take; those of a row lie together."""
        width = 4 if self._X.dtype == np.float32 else 8
        return int(np.prod(self._X.shape)) * width

    def read(self, names: Sequence[str]) -> ArrayColumns:
        """Return the columns in memory, or memory-mapped."""
        X = self._X if isinstance(self._X, np.ndarray) else self._X[...]
        return ArrayColumns(X, {n: _texts(a[...]) for n, a in self._beside.items() if n in names})

    def in_chunks(self, names: Sequence[str]) -> ArrayColumns:
        """Return the columns as Dask arrays."""
        import dask.array as da

        X = self._X if self._X.ndim > 1 else self._X[:, np.newaxis]
        length = max(1, CHUNK_BYTES // (8 * X.shape[1]))
        stored = (getattr(X, "chunks", None) or (1,))[0]
        length = length // stored * stored or length  # not to read stored chunks twice
        beside = {
            name: da.from_array(array, chunks=length).map_blocks(
                _texts, object, dtype=object if array.dtype.kind in TEXT else array.dtype
            )
            for name, array in self._beside.items()
            if name in names
        }
        return ArrayColumns(da.from_array(X, chunks=(length, -1)), beside)


class _Outline:
    """The shape and type of an array, which stand in for it."""

    def __init__(self, array: Any):
        self.shape, self.ndim, self.dtype = array.shape, array.ndim, array.dtype

    def astype(self, dtype: Any) -> "_Outline":
        return self


def _texts(values: Any, dtype: Any = str) -> Any:
    """Return values as they are, and text in whatever form as that of Python or numpy."""
    if values.dtype.kind not in TEXT:
        return values
    texts = [v.decode(errors="replace") if isinstance(v, bytes) else str(v) for v in values]
    return np.array(texts, dtype=dtype)


def scan_zarr(path: Path) -> ArrayScan:
    """Open an array of a Zarr folder."""
    import zarr

    folder, name = container_of(path)
    node: Any = zarr.open(folder, mode="r")
    if isinstance(node, zarr.Array):
        return _chosen({"": node}, folder, name)
    members = node.members(max_depth=None)
    return _chosen({n: a for n, a in members if isinstance(a, zarr.Array)}, folder, name)


def scan_hdf5(path: Path) -> ArrayScan:
    """Open a dataset of an HDF5 file."""
    import h5py

    outer, name = container_of(path)
    file = h5py.File(outer)
    arrays: dict[str, Any] = {}
    file.visititems(lambda n, a: arrays.__setitem__(n, a) if isinstance(a, h5py.Dataset) else None)
    return _chosen(arrays, outer, name)


def _chosen(arrays: dict[str, Any], path: Path, name: str) -> ArrayScan:
    """Return the array of a name, or that in two dimensions, with those of one number a row."""
    tables = [n for n, array in arrays.items() if array.ndim == 2]
    if name:
        if name not in arrays:
            named = listed(filter(None, arrays)) or "none"
            raise TableError(f"there is no array {name!r} in it, but {named}")
        tables = [name]
    if len(tables) != 1:
        hint = f"; name one, as in {str(path / tables[0])!r}" if tables else ""
        raise TableError(
            f"expected one array in two dimensions, got {listed(tables or arrays) or 'none'}{hint}"
        )
    X = arrays[tables[0]]
    if X.ndim != 2:
        raise TableError(f"array {name!r} must have two dimensions, got {X.ndim}")
    _check_chunks(X)
    return ArrayScan(X, {n: a for n, a in arrays.items() if a.shape == X.shape[:1]})


def _check_chunks(array: Any) -> None:
    """Refuse an array nearly all of whose chunks are missing, to fill in which may never end."""
    if not array.chunks:
        return
    n_chunks = math.prod(-(-n // size) for n, size in zip(array.shape, array.chunks, strict=True))
    if n_chunks <= MOST_UNCHECKED:
        return
    # A stored chunk takes some bytes.
    n_stored = array.nbytes_stored() if hasattr(array, "store") else array.id.get_storage_size()
    if n_stored < n_chunks:
        raise TableError(
            f"its shape, {tuple(array.shape)}, means {n_chunks} chunks, and {n_stored} bytes are "
            "stored; the data is incomplete, or the shape wrong"
        )


class Piece(NamedTuple):
    """Some rows of a Parquet file."""

    file: Path
    first: int
    length: int

    def read(self, names: Sequence[str]) -> Any:
        """Return some columns, as a polars frame."""
        with readable(self.file, ".parquet"):
            return _scan(self.file).slice(self.first, self.length).select(names).collect()


def _scan(file: Path) -> Any:
    import polars as pl

    try:
        str(file).encode()
        source: Any = file
    except UnicodeEncodeError:  # polars opens files by names in UTF-8 alone
        source = file.read_bytes()
    return pl.scan_parquet(source, glob=False, hive_partitioning=False)


class ParquetScan:
    """The columns of Parquet files that are not read yet."""

    is_mapped = False
    is_named = True

    def __init__(self, files: Sequence[Path], notices: Sequence[str] = ()):
        import polars as pl

        self._pieces: list[Piece] = []
        for file in files:
            with readable(file, ".parquet"):
                if file.stat().st_size == 0:
                    raise TableError("the file is empty")
                schema = _scan(file).collect_schema()
                n_rows = _scan(file).select(pl.len()).collect().item()
            if not self._pieces:
                self._schema = schema
            elif schema != self._schema:
                other = _difference(schema, self._schema)
                raise TableError(f"{file.name!r} is unlike {files[0].name!r}: {other}")
            self._pieces.append(Piece(file, 0, n_rows))
        self.names = list(self._schema)
        index = [name for name in self.names if INDEX.fullmatch(name)]
        self.features = [name for name in self.names if name not in index]
        left_out = [f"the index is left out: {', '.join(index)}"] if index else []
        self.notices = [*notices, *left_out]

    def n_bytes(self, columns: Sequence[str]) -> int:
        """Return what the numbers of some columns take."""
        n_rows = sum(piece.length for piece in self._pieces)
        return n_rows * len(columns) * self._dtype(columns).itemsize

    def _dtype(self, columns: Sequence[str]) -> np.dtype[Any]:
        import polars as pl

        is_single = {self._schema[name] for name in columns} == {pl.Float32}
        return np.dtype(np.float32 if is_single else np.float64)

    def read(self, names: Sequence[str]) -> FrameColumns:
        """Return columns in memory."""
        return FrameColumns(_frame(self._pieces, names), self.notices)

    def in_chunks(self, names: Sequence[str]) -> "ParquetChunks":
        """Return columns as Dask arrays."""
        length = max(1, CHUNK_BYTES // (8 * len(names)))
        chunks: list[list[Piece]] = [[]]
        room = length
        for file, _, n_rows in self._pieces:
            first = 0
            while first < n_rows:
                if room == 0:
                    chunks.append([])
                    room = length
                taken = min(room, n_rows - first)
                chunks[-1].append(Piece(file, first, taken))
                first, room = first + taken, room - taken
        return ParquetChunks(self, chunks)


class ParquetChunks:
    """The columns of Parquet files as Dask arrays, some rows of some files to a chunk."""

    def __init__(self, scan: ParquetScan, chunks: list[list[Piece]]):
        self.notices = scan.notices
        self._scan, self._chunks = scan, chunks

    def matrix(self, names: Sequence[str], advice: str) -> Any:
        """Return columns of numbers as float32 or float64; what is missing is NaN."""
        names = list(names)
        dtype = self._scan._dtype(names)
        return self._array(_matrix_of, names, advice, shape=(len(names),), dtype=dtype)

    def column(self, name: str) -> Any:
        """Return a column of numbers as it is, any other as text; None is for what is missing."""
        kind = self._scan._schema[name]
        as_text = not is_plain(kind)
        dtype = np.dtype(object) if as_text else _numpy_type(kind)
        return self._array(_column_of, name, as_text, shape=(), dtype=dtype)

    def _array(
        self, read: Callable[..., Any], *arguments: Any, shape: tuple[int, ...], dtype: Any
    ) -> Any:
        import dask
        import dask.array as da

        task = dask.delayed(read, pure=False, traverse=False)
        parts = [
            da.from_delayed(
                task(pieces, *arguments), (sum(piece.length for piece in pieces), *shape), dtype
            )
            for pieces in self._chunks
        ]
        return da.concatenate(parts)


def _frame(pieces: Sequence[Piece], names: Sequence[str]) -> Any:
    import polars as pl

    return pl.concat([piece.read(names) for piece in pieces])


def _matrix_of(pieces: Sequence[Piece], names: Sequence[str], advice: str) -> Any:
    return FrameColumns(_frame(pieces, names)).matrix(names, advice)


def _column_of(pieces: Sequence[Piece], name: str, as_text: bool) -> Any:
    column = FrameColumns(_frame(pieces, [name])).column(name)
    return column.astype(object) if as_text else column


def _numpy_type(kind: Any) -> Any:
    import polars as pl

    return np.dtype(pl.Series([], dtype=kind).to_numpy().dtype)


def _difference(schema: Any, first: Any) -> str:
    """Return how a schema differs from the first one."""
    found = []
    if gone := [name for name in first if name not in schema]:
        found.append(f"it has no column {listed(gone)}")
    if new := [name for name in schema if name not in first]:
        found.append(f"its column {listed(new)} is new")
    found += [
        f"its column {name!r} is {schema[name]} and not {first[name]}"
        for name in first
        if name in schema and schema[name] != first[name]
    ][:1]
    return "; ".join(found) or "its columns are in another order"


def scan_parquet(path: Path) -> ParquetScan:
    """Open a Parquet file, or a folder of them: a dataset as Dask and Spark write it."""
    if not path.is_dir():
        return ParquetScan([path])
    content = [file for file in path.iterdir() if not file.name.startswith((".", "_"))]
    if folders := [file.name for file in content if file.is_dir()]:
        raise TableError(
            f"expected a folder of Parquet files, got folders in it, e.g. {min(folders)!r}; name "
            "one of them, or write the data without partitions"
        )
    files = sorted((f for f in content if f.name.lower().endswith(".parquet")), key=_numbered)
    if not files:
        raise TableError("the folder has no file that ends in .parquet")
    others = sorted(file.name for file in content if file not in files)
    return ParquetScan(files, [f"files left out: {listed(others)}"] if others else ())


def _numbered(file: Path) -> list[Any]:
    """Return what sorts part.2 before part.10."""
    return [
        int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", os.fspath(file.name))
    ]

"""Parquet files and folders of them, loaded or streamed in chunks; Arrow IPC (Feather) files.

Streaming uses polars rather than `dask.dataframe.read_parquet`, which needs pandas and pyarrow,
takes a row group as the smallest chunk, and does not name the file in its errors.
"""

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeclust.cli.readers.columns import FrameColumns, chunk_length, is_numeric
from modeclust.cli.readers.files import TableError, listed, read_content, reading

# Names that pandas and Dask give to an index without a name.
INDEX_NAME = re.compile(r"__index_level_\d+__|__null_dask_index__")


def read_ipc(path: Path) -> FrameColumns:
    """Read an Arrow IPC file, as a file (Feather) or as a stream."""
    import polars as pl

    content = read_content(path)
    if content.startswith(b"ARROW1"):
        return FrameColumns(pl.read_ipc(io.BytesIO(content)))
    return FrameColumns(pl.read_ipc_stream(io.BytesIO(content)))


def scan_parquet(path: Path) -> "ParquetScan":
    """Open a Parquet file, or a folder of Parquet files as Dask and Spark write it."""
    if not path.is_dir():
        return ParquetScan([path])
    content = [file for file in path.iterdir() if not file.name.startswith((".", "_"))]
    if folders := [file.name for file in content if file.is_dir()]:
        raise TableError(
            f"expected a folder of Parquet files, but it contains folders, e.g. {min(folders)!r}; "
            "pass one of them, or write the data without partitions"
        )
    files = [file for file in content if file.name.lower().endswith(".parquet")]
    if not files:
        raise TableError("the folder contains no .parquet file")
    ignored = sorted(file.name for file in content if file not in files)
    notices = [f"files ignored: {listed(ignored)}"] if ignored else []
    return ParquetScan(sorted(files, key=_natural_order), notices)


def _natural_order(file: Path) -> list[int | str]:
    """Return a sort key that puts part.2 before part.10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", file.name)]


class RowRange(NamedTuple):
    """Consecutive rows of a Parquet file."""

    file: Path
    start: int
    n_rows: int

    def read(self, names: Sequence[str]) -> Any:
        """Return columns as a polars frame."""
        with reading(self.file):
            return _scan(self.file).slice(self.start, self.n_rows).select(names).collect()


class ParquetScan:
    """The columns of Parquet files that are not loaded yet."""

    is_mapped = False
    is_named = True

    def __init__(self, files: Sequence[Path], notices: Sequence[str] = ()):
        import polars as pl

        self._files: list[RowRange] = []
        for file in files:
            with reading(file):
                if file.stat().st_size == 0:
                    raise TableError("the file is empty")
                schema = _scan(file).collect_schema()
                n_rows = _scan(file).select(pl.len()).collect().item()
            if not self._files:
                self.schema = schema
            elif schema != self.schema:
                difference = _describe_difference(schema, self.schema)
                raise TableError(f"{file.name!r} differs from {files[0].name!r}: {difference}")
            self._files.append(RowRange(file, 0, n_rows))
        self.names = list(self.schema)
        index = [name for name in self.names if INDEX_NAME.fullmatch(name)]
        self.features = [name for name in self.names if name not in index]
        ignored = [f"the index is ignored: {', '.join(index)}"] if index else []
        self.notices = [*notices, *ignored]

    def n_bytes(self, columns: Sequence[str]) -> int:
        """Return the size of columns in memory."""
        n_rows = sum(rows.n_rows for rows in self._files)
        return n_rows * len(columns) * self.matrix_dtype(columns).itemsize

    def matrix_dtype(self, columns: Sequence[str]) -> np.dtype[Any]:
        """Return float32 if all columns have it, else float64."""
        import polars as pl

        is_single = {self.schema[name] for name in columns} == {pl.Float32}
        return np.dtype(np.float32 if is_single else np.float64)

    def load(self, names: Sequence[str]) -> FrameColumns:
        """Return columns in memory."""
        return FrameColumns(_read_frame(self._files, names), self.notices)

    def in_chunks(self, names: Sequence[str]) -> "ParquetChunks":
        """Return columns as Dask arrays; a chunk may have rows of several files."""
        length = chunk_length(len(names))
        chunks: list[list[RowRange]] = [[]]
        n_free = length
        for file, _, n_rows in self._files:
            start = 0
            while start < n_rows:
                if n_free == 0:
                    chunks.append([])
                    n_free = length
                n_taken = min(n_free, n_rows - start)
                chunks[-1].append(RowRange(file, start, n_taken))
                start, n_free = start + n_taken, n_free - n_taken
        return ParquetChunks(self, chunks)


class ParquetChunks:
    """The columns of Parquet files as Dask arrays."""

    def __init__(self, scan: ParquetScan, chunks: list[list[RowRange]]):
        self.notices = scan.notices
        self._scan, self._chunks = scan, chunks

    def matrix(self, names: Sequence[str], advice: str) -> Any:
        """Return columns as an array of float32 or float64, with NaN for missing values."""
        names = list(names)
        dtype = self._scan.matrix_dtype(names)
        return self._array(_read_matrix, names, advice, shape=(len(names),), dtype=dtype)

    def column(self, name: str) -> Any:
        """Return a numeric column unchanged and any other as text, with None for missing values."""
        import polars as pl

        dtype = self._scan.schema[name]
        as_text = not is_numeric(dtype)
        numpy_dtype = object if as_text else pl.Series([], dtype=dtype).to_numpy().dtype
        return self._array(_read_column, name, as_text, shape=(), dtype=np.dtype(numpy_dtype))

    def _array(
        self, read: Callable[..., Any], *arguments: Any, shape: tuple[int, ...], dtype: Any
    ) -> Any:
        import dask
        import dask.array as da

        task = dask.delayed(read, pure=False, traverse=False)
        chunks = [
            da.from_delayed(
                task(ranges, *arguments), (sum(rows.n_rows for rows in ranges), *shape), dtype
            )
            for ranges in self._chunks
        ]
        return da.concatenate(chunks)


def _scan(file: Path) -> Any:
    import polars as pl

    try:
        str(file).encode()
        source: Any = file
    except UnicodeEncodeError:  # polars opens only files whose names are UTF-8
        source = file.read_bytes()
    return pl.scan_parquet(source, glob=False, hive_partitioning=False)


def _read_frame(ranges: Sequence[RowRange], names: Sequence[str]) -> Any:
    import polars as pl

    return pl.concat([rows.read(names) for rows in ranges])


def _read_matrix(ranges: Sequence[RowRange], names: Sequence[str], advice: str) -> Any:
    return FrameColumns(_read_frame(ranges, names)).matrix(names, advice)


def _read_column(ranges: Sequence[RowRange], name: str, as_text: bool) -> Any:
    column = FrameColumns(_read_frame(ranges, [name])).column(name)
    return column.astype(object) if as_text else column


def _describe_difference(schema: Any, first: Any) -> str:
    """Return how the schema of a file differs from the first one."""
    differences = []
    if missing := [name for name in first if name not in schema]:
        differences.append(f"it has no column {listed(missing)}")
    if extra := [name for name in schema if name not in first]:
        differences.append(f"it has an extra column {listed(extra)}")
    differences += [
        f"its column {name!r} has type {schema[name]} instead of {first[name]}"
        for name in first
        if name in schema and schema[name] != first[name]
    ][:1]
    return "; ".join(differences) or "its columns are in a different order"

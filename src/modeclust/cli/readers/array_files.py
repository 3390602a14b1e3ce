"""Arrays: npy, npz and Matrix Market files, Zarr folders and HDF5 files."""

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from modeclust.cli.readers.columns import ArrayColumns, chunk_length, name_features
from modeclust.cli.readers.files import TableError, listed, read_content, split_container
from modeclust.io.model_file import TEXT as MODEL_TEXT
from modeclust.io.npy import array_of, check_header, check_indices

MAX_UNCHECKED_CHUNKS = 10_000
NPY_SIGNATURE, ZIP_SIGNATURE = b"\x93NUMPY", b"PK"
TEXT_KINDS = "OSTU"  # kinds of numpy types that files use for text


class ArrayScan:
    """An array that is not loaded yet, and other arrays with one value per row."""

    notices: Sequence[str] = ()
    is_named = False

    def __init__(self, X: Any, others: dict[str, Any]):
        self.is_mapped = isinstance(X, np.memmap)  # takes no memory even if it is not streamed
        self.features = name_features(X, others)
        self.names = [*self.features, *others]
        self._X, self._others = X, others

    def n_bytes(self, columns: Sequence[str]) -> int:
        """Return the size of the array in memory; a selection of columns reads all of it."""
        itemsize = 4 if self._X.dtype == np.float32 else 8
        return int(np.prod(self._X.shape)) * itemsize

    def load(self, names: Sequence[str]) -> ArrayColumns:
        """Return the columns in memory, or memory-mapped."""
        X = self._X if isinstance(self._X, np.ndarray) else self._X[...]
        others = {n: _decode(a[...]) for n, a in self._others.items() if n in names}
        return ArrayColumns(X, others)

    def in_chunks(self, names: Sequence[str]) -> ArrayColumns:
        """Return the columns as Dask arrays."""
        import dask.array as da

        X = self._X if self._X.ndim > 1 else self._X[:, np.newaxis]
        length = chunk_length(X.shape[1])
        stored_length = (getattr(X, "chunks", None) or (1,))[0]
        # Whole stored chunks, so that none is read twice.
        length = length // stored_length * stored_length or length
        others = {
            name: da.from_array(array, chunks=length).map_blocks(
                _decode, object, dtype=object if array.dtype.kind in TEXT_KINDS else array.dtype
            )
            for name, array in self._others.items()
            if name in names
        }
        return ArrayColumns(da.from_array(X, chunks=(length, -1)), others)


def _decode(values: Any, dtype: Any = str) -> Any:
    """Return text as `dtype` (str or object), and other values unchanged."""
    if values.dtype.kind not in TEXT_KINDS:
        return values
    texts = [v.decode(errors="replace") if isinstance(v, bytes) else str(v) for v in values]
    return np.array(texts, dtype=dtype)


def scan_npy(path: Path) -> ArrayScan:
    """Open an npy file."""
    n_bytes = path.stat().st_size
    if n_bytes == 0:
        raise TableError("the file is empty")
    with path.open("rb") as file:
        _check_signature(file, NPY_SIGNATURE)
        check_header(file, n_bytes)
    with _refuse_objects():
        return ArrayScan(np.load(path, mmap_mode="r", allow_pickle=False), {})


def read_npz(path: Path) -> ArrayColumns:
    """Read an npz file: dense arrays, or a sparse matrix as `scipy.sparse.save_npz` writes it."""
    content = io.BytesIO(read_content(path))
    _check_signature(content, ZIP_SIGNATURE)
    with zipfile.ZipFile(content) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if MODEL_TEXT in names:
            raise TableError("this is a model or a checkpoint; expected data")
        members = (array_of(archive.read(name)) for name in archive.namelist())
        with _refuse_objects():
            if {"format", "data", "shape"} <= set(names):
                return _read_sparse_npz(content, members)
            arrays = dict(zip(names, members, strict=True))
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    name = "X" if "X" in arrays else tables[0] if len(tables) == 1 else None
    if name is None:
        raise TableError(
            "expected an array named X, or exactly one two-dimensional array, got "
            f"{listed(arrays) or 'none'}"
        )
    X = arrays.pop(name)
    return ArrayColumns(X, {key: v for key, v in arrays.items() if v.shape == X.shape[:1]})


def _read_sparse_npz(content: BinaryIO, members: Iterator[npt.NDArray[Any]]) -> ArrayColumns:
    for _ in members:  # raises an error if a member is damaged
        pass
    content.seek(0)
    matrix = sparse.load_npz(content)
    if hasattr(matrix, "check_format"):  # the other formats always check their indices
        check_indices(matrix)
    return ArrayColumns(matrix, {})


@contextmanager
def _refuse_objects() -> Iterator[None]:
    """Explain numpy's error about arrays that it would have to unpickle."""
    try:
        yield
    except ValueError as error:
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            raise TableError("expected arrays of numbers or text, got Python objects") from None
        raise


def _check_signature(file: BinaryIO, expected: bytes) -> None:
    """Check the first bytes of a file, because numpy tries to unpickle unknown files."""
    start = file.read(len(NPY_SIGNATURE))
    file.seek(0)
    if start.startswith(expected):
        return
    for signature, ending in ((NPY_SIGNATURE, ".npy"), (ZIP_SIGNATURE, ".npz")):
        if start.startswith(signature):
            raise ValueError(f"it seems to be an {ending} file; rename it")
    raise ValueError("its first bytes are not the signature of this format")


def read_mtx(path: Path) -> ArrayColumns:
    """Read a Matrix Market file."""
    from scipy.io import mminfo, mmread

    # scipy's reader can read past the end if the last line does not end or if there is a zero byte.
    content = read_content(path) + b"\n"
    if b"\0" in content:
        raise TableError("the file is binary; expected text")
    n_rows, n_columns, n_entries, kind, *_ = mminfo(io.BytesIO(content))
    if n_rows == 0 or n_columns == 0:  # scipy divides by them
        raise TableError(f"expected rows and columns, got {n_rows} x {n_columns}")
    n_entries = n_entries if kind == "coordinate" else n_rows * n_columns
    n_lines = content.count(b"\n")
    if n_entries > 2 * n_lines:  # half of a symmetric matrix is stored
        raise TableError(
            f"the header declares {n_entries} numbers, but the file has {n_lines} lines"
        )
    # With several threads, scipy's reader may end the process if the file is damaged.
    with threadpool_limits(1, user_api="scipy"):
        return ArrayColumns(mmread(io.BytesIO(content), spmatrix=False), {})


def scan_zarr(path: Path) -> ArrayScan:
    """Open an array of a Zarr folder."""
    import zarr

    folder, name = split_container(path)
    node: Any = zarr.open(folder, mode="r")
    members = [("", node)] if isinstance(node, zarr.Array) else node.members(max_depth=None)
    return _select_array({n: a for n, a in members if isinstance(a, zarr.Array)}, folder, name)


def scan_hdf5(path: Path) -> ArrayScan:
    """Open an array of an HDF5 file."""
    import h5py

    file, name = split_container(path)
    arrays: dict[str, Any] = {}

    def keep(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            arrays[name] = node
        else:
            len(node)  # raises an error for damaged groups, of which the visit may never end

    root = h5py.File(file)
    keep("", root)
    root.visititems(keep)
    return _select_array(arrays, file, name)


def _select_array(arrays: dict[str, Any], path: Path, name: str) -> ArrayScan:
    """Return the named array, or else the only two-dimensional one."""
    tables = [n for n, array in arrays.items() if array.ndim == 2]
    if name:
        if name not in arrays:
            names = listed(filter(None, arrays)) or "none"
            raise TableError(f"it has no array {name!r}; its arrays are {names}")
        tables = [name]
    if len(tables) != 1:
        hint = f"; select one, e.g. {str(path / tables[0])!r}" if tables else ""
        raise TableError(
            f"expected exactly one two-dimensional array, got {listed(tables or arrays) or 'none'}"
            f"{hint}"
        )
    X = arrays[tables[0]]
    if X.ndim != 2:
        raise TableError(f"array {name!r} must have two dimensions, got {X.ndim}")
    _check_stored_chunks(X)
    return ArrayScan(X, {n: a for n, a in arrays.items() if a.shape == X.shape[:1]})


def _check_stored_chunks(array: Any) -> None:
    """Raise an error if most chunks of a large array are missing.

    Missing chunks are filled with one value, which could take forever.
    """
    if not array.chunks:
        return
    n_chunks = math.prod(-(-n // size) for n, size in zip(array.shape, array.chunks, strict=True))
    if n_chunks <= MAX_UNCHECKED_CHUNKS:
        return
    n_bytes = array.nbytes_stored() if hasattr(array, "store") else array.id.get_storage_size()
    if n_bytes < n_chunks:  # a stored chunk takes more than one byte
        raise TableError(
            f"its shape {tuple(array.shape)} requires {n_chunks} chunks, but only {n_bytes} bytes "
            "are stored; the data is incomplete or the shape is wrong"
        )

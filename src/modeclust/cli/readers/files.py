"""Names of data files, and errors that name them."""

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from modeclust.io.atomic import StrPath, in_a_line

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
ENDINGS = (
    *CSV_ENDINGS,
    *(".parquet", ".feather", ".arrow", ".ipc"),
    *(".npy", ".npz", ".mtx", ".mtx.gz", ".zarr", ".h5", ".hdf5"),
)
CONTAINERS = (".zarr", ".h5", ".hdf5")  # formats that can hold several arrays
MAX_NAMES = 10
MAX_NAME_LENGTH = 60


class TableError(ValueError):
    """Raised when a data file cannot be used. The message says why and what to do."""


class FileError(TableError):
    """A `TableError` whose message already names the file."""


def quoted(name: str) -> str:
    """Return a name in quotes, shortened if it is long."""
    return repr(name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}...")


def listed(names: Iterable[str]) -> str:
    """Return quoted names separated by commas, shortened if there are many."""
    names = list(names)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(quoted(name) for name in names[:MAX_NAMES]) + more


def split_container(path: Path) -> tuple[Path, str]:
    """Split the path of an array in a Zarr or HDF5 file into the file and the array.

    The array "images" in the file big.h5 has the path ``big.h5/images``.
    """
    for file in (path, *path.parents):
        if file.name.lower().endswith(CONTAINERS):
            return file, path.relative_to(file).as_posix().removeprefix(".")
    return path, ""


def find_ending(name: str, endings: Iterable[str]) -> str | None:
    """Return the ending that a file name has, such as ".csv.gz", or None."""
    return next((ending for ending in endings if name.lower().endswith(ending)), None)


def ending_of(path: StrPath) -> str:
    """Return the ending that tells the format of a data file.

    A folder without a known ending is a folder of Parquet files.
    """
    path = Path(path)
    for file in (path, split_container(path)[0]):
        if ending := find_ending(file.name, ENDINGS):
            return ending
    if path.is_dir():
        return ".parquet"
    raise TableError(f"{str(path)!r} must end in one of {', '.join(ENDINGS)}.")


def read_content(path: Path) -> bytes:
    """Return the bytes of a file, decompressed if its name ends in .gz."""
    content = path.read_bytes()
    if not content:
        raise TableError("the file is empty")
    return gzip.decompress(content) if path.name.lower().endswith(".gz") else content


@contextmanager
def reading(path: StrPath) -> Iterator[None]:
    """Turn any error of a reader into a `FileError` of one line that names the file."""
    try:
        yield
    except (FileError, MemoryError, ModuleNotFoundError):
        raise
    except TableError as error:
        raise FileError(f"{os.fspath(path)!r}: {str(error).rstrip('.')}.") from None
    except BaseException as error:
        # A panic of polars is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise FileError(
            f"{os.fspath(path)!r} cannot be read as a {ending_of(path)} file: {in_a_line(error)}"
        ) from error

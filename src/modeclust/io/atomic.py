"""Files that are written wholly or not at all."""

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

LONGEST_REASON = 200


def unused_name(path: str | os.PathLike[str]) -> Path:
    """Return a hidden name beside `path` for what is to be renamed to it."""
    return Path(path).with_name(f"{_mark(Path(path))}{secrets.token_hex(6)}.part")


def remove_parts(path: str | os.PathLike[str]) -> None:
    """Remove what processes left that were killed while they wrote `path`.

    One that is writing it fails then, and leaves the old file.
    """
    target = Path(os.path.realpath(path))
    for part in target.parent.glob(f"{_mark(target)}*.part"):
        part.unlink(missing_ok=True)


def _mark(path: Path) -> str:
    """Return how all hidden names for a path begin, which may be as long as names can be."""
    return f".modeclust-{hashlib.blake2b(os.fsencode(path.name), digest_size=6).hexdigest()}-"


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse what is no name of a file; a number would be that of one which is open."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a str or path-like, got {path!r}.")


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as text that can be written anywhere: not all names are UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def in_a_line(error: BaseException) -> str:
    """Return what an error of another library says, in one line that is not too long.

    Some show the bytes that they did not understand.
    """
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line.rstrip(".") if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears at `path` when all of it is on the disk.

    Until then it has another name in the same directory; after an error nothing is left of it,
    and what was at `path` is still there.

    Parameters
    ----------
    path : str or path-like
        Where the file is to be. A link is followed.

    Yields
    ------
    file
        A binary file to write to.
    """
    check_path(path)
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():  # a device or a pipe, which must not be replaced
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    part = unused_name(target)
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            # The user knows the file by the name that it was to have.
            if error.errno is None:  # as polars raises it
                raise OSError(f"{error}: {os.fspath(path)!r}") from error
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise

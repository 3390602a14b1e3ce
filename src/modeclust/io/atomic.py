"""Files that are written completely or not at all."""

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

StrPath = str | os.PathLike[str]
MAX_REASON = 200


def unused_name(path: StrPath) -> Path:
    """Return a hidden name in the same folder, for a file that will be renamed to `path`."""
    return Path(path).with_name(f"{_mark(Path(path))}{secrets.token_hex(6)}.part")


def remove_parts(path: StrPath) -> None:
    """Remove the partial files of processes that were killed while they wrote `path`.

    A process that is writing `path` at this time fails, and leaves the old file.
    """
    target = Path(os.path.realpath(path))
    for part in target.parent.glob(f"{_mark(target)}*.part"):
        part.unlink(missing_ok=True)


def _mark(path: Path) -> str:
    """Return the beginning of all hidden names for a path, whose own name may have any length."""
    return f".modeclust-{hashlib.blake2b(os.fsencode(path.name), digest_size=6).hexdigest()}-"


def check_path(path: StrPath) -> None:
    """Raise an error if this is not a path; a number would be an open file descriptor."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a str or path-like, got {path!r}.")


def shown(path: StrPath) -> str:
    """Return a path as valid text: not all names are UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def in_a_line(error: BaseException) -> str:
    """Return the message of an error of another library, in one line of limited length.

    Some messages contain the bytes that could not be parsed.
    """
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line.rstrip(".") if len(line) <= MAX_REASON else f"{line[:MAX_REASON]}..."


@contextmanager
def written(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file for writing that is renamed to `path` when it is complete on the disk.

    Until then it has another name in the same folder. After an error it is removed, and an older
    file at `path` is still there. A link is followed.
    """
    check_path(path)
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():  # a device or a pipe
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
            # The error must name the file that the user asked for.
            if error.errno is None:  # an error of polars
                raise OSError(f"{error}: {os.fspath(path)!r}") from error
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise

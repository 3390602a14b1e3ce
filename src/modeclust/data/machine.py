"""The available memory, and the share of it that data may take."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Data above this share of memory are streamed: reading them takes up to three times their size.
SHARE_TO_READ = 0.25
CONTROL_GROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Return the bytes of memory that machine, container and limits allow this process."""
    return min(_limits(), default=2**63)


def _limits() -> Iterator[int]:
    with suppress(AttributeError, OSError, ValueError):  # not on Windows
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            limit, _ = resource.getrlimit(kind)
            if limit != resource.RLIM_INFINITY:
                yield limit
    for file in _group_files():
        with suppress(OSError, ValueError):  # "max" is no limit
            yield int(file.read_text())


def _group_files() -> Iterator[Path]:
    """Yield the files with the memory limits of the control groups of this process, on Linux."""
    yield CONTROL_GROUPS / "memory" / "memory.limit_in_bytes"
    with suppress(OSError):
        group = Path("/proc/self/cgroup").read_text().rpartition("0::")[2].strip()
        own = CONTROL_GROUPS / group.lstrip("/")
        yield from (folder / "memory.max" for folder in (own, *own.parents))


def exceeds_share(n_bytes: int) -> bool:
    """Return whether data of this size are too large to be read at once."""
    return n_bytes > SHARE_TO_READ * memory()

"""Dask tasks: creating, running and merging them.

Dask is imported where it is used. Tasks run on the current scheduler. Results are merged on the
workers, in the order of the chunks and always in the same tree.
"""

import copy
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4

from modeclust.data.dataset import P

T = TypeVar("T")
# Number of results that one task merges, in pairs: a power of 2.
FAN_IN = 8


def on_workers(function: Callable[..., Any], *arguments: Any, worker: str | None = None) -> Any:
    """Return a task that calls a function, on `worker` if possible.

    Equal tasks are not merged into one.
    """
    from dask import annotate, delayed

    if worker is None:
        return delayed(function, pure=False)(*arguments)
    with annotate(workers=[worker], allow_other_workers=True):
        return delayed(function, pure=False)(*arguments)


def sent(value: Any) -> Any:
    """Return a task whose result is `value`, so that it is sent once and not with each task."""
    from dask import delayed

    return delayed(value, name=f"modeclust-{uuid4().hex}", traverse=False)


def computed(*tasks: Any) -> tuple[Any, ...]:
    """Return the results of tasks."""
    from dask import compute

    client, lost = current_client(), None
    if client is None or client.status == "running":
        try:
            return tuple(compute(*tasks, optimize_graph=False, traverse=False))
        except Exception as error:
            if client is None or client.status == "running":
                raise
            lost = error
    raise ConnectionError(
        f"The connection to the Dask scheduler at {client.scheduler.address} was lost during "
        "the fit; if it has a checkpoint, the same call resumes it."
    ) from lost


def persisted(tasks: Sequence[Any]) -> list[Any]:
    """Compute the tasks, and keep their results on the workers."""
    from dask import persist

    return list(persist(*tasks, optimize_graph=False, traverse=False))


def current_client() -> Any:
    """Return the client of the current cluster, or None if Dask runs in this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    with suppress(ValueError):
        return default_client()
    return None


def merged(tasks: Sequence[Any]) -> Any:
    """Return the results of `tasks`, merged on the workers as by `merge`."""
    level = list(tasks)
    while len(level) > 1:
        level = [on_workers(merge, *run) for run in runs(level, FAN_IN)]
    (result,) = computed(*level)
    return result


def runs(items: Sequence[T], length: int) -> list[Sequence[T]]:
    """Split items into runs of the given length; the last may be shorter."""
    return [items[first : first + length] for first in range(0, len(items), length)]


def merge(*partial_sums: P) -> P:
    """Merge neighbours in pairs, level by level, until one is left.

    The inputs are copied: if a worker is lost, the task may run again.
    """
    level = list(copy.deepcopy(partial_sums))
    while len(level) > 1:
        for first, *second in runs(level, 2):
            for other in second:
                first.merge(other)
        level = level[::2]
    return level[0]


def in_task() -> bool:
    """Return whether this code runs inside a task, on a thread of a worker."""
    from distributed import get_worker

    with suppress(ValueError):
        get_worker()
        return True
    return False

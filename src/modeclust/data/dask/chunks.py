"""The chunks of a Dask collection: their statistics, and how tasks on them are run and merged.

Dask is imported where it is used. Tasks run on the current scheduler. Results are merged on the
workers, in the order of the chunks and always in the same tree.
"""

import copy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.data.dataset import P
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Rescaling

T = TypeVar("T")
Doubles = npt.NDArray[np.float64]

# Number of results that one task merges, in pairs: a power of 2.
FAN_IN = 8


def is_dask(X: Any) -> bool:
    """Return whether `X` is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def on_workers(function: Callable[..., Any], *arguments: Any, worker: str | None = None) -> Any:
    """Return a task that calls a function; equal tasks are not merged into one.

    It prefers the given worker.
    """
    from dask import annotate, delayed

    if worker is None:
        return delayed(function, pure=False)(*arguments)
    with annotate(workers=[worker], allow_other_workers=True):
        return delayed(function, pure=False)(*arguments)


def sent(value: Any) -> Any:
    """Return a task whose result is `value`: it is sent once, not with each task."""
    from dask import delayed

    return delayed(value, name=f"modeclust-{uuid4().hex}", traverse=False)


def computed(*tasks: Any) -> tuple[Any, ...]:
    """Return the results of tasks."""
    from dask import compute

    client, lost = current_client(), None
    if client is None or client.status == "running":
        try:
            results: tuple[Any, ...] = compute(*tasks, optimize_graph=False, traverse=False)
            return results
        except Exception as error:
            if client is None or client.status == "running":
                raise
            lost = error
    raise ConnectionError(
        f"The connection to the Dask scheduler at {client.scheduler.address} was lost, and the fit "
        "with it; where it has a checkpoint, the same call goes on from there."
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

    try:
        return default_client()
    except ValueError:
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

    try:
        get_worker()
    except ValueError:
        return False
    return True


@dataclass
class ChunkStats:
    """Sizes, limits and validity of one or more chunks."""

    lengths: list[int]
    n_bytes: int
    lowest: Doubles  # (D,)
    highest: Doubles
    has_nan: bool
    has_inf: bool
    is_sparse: bool

    def merge(self, other: "ChunkStats") -> None:
        """Add the statistics of the chunks that follow."""
        self.lengths = self.lengths + other.lengths
        self.n_bytes += other.n_bytes
        self.lowest = np.minimum(self.lowest, other.lowest)
        self.highest = np.maximum(self.highest, other.highest)
        self.has_nan |= other.has_nan
        self.has_inf |= other.has_inf
        self.is_sparse |= other.is_sparse


def chunk_stats(part: Any) -> ChunkStats:
    """Return the statistics of a chunk."""
    if is_sparse(part) and part.format not in ("csr", "csc"):
        part = sparse.csr_array(part)
    values = part.data if is_sparse(part) else np.asarray(part)
    n_rows, n_features = part.shape
    if values.dtype.kind not in "fiub":
        values = values.astype(np.float64)  # or an error that says what it is
    finite = np.isfinite(values)
    lowest, highest = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    if n_rows and finite.all():
        if is_sparse(part):
            lowest, highest = (
                end(axis=0).toarray().ravel().astype(np.float64) for end in (part.min, part.max)
            )
        else:
            lowest, highest = (end(axis=0).astype(np.float64) for end in (values.min, values.max))
    has_nan = bool(np.isnan(values).any())
    n_bytes = values.nbytes + (part.indices.nbytes if is_sparse(part) else 0)
    has_inf = not has_nan and not finite.all()
    return ChunkStats([n_rows], n_bytes, lowest, highest, has_nan, has_inf, is_sparse(part))


class Column(NamedTuple):
    """One number per row, in the chunks of a collection."""

    parts: list[Any]  # tasks or arrays
    lowest: float
    highest: float
    total: float
    n_positive: npt.NDArray[np.int64]  # in each part
    is_whole: bool  # whether all numbers are integers

    @classmethod
    def of(cls, parts: Sequence[Any]) -> "Column":
        """Return a column and its statistics."""
        parts = list(parts)
        found = computed(*(on_workers(_describe, part) for part in parts))
        lowest, highest, total, n_positive, is_whole = zip(*found, strict=True)
        return cls(
            parts, min(lowest), max(highest), sum(total), np.array(n_positive), all(is_whole)
        )

    def over(self, divisor: float) -> "Column":
        """Return the column divided by a number."""
        parts = [on_workers(np.divide, part, divisor) for part in self.parts]
        return Column.of(parts)


def _describe(part: Any) -> tuple[float, float, float, int, bool]:
    values = np.asarray(part, dtype=np.float64)
    if not len(values):
        return np.inf, -np.inf, 0.0, 0, True
    # NaN comes through.
    is_whole = bool(np.all(values == np.round(values)))
    return values.min(), values.max(), values.sum(), int(np.sum(values > 0)), is_whole


@dataclass(frozen=True)
class Chunks:
    """The checked rows of a Dask array."""

    X: Any  # the array
    parts: list[Any]  # tasks that give its rows, dense or CSR
    n_features: int
    dtype: np.dtype[Any]  # in which they are read
    stats: ChunkStats

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return sum(self.stats.lengths), self.n_features

    @property
    def rescaling(self) -> Rescaling:
        """The rescaling for these rows."""
        stats = self.stats
        return Rescaling.from_limits(stats.lowest, stats.highest, stats.is_sparse, self.dtype)

    def prepared(self, rescaling: Rescaling) -> list[Any]:
        """Return tasks that give the rescaled rows in the form that passes read."""
        shared_rescaling = sent(rescaling)
        return [
            on_workers(_prepare, part, shared_rescaling, self.dtype, worker=worker)
            for part, worker in zip(self.parts, self.workers, strict=True)
        ]

    @cached_property
    def workers(self) -> list[str | None]:
        """The worker for each chunk: the one that holds it, or else that of its neighbours."""
        client = current_client()
        workers = client and list(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            return [None] * len(self.parts)
        from distributed import futures_of

        holders = client.who_has(futures_of(self.X)) if futures_of(self.X) else {}
        near = np.arange(len(self.parts)) * len(workers) // len(self.parts)
        return [
            next(iter(holders.get(part.key, ())), workers[number])
            for part, number in zip(self.parts, near, strict=True)
        ]


def _prepare(part: Any, rescaling: Rescaling, dtype: np.dtype[Any]) -> Any:
    if is_sparse(part):
        part = sparse.csr_array(part, dtype=dtype)
        if not part.has_canonical_format:
            part = part.copy()
            part.sum_duplicates()
    else:
        part = np.ascontiguousarray(part, dtype=dtype)
    return rescaling.to_internal(part)

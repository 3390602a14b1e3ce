"""Tables in the chunks of a Dask collection: what is known of them, and how they are gone over.

Dask is imported where it is used. A graph of tasks runs on whatever scheduler is current; what
comes back has been merged on the way, in the order of the chunks and always in the same tree.
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
from modeclust.data.rescaling import Units

T = TypeVar("T")
Doubles = npt.NDArray[np.float64]

# So many results are merged by one task, in pairs: a power of 2.
FAN_IN = 8


def is_dask(X: Any) -> bool:
    """Return whether `X` is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def on_workers(function: Callable[..., Any], *arguments: Any, place: str | None = None) -> Any:
    """Return a task that calls a function, which is never taken for an equal one.

    It runs at a place, if there is one, unless that is gone.
    """
    from dask import annotate, delayed

    if place is None:
        return delayed(function, pure=False)(*arguments)
    with annotate(workers=[place], allow_other_workers=True):
        return delayed(function, pure=False)(*arguments)


def sent(value: Any) -> Any:
    """Return a task whose result is `value`, which so goes out once and not with each task."""
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
    """Return tasks of which the results stay where they are found."""
    from dask import persist

    return list(persist(*tasks, optimize_graph=False, traverse=False))


def current_client() -> Any:
    """Return the client of a cluster, or None where Dask works in this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def merged(tasks: Sequence[Any]) -> Any:
    """Return what the results of `tasks` leave, merged on the workers as `merge` would."""
    level = list(tasks)
    while len(level) > 1:
        level = [on_workers(merge, *run) for run in runs(level, FAN_IN)]
    (result,) = computed(*level)
    return result


def runs(items: Sequence[T], length: int) -> list[Sequence[T]]:
    """Return items in runs of a length, of which the last may be shorter."""
    return [items[first : first + length] for first in range(0, len(items), length)]


def merge(*partials: P) -> P:
    """Merge neighbours in pairs, and so on, until one is left; an odd one waits for the next turn.

    They are copied before: where a worker is lost, the task may run once more.
    """
    level = list(copy.deepcopy(partials))
    while len(level) > 1:
        for first, *second in runs(level, 2):
            for other in second:
                first.merge(other)
        level = level[::2]
    return level[0]


def in_task() -> bool:
    """Return whether this runs in a task, which holds a thread of its worker."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


@dataclass
class Look:
    """What a first look at some rows shows."""

    lengths: list[int]
    n_bytes: int
    lowest: Doubles  # (D,)
    highest: Doubles
    has_nan: bool
    has_inf: bool
    is_sparse: bool

    def merge(self, other: "Look") -> None:
        """Add what other rows show."""
        self.lengths = self.lengths + other.lengths
        self.n_bytes += other.n_bytes
        self.lowest = np.minimum(self.lowest, other.lowest)
        self.highest = np.maximum(self.highest, other.highest)
        self.has_nan |= other.has_nan
        self.has_inf |= other.has_inf
        self.is_sparse |= other.is_sparse


def look_at(part: Any) -> Look:
    """Return what a first look at a chunk shows."""
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
    return Look([n_rows], n_bytes, lowest, highest, has_nan, has_inf, is_sparse(part))


class Column(NamedTuple):
    """A number for each row, in the chunks of a table."""

    parts: list[Any]  # tasks or arrays
    lowest: float
    highest: float
    total: float
    n_positive: npt.NDArray[np.int64]  # in each part
    is_whole: bool  # whether all are whole numbers

    @classmethod
    def of(cls, parts: Sequence[Any]) -> "Column":
        """Return a column, of which all numbers are looked at."""
        parts = list(parts)
        found = computed(*(on_workers(_describe, part) for part in parts))
        lowest, highest, total, n_positive, is_whole = zip(*found, strict=True)
        return cls(
            parts, min(lowest), max(highest), sum(total), np.array(n_positive), all(is_whole)
        )

    def over(self, divisor: float) -> "Column":
        """Return the numbers over another."""
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
    """The rows of a Dask array, looked at and found in order."""

    X: Any  # the array
    parts: list[Any]  # tasks that give its rows, dense or CSR
    n_features: int
    dtype: np.dtype[Any]  # in which they are read
    look: Look

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return sum(self.look.lengths), self.n_features

    @property
    def units(self) -> Units:
        """The units that suit the rows."""
        look = self.look
        return Units.within(look.lowest, look.highest, look.is_sparse, self.dtype)

    def prepared(self, units: Units) -> list[Any]:
        """Return tasks that give the rows as passes read them, in some units."""
        units_there = sent(units)
        return [
            on_workers(_prepare, part, units_there, self.dtype, place=place)
            for part, place in zip(self.parts, self.places, strict=True)
        ]

    @cached_property
    def places(self) -> list[str | None]:
        """The workers where the chunks are to be: where they are, or neighbours together."""
        client = current_client()
        workers = client and list(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            return [None] * len(self.parts)
        from distributed import futures_of

        holders = client.who_has(futures_of(self.X)) if futures_of(self.X) else {}
        near = np.arange(len(self.parts)) * len(workers) // len(self.parts)
        return [
            next(iter(holders.get(part.key, ())), workers[place])
            for part, place in zip(self.parts, near, strict=True)
        ]


def _prepare(part: Any, units: Units, dtype: np.dtype[Any]) -> Any:
    if is_sparse(part):
        part = sparse.csr_array(part, dtype=dtype)
        if not part.has_canonical_format:
            part = part.copy()
            part.sum_duplicates()
    else:
        part = np.ascontiguousarray(part, dtype=dtype)
    return units.inward(part)

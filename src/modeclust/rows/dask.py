"""Rows in the chunks of a Dask collection, wherever its scheduler keeps them.

Each chunk is gone over by a task, with one thread. Labels and bounds stay in the memory of the
process that last did so. They are a cache: the client remembers the centroids that the labels
belong to, and a task that finds none, or those of another pass, finds them anew.
"""

import os
import sys
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from modeclust.kernels import GAUSSIAN
from modeclust.rows.chunks import Chunks, Column, computed, merged, on_workers, sent
from modeclust.rows.mean_step import MeanStep
from modeclust.rows.memory import Memory, MemoryRows
from modeclust.rows.mode_step import ModeStep
from modeclust.rows.protocols import P, Step, step_assigns
from modeclust.rows.reading import is_sparse
from modeclust.rows.sample import Sample
from modeclust.rows.units import Units

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Chunks are kept in memory where they take at most this share of it.
SHARE_OF_MEMORY = 0.5
# The labels of so many fits are remembered by a process.
MOST_FITS = 4
_memories: OrderedDict[str, dict[int, tuple[int, Memory]]] = OrderedDict()
_lock = Lock()


class Recall(NamedTuple):
    """Which labels the rows have: those of the nearest of some centroids."""

    fit: str
    version: int  # the number of passes that assigned
    centroids: Doubles | None


class Place(NamedTuple):
    """Which of the chunks one is."""

    number: int
    first_row: int


class DaskRows:
    """The rows of `Chunks`, in units that suit them, and passes over them."""

    def __init__(
        self,
        chunks: Chunks,
        units: Units,
        *,
        weight: Column | None = None,
        scale: Column | None = None,
        n_clusters: int = 1,
    ) -> None:
        self.n_rows, self.n_features = chunks.shape
        self.dtype = chunks.dtype
        self.is_sparse = chunks.look.is_sparse
        self.weight = weight
        self.scale = scale
        self._lengths = np.array(chunks.look.lengths)
        self._firsts = np.concatenate([[0], np.cumsum(self._lengths)])[:-1]
        self._n_clusters = n_clusters
        self._recall = Recall(uuid4().hex, 0, None)
        self._parts = chunks.prepared(units)
        if chunks.look.n_bytes <= SHARE_OF_MEMORY * memory_of_workers():
            self._parts = _persisted(self._parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        _forget_everywhere(self._recall.fit)

    def set_relative_scale(self, scale: Column) -> float:
        """Give each row a local scale over their mean by the weights, and return the mean."""
        mean = self.mean(scale)
        self.scale = scale.over(mean)
        return mean

    def reduce(self, step: Step[P]) -> P:
        """Do one pass over the rows, and return what it leaves of all of them."""
        tasks = self._tasks(_pass, sent((step, self._recall)))
        result: P = merged(tasks) if tasks else step.start()
        if step_assigns(step):
            fit, version, _ = self._recall
            self._recall = Recall(fit, version + 1, step.centroids)  # type: ignore[attr-defined]
        return result

    def labels_at(self, indices: Indices) -> npt.NDArray[np.int32]:
        """Return the labels of some rows."""
        found = self._at(_labels_at, indices, sent(self._recall))
        return np.concatenate([np.empty(0, np.int32), *found])[_places_back(indices)]

    def take(self, indices: Indices) -> Sample:
        """Return the rows at `indices` with their weights."""
        found = self._at(_take, indices)
        order = _places_back(indices)
        together = joined(found)
        return Sample(together.X[order], together.weight[order])

    def sample(self, n_rows: int, rng: np.random.RandomState) -> Sample:
        """Return `n_rows` rows of positive weight, without replacement, or all if fewer."""
        return self.take_present(self.draw(n_rows, rng))

    def draw(self, n_rows: int, rng: np.random.RandomState) -> dict[int, Indices]:
        """Return a sample: for some chunks, places among their rows of positive weight."""
        counts = self._lengths if self.weight is None else self.weight.n_positive
        n_present = int(counts.sum())
        chosen = np.arange(n_present)
        if n_rows < n_present:
            chosen = np.sort(sample_without_replacement(n_present, n_rows, random_state=rng))
        ends = np.cumsum(counts)
        number = np.searchsorted(ends, chosen, side="right")
        within = chosen - (ends - counts)[number]
        return {int(n): within[number == n] for n in np.unique(number)}

    def take_present(self, drawn: dict[int, Indices]) -> Sample:
        """Return rows that were drawn."""
        tasks = [
            on_workers(_take_present, self._parts[n], self._part(self.weight, n), within)
            for n, within in drawn.items()
        ]
        return joined(computed(*tasks))

    def merge_of(self, function: Any, *arguments: Any) -> Any:
        """Return what a function of each chunk's rows and weights leaves, merged."""
        return merged(
            [
                on_workers(function, self._parts[n], self._part(self.weight, n), *arguments)
                for n in np.flatnonzero(self._lengths)
            ]
        )

    def column_of(self, function: Any, arguments: dict[int, Any], *shared: Any) -> list[Any]:
        """Return tasks that give numbers for the rows of each chunk, by a function of it."""
        return _persisted(
            [
                on_workers(function, part, self._part(self.weight, n), arguments.get(n), *shared)
                for n, part in enumerate(self._parts)
            ]
        )

    @property
    def n_counted(self) -> float:
        """The number of rows, each as often as a whole weight says."""
        if self.weight is None:
            return float(self.n_rows)
        return self.weight.total if self.weight.is_whole else float(self.weight.n_positive.sum())

    def distinct(self) -> Sample:
        """Return one row for each distinct row of all, weighted by all of its kind."""
        return joined(computed(*self._tasks(_distinct))).distinct()

    def split(self, values: Doubles) -> list[Doubles]:
        """Return a number for each row in the parts of the chunks."""
        return np.split(values, self._firsts[1:])

    def weights_or_ones(self) -> list[Any]:
        """Return the weights in each chunk, or None for 1."""
        return [None] * len(self._parts) if self.weight is None else self.weight.parts

    def mean(self, column: Column) -> float:
        """Return the mean of a column, by the weights of the rows."""
        pairs = zip(column.parts, self.weights_or_ones(), strict=True)
        sums = computed(*(on_workers(_weighted_sum, *pair) for pair in pairs))
        total, weight = np.sum(sums, axis=0)
        return float(total / weight)

    def gather(self) -> Sample:
        """Return all rows, where they are few."""
        return self.take(np.arange(self.n_rows))

    def _part(self, column: Column | None, number: int) -> Any:
        return None if column is None else column.parts[number]

    def _tasks(self, function: Any, *arguments: Any) -> list[Any]:
        """Return a task for each chunk that has rows."""
        return [
            on_workers(function, *self._chunk(number), *arguments)
            for number in np.flatnonzero(self._lengths)
        ]

    def _chunk(self, number: int) -> tuple[Any, ...]:
        """Return what tells one chunk to a task."""
        return (
            self._parts[number],
            self._part(self.weight, number),
            self._part(self.scale, number),
            Place(int(number), int(self._firsts[number])),
            self._n_clusters,
        )

    def _at(self, function: Any, indices: Indices, *arguments: Any) -> tuple[Any, ...]:
        """Return what a function finds at some rows, chunk by chunk."""
        number = np.searchsorted(self._firsts, np.sort(indices), side="right") - 1
        within = np.sort(indices) - self._firsts[number]
        return computed(
            *(
                on_workers(function, *self._chunk(n), within[number == n], *arguments)
                for n in np.unique(number)
            )
        )


def joined(samples: Sequence[Sample]) -> Sample:
    """Return the rows of several samples as one."""
    weight = np.concatenate([sample.weight for sample in samples])
    if is_sparse(samples[0].X):
        return Sample(sparse.csr_array(sparse.vstack([s.X for s in samples], format="csr")), weight)
    return Sample(np.concatenate([sample.X for sample in samples]), weight)


def memory_of_workers() -> float:
    """Return how much memory there is for chunks, in bytes."""
    client = current_client()
    if client is not None:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        return float(sum(worker["memory_limit"] or np.inf for worker in workers))
    return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")


def current_client() -> Any:
    """Return the client of a cluster, or None where Dask works in this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _persisted(tasks: list[Any]) -> list[Any]:
    from dask import persist

    return list(persist(*tasks, optimize_graph=False, traverse=False))


def _places_back(indices: Indices) -> Indices:
    """Return where each of some indices is among the same in order."""
    return np.argsort(np.argsort(indices, kind="stable"), kind="stable")


# What follows runs in tasks.


def present_rows(X: Any, weight: Any) -> tuple[Any, Doubles]:
    """Return a chunk's rows of positive weight, and the weights."""
    if weight is None:
        return X, np.ones(X.shape[0])
    weight = np.asarray(weight, dtype=np.float64)
    present = np.flatnonzero(weight)
    return (X, weight) if len(present) == len(weight) else (X[present], weight[present])


def _open(
    X: Any, weight: Any, scale: Any, place: Place, n_clusters: int, memory: Memory | None = None
) -> MemoryRows:
    return MemoryRows(
        X,
        weight=None if weight is None else np.asarray(weight, dtype=np.float64),
        scale=None if scale is None else np.asarray(scale, dtype=np.float64),
        n_clusters=n_clusters,
        n_jobs=1,
        first_row=place.first_row,
        memory=memory,
    )


def _pass(*arguments: Any) -> Any:
    """Do a pass over one chunk."""
    *chunk, (step, recall) = arguments
    rows = _recalled(*chunk, recall, step)
    partials = rows.reduce(step)
    _remember(recall, chunk[3].number, recall.version + step_assigns(step), rows.memory)
    return partials


def _recalled(
    X: Any, weight: Any, scale: Any, place: Place, n_clusters: int, recall: Recall, step: Any = None
) -> MemoryRows:
    """Open a chunk with the labels that it has by the passes so far."""
    with _lock:
        # Taken out: what a task leaves that does not end is of no use.
        version, memory = _memories.get(recall.fit, {}).pop(place.number, (-1, None))
    if version == recall.version:
        return _open(X, weight, scale, place, n_clusters, memory)
    rows = _open(X, weight, scale, place, n_clusters)
    if recall.centroids is not None:
        again: Any = ModeStep(recall.centroids, GAUSSIAN, inverse_squared_bandwidth=0.0)
        rows.reduce(MeanStep(recall.centroids) if isinstance(step, MeanStep) else again)
    return rows


def _remember(recall: Recall, number: int, version: int, memory: Memory) -> None:
    with _lock:
        _memories.setdefault(recall.fit, {})[number] = (version, memory)
        _memories.move_to_end(recall.fit)
        while len(_memories) > MOST_FITS:
            _memories.popitem(last=False)


def _forget(fit: str) -> None:
    with _lock:
        _memories.pop(fit, None)


def _forget_everywhere(fit: str) -> None:
    _forget(fit)
    client = current_client()
    if client is not None and client.status == "running":
        with suppress(Exception):  # a worker that is gone has forgotten
            client.run(_forget, fit)


def _labels_at(*arguments: Any) -> npt.NDArray[np.int32]:
    *chunk, indices, recall = arguments
    rows = _recalled(*chunk, recall)
    labels = rows.labels_at(indices)
    _remember(recall, chunk[3].number, recall.version, rows.memory)
    return labels


def _take(*arguments: Any) -> Sample:
    *chunk, indices = arguments
    return _open(*chunk).take(indices)


def _take_present(X: Any, weight: Any, indices: Indices) -> Sample:
    """Return rows by their places among those of positive weight."""
    X, weight = present_rows(X, weight)
    return Sample(X[indices], weight[indices])


def _weighted_sum(values: Any, weight: Any) -> tuple[float, float]:
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    return float(values @ weight), float(weight.sum())


def _distinct(*chunk: Any) -> Sample:
    return _open(*chunk).distinct()

"""Rows in the chunks of a Dask collection, wherever its scheduler keeps them.

Each chunk is gone over by a task, with one thread. Labels and bounds stay in the memory of the
process that last did so. They are a cache: the client remembers the centroids that the labels
belong to, and a task that finds none, or those of another pass, finds them anew.
"""

import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
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


class DaskRows:
    """The rows of `Chunks`, in units that suit them, and passes over them.

    Use it as a context manager: what the workers remember of a fit they forget at its end.
    """

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
        if chunks.look.n_bytes <= SHARE_OF_MEMORY * memory_for_chunks():
            self._parts = _persisted(self._parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        _forget(self._recall.fit)
        client = current_client()
        if client is not None:
            with suppress(Exception):  # a worker that is gone has forgotten
                client.run(_forget, self._recall.fit)

    def set_relative_scale(self, scale: Column) -> float:
        """Give each row a local scale over their mean by the weights, and return the mean."""
        mean = self.mean(scale)
        self.scale = scale.over(mean)
        return mean

    def reduce(self, step: Step[P]) -> P:
        """Do one pass over the rows, and return what it leaves of all of them."""
        order = sent((step, self._recall))
        result: P = merged([self.task(n, _pass, order) for n in self.occupied])
        if step_assigns(step):
            fit, version, _ = self._recall
            self._recall = Recall(fit, version + 1, step.centroids)  # type: ignore[attr-defined]
        return result

    def labels(self) -> npt.NDArray[np.int32]:
        """Return each row's label by the last pass that assigned."""
        return self.labels_at(np.arange(self.n_rows))

    def labels_at(self, indices: Indices) -> npt.NDArray[np.int32]:
        """Return the labels of some rows."""
        found = self._at(_labels_at, indices, sent(self._recall))
        return np.concatenate([np.empty(0, np.int32), *found])[_places_back(indices)]

    def take(self, indices: Indices) -> Sample:
        """Return the rows at `indices` with their weights."""
        together = joined(self._at(_take, indices))
        order = _places_back(indices)
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
        return {n: within[number == n] for n in np.unique(number).tolist()}

    def take_present(self, drawn: dict[int, Indices]) -> Sample:
        """Return rows that were drawn."""
        tasks = (self.task(n, _take_present, places) for n, places in drawn.items())
        return joined(computed(*tasks))

    def distinct(self) -> Sample:
        """Return one row for each distinct row of all, weighted by all of its kind."""
        return joined(computed(*(self.task(n, _distinct) for n in self.occupied))).distinct()

    def gather(self) -> Sample:
        """Return all rows, where they are few."""
        return self.take(np.arange(self.n_rows))

    def split(self, values: Doubles) -> list[Doubles]:
        """Return a number for each row in the parts of the chunks."""
        return np.split(values, self._firsts[1:])

    def mean(self, column: Column) -> float:
        """Return the mean of a column, by the weights of the rows."""
        parts = enumerate(column.parts)
        sums = computed(*(self.task(n, _weighted_sum, part) for n, part in parts))
        total, weight = np.sum(sums, axis=0)
        return float(total / weight)

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.n_rows) if self.weight is None else self.weight.total

    @property
    def n_counted(self) -> float:
        """The number of rows, each as often as a whole weight says."""
        if self.weight is None:
            return float(self.n_rows)
        return self.weight.total if self.weight.is_whole else float(self.weight.n_positive.sum())

    @property
    def occupied(self) -> list[int]:
        """The numbers of the chunks that have rows."""
        return [number for number, length in enumerate(self._lengths) if length]

    @property
    def n_chunks(self) -> int:
        """The number of chunks."""
        return len(self._parts)

    def task(self, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task that calls a function of one `Chunk` and of other arguments."""
        return on_workers(
            _on_chunk,
            function,
            self._parts[number],
            None if self.weight is None else self.weight.parts[number],
            None if self.scale is None else self.scale.parts[number],
            number,
            int(self._firsts[number]),
            self._n_clusters,
            *arguments,
        )

    def _at(
        self, function: Callable[..., Any], indices: Indices, *arguments: Any
    ) -> tuple[Any, ...]:
        """Return what a function finds at some rows, chunk by chunk."""
        number = np.searchsorted(self._firsts, np.sort(indices), side="right") - 1
        within = np.sort(indices) - self._firsts[number]
        return computed(
            *(
                self.task(n, function, within[number == n], *arguments)
                for n in np.unique(number).tolist()
            )
        )


def joined(samples: Sequence[Sample]) -> Sample:
    """Return the rows of several samples as one."""
    weight = np.concatenate([sample.weight for sample in samples])
    if is_sparse(samples[0].X):
        return Sample(sparse.csr_array(sparse.vstack([s.X for s in samples], format="csr")), weight)
    return Sample(np.concatenate([sample.X for sample in samples]), weight)


def memory_for_chunks() -> float:
    """Return how much memory the workers have, or this machine where there are none, in bytes."""
    client = current_client()
    if client is None:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return float(sum(worker["memory_limit"] or np.inf for worker in workers))


def current_client() -> Any:
    """Return the client of a cluster, or None where Dask works in this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        return None
    return client if client.status == "running" else None


def _persisted(tasks: list[Any]) -> list[Any]:
    from dask import persist

    return list(persist(*tasks, optimize_graph=False, traverse=False))


def _places_back(indices: Indices) -> Indices:
    """Return where each of some indices is among the same in order."""
    return np.argsort(np.argsort(indices, kind="stable"), kind="stable")


# What follows runs in tasks.


class Chunk(NamedTuple):
    """The rows of one chunk, as a task has them."""

    X: Any
    weight: Doubles | None
    scale: Doubles | None
    number: int
    first_row: int
    n_clusters: int

    def open(self, memory: Memory | None = None) -> MemoryRows:
        """Return a home of the rows, with what is known of them."""
        return MemoryRows(
            self.X,
            weight=self.weight,
            scale=self.scale,
            n_clusters=self.n_clusters,
            n_jobs=1,
            first_row=self.first_row,
            memory=memory,
        )

    def present(self) -> Sample:
        """Return the rows of positive weight, and the weights."""
        if self.weight is None:
            return Sample(self.X, np.ones(self.X.shape[0]))
        present = np.flatnonzero(self.weight)
        if len(present) == len(self.weight):
            return Sample(self.X, self.weight)
        return Sample(self.X[present], self.weight[present])


def _on_chunk(
    function: Callable[..., Any], X: Any, weight: Any, scale: Any, *arguments: Any
) -> Any:
    number, first_row, n_clusters, *others = arguments
    weight, scale = (None if c is None else np.asarray(c, np.float64) for c in (weight, scale))
    return function(Chunk(X, weight, scale, number, first_row, n_clusters), *others)


def _pass(chunk: Chunk, order: tuple[Any, Recall]) -> Any:
    step, recall = order
    rows = _recalled(chunk, recall, for_means=isinstance(step, MeanStep))
    partials = rows.reduce(step)
    _remember(recall, chunk.number, recall.version + step_assigns(step), rows.memory)
    return partials


def _recalled(chunk: Chunk, recall: Recall, *, for_means: bool = False) -> MemoryRows:
    """Open a chunk with the labels that it has by the passes so far."""
    with _lock:
        # Taken out: what a task leaves that does not end is of no use.
        version, memory = _memories.get(recall.fit, {}).pop(chunk.number, (-1, None))
    if version == recall.version:
        return chunk.open(memory)
    rows = chunk.open()
    if recall.centroids is not None:
        again: Any = ModeStep(recall.centroids, GAUSSIAN, inverse_squared_bandwidth=0.0)
        rows.reduce(MeanStep(recall.centroids) if for_means else again)
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


def _labels_at(chunk: Chunk, indices: Indices, recall: Recall) -> npt.NDArray[np.int32]:
    rows = _recalled(chunk, recall)
    labels = rows.labels_at(indices)
    _remember(recall, chunk.number, recall.version, rows.memory)
    return labels


def _take(chunk: Chunk, indices: Indices) -> Sample:
    return chunk.open().take(indices)


def _take_present(chunk: Chunk, places: Indices) -> Sample:
    X, weight = chunk.present()
    return Sample(X[places], weight[places])


def _distinct(chunk: Chunk) -> Sample:
    return chunk.open().distinct()


def _weighted_sum(chunk: Chunk, values: Any) -> tuple[float, float]:
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(values)) if chunk.weight is None else chunk.weight
    return float(values @ weight), float(weight.sum())

"""One chunk of rows, as a process has it that goes over it, with one thread.

Labels and bounds stay in the memory of the process that last went over a chunk. They are a
cache: whoever asks for a pass remembers the centroids that the labels belong to, and a process
that finds no labels, or those of another pass, finds them anew.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.data.dataset import step_assigns
from modeclust.data.mean_pass import MeanPass
from modeclust.data.memory import Memory, MemoryRows
from modeclust.data.mode_pass import ModePass
from modeclust.data.sample import Sample
from modeclust.kernels import GAUSSIAN

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# The labels of so many fits are remembered by a process.
MOST_FITS = 4
_memories: OrderedDict[str, dict[int, tuple[int, Memory]]] = OrderedDict()
_lock = Lock()


class Recall(NamedTuple):
    """Which labels the rows have: those of the nearest of some centroids."""

    fit: str
    version: int  # the number of passes that assigned
    centroids: Doubles | None


class Chunk(NamedTuple):
    """The rows of one chunk, with their weights and scales."""

    X: Any
    weight: Doubles | None
    scale: Doubles | None
    number: int
    first_row: int
    n_clusters: int

    @classmethod
    def of(cls, X: Any, weight: Any, scale: Any, *others: Any) -> "Chunk":
        """Return a chunk with its columns as passes read them."""
        columns: Any = (None if c is None else np.asarray(c, np.float64) for c in (weight, scale))
        return cls(X, *columns, *others)

    def scaled(self, scale: Doubles) -> "Chunk":
        """Return the chunk with other local scales."""
        return self._replace(scale=np.asarray(scale, np.float64))

    def open(self, memory: Memory | None = None) -> MemoryRows:
        """Return a home of the rows, with what is known of them."""
        return MemoryRows(
            self.X,
            weight=self.weight,
            scale=self.scale,
            n_clusters=self.n_clusters,
            n_jobs=1,
            n_blocks=1,  # for the one thread
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


def go_over(chunk: Chunk, order: tuple[Any, Recall]) -> Any:
    """Do a pass over the chunk, and return what it leaves."""
    step, recall = order
    rows = _recalled(chunk, recall, for_means=isinstance(step, MeanPass))
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
        again: Any = ModePass(recall.centroids, GAUSSIAN, inverse_squared_bandwidth=0.0)
        rows.reduce(MeanPass(recall.centroids) if for_means else again)
    return rows


def _remember(recall: Recall, number: int, version: int, memory: Memory) -> None:
    with _lock:
        _memories.setdefault(recall.fit, {})[number] = (version, memory)
        _memories.move_to_end(recall.fit)
        while len(_memories) > MOST_FITS:
            _memories.popitem(last=False)


def forget(fit: str) -> None:
    """Let go of the labels of a fit."""
    with _lock:
        _memories.pop(fit, None)


def labels_at(chunk: Chunk, indices: Indices, recall: Recall) -> npt.NDArray[np.int32]:
    """Return the labels of some rows of the chunk."""
    rows = _recalled(chunk, recall)
    labels = rows.labels_at(indices)
    _remember(recall, chunk.number, recall.version, rows.memory)
    return labels


def take(chunk: Chunk, indices: Indices) -> Sample:
    """Return some rows of the chunk."""
    return chunk.open().take(indices)


def take_present(chunk: Chunk, places: Indices) -> Sample:
    """Return some of the rows of positive weight."""
    X, weight = chunk.present()
    return Sample(X[places], weight[places])


def distinct(chunk: Chunk) -> Sample:
    """Return one row for each distinct row of the chunk."""
    return chunk.open().distinct()


def weighted_sum(chunk: Chunk, values: Any) -> tuple[float, float]:
    """Return the sum of some numbers by the weights of the rows, and that of the weights."""
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(values)) if chunk.weight is None else chunk.weight
    return float(values @ weight), float(weight.sum())

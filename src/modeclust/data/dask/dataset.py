"""Rows in the chunks of a Dask collection, wherever its scheduler keeps them.

Passes are tasks, one for each chunk; where a cluster keeps the chunks in memory, they are done by
those who have them (`residents`), which spares the scheduler's time. Both give the same bits.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from modeclust.data.dask import chunk as on_chunk
from modeclust.data.dask.actors import Residents
from modeclust.data.dask.chunk import Chunk, Indices, Recall
from modeclust.data.dask.chunks import (
    Chunks,
    Column,
    computed,
    current_client,
    in_task,
    merged,
    on_workers,
    persisted,
    sent,
)
from modeclust.data.dataset import P, Step, step_assigns
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Units
from modeclust.data.sample import Sample
from modeclust.machine import memory

Doubles = npt.NDArray[np.float64]

logger = logging.getLogger(__name__)

# Chunks are kept in memory where they take at most this share of it.
SHARE_OF_MEMORY = 0.5
# Residents are called together until they were lost, or did not come, so many times.
MOST_LOSSES = 5


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
        self._recall = Recall(uuid4().hex, 0, None)
        self._keeps = chunks.look.n_bytes <= SHARE_OF_MEMORY * memory_for_chunks()
        self._residents: Residents | None = None
        self._n_losses = 0
        self._chunks = self._kept(
            on_workers(Chunk.of, *parts, n_clusters, place=place)
            for *parts, place in zip(
                chunks.prepared(units),
                self._parts(weight),
                self._parts(scale),
                range(len(self._lengths)),
                self._firsts.tolist(),
                chunks.places,
                strict=True,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._dismiss()
        self._chunks = []
        on_chunk.forget(self._recall.fit)
        client = current_client()
        if client is not None and client.status == "running":
            with suppress(Exception):  # a worker that is gone has forgotten
                client.run(on_chunk.forget, self._recall.fit, on_error="ignore")

    def set_relative_scale(self, scale: Column) -> float:
        """Give each row a local scale over their mean by the weights, and return the mean."""
        mean = self.mean(scale)
        self.scale = scale.over(mean)
        pairs = zip(self._chunks, self.scale.parts, strict=True)
        self._chunks = self._kept(on_workers(Chunk.scaled, *pair) for pair in pairs)
        self._dismiss()
        return mean

    def reduce(self, step: Step[P]) -> P:
        """Do one pass over the rows, and return what it leaves of all of them."""
        result: P = self._pass((step, self._recall))
        if step_assigns(step):
            fit, version, _ = self._recall
            self._recall = Recall(fit, version + 1, step.centroids)  # type: ignore[attr-defined]
        return result

    def _pass(self, order: tuple[Any, Recall]) -> Any:
        if self._residents is not None:
            with self._if_lost():
                return self._residents.reduce(order)
        there = sent(order)
        result = merged([self.task(n, on_chunk.go_over, there) for n in self.occupied])
        client = current_client()
        if self._keeps and self._n_losses < MOST_LOSSES and client is not None and not in_task():
            with self._if_lost():
                self._residents = Residents(client, [self._chunks[n] for n in self.occupied])
        return result

    @contextmanager
    def _if_lost(self) -> Iterator[None]:
        """Do without residents for a while if a worker is gone."""
        try:
            yield
        except Exception:  # whatever it is: what is wrong with a step comes up again in tasks
            logger.info("A pass goes by tasks: those who have the chunks failed.", exc_info=True)
            self._dismiss()
            self._n_losses += 1

    def _dismiss(self) -> None:
        """Do without residents, who keep chunks as long as they are there."""
        if self._residents is not None:
            with suppress(Exception):
                self._residents.close()
            self._residents = None

    def labels(self) -> npt.NDArray[np.int32]:
        """Return each row's label by the last pass that assigned."""
        return self.labels_at(np.arange(self.n_rows))

    def labels_at(self, indices: Indices) -> npt.NDArray[np.int32]:
        """Return the labels of some rows."""
        found = self._at(on_chunk.labels_at, indices, sent(self._recall))
        return np.concatenate([np.empty(0, np.int32), *found])[_places_back(indices)]

    def take(self, indices: Indices) -> Sample:
        """Return the rows at `indices` with their weights."""
        together = joined(self._at(on_chunk.take, indices))
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
        tasks = (self.task(n, on_chunk.take_present, places) for n, places in drawn.items())
        return joined(computed(*tasks))

    def distinct(self) -> Sample:
        """Return one row for each distinct row of all, weighted by all of its kind."""
        return joined(
            computed(*(self.task(n, on_chunk.distinct) for n in self.occupied))
        ).distinct()

    def gather(self) -> Sample:
        """Return all rows, where they are few."""
        return self.take(np.arange(self.n_rows))

    def split(self, values: Doubles) -> list[Doubles]:
        """Return a number for each row in the parts of the chunks."""
        return np.split(values, self._firsts[1:])

    def mean(self, column: Column) -> float:
        """Return the mean of a column, by the weights of the rows."""
        parts = enumerate(column.parts)
        sums = computed(*(self.task(n, on_chunk.weighted_sum, part) for n, part in parts))
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
        return len(self._chunks)

    def task(self, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task that calls a function of one `Chunk` and of other arguments."""
        return on_workers(function, self._chunks[number], *arguments)

    def _parts(self, column: Column | None) -> list[Any]:
        return [None] * len(self._lengths) if column is None else column.parts

    def _kept(self, tasks: Iterable[Any]) -> list[Any]:
        """Return tasks, done already where their results are to stay in memory."""
        return persisted(list(tasks)) if self._keeps else list(tasks)

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
        return float(memory())
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return float(sum(worker["memory_limit"] or np.inf for worker in workers))


def _places_back(indices: Indices) -> Indices:
    """Return where each of some indices is among the same in order."""
    return np.argsort(np.argsort(indices, kind="stable"), kind="stable")

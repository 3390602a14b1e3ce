"""A dataset in the chunks of a Dask collection.

A pass is one task per chunk. If a cluster keeps the chunks in memory, actors on the workers
(`data/dask/actors.py`) run the pass instead, which saves the overhead of the scheduler. Both give
the same bits.
"""

import copy
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any, Self
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from modeclust.data.dask import chunk as on_chunk
from modeclust.data.dask.actors import ChunkActors
from modeclust.data.dask.chunk import Chunk, LabelVersion
from modeclust.data.dask.chunks import Chunks, Column
from modeclust.data.dask.tasks import (
    computed,
    current_client,
    in_task,
    merged,
    on_workers,
    persisted,
    sent,
)
from modeclust.data.dataset import P, Pass, pass_assigns
from modeclust.data.machine import memory
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, Floats, Indices, is_sparse, row_slices
from modeclust.data.rescaling import Rescaling
from modeclust.data.sample import Sample

logger = logging.getLogger(__name__)

# Chunks are kept in memory if they take at most this share of it.
SHARE_OF_MEMORY = 0.5
# The lengths of all chunks are listed in at most this many characters.
MAX_LOCATION = 60
# After this many failures of the actors, passes run as tasks only.
MAX_FAILURES = 5


class DaskDataset:
    """The rescaled rows of `Chunks`.

    Use it as a context manager: at its end, the workers drop the labels and bounds of the fit.
    """

    stores_labels = False

    def __init__(
        self,
        chunks: Chunks,
        rescaling: Rescaling,
        *,
        weight: Column | None = None,
        scale: Column | None = None,
        n_clusters: int = 1,
    ) -> None:
        self.n_rows, self.n_features = chunks.shape
        self.dtype = chunks.dtype
        self.is_sparse = chunks.stats.is_sparse
        self.unit_length = rescaling.metric == "cosine"
        self.location = f"Dask chunks ({_describe_lengths(chunks.stats.lengths)})"
        self.weight = weight
        self.scale = scale
        self._lengths = np.array(chunks.stats.lengths)
        self._firsts = np.concatenate([[0], np.cumsum(self._lengths)])[:-1]
        self._label_version = LabelVersion(uuid4().hex, 0, None)
        self._keeps = chunks.stats.n_bytes <= SHARE_OF_MEMORY * memory_for_chunks()
        self._actors: ChunkActors | None = None
        self._n_failures = 0
        self._fit_ids = [self._label_version.fit_id]  # with those of copies
        self._chunks = self._kept(
            on_workers(Chunk.of, *parts, n_clusters, worker=worker)
            for *parts, worker in zip(
                chunks.prepared(rescaling),
                self._parts(weight),
                self._parts(scale),
                range(len(self._lengths)),
                self._firsts.tolist(),
                chunks.workers,
                strict=True,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close_actors()
        self._chunks = []
        client = current_client()
        for fit_id in self._fit_ids:
            on_chunk.drop_states(fit_id)
            if client is not None and client.status == "running":
                with suppress(Exception):  # a lost worker has nothing to drop
                    client.run(on_chunk.drop_states, fit_id, on_error="ignore")

    def set_relative_scale(self, scale: Column) -> float:
        """Set the local scales, divided by their weighted mean, and return that mean."""
        mean = self._mean(scale)
        self.scale = scale.over(mean)
        pairs = zip(self._chunks, self.scale.parts, strict=True)
        self._chunks = self._kept(on_workers(Chunk.scaled, *pair) for pair in pairs)
        self._close_actors()
        return mean

    def run(self, pass_: Pass[P]) -> P:
        """Run a pass over all rows, and return its merged result."""
        result: P = self._run((pass_, self._label_version))
        if pass_assigns(pass_):
            fit_id, number, _ = self._label_version
            centers = pass_.centers  # type: ignore[attr-defined]
            self._label_version = LabelVersion(fit_id, number + 1, centers)
        return result

    def _run(self, job: tuple[Any, LabelVersion]) -> Any:
        if self._actors is not None:
            with self._noting_failures():
                return self._actors.run(job)
        shared_job = sent(job)
        result = merged([self.task(n, on_chunk.run_pass, shared_job) for n in self.occupied])
        client = current_client()
        if self._keeps and self._n_failures < MAX_FAILURES and client is not None and not in_task():
            with self._noting_failures():
                self._actors = ChunkActors(client, [self._chunks[n] for n in self.occupied])
        return result

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        """Close the actors after an error, such as the loss of a worker."""
        try:
            yield
        except Exception:  # an error of the pass itself is raised again by the tasks
            logger.info("The actors failed; the pass runs as tasks.", exc_info=True)
            self._close_actors()
            self._n_failures += 1

    def _close_actors(self) -> None:
        """Close the actors, which keep their chunks in memory while they exist."""
        if self._actors is not None:
            with suppress(Exception):
                self._actors.close()
            self._actors = None

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the label of each row by the last pass that assigned labels."""
        return self.labels_at(np.arange(self.n_rows))

    def labels_at(self, indices: Indices) -> npt.NDArray[np.int32]:
        """Return the labels of the rows at `indices`."""
        found = self._at(indices, on_chunk.labels_at, sent(self._label_version))
        return np.concatenate([np.empty(0, np.int32), *found])[_ranks(indices)]

    def weights_at(self, indices: Indices) -> Doubles:
        """Return the weights of the rows at `indices`."""
        if self.weight is None:
            return np.ones(len(indices))
        found = self._at(indices, on_chunk.on_rows, MemoryDataset.weights_at)
        return np.concatenate(found)[_ranks(indices)]

    def take(self, indices: Indices) -> Sample:
        """Return the rows at `indices` with their weights."""
        together = joined(self._at(indices, on_chunk.on_rows, MemoryDataset.take))
        order = _ranks(indices)
        return Sample(together.X[order], together.weight[order], self.unit_length)

    def distances(self, centers: Doubles) -> Floats:
        """Return the distance of each row to each center, (n_rows, K)."""
        arguments = MemoryDataset.distances, sent(centers)
        tasks = (self.task(n, on_chunk.on_rows, *arguments) for n in self.occupied)
        return np.concatenate(computed(*tasks))

    def draw(self, n_rows: int, rng: np.random.RandomState) -> Indices:
        """Draw rows of positive weight without replacement; return the indices of all if fewer."""
        n_present = self.n_present
        chosen = np.arange(n_present)
        if n_rows < n_present:
            chosen = np.sort(sample_without_replacement(n_present, n_rows, random_state=rng))
        if n_present == self.n_rows:
            return chosen
        ends = np.cumsum(self._n_present_by_chunk)
        number = np.searchsorted(ends, chosen, side="right")
        within = chosen - (ends - self._n_present_by_chunk)[number]
        return np.concatenate(self._in_chunks(number, within, on_chunk.present_at))

    def sample(self, n_rows: int, rng: np.random.RandomState) -> Sample:
        """Return `n_rows` rows of positive weight, drawn without replacement, or all if fewer."""
        return self.take(self.draw(n_rows, rng))

    def distinct(self) -> Sample:
        """Return each distinct row once, with the total weight of its copies."""
        counts = self._lengths if self.weight is None else self.weight.n_positive
        present = np.flatnonzero(counts).tolist()
        tasks = (self.task(n, on_chunk.on_rows, MemoryDataset.distinct) for n in present)
        return joined(computed(*tasks)).distinct()

    def present(self, n_gathered: int) -> "MemoryDataset | DaskDataset":
        """Return the rows of positive weight as a dataset without local scales.

        Up to `n_gathered` rows are copied into memory. If there are more, rows of weight 0 remain.
        """
        if self.n_rows <= n_gathered:
            sample = self.sample(self.n_rows, np.random.RandomState(0))
            weight = None if self.weight is None else sample.weight
            return MemoryDataset(sample.rows(), weight=weight, n_jobs=1)
        if self.scale is None:
            return self
        unscaled = copy.copy(self)
        unscaled.scale = None
        unscaled._actors = None
        unscaled._chunks = [on_workers(Chunk.scaled, chunk, None) for chunk in self._chunks]
        unscaled._label_version = LabelVersion(uuid4().hex, 0, None)
        self._fit_ids.append(unscaled._label_version.fit_id)
        unscaled._keeps = False
        return unscaled

    def from_present(self, column: Doubles | Column) -> Column:
        """Return a column of `present` as a column of this dataset; other rows get 1."""
        if isinstance(column, Column):
            return column
        parts = np.split(column, np.cumsum(self._n_present_by_chunk)[:-1])
        return Column.of([self.task(n, on_chunk.fill, part) for n, part in enumerate(parts)])

    def read_parts(self, indices: Indices) -> list[Any]:
        """Return the rows at `indices` in parts, which may be iterated over repeatedly."""
        rows = self.take(indices).X
        return [rows[some] for some in row_slices(len(indices))]

    def merge_parts(self, function: Callable[..., P], *arguments: Any) -> P:
        """Return the merged results of ``function(part, *arguments)``, for `Part` after `Part`."""
        shared = [sent(argument) for argument in (self.weights_are_counts, function, *arguments)]
        result: P = merged([self.task(n, on_chunk.on_part, *shared) for n in self.occupied])
        return result

    def column(self, function: Callable[..., Doubles], *arguments: Any) -> list[Any]:
        """Return the column of the results of ``function(part, *arguments)``.

        The column is kept on the workers: it is used several times, and is slow to compute.
        """
        shared = [sent(argument) for argument in (self.weights_are_counts, function, *arguments)]
        return persisted([on_workers(on_chunk.column, chunk, *shared) for chunk in self._chunks])

    def relative_column(self, column: list[Any], zero: float) -> Column:
        """Return a column divided by its weighted mean; see `Dataset`."""
        least = min(computed(*(on_workers(_least_above, part, zero) for part in column)))
        if np.isinf(least):
            return Column.of(np.split(np.ones(self.n_rows), self._firsts[1:]))
        mean = self._mean(Column.of([on_workers(np.maximum, part, least) for part in column]))
        return Column.of([on_workers(_relative, part, least, mean) for part in column])

    def _mean(self, column: Column) -> float:
        """Return the weighted mean of a column."""
        parts = enumerate(column.parts)
        sums = computed(*(self.task(n, on_chunk.weighted_sum, part) for n, part in parts))
        total, weight = np.sum(sums, axis=0)
        return float(total / weight)

    @property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.n_rows) if self.weight is None else self.weight.total

    @property
    def n_present(self) -> int:
        """The number of rows of positive weight."""
        return int(self._n_present_by_chunk.sum())

    @property
    def _n_present_by_chunk(self) -> npt.NDArray[np.int64]:
        return self._lengths if self.weight is None else self.weight.n_positive

    @property
    def n_counted(self) -> float:
        """The number of rows of positive weight; integer weights count as repetitions."""
        if self.weight is not None and self.weights_are_counts:
            return self.weight.total
        return float(self.n_present)

    @property
    def weights_are_counts(self) -> bool:
        """Whether all weights are integers, which stand for repeated rows."""
        return self.weight is None or self.weight.is_whole

    @property
    def occupied(self) -> list[int]:
        """The numbers of the chunks that are not empty."""
        return [number for number, length in enumerate(self._lengths) if length]

    def task(self, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task that calls ``function(chunk, *arguments)``."""
        return on_workers(function, self._chunks[number], *arguments)

    def _parts(self, column: Column | None) -> list[Any]:
        return [None] * len(self._lengths) if column is None else column.parts

    def _kept(self, tasks: Iterable[Any]) -> list[Any]:
        """Return the tasks, persisted if the chunks fit in memory."""
        return persisted(list(tasks)) if self._keeps else list(tasks)

    def _at(
        self, indices: Indices, function: Callable[..., Any], *arguments: Any
    ) -> tuple[Any, ...]:
        """Return the result of ``function(chunk, ..., indices in the chunk)`` for each chunk."""
        number = np.searchsorted(self._firsts, np.sort(indices), side="right") - 1
        within = np.sort(indices) - self._firsts[number]
        return self._in_chunks(number, within, function, *arguments)

    def _in_chunks(
        self, number: Indices, within: Indices, function: Callable[..., Any], *arguments: Any
    ) -> tuple[Any, ...]:
        """Do the same for rows given by the numbers of their chunks and the indices in them."""
        chunks = np.unique(number).tolist()
        tasks = (self.task(n, function, *arguments, within[number == n]) for n in chunks)
        return computed(*tasks)


def joined(samples: Sequence[Sample]) -> Sample:
    """Concatenate samples."""
    weight = np.concatenate([sample.weight for sample in samples])
    if is_sparse(samples[0].X):
        X: Any = sparse.csr_array(sparse.vstack([s.X for s in samples], format="csr"))
    else:
        X = np.concatenate([sample.X for sample in samples])
    return Sample(X, weight, samples[0].unit_length)


def _describe_lengths(lengths: Sequence[int]) -> str:
    """Return a text that identifies the lengths of the chunks."""
    text = ", ".join(f"{len(list(run))} of {length}" for length, run in groupby(lengths))
    if len(text) <= MAX_LOCATION:
        return text
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()[:16]
    return f"{len(lengths)} of {min(lengths)} to {max(lengths)}, of digest {digest}"


def _least_above(values: Doubles, zero: float) -> float:
    return float(np.min(values, initial=np.inf, where=values > zero))


def _relative(values: Doubles, least: float, mean: float) -> Doubles:
    return np.where(values < 0, 1.0, np.maximum(values, least) / mean)


def memory_for_chunks() -> float:
    """Return the memory of the workers in bytes, or of this machine if there are none."""
    client = current_client()
    if client is None:
        return float(memory())
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return float(sum(worker["memory_limit"] or np.inf for worker in workers))


def _ranks(indices: Indices) -> Indices:
    """Return the rank of each index in sorted order."""
    return np.argsort(np.argsort(indices, kind="stable"), kind="stable")

"""Actors on the workers of a Dask cluster, which run passes over the chunks that they hold.

A task takes the scheduler milliseconds, which may be as long as a pass. So a pass is one call to
the first actor. It forwards the call to other actors, and the partial sums return the same way.
They are merged in the same pairs as by `tasks.merge`, wherever the chunks are, and so have the same
bits. If neighbouring chunks are on the same worker, few partial sums have to be sent.

Everything that an actor holds can be recomputed. If one is lost, the call raises an error.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from modeclust.data.dask.chunk import Chunk, LabelVersion, run_pass
from modeclust.data.dask.tasks import FAN_IN, merge, runs

# Seconds between checks that all actors still exist.
POLL_SECONDS = 2.0
# Time limit in seconds for starting the actors, whose workers may be busy.
START_SECONDS = 10.0


class Subtotals:
    """Partial sums of some chunks. A pair is merged as soon as both are available."""

    def __init__(self, n_chunks: int, partial_sums: dict[int, Any]) -> None:
        self._n_chunks = n_chunks
        self._nodes = {(0, number): partial for number, partial in partial_sums.items()}
        self._merge_pairs()

    def merge(self, other: Self) -> None:
        """Add the partial sums of other chunks."""
        self._nodes |= other._nodes
        self._merge_pairs()

    def total(self) -> Any:
        """Return the sums over all chunks. No chunk may be missing."""
        (total,) = self._nodes.values()
        return total

    def _merge_pairs(self) -> None:
        level, width = 0, self._n_chunks
        while width > 1:
            for parent in {number // 2 for at, number in self._nodes if at == level}:
                pair = [(level, n) for n in range(2 * parent, min(2 * parent + 2, width))]
                if all(child in self._nodes for child in pair):
                    found = [self._nodes.pop(child) for child in pair]
                    self._nodes[level + 1, parent] = merge(*found)
            level, width = level + 1, -(-width // 2)


class ChunkActor:
    """Holds the chunks of one worker, and forwards calls to other actors."""

    def __init__(self, n_chunks: int, numbers: Sequence[int], chunks: Sequence[Chunk]) -> None:
        from distributed import get_worker

        self._n_chunks = n_chunks
        self._chunks = dict(zip(numbers, chunks, strict=True))
        self._threads = ThreadPoolExecutor(min(get_worker().state.nthreads, len(numbers)))
        self._others: Sequence[Any] = ()

    async def connect(self, others: Sequence[Any]) -> None:
        """Set the actors to which calls are forwarded."""
        self._others = others

    async def run(self, job: tuple[Any, LabelVersion]) -> Subtotals:
        """Run a pass over the chunks of this actor, and of the actors it forwards calls to."""
        calls = [other.run(job) for other in self._others]
        submit, chunks = asyncio.get_running_loop().run_in_executor, self._chunks.values()
        passes = [submit(self._threads, run_pass, chunk, job) for chunk in chunks]
        found = await asyncio.gather(*passes)
        subtotals = Subtotals(self._n_chunks, dict(zip(self._chunks, found, strict=True)))
        for call in calls:
            subtotals.merge(await call)
        return subtotals


class ChunkActors:
    """One actor for each worker that holds chunks, connected as a tree."""

    def __init__(self, client: Any, chunks: Sequence[Any]) -> None:
        from distributed import futures_of, wait

        self._client = client
        futures = [future for chunk in chunks for future in futures_of(chunk)]
        holders = client.who_has(futures)
        by_worker: dict[str, list[int]] = {}
        for number, future in enumerate(futures):
            by_worker.setdefault(holders[future.key][0], []).append(number)
        self._futures = [
            client.submit(
                ChunkActor,
                len(chunks),
                numbers,
                [futures[number] for number in numbers],
                workers=[worker],
                actor=True,
                pure=False,
            )
            for worker, numbers in by_worker.items()
        ]
        try:
            wait(self._futures, timeout=START_SECONDS)
            actors = client.gather(self._futures)
            self._first = actors[0]
            self._connect(actors)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Cancel the actors, even if something still refers to them."""
        if self._client.status == "running":
            self._client.cancel(self._futures)

    def _connect(self, actors: Sequence[Any]) -> None:
        """Connect the first actor to the first of each group of the others, and so on."""
        first, *rest = actors
        groups = runs(rest, -(-len(rest) // FAN_IN) or 1)
        self._wait_for(first.connect([group[0] for group in groups]))
        for group in groups:
            self._connect(group)

    def run(self, job: tuple[Any, LabelVersion]) -> Any:
        """Run a pass over all chunks, and return its merged result."""
        return self._wait_for(self._first.run(job)).total()

    def _wait_for(self, answer: Any) -> Any:
        while True:
            try:
                return answer.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if any(future.status != "finished" for future in self._futures):
                    raise

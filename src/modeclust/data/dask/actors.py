"""Those who have the chunks: an actor on each worker, which goes over all of its chunks.

A task costs a scheduler milliseconds, and a pass may take no more. So a pass is one call to the
first resident, which hands it on to others, and what they leave comes back the same way. Partials
are merged in the pairs of `chunks.merge`, whoever has which chunk: the bits are the same. Few have
to be sent where neighbours are together.

Residents keep nothing that is not found again without them. Where one is lost, a call raises.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from modeclust.data.dask.chunk import Chunk, Recall, go_over
from modeclust.data.dask.chunks import FAN_IN, merge, runs

# So often it is asked whether residents that have not answered are still there, in seconds.
PATIENCE = 2.0
# So long it may take to call them together: their workers may be busy with other things.
MOST_PATIENCE = 10.0


class Subtotals:
    """Partials of some chunks, merged as far as both of a pair are there."""

    def __init__(self, n_chunks: int, partials: dict[int, Any]) -> None:
        self._n_chunks = n_chunks
        self._nodes = {(0, number): partial for number, partial in partials.items()}
        self._climb()

    def merge(self, other: Self) -> None:
        """Add those of other chunks."""
        self._nodes |= other._nodes
        self._climb()

    def total(self) -> Any:
        """Return what is left of all chunks, of which none may be missing."""
        (total,) = self._nodes.values()
        return total

    def _climb(self) -> None:
        level, width = 0, self._n_chunks
        while width > 1:
            for parent in {number // 2 for at, number in self._nodes if at == level}:
                pair = [(level, n) for n in range(2 * parent, min(2 * parent + 2, width))]
                if all(child in self._nodes for child in pair):
                    found = [self._nodes.pop(child) for child in pair]
                    self._nodes[level + 1, parent] = merge(*found)
            level, width = level + 1, -(-width // 2)


class Resident:
    """The chunks of one worker, by their numbers among all, and other residents to call."""

    def __init__(self, n_chunks: int, numbers: Sequence[int], chunks: Sequence[Chunk]) -> None:
        from distributed import get_worker

        self._n_chunks = n_chunks
        self._chunks = dict(zip(numbers, chunks, strict=True))
        self._threads = ThreadPoolExecutor(min(get_worker().state.nthreads, len(numbers)))
        self._others: Sequence[Any] = ()

    async def meet(self, others: Sequence[Any]) -> None:
        """Hand calls on to other residents from now on."""
        self._others = others

    async def reduce(self, order: tuple[Any, Recall]) -> Subtotals:
        """Do a pass over the chunks here, and over those of the others."""
        calls = [other.reduce(order) for other in self._others]
        run, chunks = asyncio.get_running_loop().run_in_executor, self._chunks.values()
        passes = [run(self._threads, go_over, chunk, order) for chunk in chunks]
        found = await asyncio.gather(*passes)
        subtotals = Subtotals(self._n_chunks, dict(zip(self._chunks, found, strict=True)))
        for call in calls:
            subtotals.merge(await call)
        return subtotals


class Residents:
    """A resident for each worker that has chunks; the first calls the others."""

    def __init__(self, client: Any, chunks: Sequence[Any]) -> None:
        from distributed import futures_of, wait

        self._client = client
        futures = [future for chunk in chunks for future in futures_of(chunk)]
        places = client.who_has(futures)
        by_worker: dict[str, list[int]] = {}
        for number, future in enumerate(futures):
            by_worker.setdefault(places[future.key][0], []).append(number)
        self._futures = [
            client.submit(
                Resident,
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
            wait(self._futures, timeout=MOST_PATIENCE)
            actors = client.gather(self._futures)
            self._first = actors[0]
            self._introduce(actors)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Send the residents away, whoever still refers to them."""
        if self._client.status == "running":
            self._client.cancel(self._futures)

    def _introduce(self, actors: Sequence[Any]) -> None:
        """Let the first of some residents call others, each of whom calls those next to it."""
        first, *rest = actors
        groups = runs(rest, -(-len(rest) // FAN_IN) or 1)
        self._wait_for(first.meet([group[0] for group in groups]))
        for group in groups:
            self._introduce(group)

    def reduce(self, order: tuple[Any, Recall]) -> Any:
        """Do a pass over all chunks."""
        return self._wait_for(self._first.reduce(order)).total()

    def _wait_for(self, answer: Any) -> Any:
        while True:
            try:
                return answer.result(timeout=PATIENCE)
            except TimeoutError:
                if any(future.status != "finished" for future in self._futures):
                    raise

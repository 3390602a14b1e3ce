"""Bootstrap samples of the rows, as sample weights: how often each row is drawn."""

from typing import Any

import numpy as np

from modeclust.data.dask.chunks import Chunks
from modeclust.data.dask.tasks import computed, on_workers
from modeclust.data.reading import Doubles

# Integers up to this are exact in float64.
MAX_DRAWN = 2**53


def draw_counts(X: Any, weight: Any, rng: np.random.RandomState) -> Any:
    """Return how often each of the checked rows `X` is in a bootstrap sample.

    Rows are drawn in proportion to their checked weights, as many as there are of positive weight;
    integer weights count as repetitions. For `Chunks`, the result is a lazy Dask array in the same
    chunks: the rows of each chunk are drawn on a worker, with a seed of its own.
    """
    if isinstance(X, Chunks):
        return _draw_in_chunks(X, weight, rng)
    weights = np.ones(X.shape[0]) if weight is None else weight
    are_counts = bool(np.all(weights == np.round(weights)))
    n_drawn = float(weights.sum()) if are_counts else np.count_nonzero(weights)
    return _draw(weights, float(n_drawn), rng)


def _draw(weights: Doubles, n_drawn: float, rng: np.random.RandomState) -> Doubles:
    counts = np.zeros(len(weights))
    present = np.flatnonzero(weights)
    if len(present):
        shares = weights[present] / weights.sum()
        counts[present] = rng.multinomial(int(min(n_drawn, MAX_DRAWN)), shares)
    return counts


def _draw_in_chunks(chunks: Chunks, weight: Any, rng: np.random.RandomState) -> Any:
    from dask.array import concatenate, from_delayed

    lengths = chunks.stats.lengths
    parts: Any = lengths if weight is None else weight.parts
    totals, n_drawn = np.array(lengths, dtype=np.float64), float(sum(lengths))
    if weight is not None:
        totals = np.array(computed(*(on_workers(_total, part) for part in parts)))
        n_drawn = weight.total if weight.is_whole else float(weight.n_positive.sum())
    n_in_chunks = _draw(totals, n_drawn, rng)
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(lengths)).tolist()
    drawn = [
        from_delayed(on_workers(_draw_in_chunk, *arguments), (length,), np.float64)
        for length, *arguments in zip(lengths, parts, n_in_chunks.tolist(), seeds, strict=True)
    ]
    return concatenate(drawn).rechunk((tuple(lengths),))  # with the empty chunks


def _total(part: Any) -> float:
    return float(np.sum(part, dtype=np.float64))


def _draw_in_chunk(part: Any, n_drawn: float, seed: int) -> Doubles:
    """Return the counts of a chunk, given its weights, or its length if all of them are 1."""
    weights = np.ones(part) if isinstance(part, int) else np.asarray(part, dtype=np.float64)
    return _draw(weights, n_drawn, np.random.RandomState(seed))

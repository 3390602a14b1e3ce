"""Rows in this machine's memory, or mapped into it from a file."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self, TypeVar

import joblib
import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled
from modeclust.rows.blocks import Block, block_edges, rows_per_block
from modeclust.rows.protocols import P, Step
from modeclust.rows.reading import (
    CentroidLayouts,
    Centroids,
    Floats,
    compiled_form,
    is_sparse,
    row_count,
    squared_distance,
)
from modeclust.rows.sample import Sample, keys_of
from modeclust.rows.units import working_dtype

T = TypeVar("T")

NOTHING = np.empty(0)


class MemoryRows:
    """The rows of an ndarray, a CSR matrix or a memory-mapped file, and passes over them.

    Use it as a context manager: its threads live as long as it is open.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), or CSR matrix
        Finite numbers. Float32 and float64 in C order are read in place; a block of
        anything else is converted while it is worked on.
    weight : ndarray of shape (n_rows,), optional
        Sample weights q >= 0; 1 by default.
    scale : ndarray of shape (n_rows,), optional
        Local scales s > 0; 1 by default.
    n_clusters : int, default=1
        How many centroids the passes will have: it sets the size of a block.
    n_jobs : int, optional
        Number of threads, as `thread_count` understands it.
    """

    def __init__(
        self,
        X: Any,
        *,
        weight: npt.NDArray[np.float64] | None = None,
        scale: npt.NDArray[np.float64] | None = None,
        n_clusters: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.is_sparse = is_sparse(X)
        self.dtype = working_dtype(X.dtype)
        self.X = _canonical(X) if self.is_sparse else X
        self.n_rows, self.n_features = X.shape
        self.weight = NOTHING if weight is None else weight
        self.inverse_squared_scale = NOTHING if scale is None else 1.0 / np.square(scale)
        self._labels = np.full(self.n_rows, -1, dtype=np.int32)
        size = rows_per_block(self.n_features, n_clusters)
        self._edges = list(block_edges(self.n_rows, size))
        self._n_threads = min(thread_count(n_jobs), len(self._edges))
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        if self._n_threads > 1:
            self._pool = ThreadPoolExecutor(self._n_threads)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def reduce(self, step: Step[P]) -> P:
        """Do one pass over the rows, and return what it leaves of all of them."""

        def add(block: Block) -> P:
            partials = step.start()
            step.add(block, partials)
            return partials

        total = step.start()
        for partials in self._map_blocks(add):
            total.merge(partials)
        return total

    def labels(self) -> npt.NDArray[np.int32]:
        """Return each row's label by the last pass that assigned."""
        return self._labels.copy()

    def labels_at(self, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the labels of some rows."""
        return self._labels[indices]

    def take(self, indices: npt.NDArray[np.int64]) -> Sample:
        """Return the rows at `indices` with their weights."""
        weight = self.weight[indices] if self.weight.size else np.ones(len(indices))
        X = self.X[indices]
        return Sample(X if self.is_sparse else np.asarray(X, dtype=self.dtype), weight)

    def sample(self, n_rows: int, rng: np.random.RandomState) -> Sample:
        """Return `n_rows` rows drawn without replacement, or all of them if fewer.

        A row of weight 0 is as good as missing and is left out.
        """
        if n_rows >= self.n_rows:
            indices = np.arange(self.n_rows)
        else:
            indices = np.sort(rng.choice(self.n_rows, n_rows, replace=False))
        drawn = self.take(indices)
        present = drawn.weight > 0
        return drawn if present.all() else Sample(drawn.X[present], drawn.weight[present])

    def distinct(self) -> Sample:
        """Return one row for each distinct row of all, weighted by all of its kind.

        It reads all rows but copies few; for data of which a sample has too few distinct
        rows. Rows are told apart by their keys.
        """
        keys = np.concatenate(
            list(self._map_blocks(lambda block: keys_of(block.X, self.n_features)))
        )
        weight = self.weight if self.weight.size else np.ones(self.n_rows)
        present = np.flatnonzero(weight > 0)
        _, first, kind = np.unique(keys[present], return_index=True, return_inverse=True)
        chosen = self.take(present[first])
        total = np.bincount(kind, weights=weight[present]).astype(np.float64)
        return Sample(chosen.X, total)

    def distances(self, centroids: npt.NDArray[np.float64]) -> Floats:
        """Return the distance of each row to each centroid, (n_rows, K)."""
        layouts = CentroidLayouts(centroids)
        out = np.empty((self.n_rows, len(centroids)), dtype=self.dtype)

        def measure(block: Block) -> None:
            _fill_distances(block.X, layouts.suiting(block.X), out[block.rows])

        deque(self._map_blocks(measure), maxlen=0)
        return out

    def _map_blocks(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield what `function` makes of each block, in order, few at a time."""

        def run(edges: tuple[int, int]) -> T:
            return function(self._block(*edges))

        if self._pool is None:
            yield from map(run, self._edges)
            return
        waiting: deque[Future[T]] = deque()
        for edges in self._edges:
            if len(waiting) == 2 * self._n_threads:
                yield waiting.popleft().result()
            waiting.append(self._pool.submit(run, edges))
        while waiting:
            yield waiting.popleft().result()

    def _block(self, first: int, last: int) -> Block:
        rows = slice(first, last)
        return Block(
            start=first,
            X=compiled_form(self.X, rows, self.dtype),
            weight=self.weight[rows],
            inverse_squared_scale=self.inverse_squared_scale[rows],
            labels=self._labels[rows],
        )


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    None means every core, or ``OMP_NUM_THREADS`` where it is set, as for scikit-learn's
    `KMeans`; this keeps nested parallelism (a grid search in processes) from taking more
    than its share. -1 means every core, -2 all but one.
    """
    if n_jobs is None:
        return int(os.environ.get("OMP_NUM_THREADS") or joblib.cpu_count())
    return int(joblib.effective_n_jobs(n_jobs))


def _canonical(X: Any) -> Any:
    """Return the CSR matrix `X` with sorted indices and no entry twice."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


@compiled
def _fill_distances(X: Any, centroids: Centroids, out: Any) -> None:
    """Write |x_i - c_k| to out (n, K)."""
    for i in range(row_count(X)):
        for k in range(out.shape[1]):
            out[i, k] = np.sqrt(squared_distance(X, i, centroids, k))

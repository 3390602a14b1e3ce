"""Nearest neighbours: exact by scikit-learn, or approximate by faiss."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from modeclust.data.memory import thread_count
from modeclust.data.reading import is_sparse, working_dtype

PROCESS = os.getpid()

# Exact neighbours are slow to find for more rows than this with more features than this.
MOST_EXACT_ROWS = 100_000
MOST_TREE_FEATURES = 15
# To start threads takes longer than to find the neighbours of so few rows.
FEWEST_FOR_THREADS = 4096
# Rows are looked up at most this many at a time.
QUERIES = 1024
# The approximate search compares a row with those of this many lists out of 2 sqrt(n_rows).
LISTS_SEARCHED = 16
# Lists are formed by K-means on this many rows per list.
TRAINING_ROWS = 64

Found = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def nearest_rows(
    X: Any, queries: Iterable[Any], n_neighbors: int, n_jobs: int | None = None
) -> Found:
    """Return distances and indices of the rows of `X` nearest to each query.

    Queries come in parts; None stands for all rows of `X`, each not its own neighbour.
    """
    if is_forked() or X.shape[0] < FEWEST_FOR_THREADS:
        n_jobs = 1
    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X)
    # Squares of far rows may be beyond all numbers: they are as far as can be.
    with openmp_threads(), np.errstate(over="ignore"):
        parts = [search.kneighbors(part) for part in queries]
    distances, indices = map(np.concatenate, zip(*parts, strict=True))
    return distances.astype(np.float64), indices


def is_forked() -> bool:
    """Return whether this process is a copy of that which began."""
    return os.getpid() != PROCESS


def openmp_threads() -> AbstractContextManager[Any]:
    """Hold OpenMP to one thread in a copy of a process.

    A team of its threads does not survive a fork: the copy would wait for it forever.
    """
    return threadpool_limits(1, user_api="openmp") if is_forked() else nullcontext()


def distances_between(
    X: Any, rows: npt.NDArray[np.int64], Y: Any, others: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the distance of each row of `X` to its other row in `Y`, by differences.

    The search may round it, and that of equal rows to something above 0.
    """
    distances = np.empty(len(rows))
    for part in query_parts(len(rows)):
        difference = rows_of(X, rows[part]) - rows_of(Y, others[part])
        norm = sparse.linalg.norm if is_sparse(difference) else np.linalg.norm
        distances[part] = norm(difference, axis=1)
    return distances


def distances_to_neighbors(
    X: Any, Y: Any, neighbors: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the distances of all rows of `X` to their neighbours in `Y`, by differences."""
    every = np.arange(X.shape[0])
    columns = [distances_between(X, every, Y, others) for others in neighbors.T]
    return np.stack(columns, axis=1)


def query_parts(n_rows: int) -> Iterator[slice]:
    """Yield slices of not too many rows."""
    for first in range(0, n_rows, QUERIES):
        yield slice(first, first + QUERIES)


def rows_of(X: Any, indices: Any) -> Any:
    """Return some rows, which may be mapped, in memory."""
    rows = X[indices]
    return rows if is_sparse(rows) else np.asarray(rows, dtype=working_dtype(X.dtype))


def exact_is_slow(X: Any) -> bool:
    """Return whether there are so many rows that approximate neighbours are worth having."""
    n_rows, n_features = X.shape
    return n_rows > MOST_EXACT_ROWS and n_features > MOST_TREE_FEATURES and not is_sparse(X)


def has_approximate() -> bool:
    """Return whether faiss is installed."""
    return find_spec("faiss") is not None


def approximate_rows(
    X: Any, n_neighbors: int, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Found:
    """Return distances and indices of rows of dense `X` that are about the nearest to each row.

    The rows are divided into lists by K-means, and only the nearest lists are searched. An index
    of -1, at an infinite distance, stands for a neighbour that was not found. The result depends
    on `random_state` but not on `n_jobs`.
    """
    import faiss

    n_rows = X.shape[0]
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    # Each thread looks up its own rows, so that OpenMP needs no threads, which would divide the
    # rows by their number. The first of them builds the index alone.
    with ThreadPoolExecutor(
        thread_count(n_jobs), initializer=faiss.omp_set_num_threads, initargs=(1,)
    ) as pool:
        index, to_float32 = pool.submit(_inverted_lists, X, n_neighbors, seed).result()

        def search(part: slice) -> npt.NDArray[np.int64]:
            found: npt.NDArray[np.int64] = index.search(to_float32(part), n_neighbors + 1)[1]
            return found

        indices = np.concatenate(list(pool.map(search, query_parts(n_rows))))
    # A row is its own neighbour, but among equal rows not always the first.
    itself = indices == np.arange(n_rows)[:, None]
    itself[~itself.any(axis=1), -1] = True
    others = np.argsort(itself, axis=1, kind="stable")[:, :-1]
    indices = np.take_along_axis(indices, others, axis=1)
    distances = distances_to_neighbors(X, X, indices)
    distances[indices < 0] = np.inf
    return distances, indices


def _inverted_lists(
    X: Any, n_neighbors: int, seed: int
) -> tuple[Any, Callable[[slice], npt.NDArray[np.float32]]]:
    """Return a faiss index of all rows, and a function that returns rows as the index takes them.

    It takes float32. Centered rows keep more of their digits, and squares of scaled ones do not
    overflow.
    """
    import faiss

    n_rows, n_features = X.shape
    # Short lists would not have enough neighbours.
    n_lists = max(1, min(int(2 * n_rows**0.5), n_rows // (n_neighbors + 1)))
    n_training = min(n_rows, TRAINING_ROWS * n_lists)
    drawn = np.random.RandomState(seed).choice(n_rows, n_training, replace=False)
    training = rows_of(X, np.sort(drawn)).astype(np.float64)
    offset = training.mean(axis=0)
    largest = max(float(np.abs(rows_of(X, p) - offset).max()) for p in query_parts(n_rows))
    scale = largest or 1.0

    def to_float32(part: slice) -> npt.NDArray[np.float32]:
        return np.asarray((rows_of(X, part) - offset) / scale, dtype=np.float32)

    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_features), n_features, n_lists)
    index.nprobe = LISTS_SEARCHED
    index.cp.seed = seed
    index.cp.min_points_per_centroid = 1  # else it prints a warning
    index.train(((training - offset) / scale).astype(np.float32))
    for part in query_parts(n_rows):
        index.add(to_float32(part))
    return index, to_float32

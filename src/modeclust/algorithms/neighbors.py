"""Nearest neighbours: exact by scikit-learn, or approximate by pynndescent."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from modeclust.data.memory import thread_count
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import working_dtype

PROCESS = os.getpid()

# Beyond so many rows, of more than so many features, exact neighbours take long to find.
MOST_EXACT_ROWS = 100_000
MOST_TREE_FEATURES = 15
# To start threads takes longer than to find the neighbours of so few rows.
FEWEST_FOR_THREADS = 4096
# Rows are looked up at most this many at a time.
QUERIES = 1024

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
    return n_rows > MOST_EXACT_ROWS and (is_sparse(X) or n_features > MOST_TREE_FEATURES)


def has_approximate() -> bool:
    """Return whether pynndescent is installed."""
    return find_spec("pynndescent") is not None


def approximate_rows(
    X: Any, n_neighbors: int, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Found:
    """Return distances and indices of rows that are about the nearest to each, but itself.

    An index of -1, at an infinite distance, stands for a neighbour that was not found.
    """
    import numba
    from pynndescent import NNDescent

    # It refuses more threads than numba has, and fewer than one.
    n_threads = min(thread_count(n_jobs), numba.get_num_threads())
    index = NNDescent(X, n_neighbors=n_neighbors + 1, random_state=random_state, n_jobs=n_threads)
    indices, distances = index.neighbor_graph
    # A row is its own neighbour, but among equal rows not always the first.
    itself = indices == np.arange(len(indices))[:, None]
    itself[~itself.any(axis=1), -1] = True
    others = np.argsort(itself, axis=1, kind="stable")[:, :-1]
    indices = np.take_along_axis(indices, others, axis=1).astype(np.int64)
    distances = np.take_along_axis(distances, others, axis=1).astype(np.float64)
    distances[indices < 0] = np.inf
    return distances, indices

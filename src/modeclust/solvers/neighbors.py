"""Nearest neighbours: exact by the core, or approximate by faiss."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core
from modeclust.data.memory import thread_count
from modeclust.data.reading import Doubles, Indices, is_sparse, row_slices, take_rows
from modeclust.data.rescaling import internal_rows

# An exact search takes N^2 D products. By the time of 60,000 x 128, this many (300,000 rows of 110
# features) take about a minute on two cores. There, the approximate search took 0.6 of the time,
# and missed 23% of the neighbours (1% of those of MNIST). So it only replaces slow searches.
MAX_EXACT_PRODUCTS = 1e13
# With so few features, a tree is often much faster.
MAX_TREE_FEATURES = 15
# The approximate search compares a row with the rows of this many lists, out of 2 sqrt(n_rows).
LISTS_SEARCHED = 16
# Lists are formed by K-means on this many rows per list.
TRAINING_ROWS = 64

# Squared distances, relative to the scales, are cut off here.
MAX_SQUARED_DISTANCE = 1e300

Found = tuple[Doubles, Indices]


def nearest_rows(X: Any, queries: Any, n_neighbors: int, n_jobs: int | None = None) -> Found:
    """Return distances and indices of the rows of `X` nearest to each query.

    Both may be dense or CSR. Distances are computed by differences. Rows at the same distance are
    ordered by index.
    """
    rows = internal_rows(X, n_threads=thread_count(n_jobs))
    return _core.nearest_rows(rows, n_neighbors, internal_rows(queries))


def nearest_other_rows(X: Any, n_neighbors: int, n_jobs: int | None = None) -> Found:
    """Return distances and indices of the other rows of `X` that are nearest to each row."""
    return _core.nearest_rows(internal_rows(X, n_threads=thread_count(n_jobs)), n_neighbors)


def row_distances(X: Any, Y: Any) -> Doubles:
    """Return the distance between each row of `X` and the same row of `Y`, by differences."""
    difference = X - Y
    norm = sparse.linalg.norm if is_sparse(difference) else np.linalg.norm
    return np.asarray(norm(difference, axis=1), dtype=np.float64)


def distances_to_neighbors(X: Any, Y: Any, neighbors: Indices) -> Doubles:
    """Return the distances of all rows of `X` to their neighbours in `Y`, by differences."""
    distances = np.empty(neighbors.shape)
    for some in row_slices(X.shape[0]):
        rows = take_rows(X, some)
        for j, others in enumerate(neighbors[some].T):
            distances[some, j] = row_distances(rows, take_rows(Y, others))
    return distances


def exact_is_slow(X: Any) -> bool:
    """Return whether an exact search among these rows is slow."""
    n_rows, n_features = X.shape
    is_slow = n_rows**2 * n_features > MAX_EXACT_PRODUCTS
    return is_slow and n_features > MAX_TREE_FEATURES and not is_sparse(X)


def has_approximate() -> bool:
    """Return whether faiss is installed."""
    return find_spec("faiss") is not None


def approximate_rows(
    X: Any, n_neighbors: int, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Found:
    """Return distances and indices of the approximate nearest rows of each row of a dense `X`.

    The rows are divided into lists by K-means, and only the nearest lists are searched. An index
    of -1, at an infinite distance, stands for a neighbour that was not found. The result depends
    on `random_state` but not on `n_jobs`.
    """
    import faiss

    n_rows = X.shape[0]
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    # Each thread searches for its own rows, and OpenMP uses one thread. Otherwise the result would
    # depend on the number of threads. The index is built by one thread.
    with ThreadPoolExecutor(
        thread_count(n_jobs), initializer=faiss.omp_set_num_threads, initargs=(1,)
    ) as pool:
        index, to_float32 = pool.submit(_inverted_lists, X, n_neighbors, seed).result()

        def search(part: slice) -> Indices:
            return np.asarray(index.search(to_float32(part), n_neighbors + 1)[1])

        indices = np.concatenate(list(pool.map(search, row_slices(n_rows))))
    # A row is its own neighbour, but not always the first one if there are equal rows.
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
    """Return a faiss index of all rows, and a function that converts rows for the index.

    faiss needs float32. The rows are centered to keep more digits, and scaled so that squares do
    not overflow.
    """
    import faiss

    n_rows, n_features = X.shape
    # Short lists would not have enough neighbours.
    n_lists = max(1, min(int(2 * n_rows**0.5), n_rows // (n_neighbors + 1)))
    n_training = min(n_rows, TRAINING_ROWS * n_lists)
    drawn = np.random.RandomState(seed).choice(n_rows, n_training, replace=False)
    training = take_rows(X, np.sort(drawn)).astype(np.float64)
    offset = training.mean(axis=0)
    largest = max(float(np.abs(take_rows(X, p) - offset).max()) for p in row_slices(n_rows))
    scale = largest or 1.0

    def to_float32(part: slice) -> npt.NDArray[np.float32]:
        return np.asarray((take_rows(X, part) - offset) / scale, dtype=np.float32)

    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_features), n_features, n_lists)
    index.nprobe = LISTS_SEARCHED
    index.cp.seed = seed
    index.cp.min_points_per_centroid = 1  # otherwise it prints a warning
    index.train(((training - offset) / scale).astype(np.float32))
    for part in row_slices(n_rows):
        index.add(to_float32(part))
    return index, to_float32


def neighbor_graph(
    distances: Doubles, neighbors: npt.NDArray[np.integer[Any]], scales: Doubles | float | None
) -> sparse.csr_array:
    """Return the symmetric affinities W of rows and their neighbours, (N, N) without a diagonal.

    `distances` and `neighbors` are the distances and indices of the nearest other rows of each row;
    an index of -1 means that there is none.

    Two rows are joined if one of them is a neighbour of the other, with the affinity
    w = exp(-|x_i - x_j|^2 / (2 s_i s_j)) by the scales s, or 1 if these are None. Rows are not
    joined if their affinity underflows.
    """
    n_rows, n_neighbors = neighbors.shape
    own = None if scales is None else np.broadcast_to(scales, n_rows)
    others = None if own is None else own[neighbors]
    weights = np.exp(log_affinities(distances, None if own is None else own[:, None], others))
    first = np.repeat(np.arange(n_rows), n_neighbors)
    joined = (weights > 0).ravel() & (neighbors >= 0).ravel()
    pairs = (first[joined], neighbors.ravel()[joined])
    directed = sparse.csr_array((weights.ravel()[joined], pairs), shape=(n_rows, n_rows))
    graph = sparse.csr_array(directed.maximum(directed.T))
    graph.sort_indices()
    return graph


def log_affinities(distances: Doubles, own: Any, others: Any) -> Doubles:
    """Return -d^2 / (2 s_i s_j), or 0 if there are no scales. It is 0 for equal rows.

    The result is always finite. A scale is 0 if a row is equal to all its neighbours.
    """
    if own is None:
        return np.zeros_like(distances)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        squares = np.square(distances / np.sqrt(own) / np.sqrt(others))
    squares[distances == 0.0] = 0.0
    return np.asarray(
        -0.5 * np.minimum(np.nan_to_num(squares, nan=MAX_SQUARED_DISTANCE), MAX_SQUARED_DISTANCE)
    )

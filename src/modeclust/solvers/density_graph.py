"""A neighbour graph that adapts to the density of the rows, and needs no bandwidth.

Each row has edges to its k nearest other rows. With the distance c_i of row i to its neighbour
number k / 2, the length of an edge is

    q_ij = (|x_i - x_j|^2 + c_i c_j) / (2 mean(c)^2).

The solver "bound" uses the affinities 1 / q, normalised by the degrees of both rows; "gradient"
needs more contrast, and uses exp(-2 q). Both are the means of the two directions: if only one of
two rows is a neighbour of the other, their affinity is half.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import euclidean_distances

from modeclust.data.reading import Doubles, Indices, take_rows
from modeclust.solvers.neighbors import (
    MAX_SQUARED_DISTANCE,
    Found,
    nearest_rows,
    row_distances,
)

# A cluster of n rows has n / ROWS_PER_NEIGHBOR neighbours for each row, within these limits: with
# more, the neighbours of a row in a small cluster are in other clusters.
ROWS_PER_NEIGHBOR, FEWEST_NEIGHBORS, MOST_NEIGHBORS = 5, 4, 10
# The contrast of "gradient", and its smallest affinity.
CONTRAST, LEAST_AFFINITY = 2.0, 1e-12
# Components of at most this many rows find their nearest outside rows in one search.
SMALL_COMPONENT = 63
# Of a larger component, this many pairs of a row inside and one outside are compared at most. All
# are compared up to 20,000 rows; the time of all of them would grow with the square of the rows.
MAX_PAIRS = 10**8


class DensityGraph(NamedTuple):
    """The edges of the graph, from each row to its neighbours."""

    q: sparse.csr_array  # (N, N)
    scales: Doubles  # (N,) the distances c, above 0


def automatic_neighbors(n_rows: int, n_clusters: int) -> int:
    """Return the number of neighbours of each row.

    >>> [automatic_neighbors(n, 10) for n in (20, 100, 200, 1000)]
    [4, 4, 4, 10]
    """
    wanted = round(n_rows / (ROWS_PER_NEIGHBOR * n_clusters))
    return min(max(wanted, FEWEST_NEIGHBORS), MOST_NEIGHBORS, n_rows - 1)


def scale_number(n_neighbors: int) -> int:
    """Return the number, from 1 on, of the neighbour whose distance is the scale of a row."""
    return max(1, n_neighbors // 2)


def density_graph(X: Any, found: Found, n_jobs: int | None = None) -> DensityGraph:
    """Return the connected graph of the rows of `X` and their nearest other rows."""
    distances, neighbors = found
    n_rows, n_neighbors = neighbors.shape
    first = np.repeat(np.arange(n_rows), n_neighbors)
    exists = neighbors.ravel() >= 0
    first, second = first[exists], neighbors.ravel()[exists].astype(np.int64)
    lengths = distances.ravel()[exists]
    joins = component_joins(X, _adjacency(first, second, n_rows), n_jobs)
    lengths = np.r_[lengths, row_distances(take_rows(X, joins[0]), take_rows(X, joins[1]))]
    first, second = np.r_[first, joins[0]], np.r_[second, joins[1]]
    scales = positive_scales(distances[:, scale_number(n_neighbors) - 1])
    q = relative_squares(lengths, scales[first], scales[second], float(scales.mean()))
    return DensityGraph(sparse.csr_array((q, (first, second)), shape=(n_rows, n_rows)), scales)


def positive_scales(scales: Doubles) -> Doubles:
    """Return the scales with the smallest positive one in place of 0, and the largest of inf."""
    finite = scales[np.isfinite(scales)]
    positive = finite[finite > 0]
    if not len(positive):
        return np.ones_like(scales)
    return np.clip(scales, positive.min(), positive.max())


def relative_squares(distances: Doubles, own: Any, others: Any, mean: float) -> Doubles:
    """Return q = (d^2 + c_i c_j) / (2 mean(c)^2), above 0 and finite."""
    with np.errstate(over="ignore", under="ignore"):
        q = 0.5 * (np.square(distances / mean) + (own / mean) * (others / mean))
    return np.asarray(np.clip(q, 1.0 / MAX_SQUARED_DISTANCE, MAX_SQUARED_DISTANCE))


def inverse_affinities(q: sparse.csr_array) -> sparse.csr_array:
    """Return the affinities 1 / q, symmetric."""
    return _symmetric(_with_data(q, 1.0 / q.data))


def contrasted_affinities(q: sparse.csr_array) -> sparse.csr_array:
    """Return the affinities exp(-2 q), but at least 1e-12, symmetric."""
    return _symmetric(_with_data(q, np.maximum(np.exp(-CONTRAST * q.data), LEAST_AFFINITY)))


def normalised(W: sparse.csr_array, degrees: Doubles) -> sparse.csr_array:
    """Return w_ij / sqrt(d_i d_j)."""
    inverse = 1.0 / np.sqrt(degrees)
    row = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    return _with_data(W, W.data * (inverse[row] * inverse[W.indices]))


def _symmetric(directed: sparse.csr_array) -> sparse.csr_array:
    """Return the mean of the affinities of both directions; an absent edge counts as 0."""
    W = sparse.csr_array(0.5 * (directed + directed.T))
    W.sort_indices()
    return W


def _with_data(W: sparse.csr_array, data: Doubles) -> sparse.csr_array:
    return sparse.csr_array((data, W.indices, W.indptr), shape=W.shape)


def component_joins(
    X: Any, adjacency: sparse.csr_array, n_jobs: int | None = None
) -> tuple[Indices, Indices]:
    """Return pairs of rows that connect a graph.

    Each component but the largest is joined to its nearest row outside, until there is one. Of
    large components in large data, only the rows that are nearest to the centers of others are
    searched.
    """
    first: list[Indices] = []
    second: list[Indices] = []
    n_rows = adjacency.shape[0]
    while True:
        n_components, component = connected_components(adjacency, directed=False)
        if n_components == 1:
            break
        inside, outside = _nearest_outside(X, component, n_jobs)
        first.append(inside)
        second.append(outside)
        adjacency = adjacency + _adjacency(inside, outside, n_rows)
    if not first:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate(first), np.concatenate(second)


def _nearest_outside(
    X: Any, component: npt.NDArray[np.integer[Any]], n_jobs: int | None
) -> tuple[Indices, Indices]:
    """Return the pair of a row inside and one outside of each component but the largest."""
    sizes = np.bincount(component)
    largest = int(sizes.argmax())
    others = np.delete(np.arange(len(sizes)), largest)
    pairs = []
    small = others[sizes[others] <= SMALL_COMPONENT]
    if len(small):
        rows = np.flatnonzero(np.isin(component, small))
        # Of this many nearest rows, one at least is outside.
        n_found = int(sizes[small].max()) + 1
        distances, found = nearest_rows(X, take_rows(X, rows), n_found, n_jobs)
        is_inside = component[found] == component[rows][:, None]
        pairs.append(_shortest(rows, np.where(is_inside, np.inf, distances), found, component))
    for number in others[sizes[others] > SMALL_COMPONENT]:
        rows, rest = np.flatnonzero(component == number), np.flatnonzero(component != number)
        n_searched = max(1, MAX_PAIRS // len(rest))
        if len(rows) > n_searched:
            rows = rows[_nearest_to_others(X, rows, component)[:n_searched]]
        distances, found = nearest_rows(take_rows(X, rest), take_rows(X, rows), 1, n_jobs)
        pairs.append(_shortest(rows, distances, rest[found], component))
    inside, outside = zip(*pairs, strict=True)
    return np.concatenate(inside), np.concatenate(outside)


def _nearest_to_others(
    X: Any, rows: Indices, component: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.intp]:
    """Return the order of rows by their distance to the nearest center of another component.

    Small components are left out, unless there are no others.
    """
    sizes = np.bincount(component)
    sizes[component[rows[0]]] = 0
    large = np.flatnonzero(sizes > min(SMALL_COMPONENT, sizes.max() - 1))
    members = (take_rows(X, np.flatnonzero(component == number)) for number in large)
    centers = np.concatenate([np.asarray(own.mean(axis=0)).reshape(1, -1) for own in members])
    distances = euclidean_distances(take_rows(X, rows), centers).min(axis=1)
    return np.argsort(distances, kind="stable")


def _shortest(
    rows: Indices, distances: Doubles, found: Indices, component: npt.NDArray[np.integer[Any]]
) -> tuple[Indices, Indices]:
    """Return the shortest pair of a row and a found row of each component of `rows`."""
    column = distances.argmin(axis=1)
    lengths = distances[np.arange(len(rows)), column]
    order = np.lexsort((lengths, component[rows]))
    _, starts = np.unique(component[rows][order], return_index=True)
    best = order[starts]
    return rows[best], found[best, column[best]].astype(np.int64)


def _adjacency(first: Indices, second: Indices, n_rows: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(first)), (first, second)), shape=(n_rows, n_rows))

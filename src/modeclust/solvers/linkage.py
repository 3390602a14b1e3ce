"""Average linkage over a graph: clusters of any shape, from which Laplacian K-modes starts."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.data.reading import Doubles, Indices

# A cluster has at least this share of the mean cluster size, if the graph has K such clusters.
LEAST_SHARE = 0.1


class Merges(NamedTuple):
    """The merges of a linkage, those of the highest affinity first."""

    first: Indices  # a row of one of the two clusters
    second: Indices  # a row of the other one
    affinity: Doubles  # the mean affinity between the rows of the two


def linkage_labels(
    W: sparse.csr_array, n_clusters: int, counted: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.int32]:
    """Return the clusters of average linkage over a connected graph, the largest first.

    The dendrogram is cut at the last moment at which exactly K clusters have at least a tenth of
    the mean size, so that outliers do not become clusters. The merges then go on, but for those
    between two of these K clusters, until all rows are in one of them. If there is no such
    moment, the least size is halved.

    Parameters
    ----------
    W : csr_array of shape (n_rows, n_rows)
        Symmetric affinities; the graph must be connected.
    n_clusters : int
        The number of clusters K, at most the number of rows.
    counted : ndarray of shape (n_rows,), optional
        Whether a row counts in the size of a cluster. All rows count if fewer than K would.
    """
    n_rows = W.shape[0]
    if counted is None or np.count_nonzero(counted) < n_clusters:
        counted = np.ones(n_rows, dtype=bool)
    merges = average_linkage(W)
    share = LEAST_SHARE
    while True:
        least = max(1, int(np.ceil(share * counted.sum() / n_clusters)))
        roots = _cut(merges, counted, n_clusters, least)
        if roots is not None:
            return _numbered(roots)
        share /= 2


def average_linkage(W: sparse.csr_array) -> Merges:
    """Return the merges of average linkage, in which absent edges count as affinities of 0.

    In each round, every cluster finds the cluster to which it has the highest mean affinity, and
    all pairs that chose each other merge. A merge never raises the affinity to a third cluster, so
    the result is that of merging one pair at a time.
    """
    A = _without_diagonal(W)
    sizes: Doubles = np.ones(A.shape[0])
    members = np.arange(A.shape[0])  # a row of each cluster
    rounds = []
    while A.nnz:
        own = np.arange(A.shape[0])
        best, affinity = _best_neighbors(A, sizes)
        first = np.flatnonzero((best[best] == own) & (best > own))
        second = best[first]
        rounds.append((members[first], members[second], affinity[first]))
        merged = own.copy()
        merged[second] = first
        kept = merged == own
        clusters = (np.cumsum(kept) - 1)[merged]
        sizes = np.bincount(clusters, weights=sizes).astype(np.float64)
        members = members[kept]
        A = _contracted(A, clusters, len(members))
    if not rounds:
        return Merges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    firsts, seconds, affinities = zip(*rounds, strict=True)
    affinity = np.concatenate(affinities)
    order = np.argsort(-affinity, kind="stable")
    return Merges(np.concatenate(firsts)[order], np.concatenate(seconds)[order], affinity[order])


def _best_neighbors(A: sparse.csr_array, sizes: Doubles) -> tuple[Indices, Doubles]:
    """Return the neighbour of the highest mean affinity of each cluster, and that affinity.

    Of several, it is that of the smallest pair of numbers, so that not all wait for each other. A
    cluster without neighbours gets itself.
    """
    n_clusters = A.shape[0]
    counts = np.diff(A.indptr)
    row = np.repeat(np.arange(n_clusters), counts)
    column = A.indices.astype(np.int64)
    affinity = A.data / (sizes[row] * sizes[column])
    joined = counts > 0
    starts = A.indptr[:-1][joined]
    highest = np.zeros(n_clusters)
    highest[joined] = np.maximum.reduceat(affinity, starts)
    pair = np.minimum(row, column) * n_clusters + np.maximum(row, column)
    pair[affinity < highest[row]] = np.iinfo(np.int64).max
    lower, higher = np.divmod(np.minimum.reduceat(pair, starts), n_clusters)
    best = np.arange(n_clusters)
    best[joined] = np.where(lower == best[joined], higher, lower)
    return best, highest


def _contracted(A: sparse.csr_array, clusters: Indices, n_clusters: int) -> sparse.csr_array:
    """Return the sums of affinities between clusters of the rows of `A`."""
    row = np.repeat(clusters, np.diff(A.indptr))
    column = clusters[A.indices]
    other = row != column
    shape = (n_clusters, n_clusters)
    return _symmetric_sums(A.data[other], row[other], column[other], shape)


def _symmetric_sums(
    data: Doubles, row: npt.NDArray[Any], column: npt.NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a symmetric matrix whose duplicates are summed in the same order on both sides.

    Otherwise two clusters could disagree on the affinity between them in the last bit.
    """
    upper = row < column
    half = sparse.csr_array((data[upper], (row[upper], column[upper])), shape=shape)
    half.sum_duplicates()
    both = sparse.csr_array(half + half.T)
    both.sort_indices()
    return both


def _without_diagonal(W: sparse.csr_array) -> sparse.csr_array:
    edges = W.tocoo()
    row, column = edges.coords
    return _symmetric_sums(edges.data, row, column, W.shape)


class _Forest:
    """Clusters of rows that are merged one after the other, as trees with one root each."""

    def __init__(self, counted: npt.NDArray[np.bool_]) -> None:
        self.parents = list(range(len(counted)))
        self.sizes = counted.astype(np.int64).tolist()

    def root(self, row: int) -> int:
        parents = self.parents
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    def join(self, root: int, other: int) -> None:
        self.parents[other] = root
        self.sizes[root] += self.sizes[other]


def _cut(
    merges: Merges, counted: npt.NDArray[np.bool_], n_clusters: int, least: int
) -> Indices | None:
    """Return the root of the cluster of each row, or None if there are never K large clusters."""
    pairs = list(zip(merges.first.tolist(), merges.second.tolist(), strict=True))
    moment = _last_moment(pairs, counted, n_clusters, least)
    if moment is None:
        return None
    forest = _Forest(counted)
    for first, second in pairs[:moment]:
        forest.join(forest.root(first), forest.root(second))
    n_rows = len(counted)
    kept = [forest.root(i) == i and forest.sizes[i] >= least for i in range(n_rows)]
    for first, second in pairs[moment:]:
        a, b = forest.root(first), forest.root(second)
        if not (kept[a] and kept[b]):
            forest.join(*((b, a) if kept[b] else (a, b)))
    return np.array([forest.root(i) for i in range(n_rows)])


def _last_moment(
    pairs: list[tuple[int, int]], counted: npt.NDArray[np.bool_], n_clusters: int, least: int
) -> int | None:
    """Return the number of merges after which K clusters have at least `least` rows."""
    forest = _Forest(counted)
    sizes = forest.sizes
    n_large = sum(size >= least for size in sizes)
    moment = 0 if n_large == n_clusters else None
    for number, (first, second) in enumerate(pairs, start=1):
        a, b = forest.root(first), forest.root(second)
        n_large -= (sizes[a] >= least) + (sizes[b] >= least)
        forest.join(a, b)
        n_large += sizes[a] >= least
        if n_large == n_clusters:
            moment = number
    return moment


def _numbered(roots: Indices) -> npt.NDArray[np.int32]:
    """Return labels from 0 on, in the order of falling size; of equal sizes, the first row."""
    _, first, codes, counts = np.unique(
        roots, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return numbers[codes]

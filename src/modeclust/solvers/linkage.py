"""Average linkage over a graph: clusters of any shape, from which Laplacian K-modes starts."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.data.reading import Doubles, Indices, is_sparse, take_rows

# A cluster has at least this share of the mean cluster size, if the graph has K such clusters.
LEAST_SHARE = 0.1


class Merges(NamedTuple):
    """The merges of a linkage, those of the highest affinity first.

    Each merge keeps the row that stands for its first cluster; that of the second one does not
    occur in later merges.
    """

    first: Indices  # the row that stands for the first cluster
    second: Indices  # the row that stands for the second cluster
    first_size: Indices  # the number of counted rows in the first cluster
    second_size: Indices  # and in the second one
    affinity: Doubles  # the mean affinity between the rows of the two; it never rises


def linkage_labels(
    W: sparse.csr_array, n_clusters: int, counted: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.int32]:
    """Return the clusters of average linkage over a connected graph, the largest first.

    The dendrogram is cut at the last moment at which exactly K clusters have at least a tenth of
    the mean size, so that outliers do not become clusters. If there is no such moment, the least
    size is halved. The linkage then goes on without merges between two of these K clusters, until
    all rows are in one of them.

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
    merges = average_linkage(W, counted)
    share = LEAST_SHARE
    while True:
        least = max(1, int(np.ceil(share * counted.sum() / n_clusters)))
        moment = _last_moment(merges, counted, n_clusters, least)
        if moment is not None:
            break
        share /= 2
    roots = _roots(merges, moment, n_rows)
    _, codes = np.unique(roots, return_inverse=True)
    is_large = np.bincount(codes, weights=counted) >= least
    rest = average_linkage(
        _contracted(W, codes, len(is_large)), sizes=np.bincount(codes), apart=is_large
    )
    return _numbered(_roots(rest, len(rest.first), len(is_large))[codes])


def average_linkage(
    W: sparse.csr_array,
    counted: npt.NDArray[np.bool_] | None = None,
    *,
    sizes: npt.NDArray[Any] | None = None,
    apart: npt.NDArray[np.bool_] | None = None,
) -> Merges:
    """Return the merges of average linkage, in which absent edges count as affinities of 0.

    In each round, every cluster finds the cluster to which it has the highest mean affinity, and
    all pairs that chose each other merge. A merge never raises the affinity to a third cluster, so
    the result is that of merging one pair at a time.

    Parameters
    ----------
    W : csr_array of shape (n_rows, n_rows)
        Symmetric affinities.
    counted : ndarray of shape (n_rows,), optional
        Whether a row counts in the sizes of merged clusters. By default, all do.
    sizes : ndarray of shape (n_rows,), optional
        How many rows each row stands for, if `W` has the sums of their affinities.
    apart : ndarray of shape (n_rows,), optional
        Rows of which no two may be in the same cluster.
    """
    A = W
    n_rows = A.shape[0]
    sizes = np.ones(n_rows) if sizes is None else sizes.astype(np.float64)
    n_counted = sizes if counted is None else counted.astype(np.float64)
    apart = np.zeros(n_rows, dtype=bool) if apart is None else apart
    lowest = np.full(n_rows, np.inf)  # the affinity of the last merge of each cluster
    members = np.arange(n_rows)  # the row that stands for each cluster
    rounds = []
    clusters = members
    while True:
        A = _contracted(A, clusters, len(members), apart)
        if A.nnz == 0:
            break
        own = np.arange(len(members))
        best, affinity = _best_neighbors(A, sizes)
        first = np.flatnonzero((best[best] == own) & (best > own))
        second = best[first]
        # Rounding can raise an affinity in the last bits, and change the order of two merges.
        at_most = np.minimum(lowest[first], lowest[second])
        lowest[first] = np.minimum(affinity[first], at_most)
        pair = (members[first], members[second], n_counted[first], n_counted[second])
        rounds.append((*pair, lowest[first]))
        merged = own.copy()
        merged[second] = first
        kept = merged == own
        clusters = (np.cumsum(kept) - 1)[merged]
        sizes = np.bincount(clusters, weights=sizes).astype(np.float64)
        n_counted = np.bincount(clusters, weights=n_counted).astype(np.float64)
        apart = np.bincount(clusters, weights=apart) > 0
        members, lowest = members[kept], lowest[kept]
    if not rounds:
        none = np.empty(0, np.int64)
        return Merges(none, none, none, none, np.empty(0))
    columns = [np.concatenate(column) for column in zip(*rounds, strict=True)]
    order = np.argsort(-columns[-1], kind="stable")
    rows_and_sizes = (column[order].astype(np.int64) for column in columns[:-1])
    first, second, first_size, second_size = rows_and_sizes
    return Merges(first, second, first_size, second_size, columns[-1][order])


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


def _contracted(
    A: sparse.csr_array,
    clusters: Indices,
    n_clusters: int,
    apart: npt.NDArray[np.bool_] | None = None,
) -> sparse.csr_array:
    """Return the sums of affinities between clusters, but not between two that stay apart."""
    row = np.repeat(clusters, np.diff(A.indptr))
    column = clusters[A.indices]
    other = row != column
    if apart is not None:
        other &= ~(apart[row] & apart[column])
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


def _roots(merges: Merges, n_merges: int, n_rows: int) -> Indices:
    """Return the row that stands for the cluster of each row after some merges."""
    parents = np.arange(n_rows)
    parents[merges.second[:n_merges]] = merges.first[:n_merges]
    while True:
        grandparents = parents[parents]
        if np.array_equal(grandparents, parents):
            return parents
        parents = grandparents


def _last_moment(
    merges: Merges, counted: npt.NDArray[np.bool_], n_clusters: int, least: int
) -> int | None:
    """Return the number of merges after which K clusters last have at least `least` rows."""
    first, second = merges.first_size, merges.second_size
    change = (first + second >= least) * 1 - (first >= least) - (second >= least)
    n_large = np.cumsum(np.r_[np.count_nonzero(counted) if least == 1 else 0, change])
    moments = np.flatnonzero(n_large == n_clusters)
    return int(moments[-1]) if len(moments) else None


def _numbered(roots: Indices) -> npt.NDArray[np.int32]:
    """Return labels from 0 on, in the order of falling size; of equal sizes, the first row."""
    _, first, codes, counts = np.unique(
        roots, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return numbers[codes]


def with_ordered_ties(labels: npt.NDArray[np.int32], X: Any) -> npt.NDArray[np.int32]:
    """Return labels by falling size; of equal sizes, the smallest value of a feature decides.

    The first feature in which two clusters have different smallest values counts. So the labels do
    not depend on the order of the rows.
    """
    counts = np.bincount(labels)
    sizes, n_equal = np.unique(counts, return_counts=True)
    smallest: dict[int, list[float]] = {}
    for k in np.flatnonzero(np.isin(counts, sizes[n_equal > 1])):
        values = take_rows(X, np.flatnonzero(labels == k)).min(axis=0)
        smallest[int(k)] = (values.toarray() if is_sparse(values) else values).ravel().tolist()
    order = sorted(range(len(counts)), key=lambda k: (-counts[k], smallest.get(k, [])))
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return numbers[labels]

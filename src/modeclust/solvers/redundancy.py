"""Redundant clusters: pairs of modes with no dip in the density between them."""

from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core
from modeclust.data.dataset import Dataset
from modeclust.data.reading import core_rows
from modeclust.data.segment_pass import SegmentPass
from modeclust.solvers.solve import State, inverse_square

# Each mode is compared with this many of its nearest ones.
N_NEIGHBORS = 8
# Distances of this many modes to all are held at a time.
MODES_AT_ONCE = 1024
# Places along a segment, both ends included.
N_PLACES = 17


def density_ratios(dataset: Dataset, state: State, kernel: int) -> sparse.csr_array:
    """Return how little the density dips between nearby modes, (K, K) and symmetric.

    For two clusters: the lowest density of their pooled rows on the segment between their
    modes, over the lower of the two densities at its ends. The labels of the rows must be
    those of `state`. At an infinite bandwidth there is no density, and no ratio.
    """
    n_clusters = len(state.centroids)
    occupied = np.flatnonzero(state.nearest >= 0)
    if len(occupied) < 2 or np.isinf(state.bandwidth):
        return sparse.csr_array((n_clusters, n_clusters))
    pairs = occupied[_nearby_pairs(state.centroids[occupied])]
    pass_ = SegmentPass(
        state.centroids,
        pairs,
        np.linspace(0.0, 1.0, N_PLACES),
        kernel,
        inverse_square(state.bandwidth),
    )
    densities = dataset.run(pass_).values
    peaks = np.minimum(densities[:, 0], densities[:, -1])
    lowest = densities.min(axis=1)
    ratios = np.divide(lowest, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    first, second = pairs.T
    upper = sparse.coo_array((ratios, (first, second)), shape=(n_clusters, n_clusters))
    return sparse.csr_array(upper + upper.T)


def redundant_pairs(ratios: sparse.csr_array, threshold: float) -> list[tuple[int, int]]:
    """Return the pairs (i, j), i < j, whose ratio is above `threshold`, the highest first."""
    upper = sparse.coo_array(sparse.triu(ratios, k=1))
    chosen = upper.data > threshold
    rows, columns, values = upper.row[chosen], upper.col[chosen], upper.data[chosen]
    order = np.lexsort((columns, rows, -values))
    return [(int(rows[i]), int(columns[i])) for i in order]


def representatives(
    pairs: list[tuple[int, int]], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """Return the largest cluster of each group of redundant ones, in increasing order.

    Any two clusters of a group are one of the `pairs`, of which the first are joined first. A
    chain of pairs is no group: between the clusters at its ends there may be a dip.
    """
    redundant = set(pairs)
    groups = [[k] for k in range(len(counts))]  # of each cluster, one list for all in it
    for i, j in pairs:
        between = product(groups[i], groups[j])
        if all((min(pair), max(pair)) in redundant for pair in between):
            joined = groups[i] + groups[j]
            for k in joined:
                groups[k] = joined
    kept = {max(group, key=lambda k: (counts[k], -k)) for group in groups}
    return np.array(sorted(kept), dtype=np.intp)


def _nearby_pairs(modes: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return (P, 2) pairs i < j of which one is among the nearest of the other."""
    if len(modes) <= N_NEIGHBORS + 1:
        return np.stack(np.triu_indices(len(modes), k=1), axis=1)  # each is near all others
    rows = core_rows(modes)
    parts = []
    for first in range(0, len(modes), MODES_AT_ONCE):
        some = np.arange(first, min(first + MODES_AT_ONCE, len(modes)))
        distances = np.empty((len(modes), len(some)))
        _core.distances(rows, np.ascontiguousarray(modes[some]), distances)
        distances[some, some - first] = np.inf
        nearest = np.argsort(distances, axis=0, kind="stable")[:N_NEIGHBORS]
        parts.append(np.stack(np.broadcast_arrays(some, nearest), axis=-1).reshape(-1, 2))
    pairs = np.concatenate(parts)
    return np.unique(np.sort(pairs, axis=1), axis=0)

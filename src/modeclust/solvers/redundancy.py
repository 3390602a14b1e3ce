"""Redundant clusters: pairs of modes with no significant dip in the density between them."""

from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from modeclust import _core
from modeclust.data.dataset import Dataset
from modeclust.data.reading import core_rows
from modeclust.solvers.kmodes import State, inverse_square

# Each mode is compared with this many nearest modes.
N_NEIGHBORS = 8
# Number of modes whose distances to all modes are in memory at a time.
MODES_AT_ONCE = 1024
# A dip of fewer standard deviations may be there by chance. K is right more often than with any
# fixed ratio of dip to peak.
SIGNIFICANT = 2.5
# Modes that average fewer rows are not compared: no dip between them could be significant.
FEWEST_AVERAGED = 4.0
# Number of points along a segment, both ends included.
N_POINTS = 17
# If there are more rows than this, and than this many per cluster, only every n-th row counts, so
# that about as many are left.
MAX_ROWS = 100_000
MAX_ROWS_PER_CLUSTER = 1_000


@dataclass
class SegmentDensities:
    """The densities at points along each segment."""

    values: npt.NDArray[np.float64]  # (P, G)

    def merge(self, other: "SegmentDensities") -> None:
        """Add the densities of other rows."""
        self.values += other.values


@dataclass(frozen=True)
class SegmentPass:
    """Sum q G(t) over the rows of two clusters at points between their centers."""

    centers: npt.NDArray[np.float64]  # (K, D)
    pairs: npt.NDArray[np.int64]  # (P, 2)
    fractions: npt.NDArray[np.float64]  # (G,) the points, from 0 (first) to 1 (second)
    kernel: int
    inverse_squared_bandwidth: float
    step: int = 1  # only every `step`-th row counts

    def run(self, rows: _core.Rows) -> SegmentDensities:
        """Return the densities of some rows, by their current labels."""
        return SegmentDensities(
            _core.segment_densities(
                rows,
                rows.labels,
                self.centers,
                self.pairs,
                self.fractions,
                kernel=self.kernel,
                inverse_squared_bandwidth=self.inverse_squared_bandwidth,
                step=self.step,
            )
        )


def density_ratios(dataset: Dataset, state: State, kernel: int) -> sparse.csr_array:
    """Return the ratio of dip to peak for pairs of nearby modes, as a symmetric (K, K) matrix.

    For two clusters, it is the lowest density of the rows of both on the segment between their
    modes, divided by the lower of the two densities at its ends. Ratios of 0 are stored too. The
    rows must have the labels of `state`. At an infinite bandwidth there is no density, and the
    matrix is empty.
    """
    n_clusters = len(state.centers)
    occupied = np.flatnonzero(state.nearest >= 0)
    if len(occupied) < 2 or np.isinf(state.bandwidth):
        return sparse.csr_array((n_clusters, n_clusters))
    pairs = occupied[_nearby_pairs(state.centers[occupied])]
    pass_ = SegmentPass(
        state.centers,
        pairs,
        np.linspace(0.0, 1.0, N_POINTS),
        kernel,
        inverse_square(state.bandwidth),
        every_nth(dataset.n_rows, n_clusters),
    )
    densities = dataset.run(pass_).values
    peaks = np.minimum(densities[:, 0], densities[:, -1])
    lowest = densities.min(axis=1)
    ratios = np.divide(lowest, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    # Both (i, j) and (j, i), in the order of a CSR matrix.
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((columns, rows))
    ends = np.bincount(rows, minlength=n_clusters).cumsum()
    matrix = sparse.csr_array((n_clusters, n_clusters))
    matrix.data = np.concatenate([ratios, ratios])[order]
    matrix.indices = columns[order]
    matrix.indptr = np.concatenate([[0], ends])
    return matrix


def every_nth(n_rows: int, n_clusters: int) -> int:
    """Return n if only every n-th row is to be measured; 1 if there are not very many rows."""
    return max(n_rows // max(MAX_ROWS, MAX_ROWS_PER_CLUSTER * n_clusters), 1)


def dip_significance(
    ratios: sparse.csr_array, rows_averaged: npt.NDArray[np.float64]
) -> sparse.csr_array:
    """Return how deep the dips are, in standard deviations of a density of as many rows.

    It is sqrt(2 N) (1 - sqrt(ratio)), with the number N of rows averaged at the mode that averages
    fewer: the square root of a number of random rows has a standard deviation of about 1 / 2. It is
    infinite where N is too small to tell.
    """
    rows, columns = np.repeat(np.arange(len(rows_averaged)), np.diff(ratios.indptr)), ratios.indices
    fewer = np.minimum(rows_averaged[rows], rows_averaged[columns])
    significance = np.sqrt(2.0 * fewer) * (1.0 - np.sqrt(ratios.data))
    significance[fewer < FEWEST_AVERAGED] = np.inf
    return sparse.csr_array((significance, columns, ratios.indptr), shape=ratios.shape)


class Redundant(NamedTuple):
    """Pairs of clusters without a significant dip between them."""

    pairs: list[tuple[int, int]]  # i < j, the most redundant first; none if there are too many
    is_too_wide: bool  # whether there are too many to tell at this bandwidth


def redundant_pairs(significance: sparse.csr_array, threshold: float) -> Redundant:
    """Return the pairs whose dip has a significance below `threshold`.

    If most of the pairs that were compared are redundant, and join more than half of the clusters
    to one group, the bandwidth is too wide: the density of all rows has one peak, whatever K is.
    """
    size, columns = significance.shape[0], significance.indices
    rows = np.repeat(np.arange(size), np.diff(significance.indptr))
    is_redundant = significance.data < threshold
    if 2 * np.count_nonzero(is_redundant) > len(rows):
        edges = rows[is_redundant], columns[is_redundant]
        graph = sparse.csr_array((np.ones(len(edges[0])), edges), shape=(size, size))
        _, groups = csgraph.connected_components(graph, directed=False)
        if 2 * np.bincount(groups).max() > len(np.unique(rows)):
            return Redundant([], is_too_wide=True)
    chosen = np.flatnonzero(is_redundant & (rows < columns))
    order = chosen[np.lexsort((columns[chosen], rows[chosen], significance.data[chosen]))]
    pairs = list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))
    return Redundant(pairs, is_too_wide=False)


def representatives(
    pairs: list[tuple[int, int]], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """Return the largest cluster of each group of redundant ones, in increasing order.

    Any two clusters of a group are one of the `pairs`. Pairs are joined in the given order. A
    chain of pairs is not a group: there may be a dip between the clusters at its ends.
    """
    redundant = set(pairs)
    groups = [[k] for k in range(len(counts))]  # the group of each cluster, one list for all of it
    for i, j in pairs:
        between = product(groups[i], groups[j])
        if all((min(pair), max(pair)) in redundant for pair in between):
            joined = groups[i] + groups[j]
            for k in joined:
                groups[k] = joined
    kept = {max(group, key=lambda k: (counts[k], -k)) for group in groups}
    return np.array(sorted(kept), dtype=np.intp)


def _nearby_pairs(modes: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return pairs i < j, (P, 2), in which one mode is among the nearest of the other."""
    if len(modes) <= N_NEIGHBORS + 1:
        return np.array(list(combinations(range(len(modes)), 2)), dtype=np.intp)
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

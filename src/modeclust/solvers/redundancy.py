"""Redundant clusters: pairs of modes with no dip in the density between them."""

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core
from modeclust.data.dataset import Dataset
from modeclust.data.reading import core_rows
from modeclust.solvers.kmodes import State, inverse_square

# Each mode is compared with this many nearest modes.
N_NEIGHBORS = 8
# Number of modes whose distances to all modes are in memory at a time.
MODES_AT_ONCE = 1024
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
    modes, divided by the lower of the two densities at its ends. The rows must have the labels of
    `state`. At an infinite bandwidth there is no density, and the matrix is empty.
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
        max(dataset.n_rows // max(MAX_ROWS, MAX_ROWS_PER_CLUSTER * n_clusters), 1),
    )
    densities = dataset.run(pass_).values
    peaks = np.minimum(densities[:, 0], densities[:, -1])
    lowest = densities.min(axis=1)
    ratios = np.divide(lowest, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    # Both (i, j) and (j, i), in the order of a CSR matrix.
    pairs, ratios = pairs[ratios > 0], ratios[ratios > 0]
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((columns, rows))
    ends = np.bincount(rows, minlength=n_clusters).cumsum()
    matrix = sparse.csr_array((n_clusters, n_clusters))
    matrix.data = np.concatenate([ratios, ratios])[order]
    matrix.indices = columns[order]
    matrix.indptr = np.concatenate([[0], ends])
    return matrix


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

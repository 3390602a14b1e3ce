"""How similar two clusterings are, cluster by cluster, and how far apart neighbouring rows are."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from modeclust import _core
from modeclust.data.dataset import Dataset, Part
from modeclust.data.reading import Doubles, Indices, core_rows, row_slices, take_rows
from modeclust.data.sample import Sample
from modeclust.solvers.bandwidth import SAME_ROW, average
from modeclust.solvers.kmodes import Centers

# The spacing of a cluster is the median over at most this many of its rows.
ROWS_PER_CLUSTER = 100
# Rows whose neighbours are searched are made dense in blocks of about this many numbers.
NUMBERS_AT_ONCE = 2**20


class Resemblance(NamedTuple):
    """How much each cluster is like the most similar cluster of another clustering."""

    jaccard: Doubles  # (K,)
    mode_distance: Doubles  # (K,)


def compare(overlap: Doubles, modes: Centers, other_modes: Centers) -> Resemblance:
    """Compare each cluster with the most similar one of another clustering.

    `overlap` (K, K') is the weight of the rows that two clusters share. Of equally similar
    clusters, the one with the nearest mode is taken. Other clusters without rows do not count.
    """
    weights, other_weights = overlap.sum(axis=1, keepdims=True), overlap.sum(axis=0)
    union = weights + other_weights - overlap
    jaccard = overlap / np.where(union > 0, union, 1.0)
    best = jaccard.max(axis=1)
    is_best = (jaccard == best[:, None]) & (other_weights > 0)
    distances = np.where(is_best, cdist(modes, other_modes), np.inf)
    return Resemblance(best, distances.min(axis=1))


def overlap_table(labels: Any, others: Any, counts: Any, shape: tuple[int, int]) -> Doubles:
    """Return the sum of the counts for each pair of labels; Dask arrays are summed by chunk."""
    pairs = labels.astype(np.int64) * shape[1] + others
    sums = np.bincount(pairs, weights=counts, minlength=shape[0] * shape[1])
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def row_spacing(dataset: Dataset, n_clusters: int, seed: int) -> Doubles:
    """Return the median distance (K,) of the rows of each cluster to their nearest other row.

    The clusters are those of the current labels. Rows that are equal to it do not count. The median
    is over at most `ROWS_PER_CLUSTER` random rows of positive weight, weighted; their neighbours
    are searched among all of these rows. It is NaN for clusters without such rows, and infinite if
    all rows are equal.
    """
    drawn = dataset.run(RowSamplePass(seed))
    sample = dataset.take(drawn.indices)
    nearest = dataset.present(0).merge_parts(_nearest_other, sample.X).distances
    spacing = np.full(n_clusters, np.nan)
    for k in np.unique(drawn.labels):
        own = drawn.labels == k
        spacing[k] = average(nearest[own], sample.weight[own], "median")
    return spacing


@dataclass
class SampledRows:
    """Some rows of each cluster: those of the smallest random keys."""

    labels: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    indices: Indices

    def merge(self, other: "SampledRows") -> None:
        """Add the rows that follow."""
        for name in ("labels", "keys", "indices"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)]))
        self.shorten()

    def shorten(self) -> None:
        """Keep at most `ROWS_PER_CLUSTER` rows of each cluster."""
        order = np.lexsort((self.keys, self.labels))
        labels = self.labels[order]
        rank = np.arange(len(order)) - np.searchsorted(labels, labels)
        kept = order[rank < ROWS_PER_CLUSTER]
        for name in ("labels", "keys", "indices"):
            setattr(self, name, getattr(self, name)[kept])


@dataclass(frozen=True)
class RowSamplePass:
    """Draw rows of positive weight from each cluster, by the current labels.

    The key of a row depends on its index and on the seed, but not on chunks or threads.
    """

    seed: int

    def run(self, rows: _core.Rows) -> SampledRows:
        """Return a sample of some rows."""
        keys = np.random.PCG64(self.seed).advance(rows.first_row).random_raw(rows.n_rows)
        present = np.flatnonzero(rows.row_weights())
        sampled = SampledRows(rows.labels[present], keys[present], rows.first_row + present)
        sampled.shorten()
        return sampled


@dataclass
class NearestDistances:
    """The distance of some rows to the nearest of others."""

    distances: Doubles

    def merge(self, other: "NearestDistances") -> None:
        """Add the rows that follow."""
        self.distances = np.minimum(self.distances, other.distances)


def _nearest_other(part: Part, queries: Any) -> NearestDistances:
    """Return the distance of each query to the nearest row of a part that is not equal to it."""
    n_queries, n_features = queries.shape
    nearest = np.full(n_queries, np.inf)
    size = max(NUMBERS_AT_ONCE // n_features, 1)
    for first in range(0, n_queries, size):
        some = slice(first, first + size)
        points = Sample(queries[some], nearest).dense()
        for rows in row_slices(part.X.shape[0]):
            X = take_rows(part.X, rows)
            distances = np.empty((X.shape[0], len(points)), dtype=X.dtype)
            _core.distances(core_rows(X, n_threads=part.n_jobs), points, distances)
            distances[distances <= SAME_ROW] = np.inf
            nearest[some] = np.minimum(nearest[some], distances.min(axis=0))
    return NearestDistances(nearest)

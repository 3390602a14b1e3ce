"""The dips between clusters of K-means.

K-means starts with too many clusters. The pair with the smallest gap between them is merged, until
there is a gap between any two neighbours. The gap is Hartigan's dip of the rows of both, projected
onto the line through the two centers. Clusters must be convex. The number of dimensions does not
matter.
"""

from typing import NamedTuple

import numpy as np

from modeclust import _core
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, Indices
from modeclust.data.sample import Sample
from modeclust.solvers.kmeans import draw_seeds, mean_variance, solve_kmeans
from modeclust.solvers.kmodes import Centers, assign

# sqrt(n) times the dip of n rows. For uniformly distributed rows, it is below this in 96 to 98% of
# samples; the least dip of many pairs counts.
SIGNIFICANT_DIP = 0.55
# The dips are found from this many runs of K-means; the median number of clusters counts.
N_RUNS = 3
# K-means starts with at most one cluster for this many rows.
ROWS_PER_CLUSTER = 5
# Steps of K-means after each merge.
N_STEPS = 3


class Dips(NamedTuple):
    """The dips between clusters of K-means that are merged one by one."""

    n_clusters: int
    centers: Centers
    counts: Indices  # numbers of clusters, falling by 1 to 2
    least_dips: Doubles  # sqrt(n) times the least dip between two of this many clusters
    merged_values: Doubles  # (2, n) values and weights of the last pair that was merged
    kept_values: Doubles  # the same of the pair with the least dip that was kept


def count_by_dips(
    sample: Sample, max_clusters: int, rng: np.random.RandomState, n_threads: int = 1
) -> Dips:
    """Merge clusters of K-means until there are dips between all of them."""
    n_clusters = min(max_clusters, int(sample.weight.sum() / ROWS_PER_CLUSTER), len(sample.weight))
    n_clusters = max(n_clusters, 1)
    dataset = MemoryDataset(
        sample.X, weight=sample.weight, n_clusters=n_clusters, n_threads=n_threads
    )
    seeds = draw_seeds(sample, n_clusters, "k-means++", rng, n_threads)
    tolerance = 1e-4 * mean_variance(dataset)
    runs = []
    for _ in range(N_RUNS):
        start = solve_kmeans(dataset, next(seeds), max_iter=100, tolerance=tolerance).centers
        runs.append(merge_by_dips(dataset, start))
    return sorted(runs, key=lambda run: run.n_clusters)[N_RUNS // 2]


def merge_by_dips(dataset: MemoryDataset, centers: Centers) -> Dips:
    """Merge the two clusters with the least dip between them, until one is left."""
    counts, least_dips = [], []
    merged = kept = np.empty((2, 0))
    best = None
    while len(centers) > 1:
        for _ in range(N_STEPS):
            centers = assign(dataset, centers).moved(centers)
        rows = SeparatedRows(dataset, centers)
        pairs, dips = rows.separations()
        weakest = int(dips.argmin())
        counts.append(len(centers))
        least_dips.append(dips[weakest])
        i, j = pairs[weakest]
        if best is None:
            if dips[weakest] >= SIGNIFICANT_DIP:
                best, kept = centers, rows.values(i, j)
            else:
                merged = rows.values(i, j)
        mean = np.average(centers[[i, j]], axis=0, weights=np.maximum(rows.mass[[i, j]], 1e-300))
        centers = np.delete(centers, j, axis=0)
        centers[i] = mean
    if best is None:
        best = assign(dataset, centers).moved(centers)
    return Dips(len(best), best, np.array(counts, np.int64), np.array(least_dips), merged, kept)


class SeparatedRows:
    """Rows that are assigned to their nearest centers, and the dips between clusters."""

    def __init__(self, dataset: MemoryDataset, centers: Centers) -> None:
        self._centers = centers
        self._weight = dataset.weight
        self._n_threads = dataset.n_threads
        self._squares = np.empty((dataset.n_rows, len(centers)))
        _core.distances(dataset.rows, centers, self._squares)
        np.square(self._squares, out=self._squares)
        nearest = np.argpartition(self._squares, 1, axis=1)[:, :2]
        self._labels = self._squares.argmin(axis=1).astype(np.int32)
        other = np.where(nearest[:, 0] == self._labels, nearest[:, 1], nearest[:, 0])
        lower, higher = np.minimum(self._labels, other), np.maximum(self._labels, other)
        pairs = np.unique(lower * len(centers) + higher)
        self._pairs = np.stack(np.divmod(pairs, len(centers)), axis=1)
        self.mass = np.bincount(self._labels, weights=self._weight, minlength=len(centers))

    def separations(self) -> tuple[Indices, Doubles]:
        """Return the pairs of clusters that are the two nearest of some row, and their dips."""
        dips = _core.separations(
            self._squares, self._centers, self._weight, self._labels, self._pairs, self._n_threads
        )
        return self._pairs, dips

    def values(self, i: int, j: int) -> Doubles:
        """Return the values and weights whose dip separates two clusters, (2, n)."""
        return _core.pair_values(
            self._squares, self._centers, self._weight, self._labels, int(i), int(j)
        )

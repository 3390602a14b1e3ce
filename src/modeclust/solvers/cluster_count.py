"""How many clusters there are, by two tests of different kinds.

*Peaks* counts the peaks of the density that stand out from its noise. The density at a row is
estimated by the distance to its k-th neighbour, and two peaks are separated by the lowest point of
the best way between them over the neighbour graph: the pass. Clusters may have any shape. In many
dimensions there are too few rows to estimate a density.

*Dips* starts from too many clusters of K-means, and merges the pair with the smallest gap between
them, until there is a gap between any two neighbours. The gap is Hartigan's dip of the rows of
both, projected onto the line through the two centers. Clusters must be convex. The number of
dimensions does not matter.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from modeclust import _core
from modeclust.cluster_suggestion import MANY_DIMENSIONS, ClusterSuggestion
from modeclust.data.dataset import Dataset
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import to_unit_length
from modeclust.data.reading import Doubles, Indices, read_rows
from modeclust.data.sample import Sample
from modeclust.solvers.density_graph import component_joins, positive_scales
from modeclust.solvers.kmeans import draw_seeds, mean_variance, solve_kmeans
from modeclust.solvers.kmodes import Centers, assign
from modeclust.solvers.neighbors import nearest_other_rows, nearest_rows

Labels = npt.NDArray[np.int32]

# Of more rows than this, the tests see a random sample.
MAX_ROWS = 5_000
# The density at a row is estimated by k neighbours: this times the square root of the number of
# rows, and at least a few. Its log has a standard error of about 1 / sqrt(k).
NEIGHBORS_PER_ROOT, FEWEST_NEIGHBORS = 0.45, 8
# A peak counts if its height in standard errors is this many times what the largest of N / k errors
# is expected to be.
SIGNIFICANT_PEAK = 1.2
# The answer is not sure if there are peaks above this share of what counts.
ALMOST = 0.75
# sqrt(n) times the dip of n rows. For uniformly distributed rows, it is below this in 95% of
# samples.
SIGNIFICANT_DIP = 0.5
# The dips are found from this many runs of K-means; the median number of clusters counts.
N_RUNS = 3
# K-means starts with at most one cluster for this many rows.
ROWS_PER_CLUSTER = 5
# Steps of K-means after each merge.
N_STEPS = 3


class Tests(NamedTuple):
    """The rows that the two tests have seen, and their results."""

    sample: Sample
    peaks: "Peaks"
    dips: "Dips"

    @property
    def by_peaks(self) -> bool:
        """Whether the peaks give the answer; otherwise the dips do."""
        return self.peaks.dimension < MANY_DIMENSIONS

    def suggestion(self, max_clusters: int, labels: Labels | None = None) -> ClusterSuggestion:
        """Return the answer and the evidence for it."""
        peaks, dips = self.peaks, self.dips
        n_clusters = peaks.n_clusters if self.by_peaks else dips.n_clusters
        n_almost = 1 + np.count_nonzero(peaks.heights >= ALMOST * peaks.threshold)
        is_sure = peaks.n_clusters == dips.n_clusters == n_almost < max_clusters
        return ClusterSuggestion(
            n_clusters=n_clusters,
            is_sure=bool(is_sure),
            n_by_peaks=peaks.n_clusters,
            n_by_dips=dips.n_clusters,
            labels=labels,
            dimension=peaks.dimension,
            peak_heights=peaks.heights,
            peak_threshold=peaks.threshold,
            dip_counts=dips.counts,
            dips=dips.least_dips,
            dip_threshold=SIGNIFICANT_DIP,
            merged_values=dips.merged_values[0],
            merged_weights=dips.merged_values[1],
            kept_values=dips.kept_values[0],
            kept_weights=dips.kept_values[1],
            max_clusters=max_clusters,
            n_rows=len(self.sample.weight),
        )

    def label(self, dataset: Dataset) -> Labels:
        """Return the label of each row of a dataset, by the test that gave the answer.

        By the dips, it is that of the nearest center. By the peaks, clusters may have any shape,
        and it is that of the nearest row of the sample.
        """
        if self.by_peaks:
            every = np.arange(dataset.n_rows)
            parts = dataset.read_parts(every)
            nearest = np.concatenate([nearest_rows(self.sample.X, X, 1)[1][:, 0] for X in parts])
            return _largest_first(self.peaks.labels[nearest])
        centers = self.dips.centers
        assign(dataset, to_unit_length(centers, centers) if dataset.unit_length else centers)
        return _largest_first(dataset.labels())


def run_tests(
    dataset: Dataset, max_clusters: int, rng: np.random.RandomState, n_threads: int = 1
) -> Tests:
    """Run both tests on the rows of positive weight, or on a sample of them."""
    sample = read_sample(dataset, rng)
    peaks = count_peaks(sample, max_clusters, n_threads)
    return Tests(sample, peaks, count_by_dips(sample, max_clusters, rng, n_threads))


def read_sample(dataset: Dataset, rng: np.random.RandomState) -> Sample:
    """Return distinct rows with weights that say how many rows they count as.

    An integer weight is a number of copies. Copies add weight, but no evidence: if every row is
    there twice, no test may be surer. So the sum of all weights becomes (sum w)^2 / sum w^2: the
    number of distinct rows if all have the same weight, and fewer if some have most of it.
    """
    drawn = dataset.sample(MAX_ROWS, rng)
    X, weight, _ = Sample(drawn.X.astype(np.float64), drawn.weight).distinct(in_place=True)
    weight = weight / weight.max()
    return Sample(X, weight * (weight.sum() / np.square(weight).sum()))


class Peaks(NamedTuple):
    """The peaks of the density, by the distances to neighbours."""

    n_clusters: int
    labels: Labels
    heights: Doubles  # of all peaks but the highest above their passes, in standard errors; falling
    threshold: float  # that a height must reach
    dimension: float  # the intrinsic dimension


class Dips(NamedTuple):
    """The dips between clusters of K-means that are merged one by one."""

    n_clusters: int
    centers: Centers
    counts: Indices  # numbers of clusters, falling by 1 to 2
    least_dips: Doubles  # sqrt(n) times the least dip between two of this many clusters
    merged_values: Doubles  # (2, n) values and weights of the last pair that was merged
    kept_values: Doubles  # the same of the pair with the least dip that was kept


def count_peaks(sample: Sample, max_clusters: int, n_jobs: int | None = None) -> Peaks:
    """Count the peaks of the density of distinct rows."""
    X, weight, _ = sample
    n_rows = X.shape[0]
    n_neighbors = max(round(NEIGHBORS_PER_ROOT * n_rows**0.5), FEWEST_NEIGHBORS)
    n_neighbors = min(n_neighbors, n_rows - 1)
    if n_neighbors < 2:
        return Peaks(1, np.zeros(n_rows, np.int32), np.empty(0), np.inf, 0.0)
    distances, neighbors = nearest_other_rows(X, n_neighbors, n_jobs)
    dimension = intrinsic_dimension(distances)

    def log_density(counted: Doubles, radius: Doubles) -> Doubles:
        return np.asarray(np.log(counted) - dimension * np.log(positive_scales(radius)))

    # Both balls hold k + 1 rows.
    density = log_density(weight + weight[neighbors].sum(axis=1), distances[:, -1])
    first, second = np.repeat(np.arange(n_rows), n_neighbors), neighbors.ravel().astype(np.int64)
    passes = np.minimum(density[first], density[second])
    adjacency = sparse.csr_array((np.ones(len(first)), (first, second)), shape=(n_rows, n_rows))
    joins = component_joins(X, adjacency, n_jobs)
    if len(joins[0]):  # the density is low halfway between two components
        middles = (read_rows(X, joins[0]) + read_rows(X, joins[1])) / 2
        radii, around = nearest_rows(X, middles, n_neighbors, n_jobs)
        counted = weight[around].sum(axis=1) * (1 + 1 / n_neighbors)
        ends = np.minimum(density[joins[0]], density[joins[1]])
        passes = np.r_[passes, np.minimum(log_density(counted, radii[:, -1]), ends)]
        first, second = np.r_[first, joins[0]], np.r_[second, joins[1]]

    tree = _highest_ways(first, second, passes, n_rows)
    heights = _peak_heights(density, *tree) / np.sqrt(2 / n_neighbors)
    falling = np.sort(heights)[::-1]
    threshold = SIGNIFICANT_PEAK * np.sqrt(2 * np.log(n_rows / n_neighbors))
    joined = heights < threshold
    if np.count_nonzero(~joined) >= max_clusters:
        joined = heights <= falling[max_clusters - 1]
    forest = sparse.csr_array(
        (joined[joined], (tree[0][joined], tree[1][joined])), shape=(n_rows, n_rows)
    )
    n_clusters, labels = connected_components(forest, directed=False)
    return Peaks(
        n_clusters, _largest_first(labels), falling[falling > 0], float(threshold), dimension
    )


def intrinsic_dimension(distances: Doubles) -> float:
    """Return the dimension by the growth of the distances to neighbours, the median over rows.

    Of a row, it is the inverse of the mean of ln(r_k / r_j) over its neighbours j < k
    (Levina & Bickel, 2004).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.log(distances[:, -1:] / distances[:, :-1]).mean(axis=1)
        return float(np.nan_to_num(1 / np.median(inverse)))


def _highest_ways(
    first: Indices, second: Indices, passes: Doubles, n_rows: int
) -> tuple[Indices, Indices, Doubles]:
    """Return the edges of the tree whose ways have the highest passes, those of the highest first.

    It has all merges of components as the density falls.
    """
    rank = np.empty(len(passes))
    rank[np.argsort(-passes, kind="stable")] = np.arange(1.0, len(passes) + 1)
    graph = sparse.csr_array((rank, (first, second)), shape=(n_rows, n_rows))
    tree = minimum_spanning_tree(graph).tocoo()
    order = np.argsort(tree.data)
    numbers = tree.data[order].astype(np.int64) - 1
    edges = np.argsort(-passes, kind="stable")[numbers]
    return first[edges], second[edges], passes[edges]


def _peak_heights(density: Doubles, first: Indices, second: Indices, passes: Doubles) -> Doubles:
    """Return how high the lower of the two peaks that meet at each edge is above this pass."""
    parents, peaks = list(range(len(density))), density.tolist()
    heights = []

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    for u, v, at_pass in zip(first.tolist(), second.tolist(), passes.tolist(), strict=True):
        higher, lower = root(u), root(v)
        if peaks[higher] < peaks[lower]:
            higher, lower = lower, higher
        heights.append(peaks[lower] - at_pass)
        parents[lower] = higher
    return np.array(heights)


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


def _largest_first(labels: npt.NDArray[np.integer[Any]]) -> Labels:
    """Return labels in which clusters are numbered by size, the largest first."""
    order = np.argsort(-np.bincount(labels), kind="stable")
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order))
    return np.asarray(numbers[labels])

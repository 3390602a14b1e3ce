"""The peaks of a density that stand out from its noise.

The density at a row is estimated by the distance to its k-th neighbour, and two peaks are separated
by the lowest point of the best way between them over the neighbour graph: the pass. Clusters may
have any shape. In many dimensions there are too few rows to estimate a density.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from modeclust.data.reading import Doubles, Indices, take_rows
from modeclust.data.sample import Sample
from modeclust.solvers.density_graph import component_joins, positive_scales
from modeclust.solvers.neighbors import nearest_other_rows, nearest_rows

Labels = npt.NDArray[np.int32]

# The density at a row is estimated by k neighbours: this times the square root of the number of
# rows, and at least a few. Its log has a standard error of about 1 / sqrt(k).
NEIGHBORS_PER_ROOT, FEWEST_NEIGHBORS = 0.45, 8
# A peak counts if its height in standard errors is this many times what the largest of N / k errors
# is expected to be.
SIGNIFICANT_PEAK = 1.2
# An estimate of the dimension above this many times the number of features says that the neighbours
# of most rows are equally far, as those of one-hot rows are.
LARGEST_ESTIMATE = 2.0


class Peaks(NamedTuple):
    """The peaks of the density, by the distances to neighbours."""

    n_clusters: int
    labels: Labels
    heights: Doubles  # of all peaks but the highest above their passes, in standard errors; falling
    threshold: float  # that a height must reach
    dimension: float  # the intrinsic dimension


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
    if dimension > LARGEST_ESTIMATE * X.shape[1]:
        dimension = float(X.shape[1])

    def log_density(counted: Doubles, radius: Doubles) -> Doubles:
        return np.asarray(np.log(counted) - dimension * np.log(positive_scales(radius)))

    # Both balls hold k + 1 rows.
    density = log_density(weight + weight[neighbors].sum(axis=1), distances[:, -1])
    first, second = np.repeat(np.arange(n_rows), n_neighbors), neighbors.ravel().astype(np.int64)
    passes = np.minimum(density[first], density[second])
    adjacency = sparse.csr_array((np.ones(len(first)), (first, second)), shape=(n_rows, n_rows))
    joins = component_joins(X, adjacency, n_jobs)
    if len(joins[0]):  # the density is low halfway between two components
        middles = (take_rows(X, joins[0]) + take_rows(X, joins[1])) / 2
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
        n_clusters, largest_first(labels), falling[falling > 0], float(threshold), dimension
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
    ends = first.astype(np.int32), second.astype(np.int32)  # older versions of scipy ask for these
    graph = sparse.csr_array((rank, ends), shape=(n_rows, n_rows))
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


def largest_first(labels: npt.NDArray[np.integer[Any]]) -> Labels:
    """Return labels in which clusters are numbered by size, the largest first."""
    order = np.argsort(-np.bincount(labels), kind="stable")
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order))
    return np.asarray(numbers[labels])

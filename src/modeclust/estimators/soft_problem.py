"""A clustering problem with soft assignments, which are smooth over a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.reading import is_sparse
from modeclust.estimators.problem import Problem
from modeclust.estimators.soft_assignments import Neighborhood
from modeclust.exceptions import ApproximateNeighborsWarning, _warn_user
from modeclust.solvers.density_graph import (
    automatic_neighbors,
    component_joins,
    contrasted_affinities,
    density_graph,
    inverse_affinities,
    normalised,
)
from modeclust.solvers.kmodes import Centers, State, follow_path, inverse_square, state_of
from modeclust.solvers.laplacian import SOLVERS, Graph, follow_soft_path
from modeclust.solvers.linkage import linkage_labels, with_ordered_ties
from modeclust.solvers.neighbors import (
    Found,
    approximate_rows,
    exact_is_slow,
    has_approximate,
    nearest_other_rows,
    neighbor_graph,
)
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.robust_start import median_radius

# Edges that connect a given graph have this share of its smallest affinity.
WEAKEST = 1e-6
# Clusters are small if they have fewer rows than this on average. The degree of a row then tells
# how many rows have it as a neighbour by chance, and not how dense its cluster is, so linkage uses
# the normalised affinities.
SMALL_CLUSTER = 30


@dataclass
class GraphOptions:
    """The parameters of `LaplacianKModes` that determine the graph."""

    affinity: Any
    affinity_bandwidth: float | str | None
    n_neighbors: int | str
    search: str


@dataclass
class SoftProblem(Problem):
    """A problem with a graph, over which the assignments are smoothed."""

    smoothing: float | str = 0.0  # "auto" until the path begins
    solver: str = "bound"
    soft_options: SolverOptions = field(init=False)
    graph: sparse.csr_array | None = None
    linkage_graph: sparse.csr_array | None = None  # of the initial clusters, if it is another one
    neighborhood: Neighborhood = field(init=False)

    def follow_path(self, centers: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last one.

        The clusters of linkage follow the graph. They stay as they are on the way to the last
        bandwidth: a wide kernel would pull them apart, or two rings together.
        """
        if self.smoothing == 0:
            yield from super().follow_path(centers, bandwidths)
            return
        dataset, links = self._memory(), self.start == "linkage"
        labels = dataset.labels()
        if links:
            limits = self.soft_options
            frozen = replace(limits, max_iter=limits.path_iter, reassign=False)
            for state in follow_path(dataset, centers, bandwidths[:-1], frozen):
                centers = state.centers
                yield state._replace(stage=1, labels=labels)
            bandwidths = bandwidths[-1:]
        smoother = SOLVERS[self.solver]
        memberships = smoother.first_memberships(labels, len(centers))
        graph = Graph.of(self.graph, self.n_threads)
        if isinstance(self.smoothing, str):
            kernel_sum = None
            if links:
                scale = inverse_square(float(bandwidths[-1]))
                at_start = ModePass(centers, self.options.kernel, scale, reassign=False)
                kernel_sum = dataset.run(at_start).objective
            self.smoothing = smoother.automatic(
                graph, memberships, dataset.total_weight, kernel_sum
            )
        yield from follow_soft_path(
            dataset,
            smoother(graph, self.smoothing),
            centers,
            memberships,
            bandwidths,
            self.soft_options,
        )

    def linkage_start(self) -> State:
        """Return the clusters of average linkage over the graph, with their means as centers."""
        self.start = "linkage"
        dataset, n_clusters = self._memory(), self.n_clusters
        graph = self._connected() if self.linkage_graph is None else self.linkage_graph
        weight = dataset.weight
        linked = linkage_labels(graph, n_clusters, weight > 0 if weight.size else None)
        labels = with_ordered_ties(linked, self.X)
        dataset.rows.set_labels(labels, n_clusters)
        centers = self.means()
        sums = dataset.run(ModePass(centers, self.options.kernel, 0.0, reassign=False))
        return state_of(np.inf, centers, sums, 0, 0.0, converged=True)._replace(labels=labels)

    def means(self, elsewhere: Centers | None = None) -> Centers:
        """Return the mean of each cluster.

        If the rows of a cluster have no weight, this is its first row. Clusters without rows are
        where `elsewhere` has them.
        """
        dataset = self._memory()
        clusters, first = np.unique(dataset.labels(), return_index=True)
        shape = (self.n_clusters, dataset.n_features)
        centers = np.zeros(shape) if elsewhere is None else elsewhere.copy()
        centers[clusters] = dataset.take(first).dense()
        step = ModePass(centers, self.options.kernel, 0.0, reassign=False)
        return dataset.run(step).moved(centers)

    def radius(self, centers: Centers) -> float:
        """Return the median distance of the rows to the centers of their clusters."""
        dataset = self._memory()
        squares = _core.own_distances(dataset.rows, centers, dataset.labels())
        weight = dataset.weights_at(np.arange(dataset.n_rows))
        return median_radius(np.sqrt(squares), weight)

    def set_graph(
        self, given: GraphOptions, bandwidth: float | None, rng: np.random.RandomState
    ) -> None:
        """Set the graph unless it is given, and the neighbourhood for new rows.

        `bandwidth` is the scale of the affinity "heat" by default.
        """
        n_rows = self.dataset.n_rows
        k = given.n_neighbors
        n_neighbors = automatic_neighbors(n_rows, self.n_clusters) if isinstance(k, str) else int(k)
        k = min(n_neighbors, n_rows - 1)
        affinity = given.affinity
        if isinstance(affinity, str) and affinity == "auto":
            self._set_density_graph(self._neighbors(k, given.search, rng))
            return
        unit: Any = self.rescaling.scale
        is_binary = isinstance(affinity, str) and affinity == "binary"
        is_local = isinstance(given.affinity_bandwidth, str)
        scale: Any = None
        if not is_binary and not is_local:
            default: Any = bandwidth
            wanted = given.affinity_bandwidth
            scale = float(default if wanted is None else wanted) / unit
        if is_local or self.graph is None:
            distances, neighbors = self._neighbors(k, given.search, rng)
            if is_local and not is_binary:
                scale = distances.max(axis=1)
            if self.graph is None:
                self.graph = neighbor_graph(distances, neighbors, scale)
        original_scale = None if scale is None else scale * unit
        self.neighborhood = Neighborhood(self.X, n_neighbors, original_scale)

    def _set_density_graph(self, found: Found) -> None:
        rows = self.rescaling.to_internal(self.X)
        q, scales = density_graph(rows, found, self.n_threads)
        scales = scales * self.rescaling.scale
        n_rows, n_neighbors = found[1].shape
        affinities = inverse_affinities(q)
        degrees = np.asarray(affinities.sum(axis=1), dtype=np.float64).ravel()
        balanced = normalised(affinities, degrees)
        is_small = n_rows < SMALL_CLUSTER * self.n_clusters
        self.linkage_graph = balanced if is_small else affinities
        if self.solver == "gradient":
            self.graph = contrasted_affinities(q)
            self.neighborhood = Neighborhood(self.X, n_neighbors, scales, "contrasted")
            return
        self.graph, mean = balanced, float(balanced.sum() / n_rows)
        self.neighborhood = Neighborhood(self.X, n_neighbors, scales, "normalised", degrees, mean)

    def _connected(self) -> sparse.csr_array:
        """Return the given graph, with weak edges between its components."""
        graph = self.graph
        assert graph is not None
        first, second = component_joins(self.rescaling.to_internal(self.X), graph, self.n_threads)
        if not len(first):
            return graph
        positive = graph.data[graph.data > 0]
        weak = WEAKEST * positive.min() if len(positive) else 1.0
        joins = sparse.csr_array((np.full(len(first), weak), (first, second)), shape=graph.shape)
        return sparse.csr_array(graph.maximum(joins.maximum(joins.T)))

    def _neighbors(self, n_neighbors: int, search: str, rng: np.random.RandomState) -> Found:
        """Return the nearest other rows of each row; warn if they are approximate by default."""
        rows = self.rescaling.to_internal(self.X)
        if search == "auto" and exact_is_slow(rows) and has_approximate():
            _warn_user(
                f"The neighbours of {rows.shape[0]} rows are approximate, by faiss. Pass "
                "neighbor_search='exact', which takes longer, or 'approximate', which does not "
                "warn.",
                ApproximateNeighborsWarning,
            )
            search = "approximate"
        if search == "approximate" and not is_sparse(rows):
            return approximate_rows(rows, n_neighbors, rng, self.n_threads)
        return nearest_other_rows(rows, n_neighbors, self.n_threads)

    def _memory(self) -> MemoryDataset:
        assert isinstance(self.dataset, MemoryDataset)
        return self.dataset

"""A clustering problem with soft assignments, which are smooth over a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.data.reading import is_sparse
from modeclust.estimators.problem import Problem
from modeclust.estimators.soft_assignments import Neighborhood
from modeclust.exceptions import ApproximateNeighborsWarning, _warn_user
from modeclust.solvers.kmodes import Centers, State
from modeclust.solvers.laplacian import SOLVERS, Graph, follow_soft_path
from modeclust.solvers.neighbors import (
    Found,
    approximate_rows,
    distances_to_neighbors,
    exact_is_slow,
    has_approximate,
    nearest_other_rows,
    neighbor_graph,
)
from modeclust.solvers.options import SolverOptions


@dataclass
class SoftProblem(Problem):
    """A problem with a graph, over which the assignments are smoothed."""

    smoothing: float | str = 0.0  # "auto" until the path begins
    solver: str = "gradient"
    soft_options: SolverOptions = field(init=False)
    graph: sparse.csr_array | None = None
    neighborhood: Neighborhood = field(init=False)

    def follow_path(self, centers: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last one."""
        if self.smoothing == 0:
            yield from super().follow_path(centers, bandwidths)
            return
        smoother = SOLVERS[self.solver]
        memberships = smoother.first_memberships(self.dataset.labels(), len(centers))
        graph = Graph.of(self.graph, self.n_threads)
        if isinstance(self.smoothing, str):
            self.smoothing = smoother.automatic(graph, memberships, self.dataset.total_weight)
        yield from follow_soft_path(
            self.dataset,
            smoother(graph, self.smoothing),
            centers,
            memberships,
            bandwidths,
            self.soft_options,
        )

    def set_graph(
        self,
        affinity: Any,
        affinity_bandwidth: float | str | None,
        n_neighbors: int,
        neighbor_search: str,
        target: float,
        rng: np.random.RandomState,
    ) -> None:
        """Set the graph unless it is given, and the neighbourhood for new rows.

        The parameters are those of `LaplacianKModes`; `target` is the target bandwidth.
        """
        unit: Any = self.rescaling.scale
        is_binary = isinstance(affinity, str) and affinity == "binary"
        is_local = isinstance(affinity_bandwidth, str)
        scale: Any = None
        if not is_binary and not is_local:
            given_scale: Any = affinity_bandwidth
            scale = float(target if given_scale is None else given_scale) / unit
        if is_local or self.graph is None:
            k = min(n_neighbors, self.dataset.n_rows - 1)
            distances, neighbors = self._neighbors(k, neighbor_search, rng)
            if is_local and not is_binary:
                scale = distances.max(axis=1)
            if self.graph is None:
                self.graph = neighbor_graph(distances, neighbors, scale)
        original_scale = None if scale is None else scale * unit
        self.neighborhood = Neighborhood(self.X, int(n_neighbors), original_scale)

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
        _, neighbors = nearest_other_rows(rows, n_neighbors, self.n_threads)
        return distances_to_neighbors(rows, rows, neighbors), neighbors

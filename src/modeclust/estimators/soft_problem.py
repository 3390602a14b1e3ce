"""A clustering problem whose assignments are soft, and smooth over a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import logsumexp

from modeclust.algorithms.graph import log_affinities
from modeclust.algorithms.laplacian import SOLVERS, Graph, follow_soft
from modeclust.algorithms.neighbors import distances_to_neighbors, nearest_rows
from modeclust.algorithms.solve import Centers, State
from modeclust.estimators.problem import Problem
from modeclust.rows.memory import MemoryRows
from modeclust.rows.units import Units
from modeclust.validation import Doubles

# Blocks of a graph: enough for all threads, and so large that a turn costs little beside the work.
N_BLOCKS, BLOCK_WORK = 16, 2**15


@dataclass(frozen=True)
class Neighborhood:
    """Known rows, and how strongly a new one is joined to those nearest to it."""

    X: Any
    n_neighbors: int
    scale: float | Doubles | None  # s of all rows, or of each; None where all affinities are 1

    def affinities(
        self, X: Any, units: Units, n_jobs: int | None
    ) -> tuple[sparse.csr_array, Doubles]:
        """Return affinities of new rows to known ones, both in `units`, and their sums' logarithms.

        The affinities of a row are over their sum, which may vanish far from all known rows.
        """
        n_known = self.X.shape[0]
        k = min(self.n_neighbors, n_known)
        known = units.inward(self.X)
        _, neighbors = nearest_rows(known, [X], k, n_jobs)
        with np.errstate(over="ignore"):
            distances = distances_to_neighbors(X, known, neighbors)
        own: Any = None
        others: Any = None
        if isinstance(self.scale, np.ndarray):
            own, others = distances.max(axis=1)[:, None], self.scale[neighbors] / units.scale
        elif self.scale is not None:
            own = others = self.scale / units.scale
        logs = log_affinities(distances, own, others)
        sums = logsumexp(logs, axis=1)
        weights = np.exp(logs - sums[:, None])
        ends = np.arange(0, weights.size + 1, k)
        shape = (len(weights), n_known)
        return sparse.csr_array((weights.ravel(), neighbors.ravel(), ends), shape=shape), sums


@dataclass
class SoftProblem(Problem):
    """A problem with a graph, along which its path is smoothed."""

    smoothing: float | str = 0.0  # "auto" until the path begins
    solver: str = "gradient"
    soft_path_iter: int = 30
    soft_max_iter: int = 100
    soft_jobs: int | None = None
    graph: sparse.csr_array = field(init=False)
    neighborhood: Neighborhood = field(init=False)

    def follow(self, centroids: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last, the first from labels."""
        if self.smoothing == 0:
            yield from super().follow(centroids, bandwidths)
            return
        smoother = SOLVERS[self.solver]
        memberships = smoother.first_memberships(self.rows.labels(), len(centroids))
        size = max(-(-self.rows.n_rows // N_BLOCKS), BLOCK_WORK // len(centroids), 1)
        with MemoryRows(self.graph, block_size=size, n_jobs=self.soft_jobs) as edges:
            graph = Graph.of(edges)
            if isinstance(self.smoothing, str):
                self.smoothing = smoother.automatic(graph, memberships, self.rows.total_weight)
            yield from follow_soft(
                self.rows,
                smoother(graph, self.smoothing),
                centroids,
                memberships,
                bandwidths,
                kernel=self.kernel,
                path_iter=self.soft_path_iter,
                max_iter=self.soft_max_iter,
                tol=self.tol,
            )

"""A clustering problem whose assignments are soft, and smooth over a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.algorithms.laplacian import SOLVERS, Graph, follow_soft
from modeclust.algorithms.solve import Centers, State
from modeclust.data.memory import MemoryDataset
from modeclust.estimators.neighborhood import Neighborhood
from modeclust.estimators.problem import Problem

# Blocks of a graph: enough for all threads, and so large that a turn costs little beside the work.
N_BLOCKS, BLOCK_WORK = 16, 2**15


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
        memberships = smoother.first_memberships(self.dataset.labels(), len(centroids))
        size = max(-(-self.dataset.n_rows // N_BLOCKS), BLOCK_WORK // len(centroids), 1)
        with MemoryDataset(self.graph, block_size=size, n_jobs=self.soft_jobs) as edges:
            graph = Graph.of(edges)
            if isinstance(self.smoothing, str):
                self.smoothing = smoother.automatic(graph, memberships, self.dataset.total_weight)
            yield from follow_soft(
                self.dataset,
                smoother(graph, self.smoothing),
                centroids,
                memberships,
                bandwidths,
                kernel=self.kernel,
                path_iter=self.soft_path_iter,
                max_iter=self.soft_max_iter,
                tol=self.tol,
            )

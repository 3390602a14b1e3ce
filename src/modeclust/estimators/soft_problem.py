"""A clustering problem whose assignments are soft, and smooth over a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.estimators.neighborhood import Neighborhood
from modeclust.estimators.problem import Problem
from modeclust.solvers.laplacian import SOLVERS, Graph, follow_soft
from modeclust.solvers.solve import Centers, State


@dataclass
class SoftProblem(Problem):
    """A problem with a graph, along which its path is smoothed."""

    smoothing: float | str = 0.0  # "auto" until the path begins
    solver: str = "gradient"
    soft_path_iter: int = 30
    soft_max_iter: int = 100
    graph: sparse.csr_array = field(init=False)
    neighborhood: Neighborhood = field(init=False)

    def follow(self, centroids: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last, the first from labels."""
        if self.smoothing == 0:
            yield from super().follow(centroids, bandwidths)
            return
        smoother = SOLVERS[self.solver]
        memberships = smoother.first_memberships(self.dataset.labels(), len(centroids))
        graph = Graph.of(self.graph, self.n_jobs)
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

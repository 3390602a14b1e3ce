"""The stages of a fit with soft assignments, from initial clusters to modes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from modeclust.data.reading import in_memory
from modeclust.data.validation import check_affinity, check_rows, check_weights
from modeclust.estimators.fit_path import (
    LABEL_ITER,
    LABEL_TOL,
    N_LABEL_BANDWIDTHS,
    BandwidthMixin,
)
from modeclust.estimators.observers import Progress
from modeclust.estimators.problem import CheckedInput, Problem, Record
from modeclust.estimators.soft_problem import GraphOptions, SoftProblem
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import choose_bandwidth
from modeclust.solvers.kmodes import Centers, State, automatic_start, schedule
from modeclust.solvers.neighbors import has_approximate
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.robust_start import WIDTH

if TYPE_CHECKING:
    from modeclust.estimators.checkpoint import Checkpoint

# The default bandwidth of "gradient" is this many times the median distance to the tenth neighbour.
# With 1, it follows long clusters better, and with 2, it divides round ones that overlap better.
LOCAL_WIDTH = 1.5


class SoftPathEstimator(BandwidthMixin):
    """An estimator whose assignments are smooth over a graph.

    It differs from `BandwidthMixin` in the second and the third stage: there is a graph, and the
    path can start from linkage over the graph instead of K-means.
    """

    smoothing: float | str
    n_neighbors: int | str
    affinity: Any
    affinity_bandwidth: float | str | None
    neighbor_search: str
    solver: str
    max_iter: int

    def _check_input(self, X: Any, sample_weight: Any, sample_scale: Any) -> CheckedInput:
        X = check_rows(X, estimator=self, min_rows=2)
        X = in_memory(X, self.metric, copy=True)
        weight = check_weights(sample_weight, X, only_ratios=False)
        affinity = self._check_graph(X)
        self._check_start(self.bandwidth)
        return CheckedInput(X, weight, affinity=affinity)

    def _check_graph(self, X: Any) -> sparse.csr_array | None:
        """Return the given affinities, or None if they can be computed."""
        if self.neighbor_search == "approximate" and not has_approximate():
            raise ModuleNotFoundError(
                "neighbor_search='approximate' requires faiss; install it with "
                "`pip install 'modeclust[approximate]'`.",
                name="faiss",
            )
        if not isinstance(self.affinity, str):
            return check_affinity(self.affinity, X.shape[0])
        if isinstance(self.n_neighbors, str) or (self.smoothing == 0 and not self._links):
            return None
        if self.n_neighbors >= X.shape[0]:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} must be less than the number of rows of X, "
                f"n_samples={X.shape[0]}; lower n_neighbors."
            )
        return None

    @contextmanager
    def _open_problem(
        self, checked: CheckedInput, rng: np.random.RandomState, n_clusters: int
    ) -> Iterator[SoftProblem]:
        kernel = KERNELS[self.kernel]
        with SoftProblem.open(
            checked,
            SolverOptions(kernel, tol=self.tol),  # for K-means, and for the path without smoothing
            n_clusters=n_clusters,
            init=self.init,
            metric=self.metric,
            n_jobs=self.n_jobs,
            rng=rng,
        ) as problem:
            problem.smoothing, problem.solver = self.smoothing, self.solver
            problem.graph = checked.affinity
            path_iter, tol = self.path_iter, self.tol
            if self.bandwidth == "auto":
                path_iter, tol = min(path_iter, LABEL_ITER), LABEL_TOL * tol
            problem.soft_options = SolverOptions(kernel, path_iter, self.max_iter, tol=tol)
            yield problem

    def _set_bandwidth(
        self, problem: Problem, rng: np.random.RandomState, checkpoint: "Checkpoint | None"
    ) -> float | None:
        assert isinstance(problem, SoftProblem)
        self._check_internal_bandwidths(problem)
        is_auto = self.bandwidth == "auto"
        # At a cluster radius, "gradient" would cut through clusters that are not round.
        is_local = self.solver == "gradient" and self.smoothing != 0
        bandwidth = None
        if not is_auto or is_local or self._heats_by_rule:
            bandwidth, _ = choose_bandwidth(
                problem.dataset,
                "knn" if is_auto else self.bandwidth,
                local=False,
                unit=problem.rescaling.scale,
                statistic="median" if is_auto else "mean",
                random_state=self.random_state,
            )
        if not is_auto:
            assert bandwidth is not None
            self._check_start(bandwidth)
        graph = GraphOptions(
            self.affinity, self.affinity_bandwidth, self.n_neighbors, self.neighbor_search
        )
        problem.set_graph(graph, bandwidth, rng)
        if is_auto and not is_local:
            return None
        assert bandwidth is not None
        target = LOCAL_WIDTH * bandwidth if is_auto else bandwidth
        return float(problem.bandwidth_to_internal(target))

    def _n_finite_bandwidths(self, target: float | None) -> int:
        if self.bandwidth == "auto":
            return N_LABEL_BANDWIDTHS
        return super()._n_finite_bandwidths(target)

    @property
    def _links(self) -> bool:
        """Whether the fit starts from linkage."""
        return isinstance(self.init, str) and self.init == "linkage"

    @property
    def _heats_by_rule(self) -> bool:
        """Whether the affinities, of all rows or of new ones, need a bandwidth of the data."""
        is_heat = not isinstance(self.affinity, str) or self.affinity == "heat"
        return is_heat and self.affinity_bandwidth is None

    def _run_kmeans(self, progress: Progress, rng: np.random.RandomState) -> None:
        """Put the initial clusters on the record: those of linkage, or the best K-means run."""
        problem = progress.problem
        assert isinstance(problem, SoftProblem)
        if not self._links:
            super()._run_kmeans(progress, rng)
            return
        for observer in progress.observers:
            observer.begin_stage("linkage", 1, progress)
            observer.before_step()
        progress.best = problem.linkage_start()
        for observer in progress.observers:
            observer.after_restart(progress, progress.best)
            observer.end_stage()
        progress.record.add(progress.best)

    def _plan_path(self, progress: Progress, rng: np.random.RandomState) -> None:
        if progress.target is not None:
            super()._plan_path(progress, rng)
            return
        problem, start = progress.problem, progress.best
        assert isinstance(problem, SoftProblem)
        assert start is not None
        radius = problem.radius(start.centers)
        progress.bandwidths = schedule(WIDTH * radius, radius, N_LABEL_BANDWIDTHS)

    def _first_bandwidth(self, problem: Problem, means: State, target: float) -> float:
        if not self._links or not isinstance(self.start_bandwidth, str):
            return super()._first_bandwidth(problem, means, target)
        frozen = replace(problem.options, reassign=False)
        return automatic_start(problem.dataset, means.centers, frozen, target)

    def _modes_start(self, record: Record) -> tuple[Centers, float]:
        """Return the means of the clusters: modes then depend on the labels alone."""
        assert isinstance(record.problem, SoftProblem)
        assert record.labelled is not None
        return record.problem.means(record.labelled.centers), np.inf

"""One fit, from K-means to the target bandwidth, in five stages.

`PathEstimator._fit_path` calls the stages in order: check the input, open the dataset, start with
K-means, follow the path, store the result. Observers see the fit after each restart and each
bandwidth: they print, save checkpoints, and run callbacks.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from modeclust._sklearn import CALLBACK_ATTRIBUTES, CallbackSupportMixin
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.estimators.observers import CallbackObserver, Progress, ProgressPrinter
from modeclust.estimators.parameters import (
    FittedParametersMixin,
    is_sparse_with_y,
    n_kmeans_runs,
)
from modeclust.estimators.problem import CheckedInput, Problem, Record
from modeclust.exceptions import UnsureClusterCountWarning, _warn_user
from modeclust.path import Path
from modeclust.preparation.hints import warn_of_columns
from modeclust.solvers.bandwidth import choose_bandwidth
from modeclust.solvers.cluster_modes import N_LEVELS, Labelled, follow_modes
from modeclust.solvers.kmeans import lower_inertia, mean_variance, solve_kmeans
from modeclust.solvers.kmodes import Centers, State, automatic_start, schedule
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.robust_start import WIDTH, robust_start

if TYPE_CHECKING:
    from modeclust.estimators.checkpoint import Checkpoint

# With bandwidth="auto", labels are found at this many bandwidths, the last of which is the radius.
N_LABEL_BANDWIDTHS = 8
# More iterations on the way, a smaller tolerance, or going on until no label changes, take longer
# and give no better labels.
LABEL_ITER, LABEL_TOL = 3, 10.0


class PathEstimator(FittedParametersMixin, CallbackSupportMixin):
    """An estimator that runs K-means and then lowers the bandwidth to a target."""

    n_clusters: int | str
    max_clusters: int
    bandwidth: float | str
    kernel: str
    metric: str
    n_bandwidths: int
    start_bandwidth: float | str
    init: Any
    n_init: int | str
    random_state: Any
    n_jobs: int | None
    store_labels: bool | str
    verbose: int
    # Set by `_store`.
    path_: Path
    cluster_centers_: npt.NDArray[np.floating[Any]]
    bandwidth_: float
    inertia_: float
    objective_: float
    counts_: npt.NDArray[np.int64]
    exemplar_indices_: npt.NDArray[np.int64]
    n_iter_: int
    n_clusters_: int
    cluster_suggestion_: ClusterSuggestion | None

    def _fit_path(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        sample_scale: Any = None,
        checkpoint: "Checkpoint | None" = None,
    ) -> None:
        """Fit the rows of `X`. Earlier fits have no influence."""
        checked = self._check_input(X, sample_weight, sample_scale)
        if hasattr(self, "feature_names_in_"):
            warn_of_columns(self.feature_names_in_, checked.X)
        state = self.random_state
        rng = check_random_state(state) if checkpoint is None else checkpoint.generator(state)
        suggestion = self._suggest_clusters(checked, rng) if self.n_clusters == "auto" else None
        n_clusters = self.n_clusters if suggestion is None else suggestion.n_clusters
        with self._open_problem(checked, rng, int(n_clusters)) as problem:
            target = self._set_bandwidth(problem, rng, checkpoint)
            progress = self._begin_progress(problem, target, y, checkpoint)
            if not progress.record.states:  # else a checkpoint has them
                self._run_kmeans(progress, rng)
                self._plan_path(progress, rng)
                for observer in progress.observers:
                    observer.after_kmeans(progress)
            self._follow_path(progress)
            self._follow_modes(progress)
            attributes = self._fitted_attributes(progress.record)
        attributes["_sparse_with_y"] = is_sparse_with_y(X, y)
        self._store(attributes | {"cluster_suggestion_": suggestion})
        for observer in reversed(progress.observers):
            observer.end_fit()
        progress.record.warn(stopped=progress.stopped)
        if suggestion is not None and not suggestion.is_sure:
            _warn_not_sure(suggestion)

    # Stage 1: check the input.

    def _check_input(self, X: Any, sample_weight: Any, sample_scale: Any) -> CheckedInput:
        """Return the checked rows, weights and scales."""
        raise NotImplementedError

    def _check_start(self, target: float | str) -> None:
        """Raise an error if the first bandwidth is not above the target, if that is known."""
        start = self.start_bandwidth
        if isinstance(start, str) or isinstance(target, str):
            return
        if self._n_finite_bandwidths(target) > 1 and not target < start < np.inf:
            raise ValueError(
                f"start_bandwidth must be finite and greater than the target bandwidth, "
                f"{target:.6g}, got {start!r}; pass start_bandwidth='auto' to choose it."
            )

    # Stage 2: open the dataset, and choose the bandwidth.

    def _suggest_clusters(
        self, checked: CheckedInput, rng: np.random.RandomState
    ) -> ClusterSuggestion:
        """Return how many clusters there are."""
        from modeclust.estimators.suggest_clusters import suggest_for_fit

        suggestion = suggest_for_fit(self, checked, rng)
        if self.verbose:
            print(f"[{type(self).__name__}] n_clusters='auto': {suggestion.answer}")
        return suggestion

    def _open_problem(
        self, checked: CheckedInput, rng: np.random.RandomState, n_clusters: int
    ) -> AbstractContextManager[Problem]:
        """Return a context in which the dataset is open."""
        return Problem.open(
            checked,
            self._solver_options(self.kernel),
            n_clusters=n_clusters,
            init=self.init,
            metric=self.metric,
            n_jobs=self.n_jobs,
            rng=rng,
        )

    def _solver_options(self, kernel: str) -> SolverOptions:
        """Return the settings of the solvers, with this kernel."""
        raise NotImplementedError

    def _set_bandwidth(
        self, problem: Problem, rng: np.random.RandomState, checkpoint: "Checkpoint | None"
    ) -> float | None:
        """Choose the target bandwidth and set what depends on it; return it in internal units.

        None if it depends on the result of K-means.
        """
        raise NotImplementedError

    def _check_internal_bandwidths(self, problem: Problem) -> None:
        """Raise an error if a bandwidth overflows or underflows in internal units."""
        for bandwidth in (self.bandwidth, self.start_bandwidth):
            if not isinstance(bandwidth, str):
                problem.bandwidth_to_internal(bandwidth)

    def _begin_progress(
        self, problem: Problem, target: float | None, y: Any, checkpoint: "Checkpoint | None"
    ) -> Progress:
        """Return the progress of a new fit, or the progress in a checkpoint."""
        n_bandwidths, n_levels = self._n_finite_bandwidths(target), self._n_levels()
        length = 1 + n_bandwidths + n_levels
        record = Record.begin(problem, self.store_labels, length)
        progress = Progress(problem, record, target)
        if self.verbose:
            progress.observers.append(ProgressPrinter(type(self).__name__))
        if checkpoint is not None:
            progress.observers.append(checkpoint)
        if vars(self).keys() & CALLBACK_ATTRIBUTES:
            n_stages = 1 + (n_bandwidths > 0) + (n_levels > 0)
            progress.observers.append(CallbackObserver(self, problem, y, n_stages))
        if checkpoint is not None:
            checkpoint.restore(progress, self._n_runs(), n_bandwidths)
            if self.verbose and checkpoint.resumed_from:
                print(f"[{type(self).__name__}] resumed from {checkpoint.resumed_from}")
        return progress

    # Stage 3: start with the best of several K-means runs.

    def _run_kmeans(self, progress: Progress, rng: np.random.RandomState) -> None:
        """Put the best K-means run on the record."""
        problem, record, observers = progress.problem, progress.record, progress.observers
        dataset, options = problem.dataset, problem.options
        n_left = self._n_runs() - progress.n_restarts
        seeds = problem.seeds(self.init, rng, improved=self.n_init == "auto")
        tolerance = options.tol * mean_variance(dataset) if n_left else 0.0
        for observer in observers:
            observer.begin_stage("k-means", n_left, progress)
        for _ in range(n_left):
            for observer in observers:
                observer.before_step()
            run = solve_kmeans(dataset, next(seeds), max_iter=options.max_iter, tolerance=tolerance)
            progress.best = lower_inertia(progress.best, run)
            progress.n_restarts += 1
            stops = False
            for observer in observers:
                stops |= observer.after_restart(progress, run)
            if stops:
                break
        for observer in observers:
            observer.end_stage()
        assert progress.best is not None
        record.add_means(progress.best)
        if not options.reassign:
            record.round_labelled()

    def _n_runs(self) -> int:
        """Return the number of K-means runs over all rows."""
        return n_kmeans_runs(self.n_init, self.init)

    def _plan_path(self, progress: Progress, rng: np.random.RandomState) -> None:
        """Set the bandwidths of the path, and its start if that is not the result of K-means."""
        assert progress.target is not None
        assert progress.best is not None
        n_bandwidths = self._n_finite_bandwidths(progress.target)
        if n_bandwidths:
            start = self._first_bandwidth(progress.problem, progress.best, progress.target)
            progress.bandwidths = schedule(start, progress.target, n_bandwidths)

    def _first_bandwidth(self, problem: Problem, means: State, target: float) -> float:
        """Return the first bandwidth after K-means, in internal units."""
        if isinstance(self.start_bandwidth, str):
            return automatic_start(problem.dataset, means.centers, problem.options, target)
        return float(problem.bandwidth_to_internal(self.start_bandwidth))

    # Stage 4: follow the path to the target bandwidth.

    def _follow_path(self, progress: Progress) -> None:
        """Put the state at each bandwidth on the record."""
        record = progress.record
        if progress.bandwidths is None or len(record.states) > len(progress.bandwidths):
            return
        left = progress.bandwidths[len(record.states) - 1 :]
        centers = record.states[-1].centers
        if len(record.states) == 1 and progress.start is not None:
            centers = progress.start
        self._add_states(progress, "path", progress.problem.follow_path(centers, left), len(left))

    def _follow_modes(self, progress: Progress) -> None:
        """Put the modes of the final clusters on the record, if they have their own bandwidths."""

    def _add_states(
        self, progress: Progress, stage: str, states: Iterator[State], n_steps: int
    ) -> None:
        """Put the states of a stage on the record, until a callback ends it."""
        observers = progress.observers
        for observer in observers:
            observer.begin_stage(stage, n_steps, progress)
        for _ in range(n_steps):
            for observer in observers:
                observer.before_step()
            progress.record.add(next(states))
            stops = False
            for observer in observers:
                stops |= observer.after_bandwidth(progress)
            if stops:
                progress.stopped = True
                break
        for observer in observers:
            observer.end_stage()

    def _n_finite_bandwidths(self, target: float | None) -> int:
        """Return the number of bandwidths after K-means; 0 if the target is infinite."""
        return 0 if target is None or np.isinf(target) else self.n_bandwidths

    def _n_levels(self) -> int:
        """Return the number of levels at which `_follow_modes` finds the modes."""
        return 0

    # Stage 5: store the result.

    def _fitted_attributes(self, record: Record) -> dict[str, Any]:
        """Return the path, and the attributes of the state whose labels are those of the fit."""
        record.round_labelled()
        path = record.path(getattr(self, "feature_names_in_", None))
        point = path[record.n_labelled - 1]
        return {
            "path_": path,
            "cluster_centers_": point.centers.copy(),
            "bandwidth_": point.bandwidth,
            "inertia_": point.inertia,
            "counts_": point.counts.copy(),
            "exemplar_indices_": record.states[-1].nearest,
            "n_iter_": int(path.n_iter.sum()),
            "n_clusters_": len(point.centers),
            "_fitted_with": self._parameters_needed(),
        }

    def _store(self, attributes: dict[str, Any]) -> None:
        """Set the attributes of the fitted estimator."""
        for name, value in attributes.items():
            setattr(self, name, value)

    def _attributes_at(self, labelled: State, last: State, problem: Problem) -> dict[str, Any]:
        """Return the attributes that callbacks need to predict with the model at a step.

        The labels are those of the state `labelled`, the modes those of the state `last`.
        """
        centers = problem.rescaling.to_original(labelled.centers)
        return {
            "cluster_centers_": centers.astype(problem.dataset.dtype),
            "bandwidth_": problem.bandwidth_to_original(labelled.bandwidth),
            "_fitted_with": self._parameters_needed(),
        }


def _warn_not_sure(suggestion: ClusterSuggestion) -> None:
    _warn_user(
        f"n_clusters='auto' is {suggestion.answer}; the fit has {suggestion.n_clusters}. Look at "
        "cluster_suggestion_.plot(), and pass the number that you prefer as n_clusters.",
        UnsureClusterCountWarning,
    )


class BandwidthMixin(PathEstimator):
    """The stages of an estimator whose bandwidth is a number, a rule or "auto"."""

    adaptive: bool
    reassign: bool
    rows_per_mode: float | str
    path_iter: int
    tol: float

    def _set_bandwidth(
        self, problem: Problem, rng: np.random.RandomState, checkpoint: "Checkpoint | None"
    ) -> float | None:
        self._check_internal_bandwidths(problem)
        is_auto = self.bandwidth == "auto"
        bandwidth, scales = 1.0 if is_auto else self.bandwidth, None
        if checkpoint is not None:
            checkpoint.resume(problem)
            bandwidth, scales = checkpoint.target or (bandwidth, scales)
        if scales is None and (self.adaptive or isinstance(bandwidth, str)):
            # A seed draws the same rows as in `estimate_bandwidth`; a generator draws other rows.
            state = self.random_state if isinstance(self.random_state, Integral) else rng
            bandwidth, scales = choose_bandwidth(
                problem.dataset,
                bandwidth,
                local=self.adaptive,
                unit=problem.rescaling.scale,
                random_state=state,
            )
        if checkpoint is not None:
            checkpoint.target = float(bandwidth), scales
        problem.set_scale(scales)
        if is_auto:
            return None
        self._check_start(bandwidth)
        return float(problem.bandwidth_to_internal(bandwidth))

    def _plan_path(self, progress: Progress, rng: np.random.RandomState) -> None:
        if progress.target is not None:
            super()._plan_path(progress, rng)
        elif self.reassign:
            problem, means = progress.problem, progress.best
            assert problem.pool is not None
            assert means is not None
            start = robust_start(problem.pool, means.centers, rng, problem.n_threads)
            progress.start = start.centers
            widest = WIDTH * start.radius
            progress.bandwidths = schedule(widest, start.radius, N_LABEL_BANDWIDTHS)

    def _follow_path(self, progress: Progress) -> None:
        if progress.target is None:
            problem = progress.problem
            problem.options = replace(
                problem.options,
                path_iter=min(self.path_iter, LABEL_ITER),
                tol=LABEL_TOL * self.tol,
                stable_labels=False,
            )
        super()._follow_path(progress)

    def _follow_modes(self, progress: Progress) -> None:
        if self.bandwidth != "auto":
            return
        problem, record = progress.problem, progress.record
        record.round_labelled()
        centers, bandwidth = self._modes_start(record)
        task = Labelled(
            centers,
            bandwidth,
            problem.options.kernel,
            None if isinstance(self.rows_per_mode, str) else self.rows_per_mode,
            problem.count_per_weight,
        )
        done = record.states[record.n_labelled :]
        states = follow_modes(problem.dataset, task, done)
        self._add_states(progress, "modes", states, N_LEVELS - len(done))

    def _modes_start(self, record: Record) -> tuple[Centers, float]:
        """Return the centers from which the modes are followed, and their bandwidth."""
        assert record.labelled is not None
        return record.labelled.centers, record.labelled.bandwidth

    def _n_finite_bandwidths(self, target: float | None) -> int:
        if target is None:
            return N_LABEL_BANDWIDTHS if self.reassign else 0
        return super()._n_finite_bandwidths(target)

    def _n_levels(self) -> int:
        return N_LEVELS if self.bandwidth == "auto" else 0

"""One fit, from K-means to the target bandwidth, in five stages.

`PathEstimator._fit_path` calls the stages in order: check the input, open the dataset, start with
K-means, follow the path, store the result. Observers see the fit after each restart and each
bandwidth: they print, save checkpoints, and run callbacks.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from modeclust._sklearn import (
    CALLBACK_ATTRIBUTES,
    CallbackSupportMixin,
    begin_callbacks,
    is_array_like,
)
from modeclust.estimators.parameters import FittedParametersMixin
from modeclust.estimators.problem import CheckedInput, Problem, Record
from modeclust.path import Path
from modeclust.solvers.kmeans import lower_inertia, restart_kmeans
from modeclust.solvers.kmodes import State, automatic_start, schedule
from modeclust.solvers.options import SolverOptions

if TYPE_CHECKING:
    from modeclust.estimators.checkpoint import Checkpoint


class FitObserver:
    """Observes a fit: `_fit_path` calls these methods. If one returns True, the stage ends."""

    def begin_stage(self, name: str, n_steps: int, progress: "Progress") -> None:
        """Handle the start of a stage, "k-means" or "path", of at most `n_steps` steps."""

    def before_step(self) -> None:
        """Handle the start of a step: a restart or a bandwidth."""

    def after_restart(self, progress: "Progress", run: State) -> bool:
        """Handle the result of a K-means run."""
        return False

    def after_kmeans(self, progress: "Progress") -> None:
        """Handle the end of K-means: the best run is on the record, and the bandwidths are set."""

    def after_bandwidth(self, progress: "Progress") -> bool:
        """Handle the state at a bandwidth, which is the last one on the record."""
        return False

    def end_stage(self) -> None:
        """Handle the end of a stage."""

    def end_fit(self) -> None:
        """Handle the end of the fit, after its result is stored."""


@dataclass
class Progress:
    """The progress of a fit."""

    problem: Problem
    record: Record
    target: float  # the last bandwidth, in internal units
    observers: list[FitObserver] = field(default_factory=list)
    n_restarts: int = 0
    best: State | None = None  # of the K-means runs so far
    bandwidths: npt.NDArray[np.float64] | None = None  # after K-means, in internal units


class PathEstimator(FittedParametersMixin, CallbackSupportMixin):
    """An estimator that runs K-means and then lowers the bandwidth to a target."""

    n_clusters: int
    bandwidth: float | str
    kernel: str
    n_bandwidths: int
    start_bandwidth: float | str
    init: Any
    n_init: int
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
        state = self.random_state
        rng = check_random_state(state) if checkpoint is None else checkpoint.generator(state)
        with self._open_problem(checked, rng) as problem:
            target = self._set_bandwidth(problem, rng, checkpoint)
            progress = self._begin_progress(problem, target, y, checkpoint)
            self._run_kmeans(progress, rng)
            self._follow_path(progress)
            attributes = self._fitted_attributes(progress.record)
        self._store(attributes)
        for observer in reversed(progress.observers):
            observer.end_fit()
        n_left = self._n_finite_bandwidths(target) + 1 - len(progress.record.states)
        progress.record.warn(stopped=n_left > 0)  # by a callback

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

    def _open_problem(
        self, checked: CheckedInput, rng: np.random.RandomState
    ) -> AbstractContextManager[Problem]:
        """Return a context in which the dataset is open."""
        return Problem.open(
            checked,
            self._solver_options(self.kernel),
            n_clusters=self.n_clusters,
            init=self.init,
            n_jobs=self.n_jobs,
            rng=rng,
        )

    def _solver_options(self, kernel: str) -> SolverOptions:
        """Return the settings of the solvers, with this kernel."""
        raise NotImplementedError

    def _set_bandwidth(
        self, problem: Problem, rng: np.random.RandomState, checkpoint: "Checkpoint | None"
    ) -> float:
        """Choose the target bandwidth and set what depends on it; return it in internal units."""
        raise NotImplementedError

    def _check_internal_bandwidths(self, problem: Problem) -> None:
        """Raise an error if a bandwidth overflows or underflows in internal units."""
        for bandwidth in (self.bandwidth, self.start_bandwidth):
            if not isinstance(bandwidth, str):
                problem.bandwidth_to_internal(bandwidth)

    def _begin_progress(
        self, problem: Problem, target: float, y: Any, checkpoint: "Checkpoint | None"
    ) -> Progress:
        """Return the progress of a new fit, or the progress in a checkpoint."""
        n_bandwidths = self._n_finite_bandwidths(target)
        record = Record.begin(problem, self.n_clusters, self.store_labels, n_bandwidths + 1)
        progress = Progress(problem, record, target)
        if self.verbose:
            progress.observers.append(ProgressPrinter(type(self).__name__))
        if checkpoint is not None:
            progress.observers.append(checkpoint)
        if vars(self).keys() & CALLBACK_ATTRIBUTES:
            n_stages = 2 if n_bandwidths else 1
            progress.observers.append(CallbackObserver(self, problem, y, n_stages))
        if checkpoint is not None:
            checkpoint.restore(progress, self._n_runs())
            if self.verbose and checkpoint.resumed_from:
                print(f"[{type(self).__name__}] resumed from {checkpoint.resumed_from}")
        return progress

    # Stage 3: start with the best of several K-means runs.

    def _run_kmeans(self, progress: Progress, rng: np.random.RandomState) -> None:
        """Put the best K-means run on the record, and set the bandwidths of the path."""
        problem, record, observers = progress.problem, progress.record, progress.observers
        if record.states:  # of a checkpoint
            return
        n_left = self._n_runs() - progress.n_restarts
        seeds = islice(problem.seeds(self.init, self.n_clusters, rng), n_left)
        options = problem.options
        runs = restart_kmeans(problem.dataset, seeds, max_iter=options.max_iter, tol=options.tol)
        for observer in observers:
            observer.begin_stage("k-means", n_left, progress)
        for _ in range(n_left):
            for observer in observers:
                observer.before_step()
            run = next(runs)
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
        n_bandwidths = self._n_finite_bandwidths(progress.target)
        if n_bandwidths:
            start = self._first_bandwidth(problem, progress.best, progress.target)
            progress.bandwidths = schedule(start, progress.target, n_bandwidths)
        for observer in observers:
            observer.after_kmeans(progress)

    def _n_runs(self) -> int:
        return 1 if is_array_like(self.init) else self.n_init

    def _first_bandwidth(self, problem: Problem, means: State, target: float) -> float:
        """Return the first bandwidth after K-means, in internal units."""
        if isinstance(self.start_bandwidth, str):
            return automatic_start(problem.dataset, means, problem.options.kernel, target)
        return float(problem.bandwidth_to_internal(self.start_bandwidth))

    # Stage 4: follow the path to the target bandwidth.

    def _follow_path(self, progress: Progress) -> None:
        """Put the state at each bandwidth on the record."""
        record, observers = progress.record, progress.observers
        if progress.bandwidths is None:
            return
        left = progress.bandwidths[len(record.states) - 1 :]
        states = progress.problem.follow_path(record.states[-1].centers, left)
        for observer in observers:
            observer.begin_stage("path", len(left), progress)
        for _ in range(len(left)):
            for observer in observers:
                observer.before_step()
            record.add(next(states))
            stops = False
            for observer in observers:
                stops |= observer.after_bandwidth(progress)
            if stops:
                break
        for observer in observers:
            observer.end_stage()

    def _n_finite_bandwidths(self, target: float) -> int:
        """Return the number of bandwidths after K-means; 0 if the target is infinite."""
        return 0 if np.isinf(target) else self.n_bandwidths

    # Stage 5: store the result.

    def _fitted_attributes(self, record: Record) -> dict[str, Any]:
        """Return the attributes of the fitted estimator: the path, and those of its last state."""
        record.round_last()
        path, last = record.path(getattr(self, "feature_names_in_", None)), record.states[-1]
        point = path[-1]
        return {
            "path_": path,
            "cluster_centers_": point.centers.copy(),
            "bandwidth_": point.bandwidth,
            "inertia_": point.inertia,
            "counts_": point.counts.copy(),
            "exemplar_indices_": last.nearest,
            "n_iter_": int(path.n_iter.sum()),
            "_fitted_with": self._parameters_needed(),
        }

    def _store(self, attributes: dict[str, Any]) -> None:
        """Set the attributes of the fitted estimator."""
        for name, value in attributes.items():
            setattr(self, name, value)

    def _attributes_at(self, state: State, problem: Problem) -> dict[str, Any]:
        """Return the attributes that callbacks need to predict with the model at `state`."""
        centers = problem.rescaling.to_original(state.centers)
        return {
            "cluster_centers_": centers.astype(problem.dataset.dtype),
            "bandwidth_": problem.bandwidth_to_original(state.bandwidth),
            "_fitted_with": self._parameters_needed(),
        }


class ProgressPrinter(FitObserver):
    """Prints one line for each bandwidth."""

    def __init__(self, name: str) -> None:
        self._name = name

    def after_kmeans(self, progress: Progress) -> None:
        """Print the result of K-means."""
        self.after_bandwidth(progress)

    def after_bandwidth(self, progress: Progress) -> bool:
        """Print the last state."""
        state = progress.record.states[-1]
        bandwidth = progress.problem.bandwidth_to_original(state.bandwidth)
        print(
            f"[{self._name}] bandwidth {bandwidth:<10.5g} objective {state.objective:.6f}  "
            f"iterations {state.n_iter:<3d} sizes {state.counts.min()} to {state.counts.max()}"
        )
        return False


class CallbackObserver(FitObserver):
    """Runs the callbacks of scikit-learn: the tasks are K-means, the path, and their steps."""

    def __init__(self, estimator: Any, problem: Problem, y: Any, n_stages: int) -> None:
        self._estimator = estimator
        self._problem = problem
        self._arguments = {"estimator": estimator, "X": problem.X, "y": y}
        self._fit: Any = begin_callbacks(estimator, n_stages)
        self._fit.call_on_fit_task_begin(**self._arguments)
        self._stage: Any = None
        self._step: Any = None
        self._step_name = ""

    def begin_stage(self, name: str, n_steps: int, progress: Progress) -> None:
        """Begin the task of a stage."""
        self._stage = self._fit.subcontext(name, max_subtasks=n_steps)
        self._stage.call_on_fit_task_begin(**self._arguments)
        self._step_name = "restart" if name == "k-means" else "bandwidth"

    def before_step(self) -> None:
        """Begin the task of a step."""
        self._step = self._stage.subcontext(self._step_name)
        self._step.call_on_fit_task_begin(**self._arguments)

    def after_restart(self, progress: Progress, run: State) -> bool:
        """End the task of a restart."""
        return self._end_step(run)

    def after_bandwidth(self, progress: Progress) -> bool:
        """End the task of a bandwidth."""
        return self._end_step(progress.record.states[-1])

    def _end_step(self, state: State) -> bool:
        attributes = partial(self._estimator._attributes_at, state, self._problem)
        return bool(
            self._step.call_on_fit_task_end(**self._arguments, reconstruction_attributes=attributes)
        )

    def end_stage(self) -> None:
        """End the task of the stage."""
        self._stage.call_on_fit_task_end(**self._arguments)

    def end_fit(self) -> None:
        """End the task of the fit."""
        self._fit.call_on_fit_task_end(**self._arguments, reconstruction_attributes={})

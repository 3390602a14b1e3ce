"""Observers of a fit: they print its progress, or run callbacks."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust._sklearn import begin_callbacks
from modeclust.estimators.problem import Problem, Record
from modeclust.solvers.kmodes import Centers, State

# The name of a step of each stage.
STEPS = {"k-means": "restart", "linkage": "start", "path": "bandwidth", "modes": "level"}


class FitObserver:
    """Observes a fit: `_fit_path` calls these methods. If one returns True, the stage ends."""

    def begin_stage(self, name: str, n_steps: int, progress: "Progress") -> None:
        """Handle the start of a stage (a name in `STEPS`) of at most `n_steps` steps."""

    def before_step(self) -> None:
        """Handle the start of a step: a restart, the linkage, a bandwidth or a level."""

    def after_restart(self, progress: "Progress", run: State) -> bool:
        """Handle the result of a K-means run, or of linkage."""
        return False

    def after_kmeans(self, progress: "Progress") -> None:
        """Handle the end of K-means: the best run is on the record, and the path is planned."""

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
    target: float | None  # the last bandwidth, in internal units; None if it is not chosen yet
    observers: list[FitObserver] = field(default_factory=list)
    n_restarts: int = 0
    best: State | None = None  # of the K-means runs so far
    bandwidths: npt.NDArray[np.float64] | None = None  # after K-means, in internal units
    start: Centers | None = None  # where the path starts; None for the centers of K-means
    stopped: bool = False  # whether a callback has ended a stage


class ProgressPrinter(FitObserver):
    """Prints one line for each bandwidth, or for each resample."""

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

    def after_resample(
        self, number: int, n_resamples: int, jaccard: npt.NDArray[np.float64]
    ) -> None:
        """Print the similarity of the clusters of a resample; see `StabilityMixin`."""
        print(
            f"[{self._name}] resample {number} of {n_resamples}  "
            f"jaccard {jaccard.min():.3f} to {jaccard.max():.3f}"
        )


class CallbackObserver(FitObserver):
    """Runs the callbacks of scikit-learn: the tasks are the stages of the fit, and their steps."""

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
        self._step_name = STEPS[name]

    def before_step(self) -> None:
        """Begin the task of a step."""
        self._step = self._stage.subcontext(self._step_name)
        self._step.call_on_fit_task_begin(**self._arguments)

    def after_restart(self, progress: Progress, run: State) -> bool:
        """End the task of a restart."""
        return self._end_step(run, run)

    def after_bandwidth(self, progress: Progress) -> bool:
        """End the task of a bandwidth."""
        record = progress.record
        assert record.labelled is not None
        return self._end_step(record.labelled, record.states[-1])

    def _end_step(self, labelled: State, last: State) -> bool:
        attributes = partial(self._estimator._attributes_at, labelled, last, self._problem)
        return bool(
            self._step.call_on_fit_task_end(**self._arguments, reconstruction_attributes=attributes)
        )

    def end_stage(self) -> None:
        """End the task of the stage."""
        self._stage.call_on_fit_task_end(**self._arguments)

    def end_fit(self) -> None:
        """End the task of the fit."""
        self._fit.call_on_fit_task_end(**self._arguments, reconstruction_attributes={})

"""What estimators share that follow a path, from K-means down to a target bandwidth."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import CallbackContext, CallbackSupportMixin

from modeclust.estimators.checkpoint import Checkpoint
from modeclust.estimators.fitted_with import FittedWithMixin
from modeclust.estimators.problem import Problem, Record, best_so_far
from modeclust.solvers.homotopy import automatic_start, schedule
from modeclust.solvers.solve import State
from modeclust.validation import is_array_like


class PathFollower(FittedWithMixin, CallbackSupportMixin):
    """An estimator with the parameters of a path, which tells callbacks where it is."""

    n_clusters: int
    bandwidth: float | str
    n_bandwidths: int
    start_bandwidth: float | str
    init: Any
    n_init: int
    store_labels: bool | str
    verbose: int

    def _follow(
        self,
        problem: Problem,
        target: float,
        rng: np.random.RandomState,
        y: Any,
        checkpoint: Checkpoint | None = None,
    ) -> Record:
        """Run K-means, follow the problem's path from there, `_store` the record and return it.

        What the checkpoint has of it is not done again: callbacks are told of the rest.
        """
        checkpoint = checkpoint or Checkpoint()
        n_init = 1 if is_array_like(self.init) else self.n_init
        n_bandwidths = self._n_steps(target)
        record = Record.begin(problem, self.n_clusters, self.store_labels, n_bandwidths + 1)
        root = self._init_callback_context(max_subtasks=2 if n_bandwidths else 1)
        told = {"estimator": self, "X": problem.X, "y": y}
        root.call_on_fit_task_begin(**told)

        checkpoint.restore(record, n_init)
        if self.verbose and checkpoint.told:
            print(f"[{type(self).__name__}] resumed from {checkpoint.told}")
        if not record.states:
            checkpoint.write(record)  # with the bandwidth, which may have taken long to estimate
            n_left = n_init - checkpoint.n_restarts
            runs = problem.kmeans(problem.seeds(self.init, self.n_clusters, rng), n_left)
            task = root.subcontext("k-means", max_subtasks=n_left)
            watched = self._watched(runs, task, "restart", problem, told)
            for best in best_so_far(watched, checkpoint.best):
                checkpoint.best = best
                checkpoint.n_restarts += 1
                checkpoint.write(record)
            assert checkpoint.best is not None
            record.add_means(checkpoint.best)
            self._print(checkpoint.best, problem)
            if n_bandwidths:
                start = self._start(problem, checkpoint.best, target)
                checkpoint.bandwidths = schedule(start, target, n_bandwidths)
            checkpoint.write(record)
        if checkpoint.bandwidths is not None:
            # The labels of the rows are those of the last state, as if it had just been reached.
            left = checkpoint.bandwidths[len(record.states) - 1 :]
            states = problem.follow(record.states[-1].centroids, left)
            task = root.subcontext("path", max_subtasks=len(left))
            for state in self._watched(states, task, "bandwidth", problem, told):
                record.add(state)
                self._print(state, problem)
                checkpoint.write(record)
        self._store(record)
        root.call_on_fit_task_end(**told, reconstruction_attributes={})
        return record

    def _store(self, record: Record) -> None:
        """Set the fitted attributes."""
        raise NotImplementedError

    def _n_steps(self, target: float) -> int:
        """Return the number of bandwidths after K-means."""
        return 0 if np.isinf(target) else self.n_bandwidths

    def _check_start(self, target: float | str) -> None:
        """Refuse a first bandwidth below the target, where this is a number already."""
        start = self.start_bandwidth
        if isinstance(start, str) or isinstance(target, str):
            return
        if self._n_steps(target) > 1 and not target < start < np.inf:
            raise ValueError(
                f"start_bandwidth must be finite and greater than the target bandwidth, "
                f"{target:.6g}, got {start!r}; pass start_bandwidth='auto' to choose it."
            )

    def _check_internal_bandwidths(self, problem: Problem) -> None:
        """Refuse bandwidths that overflow or underflow in internal units."""
        for bandwidth in (self.bandwidth, self.start_bandwidth):
            if not isinstance(bandwidth, str):
                problem.bandwidth_to_internal(bandwidth)

    def _start(self, problem: Problem, means: State, target: float) -> float:
        """Return the first bandwidth, in internal units."""
        if isinstance(self.start_bandwidth, str):
            return automatic_start(problem.dataset, means, problem.kernel, target)
        return float(problem.bandwidth_to_internal(self.start_bandwidth))

    def _print(self, state: State, problem: Problem) -> None:
        if self.verbose:
            print(
                f"[{type(self).__name__}] "
                f"bandwidth {problem.bandwidth_to_original(state.bandwidth):<10.5g} "
                f"objective {state.objective:.6f}  iterations {state.n_iter:<3d} "
                f"sizes {state.counts.min()} to {state.counts.max()}"
            )

    def _watched(
        self,
        states: Iterator[State],
        task: CallbackContext,
        subtask_name: str,
        problem: Problem,
        told: dict[str, Any],
    ) -> Iterator[State]:
        """Yield the states, telling the callbacks of each, until one asks to stop."""
        task.call_on_fit_task_begin(**told)
        for _ in range(task.max_subtasks):
            subtask = task.subcontext(subtask_name)
            subtask.call_on_fit_task_begin(**told)
            state = next(states)
            yield state
            if subtask.call_on_fit_task_end(
                **told, reconstruction_attributes=partial(self._as_fitted, state, problem)
            ):
                break
        task.call_on_fit_task_end(**told)

    def _as_fitted(self, state: State, problem: Problem) -> dict[str, Any]:
        """Return the attributes that make an estimator of `state`, for callbacks."""
        centers = problem.rescaling.to_original(state.centroids)
        return {
            "cluster_centers_": centers.astype(problem.dataset.dtype),
            "bandwidth_": problem.bandwidth_to_original(state.bandwidth),
            "_n_features_out": len(state.centroids),
            "_fitted_with": self._parameters_needed(),
        }

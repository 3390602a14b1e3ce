"""One clustering problem on rescaled data, and the path through it."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from modeclust.data.dask.chunks import Chunks
from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.rescaling import Rescaling
from modeclust.data.sample import Sample
from modeclust.estimators.open_dataset import open_dataset, rescaling_for
from modeclust.exceptions import EmptyClusterWarning, EmptySupportWarning
from modeclust.kernels import KERNELS
from modeclust.path import Path
from modeclust.solvers.homotopy import follow, restart_kmeans
from modeclust.solvers.seeding import distinct_rows, draw_seeds
from modeclust.solvers.solve import SMALLEST_BANDWIDTH, Centers, State, assign, evaluate
from modeclust.solvers.streaming import SufficientStatistics, update
from modeclust.validation import (
    check_centers,
    check_cluster_count,
    check_n_jobs,
    is_array_like,
)

# Labels along a path are kept by default up to this many of them.
MOST_LABELS = 10_000_000
NO_CENTERS: Centers = np.empty((0, 0))


@dataclass
class Problem:
    """Checked data and parameters. Centroids and bandwidths in it are rescaled."""

    X: Any  # the user's rows, for a callable init and for callbacks
    dataset: Any  # in memory or on Dask
    rescaling: Rescaling
    pool: Sample  # distinct rows, to draw seeds from
    kernel: int
    path_iter: int
    max_iter: int
    mean_shift_iter: int
    tol: float
    mean_scale: float = 1.0  # of the local scales, which are 1 on average in here
    n_jobs: int | None = None

    @classmethod
    @contextmanager
    def opened(
        cls,
        X: Any,
        *,
        n_clusters: int,
        init: Any,
        kernel: str,
        weight: Any,
        n_jobs: int | None,
        rng: np.random.RandomState,
        **limits: Any,
    ) -> Iterator[Self]:
        """Open the rows of `X`, with distinct ones enough, while the context lasts."""
        check_n_jobs(n_jobs)
        check_cluster_count(n_clusters, X)
        if is_array_like(init):
            check_centers(init, n_clusters, X.shape[1])
        rescaling = rescaling_for(X, n_jobs)
        with open_dataset(
            X, rescaling, weight=weight, n_clusters=n_clusters, n_jobs=n_jobs
        ) as dataset:
            pool = distinct_rows(dataset, n_clusters, rng)
            user_X = X.X if isinstance(X, Chunks) else X
            yield cls(user_X, dataset, rescaling, pool, KERNELS[kernel], n_jobs=n_jobs, **limits)

    def set_scale(self, scale: Any) -> None:
        """Give each row a local scale; bandwidths in here then are for the mean one."""
        if scale is not None:
            self.mean_scale = self.dataset.set_relative_scale(scale)

    def bandwidth_to_internal(self, bandwidth: Any) -> Any:
        """Return the user's bandwidths as internal ones."""
        limits = SMALLEST_BANDWIDTH, np.inf
        return self.rescaling.bandwidth_to_internal(bandwidth, self.mean_scale, limits=limits)

    def bandwidth_to_original(self, bandwidth: float) -> float:
        """Return an internal bandwidth in the user's units."""
        return bandwidth / self.mean_scale * self.rescaling.scale

    def seeds(self, init: Any, n_clusters: int, rng: np.random.RandomState) -> Iterator[Centers]:
        """Yield initial centroids without end, or the given ones once."""
        if is_array_like(init):
            return iter([self._given(init, n_clusters)])
        if callable(init):
            return self._called(init, n_clusters, rng)
        return draw_seeds(self.pool, n_clusters, init, rng, self.n_jobs)

    def kmeans(self, seeds: Iterator[Centers], n_init: int) -> Iterator[State]:
        """Yield what K-means reaches from each of the first `n_init` seeds."""
        return restart_kmeans(
            self.dataset, islice(seeds, n_init), max_iter=self.max_iter, tol=self.tol
        )

    def follow(self, centroids: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last."""
        return follow(
            self.dataset,
            centroids,
            bandwidths,
            kernel=self.kernel,
            path_iter=self.path_iter,
            max_iter=self.max_iter,
            mean_shift_iter=self.mean_shift_iter,
            tol=self.tol,
        )

    def statistics(self, state: State) -> SufficientStatistics:
        """Return the sufficient statistics of the rows, in the user's units."""
        if state.mass is None or state.reference is None:
            state = evaluate(self.dataset, state, state.centroids, self.kernel)
        return SufficientStatistics(
            self.rescaling.to_original(state.centroids),
            np.asarray(state.mass),
            np.asarray(state.reference),
            self.dataset.total_weight,
            self.mean_scale,
        )

    def update(
        self, statistics: SufficientStatistics, bandwidth: float, half_life: float
    ) -> tuple[State, SufficientStatistics]:
        """Fit the rows together with statistics in the user's units, and return both updated."""
        state, updated = update(
            self.dataset,
            self.dataset.total_weight,
            replace(statistics, centers=self.rescaling.to_internal(statistics.centers)),
            bandwidth,
            kernel=self.kernel,
            half_life=half_life,
            max_iter=self.path_iter,
            mean_shift_iter=self.mean_shift_iter,
            tol=self.tol,
        )
        return state, replace(updated, centers=self.rescaling.to_original(updated.centers))

    def _given(self, init: Any, n_clusters: int) -> Centers:
        centers = check_centers(init, n_clusters, self.dataset.n_features)
        return np.asarray(self.rescaling.to_internal(centers), dtype=np.float64)

    def _called(
        self, init: Callable[..., Any], n_clusters: int, rng: np.random.RandomState
    ) -> Iterator[Centers]:
        while True:
            yield self._given(init(self.X, n_clusters, random_state=rng), n_clusters)


def best_so_far(runs: Iterator[State], best: State | None = None) -> Iterator[State]:
    """Yield after each K-means run the one of least inertia until then."""
    for run in runs:
        # Rounding must not choose between runs that found the same clusters.
        if best is None or run.inertia < (1 - 1e-9) * best.inertia:
            best = run
        yield best


@dataclass
class Record:
    """The states of a path as they come, with labels where they are to be kept."""

    problem: Problem
    store_labels: bool
    centers: npt.NDArray[Any]  # (S, K, D), of which those of the states are filled
    states: list[State] = field(default_factory=list)  # all but the last without large parts
    labels: list[npt.NDArray[np.integer[Any]]] = field(default_factory=list)

    @classmethod
    def begin(
        cls, problem: Problem, n_clusters: int, store_labels: bool | str, length: int
    ) -> "Record":
        """Begin a record of `length` states; "auto" keeps labels if they are not too many.

        Those of rows in chunks are never kept.
        """
        if isinstance(problem.dataset, DaskDataset):
            store_labels = False
        if store_labels == "auto":
            store_labels = length * problem.dataset.n_rows <= MOST_LABELS
        shape = (length, n_clusters, problem.dataset.n_features)
        return cls(problem, bool(store_labels), np.empty(shape, dtype=problem.dataset.dtype))

    def add(self, state: State) -> None:
        """Add a state; where it has no labels, those of the rows must be its own."""
        if self.states:
            last = self.states[-1]
            self.states[-1] = last._replace(centroids=NO_CENTERS, labels=None, memberships=None)
        self.centers[len(self.states)] = self.problem.rescaling.to_original(state.centroids)
        self.states.append(state)
        if self.store_labels:
            smallest = np.min_scalar_type(-self.centers.shape[1])
            labels = self.problem.dataset.labels() if state.labels is None else state.labels
            self.labels.append(labels.astype(smallest))

    def add_means(self, means: State) -> None:
        """Add what K-means found, and give the rows its labels."""
        assign(self.problem.dataset, means.centroids)
        self.add(means)

    def take_up(
        self, states: list[State], centers: npt.NDArray[Any], labels: npt.NDArray[Any] | None
    ) -> None:
        """Go on from the states of another record; the rows get the labels of the last."""
        assign(self.problem.dataset, states[-1].centroids)
        self.states = states
        self.centers[: len(states)] = centers
        self.labels = [] if labels is None else list(labels)

    def round_last(self) -> None:
        """Measure the last state anew at its centroids as the user will see them.

        So `labels_` is what `predict` says of the same rows, and `objective_` what `score` says;
        which neither does of a soft clustering.
        """
        dataset, rescaling, last = self.problem.dataset, self.problem.rescaling, self.states[-1]
        if (rescaling.is_identity and dataset.dtype == np.float64) or last.labels is not None:
            return
        seen = rescaling.to_original(last.centroids).astype(dataset.dtype).astype(np.float64)
        centroids = rescaling.to_internal(seen)
        self.states[-1] = evaluate(dataset, last, centroids, self.problem.kernel)
        self.centers[len(self.states) - 1] = seen
        if self.store_labels:
            self.labels[-1][:] = dataset.labels()

    def path(self, feature_names: Sequence[str] | None = None) -> Path:
        """Return the path in the user's units."""
        problem, rescaling, states = self.problem, self.problem.rescaling, self.states
        unit = rescaling.scale / problem.mean_scale
        with np.errstate(over="ignore"):  # squares may be beyond all numbers
            inertias = np.array([state.inertia for state in states]) * unit * unit
        return Path(
            bandwidths=np.array(
                [problem.bandwidth_to_original(state.bandwidth) for state in states]
            ),
            centers=self.centers[: len(states)],
            objectives=np.array([state.objective for state in states]),
            inertias=inertias,
            counts=np.stack([state.counts for state in states]),
            n_iter=np.array([state.n_iter for state in states]),
            labels=np.stack(self.labels) if self.store_labels else None,
            feature_names=feature_names,
        )

    def warn(self, stacklevel: int, *, stopped: bool = False) -> None:
        """Warn of what the user should know of the path, once for each cause."""
        last = self.states[-1]
        bandwidth = self.problem.bandwidth_to_original(last.bandwidth)
        if not last.converged and not stopped:
            warnings.warn(
                f"The fit did not converge at bandwidth {bandwidth:.6g} within {last.n_iter} "
                "iterations: the last one moved a centroid by "
                f"{last.residual * self.problem.rescaling.scale:.3g}{self._in_bandwidths(last)}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        if np.any(empty := last.nearest < 0):
            began = self._first(lambda state: np.any(state.nearest[empty] < 0))
            warnings.warn(
                f"Clusters {np.flatnonzero(empty).tolist()} lost all their points by bandwidth "
                f"{began:.6g} and kept their centroids. Lower n_clusters"
                f"{'' if last.labels is None else ' or smoothing'}.",
                EmptyClusterWarning,
                stacklevel=stacklevel,
            )
        unsupported = np.any([state.unsupported for state in self.states], axis=0)
        if np.any(unsupported):
            began = self._first(lambda state: np.any(state.unsupported))
            warnings.warn(
                f"From bandwidth {began:.6g} on, the kernel reached no point of clusters "
                f"{np.flatnonzero(unsupported).tolist()}, whose centroids then stayed in place. "
                "Use a larger bandwidth or kernel='gaussian'.",
                EmptySupportWarning,
                stacklevel=stacklevel,
            )

    def _in_bandwidths(self, state: State) -> str:
        if np.isinf(state.bandwidth):
            return ""
        ratio = state.residual / state.bandwidth
        return f", or {ratio:.2g} bandwidths, where tol={self.problem.tol:g} is allowed"

    def _first(self, happens: Callable[[State], Any]) -> float:
        state = next(state for state in self.states if happens(state))
        return self.problem.bandwidth_to_original(state.bandwidth)

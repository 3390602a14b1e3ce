"""One clustering problem in units that suit its data, and the path through it."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from modeclust.algorithms.homotopy import follow, restart_kmeans
from modeclust.algorithms.seeding import distinct_rows, draw_seeds
from modeclust.algorithms.solve import Centers, State, assign, evaluate
from modeclust.estimators.validation import Floats, check_centers, is_array
from modeclust.exceptions import EmptyClusterWarning, EmptySupportWarning
from modeclust.kernels import KERNELS
from modeclust.path import Path
from modeclust.rows.memory import MemoryRows
from modeclust.rows.units import Units

# Labels along a path are kept by default up to this many of them.
MOST_LABELS = 10_000_000


@dataclass(frozen=True)
class Problem:
    """Checked data and parameters. Centroids and bandwidths in it are in its `units`."""

    X: Any  # the user's rows, for a callable init
    rows: MemoryRows
    units: Units
    n_clusters: int
    kernel: int
    path_iter: int
    max_iter: int
    mean_shift_iter: int
    tol: float

    @classmethod
    @contextmanager
    def opened(
        cls,
        X: Any,
        inner: Any,
        units: Units,
        *,
        weight: Floats | None,
        scale: Floats | None,
        kernel: str,
        n_clusters: int,
        n_jobs: int | None,
        **limits: Any,
    ) -> "Iterator[Problem]":
        """Open the rows of `X`, which are `inner` in the units, while the context lasts."""
        with MemoryRows(
            inner, weight=weight, scale=scale, n_clusters=n_clusters, n_jobs=n_jobs
        ) as rows:
            yield cls(X, rows, units, n_clusters, KERNELS[kernel], **limits)

    def seeds(self, init: Any, rng: np.random.RandomState) -> Iterator[Centers]:
        """Yield initial centroids without end, or the given ones once."""
        pool = distinct_rows(self.rows, self.n_clusters, rng)
        if is_array(init):
            return iter([self._given(init)])
        if callable(init):
            return self._called(init, rng)
        return draw_seeds(pool, self.n_clusters, init, rng)

    def kmeans(self, seeds: Iterator[Centers], n_init: int) -> Iterator[State]:
        """Yield what K-means reaches from each of the first `n_init` seeds."""
        return restart_kmeans(
            self.rows, islice(seeds, n_init), max_iter=self.max_iter, tol=self.tol
        )

    def follow(self, centroids: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last."""
        return follow(
            self.rows,
            centroids,
            bandwidths,
            kernel=self.kernel,
            path_iter=self.path_iter,
            max_iter=self.max_iter,
            mean_shift_iter=self.mean_shift_iter,
            tol=self.tol,
        )

    def _given(self, init: Any) -> Centers:
        centers = check_centers(init, self.n_clusters, self.rows.n_features)
        return np.asarray(self.units.inward(centers), dtype=np.float64)

    def _called(self, init: Callable[..., Any], rng: np.random.RandomState) -> Iterator[Centers]:
        while True:
            yield self._given(init(self.X, self.n_clusters, random_state=rng))


@dataclass
class Record:
    """The states of a path as they come, with labels where they are to be kept."""

    problem: Problem
    store_labels: bool
    states: list[State] = field(default_factory=list)
    labels: list[npt.NDArray[np.integer[Any]]] = field(default_factory=list)

    @classmethod
    def begin(cls, problem: Problem, store_labels: bool | str, length: int) -> "Record":
        """Begin a record of `length` states; "auto" keeps labels if they are not too many."""
        if store_labels == "auto":
            store_labels = length * problem.rows.n_rows <= MOST_LABELS
        return cls(problem, bool(store_labels))

    def add(self, state: State) -> None:
        """Add a state; the labels of the rows must be its own."""
        self.states.append(state)
        if self.store_labels:
            smallest = np.min_scalar_type(-self.problem.n_clusters)
            self.labels.append(self.problem.rows.labels().astype(smallest))

    def add_best(self, runs: Iterator[State]) -> State:
        """Add the K-means run of least inertia, and return it."""
        best = min(runs, key=lambda state: state.inertia)
        assign(self.problem.rows, best.centroids)
        self.add(best)
        return best

    def round_last(self) -> None:
        """Measure the last state anew at its centroids as the user will see them.

        So `labels_` is what `predict` says, and `objective_` what `score` says, to the bit.
        """
        rows, units, last = self.problem.rows, self.problem.units, self.states[-1]
        if units.are_plain and rows.dtype == np.float64:
            return
        seen = units.outward(last.centroids).astype(rows.dtype).astype(np.float64)
        centroids = units.inward(seen)
        self.states[-1] = evaluate(rows, last, centroids, self.problem.kernel)
        if self.store_labels:
            self.labels[-1][:] = rows.labels()

    def path(self, feature_names: Sequence[str] | None = None) -> Path:
        """Return the path in the user's units."""
        units, states = self.problem.units, self.states
        centers = [units.outward(state.centroids) for state in states]
        return Path(
            bandwidths=np.array([state.bandwidth * units.scale for state in states]),
            centers=np.stack(centers).astype(self.problem.rows.dtype),
            objectives=np.array([state.objective for state in states]),
            inertias=np.array([state.inertia * units.scale**2 for state in states]),
            counts=np.stack([state.counts for state in states]),
            n_iter=np.array([state.n_iter for state in states]),
            labels=np.stack(self.labels) if self.store_labels else None,
            feature_names=feature_names,
        )

    def warn(self, stacklevel: int) -> None:
        """Warn of what the user should know of the path, once for each cause."""
        last, scale = self.states[-1], self.problem.units.scale
        if not last.converged:
            warnings.warn(
                f"K-modes did not converge at bandwidth {last.bandwidth * scale:.6g} within "
                f"{last.n_iter} iterations: the last one moved a centroid by "
                f"{last.residual * scale:.3g}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        if empty := list(np.flatnonzero(last.counts == 0)):
            warnings.warn(
                f"Clusters {[int(k) for k in empty]} lost all their points by bandwidth "
                f"{self._first(lambda state: state.counts[empty].min() == 0):.6g} and kept "
                "their centroids. Lower n_clusters, or stop at a larger bandwidth.",
                EmptyClusterWarning,
                stacklevel=stacklevel,
            )
        if any(state.unsupported.any() for state in self.states):
            clusters = np.flatnonzero(np.any([s.unsupported for s in self.states], axis=0))
            warnings.warn(
                f"From bandwidth {self._first(lambda state: state.unsupported.any()):.6g} on, "
                f"the kernel reached no point of clusters {[int(k) for k in clusters]}, whose "
                "centroids then stayed in place. Use a larger bandwidth or kernel='gaussian'.",
                EmptySupportWarning,
                stacklevel=stacklevel,
            )

    def _first(self, happens: Callable[[State], Any]) -> float:
        state = next(state for state in self.states if happens(state))
        return state.bandwidth * self.problem.units.scale

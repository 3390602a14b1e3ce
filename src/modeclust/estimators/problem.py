"""One clustering problem on rescaled rows, and the record of the path through it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from modeclust._sklearn import is_array_like
from modeclust.data.dataset import Dataset
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.mode_pass import ModePass, to_unit_length
from modeclust.data.rescaling import Rescaling
from modeclust.data.sample import Sample
from modeclust.data.validation import (
    check_centers,
    check_cluster_count,
    check_n_jobs,
    original_rows,
    rescaling_for,
)
from modeclust.exceptions import (
    CenterLengthWarning,
    EmptyClusterWarning,
    EmptySupportWarning,
    SingleRowWarning,
    _warn_user,
)
from modeclust.path import Path
from modeclust.solvers.kmeans import distinct_rows, draw_seeds
from modeclust.solvers.kmodes import (
    SMALLEST_BANDWIDTH,
    Centers,
    State,
    assign,
    evaluate,
    follow_path,
    inverse_square,
)
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.robust_start import improved_seeds
from modeclust.solvers.streaming import SufficientStatistics

# By default, a path stores at most this many labels.
MAX_LABELS = 10_000_000
# Lengths of the centers of rows of length 1 may differ by this factor. On texts where they differed
# by up to 1.8, labels were about as good as by the metric "cosine". From 2 on, the adjusted Rand
# index was lower by 0.1 to 0.4.
MAX_LENGTH_RATIO = 2.0
# Clusters of one row are named if clusters have at least this many rows on average.
MIN_MEAN_ROWS = 10
MAX_NAMED = 5  # clusters in a warning
NO_CENTERS: Centers = np.empty((0, 0))


class CheckedInput(NamedTuple):
    """The checked rows, weights and scales that a user passed to `fit`."""

    X: Any  # an array, a CSR matrix, or the chunks of a Dask collection
    weight: Any = None
    scale: Any = None
    affinity: Any = None  # the given graph of `LaplacianKModes`


@dataclass
class Problem:
    """An open dataset of rescaled rows. Its centers and bandwidths are in internal units."""

    X: Any  # the user's rows, for a callable init and for callbacks
    dataset: Dataset
    rescaling: Rescaling
    options: SolverOptions
    n_clusters: int
    n_threads: int = 1
    pool: Sample | None = None  # distinct rows, from which seeds are drawn
    mean_scale: float = 1.0  # of the user's local scales; the mean of the internal ones is 1
    start: str = "K-means"  # how the initial clusters are found, as in `Path`

    @classmethod
    @contextmanager
    def open(
        cls,
        checked: CheckedInput,
        options: SolverOptions,
        *,
        n_clusters: int,
        init: Any,
        metric: str,
        n_jobs: int | None,
        rng: np.random.RandomState,
    ) -> Iterator[Self]:
        """Context manager that opens the dataset of checked rows for `n_clusters` clusters."""
        X, n_clusters = checked.X, int(n_clusters)
        check_n_jobs(n_jobs)
        check_cluster_count(n_clusters, X)
        if is_array_like(init):
            check_centers(init, n_clusters, X.shape[1], metric)
        n_threads = thread_count(n_jobs)
        rescaling = rescaling_for(X, n_threads, metric)
        with open_dataset(
            X, rescaling, weight=checked.weight, n_clusters=n_clusters, n_threads=n_threads
        ) as dataset:
            pool = distinct_rows(dataset, n_clusters, rng)
            X = original_rows(X)
            problem = cls(X, dataset, rescaling, options, n_clusters, n_threads, pool)
            problem.set_scale(checked.scale)
            yield problem

    def set_scale(self, scale: Any) -> None:
        """Set the local scales. Internal bandwidths then refer to a row with the mean scale."""
        if scale is not None:
            self.mean_scale = self.dataset.set_relative_scale(scale)

    def bandwidth_to_internal(self, bandwidth: Any) -> Any:
        """Return the user's bandwidths in internal units."""
        limits = SMALLEST_BANDWIDTH, np.inf
        return self.rescaling.bandwidth_to_internal(bandwidth, self.mean_scale, limits=limits)

    def bandwidth_to_original(self, bandwidth: Any) -> Any:
        """Return internal bandwidths in the user's units."""
        return bandwidth / self.mean_scale * self.rescaling.scale

    @property
    def lacks_rows(self) -> bool:
        """Whether there are fewer distinct rows than clusters."""
        return self.pool is not None and len(self.pool.weight) < self.n_clusters

    @cached_property
    def count_per_weight(self) -> float:
        """How many rows a sample weight of 1 stands for: 1 if all weights are integers."""
        return self.dataset.n_counted / self.dataset.total_weight

    def statistics(self, state: State) -> SufficientStatistics:
        """Return the sufficient statistics of the rows at `state`, in the user's units."""
        if self.dataset.unit_length:
            return self._statistics_on_sphere(state)
        if state.mass is None or state.reference is None:
            state = evaluate(self.dataset, state, state.centers, self.options.kernel)
        mass, averaged = np.asarray(state.mass), np.asarray(state.rows_averaged)
        return SufficientStatistics(
            self.rescaling.to_original(state.centers),
            mass,
            mass * mass / np.where(averaged > 0, averaged, np.inf),
            np.asarray(state.reference),
            self.dataset.total_weight,
            self.mean_scale,
        )

    def _statistics_on_sphere(self, state: State) -> SufficientStatistics:
        """Return the statistics of rows of length 1, whose means are shorter than the centers."""
        factors, inverse = None, inverse_square(state.bandwidth)
        if state.cluster_bandwidths is not None:
            factors, inverse = state.cluster_bandwidths**-2.0, 1.0
        pass_ = ModePass(
            state.centers, self.options.kernel, inverse, state.stage < 2, cluster_factors=factors
        )
        sums = self.dataset.run(pass_)
        return SufficientStatistics(
            sums.means(state.centers),
            sums.mass,
            sums.mass_squared,
            sums.reference,
            self.dataset.total_weight,
            self.mean_scale,
        )

    def seeds(
        self, init: Any, rng: np.random.RandomState, *, improved: bool = False
    ) -> Iterator[Centers]:
        """Yield initial centers for any number of restarts; a given array only once.

        With `improved`, they are the best of a few runs on a sample of the rows.
        """
        if is_array_like(init):
            return iter([self._internal_seeds(init)])
        if callable(init):
            return self._seeds_by_call(init, rng)
        assert self.pool is not None
        seeds = draw_seeds(self.pool, self.n_clusters, init, rng, self.n_threads)
        if not improved or self.lacks_rows:
            return seeds
        return improved_seeds(self.pool, seeds, self.n_clusters, self.options, rng, self.n_threads)

    def _internal_seeds(self, init: Any) -> Centers:
        n_features, metric = self.dataset.n_features, self.rescaling.metric
        centers = check_centers(init, self.n_clusters, n_features, metric)
        if metric == "cosine":
            return to_unit_length(centers)
        return np.asarray(self.rescaling.to_internal(centers), dtype=np.float64)

    def _seeds_by_call(
        self, init: Callable[..., Any], rng: np.random.RandomState
    ) -> Iterator[Centers]:
        while True:
            yield self._internal_seeds(init(self.X, self.n_clusters, random_state=rng))

    def follow_path(self, centers: Centers, bandwidths: npt.NDArray[np.float64]) -> Iterator[State]:
        """Yield the state at each bandwidth, each started from the last one."""
        return follow_path(self.dataset, centers, bandwidths, self.options)


@dataclass
class Record:
    """The states of a path, one after the other, and their labels if they are stored."""

    problem: Problem
    store_labels: bool
    centers: npt.NDArray[Any]  # (S, K, D), filled up to the number of states
    label_dtype: np.dtype[Any]
    states: list[State] = field(default_factory=list)  # all but the last without large fields
    labelled: State | None = None  # the last state whose labels are those of its centers
    n_labelled: int = 0  # the number of states up to that one
    labels: list[npt.NDArray[np.integer[Any]]] = field(default_factory=list)

    @classmethod
    def begin(cls, problem: Problem, store_labels: bool | str, length: int) -> "Record":
        """Begin a record of `length` states; "auto" stores labels up to `MAX_LABELS`."""
        if store_labels == "auto":
            store_labels = length * problem.dataset.n_rows <= MAX_LABELS
        shape = (length, problem.n_clusters, problem.dataset.n_features)
        return cls(
            problem,
            bool(store_labels) and problem.dataset.stores_labels,
            np.empty(shape, dtype=problem.dataset.dtype),
            np.min_scalar_type(-problem.n_clusters),
        )

    def add(self, state: State) -> None:
        """Add a state. If it has no labels, the dataset must have the labels of this state."""
        if self.states:
            last = self.states[-1]
            self.states[-1] = last._replace(centers=NO_CENTERS, labels=None, memberships=None)
        self.centers[len(self.states)] = self.problem.rescaling.to_original(state.centers)
        self.states.append(state)
        if state.stage < 2:
            self.labelled, self.n_labelled = state, len(self.states)
        if self.store_labels:
            if state.stage == 2 and self.labels:  # frozen labels
                self.labels.append(self.labels[-1])
                return
            labels = self.problem.dataset.labels() if state.labels is None else state.labels
            self.labels.append(labels.astype(self.label_dtype))

    def add_means(self, means: State) -> None:
        """Add the result of K-means, and assign the rows to its centers."""
        assign(self.problem.dataset, means.centers)
        self.add(means)

    def restore(
        self, states: list[State], centers: npt.NDArray[Any], labels: npt.NDArray[Any] | None
    ) -> None:
        """Restore the states of an earlier record, and assign the rows as they were."""
        self.states = states
        self.centers[: len(states)] = centers
        self.labels = [] if labels is None else list(labels)
        self.n_labelled = sum(state.stage < 2 for state in states)
        self.labelled = states[self.n_labelled - 1]
        if states[-1].stage == 2:
            internal = self.problem.rescaling.to_internal(self._rounded(self.n_labelled - 1))
            self.labelled = self.labelled._replace(centers=internal)
        assign(self.problem.dataset, self.labelled.centers)

    def round_labelled(self) -> None:
        """Evaluate the last state again at its centers in the precision of the user's rows.

        This makes `labels_` equal to the result of `predict` for the same rows, and `objective_` to
        the result of `score`. Soft clusterings, and states with frozen labels, are left as they
        are.
        """
        dataset, rescaling, last = self.problem.dataset, self.problem.rescaling, self.states[-1]
        is_exact = rescaling.is_identity and dataset.dtype == np.float64
        if is_exact or last.labels is not None or last.stage == 2:
            return
        rounded = self._rounded(len(self.states) - 1)
        centers = rescaling.to_internal(rounded)
        self.states[-1] = evaluate(dataset, last, centers, self.problem.options.kernel)
        self.labelled = self.states[-1]
        self.centers[len(self.states) - 1] = rounded
        if self.store_labels:
            self.labels[-1][:] = dataset.labels()

    def _rounded(self, index: int) -> Centers:
        """Return the centers of a state in the precision of the user's rows, as float64."""
        return np.asarray(self.centers[index], dtype=np.float64)

    def path(self, feature_names: Sequence[str] | None = None) -> Path:
        """Return the path in the user's units."""
        problem, states = self.problem, self.states
        unit = problem.rescaling.scale / problem.mean_scale
        with np.errstate(over="ignore"):  # squares may overflow
            inertias = np.array([state.inertia for state in states]) * unit * unit
        return Path(
            bandwidths=problem.bandwidth_to_original(
                np.array([state.bandwidth for state in states])
            ),
            centers=self.centers[: len(states)],
            objectives=np.array([state.objective for state in states]),
            inertias=inertias,
            counts=np.array([state.counts for state in states]),
            n_iter=np.array([state.n_iter for state in states]),
            stage=np.array([state.stage for state in states]),
            cluster_bandwidths=problem.bandwidth_to_original(self._cluster_bandwidths()),
            rows_averaged=self._rows_averaged(),
            labels=np.array(self.labels) if self.store_labels else None,
            feature_names=feature_names,
            start=problem.start,
        )

    def _cluster_bandwidths(self) -> npt.NDArray[np.float64]:
        """Return the bandwidth of each cluster at each state, (S, K)."""
        bandwidths = np.empty(self.centers[: len(self.states), :, 0].shape)
        for row, state in zip(bandwidths, self.states, strict=True):
            own = state.cluster_bandwidths
            row[:] = state.bandwidth if own is None else own
        return bandwidths

    def _rows_averaged(self) -> npt.NDArray[np.float64] | None:
        """Return the rows averaged at each state; None for soft clusterings."""
        if self.states[-1].rows_averaged is None:
            return None
        averaged = np.array([state.rows_averaged for state in self.states])
        return averaged * self.problem.count_per_weight

    def warn(self, *, stopped: bool = False) -> None:
        """Warn about the path, once for each cause."""
        last = self.labelled
        assert last is not None
        # `max_iter` and `tol` hold for modes too if all have the same bandwidth.
        ends = [last, self.states[-1]] if self.states[-1].frozen is None else [last]
        end = next((state for state in ends if not state.converged), None)
        if end is not None and not stopped:
            bandwidth = self.problem.bandwidth_to_original(end.bandwidth)
            _warn_user(
                f"The fit did not converge at bandwidth {bandwidth:.6g} within {end.n_iter} "
                "iterations: the last one moved a mode by "
                f"{end.residual * self.problem.rescaling.scale:.3g}{self._in_bandwidths(end)}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        empty = last.nearest < 0
        if self.problem.lacks_rows:
            assert self.problem.pool is not None
            _warn_user(
                f"X has {len(self.problem.pool.weight)} distinct rows with a positive weight, "
                f"fewer than n_clusters={self.problem.n_clusters}, so some clusters are empty "
                "copies of others. Lower n_clusters.",
                ConvergenceWarning,
            )
        elif True in empty:
            first = self._first(lambda state: np.any(state.nearest[empty] < 0))
            _warn_user(
                f"Clusters {np.flatnonzero(empty).tolist()} lost all their rows by bandwidth "
                f"{first:.6g} and kept their modes. Lower n_clusters"
                f"{'' if last.labels is None else ' or smoothing'}.",
                EmptyClusterWarning,
            )
        else:
            self._warn_of_single_rows(last)
        self._warn_of_lengths(last)
        unsupported = np.logical_or.reduce([state.unsupported for state in self.states])
        if True in unsupported:
            first = self._first(lambda state: np.any(state.unsupported))
            _warn_user(
                f"From bandwidth {first:.6g} on, the kernel reached no row of clusters "
                f"{np.flatnonzero(unsupported).tolist()}, whose modes then did not move. "
                "Use a larger bandwidth or kernel='gaussian'.",
                EmptySupportWarning,
            )

    def _warn_of_single_rows(self, last: State) -> None:
        """Warn if clusters have one row, although most have many."""
        single = np.flatnonzero(last.counts == 1)
        if len(single) and last.counts.mean() >= MIN_MEAN_ROWS:
            which = ", ".join(f"{k} (row {last.nearest[k]})" for k in single[:MAX_NAMED])
            which += f" and {len(single) - MAX_NAMED} more" if len(single) > MAX_NAMED else ""
            _warn_user(
                f"Clusters with only one row: {which}. Such a row may be an outlier, or an error "
                "in the data. Leave it out, or lower n_clusters.",
                SingleRowWarning,
            )

    def _warn_of_lengths(self, last: State) -> None:
        """Warn if sparse rows have length 1, but some centers are much shorter than others.

        A row that is far from all centers is then nearest to the shortest, whatever its direction.
        """
        problem = self.problem
        is_euclidean = problem.dataset.is_sparse and not problem.dataset.unit_length
        if not is_euclidean or problem.pool is None or last.labels is not None:
            return
        lengths = np.linalg.norm(last.centers[last.nearest >= 0], axis=1)
        longest, shortest = lengths.max(initial=0.0), lengths.min(initial=np.inf)
        if longest <= MAX_LENGTH_RATIO * shortest or not problem.pool.has_unit_length():
            return
        _warn_user(
            f"All rows have length 1, but the lengths of the centers are from {shortest:.2g} to "
            f"{longest:.2g}. Rows that are far from all centers go to the shortest one. Use "
            "metric='cosine', by which all centers have length 1.",
            CenterLengthWarning,
        )

    def _in_bandwidths(self, state: State) -> str:
        if np.isinf(state.bandwidth):
            return ""
        ratio = state.residual / state.bandwidth
        return f", or {ratio:.2g} bandwidths; {self.problem.options.tol:g} are allowed"

    def _first(self, happens: Callable[[State], Any]) -> float:
        state = next(state for state in self.states if happens(state))
        return float(self.problem.bandwidth_to_original(state.bandwidth))

"""Mean-shift: the estimator."""

from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from modeclust._sklearn import (
    CALLBACK_ATTRIBUTES,
    CallbackSupportMixin,
    StrOptions,
    begin_callbacks,
    fit_context,
    is_array_like,
    with_callbacks,
)
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import (
    check_cluster_count,
    check_n_jobs,
    check_not_zero,
    check_numbers,
    check_rows,
    check_scales,
    check_weights,
)
from modeclust.estimators.confidence import MeanShiftConfidenceMixin, measure_spread
from modeclust.estimators.kernel_density import LIMITS, KernelDensity, OpenKernelDensity
from modeclust.estimators.parameters import (
    CONSTRAINTS,
    COUNT,
    FINITE,
    BandwidthRule,
    FittedParametersMixin,
    is_sparse_with_y,
)
from modeclust.estimators.same_rows import first_unlike
from modeclust.estimators.saving import SavingMixin
from modeclust.exceptions import _warn_user
from modeclust.preparation.hints import warn_of_columns
from modeclust.solvers import mean_shift as solver
from modeclust.solvers import mode_count
from modeclust.solvers.bandwidth import choose_bandwidth
from modeclust.solvers.confidence import Spread
from modeclust.solvers.kmeans import check_distinct, distinct_rows
from modeclust.solvers.mean_shift import Modes, ModesAtBandwidth, Points
from modeclust.solvers.neighbors import nearest_rows

# The search for `n_clusters` modes chooses its first bandwidth with FEW_SEEDS seeds, or with
# SEEDS_PER_MODE per mode if that is more.
FEW_SEEDS, SEEDS_PER_MODE = 256, 8


class MeanShift(
    MeanShiftConfidenceMixin,
    ClusterMixin,
    CallbackSupportMixin,
    FittedParametersMixin,
    SavingMixin,
    BaseEstimator,
):
    r"""Mean-shift clustering: every mode of a kernel density, and the rows that ascend to it.

    The density at x is :math:`\sum_n q_n G(\|x - x_n\|^2 / (\sigma s_n)^2) / \sum_n q_n`, with
    sample weights q, local scales s (1 by default) and a kernel G. Each seed moves repeatedly to
    the weighted mean of the rows around it, until it reaches a mode. The rows whose trajectories
    end at the same mode are a cluster.

    Parameters
    ----------
    bandwidth : float or {"knn", "silverman", "scott", "likelihood"}, default="knn"
        The bandwidth, or a rule that estimates it from the data (`estimate_bandwidth`). The result
        of a rule can have a factor: "knn/3" is a third of it, "2*knn" twice. With `n_clusters`, the
        search for a bandwidth starts there. With up to three features, the default gives many small
        modes; "silverman" gives fewer.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel. With "epanechnikov", a point moves to the plain mean of the rows within one
        bandwidth, as with the flat kernel of `sklearn.cluster.MeanShift`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric, as in `KModes`.
    n_clusters : int, default=None
        The number of modes. If given, the fit searches for a bandwidth with this number of modes.
    adaptive : bool, default=False
        Whether each row gets its own local scale: the distance to its 10th nearest neighbour,
        divided by the mean of these distances.
    seeds : {"all", "bin"}, int or array-like, default="all"
        The points where trajectories start: "all" rows; the occupied cells of a grid that is one
        bandwidth wide ("bin"); a number of rows, drawn at random; or the rows of an array. Rows
        that are not seeds get the label of the nearest seed.
    max_iter : int, default=1000
        Maximum number of steps of a trajectory.
    tol : float, default=1e-5
        A trajectory ends when its step is shorter than `tol` bandwidths.
    merge_radius : float, default=0.1
        Trajectories that end within `merge_radius` bandwidths of a denser mode are merged into it.
        The density of "epanechnikov" has many peaks next to each other;
        `sklearn.cluster.MeanShift` merges those within 1 bandwidth.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds, the rows that are sampled to estimate a bandwidth, and the random
        steps that distinguish modes from saddle points.
    n_jobs : int, default=None
        Number of threads. None means all cores, or ``OMP_NUM_THREADS`` if that is set. The result
        does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (`n_clusters_`, n_features)
        The modes, the densest first.
    labels_ : ndarray of shape (n_samples,)
        The mode of each row.
    n_clusters_ : int
        Number of modes.
    counts_ : ndarray of shape (`n_clusters_`,)
        Number of rows of each mode.
    density_ : ndarray of shape (`n_clusters_`,)
        The density at each mode, between 0 and 1: the mean kernel value over the rows.
    bandwidth_ : float
        The bandwidth.
    n_iter_ : int
        Number of steps of the longest trajectory.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all are strings.

    See Also
    --------
    modes_by_bandwidth : The modes at increasing bandwidths, and which of them merge.
    KModes : A given number of clusters, each with a mode.

    Notes
    -----
    The model keeps a copy of the data, which `predict` needs. Rows that contribute less than 1e-10
    of the total weight at a point are left out of the sums.

    References
    ----------
    Fukunaga, K. & Hostetler, L. (1975). The estimation of the gradient of a density function.
    IEEE Transactions on Information Theory 21(1).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from modeclust import MeanShift
    >>> X, _ = make_blobs(500, centers=3, random_state=3)
    >>> MeanShift(bandwidth=1.0).fit(X).n_clusters_
    3
    >>> MeanShift(n_clusters=3).fit(X).labels_.shape
    (500,)
    """

    cluster_centers_: npt.NDArray[np.floating[Any]]
    _saved_types = (KernelDensity, Spread)
    _required_attributes = ("_kernel_density", "_spread")
    _needed_after_fit = ("kernel", "metric", "tol", "max_iter", "merge_radius")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [FINITE, BandwidthRule()],
        "n_clusters": [COUNT, None],
        "adaptive": ["boolean"],
        "seeds": [StrOptions({"all", "bin"}), COUNT, "array-like"],
        "merge_radius": [FINITE],
        **{
            name: CONSTRAINTS[name]
            for name in ("kernel", "metric", "max_iter", "random_state", "n_jobs")
        },
        "tol": [FINITE],
    }

    def __init__(
        self,
        bandwidth: float | str = "knn",
        *,
        kernel: str = "gaussian",
        metric: str = "euclidean",
        n_clusters: int | None = None,
        adaptive: bool = False,
        seeds: Any = "all",
        max_iter: int = 1000,
        tol: float = 1e-5,
        merge_radius: float = 0.1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.metric = metric
        self.n_clusters = n_clusters
        self.adaptive = adaptive
        self.seeds = seeds
        self.max_iter = max_iter
        self.tol = tol
        self.merge_radius = merge_radius
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, sample_scale: Any = None
    ) -> Self:
        """Find the modes, and the mode of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data. Float32 stays float32; CSR stays sparse.
        y : Ignored
            Not used. A model that was fitted to sparse rows with y has no `predict_proba`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows. An integer weight w is equivalent to repeating the row w
            times.
        sample_scale : array-like of shape (n_samples,), default=None
            Scales s > 0 that multiply the bandwidth at each row. Not with ``adaptive=True``.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = check_rows(X, estimator=self, min_rows=2)
        if hasattr(self, "feature_names_in_"):
            warn_of_columns(self.feature_names_in_, X)
        kernel_density, bandwidth = self._prepare(X, sample_weight, sample_scale)
        opened = kernel_density.open(self.kernel, self.metric, bandwidth, self.n_jobs)
        search = Search(self, opened)
        callback_args = {"estimator": self, "X": X, "y": y}
        task: Any = None
        if vars(self).keys() & CALLBACK_ATTRIBUTES:
            task = begin_callbacks(self, search.n_parts)
            task.call_on_fit_task_begin(**callback_args)
            search.observed = partial(_observed, task, callback_args)
        try:
            found = search.modes(self.n_clusters)
        except mode_count.NoBandwidthError as error:
            raise ValueError(self._no_bandwidth(error, opened)) from None
        labels = search.row_labels(found.modes)
        self._store(kernel_density, opened, found, labels)
        self._sparse_with_y = is_sparse_with_y(X, y)
        if task is not None:
            task.call_on_fit_task_end(**callback_args, reconstruction_attributes={})
        if not found.modes.converged:
            warn_not_converged(self.max_iter)
        return self

    def predict(self, X: Any, method: str = "basin") -> npt.NDArray[np.int32]:
        """Return the mode of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.
        method : {"basin", "nearest"}, default="basin"
            "basin" ascends from each row, and returns the densest mode within `merge_radius` of the
            end, or the nearest mode if there is none. "nearest" returns the mode nearest to the
            row, which is faster.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        check_is_fitted(self)
        if method not in ("basin", "nearest"):
            raise ValueError(f"method must be 'basin' or 'nearest', got {method!r}.")
        X = check_rows(X, estimator=self, reset=False)
        kept = self._fitted_with
        opened = self._kernel_density.open(
            kept["kernel"], kept["metric"], self.bandwidth_, self.n_jobs
        )
        rows = opened.rescaling.rows(X)
        centers = opened.rescaling.to_internal(self.cluster_centers_.astype(np.float64))
        if method == "nearest":
            _, nearest = nearest_rows(centers, rows, 1, self.n_jobs)
            return nearest[:, 0].astype(np.int32)
        limits = solver.Limits(kept["tol"], kept["max_iter"], kept["merge_radius"])
        radius = limits.merge_radius * opened.density.bandwidth
        ascents = map(partial(solver.ascend, opened.density, limits=limits), solver.in_parts(rows))
        labels = [solver.nearest_mode(ends.points, centers, radius) for ends in ascents]
        return np.concatenate(labels).astype(np.int32)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _prepare(
        self, X: Any, sample_weight: Any, sample_scale: Any
    ) -> tuple[KernelDensity, float]:
        """Check the parameters, weights and scales; return the density and the first bandwidth."""
        check_n_jobs(self.n_jobs)
        weight = check_weights(sample_weight, X)
        scale = check_scales(sample_scale, X, adaptive=self.adaptive)
        if self.n_clusters is not None:
            check_cluster_count(self.n_clusters, X)
        self._check_seeds(X)
        rescaling = Rescaling.of(X, metric=self.metric)
        if not isinstance(self.bandwidth, str):
            mean_scale = 1.0 if scale is None else float(np.average(scale, weights=weight))
            rescaling.bandwidth_to_internal(self.bandwidth, mean_scale, limits=LIMITS)
        internal = rescaling.rows(X)
        with MemoryDataset(internal, weight=weight, n_jobs=self.n_jobs) as dataset:
            if self.n_clusters is not None:
                pool = distinct_rows(dataset, self.n_clusters, np.random.RandomState(0))
                check_distinct(pool, self.n_clusters)
            bandwidth, local = choose_bandwidth(
                dataset,
                self.bandwidth,
                local=self.adaptive,
                unit=rescaling.scale,
                random_state=self.random_state,
            )
        scale = local if self.adaptive else scale
        return KernelDensity.of(X, weight, scale, self.metric), bandwidth

    def _check_seeds(self, X: Any) -> None:
        n_seeds = X.shape[0]
        if is_array_like(self.seeds):
            seeds = check_numbers(self.seeds, "seeds")
            if seeds.shape[1] != X.shape[1]:
                raise ValueError(
                    f"seeds must have as many columns as X, {X.shape[1]}, got {seeds.shape[1]}."
                )
            if self.metric == "cosine":
                check_not_zero(seeds, "seeds")
            n_seeds = len(seeds)
        elif isinstance(self.seeds, Integral):
            n_seeds = int(self.seeds)
        elif isinstance(self.seeds, str) and self.seeds == "bin" and is_sparse(X):
            raise ValueError(
                "seeds='bin' needs dense rows; pass seeds='all' or a number of rows to draw."
            )
        if self.n_clusters is not None and n_seeds < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} modes cannot be found from {n_seeds} seeds; pass "
                "more seeds, or lower n_clusters."
            )

    def _no_bandwidth(self, error: mode_count.NoBandwidthError, opened: OpenKernelDensity) -> str:
        (low, n_low), (high, n_high) = error.args
        return (
            f"No bandwidth gives {self.n_clusters} modes: there are {n_low} at bandwidth "
            f"{opened.bandwidth_to_original(low):.6g} and {n_high} at "
            f"{opened.bandwidth_to_original(high):.6g}. "
            f"Pass another n_clusters, or use KModes, which finds any number of clusters."
        )

    def _store(
        self,
        kernel_density: KernelDensity,
        opened: OpenKernelDensity,
        found: ModesAtBandwidth,
        labels: npt.NDArray[np.intp],
    ) -> None:
        """Set the fitted attributes."""
        bandwidth, modes = found
        self._kernel_density = kernel_density
        centers = opened.rescaling.to_original(modes.points)
        self.cluster_centers_ = np.asarray(centers, dtype=kernel_density.X.dtype)
        self.labels_ = labels.astype(np.int32)
        self.n_clusters_ = len(centers)
        self.counts_ = np.bincount(labels, minlength=len(centers))
        self.density_ = modes.density
        self.bandwidth_ = opened.bandwidth_to_original(bandwidth)
        self.n_iter_ = modes.n_iter
        self._spread = measure_spread(opened, modes.points, self.labels_)
        self._fitted_with = self._parameters_needed()

    def _first_other_row(self, X: Any, indices: npt.NDArray[np.intp]) -> int | None:
        """Return the first of the rows at `indices` that differs from the same row of the fit."""
        metric = self._fitted_with["metric"]
        return first_unlike(X, indices, self._kernel_density.X, metric)

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        shape = len(self.labels_), self.cluster_centers_.shape[1]
        density: Any = self._kernel_density
        is_right = isinstance(density, KernelDensity) and density.X.shape == shape
        if is_right:
            try:
                kept = self._fitted_with
                density.open(kept["kernel"], kept["metric"], self.bandwidth_, 1)
            except ValueError:  # the bandwidth is too small
                is_right = False
        yield "_kernel_density", is_right, f"rows of {shape[1]} features, one for each label"


class Search:
    """The search for modes from the seeds of an estimator."""

    def __init__(self, model: MeanShift, opened: OpenKernelDensity) -> None:
        self.observed: Callable[[Iterator[Points]], Iterator[Points]] = iter
        self.limits = solver.Limits(model.tol, model.max_iter, model.merge_radius)
        self.rng = check_random_state(model.random_state)
        self._density = opened.density
        self._rows = opened.X
        self._n_jobs = model.n_jobs
        self._in_cells = isinstance(model.seeds, str) and model.seeds == "bin"
        self._is_open = self._in_cells or model.n_clusters is not None
        self._seeds: Any = None
        self._owner: npt.NDArray[np.intp] | None = None  # the seed of each row
        if is_array_like(model.seeds):
            seeds = opened.rescaling.to_internal(np.asarray(model.seeds, dtype=np.float64))
            self._seeds = self._density.place(seeds)
        elif isinstance(model.seeds, Integral):
            n_rows = self._rows.shape[0]
            chosen = self.rng.choice(n_rows, min(int(model.seeds), n_rows), replace=False)
            self._seeds = self._rows[np.sort(chosen)]
        elif not self._in_cells:
            self._seeds, self._owner = _distinct(self._rows)

    @property
    def n_parts(self) -> int | None:
        """The number of parts of the seeds, or None if it is not known in advance."""
        return None if self._is_open else sum(1 for _ in solver.in_parts(self._seeds))

    def modes(self, n_clusters: int | None) -> ModesAtBandwidth:
        """Return the bandwidth and the modes."""
        start = self._density.bandwidth
        if n_clusters is None:
            return ModesAtBandwidth(start, self.at(start))
        estimate = self._count_estimator(n_clusters)
        return mode_count.find_bandwidth(n_clusters, start, self.at, self._merge_modes_at, estimate)

    def _count_estimator(self, n_clusters: int) -> Callable[[float], float] | None:
        """Return a function that estimates the number of modes from some of many seeds."""
        n_few = max(FEW_SEEDS, SEEDS_PER_MODE * n_clusters)
        if self._in_cells or self._seeds.shape[0] < 4 * n_few:
            return None
        few = self._seeds[np.sort(self.rng.choice(self._seeds.shape[0], n_few, replace=False))]

        def estimate_count(bandwidth: float) -> float:
            density = self._density.at(bandwidth)
            modes = solver.find_modes(density, solver.in_parts(few), self.limits, self.rng)
            return mode_count.estimated_count(modes, self._seeds.shape[0])

        return estimate_count

    def at(self, bandwidth: float) -> Modes:
        """Return the modes at a bandwidth, from all seeds."""
        if self._in_cells:
            cells = np.round(self._rows.astype(np.float64) / bandwidth)
            cells, first, self._owner = np.unique(
                cells, axis=0, return_index=True, return_inverse=True
            )
            # The middle of a cell may be the middle of the sphere.
            self._seeds = self._rows[first] if self._density.unit_length else cells * bandwidth
        parts = self.observed(solver.in_parts(self._seeds))
        return solver.find_modes(self._density.at(bandwidth), parts, self.limits, self.rng)

    def _merge_modes_at(self, found: ModesAtBandwidth, bandwidth: float) -> ModesAtBandwidth:
        return solver.merge_modes(self._density, found, bandwidth, self.limits, self.rng)

    def row_labels(self, modes: Modes) -> npt.NDArray[np.intp]:
        """Return the mode of each row: the mode of its own seed or of the nearest seed."""
        n_ascended = len(modes.labels)  # fewer if a callback stopped the fit
        if self._owner is not None and n_ascended == self._seeds.shape[0]:
            return modes.labels[self._owner]
        _, nearest = nearest_rows(self._seeds[:n_ascended], self._rows, 1, self._n_jobs)
        return modes.labels[nearest[:, 0]]


def warn_not_converged(max_iter: int) -> None:
    """Warn that trajectories did not end within `max_iter` steps."""
    _warn_user(
        f"Some trajectories did not end within {max_iter} steps. Raise max_iter or tol.",
        ConvergenceWarning,
    )


def _observed(fit: Any, callback_args: dict[str, Any], parts: Iterator[Points]) -> Iterator[Points]:
    """Yield the parts, with a callback task for each, until a callback stops the fit."""
    for part in parts:
        task = fit.subcontext("seeds")
        task.call_on_fit_task_begin(**callback_args)
        yield part
        if task.call_on_fit_task_end(**callback_args, reconstruction_attributes={}):
            return


def _distinct(rows: Any) -> tuple[Any, npt.NDArray[np.intp]]:
    """Return the distinct rows in their order, and the index of each row among them."""
    if is_sparse(rows):
        return rows, np.arange(rows.shape[0])
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return rows[first[order]], np.argsort(order)[kind]

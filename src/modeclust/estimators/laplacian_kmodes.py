"""Laplacian K-modes: the estimator."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from modeclust import _core
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import is_sparse, working_dtype
from modeclust.data.rescaling import Rescaling
from modeclust.data.soft_pass import KernelValuePass
from modeclust.estimators.bandwidth import resolve_bandwidth
from modeclust.estimators.decorators import fit_context, with_callbacks
from modeclust.estimators.following import PathFollower
from modeclust.estimators.neighborhood import Neighborhood
from modeclust.estimators.problem import Problem, Record
from modeclust.estimators.same_rows import first_unlike
from modeclust.estimators.saving import SavingMixin
from modeclust.estimators.soft_problem import SoftProblem
from modeclust.exceptions import ApproximateNeighborsWarning
from modeclust.kernels import KERNELS
from modeclust.path import Path
from modeclust.solvers.graph import FARTHEST, neighbor_graph
from modeclust.solvers.laplacian import SOLVERS, hard_labels, one_hot
from modeclust.solvers.neighbors import (
    Found,
    approximate_rows,
    distances_to_neighbors,
    exact_is_slow,
    has_approximate,
    nearest_rows,
)
from modeclust.solvers.solve import Centers, State, assign, inverse_square
from modeclust.validation import (
    CONSTRAINTS,
    COUNT,
    FINITE,
    LARGEST,
    SMALLEST,
    BandwidthRule,
    Doubles,
    check_affinity,
    check_rows,
    check_weights,
)

# K-means before the path, and all where there is nothing to smooth, have the limits of `KModes`.
PATH_ITER, MAX_ITER = 10, 300
# A pull of the modes this much above that of the neighbours decides alone.
LARGEST_LOG_RATIO = 30.0


class LaplacianKModes(PathFollower, ClusterMixin, SavingMixin, BaseEstimator):
    r"""K-modes with soft assignments that are smooth over a neighbour graph.

    Maximises

    .. math:: \sum_{nk} q_n z_{nk} G(\|x_n - c_k\|^2 / \sigma^2) - \lambda \mathrm{tr}(Z^T L Z)

    over assignments Z, whose rows are non-negative and sum to 1, and centroids C, with the
    Laplacian L of a graph that joins each row to its nearest ones. Neighbours tend to be in one
    cluster, so that clusters need not be convex; each centroid is a mode of the rows that belong
    to it. It starts from the best of `n_init` K-means runs and lowers the bandwidth to the target.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters K.
    smoothing : float or "auto", default="auto"
        The weight lambda of the graph; 0 is `KModes`. "auto" is, with the solver "gradient", where
        the clusters of K-means have lambda tr(Z' L Z) = 0.15 sum q, so that a graph that these cut
        little smooths more (a cut below 1% of all affinities counts as 1%); with "bound", where
        lambda times the affinity of a row to all others is 10 on average.
    n_neighbors : int, default=5
        Each row is joined to so many nearest rows, less than there are.
    affinity : {"heat", "binary"} or matrix of shape (n_samples, n_samples), default="heat"
        How strongly: by ``exp(-|x_i - x_j|^2 / (2 s_i s_j))``, by 1, or as given by a sparse or
        dense matrix, symmetric and non-negative, of which the diagonal does not matter.
    affinity_bandwidth : float, "local" or None, default=None
        The scale s of "heat"; "local" is each row's distance to its last neighbour, and None the
        target bandwidth. Where `affinity` is a matrix, for the affinities of new rows; with
        "binary" it does not matter.
    bandwidth : float or {"knn", "silverman", "scott", "likelihood"}, default="knn"
        The target bandwidth, or a rule that estimates it (`estimate_bandwidth`), or a part of
        what a rule gives, such as "knn/3".
    start_bandwidth : float or "auto", default="auto"
        The first bandwidth after K-means, as in `KModes`.
    n_bandwidths : int, default=10
        Number of bandwidths after K-means, target included.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel.
    solver : {"gradient", "bound"}, default="gradient"
        How assignments are found. "gradient" solves the problem above. "bound" adds an entropy, and
        maximises :math:`\sum z G + \lambda/2 \sum w_{nm} z_n \cdot z_m - \sum z \log z`: its
        steps need no projection, and assignments are not 0 but where they round to it. Without
        smoothing there is no difference: both are `KModes`.
    init : {"k-means++", "random"}, callable or array-like, default="k-means++"
        Where K-means starts, as in `KModes`.
    n_init : int, default=10
        Number of K-means runs, of which the one of least inertia is followed; one if `init` is
        an array.
    path_iter : int, default=30
        Most iterations at each bandwidth on the way. K-means, and the whole path with
        ``smoothing=0``, have the limits that are the defaults of `KModes`.
    max_iter : int, default=100
        Most iterations at the target.
    tol : float, default=1e-4
        A bandwidth is done when an iteration moves no centroid farther than `tol` bandwidths.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found. "approximate" uses faiss (the extra
        ``modeclust[approximate]``). "auto" is exact, except for more than 100,000 dense rows of
        more than 15 features where faiss is installed: a warning then says so. The neighbours of
        sparse rows are always exact.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds, the rows sampled to estimate a bandwidth, and approximate neighbours.
    n_jobs : int, default=None
        Number of threads: None is all cores, or ``OMP_NUM_THREADS`` where that is set. Any
        number gives the same bits.
    store_labels : bool or "auto", default="auto"
        Whether `path_` keeps the labels at every bandwidth; "auto" does up to ten million.
    verbose : int, default=0
        With 1, print one line for each bandwidth.

    Attributes
    ----------
    assignments_ : ndarray of shape (n_samples, n_clusters)
        How much each row belongs to each cluster; rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        The cluster that each row belongs to most; of several, that of the nearest mode.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The modes.
    smoothing_ : float
        The weight of the graph.
    objective_ : float
        The value maximised.
    objective_history_ : ndarray of shape (n_iterations,)
        It after each iteration at the target bandwidth: it never falls. With ``smoothing=0`` only
        the last.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The graph.
    bandwidth_ : float
        The bandwidth at the end of the path.
    inertia_ : float
        Sum of ``q |x - c|^2``, each row with the mode of its label.
    counts_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    exemplar_indices_ : ndarray of shape (n_clusters,)
        The row nearest to each mode among those with its label; -1 where there is none, or none of
        positive weight.
    n_iter_ : int
        Number of iterations along the path.
    path_ : Path
        Centroids, sizes and objective over the sum of the weights at every bandwidth, K-means
        first, whose objective is without the graph.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all are strings.

    See Also
    --------
    KModes : Each row in the cluster of its nearest mode.

    Notes
    -----
    A row without neighbours, or too far from them for any affinity, is in the cluster of its
    nearest mode. The parts of a graph that is not connected are smoothed each for itself; a part
    that no mode reaches keeps what K-means gave it, smoothed.

    Assignments are smoothed until a step gains less than about 1e-6 of the objective, and a fit
    holds about ten arrays of their size. The largest smoothing, affinity and weight must each be
    between 1e-100 and 1e100.

    References
    ----------
    Wang, W. & Carreira-Perpiñán, M. Á. (2014). The Laplacian K-modes algorithm for clustering.
    arXiv:1406.3895.

    Ziko, I., Granger, E. & Ben Ayed, I. (2018). Scalable Laplacian K-modes. NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from modeclust import LaplacianKModes
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = LaplacianKModes(2, bandwidth=0.1, random_state=0).fit(X)
    >>> adjusted_rand_score(y, model.labels_)
    1.0
    """

    labels_: npt.NDArray[np.int32]
    _saved_types = (Path, Neighborhood)
    _needed_after_fit = ("kernel", "solver")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: constraint
            for name, constraint in CONSTRAINTS.items()
            if name != "mean_shift_iter"
        },
        "smoothing": [
            Interval(Real, SMALLEST, LARGEST, closed="both"),
            Options(Real, {0}),
            StrOptions({"auto"}),
        ],
        "n_neighbors": [COUNT],
        "affinity": [StrOptions({"heat", "binary"}), "sparse matrix", "array-like"],
        "affinity_bandwidth": [FINITE, StrOptions({"local"}), None],
        "bandwidth": [FINITE, BandwidthRule()],
        "start_bandwidth": [FINITE, StrOptions({"auto"})],
        "n_bandwidths": [COUNT],
        "solver": [StrOptions(set(SOLVERS))],
        "neighbor_search": [StrOptions({"auto", "exact", "approximate"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        smoothing: float | str = "auto",
        n_neighbors: int = 5,
        affinity: Any = "heat",
        affinity_bandwidth: float | str | None = None,
        bandwidth: float | str = "knn",
        start_bandwidth: float | str = "auto",
        n_bandwidths: int = 10,
        kernel: str = "gaussian",
        solver: str = "gradient",
        init: Any = "k-means++",
        n_init: int = 10,
        path_iter: int = 30,
        max_iter: int = 100,
        tol: float = 1e-4,
        neighbor_search: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        store_labels: bool | str = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.smoothing = smoothing
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.affinity_bandwidth = affinity_bandwidth
        self.bandwidth = bandwidth
        self.start_bandwidth = start_bandwidth
        self.n_bandwidths = n_bandwidths
        self.kernel = kernel
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.path_iter = path_iter
        self.max_iter = max_iter
        self.tol = tol
        self.neighbor_search = neighbor_search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.store_labels = store_labels
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find K clusters, their modes, and how much each row belongs to each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data, of which a copy is kept for `predict`.
        y : Ignored
            Not used, present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows in the sum over kernels. They do not change the graph: a
            weight of 2 is not the same as the row twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = check_rows(X, estimator=self, min_rows=2)
        X = X.copy() if is_sparse(X) else np.array(X, dtype=working_dtype(X.dtype))
        weight = check_weights(sample_weight, X, only_ratios=False)
        given = self._check_graph(X)
        self._check_start(self.bandwidth)
        rng = check_random_state(self.random_state)
        with SoftProblem.opened(
            X,
            n_clusters=self.n_clusters,
            init=self.init,
            kernel=self.kernel,
            weight=weight,
            n_jobs=self.n_jobs,
            rng=rng,
            path_iter=PATH_ITER,
            max_iter=MAX_ITER,
            mean_shift_iter=1,
            tol=self.tol,
            smoothing=self.smoothing,
            solver=self.solver,
            soft_path_iter=self.path_iter,
            soft_max_iter=self.max_iter,
        ) as problem:
            self._check_internal_bandwidths(problem)
            target, _ = resolve_bandwidth(
                problem.rescaling,
                problem.dataset.X,
                weight,
                self.bandwidth,
                local=False,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
            self._check_start(target)
            self._join(problem, target, given, rng)
            inner = float(problem.bandwidth_to_internal(target))
            record = self._follow(problem, inner, rng, y)
        record.warn(stacklevel=5, stopped=len(record.states) <= self.n_bandwidths)
        return self

    def predict_proba(self, X: Any) -> Doubles:
        """Return how much each row belongs to each cluster.

        A row takes the mean assignment of the `n_neighbors` nearest rows that the model was
        fitted on, weighted by its affinities to them, and the pull of the modes. Far from all
        it takes that of its neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The assignments; rows sum to 1.
        """
        with self._measure(X) as (dataset, centroids, rescaling):
            return self._assignments(dataset, centroids, rescaling)

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the cluster that each row belongs to most, by `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels; of several clusters, that of the nearest mode.
        """
        with self._measure(X) as (dataset, centroids, rescaling):
            return hard_labels(dataset, centroids, self._assignments(dataset, centroids, rescaling))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_graph(self, X: Any) -> sparse.csr_array | None:
        """Return the given affinities, or None if there are rows enough to find them."""
        if self.neighbor_search == "approximate" and not has_approximate():
            raise ModuleNotFoundError(
                "neighbor_search='approximate' requires faiss; install it with "
                "`pip install 'modeclust[approximate]'`.",
                name="faiss",
            )
        if not isinstance(self.affinity, str):
            return check_affinity(self.affinity, X.shape[0])
        if self.n_neighbors >= X.shape[0] and self.smoothing != 0:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} must be less than the number of rows of X, "
                f"n_samples={X.shape[0]}; lower n_neighbors."
            )
        return None

    def _join(
        self,
        problem: SoftProblem,
        target: float,
        given: sparse.csr_array | None,
        rng: np.random.RandomState,
    ) -> None:
        """Give the problem its graph, and the neighbourhood in which new rows will be."""
        unit: Any = problem.rescaling.scale
        is_binary = isinstance(self.affinity, str) and self.affinity == "binary"
        is_local = isinstance(self.affinity_bandwidth, str)
        scale: Any = None
        if not is_binary and not is_local:
            given_scale: Any = self.affinity_bandwidth
            scale = float(target if given_scale is None else given_scale) / unit
        if given is None or is_local:
            k = min(self.n_neighbors, problem.dataset.n_rows - 1)
            distances, neighbors = self._neighbors(problem.dataset.X, k, rng)
            if is_local and not is_binary:
                scale = distances.max(axis=1)
        problem.graph = neighbor_graph(distances, neighbors, scale) if given is None else given
        original_scale = None if scale is None else scale * unit
        problem.neighborhood = Neighborhood(problem.X, int(self.n_neighbors), original_scale)

    def _neighbors(self, rows: Any, n_neighbors: int, rng: np.random.RandomState) -> Found:
        """Return the nearest other rows of each, exactly or approximately, saying so."""
        way = self.neighbor_search
        if way == "auto" and exact_is_slow(rows) and has_approximate():
            warnings.warn(
                f"The neighbours of {rows.shape[0]} rows are approximate, by faiss. Pass "
                "neighbor_search='exact', which takes longer, or 'approximate', which does not "
                "warn.",
                ApproximateNeighborsWarning,
                stacklevel=6,
            )
            way = "approximate"
        if way == "approximate" and not is_sparse(rows):
            return approximate_rows(rows, n_neighbors, rng, self.n_jobs)
        _, neighbors = nearest_rows(rows, [None], n_neighbors, self.n_jobs)
        return distances_to_neighbors(rows, rows, neighbors), neighbors

    def _store(self, record: Record) -> None:
        """Set the fitted attributes, all from the last state of the path."""
        problem = record.problem
        assert isinstance(problem, SoftProblem)
        record.round_last()
        last = record.states[-1]
        labels = problem.dataset.labels() if last.labels is None else last.labels
        self.path_ = record.path(getattr(self, "feature_names_in_", None))
        point = self.path_[-1]
        history = last.history or (problem.dataset.total_weight * last.objective,)
        self.labels_ = labels
        self.assignments_ = _memberships(last, labels)
        self.cluster_centers_ = point.centers.copy()
        self.bandwidth_ = point.bandwidth
        self.smoothing_ = float(problem.smoothing)
        self.objective_ = history[-1]
        self.objective_history_ = np.array(history)
        self.inertia_ = point.inertia
        self.counts_ = point.counts.copy()
        self.exemplar_indices_ = last.nearest
        self.n_iter_ = int(self.path_.n_iter.sum())
        self.affinity_ = problem.graph
        self._neighborhood = problem.neighborhood
        self._fitted_with = self._parameters_needed()

    def _as_fitted(self, state: State, problem: Problem) -> dict[str, Any]:
        assert isinstance(problem, SoftProblem)
        labels = problem.dataset.labels() if state.labels is None else state.labels
        return {
            **super()._as_fitted(state, problem),
            "assignments_": _memberships(state, labels),
            # While it is open, at K-means, the nearest centroid decides.
            "smoothing_": 0.0 if isinstance(problem.smoothing, str) else problem.smoothing,
            "_neighborhood": problem.neighborhood,
        }

    @contextmanager
    def _measure(self, X: Any) -> Iterator[tuple[MemoryDataset, Centers, Rescaling]]:
        """Open a dataset of new rows, rescaled as those of the fit; yield it as `KModes` does."""
        check_is_fitted(self)
        X = check_rows(X, estimator=self, reset=False)
        known = self._neighborhood.X
        if is_sparse(known) != is_sparse(X):
            X = sparse.csr_array(X) if is_sparse(known) else X.toarray()
        rescaling = Rescaling.of(known)
        centroids = rescaling.to_internal(self.cluster_centers_.astype(np.float64))
        rows = rescaling.to_internal(np.asarray(X) if isinstance(X, np.memmap) else X)
        with MemoryDataset(rows, n_clusters=len(centroids), n_jobs=self.n_jobs) as opened:
            yield opened, centroids, rescaling

    def _first_other_row(self, X: Any, indices: npt.NDArray[np.intp]) -> int | None:
        """Return the first of the rows at `indices` that is not that of the fit."""
        return first_unlike(X, indices, self._neighborhood.X, indices)

    def _assignments(
        self, dataset: MemoryDataset, centroids: Centers, rescaling: Rescaling
    ) -> Doubles:
        if self.smoothing_ == 0:
            assign(dataset, centroids)
            return one_hot(dataset.labels(), len(centroids))
        pulls = self._log_kernel_values(dataset, centroids, self.bandwidth_ / rescaling.scale)
        affinities, near = self._neighborhood.affinities(dataset.X, rescaling, self.n_jobs)
        mean = np.asarray(affinities @ self.assignments_)
        if self._fitted_with["solver"] == "bound":
            weights = self.smoothing_ * np.exp(near)
            return np.asarray(softmax(np.exp(pulls) + weights[:, None] * mean, axis=1))
        # By logarithms, since far from everything both sums vanish; and where no mode pulls ...
        pull = logsumexp(pulls, axis=1)
        reached = np.isfinite(pull)
        shares = np.exp(pulls[reached] - pull[reached, None])
        log_ratio = pull - near - np.log(2 * self.smoothing_)
        ratio = np.exp(np.minimum(log_ratio[reached], LARGEST_LOG_RATIO))
        mean[reached] += ratio[:, None] * shares
        _core.project_rows(mean)  # ... neighbours alone decide.
        return mean

    def _log_kernel_values(
        self, dataset: MemoryDataset, centroids: Centers, bandwidth: float
    ) -> Doubles:
        """Return log G of each row at each centroid."""
        name = self._fitted_with["kernel"]
        if name == "gaussian":
            with np.errstate(over="ignore"):
                squares = np.square(dataset.distances(centroids).astype(np.float64) / bandwidth)
            return np.asarray(-0.5 * np.minimum(squares, FARTHEST))
        kernel_values = np.empty((dataset.n_rows, len(centroids)))
        kernel, inverse = KERNELS[name], inverse_square(bandwidth)
        dataset.run(KernelValuePass(centroids, kernel, inverse, kernel_values))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(kernel_values))


def _memberships(state: State, labels: npt.NDArray[np.int32]) -> Doubles:
    if state.memberships is None:
        return one_hot(labels, len(state.centroids))
    return state.memberships

"""Laplacian K-modes: the estimator."""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from modeclust._sklearn import (
    Interval,
    Options,
    StrOptions,
    fit_context,
    with_callbacks,
)
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, in_memory, is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import LARGEST, SMALLEST, check_rows
from modeclust.estimators.fit_soft_path import SoftPathEstimator
from modeclust.estimators.parameters import (
    CONSTRAINTS,
    COUNT,
    FINITE,
    N_CLUSTERS,
    ROWS_PER_MODE,
    BandwidthRule,
    of_clusters,
)
from modeclust.estimators.problem import Problem, Record
from modeclust.estimators.reporting import ReportMixin
from modeclust.estimators.same_rows import first_unlike
from modeclust.estimators.saving import SavingMixin, check_count, check_modes, check_path, is_square
from modeclust.estimators.soft_assignments import (
    Neighborhood,
    bound_assignments,
    gradient_assignments,
    log_kernel_values,
)
from modeclust.estimators.soft_problem import SoftProblem
from modeclust.estimators.stability import SoftStabilityMixin
from modeclust.io.model_file import is_array
from modeclust.path import Path
from modeclust.solvers.kmodes import Centers, State, assign
from modeclust.solvers.laplacian import SOLVERS, hard_labels, one_hot


class LaplacianKModes(
    ReportMixin,
    SoftStabilityMixin,
    SoftPathEstimator,
    ClusterMixin,
    SavingMixin,
    BaseEstimator,
):
    r"""K-modes with soft assignments that are smooth over a neighbour graph.

    Maximises

    .. math:: \sum_{nk} q_n z_{nk} G(\|x_n - c_k\|^2 / \sigma^2) - \lambda \mathrm{tr}(Z^T L Z)

    over assignments Z, whose rows are non-negative and sum to 1, and centers C. L is the Laplacian
    of a graph that joins each row to its nearest neighbours. Neighbours tend to be in the same
    cluster, so clusters need not be convex.

    With the default parameters, the fit starts from average linkage over the graph, lowers the
    bandwidth to the cluster radius, and smooths the clusters there. It then finds the mode of each
    cluster at a bandwidth of its own, as `cluster_modes` does.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters K. "auto" chooses it by `suggest_clusters`, and warns if the answer
        is not sure.
    max_clusters : int, default=40
        The largest number of clusters that ``n_clusters="auto"`` tries.
    smoothing : float or "auto", default="auto"
        The weight lambda of the graph; 0 gives the assignments of `KModes`. "auto" chooses lambda
        such that lambda times the sum of the affinities of a row is 50 on average, or 10 for the
        solver "gradient". For "gradient", lambda tr(Z' L Z) is also at most a tenth of the sum over
        kernels at the start; otherwise clusters would vanish. If "gradient" starts from K-means,
        it is 0.15 sum q; if these clusters cut less than 1% of the affinities, 1% is used instead.
    n_neighbors : int or "auto", default="auto"
        Number of nearest neighbours that each row is joined to; less than the number of rows.
        "auto" is a fifth of the mean cluster size, but at least 4 and at most 10.
    affinity : {"auto", "heat", "binary"} or matrix of shape (n_samples, n_samples), default="auto"
        The weights of the graph. "auto" adapts to the density and needs no bandwidth: with
        ``q_ij = (|x_i - x_j|^2 + c_i c_j) / (2 mean(c)^2)``, where c is the distance of a row to
        its neighbour number `n_neighbors` / 2, the weights are 1 / q divided by the square roots of
        the sums of both rows, or ``exp(-2 q)`` for the solver "gradient". If only one of two rows
        is a neighbour of the other, their weight is half. The graph is connected: each component is
        joined to its nearest row outside. "heat" is
        ``exp(-|x_i - x_j|^2 / (2 s_i s_j))``, and "binary" is 1. A matrix, sparse or dense, must be
        symmetric and non-negative; its diagonal is ignored.
    affinity_bandwidth : float, "local" or None, default=None
        The scale s of "heat". "local" is the distance of each row to its last neighbour, and None
        is the target bandwidth, or with ``bandwidth="auto"`` the median distance of the rows to
        their tenth neighbour. If `affinity` is a matrix, it is used for new rows. With "auto" and
        "binary" it is ignored.
    bandwidth : "auto", float or {"knn", "silverman", "scott", "likelihood"}, default="auto"
        "auto" is the cluster radius, the median distance of the rows to the means of their initial
        clusters. For the solver "gradient", it is 1.5 times the median distance of the rows to
        their tenth neighbour. The modes then get bandwidths of their own. A number is the target
        bandwidth. A rule estimates it from the data (`estimate_bandwidth`) and can have a factor:
        "knn/3" or "0.4*knn". With a number or a rule, the modes are the centers at the target.
    rows_per_mode : float or "auto", default="auto"
        How many rows a mode averages with ``bandwidth="auto"``, as in `KModes`.
    start_bandwidth : float or "auto", default="auto"
        The first bandwidth after the start, as in `KModes`.
    n_bandwidths : int, default=10
        Number of bandwidths after the start, including the target. Not used with
        ``bandwidth="auto"``.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric, as in `KModes`.
    solver : {"bound", "gradient"}, default="bound"
        How the assignments are found. "gradient" solves the problem above. "bound" adds an entropy,
        and maximises :math:`\sum z G + \lambda/2 \sum w_{nm} z_n \cdot z_m - \sum z \log z`: its
        steps need no projection, and assignments are 0 only by rounding. With ``smoothing=0``, both
        give the result of `KModes`.
    init : {"linkage", "k-means++", "random"}, callable or array-like, default="linkage"
        "linkage" starts from average linkage over the graph. These clusters stay as they are until
        the last bandwidth. Otherwise the fit starts from K-means, which is initialised as in
        `KModes`, and assignments are smoothed at each bandwidth. Use "k-means++" for round clusters
        that overlap: there is no gap between them that linkage could find.
    n_init : int or "auto", default="auto"
        Number of K-means runs, as in `KModes`. Not used with ``init="linkage"``.
    path_iter : int, default=30
        Maximum number of iterations at each intermediate bandwidth. K-means, and the whole path
        with ``smoothing=0``, have the default limits of `KModes`.
    max_iter : int, default=100
        Maximum number of iterations at the target bandwidth.
    tol : float, default=1e-4
        The iteration stops at a bandwidth if no mode moves by more than `tol` bandwidths.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found. "approximate" uses faiss (the extra
        ``modeclust[approximate]``). "auto" is exact, except for N dense rows of D > 15 features
        with N^2 D > 10^13 (300,000 rows of 110 features) if faiss is installed; then there is a
        warning. The neighbours of sparse rows are always exact.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds of K-means, the rows that are sampled to estimate a bandwidth, and
        approximate neighbours.
    n_jobs : int, default=None
        Number of threads. None means all cores, or ``OMP_NUM_THREADS`` if that is set. The result
        does not depend on it.
    store_labels : bool or "auto", default="auto"
        Whether `path_` stores the labels at every bandwidth. "auto" stores up to ten million.
    verbose : int, default=0
        If 1, print one line for each bandwidth.

    Attributes
    ----------
    assignments_ : ndarray of shape (n_samples, n_clusters)
        The share of each row in each cluster; rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        The cluster in which each row has its largest share. Ties go to the nearest center. With
        ``init="linkage"``, clusters are numbered by the size that they had at the start; of equal
        sizes, by the smallest value of the first feature in which these differ.
    modes_ : ndarray of shape (n_clusters, n_features)
        The mode of each cluster: its representative.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers at `bandwidth_`. Equal to `modes_` unless ``bandwidth="auto"``.
    mode_bandwidths_ : ndarray of shape (n_clusters,)
        The bandwidth of each mode.
    rows_averaged_ : ndarray of shape (n_clusters,)
        How many rows of its cluster each mode averages, as in `KModes`.
    smoothing_ : float
        The weight of the graph.
    objective_ : float
        The value that is maximised.
    objective_history_ : ndarray of shape (n_iterations,)
        Objective value after each iteration at the target bandwidth. It never decreases. With
        ``smoothing=0``, only the last value.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The graph.
    bandwidth_ : float
        The bandwidth of the centers.
    inertia_ : float
        Sum of ``q |x - c|^2``, where c is the center of the label of each row.
    n_clusters_ : int
        The number of clusters.
    cluster_suggestion_ : ClusterSuggestion or None
        What ``n_clusters="auto"`` has found, without labels. Otherwise None.
    counts_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    exemplar_indices_ : ndarray of shape (n_clusters,)
        The exemplar of each cluster: its row nearest to the mode. -1 if no row with this label has
        a positive weight.
    n_iter_ : int
        Number of iterations along the path.
    path_ : Path
        Modes, sizes and objective at every bandwidth, starting with the means of the initial
        clusters. The objective is divided by the sum of the weights. That of the means, and of the
        modes with bandwidths of their own, does not include the graph.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all are strings.

    See Also
    --------
    KModes : Each row is in the cluster of its nearest mode.

    Notes
    -----
    No cluster becomes empty: if the smoothing would remove one, its rows keep the assignments that
    they had at the last bandwidth.

    A row without neighbours, or with affinities that underflow, is in the cluster of its nearest
    center. If a given graph is not connected, each component is smoothed separately. A component
    that no kernel reaches keeps its initial labels, smoothed.

    Assignments are smoothed until a step increases the objective by less than about 1e-6 of its
    value. A fit needs about ten arrays of the size of the assignments. The largest smoothing,
    affinity and weight must each be between 1e-100 and 1e100.

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
    >>> model = LaplacianKModes(2).fit(X)
    >>> adjusted_rand_score(y, model.labels_)
    1.0
    """

    labels_: npt.NDArray[np.int32]
    assignments_: Doubles
    smoothing_: float
    objective_history_: Doubles
    affinity_: sparse.csr_array
    _neighborhood: Neighborhood
    _saved_types = (Path, Neighborhood, ClusterSuggestion)
    _required_attributes = (
        "path_",
        "smoothing_",
        "assignments_",
        "affinity_",
        "n_clusters_",
        "cluster_suggestion_",
        "modes_",
        "mode_bandwidths_",
        "rows_averaged_",
        "_neighborhood",
    )
    _needed_after_fit = ("kernel", "metric", "solver")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: constraint
            for name, constraint in CONSTRAINTS.items()
            if name != "mean_shift_iter"
        },
        **N_CLUSTERS,
        "smoothing": [
            Interval(Real, SMALLEST, LARGEST, closed="both"),
            Options(Real, {0}),
            StrOptions({"auto"}),
        ],
        "n_neighbors": [COUNT, StrOptions({"auto"})],
        "affinity": [StrOptions({"auto", "heat", "binary"}), "sparse matrix", "array-like"],
        "affinity_bandwidth": [FINITE, StrOptions({"local"}), None],
        "bandwidth": [FINITE, StrOptions({"auto"}), BandwidthRule()],
        "rows_per_mode": ROWS_PER_MODE,
        "init": [StrOptions({"linkage", "k-means++", "random"}), callable, "array-like"],
        "start_bandwidth": [FINITE, StrOptions({"auto"})],
        "n_bandwidths": [COUNT],
        "solver": [StrOptions(set(SOLVERS))],
        "neighbor_search": [StrOptions({"auto", "exact", "approximate"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        max_clusters: int = 40,
        smoothing: float | str = "auto",
        n_neighbors: int | str = "auto",
        affinity: Any = "auto",
        affinity_bandwidth: float | str | None = None,
        bandwidth: float | str = "auto",
        rows_per_mode: float | str = "auto",
        start_bandwidth: float | str = "auto",
        n_bandwidths: int = 10,
        kernel: str = "gaussian",
        metric: str = "euclidean",
        solver: str = "bound",
        init: Any = "linkage",
        n_init: int | str = "auto",
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
        self.max_clusters = max_clusters
        self.smoothing = smoothing
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.affinity_bandwidth = affinity_bandwidth
        self.bandwidth = bandwidth
        self.rows_per_mode = rows_per_mode
        self.start_bandwidth = start_bandwidth
        self.n_bandwidths = n_bandwidths
        self.kernel = kernel
        self.metric = metric
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
        """Find K clusters, their modes, and the share of each row in each cluster.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data. A copy is kept for `predict`.
        y : Ignored
            Not used. A model that was fitted to sparse rows with y has no `predict_proba`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows in the sum over kernels. They do not change the graph: a
            weight of 2 is not equivalent to repeating the row.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit_path(X, y, sample_weight)
        return self

    @of_clusters
    def predict_proba(self, X: Any) -> Doubles:
        """Return the share of each row in each cluster.

        It combines the mean assignments of the `n_neighbors` nearest rows of the fit, weighted by
        the affinities to them, with the kernel values of the centers. Far from all centers, only
        the neighbours count.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The assignments; rows sum to 1.
        """
        with self._open_new_data(X) as (dataset, centers, rescaling):
            return self._assignments(dataset, centers, rescaling)

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the cluster in which each row has its largest share, by `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels. Ties go to the nearest center.
        """
        with self._open_new_data(X) as (dataset, centers, rescaling):
            return hard_labels(dataset, centers, self._assignments(dataset, centers, rescaling))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fitted_attributes(self, record: Record) -> dict[str, Any]:
        attributes = super()._fitted_attributes(record)
        problem, labelled, modes = record.problem, record.labelled, attributes["path_"][-1]
        assert isinstance(problem, SoftProblem)
        assert labelled is not None
        labels = problem.dataset.labels() if labelled.labels is None else labelled.labels
        history = labelled.history or (problem.dataset.total_weight * labelled.objective,)
        return attributes | {
            "modes_": modes.centers.copy(),
            "mode_bandwidths_": modes.cluster_bandwidths.copy(),
            "rows_averaged_": modes.rows_averaged.copy(),
            "labels_": labels,
            "assignments_": _memberships(labelled, labels),
            "smoothing_": float(problem.smoothing),
            "objective_": history[-1],
            "objective_history_": np.array(history),
            "affinity_": problem.graph,
            "_neighborhood": problem.neighborhood,
        }

    def _attributes_at(self, labelled: State, last: State, problem: Problem) -> dict[str, Any]:
        assert isinstance(problem, SoftProblem)
        labels = problem.dataset.labels() if labelled.labels is None else labelled.labels
        modes = problem.rescaling.to_original(last.centers).astype(problem.dataset.dtype)
        return {
            **super()._attributes_at(labelled, last, problem),
            "modes_": modes,
            "assignments_": _memberships(labelled, labels),
            # During K-means it is not known yet, and rows are assigned to the nearest center.
            "smoothing_": 0.0 if isinstance(problem.smoothing, str) else problem.smoothing,
            "_neighborhood": problem.neighborhood,
        }

    @contextmanager
    def _open_new_data(self, X: Any) -> Iterator[tuple[MemoryDataset, Centers, Rescaling]]:
        """Open a dataset of new rows; yield it with the internal modes and the rescaling."""
        check_is_fitted(self)
        X = check_rows(X, estimator=self, reset=False)
        known, metric = self._neighborhood.X, self._fitted_with["metric"]
        if is_sparse(known) != is_sparse(X):
            X = sparse.csr_array(X) if is_sparse(known) else X.toarray()
        rescaling = Rescaling.of(known, metric=metric)
        centers = rescaling.to_internal(self.cluster_centers_.astype(np.float64))
        rows = rescaling.to_internal(in_memory(X, metric))
        with MemoryDataset(rows, n_clusters=len(centers), n_jobs=self.n_jobs) as opened:
            yield opened, centers, rescaling

    def _assignments(
        self, dataset: MemoryDataset, centers: Centers, rescaling: Rescaling
    ) -> Doubles:
        if self.smoothing_ == 0:
            assign(dataset, centers)
            return one_hot(dataset.labels(), len(centers))
        bandwidth = self.bandwidth_ / rescaling.scale
        values = log_kernel_values(dataset, centers, self._fitted_with["kernel"], bandwidth)
        affinities, log_sums = self._neighborhood.affinities(dataset.X, rescaling, self.n_jobs)
        mean = np.asarray(affinities @ self.assignments_)
        is_bound = self._fitted_with["solver"] == "bound"
        assignments = bound_assignments if is_bound else gradient_assignments
        return assignments(values, mean, log_sums, self.smoothing_)

    def _first_other_row(self, X: Any, indices: npt.NDArray[np.intp]) -> int | None:
        """Return the first of the rows at `indices` that differs from the same row of the fit."""
        metric = self._fitted_with["metric"]
        return first_unlike(X, indices, self._neighborhood.X, metric)

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        (size, width), n_rows = self.cluster_centers_.shape, len(self.labels_)
        yield from check_count(self, size)
        yield from check_path(self.path_, n_rows, size, width)
        yield from check_modes(self, size, width)
        smoothing: Any = self.smoothing_
        is_right = isinstance(smoothing, float) and 0 <= smoothing < np.inf
        yield "smoothing_", is_right, "a finite number >= 0"
        shares = self.assignments_
        is_right = is_array(shares, "f", n_rows, size) and bool((shares >= 0).all())
        is_right = is_right and bool(np.all(np.abs(shares.sum(axis=1) - 1) < 1e-6))
        expected = f"shares of shape {(n_rows, size)}, with rows that sum to 1"
        yield "assignments_", is_right, expected
        is_right = is_square(self.affinity_, n_rows)
        is_right = is_right and bool(np.isfinite(self.affinity_.data).all())
        yield "affinity_", is_right, f"sparse and finite, of shape {(n_rows, n_rows)}"
        known: Any = self._neighborhood
        is_right = isinstance(known, Neighborhood) and known.X.shape == (n_rows, width)
        yield "_neighborhood", is_right, f"rows of {width} features, one for each label"


def _memberships(state: State, labels: npt.NDArray[np.int32]) -> Doubles:
    if state.memberships is None:
        return one_hot(labels, len(state.centers))
    return state.memberships

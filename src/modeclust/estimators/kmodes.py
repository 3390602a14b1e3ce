"""K-modes: the estimator."""

import os
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
)

from modeclust._sklearn import StrOptions, fit_context, with_callbacks
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.data.reading import is_dask
from modeclust.data.validation import (
    check_rows,
    check_scales,
    check_store_labels,
    check_weights,
    original_rows,
)
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.estimators.confidence import Confidence, ConfidenceMixin, UnmeasuredConfidence
from modeclust.estimators.fit_path import BandwidthMixin
from modeclust.estimators.new_rows import NEEDED_FOR_ROWS
from modeclust.estimators.parameters import (
    BANDWIDTH,
    CONSTRAINTS,
    COUNT,
    N_CLUSTERS,
    POSITIVE,
    ROWS_PER_MODE,
)
from modeclust.estimators.partial_fit import PartialFitMixin
from modeclust.estimators.problem import CheckedInput, Problem, Record
from modeclust.estimators.redundancy import RedundancyMixin
from modeclust.estimators.reporting import ReportMixin
from modeclust.estimators.same_rows import first_elsewhere
from modeclust.estimators.saving import SavingMixin, check_count, check_modes, check_path
from modeclust.estimators.stability import StabilityMixin
from modeclust.kernels import KERNELS
from modeclust.path import Path
from modeclust.solvers.confidence import OutlierScale, Spread, Typical
from modeclust.solvers.kmodes import State
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.redundancy import density_ratios
from modeclust.solvers.streaming import SufficientStatistics


class KModes(
    ReportMixin,
    PartialFitMixin,
    RedundancyMixin,
    StabilityMixin,
    BandwidthMixin,
    ConfidenceMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    SavingMixin,
    BaseEstimator,
):
    r"""K-modes clustering: exactly K clusters, each with a mode of its own density.

    Maximises

    .. math:: L(R, C) = \sum_n q_n \sum_k r_{nk} G(\|x_n - c_k\|^2 / (\sigma s_n)^2)

    over assignments R and modes C, with sample weights q, local scales s (1 by default) and a
    kernel G. Each cluster has a kernel density of its own, and its mode is at a peak of that
    density. The fit starts from K-means, which solves the same problem at an infinite bandwidth,
    and lowers the bandwidth step by step. The results at all bandwidths are stored in `path_`.

    With ``bandwidth="auto"``, there are two stages, because no single bandwidth is good for both
    labels and modes. The first finds the labels: a start that far outliers cannot spoil, then
    K-modes down to the median distance of the rows to their centers. The second finds the modes:
    labels are frozen, and each cluster gets a bandwidth of its own, at which its mode averages
    `rows_per_mode` rows.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters K. "auto" chooses it by `suggest_clusters`, and warns if the answer
        is not sure.
    max_clusters : int, default=40
        The largest number of clusters that ``n_clusters="auto"`` tries.
    bandwidth : "auto", float or {"knn", "silverman", "scott", "likelihood"}, default="auto"
        "auto" chooses all bandwidths from the data, as described above. A number is the target of
        the algorithm of the paper, with one bandwidth for labels and modes; ``np.inf`` is plain
        K-means. A rule estimates this number from the data (`estimate_bandwidth`). It can have a
        factor: "knn/3" or "0.4*knn".
    rows_per_mode : float or "auto", default="auto"
        How many rows a mode averages, with ``bandwidth="auto"``. Fewer rows give modes with more
        detail and more noise; ``np.inf`` gives means. "auto" is the larger of 10 and twice the
        square root of the number of rows in the cluster, and at most 80% of them. A mode averages
        more if the density of its cluster has no peak of so few rows.
    reassign : bool, default=True
        Whether rows get new labels along the path. False keeps the labels and centers of K-means,
        and only moves the modes.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel. "epanechnikov" and "biweight" are 0 beyond one bandwidth from the mode.
    metric : {"euclidean", "cosine"}, default="euclidean"
        With "cosine", only the directions of rows count, as is usual for text and embeddings. Rows
        are brought to length 1 as they are read, and centers and modes have length 1 too. All
        distances, and so bandwidths, are those between points on the unit sphere, from 0 to 2:
        :math:`\|x - c\|^2 = 2 (1 - \cos(x, c))`.
    adaptive : bool, default=False
        Whether each row gets its own local scale: the distance to its 10th nearest neighbour,
        divided by the mean of these distances.
    n_bandwidths : int, default=20
        Number of bandwidths after K-means, including the target. Not used with
        ``bandwidth="auto"``.
    start_bandwidth : float or "auto", default="auto"
        The first of these bandwidths. "auto" starts where the centers of K-means hardly move. Not
        used with ``bandwidth="auto"``.
    path_iter : int, default=10
        Maximum number of iterations at each intermediate bandwidth, and for each batch of
        `partial_fit`. With ``bandwidth="auto"``, intermediate bandwidths have at most 3.
    max_iter : int, default=300
        Maximum number of iterations at the target bandwidth, and of each K-means run.
    mean_shift_iter : int, default=1
        Number of mode steps between two assignments.
    tol : float, default=1e-4
        The fit has converged if no label changes and no mode moves by more than `tol` bandwidths.
        With ``bandwidth="auto"``, the labels have converged if no center moves by more than 10
        `tol` bandwidths, even if some labels still change. K-means runs stop by the rule of
        scikit-learn with the same `tol`.
    half_life : float, default=np.inf
        For `partial_fit`: the weight of a row is halved after this many more rows, or after rows
        whose sample weights have this sum.
    init : {"k-means++", "random"}, callable or array-like, default="k-means++"
        How K-means is initialised, as in scikit-learn. An array has shape (n_clusters, n_features).
        A callable takes X, n_clusters and a random state, and returns such an array. If there are
        more than 4,096 rows, or 50 times `n_clusters` if that is more, seeds are drawn from a
        random sample of this many rows.
    n_init : int or "auto", default="auto"
        Number of K-means runs; the one with the lowest inertia starts the path. "auto" makes three
        runs on a sample of the rows, moves centers to where they lower the inertia, and makes one
        run on all rows from there. If `init` is a function, "auto" calls it three times. If it is
        an array, there is one run.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds of K-means, and the rows that are sampled to estimate a bandwidth.
    n_jobs : int, default=None
        Number of threads. None means all cores, or ``OMP_NUM_THREADS`` if that is set. The result
        does not depend on it.
    store_labels : bool or "auto", default="auto"
        Whether `path_` stores the labels at every bandwidth. "auto" stores up to ten million.
    checkpoint : str, path-like or None, default=None
        File in which progress is saved after each K-means run, each bandwidth and each level of the
        modes. If the file exists, the fit is resumed from it, with the same result as without
        interruption. A checkpoint of other data, other parameters or other chunks of a Dask
        collection is an error. `random_state` is compared only if it is a seed, and a callable
        `init` only by name. Use one file for one fit at a time. `partial_fit` uses it for the first
        batch only.
    keep_checkpoint : bool, default=False
        Whether the file is kept after the fit. The same call then returns at once.
    verbose : int, default=0
        If 1, print one line for each bandwidth and for each level of the modes.

    Attributes
    ----------
    modes_ : ndarray of shape (n_clusters, n_features)
        The mode of each cluster: its representative.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers that determine the labels: the modes at `bandwidth_`. Equal to `modes_` unless
        ``bandwidth="auto"`` or ``reassign=False``.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row: its nearest center. For a Dask collection, a lazy Dask array.
    bandwidth_ : float
        The bandwidth of the labels. With "auto", the median distance of the rows to their centers
        at the start. Infinite with ``reassign=False``: the labels are those of K-means.
    mode_bandwidths_ : ndarray of shape (n_clusters,)
        The bandwidth of each mode.
    rows_averaged_ : ndarray of shape (n_clusters,)
        How many rows each mode averages: (sum w)^2 / sum w^2, with the weights w of the mode step.
    objective_ : float
        L divided by the sum of the weights, between 0 and 1.
    inertia_ : float
        Sum of ``q |x - c|^2 / s^2``, which K-means minimises. Infinite if there are rows beyond
        1e154, whose squares overflow.
    n_iter_ : int
        Number of iterations along the path, including the K-means run that started it.
    n_clusters_ : int
        The number of clusters.
    cluster_suggestion_ : ClusterSuggestion or None
        What ``n_clusters="auto"`` has found, without labels. Otherwise None.
    counts_ : ndarray of shape (n_clusters,)
        Number of rows in each cluster.
    exemplar_indices_ : ndarray of shape (n_clusters,)
        The exemplar of each cluster: its row nearest to the mode. -1 if no row of the cluster has a
        positive weight.
    redundancy_ : csr_array of shape (n_clusters, n_clusters)
        For pairs of nearby centers: the lowest density of the rows of both clusters on the segment
        between the centers, divided by the lower of the two peaks. With at least 200,000 rows, and
        at least 2,000 for each cluster, only every n-th row is used. Empty at an infinite
        bandwidth.
    dip_significance_ : csr_array of shape (n_clusters, n_clusters)
        For the same pairs: the depth of this dip in standard deviations (`redundant_clusters`).
    outlier_scores_ : ndarray of shape (n_samples,)
        How unusual each row is in its cluster: `score_outliers` of the rows of the fit, measured
        at the first use, so do not change X before. For a Dask collection, a lazy Dask array.
    path_ : Path
        Modes, sizes and objective at every bandwidth: K-means, then centers, then modes.
    n_steps_ : int
        Number of batches seen: 1 after `fit`, plus 1 for each `partial_fit`.
    n_samples_seen_ : int
        Number of rows in all batches.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all are strings.

    See Also
    --------
    kmodes_path : The path over any bandwidths.
    estimate_bandwidth : The rules for the bandwidth.

    Notes
    -----
    A cluster that loses all its rows along the path keeps its mode, so there are always K modes. A
    warning lists such clusters.

    After `partial_fit`, the attributes that describe rows describe those of the last batch:
    `labels_`, `objective_`, `inertia_`, `counts_`, `exemplar_indices_`, `outlier_scores_` and
    `redundancy_`. `n_iter_` is the number of iterations for this batch, and `path_` has one or two
    points. `modes_` keep the bandwidths of the first batch; `rows_averaged_` has earlier rows too.

    References
    ----------
    Carreira-Perpiñán, M. Á. & Wang, W. (2013). The K-modes algorithm for clustering.
    arXiv:1304.6478. The objective is eq. (4), the mode step eq. (3).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from modeclust import KModes
    >>> X = load_digits().data
    >>> model = KModes(n_clusters=10, random_state=0).fit(X)
    >>> model.modes_.shape
    (10, 64)
    >>> len(model.path_)  # K-means, 8 bandwidths for labels, 8 levels of rows averaged
    17
    """

    _saved_types = (
        Path,
        SufficientStatistics,
        ClusterSuggestion,
        Confidence,
        Typical,
        Spread,
        OutlierScale,
    )
    _required_attributes = (
        "path_",
        "redundancy_",
        "n_steps_",
        "n_samples_seen_",
        "n_clusters_",
        "cluster_suggestion_",
        "modes_",
        "mode_bandwidths_",
        "rows_averaged_",
        "_confidence",
        "_statistics",
        "_mode_statistics",
        "_n_features_out",
    )
    _needed_after_fit = ("n_clusters", "bandwidth", "reassign", "kernel", "metric", "adaptive")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        **N_CLUSTERS,
        "bandwidth": BANDWIDTH,
        "rows_per_mode": ROWS_PER_MODE,
        "reassign": ["boolean"],
        "adaptive": ["boolean"],
        "n_bandwidths": [COUNT],
        "start_bandwidth": [POSITIVE, StrOptions({"auto"})],
        "half_life": [POSITIVE],
        "checkpoint": [str, os.PathLike, None],
        "keep_checkpoint": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        max_clusters: int = 40,
        bandwidth: float | str = "auto",
        rows_per_mode: float | str = "auto",
        reassign: bool = True,
        kernel: str = "gaussian",
        metric: str = "euclidean",
        adaptive: bool = False,
        n_bandwidths: int = 20,
        start_bandwidth: float | str = "auto",
        path_iter: int = 10,
        max_iter: int = 300,
        mean_shift_iter: int = 1,
        tol: float = 1e-4,
        half_life: float = np.inf,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        store_labels: bool | str = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        keep_checkpoint: bool = False,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.bandwidth = bandwidth
        self.rows_per_mode = rows_per_mode
        self.reassign = reassign
        self.kernel = kernel
        self.metric = metric
        self.adaptive = adaptive
        self.n_bandwidths = n_bandwidths
        self.start_bandwidth = start_bandwidth
        self.path_iter = path_iter
        self.max_iter = max_iter
        self.mean_shift_iter = mean_shift_iter
        self.tol = tol
        self.half_life = half_life
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.store_labels = store_labels
        self.checkpoint = checkpoint
        self.keep_checkpoint = keep_checkpoint
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, sample_scale: Any = None
    ) -> Self:
        """Find K clusters and their modes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data. Float32 stays float32, CSR stays sparse, and `np.memmap` is read in blocks. A
            Dask array, of dense or CSR chunks, or a Dask frame is processed chunk by chunk on its
            workers.
        y : Ignored
            Not used. A model that was fitted to sparse rows with y has no `predict_proba`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows. An integer weight w is equivalent to repeating the row w
            times, also for the rule that estimates the bandwidth.
        sample_scale : array-like of shape (n_samples,), default=None
            Scales s > 0 that multiply the bandwidth at each row. Not with ``adaptive=True``.

        Returns
        -------
        self
            The fitted estimator.
        """
        checkpoint = None if self.checkpoint is None else Checkpoint.of(self)
        self._fit_path(X, y, sample_weight, sample_scale, checkpoint)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_input(self, X: Any, sample_weight: Any, sample_scale: Any) -> CheckedInput:
        X = check_rows(X, estimator=self, min_rows=2, chunked=True, metric=self.metric)
        check_store_labels(self.store_labels, X)
        weight = check_weights(sample_weight, X)
        scale = check_scales(sample_scale, X, adaptive=self.adaptive)
        self._check_start(self.bandwidth)
        return CheckedInput(X, weight, scale)

    def _solver_options(self, kernel: str) -> SolverOptions:
        return SolverOptions(
            KERNELS[kernel],
            self.path_iter,
            self.max_iter,
            self.mean_shift_iter,
            self.tol,
            self.reassign,
        )

    def _fitted_attributes(self, record: Record) -> dict[str, Any]:
        attributes = super()._fitted_attributes(record)
        problem, dataset, labelled = record.problem, record.problem.dataset, record.labelled
        assert labelled is not None
        centers, modes = attributes["cluster_centers_"], attributes["path_"][-1]
        confidence: Any = UnmeasuredConfidence(
            X=getattr(dataset, "X", None),  # those of Dask are read again, chunk by chunk
            pool=problem.pool,
            count_per_weight=problem.count_per_weight,
            centers=labelled.centers,
            rescaling=problem.rescaling,
            n_threads=problem.n_threads,
            found=self._confidence.typical if problem.pool is None else None,  # a later batch
        )
        if dataset.stores_labels:
            labels = dataset.labels()
        else:
            needed = {name: attributes[name] for name in NEEDED_FOR_ROWS}
            labels = self._map_chunks(problem.X, "predict", needed)
            needed["_confidence"] = Confidence(confidence.typical)
            scores = self._map_chunks(problem.X, "score_outliers", needed)
            confidence = Confidence(confidence.typical, scores)
        last, separate = record.states[-1], record.n_labelled < len(record.states)
        return attributes | {
            "modes_": modes.centers.copy(),
            "mode_bandwidths_": modes.cluster_bandwidths.copy(),
            "rows_averaged_": modes.rows_averaged.copy(),
            "labels_": labels,
            "_confidence": confidence,
            "objective_": labelled.objective,
            "redundancy_": density_ratios(dataset, labelled, problem.options.kernel),
            "n_steps_": 1,
            "n_samples_seen_": dataset.n_rows,
            "_statistics": problem.statistics(labelled),
            "_mode_statistics": problem.statistics(last) if separate else None,
            "_n_features_out": len(centers),
        }

    def _attributes_at(self, labelled: State, last: State, problem: Problem) -> dict[str, Any]:
        attributes = super()._attributes_at(labelled, last, problem)
        modes = problem.rescaling.to_original(last.centers).astype(problem.dataset.dtype)
        return attributes | {"modes_": modes, "_n_features_out": len(modes)}

    def _first_other_row(self, X: Any, indices: npt.NDArray[np.intp]) -> int | None:
        """Return the first row among `indices` that does not match its label, or None.

        The rows of a Dask collection are not read again: the result is None.
        """
        if is_dask(original_rows(X)):
            return None
        labels, metric = np.asarray(self.labels_[indices]), self._fitted_with["metric"]
        return first_elsewhere(X, indices, labels, self.cluster_centers_, metric)

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        size, width = self.cluster_centers_.shape
        yield from check_count(self, size)
        yield from check_path(self.path_, len(self.labels_), size, width)
        yield "_n_features_out", self._n_features_out == size, f"{size}"
        yield from check_modes(self, size, width)

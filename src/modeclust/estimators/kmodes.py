"""K-modes: the estimator."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from modeclust.dask_input import as_array
from modeclust.data.dask.chunks import Chunks, is_dask
from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.reading import working_dtype
from modeclust.data.rescaling import Rescaling
from modeclust.estimators.bandwidth import resolve_bandwidth
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.estimators.decorators import available_if, fit_context, with_callbacks
from modeclust.estimators.following import PathFollower
from modeclust.estimators.open_dataset import open_dataset, rescaling_for
from modeclust.estimators.problem import Problem, Record
from modeclust.estimators.reporting import ReportMixin
from modeclust.estimators.same_rows import check_same_rows, first_elsewhere
from modeclust.estimators.saving import SavingMixin
from modeclust.estimators.scaling import Scaling
from modeclust.kernels import KERNELS
from modeclust.path import Path
from modeclust.solvers.redundancy import density_ratios, redundant_pairs, representatives
from modeclust.solvers.solve import Centers, assign, inverse_square
from modeclust.solvers.streaming import SufficientStatistics
from modeclust.validation import (
    CONSTRAINTS,
    COUNT,
    POSITIVE,
    BandwidthRule,
    check_rows,
    check_scales,
    check_store_labels,
    check_weights,
    relative_scales,
)

# By how much centroids are smaller than the bandwidth that are all but 0.
VANISHING = 1e100


def _takes_batches(model: "KModes") -> bool:
    """Refuse `partial_fit` of an adaptive model."""
    if model.adaptive:
        raise AttributeError(
            "partial_fit needs adaptive=False: the scale of a row is its distance to neighbours "
            "among all rows, which a batch does not have. Pass sample_scale instead."
        )
    return True


class KModes(
    ReportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    PathFollower,
    SavingMixin,
    BaseEstimator,
):
    r"""K-modes clustering: exactly K clusters, and a mode of its own density for each.

    Maximises

    .. math:: L(R, C) = \sum_n q_n \sum_k r_{nk} G(\|x_n - c_k\|^2 / (\sigma s_n)^2)

    over assignments R and centroids C, with sample weights q, local scales s (1 by default) and
    a kernel G: each cluster has a kernel density of its own, and its centroid sits on a peak
    of it. It starts from the best of `n_init` K-means runs, which is the same problem at an
    infinite bandwidth, and lowers the bandwidth to the target. What it finds on the way is
    kept in `path_`.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters K.
    bandwidth : float or {"knn", "silverman", "scott", "likelihood"}, default="knn"
        The target bandwidth, or a rule that estimates it (`estimate_bandwidth`), or a part of
        what a rule gives: "knn/3" is a third. ``np.inf`` is plain K-means.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel. "epanechnikov" and "biweight" end at one bandwidth from the centroid.
    adaptive : bool, default=False
        Give each point a scale of its own: the distance to its 10th neighbour over the mean
        such distance.
    n_bandwidths : int, default=20
        Number of bandwidths after K-means, target included.
    start_bandwidth : float or "auto", default="auto"
        The first of them. "auto" starts where the K-means centroids are still nearly still.
    path_iter : int, default=10
        Most iterations at each bandwidth on the way, and for each batch of `partial_fit`.
    max_iter : int, default=300
        Most iterations at the target, and of each K-means run.
    mean_shift_iter : int, default=1
        Mode steps between two assignments.
    tol : float, default=1e-4
        The target is reached when no label changes and no centroid moves farther than `tol`
        bandwidths. K-means runs stop by scikit-learn's rule with the same `tol`.
    half_life : float, default=np.inf
        For `partial_fit`: rows weigh half as much when this many more have come, or sample
        weights of this sum.
    init : {"k-means++", "random"}, callable or array-like, default="k-means++"
        Where K-means starts, as in scikit-learn; an array has shape (n_clusters, n_features). A
        callable takes X, n_clusters and a random state and returns such an array. Seeds are
        drawn from at most 4,096 rows (50 times `n_clusters`, where that is more), which are
        a random sample of larger data.
    n_init : int, default=10
        Number of K-means runs, of which the one of least inertia is followed; one if `init` is
        an array.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds, and the rows sampled to estimate a bandwidth.
    n_jobs : int, default=None
        Number of threads: None is all cores, or ``OMP_NUM_THREADS`` where that is set. Any
        number gives the same bits.
    store_labels : bool or "auto", default="auto"
        Whether `path_` keeps the labels at every bandwidth; "auto" does up to ten million.
    checkpoint : str, path-like or None, default=None
        A file to write how far the fit has come to, after each restart and bandwidth. Where it
        is there already, the fit goes on from it and ends with the same bits; one of other
        data or parameters, or of other chunks of a Dask collection, is refused. Of
        `random_state` only a seed is compared, and of a callable `init` its name. One file is
        for one fit at a time. `partial_fit` uses it for the first batch, which is a fit, and
        not for others.
    keep_checkpoint : bool, default=False
        Whether the checkpoint stays when the fit is done; the same call then returns at once.
    verbose : int, default=0
        With 1, print one line for each bandwidth.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The modes.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; of a Dask collection, a Dask array that is not computed yet.
    bandwidth_ : float
        The bandwidth at the end of the path.
    objective_ : float
        L over the sum of the weights, between 0 and 1.
    inertia_ : float
        Sum of ``q |x - c|^2 / s^2``: at an infinite bandwidth, what K-means minimises. Infinite
        where rows are beyond 1e154, whose squares are no numbers.
    n_iter_ : int
        Number of iterations along the path, without those of K-means restarts that lost.
    counts_ : ndarray of shape (n_clusters,)
        Number of rows in each cluster.
    exemplar_indices_ : ndarray of shape (n_clusters,)
        The row nearest to each centroid within its cluster; -1 where the cluster has no row, or
        none of positive weight.
    redundancy_ : csr_array of shape (n_clusters, n_clusters)
        For pairs of nearby modes, the lowest density of their points on the way from one to the
        other, over the lower of their peaks; see `redundant_clusters`. Empty at an infinite
        bandwidth.
    path_ : Path
        Centroids, sizes and objective at every bandwidth, K-means first.
    n_steps_ : int
        Number of batches seen: 1 after `fit`, and one more with each `partial_fit`.
    n_samples_seen_ : int
        Number of rows in all of them.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all are strings.
    scaling_ : Scaling
        What scales rows before they are passed. Only in a model that ``modeclust fit
        --standardize`` wrote, until it is fitted anew.

    See Also
    --------
    kmodes_path : The path over any bandwidths.
    estimate_bandwidth : The rules for the bandwidth.

    Notes
    -----
    A cluster that loses all its points along the path keeps its centroid, so that K modes
    always come back; a warning names it.

    After `partial_fit`, what is said of rows is said of those of the last batch: `labels_`,
    `objective_`, `inertia_`, `counts_`, `exemplar_indices_` and `redundancy_`, all at the modes
    after it. `n_iter_` is the iterations that it took, and `path_` has one point.

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
    >>> model.cluster_centers_.shape
    (10, 64)
    >>> len(model.path_)
    21
    """

    _saved_types = (Path, SufficientStatistics, Scaling)
    _needed_after_fit = ("n_clusters", "bandwidth", "kernel", "adaptive")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "bandwidth": [POSITIVE, BandwidthRule()],
        "adaptive": ["boolean"],
        "n_bandwidths": [COUNT],
        "start_bandwidth": [POSITIVE, StrOptions({"auto"})],
        "half_life": [POSITIVE],
        "checkpoint": [str, os.PathLike, None],
        "keep_checkpoint": ["boolean"],
        "verbose": ["verbose"],
    }
    n_steps_: int
    n_samples_seen_: int
    _statistics: SufficientStatistics  # of all rows so far, for `partial_fit`

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        bandwidth: float | str = "knn",
        kernel: str = "gaussian",
        adaptive: bool = False,
        n_bandwidths: int = 20,
        start_bandwidth: float | str = "auto",
        path_iter: int = 10,
        max_iter: int = 300,
        mean_shift_iter: int = 1,
        tol: float = 1e-4,
        half_life: float = np.inf,
        init: Any = "k-means++",
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        store_labels: bool | str = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        keep_checkpoint: bool = False,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.bandwidth = bandwidth
        self.kernel = kernel
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
            The data. Float32 stays float32; CSR stays sparse; `np.memmap` is read in blocks. A
            Dask array, of dense or CSR chunks, or frame is gone over where its chunks are.
        y : Ignored
            Not used, present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows. A whole number is the row that many times, also for the
            rule that estimates the bandwidth.
        sample_scale : array-like of shape (n_samples,), default=None
            Scales s > 0 that multiply the bandwidth at each row; not with ``adaptive=True``.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._begin(X, y, sample_weight, sample_scale)
        return self

    @available_if(_takes_batches)
    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, sample_scale: Any = None
    ) -> Self:
        r"""Go on with a batch of rows, which need not be kept.

        The first batch is fitted as by `fit`, and must have `n_clusters` distinct rows. It sets
        the bandwidth for good; a larger one gives a better start and a better estimate.
        After `fit`, the first batch is the data of that. Each later batch moves the
        modes. Its size matters little, and one row will do.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch.
        y : Ignored
            Not used, present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows, on one scale for all batches.
        sample_scale : array-like of shape (n_samples,), default=None
            Scales s > 0 that multiply the bandwidth at each row, on one scale for all batches.
            With ``adaptive=True`` there is no `partial_fit`: those scales come from all rows.

        Returns
        -------
        self
            The estimator; see the notes of the class for what its attributes then are.

        Notes
        -----
        Of all rows before, only the sums of the mode step are kept: for each cluster
        :math:`M_k = \sum_n w_n` and :math:`S_k = \sum_n w_n x_n`, with the weight
        :math:`w_n = q_n g(\|x_n - c_k\|^2 / (\sigma s_n)^2) / s_n^2` of a row at the centroid as
        it was after its own batch. A batch is fitted together with these sums, discounted by a
        factor f: up to `path_iter` times, its rows B are assigned to their nearest centroids, and

        .. math:: c_k = \frac{f S_k + \sum_{n \in B_k} w_n x_n}{f M_k + \sum_{n \in B_k} w_n}

        with w at the centroids just before. Then its own sums are added to :math:`f M_k` and
        :math:`f S_k`. Profiles are convex, so that the sums stand for a lower bound on the
        objective of the rows before, and no iteration lowers the objective of the batch plus
        that bound. With ``bandwidth=np.inf`` it is on-line K-means.

        The bound belongs to the centroids as they were then; the factor makes it fade. When m
        rows come after n,

        .. math:: f = \min\{(n / (n + m))^2, 2^{-m / \mathrm{half\_life}}\}

        so that batches of other sizes give about the same, and a row of weight 2 counts as two.
        Without a half-life, row i of n weighs :math:`(i / n)^2`: on a shuffled stream the modes
        converge to those of `fit`. With one, they follow clusters that move, from the last
        1.44 half-lives or so, and stay as uncertain as a fit of about twice so many rows. A
        cluster that gets no more rows keeps its centroid while its sums fade, until rows come to
        it again.

        Measured after one pass over a shuffled stream in 100 batches, as the distance to the
        modes that K-modes on all rows reaches from those of the first batch: at most 0.05
        bandwidths on iris 100 times, the digits 10 times, and 20,000 rows of blobs in 2 and in
        16 dimensions, at the bandwidth of the first batch; on 20,000 images of MNIST, begun with
        a tenth of them, at most 0.13, and 0.03 in the median.

        How fast it converges depends on the bandwidth: an error shrinks as
        :math:`n^{-3 (1 - r)}`, where r is by how much a mode step shrinks it, and modes are
        :math:`1 / (1 - r)` times 1.44 half-lives behind clusters that move. For a round cluster of
        standard deviation d and the gaussian kernel :math:`r = d^2 / (d^2 + \sigma^2)`: where the
        bandwidth is a fraction of the width of the clusters, a stream is slow, and begins better
        with a large batch. The rule "knn" gives a smaller bandwidth for more rows: for one that
        suits the whole stream, pass a number.

        References
        ----------
        Mairal, J. (2013). Stochastic majorization-minimization algorithms for large-scale
        optimization. Advances in Neural Information Processing Systems 26.

        Cappé, O. & Moulines, E. (2009). On-line expectation-maximization algorithm for latent
        data models. Journal of the Royal Statistical Society B 71, 593-613.

        Examples
        --------
        >>> import numpy as np
        >>> from modeclust import KModes
        >>> rng = np.random.default_rng(0)
        >>> model = KModes(2, bandwidth=1.0, half_life=100, random_state=0)
        >>> for step in range(100):
        ...     middles = np.array([[0.0, 0.0], [10.0, 0.05 * step]])  # the second one moves
        ...     batch = rng.normal(middles[rng.integers(2, size=50)])
        ...     model = model.partial_fit(batch)
        >>> model.n_samples_seen_
        5000
        >>> bool(abs(model.cluster_centers_[:, 1].max() - 4.95) < 1)
        True
        """
        if is_dask(X):
            raise TypeError(
                "partial_fit takes batches in memory, got a Dask collection; pass it to fit, or "
                "its chunks one by one."
            )
        if hasattr(self, "_statistics"):
            self._go_on(X, sample_weight, sample_scale)
        else:
            self._begin(X, y, sample_weight, sample_scale)
        return self

    def predict(self, X: Any) -> Any:
        """Return the nearest mode of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels; a Dask array of them, not computed yet, for a Dask collection.
        """
        if is_dask(X):
            check_is_fitted(self)
            return self._lazily(as_array(X, estimator=self, reset=False), "predict")
        with self._measure(X) as (dataset, centroids, _):
            assign(dataset, centroids)
            return dataset.labels()

    def transform(self, X: Any) -> Any:
        """Return the distance of each row to each mode.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The distances; a Dask array of them, not computed yet, for a Dask collection.
        """
        if is_dask(X):
            check_is_fitted(self)
            return self._lazily(as_array(X, estimator=self, reset=False), "transform")
        with self._measure(X) as (dataset, centroids, rescaling):
            distances = dataset.distances(centroids)
            if not rescaling.is_identity:
                with np.errstate(over="ignore"):
                    distances *= dataset.dtype.type(rescaling.scale)
        if np.isinf(distances.max()):
            raise ValueError(
                "X must hold smaller numbers: distances to the modes are beyond all of its type."
            )
        return distances

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, sample_scale: Any = None
    ) -> float:
        """Return the objective of the modes on `X`, over the sum of its weights.

        It is the mean kernel value at each row's nearest mode, between 0 and 1. It grows with
        the bandwidth, up to 1 at an infinite one, and with the number of modes, and so can
        choose neither.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.
        y : Ignored
            Not used, present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales of the rows; 1 by default, also for an adaptive fit.

        Returns
        -------
        float
            The mean objective.
        """
        with self._measure(X, sample_weight, sample_scale) as (dataset, centroids, rescaling):
            inverse = inverse_square(self.bandwidth_ / rescaling.scale)
            sums = dataset.run(ModePass(centroids, self._fitted_kernel, inverse))
        return float(sums.mean_objective())

    def redundant_clusters(self, threshold: float = 0.9) -> list[tuple[int, int]]:
        """Return pairs of clusters between whose modes the density does not dip.

        Two clusters are redundant where the lowest density of their pooled points on the
        segment between their modes is above `threshold` times the lower of the two
        peaks. A few such pairs mean that K is too large; very many, that the bandwidth is: the
        density of all points then has few peaks.

        Parameters
        ----------
        threshold : float, default=0.9
            Between 0 and 1; higher allows less of a dip.

        Returns
        -------
        list of tuple of int
            Pairs (i, j) with i < j, the most redundant first.
        """
        check_is_fitted(self)
        if not (isinstance(threshold, Real) and 0 <= threshold <= 1):
            raise ValueError(f"threshold must be a number between 0 and 1, got {threshold!r}.")
        if np.isinf(self.bandwidth_):
            raise ValueError(
                "redundant_clusters compares densities and needs a finite bandwidth; this "
                "model was fitted with bandwidth=np.inf."
            )
        return redundant_pairs(self.redundancy_, threshold)

    def merge_redundant(
        self,
        X: Any,
        *,
        threshold: float = 0.9,
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> Self:
        """Return a new model in which redundant clusters are one.

        Of each group of clusters that are redundant with one another, the mode of the largest
        is kept, and K-modes runs again from the modes kept, at this model's bandwidth; and so on
        until no two clusters are redundant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that the model was fitted on.
        threshold : float, default=0.9
            As in `redundant_clusters`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales of the rows.

        Returns
        -------
        KModes
            A fitted model with as many clusters as are left; this one if none is redundant.

        Notes
        -----
        `path_` of the new model has one point: it begins at the modes kept, and not with K-means.
        Its `init` is these modes, from which `fit` would run K-means first: a clone of it that
        is fitted to the same rows may find other clusters.
        """
        model, pairs = self, self.redundant_clusters(threshold)
        check_same_rows(self, check_rows(X, estimator=self, reset=False, chunked=True))
        while pairs:
            kept = representatives(pairs, model.counts_)
            model = model._refit(X, kept, sample_weight, sample_scale)
            pairs = model.redundant_clusters(threshold)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _begin(self, X: Any, y: Any, sample_weight: Any, sample_scale: Any) -> None:
        """Fit the rows, and forget all before."""
        checkpoint = Checkpoint.of(self)
        X = check_rows(X, estimator=self, min_rows=2, chunked=True)
        if hasattr(self, "scaling_"):
            del self.scaling_  # of rows that a model which was loaded had seen
        rng = checkpoint.generator(self.random_state)
        with self._open(X, sample_weight, sample_scale, rng, checkpoint) as (problem, target):
            record = self._follow(problem, target, rng, y, checkpoint)
        checkpoint.end()
        record.warn(stacklevel=6, stopped=len(record.states) <= self._n_steps(target))

    def _go_on(self, X: Any, sample_weight: Any, sample_scale: Any) -> None:
        """Fit a batch together with what is kept of the rows before."""
        self._check_unchanged()
        statistics, n_steps, n_seen = self._statistics, self.n_steps_, self.n_samples_seen_
        with self._measure(X, sample_weight) as (dataset, centroids, rescaling):
            scale = check_scales(sample_scale, dataset.X)
            if scale is not None or statistics.scale != 1.0:
                dataset.set_scale(relative_scales(scale, statistics.scale, dataset.n_rows))
            problem = Problem(
                dataset.X,
                dataset,
                rescaling,
                pool=dataset.take(np.empty(0, dtype=np.int64)),  # no seeds are drawn
                kernel=self._fitted_kernel,
                path_iter=self.path_iter,
                max_iter=self.max_iter,
                mean_shift_iter=self.mean_shift_iter,
                tol=self.tol,
                mean_scale=statistics.scale,
            )
            bandwidth = float(problem.bandwidth_to_internal(self.bandwidth_))
            state, statistics = problem.update(statistics, bandwidth, self.half_life)
            record = Record.begin(problem, len(centroids), self.store_labels, 1)
            record.add(state)
            self._store(record)
        self._statistics = statistics
        self.n_steps_ = n_steps + 1
        self.n_samples_seen_ = n_seen + len(self.labels_)

    @contextmanager
    def _open(
        self,
        X: Any,
        sample_weight: Any,
        sample_scale: Any,
        rng: np.random.RandomState,
        checkpoint: Checkpoint,
    ) -> Iterator[tuple[Problem, float]]:
        """Check what `check_rows` has not, and open the problem with its target bandwidth."""
        check_store_labels(self.store_labels, X)
        weight = check_weights(sample_weight, X)
        scale = check_scales(sample_scale, X, adaptive=self.adaptive)
        self._check_start(self.bandwidth)
        with Problem.opened(
            X,
            n_clusters=self.n_clusters,
            init=self.init,
            kernel=self.kernel,
            weight=weight,
            n_jobs=self.n_jobs,
            rng=rng,
            path_iter=self.path_iter,
            max_iter=self.max_iter,
            mean_shift_iter=self.mean_shift_iter,
            tol=self.tol,
        ) as problem:
            problem.set_scale(scale)
            self._check_internal_bandwidths(problem)
            checkpoint.resume(problem)
            target, local = checkpoint.target or (self.bandwidth, None)
            if local is None:
                # A seed draws what `estimate_bandwidth` does; a generator draws on.
                has_seed = isinstance(self.random_state, Integral)
                target, local = resolve_bandwidth(
                    problem.rescaling,
                    problem.dataset
                    if isinstance(problem.dataset, DaskDataset)
                    else problem.dataset.X,
                    weight,
                    target,
                    local=self.adaptive,
                    random_state=self.random_state if has_seed else rng,
                    n_jobs=self.n_jobs,
                )
            checkpoint.target = float(target), local
            self._check_start(target)
            problem.set_scale(local)
            yield problem, float(problem.bandwidth_to_internal(target))

    def _store(self, record: Record) -> None:
        """Set the fitted attributes, all from the last state of the path."""
        problem = record.problem
        record.round_last()
        self.path_ = record.path(getattr(self, "feature_names_in_", None))
        last, point = record.states[-1], self.path_[-1]
        self.cluster_centers_ = point.centers.copy()
        is_chunked = isinstance(problem.dataset, DaskDataset)
        self.labels_ = (
            self._lazily(problem.X, "predict") if is_chunked else problem.dataset.labels()
        )
        self.bandwidth_ = point.bandwidth
        self.objective_ = point.objective
        self.inertia_ = point.inertia
        self.counts_ = point.counts.copy()
        self.n_iter_ = int(self.path_.n_iter.sum())
        self.exemplar_indices_ = last.nearest
        self.redundancy_ = density_ratios(problem.dataset, last, problem.kernel)
        self.n_steps_ = 1
        self.n_samples_seen_ = problem.dataset.n_rows
        self._statistics = problem.statistics(last)
        self._n_features_out = len(self.cluster_centers_)
        self._fitted_with = self._parameters_needed()

    @property
    def _fitted_kernel(self) -> int:
        return KERNELS[self._fitted_with["kernel"]]

    def _check_unchanged(self) -> None:
        """Refuse parameters that the first batch has settled, and that are others now."""
        for name, settled in self._fitted_with.items():
            value = getattr(self, name)
            if value != settled and not (name == "bandwidth" and value == self.bandwidth_):
                raise ValueError(
                    f"{name} must stay {settled!r}, as in the first batch, got {value!r}; set it "
                    "back, or call fit to begin anew."
                )

    @contextmanager
    def _measure(
        self, X: Any, sample_weight: Any = None, sample_scale: Any = None
    ) -> Iterator[tuple[Any, Centers, Rescaling]]:
        """Open a dataset of new rows; yield it with the rescaled centroids and the rescaling."""
        check_is_fitted(self)
        X = check_rows(X, estimator=self, reset=False, chunked=True)
        rescaling = self._rescaling_for(X)
        with open_dataset(
            X,
            rescaling,
            weight=check_weights(sample_weight, X),
            scale=check_scales(sample_scale, X),
            n_clusters=len(self.cluster_centers_),
            n_jobs=self.n_jobs,
        ) as dataset:
            yield (
                dataset,
                rescaling.to_internal(self.cluster_centers_.astype(np.float64)),
                rescaling,
            )

    def _rescaling_for(self, X: Any) -> Rescaling:
        """Return the rescaling for new rows: that of the centroids, so that no outlier changes it.

        Centroids that are all but 0 say nothing of how large rows are.
        """
        centers = self.cluster_centers_
        are_sparse = X.stats.is_sparse if isinstance(X, Chunks) else sparse.issparse(X)
        rescaling = Rescaling.of(sparse.csr_array(centers) if are_sparse else centers)
        size = float(np.abs(rescaling.to_internal(centers)).max())
        bandwidth = getattr(self, "bandwidth_", np.inf) / rescaling.scale
        if size == 0 or size * VANISHING < bandwidth < np.inf:
            return rescaling_for(X, self.n_jobs)
        return rescaling

    def _lazily(self, array: Any, method: str) -> Any:
        """Return what a method gives for the rows of a Dask array, as one."""
        bare = clone(self).set_params(n_jobs=1).set_output(transform="default")
        bare.cluster_centers_ = self.cluster_centers_
        bare.n_features_in_ = self.n_features_in_
        n_clusters = len(self.cluster_centers_)
        if method == "predict":
            empty: Any = np.empty(0, dtype=np.int32)
            return array.map_blocks(_of_chunk, bare.predict, empty, drop_axis=1, meta=empty)
        empty = np.empty((0, n_clusters), dtype=working_dtype(array.dtype))
        chunks = (array.chunks[0], (n_clusters,))
        return array.map_blocks(_of_chunk, bare.transform, empty, chunks=chunks, meta=empty)

    def _first_other_row(self, X: Any, indices: npt.NDArray[np.intp]) -> int | None:
        """Return the first of the rows at `indices` that cannot have the label it got in the fit.

        Of a Dask collection None, which would be read once more.
        """
        if isinstance(X, Chunks) or is_dask(X):
            return None
        return first_elsewhere(X, indices, np.asarray(self.labels_[indices]), self.cluster_centers_)

    def _refit(
        self, X: Any, kept: npt.NDArray[np.intp], sample_weight: Any, sample_scale: Any
    ) -> Self:
        """Return a model with the clusters `kept`, run again at this model's bandwidth."""
        centers = self.cluster_centers_[kept].astype(np.float64)
        model: Self = clone(self).set_params(**self._fitted_with)
        model.set_params(
            n_clusters=len(kept), init=centers, bandwidth=self.bandwidth_, start_bandwidth="auto"
        )
        X = check_rows(X, estimator=model, min_rows=2, chunked=True)
        rng = check_random_state(self.random_state)
        with model._open(X, sample_weight, sample_scale, rng, Checkpoint()) as (problem, target):
            record = Record.begin(problem, len(kept), self.store_labels, 1)
            for state in problem.follow(problem.rescaling.to_internal(centers), np.array([target])):
                record.add(state)
            model._store(record)
        record.warn(stacklevel=4)
        return model


def _of_chunk(part: Any, method: Any, empty: Any) -> Any:
    """Return what a method gives for the rows of a chunk, of which there may be none."""
    return method(part) if part.shape[0] else empty

"""How sure the labels of a fitted model are, and which rows are outliers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from modeclust import _core
from modeclust.data.dask.chunks import as_array
from modeclust.data.memory import MemoryDataset, thread_count
from modeclust.data.reading import Doubles, core_rows, is_dask
from modeclust.data.rescaling import Rescaling
from modeclust.data.sample import Sample
from modeclust.data.validation import check_rows, rescaling_for_new
from modeclust.estimators.kernel_density import OpenKernelDensity
from modeclust.estimators.new_rows import NewRowsMixin
from modeclust.estimators.parameters import of_clusters
from modeclust.estimators.saving import SavingMixin, are_rows
from modeclust.io.model_file import is_array
from modeclust.solvers.confidence import (
    OutlierScale,
    Spread,
    Typical,
    measure_typical,
    outlier_scores,
    small_clusters,
)
from modeclust.solvers.kmodes import Centers, assign


class ConfidenceMixin(NewRowsMixin, SavingMixin):
    """Adds `predict_proba` and `score_outliers` to an estimator that assigns the nearest center."""

    labels_: Any
    _confidence: "Confidence | UnmeasuredConfidence"

    @property
    def outlier_scores_(self) -> Any:
        """How unusual each row of the fit is in its cluster: its `score_outliers`."""
        check_is_fitted(self, "_confidence")
        return self._confidence.scores

    @of_clusters
    def predict_proba(self, X: Any) -> Any:
        r"""Return how much each row belongs to each cluster.

        The share of cluster k is

        .. math:: p_k(x) \propto \exp\left(-\frac{d \, \|x - c_k\|^2}{2 r^2}\right)

        with the centers c, the median distance r of the rows of the fit to their centers, and the
        number of dimensions d in which clusters of this kind vary. The largest share is that of
        `predict`. A low one means that the row is between clusters. It does not mean that the row
        is far from all of them: see `score_outliers`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The shares; rows sum to 1. For a Dask collection, a lazy Dask array.

        Notes
        -----
        The clusters count as round Gaussians of equal size and weight, whatever the kernel is.
        Kernels with compact support are 0 at most centers, and clusters with their own radii would
        contradict `predict`, without telling better which rows are unsure.

        In d dimensions, the cube roots of squared distances, divided by their median, have the
        standard deviation s = sqrt(2 / (9 d)). So d = 2 / (9 s^2), between 1 and the number of
        features. With all features for d, nearly all shares would be 0 or 1.

        The columns are clusters, not the classes of a y that ``fit(X, y)`` ignores. A model that
        was fitted to sparse rows with y does not have this method: scikit-learn's `check_estimator`
        expects the classes there.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import make_blobs
        >>> from modeclust import KModes
        >>> X, _ = make_blobs(500, centers=[[0, 0], [5, 0]], random_state=0)
        >>> model = KModes(2, random_state=0).fit(X)
        >>> model.predict_proba([[0, 0], [2.5, 0]]).max(axis=1) > 0.9
        array([ True, False])
        """
        check_is_fitted(self, "_confidence")
        if is_dask(X):
            array = as_array(X, estimator=self, reset=False)
            return self._map_chunks(array, "predict_proba", self._needed_for_rows())
        with self._open_new_data(X) as (dataset, centers, rescaling):
            spread = self._confidence.typical.spread.in_units(1 / rescaling.scale)
            shares = spread.probabilities(dataset.distances(centers))
            assign(dataset, centers)
            return largest_at(shares, dataset.labels())

    def score_outliers(self, X: Any) -> Any:
        """Return how unusual each row is in its cluster.

        A row is compared with the rows of its cluster in the fit, in two ways: by its distance to
        the center, and by its distance to the 10th nearest of up to 128 rows of the cluster, which
        the model keeps. The first finds rows that are far from everything. The second finds rows
        in holes, and beside clusters that are not round. The score is the larger of the two.

        It is 0 for a typical row, and grows by 1 for each standard deviation. So 3 means the same
        in every cluster, tight or loose.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores. For a Dask collection, a lazy Dask array.

        Notes
        -----
        With the median distance m of the rows of a cluster, the score of the distance d is
        (u - 1) / s, where u = (d / m)^(2/3), and s is 1.4826 times the median of abs(u - 1) in the
        cluster. In a Gaussian cluster of any dimension, u is nearly normal (Wilson & Hilferty).
        The logarithm of the distance to the neighbour is compared with its median in the cluster,
        in units of the difference to the quantile 0.84: it is not symmetric. m, s and these are
        averaged with those of all rows, which count as 20 rows of the cluster. They are measured
        on the sample of rows from which K-means is seeded, of at least 4,096 rows if there are as
        many. The model keeps about 4,096 of them, at least 32 and at most 128 of each cluster.

        Some clusters may consist of outliers, and their rows are scored at the nearest center of
        another cluster: those of less than a fifth of the mean size, as by He, Xu & Deng, and those
        of less than half of it whose typical row is farther from its neighbours than 99% of the
        other rows.

        After `partial_fit`, rows are still compared with those of the first batch.

        References
        ----------
        Wilson, E. B. & Hilferty, M. M. (1931). The distribution of chi-square. Proceedings of the
        National Academy of Sciences 17, 684-688.

        Ramaswamy, S., Rastogi, R. & Shim, K. (2000). Efficient algorithms for mining outliers from
        large data sets. ACM SIGMOD Record 29, 427-438.

        He, Z., Xu, X. & Deng, S. (2003). Discovering cluster-based local outliers. Pattern
        Recognition Letters 24, 1641-1650.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from modeclust import KModes
        >>> X, _ = make_blobs(1000, centers=[[0, 0], [100, 0]], cluster_std=[1, 10], random_state=0)
        >>> model = KModes(2, random_state=0).fit(X)
        >>> bool((model.outlier_scores_ > 3).mean() < 0.01)
        True
        >>> model.score_outliers([[0, 4], [100, 40]]).round()
        array([3., 4.])
        """
        check_is_fitted(self, "_confidence")
        if is_dask(X):
            array = as_array(X, estimator=self, reset=False)
            return self._map_chunks(array, "score_outliers", self._needed_for_rows())
        with self._open_new_data(X) as (dataset, centers, rescaling):
            assert isinstance(dataset, MemoryDataset)
            scale = self._confidence.typical.scale.to_internal(rescaling)
            return outlier_scores(dataset, centers, scale)

    def _needed_for_rows(self) -> dict[str, Any]:
        return super()._needed_for_rows() | {"_confidence": Confidence(self._confidence.typical)}

    def _state(self) -> dict[str, Any]:
        return super()._state() | {"_confidence": self._confidence.measured()}

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        (size, width), n_rows = self.cluster_centers_.shape, len(self.labels_)
        found: Any = self._confidence
        is_right = isinstance(found, Confidence) and isinstance(found.typical, Typical)
        is_right = is_right and isinstance(found.typical.spread, Spread)
        is_right = is_right and isinstance(found.typical.scale, OutlierScale)
        is_right = is_right and len(found.typical.scale.radius) == size
        is_right = is_right and are_rows(found.typical.scale.rows, None, width)
        is_right = is_right and is_array(found.scores, "f", n_rows)
        is_right = is_right and bool(np.isfinite(found.scores).all())
        expected = f"scores of {n_rows} rows, and rows of {size} clusters in {width} features"
        yield "_confidence", is_right, expected


@dataclass(frozen=True)
class Confidence:
    """What `predict_proba` and `score_outliers` compare rows with, in the user's units."""

    typical: Typical
    scores: Any = None  # (N,) of the rows of the fit, a lazy Dask array if they are on Dask

    def measured(self) -> "Confidence":
        """Return this with all numbers in memory."""
        return replace(self, scores=self.scores.compute()) if is_dask(self.scores) else self


@dataclass(eq=False)
class UnmeasuredConfidence:
    """The same for rows in memory, measured when it is first needed.

    A fit is not slower for it. Until the scores are measured, it has a reference to the rows.
    """

    X: Any  # the rows in internal units; None if they are on Dask, or the scores are measured
    pool: Sample | None  # some of them; None if what is typical is measured
    count_per_weight: float
    centers: Centers
    rescaling: Rescaling
    n_threads: int
    found: Typical | None = None  # that of the first batch, if this is a later one
    found_scores: Doubles | None = None

    # Threads may share a model. So rows are dropped only after what was measured is stored.

    @property
    def typical(self) -> Typical:
        """What rows are compared with."""
        pool = self.pool
        if pool is not None:
            found = measure_typical(pool, self.centers, self.count_per_weight, self.n_threads)
            spread = found.spread.in_units(self.rescaling.scale)
            self.found = Typical(spread, found.scale.to_original(self.rescaling))
            self.pool = None
        assert self.found is not None
        return self.found

    @property
    def scores(self) -> Doubles:
        """The outlier scores of the rows of the fit."""
        X = self.X
        if X is not None:
            rows = MemoryDataset(X, n_clusters=len(self.centers), n_threads=self.n_threads)
            scale = self.typical.scale.to_internal(self.rescaling)
            self.found_scores = outlier_scores(rows, self.centers, scale)
            self.X = None
        assert self.found_scores is not None
        return self.found_scores

    def measured(self) -> Confidence:
        """Return all numbers."""
        return Confidence(self.typical, self.scores)

    def __reduce__(self) -> Any:
        # A copy or a pickle has the numbers, but not the rows.
        return Confidence.measured, (self.measured(),)


class MeanShiftConfidenceMixin(SavingMixin):
    """Adds `predict_proba` to mean-shift.

    It has no outlier scores: an outlier is often a mode of its own, at a distance of 0.
    """

    n_jobs: int | None
    bandwidth_: float
    cluster_centers_: npt.NDArray[np.floating[Any]]
    _fitted_with: dict[str, Any]
    _spread: Spread

    @of_clusters
    def predict_proba(self, X: Any) -> Doubles:
        r"""Return how much each row belongs to each mode, by its distances to the modes.

        The share of mode k is proportional to :math:`\exp(-d \, \|x - c_k\|^2 / (2 r^2))`, with the
        modes c, and r and d as in `KModes.predict_proba`. The largest share is that of the nearest
        mode, which is ``predict(X, method="nearest")``. The mode to which a row ascends may be
        another one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, `n_clusters_`)
            The shares; rows sum to 1.
        """
        check_is_fitted(self)
        metric = self._fitted_with["metric"]
        X = check_rows(X, estimator=self, reset=False, metric=metric)
        n_threads = thread_count(self.n_jobs)
        rescaling = rescaling_for_new(X, self.cluster_centers_, self.bandwidth_, n_threads, metric)
        centers = rescaling.to_internal(self.cluster_centers_.astype(np.float64))
        rows = rescaling.rows(X, n_threads)
        distances = MemoryDataset(rows, n_threads=n_threads).distances(centers)
        return self._spread.in_units(1 / rescaling.scale).probabilities(distances)

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        yield from check_spread(self)


def measure_spread(
    opened: OpenKernelDensity, modes: Doubles, labels: npt.NDArray[np.int32]
) -> Spread:
    """Return how far the rows of a density are from their modes, in the user's units."""
    X, weight = opened.X, opened.weight
    squared = _core.own_distances(core_rows(X), np.ascontiguousarray(modes), labels)
    counts = np.ones(len(labels)) if weight is None else weight
    used = np.flatnonzero(~small_clusters(labels, counts, len(modes))[labels] & (counts > 0))
    spread = Spread.of(np.sqrt(squared[used]), labels[used], counts[used], X.shape[1])
    return spread.in_units(opened.rescaling.scale)


def check_spread(model: Any) -> Iterator[tuple[str, bool, str]]:
    """Yield whether a loaded spread belongs to a model; see `SavingMixin._loaded_checks`."""
    yield "_spread", isinstance(model._spread, Spread), "a spread of distances"


def largest_at(shares: Doubles, labels: npt.NDArray[np.integer[Any]]) -> Doubles:
    """Make the share of each row's label its largest one, by exchanging it with the largest.

    Rounding of the distances may have made it another.
    """
    largest = shares.argmax(axis=1)
    rows = np.flatnonzero(largest != labels)
    first, own = (rows, largest[rows]), (rows, labels[rows])
    shares[first], shares[own] = shares[own], np.nextafter(shares[first], 2.0)
    return shares

"""How sure the labels of a fitted model are, and which rows are outliers."""

from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from modeclust import _core
from modeclust._sklearn import Decorator
from modeclust.data.dask.chunks import as_array
from modeclust.data.distance_pass import Spread, spread_step
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.reading import Doubles, core_rows, is_dask, read_rows
from modeclust.data.validation import check_rows, rescaling_for_new
from modeclust.estimators.new_rows import NewRowsMixin
from modeclust.estimators.problem import score_rows
from modeclust.estimators.saving import SavingMixin
from modeclust.solvers.kmodes import assign


class _OfClusters:
    """A method with a column for each cluster. A model has it only after a fit without y.

    scikit-learn calls `fit(X, y)` and `predict_proba` of anything that has both, and takes the
    columns for the classes of y: in `cross_val_predict`, and in its checks of estimators.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        if model is None:
            return self._method
        check_is_fitted(model)  # its error is an AttributeError too
        if getattr(model, "_fitted_with_y", False) is True:
            raise AttributeError(
                f"{self._method.__name__} is not available because the model was fitted with y: "
                "its columns are clusters, and would be taken for the classes of y. Fit the model "
                "without y."
            )
        return MethodType(self._method, model)


of_clusters: Decorator = _OfClusters  # type: ignore[assignment]


class ConfidenceMixin(NewRowsMixin, SavingMixin):
    """Adds `predict_proba` and `score_outliers` to an estimator that assigns the nearest center."""

    labels_: Any
    _spread: Spread
    outlier_scores_: Any

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

        There is no `predict_proba` after ``fit(X, y)`` with y: scikit-learn would take its columns
        for the classes of y.

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
        check_is_fitted(self, "_spread")
        if is_dask(X):
            array = as_array(X, estimator=self, reset=False)
            return self._map_chunks(array, "predict_proba", self.cluster_centers_, self._spread)
        with self._open_new_data(X) as (dataset, centers, rescaling):
            spread = self._spread.in_units(1 / rescaling.scale)
            shares = spread.probabilities(dataset.distances(centers))
            assign(dataset, centers)
            return largest_at(shares, dataset.labels())

    def score_outliers(self, X: Any) -> Any:
        """Return how unusually far each row is from its center.

        The distance of a row is compared with those of the rows of its cluster in the fit. The
        score is 0 at their median distance, and grows by 1 for each standard deviation. So 3 means
        the same in every cluster: a Gaussian cluster has about one row in 700 above it.

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
        With the median distance m of the rows of a cluster, the score of a row at the distance d is
        (u - 1) / s, where u = (d / m)^(2/3), and s is 1.4826 times the median of abs(u - 1) in the
        cluster. In a Gaussian cluster of any dimension, u is nearly normal (Wilson & Hilferty). m
        and s are averaged with those of all rows, which count as 20 rows of the cluster. If s is 0,
        that of all rows is used. If there are 40,000 rows or more, and 1,000 for each cluster, m
        and s are of every n-th row.

        A cluster of less than a fifth of the mean size may consist of outliers, so its rows are
        scored at the nearest center of another cluster, as by He, Xu & Deng.

        After `partial_fit`, m and s are still those of the first batch.

        References
        ----------
        Wilson, E. B. & Hilferty, M. M. (1931). The distribution of chi-square. Proceedings of the
        National Academy of Sciences 17, 684-688.

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
        array([3., 3.])
        """
        check_is_fitted(self, "_spread")
        if is_dask(X):
            array = as_array(X, estimator=self, reset=False)
            return self._map_chunks(array, "score_outliers", self.cluster_centers_, self._spread)
        with self._open_new_data(X) as (dataset, centers, rescaling):
            return score_rows(dataset, centers, self._spread.in_units(1 / rescaling.scale))

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        yield from check_spread(self)
        scores: Any = self.outlier_scores_
        n_rows = len(self.labels_)
        is_right = isinstance(scores, np.ndarray) and scores.shape == (n_rows,)
        is_right = is_right and scores.dtype.kind == "f" and bool(np.isfinite(scores).all())
        yield "outlier_scores_", is_right, f"{n_rows} finite numbers"


class MeanShiftConfidenceMixin(SavingMixin):
    """Adds `predict_proba` to mean-shift.

    It has no outlier scores: an outlier is often a mode of its own, at a distance of 0.
    """

    n_jobs: int | None
    bandwidth_: float
    cluster_centers_: npt.NDArray[np.floating[Any]]
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

        Notes
        -----
        Not available after ``fit(X, y)`` with y: scikit-learn would take the columns for the
        classes of y.
        """
        check_is_fitted(self)
        X = check_rows(X, estimator=self, reset=False)
        n_threads = thread_count(self.n_jobs)
        rescaling = rescaling_for_new(X, self.cluster_centers_, self.bandwidth_, n_threads)
        centers = rescaling.to_internal(self.cluster_centers_.astype(np.float64))
        with open_dataset(
            X, rescaling, weight=None, n_clusters=len(centers), n_threads=n_threads
        ) as dataset:
            distances = dataset.distances(centers)
        return self._spread.in_units(1 / rescaling.scale).probabilities(distances)

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        yield from check_spread(self)


def measure_spread(
    X: Any, centers: Doubles, labels: npt.NDArray[np.int32], weight: Doubles | None
) -> Spread:
    """Return how far rows are from their centers; of very many rows, only every n-th counts."""
    step = spread_step(len(labels), len(centers))
    rows = read_rows(X, np.arange(0, len(labels), step))
    labels = np.ascontiguousarray(labels[::step])
    squared = _core.own_distances(core_rows(rows), np.ascontiguousarray(centers), labels)
    counts = np.ones(len(labels)) if weight is None else weight[::step]
    return Spread.of(np.sqrt(squared), labels, counts * step, (len(centers), rows.shape[1]))


def check_spread(model: Any) -> Iterator[tuple[str, bool, str]]:
    """Yield whether a loaded spread belongs to a model; see `SavingMixin._loaded_checks`."""
    size, spread = len(model.cluster_centers_), model._spread
    is_right = isinstance(spread, Spread) and len(spread.radius) == size
    yield "_spread", is_right, f"radii of {size} clusters"


def largest_at(shares: Doubles, labels: npt.NDArray[np.integer[Any]]) -> Doubles:
    """Make the share of each row's label its largest one; rounding may have made it another."""
    rows = np.flatnonzero(shares.argmax(axis=1) != labels)
    shares[rows, labels[rows]] = np.nextafter(shares[rows].max(axis=1), 2.0)
    return shares

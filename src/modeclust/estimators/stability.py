"""How stable the clusters of a fitted model are under resampling of the rows."""

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from modeclust.data.bootstrap import draw_counts
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.reading import in_memory, is_sparse, take_rows
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import (
    check_rows,
    check_scales,
    check_weights,
    original_rows,
    rescaling_for,
)
from modeclust.estimators.fit_path import PathEstimator
from modeclust.estimators.observers import ProgressPrinter
from modeclust.estimators.same_rows import check_same_rows
from modeclust.exceptions import (
    ApproximateNeighborsWarning,
    CenterLengthWarning,
    EmptyClusterWarning,
    EmptySupportWarning,
    SingleRowWarning,
)
from modeclust.solvers.kmodes import assign
from modeclust.solvers.stability import compare, overlap_table, row_spacing

# Warnings that the fits of resamples do not repeat.
QUIET = (
    ApproximateNeighborsWarning,
    CenterLengthWarning,
    ConvergenceWarning,
    EmptyClusterWarning,
    EmptySupportWarning,
    SingleRowWarning,
)

# The share of different rows in a large bootstrap sample, 1 - 1 / e.
SHARE_DRAWN = 0.632


class Stability(NamedTuple):
    """How stable clusters are under resampling of the rows, a named tuple.

    Parameters
    ----------
    jaccard : ndarray of shape (K,)
        Mean Jaccard similarity of each cluster to the most similar cluster of each resample: 1 if
        every resample has the same cluster. Clusters from 0.85 on are stable. The halves of one
        group often have 0.5 to 0.8. Do not trust clusters below 0.6.
    mode_shift : ndarray of shape (K,)
        Mean distance of each mode to the mode of that cluster, divided by the median distance
        between a row of the cluster and its nearest other row. Below 1, the mode moves less than
        the distance between neighbouring rows. With few features, where neighbouring rows are close
        together, 1 to 4 is usual for stable clusters.
    """

    jaccard: npt.NDArray[np.float64]
    mode_shift: npt.NDArray[np.float64]


class Resample(NamedTuple):
    """A model that was fitted to some of the rows."""

    model: Any
    rows: Any  # which rows its labels are of: indices or a slice
    counts: Any  # how often each of these rows was drawn


class ResamplingMixin(PathEstimator):
    """Compares the clusters of a model with those of resampled rows."""

    modes_: npt.NDArray[np.floating[Any]]

    def _measure_stability(
        self, X: Any, n_resamples: int, random_state: Any, sample_weight: Any, sample_scale: Any
    ) -> Stability:
        check_is_fitted(self)
        if not (isinstance(n_resamples, Integral) and n_resamples >= 1):
            raise ValueError(f"n_resamples must be an integer >= 1, got {n_resamples!r}.")
        rng = check_random_state(self.random_state if random_state is None else random_state)
        metric = self._fitted_with["metric"]
        rows = self._check_rows(X)
        check_same_rows(self, rows)
        weight = check_weights(sample_weight, rows)
        check_scales(sample_scale, rows, adaptive=self._fitted_with.get("adaptive", False))
        labels = self._own_labels(X)
        n_clusters, n_threads = len(self.cluster_centers_), thread_count(self.n_jobs)
        rescaling = rescaling_for(rows, n_threads, metric)
        with open_dataset(
            rows, rescaling, weight=weight, n_clusters=n_clusters, n_threads=n_threads
        ) as dataset:
            self._assign_rows(dataset, rescaling)
            spacing = row_spacing(dataset, n_clusters, _seed(rng))
        has_rows = ~np.isnan(spacing)
        modes = rescaling.to_internal(self.modes_.astype(np.float64))
        found, printer = [], ProgressPrinter(type(self).__name__)
        for number in range(1, n_resamples + 1):
            other, drawn, counts = self._resample(rows, weight, sample_scale, rng)
            shape = n_clusters, len(other.modes_)
            overlap = overlap_table(labels[drawn], other.labels_, counts, shape)
            other_modes = rescaling.to_internal(other.modes_.astype(np.float64))
            found.append(compare(overlap, modes, other_modes))
            if self.verbose:
                printer.after_resample(number, n_resamples, found[-1].jaccard[has_rows])
        jaccard, shift = np.mean(found, axis=0)
        return Stability(np.where(has_rows, jaccard, np.nan), shift / spacing)

    def _check_rows(self, X: Any) -> Any:
        """Return the checked rows."""
        raise NotImplementedError

    def _own_labels(self, X: Any) -> Any:
        """Return the labels of the rows of the fit."""
        raise NotImplementedError

    def _assign_rows(self, dataset: Any, rescaling: Rescaling) -> None:
        """Set the labels of the rows of the fit in a dataset."""
        raise NotImplementedError

    def _resample(
        self, rows: Any, weight: Any, sample_scale: Any, rng: np.random.RandomState
    ) -> Resample:
        """Draw some of the rows, and fit a model with the parameters of this one to them."""
        raise NotImplementedError

    def _fit_again(self, X: Any, seed: int, changed: dict[str, Any], **columns: Any) -> Any:
        """Return a model with the parameters of this one, but for `changed`, fitted quietly."""
        quiet = {"verbose": 0, "store_labels": False, "random_state": seed}
        settled = self._fitted_with | {"n_clusters": self.n_clusters_}
        # A clone would have the callbacks too.
        model = type(self)(**self.get_params(deep=False) | settled | quiet | changed)
        with warnings.catch_warnings():
            for category in QUIET:
                warnings.simplefilter("ignore", category)
            return model.fit(X, **columns)


class StabilityMixin(ResamplingMixin):
    """Adds `stability` to an estimator whose integer weights are repetitions of rows."""

    def stability(
        self,
        X: Any,
        *,
        n_resamples: int = 20,
        random_state: Any = None,
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> Stability:
        r"""Return how stable each cluster and its mode are under resampling of the rows.

        The model is fitted again to `n_resamples` bootstrap samples of the rows. In each of them, a
        cluster A is compared with the cluster B that is most similar to it, by the Jaccard
        similarity

        .. math:: J(A, B) = |A \cap B| / |A \cup B|

        over the rows that were drawn, each as often as it was drawn. If K is too large, some
        clusters are parts of one group, which other samples split elsewhere: their similarity is
        low. So is that of whole groups that other samples split.

        This takes about as long as `n_resamples` fits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that the model was fitted on. A Dask collection is processed chunk by chunk on
            its workers.
        n_resamples : int, default=20
            Number of bootstrap samples.
        random_state : int, RandomState instance or None, default=None
            Determines which rows are drawn, and the seeds of the fits. None uses the `random_state`
            of the model.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as in `fit`. Rows are drawn in proportion to them. An integer
            weight w is equivalent to repeating the row w times.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales of the rows, as in `fit`.

        Returns
        -------
        Stability
            The arrays `jaccard` and `mode_shift`, with one number for each cluster.

        Notes
        -----
        As many rows are drawn as have a positive weight, or as their sum if all weights are
        integers. The fits take the number of times that a row was drawn as its weight.

        Each fit has the parameters of this model, with another seed. Bandwidths that are not
        numbers are chosen again. These fits save no checkpoint, run no callbacks, and do not warn.
        If a sample has fewer distinct rows than clusters, each of them is a cluster of its own.

        If no row of a cluster is drawn, its similarity in that sample is 0, and its mode is
        compared with the nearest one. So clusters of very few rows are never stable. Both numbers
        are NaN for a cluster without rows of positive weight.

        The unit of `mode_shift` is a median over at most 100 random rows of each cluster. Their
        nearest rows are searched among all rows; copies of a row do not count.

        The same seed gives the same result for any `n_jobs`. For a Dask collection, which rows are
        drawn depends on its chunks too.

        References
        ----------
        Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics &
        Data Analysis 52, 258-271.

        Examples
        --------
        Two of the four clusters are halves of one group.

        >>> from sklearn.datasets import make_blobs
        >>> from modeclust import KModes
        >>> centers = [[0, 0], [20, 0], [0, 20]]
        >>> X, _ = make_blobs([200, 100, 100], centers=centers, random_state=0)
        >>> model = KModes(n_clusters=4, random_state=0).fit(X)
        >>> model.counts_.tolist()
        [102, 100, 100, 98]
        >>> model.stability(X).jaccard >= 0.85
        array([False,  True,  True, False])
        """
        return self._measure_stability(X, n_resamples, random_state, sample_weight, sample_scale)

    def _check_rows(self, X: Any) -> Any:
        metric = self._fitted_with["metric"]
        return check_rows(X, estimator=self, reset=False, chunked=True, metric=metric)

    def _own_labels(self, X: Any) -> Any:
        return self.predict(X)

    def _assign_rows(self, dataset: Any, rescaling: Rescaling) -> None:
        assign(dataset, rescaling.to_internal(self.cluster_centers_.astype(np.float64)))

    def _resample(
        self, rows: Any, weight: Any, sample_scale: Any, rng: np.random.RandomState
    ) -> Resample:
        counts = draw_counts(rows, weight, rng)
        columns = {"sample_weight": counts, "sample_scale": sample_scale}
        model = self._fit_again(original_rows(rows), _seed(rng), {"checkpoint": None}, **columns)
        return Resample(model, slice(None), counts)


class SoftStabilityMixin(ResamplingMixin):
    """Adds `stability` to an estimator with a graph of the rows."""

    labels_: npt.NDArray[np.int32]
    affinity: Any
    affinity_: sparse.csr_array
    init: Any
    n_neighbors: int | str

    def stability(
        self,
        X: Any,
        *,
        n_resamples: int = 20,
        random_state: Any = None,
        sample_weight: Any = None,
    ) -> Stability:
        """Return how stable each cluster and its mode are under resampling of the rows.

        The model is fitted again to `n_resamples` random samples of the rows. In each of them, a
        cluster is compared with the cluster that is most similar to it among the drawn rows, as in
        `KModes.stability`. This takes about as long as `n_resamples` fits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that the model was fitted on.
        n_resamples : int, default=20
            Number of samples.
        random_state : int, RandomState instance or None, default=None
            Determines which rows are drawn, and the seeds of the fits. None uses the `random_state`
            of the model.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as in `fit`. Rows of weight 0 are not drawn.

        Returns
        -------
        Stability
            The arrays `jaccard` and `mode_shift`, with one number for each cluster.

        Notes
        -----
        Each sample has 63% of the rows, as many different rows as a bootstrap sample has on
        average. No row is drawn twice: copies of a row would be its nearest neighbours in the
        graph. The rows keep their weights. If `affinity` is a matrix, the part of it between the
        drawn rows is used. Each fit has the parameters of this model, with another seed; what is
        "auto" is chosen again. In a sample of fewer rows than clusters, each row is a cluster of
        its own.

        Examples
        --------
        Two of the three clusters are parts of one moon.

        >>> from sklearn.datasets import make_moons
        >>> from modeclust import LaplacianKModes
        >>> X, _ = make_moons(400, noise=0.05, random_state=0)
        >>> model = LaplacianKModes(3).fit(X)
        >>> model.stability(X, random_state=0).jaccard >= 0.85
        array([ True, False, False])
        """
        return self._measure_stability(X, n_resamples, random_state, sample_weight, None)

    def _check_rows(self, X: Any) -> Any:
        X = check_rows(X, estimator=self, reset=False)
        return in_memory(X, self._fitted_with["metric"])

    def _own_labels(self, X: Any) -> Any:
        return self.labels_

    def _assign_rows(self, dataset: Any, rescaling: Rescaling) -> None:
        dataset.rows.set_labels(self.labels_, self.n_clusters_)

    def _resample(
        self, rows: Any, weight: Any, sample_scale: Any, rng: np.random.RandomState
    ) -> Resample:
        weights = np.ones(rows.shape[0]) if weight is None else weight
        present = np.flatnonzero(weights)
        if len(present) < 2:
            raise ValueError("stability needs at least 2 rows of positive weight; got 1.")
        n_drawn = max(2, round(SHARE_DRAWN * len(present)))
        drawn = np.sort(rng.choice(present, n_drawn, replace=False))
        changed: dict[str, Any] = {"n_clusters": min(self.n_clusters_, n_drawn)}
        if not isinstance(self.n_neighbors, str):
            changed["n_neighbors"] = min(self.n_neighbors, n_drawn - 1)
        if not isinstance(self.affinity, str):
            changed["affinity"] = self.affinity_[drawn][:, drawn]
        X = take_rows(rows, drawn)
        if n_drawn < self.n_clusters_ and not (isinstance(self.init, str) or callable(self.init)):
            changed["init"] = X.toarray() if is_sparse(X) else X
        model = self._fit_again(X, _seed(rng), changed, sample_weight=weights[drawn])
        return Resample(model, drawn, np.ones(n_drawn))


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))

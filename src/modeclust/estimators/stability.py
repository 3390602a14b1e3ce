"""How stable the clusters of a fitted model are under resampling of the rows."""

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from modeclust.data.bootstrap import draw_counts
from modeclust.data.memory import open_dataset, thread_count
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
from modeclust.exceptions import CenterLengthWarning, EmptyClusterWarning, EmptySupportWarning
from modeclust.solvers.stability import compare, overlap_table, row_spacing

# Warnings that the fits of resamples do not repeat.
QUIET = (ConvergenceWarning, EmptyClusterWarning, EmptySupportWarning, CenterLengthWarning)


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


class StabilityMixin(PathEstimator):
    """Adds `stability` to an estimator with a path."""

    modes_: npt.NDArray[np.floating[Any]]

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
        check_is_fitted(self)
        if not (isinstance(n_resamples, Integral) and n_resamples >= 1):
            raise ValueError(f"n_resamples must be an integer >= 1, got {n_resamples!r}.")
        rng = check_random_state(self.random_state if random_state is None else random_state)
        metric = self._fitted_with["metric"]
        rows = check_rows(X, estimator=self, reset=False, chunked=True, metric=metric)
        check_same_rows(self, rows)
        weight = check_weights(sample_weight, rows)
        check_scales(sample_scale, rows, adaptive=self._fitted_with["adaptive"])
        labels = self.predict(X)
        n_clusters, n_threads = len(self.cluster_centers_), thread_count(self.n_jobs)
        rescaling = rescaling_for(rows, n_threads, metric)
        with open_dataset(
            rows, rescaling, weight=weight, n_clusters=n_clusters, n_threads=n_threads
        ) as dataset:
            centers = rescaling.to_internal(self.cluster_centers_.astype(np.float64))
            spacing = row_spacing(dataset, centers, _seed(rng))
        has_rows = ~np.isnan(spacing)
        modes = rescaling.to_internal(self.modes_.astype(np.float64))
        found, printer = [], ProgressPrinter(type(self).__name__)
        for number in range(1, n_resamples + 1):
            counts = draw_counts(rows, weight, rng)
            other = self._fit_resample(rows, counts, sample_scale, _seed(rng))
            shape = n_clusters, len(other.modes_)
            overlap = overlap_table(labels, other.labels_, counts, shape)
            other_modes = rescaling.to_internal(other.modes_.astype(np.float64))
            found.append(compare(overlap, modes, other_modes))
            if self.verbose:
                printer.after_resample(number, n_resamples, found[-1].jaccard[has_rows])
        jaccard, shift = np.mean(found, axis=0)
        return Stability(np.where(has_rows, jaccard, np.nan), shift / spacing)

    def _fit_resample(self, rows: Any, counts: Any, sample_scale: Any, seed: int) -> Any:
        """Return a model with the parameters of this one, fitted to rows drawn so often."""
        quiet = {"checkpoint": None, "verbose": 0, "store_labels": False, "random_state": seed}
        settled = self._fitted_with | {"n_clusters": self.n_clusters_}
        # A clone would have the callbacks too.
        model = type(self)(**self.get_params(deep=False) | settled | quiet)
        X = original_rows(rows)
        with warnings.catch_warnings():
            for category in QUIET:
                warnings.simplefilter("ignore", category)
            return model.fit(X, sample_weight=counts, sample_scale=sample_scale)


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))

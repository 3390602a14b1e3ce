"""Rows that a fitted model has not seen: `predict`, `transform` and `score`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from modeclust.data.dask.chunks import as_array, map_rows
from modeclust.data.dataset import Dataset
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.mode_pass import ModePass
from modeclust.data.reading import is_dask, working_dtype
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import (
    check_rows,
    check_scales,
    check_weights,
    rescaling_for_new,
)
from modeclust.estimators.parameters import FittedParametersMixin
from modeclust.kernels import KERNELS
from modeclust.solvers.kmodes import Centers, assign, inverse_square


class NewRowsMixin(FittedParametersMixin, TransformerMixin):
    """Adds `predict`, `transform` and `score` to an estimator with centers."""

    n_jobs: int | None
    bandwidth_: float
    cluster_centers_: npt.NDArray[np.floating[Any]]
    n_features_in_: int

    def predict(self, X: Any) -> Any:
        """Return the cluster of each row: that of its nearest center.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels. For a Dask collection, a lazy Dask array.
        """
        if is_dask(X):
            check_is_fitted(self)
            array = as_array(X, estimator=self, reset=False)
            return self._map_chunks(array, "predict", self.cluster_centers_)
        with self._open_new_data(X) as (dataset, centers, _):
            assign(dataset, centers)
            return dataset.labels()

    def transform(self, X: Any) -> Any:
        """Return the distance of each row to each center.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The distances. For a Dask collection, a lazy Dask array.
        """
        if is_dask(X):
            check_is_fitted(self)
            array = as_array(X, estimator=self, reset=False)
            return self._map_chunks(array, "transform", self.cluster_centers_)
        with self._open_new_data(X) as (dataset, centers, rescaling):
            distances = dataset.distances(centers)
            if not rescaling.is_identity:
                with np.errstate(over="ignore"):
                    distances *= dataset.dtype.type(rescaling.scale)
        if np.isinf(distances.max()):
            raise ValueError(
                "X must hold smaller numbers: the distances to the centers overflow its type."
            )
        return distances

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, sample_scale: Any = None
    ) -> float:
        """Return the objective of the centers on `X`, divided by the sum of the weights.

        It is the mean kernel value of the rows at their nearest centers, at `bandwidth_`, between 0
        and 1. It grows with the bandwidth, up to 1 at an infinite bandwidth, and with the number of
        clusters. So it cannot be used to choose either of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New data.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales of the rows; 1 by default, also for an adaptive fit.

        Returns
        -------
        float
            The mean objective.
        """
        opened = self._open_new_data(X, sample_weight, sample_scale)
        with opened as (dataset, centers, rescaling):
            inverse = inverse_square(self.bandwidth_ / rescaling.scale)
            kernel = KERNELS[self._fitted_with["kernel"]]
            return dataset.run(ModePass(centers, kernel, inverse)).mean_objective()

    @contextmanager
    def _open_new_data(
        self, X: Any, sample_weight: Any = None, sample_scale: Any = None
    ) -> Iterator[tuple[Dataset, Centers, Rescaling]]:
        """Open a dataset of new rows; yield it with the internal modes and the rescaling."""
        check_is_fitted(self)
        X = check_rows(X, estimator=self, reset=False, chunked=True)
        bandwidth = getattr(self, "bandwidth_", np.inf)
        n_threads = thread_count(self.n_jobs)
        rescaling = rescaling_for_new(X, self.cluster_centers_, bandwidth, n_threads)
        with open_dataset(
            X,
            rescaling,
            weight=check_weights(sample_weight, X),
            scale=check_scales(sample_scale, X),
            n_clusters=len(self.cluster_centers_),
            n_threads=n_threads,
        ) as dataset:
            centers = rescaling.to_internal(self.cluster_centers_.astype(np.float64))
            yield dataset, centers, rescaling

    def _map_chunks(self, array: Any, method: str, centers: npt.NDArray[Any]) -> Any:
        """Return the results of a method for the chunks of a Dask array, as a lazy array."""
        model = clone(self).set_params(n_jobs=1).set_output(transform="default")
        model.cluster_centers_ = centers
        model.n_features_in_ = self.n_features_in_
        if method == "predict":
            return map_rows(array, model.predict, np.dtype(np.int32))
        return map_rows(array, model.transform, working_dtype(array.dtype), len(centers))

"""Rows that a fitted model has not seen: labels, distances and objective."""

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
from modeclust.kernels import KERNELS
from modeclust.solvers.kmodes import Centers, assign, inverse_square

NEEDED_FOR_ROWS = ("cluster_centers_", "_fitted_with")


class NewRowsMixin(TransformerMixin):
    """Adds `predict`, `transform` and `score` to an estimator with centers."""

    n_jobs: int | None
    cluster_centers_: npt.NDArray[np.floating[Any]]
    bandwidth_: float
    n_features_in_: int
    _fitted_with: dict[str, Any]

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
            return self._map_chunks(array, "predict", self._needed_for_rows())
        with self._open_new_data(X) as (dataset, centers, _):
            assign(dataset, centers)
            return dataset.labels()

    def transform(self, X: Any) -> Any:
        """Return the distance of each row to each center.

        It has the unit of the bandwidth. With ``metric="cosine"`` it is that between points on the
        unit sphere, from 0 to 2; the cosine distance, 1 - cos, is half its square.

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
            return self._map_chunks(array, "transform", self._needed_for_rows())
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
        metric = self._fitted_with["metric"]
        X = check_rows(X, estimator=self, reset=False, chunked=True, metric=metric)
        bandwidth = getattr(self, "bandwidth_", np.inf)
        n_threads = thread_count(self.n_jobs)
        rescaling = rescaling_for_new(X, self.cluster_centers_, bandwidth, n_threads, metric)
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

    def _needed_for_rows(self) -> dict[str, Any]:
        """Return the fitted attributes that the methods for new rows need."""
        return {name: value for name, value in vars(self).items() if name in NEEDED_FOR_ROWS}

    def _map_chunks(self, array: Any, method: str, attributes: dict[str, Any]) -> Any:
        """Return the results of a method for the chunks of a Dask array, as a lazy array.

        `attributes` are the fitted attributes that the method needs.
        """
        model = clone(self).set_params(n_jobs=1).set_output(transform="default")
        vars(model).update(attributes, n_features_in_=self.n_features_in_)
        n_clusters = len(attributes["cluster_centers_"])
        dtype, n_columns = {
            "predict": (np.dtype(np.int32), None),
            "transform": (working_dtype(array.dtype), n_clusters),
            "predict_proba": (np.dtype(np.float64), n_clusters),
            "score_outliers": (np.dtype(np.float64), None),
        }[method]
        return map_rows(array, getattr(model, method), dtype, n_columns)

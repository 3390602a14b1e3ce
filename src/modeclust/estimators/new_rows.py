"""Rows that a fitted model has not seen: how they are opened, or mapped chunk by chunk."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from modeclust.data.dask.chunks import map_rows
from modeclust.data.dataset import Dataset
from modeclust.data.distance_pass import Spread
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.reading import working_dtype
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import (
    check_rows,
    check_scales,
    check_weights,
    rescaling_for_new,
)
from modeclust.solvers.kmodes import Centers


class NewRowsMixin:
    """Opens new rows for the methods of a fitted estimator with centers."""

    n_jobs: int | None
    cluster_centers_: npt.NDArray[np.floating[Any]]
    n_features_in_: int

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

    def _map_chunks(
        self, array: Any, method: str, centers: npt.NDArray[Any], spread: Spread | None = None
    ) -> Any:
        """Return the results of a method for the chunks of a Dask array, as a lazy array."""
        model = clone(self).set_params(n_jobs=1).set_output(transform="default")
        model.cluster_centers_ = centers
        model.n_features_in_ = self.n_features_in_
        model._spread = spread
        dtype, n_columns = {
            "predict": (np.dtype(np.int32), None),
            "transform": (working_dtype(array.dtype), len(centers)),
            "predict_proba": (np.dtype(np.float64), len(centers)),
            "score_outliers": (np.dtype(np.float64), None),
        }[method]
        return map_rows(array, getattr(model, method), dtype, n_columns)

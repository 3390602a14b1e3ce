"""A sample of the rows of a Dask collection, which a report shows instead of all rows."""

import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from modeclust.data.dask.chunks import as_array
from modeclust.data.reading import is_dask
from modeclust.estimators.same_rows import check_same_rows
from modeclust.plotting.exemplars import Indices, sample_by_cluster

# Size of the sample: rows, and numbers in them.
MAX_SAMPLE_ROWS, MAX_SAMPLE_NUMBERS = 20_000, 2**24


class RowSample(NamedTuple):
    """A sample of the rows of a Dask collection, and a copy of the model with their labels."""

    model: Any
    X: Any
    indices: Indices  # row numbers, ascending
    n_rows: int  # number of all rows
    feature_names: Any  # None if the model has none

    @property
    def is_all(self) -> bool:
        """Whether the sample has all rows."""
        return len(self.indices) == self.n_rows

    def take(self, values: Any) -> Any:
        """Return the values of the rows of the sample, from one value for each of all rows."""
        if values is None:
            return None
        if hasattr(values, "to_dask_array"):
            values = values.to_dask_array().compute_chunk_sizes()
        elif not is_dask(values):
            values = np.asarray(values)
        if values.shape[:1] != (self.n_rows,):
            raise ValueError(
                f"expected one value for each of the {self.n_rows} rows of X, got {values.shape}."
            )
        return np.asarray(values[self.indices])

    @property
    def note(self) -> str:
        """What the reader of the report must know."""
        return (
            f"This page shows a sample of {len(self.indices):,} of the {self.n_rows:,} rows. "
            "Cluster sizes, modes and rows averaged are computed from all rows; typical values, "
            "examples and classes from the sample."
        )


def sample_rows(model: Any, X: Any) -> RowSample:
    """Return a sample of the Dask collection that a model was fitted on."""
    check_is_fitted(model)
    array = as_array(X, estimator=model, reset=False)
    check_same_rows(model, array)
    n_rows, n_features = array.shape
    labels = np.asarray(model.labels_)
    size = min(MAX_SAMPLE_ROWS, MAX_SAMPLE_NUMBERS // n_features)
    indices = sample_by_cluster(labels, len(model.cluster_centers_), size)
    indices = np.union1d(indices, model.exemplar_indices_[model.exemplar_indices_ >= 0])
    sample_model = copy.copy(model)
    sample_model.labels_ = labels[indices]
    # The sample is an array without names, and scikit-learn would warn about that.
    feature_names = vars(sample_model).pop("feature_names_in_", None)
    sample = array[indices].compute()
    check_same_rows(sample_model, sample, indices)
    return RowSample(sample_model, sample, indices, n_rows, feature_names)

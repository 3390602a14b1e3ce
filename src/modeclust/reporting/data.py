"""The data of a report: the rows of the fit, or a sample of them if they are on Dask."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from modeclust.data.dask.chunks import as_array
from modeclust.data.reading import Doubles, is_dask, is_sparse
from modeclust.data.validation import check_scales, check_weights
from modeclust.estimators.same_rows import check_same_rows
from modeclust.plotting.clustering import (
    Clustering,
    check_classes,
    check_image_shape,
    fit_parameter,
    path_of,
)
from modeclust.plotting.exemplars import Indices, Labels, sample_by_cluster

# With more features than this, only the largest are shown, except for images.
MAX_FEATURES = 1024
# Size of the sample of a Dask collection: rows, and numbers in them.
MAX_SAMPLE_ROWS, MAX_SAMPLE_NUMBERS = 20_000, 2**24


class ReportData(NamedTuple):
    """The checked data of a report."""

    X: Any
    classes: Labels | None  # (N,), indices into class_names
    class_names: list[str] | None
    feature_names: list[str] | None
    image_shape: list[int] | None
    n_clusters: int
    weight: Doubles | None
    scale: Doubles | None

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        image_shape: Sequence[int] | None = None,
        feature_names: Sequence[str] | None = None,
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> "ReportData":
        """Check the arguments of a report against the model."""
        path_of(model)
        clustering = Clustering.of(model, X, feature_names=feature_names)
        X = clustering.X
        class_names = classes = None
        if y is not None:
            values, classes = np.unique(check_classes(y, X.shape[0]), return_inverse=True)
            class_names = [str(value) for value in values]
        names, shape = clustering.feature_names, check_image_shape(image_shape, X.shape[1])
        return cls(
            X,
            classes,
            class_names,
            None if names is None else list(names),
            None if shape is None else list(shape),
            len(clustering.centers),
            check_weights(sample_weight, X),
            check_scales(sample_scale, X, adaptive=fit_parameter(model, "adaptive")),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def pattern(self) -> str:
        """How a mode is shown: "image", "profile", "terms" (its largest features) or "values"."""
        if self.image_shape is not None:
            return "image"
        if is_sparse(self.X) or self.n_features > MAX_FEATURES:
            return "terms"
        return "profile" if self.n_features > 2 else "values"

    def dense(self, rows: Indices) -> Doubles:
        """Return some rows as a dense array."""
        chosen = self.X[rows]
        return np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)


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

    def extend_to_all_rows(self, summary: dict[str, Any], labels: Labels) -> dict[str, Any]:
        """Change a summary of the sample into one of all rows, and return it.

        Row numbers become those among all rows, and counts are scaled to all rows. `labels` are
        those of the sample along the path.
        """
        if self.is_all:
            return summary
        row_numbers = self.indices.tolist()
        top_classes = summary.get("top_classes", [[]] * len(labels))
        for own, step, tops in zip(labels, summary["steps"], top_classes, strict=True):
            step["n_changed"] = round(step["n_changed"] * self.n_rows / len(row_numbers))
            sizes = np.bincount(own, minlength=len(step["counts"])).tolist()
            for top, size, count in zip(tops, sizes, step["counts"], strict=bool(tops)):
                if top is not None:
                    top[1] = round(top[1] * count / size)
        summary["exemplars"] = [
            [[row_numbers[r] for r in rows] for rows in step] for step in summary["exemplars"]
        ]
        summary["exemplar_rows"] = [row_numbers[r] for r in summary["exemplar_rows"]]
        for part in (summary["map"], summary["labels"]):
            part["rows"] = [row_numbers[r] for r in part["rows"]]
        for far in summary["outliers"]["farthest"]:
            far["row"] = row_numbers[far["row"]]
        summary["n_rows"] = self.n_rows
        summary["is_sample"] = True
        summary["notes"].append(
            f"This page shows a sample of {len(row_numbers):,} of the {self.n_rows:,} rows. "
            "Cluster sizes, modes, rows averaged and objectives are computed from all rows; "
            "nearest rows, mean distances, outliers, classes and changed labels from the sample."
        )
        return summary


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
    sample_model.outlier_scores_ = sample_model.score_outliers(sample)
    return RowSample(sample_model, sample, indices, n_rows, feature_names)

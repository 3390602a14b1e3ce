"""What the displays and the report read from a fitted model, and checks of their arguments."""

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, column_or_1d

from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_rows
from modeclust.estimators.same_rows import check_same_rows
from modeclust.path import Path
from modeclust.plotting.exemplars import Labels
from modeclust.solvers.bandwidth import choose_bandwidth
from modeclust.solvers.kmodes import assign


class Clustering(NamedTuple):
    """A clustering at one bandwidth, and the rows that the model was fitted on."""

    X: Any
    labels: Labels  # (N,)
    centers: Doubles  # (K, D)
    bandwidth: float | None  # None if the model has no bandwidth
    step: int  # index on the path; 0 if there is no path
    feature_names: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        bandwidth: float | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> "Clustering":
        """Return the clustering at a bandwidth of the path; None is the result of the fit."""
        check_is_fitted(model)
        if not (hasattr(model, "cluster_centers_") and hasattr(model, "labels_")):
            raise ValueError(
                "the model must have cluster_centers_ and labels_, but "
                f"{type(model).__name__} has not; pass a KModes, MeanShift or KMeans."
            )
        X = check_rows(X, estimator=model, reset=False)
        check_same_rows(model, X)
        names = check_names(model, X.shape[1], feature_names)
        if bandwidth is None:
            centers = getattr(model, "modes_", model.cluster_centers_)
            dense = centers.toarray() if is_sparse(centers) else centers
            last = len(model.path_) - 1 if hasattr(model, "path_") else 0
            final_bandwidth = getattr(model, "bandwidth_", None)
            return cls(X, model.labels_, dense.astype(np.float64), final_bandwidth, last, names)
        path = path_of(model)
        point = path.at(bandwidth)
        step = int(np.flatnonzero(path.bandwidths == point.bandwidth)[0])
        is_last = step == len(path) - 1
        if path.labels is None and not is_last and step > 0 and hasattr(model, "assignments_"):
            raise ValueError(
                f"the model did not store its labels at bandwidth {point.bandwidth:.6g}, and they "
                "cannot be recomputed from its modes; fit it with store_labels=True."
            )
        labels = model.labels_ if is_last else labels_at(X, path, step)
        return cls(X, labels, point.centers.astype(np.float64), point.bandwidth, step, names)


def path_of(model: Any) -> Path:
    """Return the path of a fitted model."""
    check_is_fitted(model)
    if not hasattr(model, "path_"):
        raise ValueError(
            f"the model must have a path of bandwidths, path_, but {type(model).__name__} has "
            "not; pass a fitted KModes."
        )
    path: Path = model.path_
    return path


def labels_along(X: Any, path: Path) -> Labels:
    """Return the labels at every bandwidth; they are recomputed if they were not stored."""
    if path.labels is not None:
        return path.labels
    return np.stack([labels_at(X, path, step) for step in range(len(path))])


def labels_at(X: Any, path: Path, step: int) -> Labels:
    """Return the labels at one bandwidth; they are recomputed if they were not stored."""
    if path.labels is not None:
        stored: Labels = path.labels[step]
        return stored
    rescaling = Rescaling.of(X)
    # Frozen labels are those of the last centers before.
    labelled = int(np.flatnonzero(path.stage[: step + 1] < 2)[-1])
    centers = path.centers[labelled].astype(np.float64)
    with MemoryDataset(rescaling.to_internal(X), n_clusters=len(centers)) as dataset:
        assign(dataset, rescaling.to_internal(centers))
        return dataset.labels()


def fit_parameter(model: Any, name: str) -> Any:
    """Return the value that a parameter had in the fit; None if there is no such parameter."""
    parameters = getattr(model, "_fitted_with", {})
    return parameters[name] if name in parameters else getattr(model, name, None)


def adaptive_scales(model: Any, X: Any, weight: Doubles | None) -> Doubles | None:
    """Return the local scales of the rows, computed as in the fit; None if it is not adaptive.

    They depend on a random sample of the rows. If `random_state` is no integer, the sample, and
    with it the scales, may differ from those of the fit.
    """
    if not fit_parameter(model, "adaptive"):
        return None
    seed = model.random_state if isinstance(model.random_state, Integral) else 0
    rows = Rescaling.of(X).to_internal(X)
    with MemoryDataset(rows, weight=weight, n_jobs=model.n_jobs) as dataset:
        # The scales do not depend on the bandwidth.
        _, scales = choose_bandwidth(dataset, 1.0, local=True, random_state=seed)
    return np.asarray(scales)


def check_names(
    model: Any, n_features: int, feature_names: Sequence[str] | None
) -> tuple[str, ...] | None:
    """Return `feature_names`, or the names seen during fit if it is None."""
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
        if feature_names is None:
            return None
    if isinstance(feature_names, str) or not isinstance(feature_names, Iterable):
        raise ValueError(f"feature_names must be a list of names, got {feature_names!r}.")
    names = tuple(str(name) for name in feature_names)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must have one name for each of the {n_features} features, "
            f"got {len(names)}."
        )
    return names


def check_image_shape(image_shape: Sequence[int] | None, n_features: int) -> tuple[int, ...] | None:
    """Return the shape as a tuple, or raise an error if it does not fit the features."""
    if image_shape is None:
        return None
    try:
        shape = tuple(operator.index(n) for n in image_shape)
    except TypeError:
        shape = ()
    if len(shape) not in (2, 3) or shape[2:] not in ((), (3,)) or min(shape) < 1:
        raise ValueError(
            f"image_shape must be (height, width) or (height, width, 3), got {image_shape!r}."
        )
    if math.prod(shape) != n_features:
        raise ValueError(
            f"image_shape must hold the {n_features} features, got {image_shape!r}, which holds "
            f"{math.prod(shape)}."
        )
    return shape


def check_classes(y: Any, n_rows: int) -> npt.NDArray[Any]:
    """Return the class of each row as an array, or raise an error if one is missing."""
    classes: npt.NDArray[Any] = column_or_1d(y)
    if len(classes) != n_rows:
        raise ValueError(
            f"y must have one class for each of the {n_rows} rows of X, got {len(classes)}."
        )
    missing = np.array([_is_missing(value) for value in classes.tolist()])
    if missing.any():
        raise ValueError(
            f"y must have a class for each row, but {missing.sum()} are missing, the first in row "
            f"{missing.argmax()}; give these rows a class of their own."
        )
    if classes.dtype.kind == "f" and not np.array_equal(classes, np.round(classes)):
        raise ValueError("y must be classes, got numbers that are not whole; group them first.")
    return classes.astype(str) if classes.dtype.kind == "O" else classes


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)

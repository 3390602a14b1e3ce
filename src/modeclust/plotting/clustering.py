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
from modeclust.data.reading import Doubles, in_memory, is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_rows
from modeclust.estimators.same_rows import check_same_rows
from modeclust.path import Path
from modeclust.plotting.exemplars import Labels
from modeclust.solvers.bandwidth import choose_bandwidth
from modeclust.solvers.kmodes import assign


class Clustering(NamedTuple):
    """A clustering at one point of a path, and the rows that the model was fitted on."""

    X: Any  # of length 1 with the metric "cosine"
    labels: Labels  # (N,)
    centers: Doubles  # (K, D)
    bandwidth: float | None  # None if the model has no bandwidth
    step: int  # index on the path; 0 if there is no path
    feature_names: tuple[str, ...] | None
    # (K,) how many rows each mode averages, if each has a bandwidth of its own
    rows_averaged: Doubles | None = None
    start: str = "K-means"  # of the path

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        bandwidth: float | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> "Clustering":
        """Return the clustering at the point of the path whose bandwidth is nearest.

        If points have equal bandwidths, it is the first of them: the labels of ``bandwidth_`` come
        before modes whose median bandwidth is the same. None is the result of the fit.
        """
        check_is_fitted(model)
        if not (hasattr(model, "cluster_centers_") and hasattr(model, "labels_")):
            raise ValueError(
                "the model must have cluster_centers_ and labels_, but "
                f"{type(model).__name__} has not; pass a KModes, LaplacianKModes, MeanShift or "
                "KMeans."
            )
        X = check_rows(X, estimator=model, reset=False)
        check_same_rows(model, X)
        X = in_memory(X, getattr(model, "_fitted_with", {}).get("metric", "euclidean"))
        names = check_names(model, X.shape[1], feature_names)
        if bandwidth is None:
            centers = getattr(model, "modes_", model.cluster_centers_)
            dense = centers.toarray() if is_sparse(centers) else centers
            end = model.bandwidth_ if hasattr(model, "bandwidth_") else None
            result = X, model.labels_, dense.astype(np.float64)
            if not hasattr(model, "path_"):
                return cls(*result, end, 0, names)
            path, last = model.path_, len(model.path_) - 1
            averaged = own_rows_averaged(path, last)
            return cls(*result, float(path.bandwidths[-1]), last, names, averaged, path.start)
        path = path_of(model)
        point = path.at(bandwidth)
        step = int(np.flatnonzero(path.bandwidths == point.bandwidth)[0])
        if step not in known_steps(model, path):
            raise ValueError(
                f"the model did not store its labels at bandwidth {point.bandwidth:.6g}, and they "
                "cannot be recomputed from its modes; fit it with store_labels=True."
            )
        labels = labels_at(model, X, path, step)
        averaged, centers = own_rows_averaged(path, step), point.centers.astype(np.float64)
        return cls(X, labels, centers, point.bandwidth, step, names, averaged, path.start)


def path_of(model: Any) -> Path:
    """Return the path of a fitted model."""
    check_is_fitted(model)
    if not hasattr(model, "path_"):
        raise ValueError(
            f"the model must have a path of bandwidths, path_, but {type(model).__name__} has "
            "not; pass a fitted KModes or LaplacianKModes."
        )
    path: Path = model.path_
    return path


def has_own_bandwidths(path: Path) -> npt.NDArray[np.bool_]:
    """Return at which points of a path each cluster has a bandwidth of its own.

    These points are told apart by the rows averaged: their `bandwidths` are medians, which may be
    equal. With ``reassign=False`` and a number, labels are frozen too, but at one bandwidth.
    """
    frozen: npt.NDArray[np.bool_] = path.stage == 2
    if path.rows_averaged is None:
        return np.zeros_like(frozen)
    differ = path.cluster_bandwidths[frozen] != path.bandwidths[frozen, None]
    if np.any(path.stage == 1) or differ.any():
        return frozen
    frozen &= np.isinf(path.bandwidths)
    return frozen


def own_rows_averaged(path: Path, step: int) -> Doubles | None:
    """Return how many rows each mode averages; None if they have one bandwidth."""
    if path.rows_averaged is None or not has_own_bandwidths(path)[step]:
        return None
    averaged: Doubles = path.rows_averaged[step]
    return averaged


def density_bandwidths(path: Path, step: int) -> Doubles | None:
    """Return the bandwidth at which the density of each cluster is shown; None for K-means.

    An infinite bandwidth, whose density is constant, is replaced by the median of the others.
    """
    if path.stage[step] == 0 or np.isinf(path.bandwidths[step]):
        return None
    own = path.cluster_bandwidths[step]
    bandwidths: Doubles = np.where(np.isfinite(own), own, path.bandwidths[step])
    return bandwidths


def labelled_step(stages: npt.NDArray[np.integer[Any]]) -> int:
    """Return the step whose centers determine the labels at the last step.

    It is the last one before the labels are frozen.
    """
    steps = np.flatnonzero(stages < 2)
    return int(steps[-1]) if len(steps) else len(stages) - 1


def row_range(rows_averaged: Doubles) -> str:
    """Return the smallest and the largest number of rows averaged, without empty clusters.

    >>> row_range(np.array([12.7, 24.1, 0.0]))
    '13 to 24 rows'
    """
    rows = np.round(rows_averaged[rows_averaged > 0]).astype(int)
    low, high = (int(rows.min()), int(rows.max())) if len(rows) else (0, 0)
    return f"{low:,} to {high:,} rows" if low < high else count_rows(low)


def count_rows(number: float) -> str:
    """Return a rounded number of rows as text.

    >>> count_rows(1), count_rows(2240.2)
    ('1 row', '2,240 rows')
    """
    return f"{number:,.0f} row{'' if round(number) == 1 else 's'}"


def known_steps(model: Any, path: Path) -> list[int]:
    """Return the steps of the path of a model at which `labels_at` finds the labels."""
    if path.labels is not None or not is_soft(model):
        return list(range(len(path)))
    last = list(range(labelled_step(path.stage), len(path)))
    return [0, *last] if path.start == "K-means" and path.stage[0] == 0 < last[0] else last


def labels_along(model: Any, X: Any, path: Path) -> Labels:
    """Return the labels at every step of the path, all of which must be known."""
    if path.labels is not None:
        return path.labels
    return np.stack([labels_at(model, X, path, step) for step in range(len(path))])


def labels_at(model: Any, X: Any, path: Path, step: int) -> Labels:
    """Return the labels at a step of the path; they are recomputed if they were not stored."""
    if path.labels is not None:
        stored: Labels = path.labels[step]
        return stored
    if step >= labelled_step(path.stage):
        labels: Labels = model.labels_
        return labels
    rescaling = Rescaling.of(X)
    centers = path.centers[labelled_step(path.stage[: step + 1])].astype(np.float64)
    with MemoryDataset(rescaling.to_internal(X), n_clusters=len(centers)) as dataset:
        assign(dataset, rescaling.to_internal(centers))
        return dataset.labels()


def start_center(start: str) -> str:
    """Return the name of the mean of an initial cluster, from `Path.start`."""
    return "K-means center" if start == "K-means" else f"{start} mean"


def is_soft(model: Any) -> bool:
    """Return whether rows have shares in clusters, so that labels do not follow from centers."""
    return hasattr(model, "assignments_")


def comparable_objectives(model: Any, path: Path) -> Doubles:
    """Return the objectives along a path of the model; NaN where they lack the term of the graph.

    That of `LaplacianKModes` has this term only where the labels are found.
    """
    if getattr(model, "smoothing_", 0) == 0:
        return path.objectives
    return np.where(path.stage == 1, path.objectives, np.nan)


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

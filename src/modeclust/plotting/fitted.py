"""What displays need of a fitted model, checked before anything is drawn."""

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, column_or_1d

from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_rows
from modeclust.path import Path
from modeclust.plotting.exemplars import labels_at
from modeclust.solvers.bandwidth import choose_bandwidth

Doubles = npt.NDArray[np.float64]

MOST_COMPARED = 1_000  # rows, with those of the fit


class Fitted(NamedTuple):
    """A clustering at one bandwidth, and the data that the model was fitted on."""

    X: Any
    labels: npt.NDArray[np.integer[Any]]  # (N,)
    centers: Doubles  # (K, D)
    bandwidth: float | None  # None where the model has none
    step: int  # the place on the path, where there is one
    feature_names: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        bandwidth: float | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> "Fitted":
        """Return what `model` found in `X` at the `bandwidth`, None for where it ended."""
        check_is_fitted(model)
        if not (hasattr(model, "cluster_centers_") and hasattr(model, "labels_")):
            raise ValueError(
                "the model must have cluster_centers_ and labels_, which "
                f"{type(model).__name__} has not; pass a KModes, MeanShift or KMeans."
            )
        X = check_rows(X, estimator=model, reset=False)
        check_rows_of_fit(model, X)
        names = check_names(model, X.shape[1], feature_names)
        if bandwidth is None:
            centers = model.cluster_centers_
            dense = centers.toarray() if is_sparse(centers) else centers
            end = getattr(model, "bandwidth_", None)
            last = len(model.path_) - 1 if hasattr(model, "path_") else 0
            return cls(X, model.labels_, dense.astype(np.float64), end, last, names)
        path = path_of(model)
        point = path.at(bandwidth)
        step = int(np.flatnonzero(path.bandwidths == point.bandwidth)[0])
        is_last = step == len(path) - 1
        if path.labels is None and not is_last and step > 0 and hasattr(model, "assignments_"):
            raise ValueError(
                f"the model keeps no labels at bandwidth {point.bandwidth:.6g}, and they are not "
                "those of the nearest centroids; fit it with store_labels=True."
            )
        labels = model.labels_ if is_last else labels_at(X, path, step)
        return cls(X, labels, point.centers.astype(np.float64), point.bandwidth, step, names)


def check_rows_of_fit(model: Any, X: Any, numbers: npt.NDArray[np.intp] | None = None) -> None:
    """Refuse rows that are not those of the fit, in their order, as far as a few of them tell.

    Models that can tell have `_first_other_row`; of others only the number of rows is known.
    Where the rows are a sample, `numbers` are those that they have among all.
    """
    n_rows = len(model.labels_)
    if X.shape[0] != n_rows:
        raise ValueError(
            f"X must be the data that the model was fitted on, {n_rows} rows, got {X.shape[0]}."
        )
    if not hasattr(model, "_first_other_row"):
        return
    places = np.unique(np.linspace(0, n_rows - 1, MOST_COMPARED).astype(np.intp))
    if (row := model._first_other_row(X, places)) is not None:
        number = row if numbers is None else numbers[row]
        raise ValueError(
            "X must be the data that the model was fitted on, its rows in the same order, but row "
            f"{number} is not what it was; pass them as they were, or fit the model again."
        )


def path_of(model: Any) -> Path:
    """Return the path of a fitted model."""
    check_is_fitted(model)
    if not hasattr(model, "path_"):
        raise ValueError(
            f"the model must have a path of bandwidths, path_, which {type(model).__name__} has "
            "not; pass a fitted KModes."
        )
    path: Path = model.path_
    return path


def check_names(
    model: Any, n_features: int, feature_names: Sequence[str] | None
) -> tuple[str, ...] | None:
    """Return the names given, or else those seen by `fit`; None where there are none."""
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


def fitted_with(model: Any, name: str) -> Any:
    """Return a parameter as it was in the fit; None where the model has none of that name."""
    kept = getattr(model, "_fitted_with", {})
    return kept[name] if name in kept else getattr(model, name, None)


def scales_of(model: Any, X: Any, weight: Doubles | None) -> Doubles | None:
    """Return the local scales that an adaptive model gives to the rows; None for others.

    Where it draws rows without a fixed seed, so does this with another.
    """
    if not fitted_with(model, "adaptive"):
        return None
    seed = model.random_state if isinstance(model.random_state, Integral) else 0
    rows = Rescaling.of(X).to_internal(X)
    with MemoryDataset(rows, weight=weight, n_jobs=model.n_jobs) as dataset:
        # Any bandwidth leaves the same scales.
        _, scales = choose_bandwidth(dataset, 1.0, local=True, random_state=seed)
    return np.asarray(scales)


def check_image_shape(image_shape: Sequence[int] | None, n_features: int) -> tuple[int, ...] | None:
    """Return the shape of images that have as many numbers as there are features."""
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
    """Return one class for each row."""
    classes: npt.NDArray[Any] = column_or_1d(y)
    if len(classes) != n_rows:
        raise ValueError(
            f"y must have one class for each of the {n_rows} rows of X, got {len(classes)}."
        )
    missing = np.array([_is_missing(value) for value in classes.tolist()])
    if missing.any():
        raise ValueError(
            f"y must have a class for each row, but {missing.sum()} are missing, the first in row "
            f"{missing.argmax()}; give these a class of their own."
        )
    if classes.dtype.kind == "f" and not np.array_equal(classes, np.round(classes)):
        raise ValueError("y must be classes, got numbers that are not whole; group them first.")
    return classes.astype(str) if classes.dtype.kind == "O" else classes


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)

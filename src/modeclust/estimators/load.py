"""Models as files: reading them."""

import os
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from modeclust import __version__
from modeclust.data.reading import is_sparse
from modeclust.estimators.kernel_density import KernelDensity
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.laplacian_kmodes import LaplacianKModes
from modeclust.estimators.mean_shift import MeanShift
from modeclust.estimators.neighborhood import Neighborhood
from modeclust.estimators.saving import NOT_SAVED, may_be_fitted
from modeclust.estimators.scaling import Scaling
from modeclust.exceptions import ModelFileError, ScaledModelWarning
from modeclust.io.atomic import in_a_line
from modeclust.io.model_file import is_array, read_document
from modeclust.path import Path
from modeclust.solvers.streaming import SufficientStatistics

ESTIMATORS: dict[str, Any] = {cls.__name__: cls for cls in (KModes, LaplacianKModes, MeanShift)}
# What each must have beside what all have.
REQUIRED = {
    KModes: [
        "path_",
        "redundancy_",
        "n_steps_",
        "n_samples_seen_",
        "_statistics",
        "_n_features_out",
    ],
    LaplacianKModes: ["path_", "smoothing_", "assignments_", "affinity_", "_neighborhood"],
    MeanShift: ["_kernel_density"],
}


class Saved(NamedTuple):
    """What is in the file of a model."""

    model: Any
    notes: dict[str, Any]
    version: str  # of modeclust, that wrote it


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that its `save` has written.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    KModes, LaplacianKModes or MeanShift
        The model, which predicts the same bits as the one that was saved.

    Raises
    ------
    ModelFileError
        The file is not a model, is damaged, holds parts that do not fit together, or was
        written by a newer version (other than in its third number).

    Warns
    -----
    ScaledModelWarning
        The model was fitted by ``modeclust fit --standardize``, and takes scaled rows: pass
        ``model.scaling_.transform(X)`` to it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import modeclust
    >>> X = np.array([[0.0], [1.0], [1.1], [1.2], [10.0], [11.0]])
    >>> model = modeclust.KModes(2, bandwidth=1.0, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.npz")
    ...     same = modeclust.load(Path(folder) / "model.npz")
    >>> np.array_equal(same.predict(X), model.labels_)
    True
    """
    model = read_model(path).model
    if hasattr(model, "scaling_"):
        warnings.warn(
            f"{os.fspath(path)!r} holds a model of standardized columns, which takes rows that are "
            "scaled in the same way: pass model.scaling_.transform(X) to it, or let `modeclust "
            "predict` do so.",
            ScaledModelWarning,
            stacklevel=2,
        )
    return model


def read_model(path: str | os.PathLike[str]) -> Saved:
    """Read a model with the notes beside it."""
    types = {name: cls._saved_types for name, cls in ESTIMATORS.items()}
    document = read_document(path, __version__, types)
    model = ESTIMATORS[document.class_name]()  # with defaults for parameters of later versions
    wrong = _wrong_name(model, document.state)
    if wrong is None:
        vars(model).update(document.state)
        wrong = _wrong_value(model)
    if wrong is None and not isinstance(document.notes, dict):
        wrong = f"notes must be a dict, got {_told(document.notes)}"
    if wrong is not None:
        raise misfit(path, wrong)
    return Saved(model, document.notes, document.version)


def misfit(path: str | os.PathLike[str], wrong: str) -> ModelFileError:
    """Return the error of a file whose parts do not fit together."""
    return ModelFileError(f"{os.fspath(path)!r} holds no usable model: {wrong}. Save it again.")


def _wrong_name(model: Any, state: dict[str, Any]) -> str | None:
    """Return what is wrong with names: they are those of parameters and fitted attributes."""
    parameters = model.get_params()
    for name in state:
        settable = may_be_fitted(name) and name not in NOT_SAVED
        if name not in parameters and (not settable or hasattr(type(model), name)):
            return f"a {type(model).__name__} has no attribute {name!r} to be set"
    return None


def _wrong_value(model: Any) -> str | None:
    """Return what is wrong with a model: parts that it lacks or that do not fit the others."""
    try:
        model._validate_params()
    except ValueError as error:
        return in_a_line(error)  # of an array in place of a number it shows some rows
    required = ["n_features_in_", "cluster_centers_", "labels_", "counts_", "bandwidth_"]
    required.append("_fitted_with")
    required += REQUIRED[type(model)]
    if missing := [name for name in required if not hasattr(model, name)]:
        return f"it lacks {', '.join(missing)}"
    for name, fits, expected in _checks(model):
        if not fits:
            return f"{name} must be {expected}, got {_told(vars(model)[name])}"
    return None


def _checks(model: Any) -> Iterator[tuple[str, bool, str]]:
    """Yield names of attributes, whether they fit, and what they must be.

    What follows one that does not fit must not be asked for.
    """
    width, centers, labels = model.n_features_in_, model.cluster_centers_, model.labels_
    fits = type(width) is int and is_array(centers, "f", None, width)
    fits = fits and bool(np.isfinite(centers).all())
    yield "cluster_centers_", fits, f"finite numbers of shape (K > 0, n_features_in_={width!r})"
    size = len(centers)
    fits = is_array(labels, "iu", None) and 0 <= labels.min() <= labels.max() < size
    yield "labels_", fits, f"whole numbers from 0 to {size - 1} in one dimension"
    yield "counts_", is_array(model.counts_, "iu", size), f"{size} whole numbers"
    bandwidth = model.bandwidth_
    fits = isinstance(bandwidth, float | np.floating) and bool(bandwidth > 0)
    yield "bandwidth_", fits, "a number > 0"
    names = ", ".join(model._needed_after_fit)
    yield "_fitted_with", _are_parameters(model), f"values that a fit allows of {names}"
    if hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_
        fits = is_array(names, "O", width) and all(isinstance(name, str) for name in names)
        yield "feature_names_in_", fits, f"{width} names"
    if "_sklearn_output_config" in vars(model):
        yield "_sklearn_output_config", isinstance(model._sklearn_output_config, dict), "a dict"
    n_rows = len(labels)
    if isinstance(model, MeanShift):
        fits = _is_kernel_density(model._kernel_density, n_rows, width) and _is_steady(model)
        yield "_kernel_density", fits, f"rows of {width} features, one for each label"
        return
    fits = _is_path(model.path_, n_rows, size, width)
    yield "path_", fits, f"a path of {size} centroids in {width} features"
    if isinstance(model, KModes):
        fits = _is_square(model.redundancy_, size)
        yield "redundancy_", fits, f"sparse of shape {(size, size)}"
        for name in ("n_steps_", "n_samples_seen_"):
            value = vars(model)[name]
            yield name, type(value) is int and value > 0, "a whole number > 0"
        yield "_n_features_out", model._n_features_out == size, f"{size}"
        fits = _are_statistics(model._statistics, size, width)
        yield "_statistics", fits, f"sums of {size} clusters in {width} features"
        if hasattr(model, "scaling_"):
            fits = _is_scaling(model.scaling_, width)
            yield "scaling_", fits, f"means and scales > 0 of {width} features"
        return
    smoothing, shares = model.smoothing_, model.assignments_
    fits = isinstance(smoothing, float) and 0 <= smoothing < np.inf
    yield "smoothing_", fits, "a finite number >= 0"
    fits = is_array(shares, "f", n_rows, size) and bool((shares >= 0).all())
    fits = fits and bool(np.all(np.abs(shares.sum(axis=1) - 1) < 1e-6))
    yield "assignments_", fits, f"shares of shape {(n_rows, size)}, of which rows sum to 1"
    fits = _is_square(model.affinity_, n_rows) and bool(np.isfinite(model.affinity_.data).all())
    yield "affinity_", fits, f"sparse and finite, of shape {(n_rows, n_rows)}"
    fits = _is_neighborhood(model._neighborhood, n_rows, width)
    yield "_neighborhood", fits, f"rows of {width} features, one for each label"


def _are_parameters(model: Any) -> bool:
    kept = model._fitted_with
    if not isinstance(kept, dict) or set(kept) != set(model._needed_after_fit):
        return False
    try:
        type(model)(**kept)._validate_params()
    except ValueError:
        return False
    return True


def _is_path(path: Any, n_rows: int, size: int, width: int) -> bool:
    if not isinstance(path, Path) or not is_array(path.bandwidths, "f", None):
        return False
    n, names = len(path), path.feature_names
    return (
        is_array(path.centers, "f", n, size, width)
        and is_array(path.objectives, "f", n)
        and is_array(path.inertias, "f", n)
        and is_array(path.counts, "iu", n, size)
        and is_array(path.n_iter, "iu", n)
        and (path.labels is None or is_array(path.labels, "iu", n, n_rows))
        and (names is None or is_array(names, "OU", width))
    )


def _are_statistics(statistics: Any, size: int, width: int) -> bool:
    if not isinstance(statistics, SufficientStatistics):
        return False
    numbers: list[Any] = [statistics.weight, statistics.scale]
    return (
        is_array(statistics.centers, "f", size, width)
        and is_array(statistics.mass, "f", size)
        and is_array(statistics.reference, "f", size)
        and bool(np.isfinite(statistics.centers).all() and np.isfinite(statistics.mass).all())
        and bool(np.all(statistics.mass >= 0) and np.all(statistics.reference >= 0))
        and all(isinstance(value, float) and 0 < value < np.inf for value in numbers)
    )


def _is_scaling(scaling: Any, width: int) -> bool:
    if not isinstance(scaling, Scaling):
        return False
    mean, scale = scaling.mean, scaling.scale
    return (
        is_array(scale, "f", width)
        and bool(np.isfinite(scale).all() and (scale > 0).all())
        and (mean is None or (is_array(mean, "f", width) and bool(np.isfinite(mean).all())))
    )


def _is_kernel_density(kernel_density: Any, n_rows: int, width: int) -> bool:
    if not isinstance(kernel_density, KernelDensity):
        return False
    weight, scale = kernel_density.weight, kernel_density.scale
    return (
        _are_rows(kernel_density.X, n_rows, width)
        and all(v is None or is_array(v, "f", n_rows) for v in (weight, scale))
        and (weight is None or bool(np.isfinite(weight).all() and (weight >= 0).all()))
        and (scale is None or bool(np.isfinite(scale).all() and (scale > 0).all()))
    )


def _is_steady(model: MeanShift) -> bool:
    """Return whether the density can be found at its bandwidth, as `fit` makes sure."""
    try:
        model._kernel_density.open(model._fitted_with["kernel"], model.bandwidth_, 1)
    except ValueError:
        return False
    return True


def _is_neighborhood(neighborhood: Any, n_rows: int, width: int) -> bool:
    if not isinstance(neighborhood, Neighborhood):
        return False
    n_neighbors, scale = neighborhood.n_neighbors, neighborhood.scale
    fits = scale is None or isinstance(scale, float) or is_array(scale, "f", n_rows)
    return (
        _are_rows(neighborhood.X, n_rows, width)
        and type(n_neighbors) is int
        and n_neighbors > 0
        and fits
        and (scale is None or bool(np.all(np.asarray(scale) >= 0)))
    )


def _are_rows(X: Any, n_rows: int, width: int) -> bool:
    if is_sparse(X):
        fits = X.format == "csr" and X.shape == (n_rows, width) and X.dtype.kind == "f"
    else:
        fits = is_array(X, "f", n_rows, width)
    return fits and bool(np.isfinite(X.data if is_sparse(X) else X).all())


def _is_square(matrix: Any, size: int) -> bool:
    return is_sparse(matrix) and matrix.shape == (size, size)


def _told(value: Any) -> str:
    """Return in a few words what a value is."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    known = isinstance(value, bool | int | float | str)
    return f"{type(value).__name__} {str(value)[:40]!r}" if known else type(value).__name__

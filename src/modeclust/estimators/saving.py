"""Saving and loading models."""

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from modeclust import __version__
from modeclust._sklearn import INTERNAL_ATTRIBUTES, OUTPUT_CONFIG, OUTPUTS, check_parameters
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.data.reading import is_dask, is_sparse
from modeclust.data.validation import check_n_jobs
from modeclust.exceptions import ModelFileError
from modeclust.io.atomic import StrPath, in_a_line
from modeclust.io.model_file import Document, is_array, read_document, write_document
from modeclust.path import Path
from modeclust.preparation.saving import SAVED_TYPES, SavedScaler, SavedTable, to_saved

PREPARATION = "preparation"  # the name of the note that has it
# The estimators that can be saved, and their modules.
MODULES = {"KModes": "kmodes", "LaplacianKModes": "laplacian_kmodes", "MeanShift": "mean_shift"}


class SavingMixin:
    """Adds `save` to an estimator, which must be listed in `MODULES`."""

    # Dataclasses among the attributes.
    _saved_types: ClassVar[tuple[type, ...]] = ()
    # Attributes of the fitted estimator besides those that all estimators have.
    _required_attributes: ClassVar[tuple[str, ...]] = ()
    _needed_after_fit: ClassVar[tuple[str, ...]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, which `modeclust.load` reads.

        The file is a zip archive of arrays and a JSON text. It contains no pickle, so nothing in it
        is executed. It has all parameters and fitted attributes; a loaded model gives the same
        predictions. Callbacks, metadata requests and your own attributes whose names neither begin
        nor end with an underscore are not saved. An existing file is replaced when the new one is
        complete. The lazy labels of a Dask collection are computed.

        Parameters
        ----------
        path : str or path-like
            The file to write. The usual extension is ``.npz``; none is added.

        Raises
        ------
        NotFittedError
            The model is not fitted.
        TypeError
            A parameter is of a type that cannot be saved, such as a callable `init`.
        """
        write_model(path, self)

    def _state(self) -> dict[str, Any]:
        """Return the parameters and attributes to save."""
        model: Any = self
        parameters = model.get_params(deep=False)
        return {
            name: value.compute() if is_dask(value) else value
            for name, value in vars(model).items()
            if name in parameters or _is_saved(name)
        }

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        """Yield names of loaded attributes, whether each is right, and what it must be.

        Stop at the first attribute that is wrong: later checks assume that it is right.
        """
        model: Any = self
        width, centers, labels = model.n_features_in_, model.cluster_centers_, model.labels_
        is_right = type(width) is int and is_array(centers, "f", None, width)
        is_right = is_right and bool(np.isfinite(centers).all())
        expected = f"finite numbers of shape (K > 0, n_features_in_={width!r})"
        yield "cluster_centers_", is_right, expected
        size = len(centers)
        is_right = is_array(labels, "iu", None) and 0 <= labels.min() <= labels.max() < size
        yield "labels_", is_right, f"integers from 0 to {size - 1} in one dimension"
        yield "counts_", is_array(model.counts_, "iu", size), f"{size} integers"
        bandwidth = model.bandwidth_
        is_right = isinstance(bandwidth, float | np.floating) and bool(bandwidth > 0)
        yield "bandwidth_", is_right, "a number > 0"
        names = ", ".join(self._needed_after_fit)
        yield "_fitted_with", _are_parameters(model), f"valid values of {names}"
        yield "_sparse_with_y", type(getattr(model, "_sparse_with_y", False)) is bool, "a bool"
        if hasattr(model, "feature_names_in_"):
            names = model.feature_names_in_
            is_right = is_array(names, "O", width) and all(isinstance(name, str) for name in names)
            yield "feature_names_in_", is_right, f"{width} names"
        if OUTPUT_CONFIG in vars(model):
            output = vars(model)[OUTPUT_CONFIG]
            is_right = isinstance(output, dict) and all(
                name == "transform" and isinstance(kind, str) and kind in OUTPUTS
                for name, kind in output.items()
            )
            yield OUTPUT_CONFIG, is_right, f"a dict of transform, which is one of {OUTPUTS}"


class Saved(NamedTuple):
    """The contents of the file of a model."""

    model: Any
    notes: dict[str, Any]
    version: str  # of the modeclust that wrote it
    preparation: Any = None  # a fitted TablePreparation or StandardScaler, if there is one

    @property
    def estimator(self) -> Any:
        """The model, in a pipeline if there is a preparation."""
        if self.preparation is None:
            return self.model
        return make_pipeline(self.preparation, self.model)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, alone or in a pipeline with the preparation of its rows.

    Parameters
    ----------
    model : KModes, LaplacianKModes, MeanShift or Pipeline
        The fitted model, which is written as by its method `save`. A scikit-learn pipeline has a
        `TablePreparation` or a `StandardScaler` before the model.
    path : str or path-like
        The file to write. The usual extension is ``.npz``; none is added.

    Raises
    ------
    NotFittedError
        The model is not fitted.
    TypeError
        The model or a step of the pipeline is of a type that cannot be saved.

    See Also
    --------
    load : Reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import modeclust
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> X = load_wine().data
    >>> model = make_pipeline(modeclust.TablePreparation(), modeclust.KModes(3, random_state=0))
    >>> labels = model.fit_predict(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     modeclust.save(model, Path(folder) / "wine.npz")
    ...     same = modeclust.load(Path(folder) / "wine.npz")
    >>> (same.predict(X) == labels).all()
    np.True_
    """
    if not isinstance(model, Pipeline):
        write_model(path, model)
        return
    before = model[:-1] if len(model) > 2 else model[0] if len(model) > 1 else None
    write_model(path, model[-1], preparation=before)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that was written by `modeclust.save` or its method `save`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    KModes, LaplacianKModes, MeanShift or Pipeline
        The model. It gives the same predictions as the one that was saved. If the rows are to be
        prepared before, it is a scikit-learn pipeline of the preparation and the model,
        ``pipeline[-1]``.

    Raises
    ------
    ModelFileError
        The file is not a model, is damaged, has parts that do not belong together, or was written
        by a newer version (a newer third number does not matter).

    See Also
    --------
    save : Writes the file.

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
    return read_model(path).estimator


def write_model(
    path: StrPath, model: Any, notes: dict[str, Any] | None = None, preparation: Any = None
) -> None:
    """Write a fitted model, with notes and the preparation of rows that `read_model` returns."""
    check_is_fitted(model)
    name = type(model).__name__
    if name not in MODULES or estimator_class(name) is not type(model):
        raise TypeError(
            f"model must be one of {', '.join(MODULES)} to be saved, got a {name}, which `load` "
            "does not know."
        )
    _check_unchanged(model)
    notes = dict(notes or {})
    if preparation is not None:
        notes[PREPARATION] = to_saved(preparation)
    document = Document(__version__, name, model._state(), notes)
    write_document(path, document, (*model._saved_types, *SAVED_TYPES))


def _check_unchanged(model: Any) -> None:
    """Raise an error if a model is not as its last fit has left it, and so could not be loaded."""
    model._validate_params()
    check_n_jobs(model.n_jobs)
    n_features = model.cluster_centers_.shape[1]
    if n_features != model.n_features_in_:
        raise ValueError(
            f"the model has centers of {n_features} features, but its last call of fit, which "
            f"failed, got {model.n_features_in_}; fit it again."
        )


def read_model(path: StrPath) -> Saved:
    """Read a model with its notes."""
    classes = {name: estimator_class(name) for name in MODULES}
    types = {name: (*cls._saved_types, *SAVED_TYPES) for name, cls in classes.items()}
    document = read_document(path, __version__, types)
    model = classes[document.class_name]()  # for parameters that the file lacks
    try:
        _check_names(model, document.state)
        vars(model).update(document.state)
        _check_values(model)
        if not isinstance(document.notes, dict):
            raise ValueError(f"notes must be a dict, got {_describe(document.notes)}")
        preparation = _restored(document.notes.pop(PREPARATION, None), model)
    except ValueError as error:
        wrong = in_a_line(error)  # a message may contain an array
        if document.version != __version__:
            wrong += f"; modeclust {document.version} wrote it, and this is {__version__}"
        raise unusable_model(path, wrong) from None
    return Saved(model, document.notes, document.version, preparation)


def _restored(saved: Any, model: Any) -> Any:
    """Return the preparation of a file, or raise an error if it does not fit the model."""
    if saved is None:
        return None
    if not isinstance(saved, SavedTable | SavedScaler):
        raise ValueError(f"the preparation must be of a known kind, got {_describe(saved)}")
    preparation = saved.restore()
    width = len(preparation.get_feature_names_out())
    if width != model.n_features_in_:
        raise ValueError(f"the preparation has {width} features, the model {model.n_features_in_}")
    return preparation


def unusable_model(path: StrPath, wrong: str) -> ModelFileError:
    """Return the error for a file whose parts do not belong together."""
    return ModelFileError(f"{os.fspath(path)!r} holds no usable model: {wrong}. Fit it again.")


def estimator_class(name: str) -> Any:
    """Return an estimator that can be saved; it is imported when it is needed."""
    return getattr(import_module(f"modeclust.estimators.{MODULES[name]}"), name)


def check_path(path: Any, n_rows: int, size: int, width: int) -> Iterator[tuple[str, bool, str]]:
    """Yield whether a loaded path belongs to a model of these sizes; see `_loaded_checks`."""
    is_right = isinstance(path, Path) and path.centers.shape[1:] == (size, width)
    is_right = is_right and (path.labels is None or path.labels.shape[1] == n_rows)
    yield "path_", is_right, f"a path of {size} modes in {width} features"


def check_modes(model: Any, size: int, width: int) -> Iterator[tuple[str, bool, str]]:
    """Yield whether the loaded modes belong to a model of these sizes; see `_loaded_checks`."""
    is_right = is_array(model.modes_, "f", size, width) and bool(np.isfinite(model.modes_).all())
    yield "modes_", is_right, f"{size} modes in {width} features"
    for name in ("mode_bandwidths_", "rows_averaged_"):
        yield name, is_array(vars(model)[name], "f", size), f"{size} numbers"


def check_count(model: Any, size: int) -> Iterator[tuple[str, bool, str]]:
    """Yield whether a loaded model has this number of clusters; see `_loaded_checks`."""
    is_right = type(model.n_clusters_) is int and model.n_clusters_ == size
    yield "n_clusters_", is_right, f"{size}"
    suggestion = model.cluster_suggestion_
    is_right = suggestion is None or isinstance(suggestion, ClusterSuggestion)
    yield "cluster_suggestion_", is_right, "a suggestion or None"


def are_rows(X: Any, n_rows: int | None, width: int | None) -> bool:
    """Return whether `X` has finite dense or CSR rows; None stands for any positive number."""
    if not is_sparse(X):
        return is_array(X, "f", n_rows, width) and bool(np.isfinite(X).all())
    is_right = X.format == "csr" and X.dtype.kind == "f" and bool(np.isfinite(X.data).all())
    is_right = is_right and bool(X.has_canonical_format)  # as the core expects
    return is_right and all(m in (None, n) for n, m in zip(X.shape, (n_rows, width), strict=True))


def is_square(matrix: Any, size: int) -> bool:
    """Return whether this is a sparse matrix of shape (size, size)."""
    return is_sparse(matrix) and matrix.shape == (size, size)


def _is_saved(name: str) -> bool:
    """Return whether an attribute has a name that `fit` may set."""
    is_fitted = name.startswith("_") or name.endswith("_")
    return is_fitted and name not in INTERNAL_ATTRIBUTES


def _check_names(model: Any, state: dict[str, Any]) -> None:
    """Raise an error if there are names other than parameters and fitted attributes."""
    parameters = model.get_params()
    for name in state:
        if name not in parameters and (not _is_saved(name) or hasattr(type(model), name)):
            raise ValueError(f"a {type(model).__name__} has no attribute {name!r} to be set")


def _check_values(model: Any) -> None:
    """Raise an error if attributes are missing or do not belong together."""
    check_parameters(model)
    if model.n_jobs == 0:
        raise ValueError("n_jobs must not be 0")
    required = ["n_features_in_", "cluster_centers_", "labels_", "counts_", "bandwidth_"]
    required += ["_fitted_with", *model._required_attributes]
    if missing := [name for name in required if not hasattr(model, name)]:
        raise ValueError(f"it lacks {', '.join(missing)}")
    for name, is_right, expected in model._loaded_checks():
        if not is_right:
            raise ValueError(f"{name} must be {expected}, got {_describe(vars(model)[name])}")


def _are_parameters(model: Any) -> bool:
    kept = model._fitted_with
    if not isinstance(kept, dict) or set(kept) != set(model._needed_after_fit):
        return False
    with suppress(ValueError):
        check_parameters(type(model)(**kept))
        return True
    return False


def _describe(value: Any) -> str:
    """Return a short text about a value."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    is_short = isinstance(value, bool | int | float | str)
    return f"{type(value).__name__} {str(value)[:40]!r}" if is_short else type(value).__name__

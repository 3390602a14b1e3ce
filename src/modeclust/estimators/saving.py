"""Models as files: writing them."""

import os
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from modeclust import __version__
from modeclust.data.dask.chunks import is_dask
from modeclust.io.model_file import Document, write_document

# What scikit-learn keeps in an estimator of callbacks, and of who asked for metadata.
NOT_SAVED = {
    "_metadata_request",
    "_callback_fit_ctx",
    "_parent_callback_ctx",
    "_skl_callbacks",
    "_skl_callbacks_to_teardown",
}


class SavingMixin:
    """Gives `save` to an estimator, which must be listed in `modeclust.estimators.load`."""

    # Dataclasses among the attributes.
    _saved_types: ClassVar[tuple[type, ...]] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, which `modeclust.load` reads.

        The file is a zip of arrays and a JSON text, without pickle: nothing in it is executed.
        It has all parameters and fitted attributes, and a loaded model predicts the same bits.
        Callbacks, metadata requests and attributes of your own are not saved. The file appears
        when it is complete: after an error what was there before is still there. The labels of a
        Dask collection are computed.

        Parameters
        ----------
        path : str or path-like
            Where to write, used as it is; ``.npz`` is a fitting ending.

        Raises
        ------
        NotFittedError
            The model is not fitted.
        TypeError
            A parameter is of a kind that cannot be saved, such as a callable `init`.
        """
        write_model(path, self)


def may_be_fitted(name: str) -> bool:
    """Return whether an attribute has a name such as `fit` sets."""
    return name.startswith("_") or name.endswith("_")


def write_model(
    path: str | os.PathLike[str], model: Any, notes: dict[str, Any] | None = None
) -> None:
    """Write a fitted model, with notes beside it that `read_model` returns."""
    from modeclust.estimators.load import ESTIMATORS  # which imports what imports this

    check_is_fitted(model)
    if ESTIMATORS.get(type(model).__name__) is not type(model):
        raise TypeError(
            f"model must be one of {', '.join(ESTIMATORS)} to be saved, got a "
            f"{type(model).__name__}, which `load` would not know."
        )
    parameters = model.get_params(deep=False)
    state = {
        name: value.compute() if is_dask(value) else value
        for name, value in vars(model).items()
        if name in parameters or (may_be_fitted(name) and name not in NOT_SAVED)
    }
    document = Document(__version__, type(model).__name__, state, notes or {})
    write_document(path, document, model._saved_types)

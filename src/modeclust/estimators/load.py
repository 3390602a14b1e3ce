"""Models as files: reading them."""

import os
from typing import Any, NamedTuple

from modeclust import __version__
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.mean_shift import MeanShift
from modeclust.persistence import read_document

ESTIMATORS: dict[str, Any] = {cls.__name__: cls for cls in (KModes, MeanShift)}


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
    KModes or MeanShift
        The model, which predicts the same bits as the one that was saved.

    Raises
    ------
    ModelFileError
        The file is not a model, is damaged, or was written by a newer major version.

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
    return read_model(path).model


def read_model(path: str | os.PathLike[str]) -> Saved:
    """Read a model with the notes beside it."""
    types = {name: cls._saved_types for name, cls in ESTIMATORS.items()}
    document = read_document(path, __version__, types)
    model = ESTIMATORS[document.class_name]()  # with defaults for parameters of later versions
    vars(model).update(document.state)
    return Saved(model, document.notes, document.version)

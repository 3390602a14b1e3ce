"""What `predict` and `info` do with a model that was saved."""

import math
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from modeclust.cli.folder import MODEL
from modeclust.cli.formats import TextFormat
from modeclust.cli.job import read_data
from modeclust.cli.tables import write_labels
from modeclust.estimators.saving import Saved, read_model, unusable_model
from modeclust.estimators.scaling import Scaling


def open_model(path: Path) -> Saved:
    """Read a model from its file, or from the folder that `fit` wrote."""
    if path.is_dir():
        if not (path / MODEL).exists():
            raise ValueError(
                f"{str(path)!r} has no {MODEL}; name the folder that `fit` wrote, or the file of a "
                "model."
            )
        path = path / MODEL
    saved = read_model(path)
    for name, fits in _notes_that_fit(saved):
        if not fits:
            raise unusable_model(path, f"the note {name!r} does not fit the model")
    return saved


def _notes_that_fit(saved: Saved) -> Iterator[tuple[str, bool]]:
    """Yield the notes by name, and whether each is what `fit` writes."""
    note, width, size = saved.notes.get, saved.model.n_features_in_, len(saved.model.counts_)
    yield "data", note("data") is None or isinstance(note("data"), str)
    columns, classes = note("columns"), note("classes")
    yield "columns", columns is None or _are_names(columns, width, str)
    yield "classes", classes is None or _are_names(classes, size, str | None)


def _are_names(value: Any, length: int, kind: Any) -> bool:
    if not isinstance(value, list) or len(value) != length:
        return False
    return all(isinstance(name, kind) for name in value)


def predict_labels(
    saved: Saved,
    data: str,
    output: Path,
    *,
    id_column: str | None,
    exclude: Sequence[str],
    stream: bool | None,
    text: TextFormat,
) -> list[int]:
    """Write the label of each row of a file, and return the sizes of the clusters."""
    table = read_data(
        data, columns_of(saved), id_column=id_column, exclude=exclude, stream=stream, text=text
    )
    scaling = scaling_of(saved)
    X = table.X if scaling is None else scaling.transform(table.X)
    model = copy(saved.model)
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_  # columns were chosen by name, and X has none
    return write_labels(output, model.predict(X), len(model.cluster_centers_), table.ids)


def columns_of(saved: Saved) -> list[str] | None:
    """Return the names of the columns that a model was fitted on, where it knows them."""
    names = saved.notes.get("columns")
    if names is None and hasattr(saved.model, "feature_names_in_"):
        names = saved.model.feature_names_in_.tolist()
    return names


def scaling_of(saved: Saved) -> Scaling | None:
    """Return how the columns were scaled."""
    return getattr(saved.model, "scaling_", None)


def describe_model(saved: Saved) -> dict[str, Any]:
    """Return what there is to say of a model, as JSON knows it."""
    model, scaling = saved.model, scaling_of(saved)
    means = None if scaling is None or scaling.mean is None else scaling.mean.tolist()
    return {
        "class": type(model).__name__,
        "version": saved.version,
        "data": saved.notes.get("data"),
        "n_rows": len(model.labels_),
        "n_features": model.n_features_in_,
        "columns": columns_of(saved),
        "n_clusters": len(model.cluster_centers_),
        "counts": model.counts_.tolist(),
        "classes": saved.notes.get("classes"),
        "bandwidth": None if math.isinf(model.bandwidth_) else float(model.bandwidth_),
        "means": means,
        "scales": None if scaling is None else scaling.scale.tolist(),
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
    }


def _plain(value: Any) -> Any:
    """Return a parameter as JSON knows it, or else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)

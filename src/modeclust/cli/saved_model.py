"""What `predict` and `info` do with a saved model."""

import math
import re
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from modeclust.cli.fit import describe_preparation, find_ids, read_data, scale_rows
from modeclust.cli.folder import MODEL
from modeclust.cli.readers.columns import FrameColumns, iterate_blocks
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import Table
from modeclust.cli.writers import MULTI_COLUMN_ENDINGS, output_ending, write_labels
from modeclust.data.reading import is_dask
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.saving import Saved, read_model, unusable_model
from modeclust.preparation.table import TablePreparation


def open_model(path: Path) -> Saved:
    """Read a model from its file, or from the output folder of `fit`."""
    if path.is_dir():
        if not (path / MODEL).exists():
            raise ValueError(
                f"{str(path)!r} has no {MODEL}; pass the output folder of `modeclust fit`, or a "
                "model file."
            )
        path = path / MODEL
    saved = read_model(path)
    notes, model = saved.notes, saved.model
    is_valid = {
        "data": isinstance(notes.get("data"), str | None),
        "columns": _is_list_or_none(notes.get("columns"), model.n_features_in_, str),
        "classes": _is_list_or_none(notes.get("classes"), len(model.counts_), str | None),
        "ids": _is_list_or_none(notes.get("ids"), 1, str),
    }
    if wrong := [name for name in is_valid if not is_valid[name]]:
        raise unusable_model(path, f"the note {wrong[0]!r} does not fit the model")
    return saved


def _is_list_or_none(value: Any, length: int, kind: Any) -> bool:
    if not isinstance(value, list) or len(value) != length:
        return value is None
    return all(isinstance(item, kind) for item in value)


def predict_labels(
    saved: Saved, data: str, output: Path, options: ReadOptions, methods: dict[str, str]
) -> list[int]:
    """Write the label of each row, and return the number of rows in each cluster.

    `methods` are other methods of the model whose results are written, by the names of their
    columns. The features are the columns that the model was fitted on, whatever `options` say.
    """
    if "score_outliers" in methods.values() and not isinstance(saved.model, KModes):
        raise ValueError(
            f"--outliers needs a KModes, got a {type(saved.model).__name__}, which has no outlier "
            "scores; leave the option out."
        )
    model, table, X = read_for_model(saved, data, options_for(saved, options))
    others = {name: _of_rows(model, method, X) for name, method in methods.items()}
    labels = _of_rows(model, "predict", X)
    ids = table.ids
    if ids is None and output_ending(output) in MULTI_COLUMN_ENDINGS:
        ids = _find_ids(saved, table.frame)
    return write_labels(output, labels, len(model.cluster_centers_), ids, others)


def _find_ids(saved: Saved, frame: Any) -> dict[str, Any]:
    """Return the ids of a table: the column that was named when the model was fitted, or others."""
    for name in _named_ids(saved):
        if frame is not None and name in frame.columns and not frame[name].null_count():
            return {name: FrameColumns(frame).column(name)}
    return find_ids(saved.preparation, frame)


def _named_ids(saved: Saved) -> list[str]:
    """Return the name of the id column that the user chose for the fit, if any."""
    return saved.notes.get("ids") or []


def _of_rows(model: Any, method: str, X: Any) -> Any:
    """Return the results of a method for the rows, which may be streamed."""
    if is_dask(X) and not isinstance(model, KModes):  # others need the rows in memory
        return np.concatenate([getattr(model, method)(rows) for (rows,) in iterate_blocks(X)])
    return getattr(model, method)(X)


def options_for(saved: Saved, options: ReadOptions) -> ReadOptions:
    """Return how to read rows for a model: the columns that it was fitted on."""
    as_frame = isinstance(saved.preparation, TablePreparation)
    if as_frame and options.stream:
        raise ValueError(
            "--stream does not apply to a model of a prepared table, which reads new rows into "
            "memory; remove it."
        )
    texts = texts_of(saved.preparation) if as_frame else ()
    return replace(
        options,
        columns=columns_of(saved),
        optional=[*saved.preparation.ids_, *_named_ids(saved)] if as_frame else (),
        stream=False if as_frame else options.stream,
        csv_format=options.csv_format._replace(to_prepare=as_frame, texts=texts),
        as_frame=as_frame,
    )


def read_for_model(saved: Saved, data: str, options: ReadOptions) -> tuple[Any, Table, Any]:
    """Return the model, a table that it applies to, and its rows as the model takes them."""
    model, table = copy(saved.model), read_data(data, options)
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_  # the columns were selected by name, and X has no names
    if saved.preparation is None:
        return model, table, table.X
    if not isinstance(saved.preparation, TablePreparation):
        return model, table, scale_rows(table.X, saved.preparation)
    if table.X is not None:  # an array
        import polars as pl

        table = table._replace(X=None, frame=pl.DataFrame(table.X, schema=table.columns))
    return model, table, saved.preparation.transform(table.frame)


def texts_of(preparation: TablePreparation) -> list[str]:
    """Return the names of columns that were text in the table, though they may look like numbers.

    These are numbers with decimal commas, whose thousands may have dots, and categories with
    leading zeros.
    """
    columns = preparation.columns_
    numbers = [c.name for c in columns if getattr(c, "decimal", None) == ","]
    codes = [
        c.name for c in columns if any(re.match("0.", t) for t in getattr(c, "categories", ()))
    ]
    return [*numbers, *codes]


def columns_of(saved: Saved) -> list[str] | None:
    """Return the names of the columns that a model needs, if they are known."""
    if isinstance(saved.preparation, TablePreparation):
        return saved.preparation.used_
    names = saved.notes.get("columns")
    first = saved.model if saved.preparation is None else saved.preparation
    if names is None and hasattr(first, "feature_names_in_"):
        names = first.feature_names_in_.tolist()
    return names


def describe_model(saved: Saved) -> dict[str, Any]:
    """Return the contents of a model as values that JSON can hold."""
    model = saved.model
    scaler = saved.preparation if isinstance(saved.preparation, StandardScaler) else None
    means = None if scaler is None or scaler.mean_ is None else scaler.mean_.tolist()
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
        "mode_bandwidths": _as_list(model, "mode_bandwidths_"),
        "rows_averaged": _as_list(model, "rows_averaged_"),
        "means": means,
        "scales": None if scaler is None else scaler.scale_.tolist(),
        "preparation": describe_preparation(saved.preparation),
        "parameters": {name: _to_json(value) for name, value in model.get_params().items()},
    }


def _as_list(model: Any, name: str) -> list[float] | None:
    """Return an attribute of each cluster; None if the model does not have it."""
    values = getattr(model, name, None)
    return None if values is None else [float(value) for value in values]


def _to_json(value: Any) -> Any:
    """Return a parameter as a value that JSON can hold, or else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)

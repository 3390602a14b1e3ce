"""Judges of files: each returns "read" for a valid result, and "refused" for the documented error.

Any other error that a judge raises is a fault of the library.
"""

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.pipeline import Pipeline

from modeclust import KModes, load
from modeclust.cli.readers.files import TableError
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import read_table
from modeclust.exceptions import CheckpointError, ModelFileError

X = np.random.default_rng(0).normal(size=(12, 2)).round(3) + np.repeat([[0], [6]], 6, axis=0)
READ, REFUSED = "read", "refused"


def _refused(error: ValueError, path: Path) -> str:
    message = str(error)
    assert len(message.splitlines()) == 1, f"more than one line: {message!r}"
    assert len(message) < 1000 + len(str(path)), f"a long message: {message!r}"
    return REFUSED


def _finite(values: object) -> None:
    numbers = values.data if sparse.issparse(values) else np.asarray(values)
    assert numbers.dtype.kind in "biuf", f"not numbers: {numbers.dtype}"
    assert np.isfinite(numbers).all(), "not finite"


def judge_table(path: Path) -> str:
    """Read a table loaded and streamed, without and with labels and weights."""
    outcomes = {
        _judge_reading(path, stream=stream, **columns)
        for stream in (None, True)
        for columns in ({}, {"label_column": "kind", "weight_column": "w"})
    }
    return READ if READ in outcomes else REFUSED


def _judge_reading(path: Path, **options: object) -> str:
    try:
        table = read_table(path, ReadOptions(**options))
    except TableError as error:
        return _refused(error, path)
    rows, labels, weight = (
        part.compute() if hasattr(part, "compute") else part
        for part in (table.X, table.labels, table.weight)
    )
    assert rows.ndim == 2
    assert rows.shape[0] > 0
    assert rows.shape[1] == len(table.columns)
    _finite(rows)
    if sparse.issparse(rows):
        rows.check_format(full_check=True)
    if options.get("label_column"):
        assert labels.shape == weight.shape == rows.shape[:1]
        _finite(weight)
    return READ


def judge_model(path: Path) -> str:
    """Load a model, and use its methods and attributes."""
    try:
        model = load(path)
    except ModelFileError as error:
        return _refused(error, path)
    if isinstance(model, Pipeline):
        preparation, model = model.steps[0][1], model[-1]
        values = {c.name: "2030-01-11" if c.kind == "date" else "1" for c in preparation.columns_}
        frame = pl.DataFrame({name: [value, None, "?"] for name, value in values.items()})
        assert preparation.transform(frame).shape == (3, model.n_features_in_)
        preparation.inverse_transform(model.cluster_centers_, "dict")
        assert preparation.describe()
    rows = np.resize(X, (len(X), model.n_features_in_)).astype(model.cluster_centers_.dtype)
    labels = model.predict(rows)
    n_clusters = len(model.cluster_centers_)
    assert labels.shape == (len(rows),)
    assert 0 <= labels.min() <= labels.max() < n_clusters
    for method in ("transform", "score", "predict_proba", "score_outliers"):
        if hasattr(model, method):
            _finite(getattr(model, method)(rows))
    if hasattr(model, "path_"):
        assert len(list(model.path_)) == len(model.path_)
        model.path_.to_frame("dict")
    if hasattr(model, "redundant_clusters"):
        model._redundant()
    assert repr(model)
    return READ


def fit(checkpoint: Path | None) -> KModes:
    """Fit a small model, from its checkpoint if there is one."""
    options = {"n_init": 2, "adaptive": True, "random_state": 0}
    return KModes(2, **options, checkpoint=checkpoint).fit(X)


@cache
def _undamaged() -> KModes:
    return fit(None)


def judge_checkpoint(path: Path) -> str:
    """Resume a fit, or refuse the checkpoint and do not change it."""
    before = path.read_bytes()
    try:
        model = fit(path)
    except CheckpointError as error:
        assert path.read_bytes() == before, "a refused checkpoint was changed"
        return _refused(error, path)
    assert not path.exists(), "the checkpoint still exists after the fit"
    path.write_bytes(before)  # a judge must not change the folder
    assert model.cluster_centers_.shape == (2, 2)
    _finite(model.cluster_centers_)
    _finite(model.objective_)
    assert np.isin(model.labels_, (0, 1)).all()
    assert model.counts_.sum() == len(X)
    assert len(model.path_) == len(_undamaged().path_)
    _finite(model.path_.centers)
    _finite(model.path_.objectives)
    return READ

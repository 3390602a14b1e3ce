"""What a report is given: an estimator, a pipeline or labels, and the rows that were clustered."""

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from modeclust.data.reading import is_dask
from modeclust.estimators.cluster_modes import check_labels, to_labels
from modeclust.preparation.table import TablePreparation
from modeclust.reporting.columns import as_frame

EXPECTED = (
    "clustering must be a fitted KModes, LaplacianKModes or MeanShift, a pipeline that ends in "
    "one, or labels"
)
ASK_FOR_X = "If data is not what was clustered, pass that as X, or a fitted pipeline."
# Labels of more clusters, most of them with one row, are taken for ids.
MANY_LABELS = 50
N_FIRST = 100


class Given(NamedTuple):
    """A clustering, and how the rows that it clustered were made from the data."""

    clustering: Any  # an estimator with a mode for each cluster, or labels
    X: Any  # what was clustered; None if it is the data
    # The first step of a pipeline or what prepared the table; None if there is none.
    preparation: Any = None


def open_given(
    clustering: Any, data: Any, X: Any, sample_weight: Any, preparation: Any = None
) -> Given:
    """Take apart a pipeline, take the labels of other estimators, and prepare a table for labels.

    If a `preparation` is given, it has made `X` of the data.
    """
    given = Given(clustering, X, preparation)
    if isinstance(clustering, Pipeline):
        if X is not None:
            raise ValueError("X must be None for a pipeline, which computes it from data.")
        check_is_fitted(clustering)
        rows = clustering[:-1].transform(data) if len(clustering.steps) > 1 else None
        given = Given(clustering[-1], rows, clustering[0])
    if hasattr(given.clustering, "get_params"):
        check_is_fitted(given.clustering)
        if hasattr(given.clustering, "_fitted_with"):
            return given
        if not hasattr(given.clustering, "labels_"):
            raise ValueError(
                f"{EXPECTED}, got a {type(given.clustering).__name__} without labels_."
            )
        given = given._replace(clustering=given.clustering.labels_)
    if given.clustering is None or isinstance(given.clustering, str):
        raise ValueError(f"{EXPECTED}, got {given.clustering!r}.")
    _check_order(given.clustering, data)
    labels = to_labels(given.clustering)
    check_few(labels)
    given = given._replace(clustering=labels)
    return given if given.X is not None else _prepared(given, data, sample_weight)


def _check_order(labels: Any, data: Any) -> None:
    """Raise an error if a table was passed as the clustering, and the clustering as the data."""
    shape: tuple[int, ...] = getattr(labels, "shape", ())
    is_table = len(shape) == 2 and shape[1] > 1
    if is_table and (hasattr(data, "get_params") or np.ndim(data) == 1):
        raise ValueError("clustering and data seem to be swapped; pass report(clustering, data).")


def check_few(labels: Any) -> None:
    """Raise an error if most labels are distinct, as ids are."""
    n_labels, n_rows = len(set(labels.tolist())), len(labels)
    if n_labels > max(MANY_LABELS, n_rows / 2):
        raise ValueError(
            f"{n_labels:,} of {n_rows:,} labels are distinct; is this a column of ids? Labels are "
            "the cluster of each row."
        )


def _prepared(given: Given, data: Any, sample_weight: Any) -> Given:
    """Make rows of numbers of a table that has text, dates or missing values."""
    frame = None if is_dask(data) else as_frame(data)
    if frame is None or _is_complete(frame):
        return given
    check_labels(given.clustering, len(frame))
    columns = columns_without(given.clustering, frame)
    preparation = TablePreparation()
    table = frame.select(columns)
    try:
        X = preparation.fit(table, sample_weight=sample_weight).transform(table)
    except ValueError as error:
        raise ValueError(f"{error} {ASK_FOR_X}") from None
    return given._replace(X=X, preparation=preparation)


def _is_complete(frame: Any) -> bool:
    """Return whether a frame of narwhals has only numbers, none of them missing."""
    are_numbers = all(t.is_numeric() or t == nw.Boolean for t in frame.schema.dtypes())
    return are_numbers and not any(
        column.is_null().any() or (column.dtype.is_float() and column.is_nan().any())
        for column in frame.iter_columns()
    )


def columns_without(labels: Any, frame: Any) -> list[str]:
    """Return the columns of a frame, without those that have the labels of its rows."""
    own = [str(label) for label in labels.tolist()]

    def has_labels(column: Any, n: int) -> bool:
        return [str(value) for value in column.head(n).to_list()] == own[:n]

    # Most columns differ in the first rows.
    return [
        name
        for name in frame.columns
        if not (has_labels(frame[name], N_FIRST) and has_labels(frame[name], len(own)))
    ]

"""The rows of a report as the user has them: columns, names, texts and images."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.compose import ColumnTransformer

from modeclust.data.reading import is_dask, is_sparse
from modeclust.path import unused_column
from modeclust.plotting.clustering import check_image_shape, check_names
from modeclust.preparation.kinds import ID_SHARE, Guess, guess_kind
from modeclust.preparation.table import TablePreparation
from modeclust.preparation.values import Values, to_values
from modeclust.reporting.columns import Column, as_frame, read_column, read_frame
from modeclust.reporting.data import Clustered

# With more features than this, only those that tell clusters apart are columns.
MAX_FEATURES = 1024


@dataclass
class Rows:
    """The rows as the user has them."""

    columns: list[Column]  # without constant ones, and without labels
    n_columns: int  # of the data, those that were left out included
    label_columns: list[str] = field(default_factory=list)  # left out: they have the labels
    names: list[str] | None = None
    texts: Column | None = None
    images: Any = None  # (N, height * width * channels)
    image_shape: list[int] | None = None
    # Rows with many features, of which only some become columns, and their names.
    wide: Any = None
    wide_names: list[str] = field(default_factory=list)
    has_names: bool = True  # whether features have names

    @property
    def summarized(self) -> list[Column]:
        """The columns that have typical values."""
        return [column for column in self.columns if column.is_summarized]

    def name(self, row: int, number: int) -> str:
        """Return the name of a row; `number` is its number among all rows."""
        return f"row {number}" if self.names is None else self.names[row]


def read_rows(
    data: Any,
    clustered: Clustered,
    preparation: Any = None,
    *,
    row_names: Any = None,
    texts: Any = None,
    image_shape: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Rows:
    """Read the data as the user has them, and check that they fit the clustering."""
    data, names = _in_memory(data, clustered)
    feature_names = names if feature_names is None else feature_names
    n_rows = clustered.X.shape[0]
    frame = as_frame(data)
    if frame is None and not is_sparse(data) and np.ndim(data) == 1:
        rows = Rows([_one_column(list(data))], 1)
        shape = (len(data), 1)
    else:
        if frame is None and not is_sparse(data):
            data = np.asarray(data)
        shape = data.shape if frame is None else frame.shape
        if len(shape) != 2:
            raise ValueError(f"data must have rows and columns, got the shape {shape}.")
        rows = Rows([], shape[1])
    if shape[0] != n_rows:
        raise ValueError(
            f"data must have the {n_rows:,} rows that were clustered, in the same order, got "
            f"{shape[0]:,}."
        )
    pixels = data if frame is None else frame
    are_images = _read_images(rows, pixels, clustered, image_shape, shape[1])
    if frame is not None and not are_images:
        is_prepared = isinstance(preparation, TablePreparation)
        rows.columns = read_frame(frame, preparation.kinds or {} if is_prepared else {})
        index = getattr(data, "index", None)
        if index is not None and all(isinstance(label, str) for label in index):
            rows.names = [str(label) for label in index]
    elif frame is None and not rows.columns and not are_images:
        _read_array(rows, data, clustered, feature_names)
    _mark_clustered(rows, clustered, preparation, feature_names)
    if row_names is not None:
        rows.names = _named_by(rows, row_names, n_rows, clustered)
    elif rows.names is None:
        rows.names = _ids(rows)
    _choose_texts(rows, texts, n_rows, clustered)
    rows.columns = [column for column in rows.columns if not column.is_constant]
    rows.label_columns = [c.name for c in rows.columns if _has_labels(c, clustered)]
    rows.columns = [c for c in rows.columns if c.name not in rows.label_columns]
    return rows


def _has_labels(column: Column, clustered: Clustered) -> bool:
    """Return whether a column has the labels of the clusters, as users add them to a table."""
    model = clustered.model
    labels = np.asarray(clustered.clustering if model is None else model.labels_)
    if column.clustered or labels.dtype.kind not in "iu":
        return False
    if column.kind == "category" and not column.is_missing.any():  # as cluster_id is
        texts = np.array(column.levels)[column.values.astype(np.intp)]
        return np.array_equal(texts, labels.astype(str))
    return column.kind == "number" and np.array_equal(column.values, labels)


def _one_column(values: list[Any]) -> Column:
    pairs = zip(to_values(values), values, strict=True)
    if not all(text is None or isinstance(value, str) for text, value in pairs):
        raise ValueError(
            "data must have rows and columns, or be a list of texts, got one dimension."
        )
    return Column("text", "text", _as_given(values))


def _as_given(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Return texts as they are, whatever they say; None where one is missing or empty."""
    pairs = zip(to_values(list(values)), values, strict=True)
    texts = [(value or None) if isinstance(value, str) else text for text, value in pairs]
    return np.array(texts, dtype=object)


def _in_memory(data: Any, clustered: Clustered) -> tuple[Any, Any]:
    """Return the data, or the rows of the sample of a Dask collection, and the names of columns."""
    sample = clustered.sample
    if sample is None:
        if is_dask(data):
            raise ValueError("data must be in memory for labels, got a Dask collection.")
        return data, None
    if (frame := None if is_dask(data) else as_frame(data)) is not None:
        return frame[sample.indices].to_native() if len(frame) == sample.n_rows else data, None
    names = getattr(data, "columns", sample.feature_names)
    return sample.take(data), None if names is None else [str(name) for name in names]


def _read_images(
    rows: Rows, data: Any, clustered: Clustered, image_shape: Any, n_columns: int
) -> bool:
    """Read the images, and return whether they are the rows of the data."""
    if image_shape is None:
        return False
    try:
        is_data = n_columns == math.prod(image_shape) and _is_numeric(data)
    except TypeError:
        is_data = False  # `check_image_shape` says what is wrong
    pixels = data if is_data else clustered.X
    shape = check_image_shape(image_shape, pixels.shape[1])
    rows.image_shape = None if shape is None else list(shape)
    rows.images = pixels if not hasattr(pixels, "to_numpy") else pixels.to_numpy()
    return is_data


def _is_numeric(data: Any) -> bool:
    """Return whether a frame of narwhals, an array or a sparse matrix has only numbers."""
    if hasattr(data, "schema"):
        return all(dtype.is_numeric() for dtype in data.schema.dtypes())
    return bool(data.dtype.kind in "biuf")


def _read_array(rows: Rows, data: Any, clustered: Clustered, feature_names: Any) -> None:
    names = (
        check_names(clustered.model, data.shape[1], feature_names)
        if (feature_names is not None or data.shape[1] == clustered.X.shape[1])
        else None
    )
    numbered = [f"x{d}" for d in range(data.shape[1])]  # as the command line names them
    rows.has_names = names is not None and list(names) != numbered
    distinct: dict[str, None] = {}
    for name in names or (f"feature {d}" for d in range(data.shape[1])):
        distinct[unused_column(name, distinct)] = None
    all_names = list(distinct)
    if is_sparse(data) or data.shape[1] > MAX_FEATURES:
        rows.wide = sparse.csr_array(data) if is_sparse(data) else data
        rows.wide_names = all_names
        return
    # Numbers without names cannot be told to be ids.
    are_numbers = not rows.has_names and data.dtype.kind in "fiu"
    for name, values in zip(all_names, map(to_values, data.T), strict=True):
        guess = Guess("number") if are_numbers else guess_kind(name, values)
        rows.columns.append(read_column(name, values, guess))


def _ids(rows: Rows) -> list[str] | None:
    """Return the values of the first column of ids that hardly repeat."""
    for column in rows.columns:
        if column.kind == "id":
            known = column.values[~column.is_missing]
            if len(set(known)) >= ID_SHARE * len(known):
                return _names(column.values)
    return None


def _names(texts: Values) -> list[str]:
    return ["" if text is None else text for text in texts]


def _column(rows: Rows, name: str, argument: str) -> Column:
    for column in rows.columns:
        if column.name == name:
            return column
    known = ", ".join(repr(column.name) for column in rows.columns[:10]) or "none"
    raise ValueError(
        f"{argument} must be a column of data or one value for each row; data has no column "
        f"{name!r}, its columns are {known}."
    )


def _named_by(rows: Rows, row_names: Any, n_rows: int, clustered: Clustered) -> list[str]:
    if isinstance(row_names, str):
        column = _column(rows, row_names, "row_names")
        ids = _with_strings(column, "id", n_rows)
        rows.columns[rows.columns.index(column)] = ids
        return _names(ids.values)
    return _names(to_values(clustered.take(row_names, "row_names")))


def _with_strings(column: Column, kind: str, n_rows: int) -> Column:
    """Return a column of strings instead of another kind."""
    texts = to_values([column.item(row) for row in range(n_rows)])
    return Column(column.name, kind, texts, clustered=column.clustered)


def _choose_texts(rows: Rows, texts: Any, n_rows: int, clustered: Clustered) -> None:
    if isinstance(texts, str):
        column = _column(rows, texts, "texts")
        rows.texts = _with_strings(column, "text", n_rows)
        rows.columns[rows.columns.index(column)] = rows.texts
    elif texts is not None:
        rows.texts = Column("text", "text", _as_given(clustered.take(texts, "texts")))
    else:
        found = [column for column in rows.columns if column.kind == "text"]
        lengths = [sum(len(value or "") for value in column.values) for column in found]
        rows.texts = found[int(np.argmax(lengths))] if found else None


def _mark_clustered(rows: Rows, clustered: Clustered, preparation: Any, feature_names: Any) -> None:
    """Note which columns were clustered, where this is known."""
    used = _clustered_names(rows, clustered, preparation, feature_names)
    if used is not None:
        rows.columns = [replace(column, clustered=column.name in used) for column in rows.columns]


def _clustered_names(
    rows: Rows, clustered: Clustered, preparation: Any, feature_names: Any
) -> set[str] | None:
    names = {column.name for column in rows.columns}
    if isinstance(preparation, TablePreparation):
        return set(preparation.used_)
    if isinstance(preparation, ColumnTransformer):
        return _transformed_names(preparation)
    if preparation is not None:
        return names
    known = getattr(clustered.model, "feature_names_in_", feature_names)
    if known is not None:
        own = {str(name) for name in known}
        return own if own & names else None
    return names if rows.n_columns == clustered.X.shape[1] else None


def _transformed_names(transformer: ColumnTransformer) -> set[str]:
    """Return the columns that a column transformer does not drop."""
    everything = getattr(transformer, "feature_names_in_", None)
    used: set[str] = set()
    for _, step, columns in transformer.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        if everything is not None:
            chosen = np.asarray(columns)
            is_position = chosen.dtype.kind in "iub"
            used |= {str(name) for name in (everything[chosen] if is_position else columns)}
        else:
            used |= {f"feature {d}" for d in np.atleast_1d(columns)}
    return used

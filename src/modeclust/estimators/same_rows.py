"""Check, with a sample of the rows, that data are the rows of a fit in the same order."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core
from modeclust.data.reading import Doubles, core_rows, in_memory, is_sparse, take_rows
from modeclust.data.rescaling import Rescaling

Indices = npt.NDArray[np.intp]

# Relative difference up to which numbers count as equal: they may have been float32 before.
SINGLE_PRECISION = 1e-6
# Rows this close to the border between two clusters, as a share of the distance, may be in either.
BORDER = 5e-4
# Number of rows that are compared with those of the fit.
MAX_COMPARED = 1_000


def check_same_rows(model: Any, X: Any, row_numbers: Indices | None = None) -> None:
    """Raise an error if `X` does not have the rows of the fit in the same order.

    Up to `MAX_COMPARED` rows are compared, if the model has the method `_first_other_row`. For
    other models, only the number of rows is checked. If `X` is a sample of the rows of the fit,
    `row_numbers` has the position of each of its rows among all rows.
    """
    n_rows = len(model.labels_)
    if X.shape[0] != n_rows:
        raise ValueError(
            f"X must be the data that the model was fitted on, {n_rows} rows, got {X.shape[0]}."
        )
    if not hasattr(model, "_first_other_row"):
        return
    indices = np.unique(np.linspace(0, n_rows - 1, MAX_COMPARED).astype(np.intp))
    if (row := model._first_other_row(X, indices)) is not None:
        number = row if row_numbers is None else row_numbers[row]
        raise ValueError(
            "X must be the data that the model was fitted on, with its rows in the same order, "
            f"but row {number} is different; pass the same rows, or fit the model again."
        )


def first_elsewhere(
    X: Any,
    indices: Indices,
    labels: npt.NDArray[np.integer[Any]],
    centers: npt.NDArray[Any],
    metric: str,
) -> int | None:
    """Return the first row among `indices` that is clearly nearer to another center.

    `labels` are their labels in a clustering by the nearest center.
    """
    rescaling = Rescaling.of(X, metric=metric)  # of all rows, as in a fit
    sample = take_rows(X, indices)
    rows = rescaling.rows(sample)
    distances = np.empty((len(labels), len(centers)), dtype=rows.dtype)
    internal = rescaling.to_internal(centers.astype(np.float64))
    _core.distances(core_rows(rows), np.ascontiguousarray(internal), distances)
    own = distances[np.arange(len(labels)), labels]
    largest = 1.0 if metric == "cosine" else _row_maxima(abs(sample)) / rescaling.scale
    allowed = BORDER * own + SINGLE_PRECISION * largest * np.sqrt(sample.shape[1])
    return _first(indices, own - distances.min(axis=1) > allowed)


def first_unlike(X: Any, indices: Indices, kept: Any, metric: str) -> int | None:
    """Return the first row among `indices` that differs from the row that a model has `kept`."""
    rows, known = in_memory(take_rows(X, indices), metric), take_rows(kept, indices)
    if is_sparse(rows) != is_sparse(known):
        rows, known = sparse.csr_array(rows), sparse.csr_array(known)
    maximum: Any = np.maximum if not is_sparse(rows) else lambda a, b: a.maximum(b)
    with np.errstate(over="ignore"):
        excess = abs(rows - known) - SINGLE_PRECISION * maximum(abs(rows), abs(known))
    return _first(indices, _row_maxima(excess) > 0)


def _first(indices: Indices, differ: npt.NDArray[np.bool_]) -> int | None:
    return int(indices[differ.argmax()]) if differ.any() else None


def _row_maxima(values: Any) -> Doubles:
    maxima = values.max(axis=1)
    return np.asarray(maxima.toarray() if is_sparse(maxima) else maxima, dtype=np.float64).ravel()

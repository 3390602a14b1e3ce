"""Checks of the rows, weights and scales that users pass, before any computation."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from modeclust._sklearn import check_sample_weight, with_column_names
from modeclust.data.dask.chunks import Chunks, check_chunks, check_column
from modeclust.data.reading import Doubles, is_dask, is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.io.atomic import in_a_line

LARGEST_SCALE_RATIO = 1e50
# Affinities are symmetric up to this relative difference.
SYMMETRY_TOLERANCE = 1e-10
# Centers are almost 0 if they are smaller than the bandwidth by this factor.
VANISHING = 1e100
# Limits of the largest weight and affinity, so that products and sums do not overflow.
SMALLEST, LARGEST = 1e-100, 1e100


def check_n_jobs(n_jobs: int | None) -> None:
    """Raise an error for 0 threads."""
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; pass None or -1 for all cores.")


def check_rows(
    X: Any,
    *,
    estimator: Any = None,
    reset: bool = True,
    min_rows: int = 1,
    chunked: bool = False,
    metric: str = "euclidean",
) -> Any:
    """Return `X` as float32 or float64 rows in C order, or as CSR in canonical form.

    A memory-mapped array is checked and returned unchanged, so it need not fit in memory. A Dask
    collection is returned as `Chunks` if `chunked`; for the `metric` "cosine", its rows are checked
    for length 0, which in memory `Rescaling.rows` does. If `estimator` is given, its feature names
    and their number are set, or compared if not `reset`.
    """
    if is_dask(X):
        if not chunked:
            owner = "this" if estimator is None else type(estimator).__name__
            raise TypeError(
                f"{owner} needs data in memory, got a Dask collection; pass X.compute(), or a part "
                "of it. KModes takes Dask collections."
            )
        return check_chunks(X, estimator=estimator, reset=reset, min_rows=min_rows, metric=metric)
    mapped = isinstance(X, np.memmap) and X.dtype.kind in "fiub"
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": None if mapped else [np.float64, np.float32],
        "order": None if mapped else "C",
        "ensure_min_samples": min_rows,
    }
    _check_no_times(X)
    # The check for NaN sums all numbers. The sum of huge numbers overflows.
    with np.errstate(invalid="ignore"), _naming_column(X):
        if estimator is None:
            checked = check_array(X, input_name="X", **options)
        else:
            named = with_column_names(X) if hasattr(X, "iter_columns") else X  # polars
            checked = validate_data(estimator, named, reset=reset, **options)
    if is_sparse(checked) and not checked.has_canonical_format:
        checked = checked.copy()
        checked.sum_duplicates()
    return X if mapped else checked


def _columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the names and columns of a pandas or polars frame; nothing for anything else."""
    if hasattr(X, "iloc") and X.ndim == 2:
        yield from X.items()
    elif hasattr(X, "iter_columns"):
        yield from ((column.name, column) for column in X.iter_columns())


def _check_no_times(X: Any) -> None:
    """Raise an error for dates and times, which NumPy would convert to ticks since 1970."""
    for name, column in _columns(X):
        # The dtype of a polars column has no `kind`.
        kind = getattr(column.dtype, "kind", None) or np.asarray(column.head(1)).dtype.kind
        if kind in "mM":
            raise _not_numbers(name, "it holds dates or times")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(
            f"X must hold numbers, got dates or times ({X.dtype}); pass numbers, such as days."
        )


@contextmanager
def _naming_column(X: Any) -> Iterator[None]:
    """Add the column to errors about missing values, and about text in a frame."""
    try:
        yield
    except (TypeError, ValueError) as refused:
        for name, column in _columns(X):
            try:
                check_array(
                    column.to_frame(),
                    dtype=np.float64,
                    ensure_all_finite=False,
                    ensure_min_samples=0,
                )
            except (TypeError, ValueError) as error:
                raise _not_numbers(name, in_a_line(error)) from error
        if found := re.match(r"Input.* contains (NaN|infinity[^.\n]*)", str(refused)):
            raise _not_finite(X, found[0]) from None
        raise


def _not_finite(X: Any, contains: str) -> ValueError:
    """Return an error that names the first column with values that are not finite."""
    values = check_array(X, accept_sparse=True, dtype=np.float64, ensure_all_finite=False)
    if is_sparse(values):
        entries = values.tocoo()
        bad = ~np.isfinite(entries.data)
        rows, columns = entries.row[bad], entries.col[bad]
    else:
        rows, columns = np.nonzero(~np.isfinite(values))
    first = int(columns.min())
    rows = rows[columns == first]
    names = [name for name, _ in _columns(X)]
    name = names[first] if names else first
    return ValueError(
        f"{contains}: {len(rows)} in column {name!r}, the first in row {rows.min()} (counted from "
        "0). Fill them in, for example by sklearn.impute.SimpleImputer or "
        "modeclust.TablePreparation, or leave out the column or these rows."
    )


def _not_numbers(name: Any, reason: str) -> ValueError:
    return ValueError(
        f"X must hold numbers, but column {name!r} does not: {reason}. Leave it out, or encode it "
        "as numbers, for example by modeclust.TablePreparation."
    )


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Add the name of an argument to errors that do not contain it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if name in str(error).lower().replace(" ", "_"):
            raise
        raise ValueError(f"{name} must be numbers: {error}") from error


def check_numbers(values: Any, name: str, **options: Any) -> Any:
    """Return an argument as finite float64, with `options` of `check_array`."""
    with _named(name):
        return check_array(values, dtype=np.float64, input_name=name, **options)


def check_weights(sample_weight: Any, X: Any, *, only_ratios: bool = True) -> Any:
    """Return sample weights as float64, or as a `Column` of chunks, or None if not given.

    If not `only_ratios` matter, weights whose sums overflow or underflow are an error.
    """
    if sample_weight is None:
        return None
    weights: Any
    with _named("sample_weight"):
        if isinstance(X, Chunks):
            weights = check_column(sample_weight, X, "sample_weight")
            lowest, largest, where = weights.lowest, weights.highest, ""
        else:
            weights = np.asarray(
                check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=False)
            )
            lowest, largest = weights.min(), weights.max()
            where = f" in row {weights.argmin()}"
    if lowest < 0:
        raise ValueError(
            f"sample_weight must be >= 0, got {lowest:g}{where}; pass 0 for rows to leave out."
        )
    if largest == 0:  # scikit-learn checks it in newer versions only
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if SMALLEST < largest < LARGEST:
        return weights
    # The sums of these weights would overflow or underflow.
    if not only_ratios:
        raise ValueError(
            f"sample_weight must be between {SMALLEST:g} and {LARGEST:g} at its largest, "
            f"got {largest:g}."
        )
    return weights.over(largest) if isinstance(X, Chunks) else weights / largest


def check_scales(sample_scale: Any, X: Any, *, adaptive: bool = False) -> Any:
    """Return local scales as float64, or as a `Column` of chunks, or None if not given.

    It is an error to pass them to an `adaptive` estimator, which computes them.
    """
    if sample_scale is None:
        return None
    if adaptive:
        raise ValueError("sample_scale cannot be given with adaptive=True, which computes it.")
    scales: Any
    if isinstance(X, Chunks):
        with _named("sample_scale"):
            scales = check_column(sample_scale, X, "sample_scale")
        lowest, highest = scales.lowest, scales.highest
    else:
        scales = np.asarray(check_numbers(sample_scale, "sample_scale", ensure_2d=False))
        if scales.shape != (X.shape[0],):
            raise ValueError(
                f"sample_scale must have shape ({X.shape[0]},), one value for each row of X, "
                f"got {scales.shape}."
            )
        lowest, highest = scales.min(), scales.max()
    if lowest <= 0:
        raise ValueError(f"sample_scale must be > 0, got {lowest}.")
    if highest / LARGEST_SCALE_RATIO > lowest:
        raise ValueError(
            f"sample_scale must not differ by more than a factor of {LARGEST_SCALE_RATIO:g}, "
            f"got values from {lowest} to {highest}."
        )
    return scales


def relative_scales(scales: Doubles | None, unit: float, n_rows: int) -> Doubles:
    """Return local scales, 1 if not given, divided by the unit of earlier batches."""
    with np.errstate(over="ignore", under="ignore"):
        relative: Doubles = (np.ones(n_rows) if scales is None else scales) / unit
    if not 1 / LARGEST_SCALE_RATIO <= relative.min() <= relative.max() <= LARGEST_SCALE_RATIO:
        raise ValueError(
            f"sample_scale must not differ by more than a factor of {LARGEST_SCALE_RATIO:g} from "
            f"the mean of the first batch, {unit:g}, got a lowest value of "
            f"{1.0 if scales is None else scales.min()}; pass it for every batch or for none."
        )
    return relative


def original_rows(X: Any) -> Any:
    """Return checked rows as the user passed them: the Dask array of `Chunks`."""
    return X.X if isinstance(X, Chunks) else X


def rescaling_for(X: Any, n_threads: int, metric: str) -> Rescaling:
    """Return the rescaling for checked rows."""
    if isinstance(X, Chunks) and metric != "cosine":
        return X.rescaling
    return Rescaling.of(X, n_threads, metric)


def rescaling_for_new(
    X: Any, centers: Any, bandwidth: float, n_threads: int, metric: str
) -> Rescaling:
    """Return the rescaling for new rows, by the centers, so that outliers do not change it.

    If the centers are almost 0, they have no scale, and the rescaling depends on the rows.
    """
    if metric == "cosine":
        return Rescaling(metric=metric)
    are_sparse = X.stats.is_sparse if isinstance(X, Chunks) else is_sparse(X)
    rescaling = Rescaling.of(sparse.csr_array(centers) if are_sparse else centers)
    size = float(np.abs(rescaling.to_internal(centers)).max())
    if size == 0 or size * VANISHING < bandwidth / rescaling.scale < np.inf:
        return rescaling_for(X, n_threads, metric)
    return rescaling


def check_store_labels(store_labels: bool | str, X: Any) -> None:
    """Raise an error if labels are to be stored along the path of a Dask collection."""
    if isinstance(X, Chunks) and store_labels not in ("auto", False):
        raise ValueError(
            "store_labels=True needs data in memory: the labels of a Dask collection are not "
            "stored along the path. Pass 'auto' or False."
        )


def check_cluster_count(n_clusters: int, X: Any) -> None:
    """Raise an error for more clusters than rows."""
    if n_clusters > X.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of rows of X, "
            f"n_samples={X.shape[0]}; lower n_clusters."
        )


def check_centers(init: Any, n_clusters: int, n_features: int, metric: str) -> Doubles:
    """Return initial centers as a float64 array of shape (n_clusters, n_features)."""
    centers = check_numbers(init, "init", order="C", copy=True)
    if centers.shape != (n_clusters, n_features):
        raise ValueError(
            f"init must have shape ({n_clusters}, {n_features}), one row for each cluster, "
            f"got {centers.shape}."
        )
    if metric == "cosine":
        check_not_zero(centers, "init")
    return np.asarray(centers)


def check_not_zero(points: Doubles, name: str) -> None:
    """Raise an error if a point is all zeros, which has no direction."""
    if not points.any(axis=1).all():
        row = int(np.argmin(points.any(axis=1)))
        raise ValueError(
            f"{name} must have rows that are not all zeros with metric='cosine', but row {row} is."
        )


def check_affinity(affinity: Any, n_rows: int) -> sparse.csr_array:
    """Return affinities between rows as a symmetric float64 CSR matrix without a diagonal."""
    W = check_numbers(
        affinity, "affinity", accept_sparse="csr", ensure_min_samples=0, ensure_min_features=0
    )
    if W.shape != (n_rows, n_rows):
        raise ValueError(
            f"affinity must have shape ({n_rows}, {n_rows}), a row and a column for each row of X, "
            f"got {W.shape}."
        )
    W = sparse.csr_array(W, copy=True)
    W.setdiag(0.0)
    W.sum_duplicates()
    W.eliminate_zeros()
    if W.nnz == 0:
        return W
    if W.data.min() < 0:
        raise ValueError(f"affinity must be >= 0, got {W.data.min()}.")
    if not SMALLEST < (largest := W.data.max()) < LARGEST:
        raise ValueError(
            f"affinity must be between {SMALLEST:g} and {LARGEST:g} at its largest, got "
            f"{largest:g}; use smoothing to weight it."
        )
    uneven = abs(W - W.T)
    if (uneven > SYMMETRY_TOLERANCE * W.maximum(W.T)).nnz > 0:
        raise ValueError(
            f"affinity must be symmetric: some w_ij and w_ji differ by {uneven.max():.3g}. Pass "
            "affinity.maximum(affinity.T) to join rows where either is a neighbour of the other."
        )
    return W if uneven.max() == 0 else sparse.csr_array((W + W.T) / 2)


def check_bandwidths(bandwidths: Any) -> Doubles:
    """Return bandwidths as a positive, strictly decreasing float64 array."""
    values = _numbers(bandwidths)
    if not np.all(values > 0):
        raise ValueError(f"bandwidths must be > 0, got {bandwidths!r}.")
    if not np.all(values[1:] < values[:-1]):
        raise ValueError(f"bandwidths must decrease, np.inf first, got {bandwidths!r}.")
    return values


def check_finite_bandwidths(bandwidths: Any) -> Doubles:
    """Return bandwidths, given in any order, as an increasing float64 array."""
    values = _numbers(bandwidths)
    if not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(f"bandwidths must be finite and > 0, got {bandwidths!r}.")
    if len(np.unique(values)) < len(values):
        raise ValueError(f"bandwidths must differ, got {bandwidths!r}.")
    return np.sort(values)


def _numbers(bandwidths: Any) -> Doubles:
    """Return bandwidths as a float64 array with one dimension and at least one number."""
    try:
        values = np.asarray(bandwidths, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bandwidths must be a list of numbers, got {bandwidths!r}: {error}"
        ) from error
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            "bandwidths must be a one-dimensional sequence of at least one number, "
            f"got {bandwidths!r}."
        )
    return values

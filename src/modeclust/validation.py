"""What users may pass, checked before any work is done."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, _is_arraylike_not_scalar, validate_data

from modeclust.kernels import KERNELS
from modeclust.rows.reading import is_sparse

Doubles = npt.NDArray[np.float64]

LARGEST_SCALE_RATIO = 1e50
ROUNDING = 1e-10

POSITIVE = Interval(Real, 0, None, closed="right")
FINITE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
# Of the parameters that `KModes` and `kmodes_path` share.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [COUNT],
    "kernel": [StrOptions(set(KERNELS))],
    "path_iter": [COUNT],
    "max_iter": [COUNT],
    "mean_shift_iter": [COUNT],
    "tol": [Interval(Real, 0, None, closed="left")],
    "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
    "n_init": [COUNT],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "store_labels": ["boolean", StrOptions({"auto"})],
}


def check_n_jobs(n_jobs: int | None) -> None:
    """Refuse 0 threads."""
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; pass None or -1 for all cores.")


def check_rows(X: Any, *, estimator: Any = None, reset: bool = True, min_rows: int = 1) -> Any:
    """Return `X` as float32 or float64 rows in C order, or as CSR in canonical form.

    A memory-mapped array is checked but returned as it is, so that it need not fit in memory.
    With an `estimator`, its feature names and their number are set, or compared.
    """
    mapped = isinstance(X, np.memmap) and X.dtype.kind in "fiub"
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": None if mapped else [np.float64, np.float32],
        "order": None if mapped else "C",
        "ensure_min_samples": min_rows,
    }
    if estimator is None:
        checked = check_array(X, input_name="X", **options)
    else:
        checked = validate_data(estimator, X, reset=reset, **options)
    if is_sparse(checked) and not checked.has_canonical_format:
        checked = checked.copy()
        checked.sum_duplicates()
    return X if mapped else checked


def check_weights(sample_weight: Any, X: Any) -> Doubles | None:
    """Return sample weights as float64, or None for none given."""
    if sample_weight is None:
        return None
    weights = np.asarray(
        _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )
    # Only ratios matter; sums of these would overflow, or lose all digits.
    largest = weights.max()
    return weights if 1e-100 < largest < 1e100 else weights / largest


def check_scales(sample_scale: Any, X: Any, *, adaptive: bool = False) -> Doubles | None:
    """Return local scales as float64, or None for none given; `adaptive` makes them instead."""
    if sample_scale is None:
        return None
    if adaptive:
        raise ValueError("sample_scale cannot be given with adaptive=True, which makes it.")
    scales = check_array(sample_scale, ensure_2d=False, dtype=np.float64, input_name="sample_scale")
    if scales.shape != (X.shape[0],):
        raise ValueError(
            f"sample_scale must have shape ({X.shape[0]},), one value for each row of X, "
            f"got {scales.shape}."
        )
    if np.any(scales <= 0):
        raise ValueError(f"sample_scale must be > 0, got {scales.min()}.")
    if scales.max() / LARGEST_SCALE_RATIO > scales.min():
        raise ValueError(
            f"sample_scale must not differ by more than a factor of {LARGEST_SCALE_RATIO:g}, "
            f"got values from {scales.min()} to {scales.max()}."
        )
    return np.asarray(scales)


def relative_scales(scales: Doubles | None, unit: float, n_rows: int) -> Doubles:
    """Return local scales, 1 for none given, over that which counts as 1 in earlier batches."""
    with np.errstate(over="ignore", under="ignore"):
        relative: Doubles = (np.ones(n_rows) if scales is None else scales) / unit
    if not 1 / LARGEST_SCALE_RATIO <= relative.min() <= relative.max() <= LARGEST_SCALE_RATIO:
        raise ValueError(
            f"sample_scale must not differ by more than a factor of {LARGEST_SCALE_RATIO:g} from "
            f"that of the first batch, {unit:g} on average, got values from "
            f"{1.0 if scales is None else scales.min()} on; pass it for every batch or for none."
        )
    return relative


def check_cluster_count(n_clusters: int, X: Any) -> None:
    """Refuse more clusters than rows."""
    if n_clusters > X.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of rows of X, "
            f"n_samples={X.shape[0]}; lower n_clusters."
        )


def check_centers(init: Any, n_clusters: int, n_features: int) -> Doubles:
    """Return initial centroids as a float64 array of shape (n_clusters, n_features)."""
    centers = check_array(init, dtype=np.float64, order="C", copy=True, input_name="init")
    if centers.shape != (n_clusters, n_features):
        raise ValueError(
            f"init must have shape ({n_clusters}, {n_features}), one row for each cluster, "
            f"got {centers.shape}."
        )
    return np.asarray(centers)


def check_affinity(affinity: Any, n_rows: int) -> sparse.csr_array:
    """Return affinities between rows as a symmetric float64 CSR matrix without a diagonal."""
    W = check_array(
        affinity,
        accept_sparse="csr",
        dtype=np.float64,
        ensure_min_samples=0,
        ensure_min_features=0,
        input_name="affinity",
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
    uneven = abs(W - W.T).max()
    if uneven > ROUNDING * W.data.max():
        raise ValueError(
            f"affinity must be symmetric: some w_ij and w_ji differ by {uneven:.3g}. Pass "
            "affinity.maximum(affinity.T) to join rows where either is a neighbour of the other."
        )
    return W if uneven == 0 else sparse.csr_array((W + W.T) / 2)


def is_array(init: Any) -> bool:
    """Return whether `init` gives the centroids themselves."""
    return bool(_is_arraylike_not_scalar(init))


def check_bandwidths(bandwidths: Any) -> Doubles:
    """Return bandwidths as a positive, strictly decreasing float64 array."""
    values = _numbers(bandwidths)
    if not np.all(values > 0):
        raise ValueError(f"bandwidths must be > 0, got {bandwidths!r}.")
    if not np.all(values[1:] < values[:-1]):
        raise ValueError(f"bandwidths must decrease, np.inf first, got {bandwidths!r}.")
    return values


def check_finite_bandwidths(bandwidths: Any) -> Doubles:
    """Return bandwidths, in whatever order they come, as an increasing float64 array."""
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

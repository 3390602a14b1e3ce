"""What users may pass, checked before any work is done."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, _is_arraylike_not_scalar, validate_data

Floats = npt.NDArray[np.float64]


def check_rows(X: Any, *, estimator: Any = None, reset: bool = True, min_rows: int = 1) -> Any:
    """Return `X` as float32 or float64 rows in C order, or as CSR.

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
    return X if mapped else checked


def check_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Return sample weights as float64, or None for none given."""
    if sample_weight is None:
        return None
    return np.asarray(
        _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )


def check_scales(sample_scale: Any, X: Any) -> Floats | None:
    """Return local scales as float64, or None for none given."""
    if sample_scale is None:
        return None
    scales = check_array(sample_scale, ensure_2d=False, dtype=np.float64, input_name="sample_scale")
    if scales.shape != (X.shape[0],):
        raise ValueError(
            f"sample_scale must have shape ({X.shape[0]},), one value for each row of X, "
            f"got {scales.shape}."
        )
    if np.any(scales <= 0):
        raise ValueError(f"sample_scale must be > 0, got {scales.min()}.")
    return np.asarray(scales)


def check_cluster_count(n_clusters: int, X: Any) -> None:
    """Refuse more clusters than rows."""
    if n_clusters > X.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of rows of X, "
            f"n_samples={X.shape[0]}; lower n_clusters."
        )


def check_centers(init: Any, n_clusters: int, n_features: int) -> Floats:
    """Return initial centroids as a float64 array of shape (n_clusters, n_features)."""
    centers = check_array(init, dtype=np.float64, order="C", copy=True, input_name="init")
    if centers.shape != (n_clusters, n_features):
        raise ValueError(
            f"init must have shape ({n_clusters}, {n_features}), one row for each cluster, "
            f"got {centers.shape}."
        )
    return np.asarray(centers)


def is_array(init: Any) -> bool:
    """Return whether `init` gives the centroids themselves."""
    return bool(_is_arraylike_not_scalar(init))


def check_bandwidths(bandwidths: Any) -> Floats:
    """Return bandwidths as a positive, strictly decreasing float64 array."""
    values = np.asarray(bandwidths, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"bandwidths must be a one-dimensional sequence of at least one number, "
            f"got {bandwidths!r}."
        )
    if not np.all(values > 0):
        raise ValueError(f"bandwidths must be > 0, got {bandwidths!r}.")
    if not np.all(values[1:] < values[:-1]):
        raise ValueError(f"bandwidths must decrease, np.inf first, got {bandwidths!r}.")
    return values

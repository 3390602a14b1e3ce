"""Hints about columns of numbers that are clustered as they are."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from modeclust.data.reading import Doubles, is_dask, is_sparse
from modeclust.exceptions import ColumnScaleWarning, IdColumnWarning, _warn_user

# One column may vary this many times as much as the others.
MAX_SCALE_RATIO = 100
# Columns are judged by the first rows, of about this many values.
MAX_VALUES = 10**6


def warn_of_columns(names: Sequence[str], X: Any) -> None:
    """Warn if columns of a table look like ids, or differ in scale.

    X is what was checked: an array, a CSR matrix, or chunks, which are not judged.
    """
    if not isinstance(X, np.ndarray) or are_numbered(names):
        return
    if ids := find_ids(names, X):
        look = "Columns {} look like ids." if len(ids) > 1 else "Column {} looks like an id."
        _warn_user(
            f"{look.format(', '.join(map(repr, ids)))} Ids are names, not measurements: drop them "
            "before the fit, or prepare the table by TablePreparation.",
            IdColumnWarning,
        )
    kept = [j for j, name in enumerate(names) if name not in ids]
    if kept and (hint := compare_scales([names[j] for j in kept], X[:, kept])):
        _warn_user(
            f"{hint[0].upper()}{hint[1:]}. Scale them, for example in "
            "make_pipeline(StandardScaler(), ...), or prepare the table by TablePreparation.",
            ColumnScaleWarning,
        )


def compare_scales(names: Sequence[str], X: Any) -> str | None:
    """Return a hint if one column varies far more than most others.

    Sparse rows, such as word counts, are not compared.
    """
    if is_sparse(X):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = _first_rows(X).std(axis=0)
    found = scale_ratio(spreads)
    if found is None or found.ratio <= MAX_SCALE_RATIO:
        return None
    return (
        f"columns differ in scale: {names[found.high]!r} varies {found.ratio:,.0f} times as much "
        f"as {names[found.low]!r} and dominates the distances"
    )


class ScaleRatio(NamedTuple):
    """How much more one column varies than another."""

    low: int
    high: int
    ratio: float


def scale_ratio(spreads: Doubles) -> ScaleRatio | None:
    """Return a column that varies little, the one that varies most, and the ratio.

    The lower quartile of the standard deviations is compared with the highest, because a few
    columns may vary little, such as pixels at the edge of images. The result is None if fewer than
    two columns vary.
    """
    varying = np.flatnonzero((spreads > 0) & np.isfinite(spreads))
    if len(varying) < 2:
        return None
    order = varying[np.argsort(spreads[varying])]
    low, high = int(order[(len(order) - 1) // 4]), int(order[-1])
    return ScaleRatio(low, high, float(spreads[high] / spreads[low]))


def find_ids(names: Sequence[str], X: Any) -> list[str]:
    """Return the names of dense columns that look like ids."""
    if is_sparse(X):
        return []
    from modeclust.preparation.kinds import guess_kind  # it needs narwhals

    columns = zip(names, _first_rows(X).T, strict=True)
    return [name for name, values in columns if guess_kind(name, values).kind == "id"]


def are_numbered(names: Sequence[str]) -> bool:
    """Return whether all names are one word with a number, such as pca0, pca1, ...

    Such columns were computed, or are pixels. Their scales are as they should be.

    >>> are_numbered(["pixel_0_0", "pixel_0_1"]), are_numbered(["age", "income"])
    (True, False)
    """
    stems = {re.sub(r"[\d_.]+$", "", name) for name in names}
    return len(stems) == 1 and not stems & set(names)


def _first_rows(X: Any) -> Any:
    first = X[: max(2, MAX_VALUES // X.shape[1])]
    return np.asarray(first.compute() if is_dask(first) else first).astype(np.float64)

"""Units in which the rows are well conditioned, whatever the user's are."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import is_sparse

# An offset this many times the spread costs a squared distance six of its digits.
LARGEST_OFFSET = 1e3
# Within these, products of rows in single precision and bounds kept in it do not overflow.
SMALLEST_SCALE, LARGEST_SCALE = 1e-12, 1e12


def working_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype in which rows of `dtype` are read: float32 stays, the rest is float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


@dataclass(frozen=True)
class Units:
    """x = offset + scale * x', with x' the rows that are worked on.

    Nearly all data are fine as they are: the offset is None, the scale 1, and nothing
    is copied. The scale is a power of two, and only an offset that is large beside the
    spread is taken off: both are exact.
    """

    offset: npt.NDArray[np.float64] | None = None
    scale: float = 1.0

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return the units that suit the dense or CSR rows `X`."""
        return cls.within(*column_limits(X), is_sparse(X), X.dtype)

    @classmethod
    def within(
        cls,
        lowest: npt.NDArray[np.float64],
        highest: npt.NDArray[np.float64],
        are_sparse: bool,
        dtype: npt.DTypeLike,
    ) -> Self:
        """Return the units that suit rows whose columns have such limits."""
        largest = float(np.max(np.maximum(np.abs(lowest), np.abs(highest))))
        reach = float(np.max(highest / 2 - lowest / 2))
        _check_diagonal(highest / 2 - lowest / 2, reach, working_dtype(dtype))
        if are_sparse:
            return cls(scale=_safe_scale(largest))  # a shift would fill its zeros
        if reach == 0 or largest / LARGEST_OFFSET <= reach:
            return cls(scale=_safe_scale(largest))
        middle = (lowest / 2 + highest / 2).astype(working_dtype(dtype)).astype(np.float64)
        middle[np.abs(middle) / LARGEST_OFFSET <= reach] = 0.0
        return cls(middle, _safe_scale(reach))

    @property
    def are_plain(self) -> bool:
        """Whether the rows are worked on as they are."""
        return self.offset is None and self.scale == 1.0

    def inward(self, points: Any) -> Any:
        """Return the user's points, or CSR rows, in these units; mapped ones when read."""
        if self.are_plain:
            return points
        if isinstance(points, np.memmap):
            return MappedRows(points, self)
        dtype = working_dtype(points.dtype)
        if is_sparse(points):
            scaled = points.copy()
            scaled.data = (points.data / self.scale).astype(dtype)
            return scaled
        offset = np.zeros(1) if self.offset is None else self.offset
        inner = np.subtract(points, offset.astype(dtype), dtype=dtype)
        inner /= self.scale
        return inner

    def inward_bandwidth(
        self, bandwidth: Any, factor: float = 1.0, *, limits: tuple[float, float]
    ) -> Any:
        """Return the user's bandwidths times a factor in these units, if between the limits."""
        with np.errstate(over="ignore", under="ignore"):
            inner = np.asarray(bandwidth, np.float64) / self.scale * factor
        lowest, highest = limits
        if np.any((inner >= highest) & np.isfinite(bandwidth)):
            raise ValueError(
                f"bandwidth={bandwidth!r} is too large for rows as small as these; pass one nearer "
                "to the distances between them, or np.inf to KModes for K-means."
            )
        if np.any(inner <= lowest):
            raise ValueError(
                f"bandwidth={bandwidth!r} is too small for rows as large as these; pass one nearer "
                "to the distances between them."
            )
        return inner

    def outward(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return points in these units in the user's."""
        if self.are_plain:
            return points
        scaled = points * self.scale
        return scaled if self.offset is None else scaled + self.offset


class MappedRows:
    """A mapped array whose rows are brought into other units as they are read."""

    def __init__(self, rows: Any, units: Units) -> None:
        self._rows = rows
        self._units = units
        self.shape = rows.shape
        self.dtype = working_dtype(rows.dtype)

    def __getitem__(self, indices: Any) -> Any:
        return self._units.inward(np.asarray(self._rows[indices]))


def is_mapped(X: Any) -> bool:
    """Return whether `X` is on disk, and is to be read in pieces."""
    return isinstance(X, np.memmap | MappedRows)


def _check_diagonal(half: npt.NDArray[np.float64], reach: float, dtype: np.dtype[Any]) -> None:
    """Refuse rows whose distances are beyond all numbers; their box is twice `half` wide."""
    largest = np.finfo(dtype).max
    if reach > 0 and reach > largest / (2 * np.linalg.norm(half / reach)):
        raise ValueError(
            f"X must hold smaller numbers: rows reach {reach:.3g} to either side of the middle, "
            f"and distances between them must be below {largest:.3g}; divide X by "
            f"{2 * np.ceil(np.sqrt(len(half))):.0f}."
        )


def _safe_scale(reach: float) -> float:
    if reach == 0 or SMALLEST_SCALE <= reach <= LARGEST_SCALE:
        return 1.0
    return float(2.0 ** np.floor(np.log2(reach)))


def column_limits(X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the least and the greatest value of each column."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
    return np.asarray(lowest, dtype=np.float64), np.asarray(highest, dtype=np.float64)

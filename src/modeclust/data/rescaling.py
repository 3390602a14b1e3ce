"""Rescaling of the rows, so that distances between them can be computed accurately."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.reading import Doubles, UnitRows, core_rows, is_sparse, working_dtype

# If the offset is this many times the spread, squared distances lose six digits.
LARGEST_OFFSET = 1e3
# Between these scales, products of float32 rows and bounds in float32 do not overflow.
SMALLEST_SCALE, LARGEST_SCALE = 1e-12, 1e12


@dataclass(frozen=True)
class Rescaling:
    """A linear map between the user's rows x and the internal rows x': x = offset + scale * x'.

    Most data need none: the offset is None, the scale is 1, and nothing is copied. Otherwise the
    scale is a power of two, and only an offset that is much larger than the spread is subtracted.
    Both operations are exact.

    With the metric "cosine", internal rows are x / |x|. Centers have length 1 already. They and
    bandwidths stay as they are.
    """

    offset: Doubles | None = None
    scale: float = 1.0
    metric: str = "euclidean"
    is_identity: bool = field(init=False, repr=False)

    @classmethod
    def of(cls, X: Any, n_threads: int = 1, metric: str = "euclidean") -> Self:
        """Return the rescaling for the dense or CSR rows `X`."""
        if metric == "cosine":
            return cls(metric=metric)
        return cls.from_limits(*column_limits(X, n_threads), is_sparse(X), X.dtype)

    @classmethod
    def from_limits(
        cls, lowest: Doubles, highest: Doubles, are_sparse: bool, dtype: npt.DTypeLike
    ) -> Self:
        """Return the rescaling for rows with these minima and maxima of the columns."""
        largest = float(np.max(np.maximum(np.abs(lowest), np.abs(highest))))
        reach = float(np.max(highest / 2 - lowest / 2))
        _check_diagonal(highest / 2 - lowest / 2, reach, working_dtype(dtype))
        # An offset would make sparse rows dense.
        if are_sparse or reach == 0 or largest / LARGEST_OFFSET <= reach:
            return cls(scale=_safe_scale(largest))
        middle = (lowest / 2 + highest / 2).astype(working_dtype(dtype)).astype(np.float64)
        middle[np.abs(middle) / LARGEST_OFFSET <= reach] = 0.0
        return cls(middle, _safe_scale(reach))

    def __post_init__(self) -> None:
        # Whether internal and original centers are the same.
        object.__setattr__(self, "is_identity", self.offset is None and self.scale == 1.0)

    def rows(self, X: Any, n_threads: int = 1) -> Any:
        """Return the internal rows of `X`; those of the metric "cosine" are not copied."""
        return UnitRows.of(X, n_threads) if self.metric == "cosine" else self.to_internal(X)

    def to_internal(self, points: Any) -> Any:
        """Rescale the user's points or CSR rows; memory-mapped rows are rescaled when read."""
        if self.is_identity:
            return points
        if isinstance(points, np.memmap):
            return RescaledRows(points, self)
        dtype = working_dtype(points.dtype)
        if is_sparse(points):
            scaled = points.copy()
            scaled.data = (points.data / self.scale).astype(dtype)
            return scaled
        offset = np.zeros(1) if self.offset is None else self.offset
        internal = np.subtract(points, offset.astype(dtype), dtype=dtype)
        internal /= self.scale
        return internal

    def bandwidth_to_internal(
        self, bandwidth: Any, factor: float = 1.0, *, limits: tuple[float, float]
    ) -> Any:
        """Rescale the user's bandwidths and multiply them by `factor`; check the limits."""
        with np.errstate(over="ignore", under="ignore"):
            internal = np.asarray(bandwidth, np.float64) / self.scale * factor
        is_large = bool(np.any((internal >= limits[1]) & np.isfinite(bandwidth)))
        if is_large or np.any(internal <= limits[0]):
            size, hint = (
                ("large", ", or np.inf to KModes for K-means") if is_large else ("small", "")
            )
            raise ValueError(
                f"bandwidth={bandwidth!r} is too {size} for these rows; pass a bandwidth closer to "
                f"the distances between them{hint}."
            )
        return internal

    def to_original(self, points: Doubles) -> Doubles:
        """Return internal points in the units of the user's data."""
        if self.is_identity:
            return points
        scaled = points * self.scale
        return scaled if self.offset is None else scaled + self.offset


class RescaledRows:
    """A memory-mapped array whose rows are rescaled when they are read."""

    def __init__(self, mapped: Any, rescaling: Rescaling) -> None:
        self.mapped = mapped
        self.rescaling = rescaling
        self.shape = mapped.shape
        self.dtype = working_dtype(mapped.dtype)

    def __getitem__(self, indices: Any) -> Any:
        return self.rescaling.to_internal(np.asarray(self.mapped[indices]))


def internal_rows(X: Any, **options: Any) -> _core.Rows:
    """Return internal rows for the core; memory-mapped ones are rescaled in tiles."""
    if isinstance(X, RescaledRows):
        rescaling = X.rescaling
        return core_rows(X.mapped, offset=rescaling.offset, scale=rescaling.scale, **options)
    return core_rows(X, **options)


def is_mapped(X: Any) -> bool:
    """Return whether `X` has to be read in parts: it is memory-mapped, or converted when read."""
    return isinstance(X, np.memmap | RescaledRows | UnitRows)


def _check_diagonal(half: Doubles, reach: float, dtype: np.dtype[Any]) -> None:
    """Raise an error if distances overflow; `half` is half the range of each column."""
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


def column_limits(X: Any, n_threads: int = 1) -> tuple[Doubles, Doubles]:
    """Return the minimum and the maximum of each column of dense or CSR rows without NaN."""
    if not is_sparse(X):
        return core_rows(X, n_threads=n_threads).column_limits()
    lowest, highest = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return np.asarray(lowest, dtype=np.float64), np.asarray(highest, dtype=np.float64)

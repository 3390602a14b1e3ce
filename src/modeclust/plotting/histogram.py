"""Where a histogram of one feature begins, ends, and is cut."""

from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

# Tails longer than all else are cut where this share of the rows lies beyond, on either side.
TAIL = 0.005
FEWEST_BINS, MOST_BINS = 30, 120


def limits(values: npt.NDArray[Any], kept: npt.NDArray[Any]) -> tuple[float, float]:
    """Return where to begin and end: around all values but far tails, and all those `kept`."""
    low, high = float(values.min()), float(values.max())
    inner, outer = np.quantile(values, [TAIL, 1 - TAIL])
    if high - low > 2 * (outer - inner) > 0:
        low, high = float(inner), float(outer)
    low, high = min(low, float(kept.min())), max(high, float(kept.max()))
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def edges(values: npt.NDArray[Any], low: float, high: float) -> Doubles:
    """Return the edges of equal bins; between whole numbers where all values are whole."""
    n_bins = np.clip(2 * np.sqrt(len(values)), FEWEST_BINS, MOST_BINS)
    width = (high - low) / n_bins
    if np.array_equal(values, np.round(values)) and np.abs(values).max() < 2**40:
        width = max(np.ceil(width), 1.0)
        low = np.floor(low) - 0.5
    return np.asarray(low + width * np.arange(np.ceil((high - low) / width) + 1))

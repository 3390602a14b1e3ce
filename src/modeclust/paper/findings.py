"""What an item of the paper finds: numbers for its claims, pictures and tables."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


class Measure(NamedTuple):
    """A number that was measured, and the interval that it lies in."""

    value: float
    low: float
    high: float
    n_runs: int = 1

    @classmethod
    def exactly(cls, value: float) -> Self:
        """Return a number with no spread."""
        return cls(float(value), float(value), float(value))

    @classmethod
    def mean_of(cls, values: Iterable[float]) -> Self:
        """Return a mean over runs, with the interval of Student's t at 95%; NaN of no runs."""
        runs = np.array(list(values), dtype=np.float64)
        if not len(runs):
            return cls(np.nan, np.nan, np.nan, 0)
        mean = float(runs.mean())
        if len(runs) < 2 or np.ptp(runs) == 0:
            return cls(mean, mean, mean, len(runs))
        reach = float(
            stats.t.ppf((1 + CONFIDENCE) / 2, len(runs) - 1) * runs.std(ddof=1) / np.sqrt(len(runs))
        )
        return cls(mean, mean - reach, mean + reach, len(runs))


class Picture(NamedTuple):
    """A matplotlib figure, and what is to be seen in it."""

    figure: Any
    caption: str


class Grid(NamedTuple):
    """A table of text."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


class Findings(NamedTuple):
    """All that an item found; measures by the names of the claims of the item."""

    measures: dict[str, Measure]
    pictures: list[Picture]
    tables: Sequence[Grid] = ()
    # Which data was missing, how to get it, and what was used instead; by how the names of the
    # claims begin that it is the data of.
    stand_ins: Mapping[str, str] = MappingProxyType({})

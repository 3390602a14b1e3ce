"""The findings of an item: measures for its claims, pictures and tables."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


class Measure(NamedTuple):
    """A measured number with its confidence interval."""

    value: float
    low: float
    high: float
    n_runs: int = 1

    @classmethod
    def exactly(cls, value: float) -> Self:
        """Return a number that has no spread."""
        return cls(float(value), float(value), float(value))

    @classmethod
    def mean_of(cls, values: Iterable[float]) -> Self:
        """Return the mean over runs with its 95% interval (Student's t); NaN without runs."""
        runs = np.array(list(values), dtype=np.float64)
        if not len(runs):
            return cls(np.nan, np.nan, np.nan, 0)
        mean = float(runs.mean())
        if len(runs) < 2 or np.ptp(runs) == 0:
            return cls(mean, mean, mean, len(runs))
        half_width = float(
            stats.t.ppf((1 + CONFIDENCE) / 2, len(runs) - 1) * runs.std(ddof=1) / np.sqrt(len(runs))
        )
        return cls(mean, mean - half_width, mean + half_width, len(runs))


class Picture(NamedTuple):
    """A matplotlib figure and its caption."""

    figure: Any
    caption: str


class Table(NamedTuple):
    """A table of text."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


class Findings(NamedTuple):
    """The findings of an item; `measures` are named like the claims of the item."""

    measures: dict[str, Measure]
    pictures: list[Picture]
    tables: Sequence[Table] = ()
    # For missing data: what is missing, how to get it, and what was used instead. A key is the
    # prefix of the names of the claims that were measured on the stand-in.
    stand_ins: Mapping[str, str] = MappingProxyType({})

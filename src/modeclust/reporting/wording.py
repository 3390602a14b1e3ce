"""Sentences of a report: numbers as people write them, and what sets a cluster apart in words."""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from modeclust.data.reading import Doubles
from modeclust.plotting.axes import cut
from modeclust.reporting.columns import Column
from modeclust.reporting.typical import AllRows

MAX_NAME = 40  # letters of a column or a category in the name of a cluster
FEW_DAYS, TWO_YEARS = 10, 730
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
MAX_COMPARED = 1_000
EXTRA_DIGITS = 4
MAX_DECIMALS, MANY_DECIMALS = 12, 400
# Numbers with a smaller unit, or from this size on, have an exponent.
SMALLEST_UNIT, LARGEST_NUMBER = 1e-7, 1e12
# Whole numbers between these are written without commas: they may be years.
YEARS = 1500, 2200
# A value that this share of a cluster has is named as its value, or as one that it does not have.
MOSTLY, RARELY = 0.5, 0.1
# What differs less than this from all rows, in spreads, does not name a cluster.
SMALLEST_EFFECT = 0.4
N_IN_NAME, N_TERMS_IN_NAME = 2, 3
ADJECTIVES = ("High", "Low", "More", "Less", "No")


class NumberFormat(NamedTuple):
    """How the numbers of a column are written.

    They are rounded to about a hundredth of their spread, and have at most one decimal more than
    the data.
    """

    unit: float = 1.0  # a power of 10, of which numbers are multiples
    is_share: bool = False  # a mean of 0 and 1, written as percent
    is_year: bool = False
    digits: int | None = None  # decimals to which numbers are rounded before they are written

    @classmethod
    def of(cls, column: Column, all_rows: AllRows) -> "NumberFormat":
        """Return the format of a column of numbers."""
        known = column.values[~np.isnan(column.values)]
        spread = float(all_rows.spread[0]) if all_rows.usual is None else 0.0
        size = spread or float(np.abs(known).max(initial=0.0)) or 1.0
        is_year = column.is_integer and bool(
            YEARS[0] <= known.min(initial=np.inf) and known.max(initial=0.0) <= YEARS[1]
        )
        exact = 2 - round(math.log10(size))
        digits = min(exact, _decimals_of(known) + 1)
        unit = 1.0 if is_year else 10.0**-digits
        return cls(unit, column.is_binary, is_year, exact + EXTRA_DIGITS)

    @property
    def decimals(self) -> int:
        """Number of decimals, at most 12."""
        return min(max(0, -round(math.log10(self.unit))), MAX_DECIMALS)

    def write(self, value: float) -> str:
        """Return a number as text.

        >>> NumberFormat(100.0).write(71599.99999), NumberFormat(0.01).write(-0.001)
        ('71,600', '0')
        """
        if self.is_share:
            return percent(value)
        if self.unit < SMALLEST_UNIT or abs(value) >= LARGEST_NUMBER:
            return f"{value:.3g}"
        rounded = round(value / self.unit) * self.unit
        text = f"{rounded:{'' if self.is_year else ','}.{self.decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def _decimals_of(values: Doubles) -> int:
    """Return how many decimals numbers have, judged by the first ones."""
    first = values[:MAX_COMPARED]
    found = (d for d in range(MAX_DECIMALS) if np.allclose(np.round(first, d), first, 1e-12, 0))
    return next(found, MANY_DECIMALS)


def percent(share: float) -> str:
    """Return a share as text.

    >>> percent(0.372), percent(0.004), percent(0.996)
    ('37%', '<1%', '>99%')
    """
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def shorten(text: str, length: int = MAX_NAME) -> str:
    """Return a text on one line of at most this length."""
    return cut(" ".join(text.split()), length)


def isolated(text: str) -> str:
    """Return a text so that its right-to-left letters do not reorder the text around it."""
    is_rtl = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if is_rtl else text


class ColumnWords:
    """Writes the values of a column."""

    def __init__(self, column: Column, all_rows: AllRows) -> None:
        self.column = column
        is_number = column.kind == "number"
        self.format = NumberFormat.of(column, all_rows) if is_number else NumberFormat()
        # The time of day matters only among dates of a few days, and the day within two years.
        days = float(np.diff(all_rows.range)[0]) if column.kind == "date" else 0.0
        self.is_daily, self.is_monthly = days > FEW_DAYS, days > TWO_YEARS

    def compare(self, value: Any, other: Any, where: str, category: str | None) -> str:
        """Return a sentence that compares a value with another: "Income 71,600 (all rows 51,400)".

        With a `category`, the values are shares of it.
        """
        name = shorten(self.column.name, 2 * MAX_NAME)
        if category is not None:
            subject = name if category == "True" else f"{name} {shorten(category)}"
            return f"{isolated(subject)} {percent(value)} ({where}{percent(other)})"
        name = isolated(name)
        if self.column.kind == "date":
            months = self._month(value), self._month(other)
            own, usual = months if months[0] != months[1] else (value, other)
            return f"{name} {own} ({where}{usual})"
        return f"{name} {self.format.write(value)} ({where}{self.format.write(other)})"

    def _month(self, date: str) -> str:
        """Return the month of an ISO date in words, or the date itself if it must be exact."""
        year, month = date.split("-")[:2] if self.is_monthly and date[0] != "-" else ("", "")
        return f"{MONTHS[int(month) - 1]} {year}" if year else date

    def adjective(self, effect: float, value: Any, category: str | None) -> str:
        """Return what tells a cluster apart, as a part of its name: "High Income", "Plan pro"."""
        name = shorten(self.column.name)
        if self.column.kind == "category" and category is not None:
            name = isolated(f"{name} {shorten(category)}")
            yes, no = name, f"No {name}"
        else:
            name = isolated(name)
            yes, no = f"{name} yes", f"{name} no"
        if category is not None or self.format.is_share:
            if effect > 0:
                return yes if value >= MOSTLY else f"More {name}"
            return no if value <= RARELY else f"Less {name}"
        if self.column.kind == "date":
            return f"{name} {self._month(value)}"
        if self.format.is_year:
            return f"{name} {self.format.write(value)}"
        return f"{'High' if effect > 0 else 'Low'} {name}"


def name_clusters(parts: Sequence[Sequence[str]], fallbacks: Sequence[str], n: int) -> list[str]:
    """Return a name for each cluster from its first `n` parts; more of them if names are equal.

    A cluster without parts has its fallback as name, and it is added to names that stay equal.
    """
    names = [join_parts(own[:n]) or other for own, other in zip(parts, fallbacks, strict=True)]
    for length in range(n + 1, max(map(len, parts), default=0) + 1):
        counts = Counter(names)
        names = [
            join_parts(own[:length]) if counts[name] > 1 and len(own) >= length else name
            for name, own in zip(names, parts, strict=True)
        ]
    counts = Counter(names)
    return [
        f"{name} ({other})" if counts[name] > 1 and name != other else name
        for name, other in zip(names, fallbacks, strict=True)
    ]


def join_parts(parts: Sequence[str]) -> str:
    """Return the parts of a name as one.

    >>> join_parts(["High Income", "Low Age", "Plan pro"])
    'High Income, low Age, Plan pro'
    """
    words = [part.split(" ", 1) for part in parts[1:]]
    later = [" ".join([w[0].lower(), *w[1:]]) if w[0] in ADJECTIVES else " ".join(w) for w in words]
    return ", ".join([*parts[:1], *later])


def describe_cluster(share: float, typical: Sequence[str], what: str = "Typical") -> str:
    """Return what a cluster is in a sentence."""
    start = f"{percent(share)} of rows."
    return f"{start} {what}: {', '.join(typical)}." if typical else start


def finite_or_none(value: float) -> float | None:
    """Return a number, or None if it is infinite or undefined, which JSON cannot hold."""
    return float(value) if np.isfinite(value) else None

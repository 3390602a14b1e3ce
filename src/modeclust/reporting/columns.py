"""The columns of the user's data, and what kind of values each of them has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import narwhals.selectors as ncs
import numpy as np
import numpy.typing as npt

from modeclust.preparation.kinds import Guess, judge_columns
from modeclust.preparation.values import (
    Values,
    are_known,
    check_names_differ,
    find_categories,
    read_columns,
    to_days,
    to_numbers,
    to_texts,
)

BOOLEANS = ("false", "true")
MILLISECONDS = 86_400_000  # in a day


@dataclass(frozen=True)
class Column:
    """A column of the data.

    Its `kind` is one of those of `Guess`, or "boolean" for categories that are true and false.
    `values` are numbers, NaN if missing: 0 and 1 for booleans, days since 1970 for dates, and
    indices into `levels` for categories. Those of texts and ids are strings, None if missing.
    """

    name: str
    kind: str
    values: npt.NDArray[Any]
    levels: tuple[str, ...] = ()
    is_integer: bool = False
    clustered: bool | None = None  # whether it is a feature of the clustering; None if unknown

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Which values are missing."""
        if self.kind in ("text", "id"):
            return ~are_known(self.values)
        return np.asarray(np.isnan(self.values))

    @property
    def is_summarized(self) -> bool:
        """Whether the column has a typical value."""
        return self.kind not in ("text", "id")

    @property
    def is_binary(self) -> bool:
        """Whether the column has numbers that are all 0 or 1."""
        known = self.values[~np.isnan(self.values)] if self.kind == "number" else ()
        return len(known) > 0 and bool(np.isin(known, (0.0, 1.0)).all())

    @property
    def is_constant(self) -> bool:
        """Whether no two values differ."""
        known = self.values[~self.is_missing]
        return len(known) == 0 or not np.any(known != known[0])

    def item(self, row: int) -> Any:
        """Return a value as JSON can hold it: dates as ISO text, None if it is missing."""
        return self.to_json(self.values[row])

    def to_json(self, value: Any) -> Any:
        """Return one of the `values`, or a mean of them, as JSON can hold it."""
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            return None
        if self.kind in ("text", "id"):
            return value
        if self.kind == "category":
            return self.levels[int(value)]
        if self.kind == "boolean":
            return bool(value >= 0.5)
        return iso_date(float(value)) if self.kind == "date" else float(value)

    def take(self, rows: Any) -> "Column":
        """Return the column of some rows."""
        return replace(self, values=self.values[rows])


def iso_date(days: float) -> str:
    """Return a date, with the time of day unless it is midnight.

    >>> iso_date(0.0), iso_date(0.5)
    ('1970-01-01', '1970-01-01 12:00')
    """
    moment = np.datetime64(round(days * MILLISECONDS), "ms")
    is_day = moment == moment.astype("datetime64[D]")
    return str(moment.astype("datetime64[D]" if is_day else "datetime64[m]")).replace("T", " ")


def as_frame(data: Any) -> Any:
    """Return a frame of narwhals, or None if `data` is no frame.

    The names of its columns are strings. It is an error if two are the same.
    """
    if hasattr(data, "iloc") and getattr(data, "ndim", 0) == 1:
        data = data.to_frame()
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        check_names_differ(data, "data")
        data = data.copy(deep=False)
        data.columns = [str(name) for name in data.columns]
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.Series):
        return frame.to_frame()
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def read_frame(frame: Any, given: Mapping[str, str]) -> list[Column]:
    """Return the columns of a frame of narwhals; `given` has the kinds that were asked for."""
    zoned = ncs.datetime(time_zone="*")
    frame = frame.with_columns(zoned.dt.replace_time_zone(None))  # the time that clocks show
    values = read_columns(frame) or {}
    guesses = judge_columns(values, given, find_categories(frame))
    return [read_column(name, values[name], guess) for name, guess in guesses.items()]


def read_column(name: str, values: Values, guess: Guess) -> Column:
    """Return a column of what its values were judged to be."""
    if guess.kind == "number":
        return number_column(name, values, guess.decimal, guess.unit)
    if guess.kind == "date":
        return Column(name, "date", to_days(values, guess.date_format or "iso"))
    texts = to_texts(values)
    if guess.kind == "category":
        return category_column(name, texts)
    return Column(name, guess.kind, texts)


def number_column(name: str, values: Values, decimal: str | None = None, unit: str = "") -> Column:
    """Return a column of numbers."""
    numbers = to_numbers(values, decimal, unit)
    known = numbers[~np.isnan(numbers)]
    return Column(name, "number", numbers, is_integer=np.array_equal(known, np.round(known)))


def category_column(name: str, texts: Iterable[str | None]) -> Column:
    """Return a column of categories, or of booleans if these are "true" and "false"."""
    texts = list(texts)
    levels = sorted({text for text in texts if text is not None})
    codes: dict[str | None, float] = {None: np.nan}
    codes |= {level: float(code) for code, level in enumerate(levels)}
    values = np.array([codes[text] for text in texts])
    if tuple(levels) == BOOLEANS:
        return Column(name, "boolean", values)
    return Column(name, "category", values, tuple(levels))

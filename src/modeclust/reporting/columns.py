"""The columns of the user's data, and what kind of values each of them has."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Doubles

KINDS = ("number", "category", "boolean", "date", "text", "id")
# Strings are texts if they have this many letters or words on average, and most of them differ.
TEXT_LETTERS, TEXT_WORDS = 40, 6
MOSTLY = 0.5
# Strings are ids if all differ, or if there are so many that almost all differ.
ALMOST_ALL, MANY = 0.95, 50
ID_NAME = re.compile(
    r"(?i:(^|[\s_.-])(id|ids|uuid|guid|key|index|idx|rowid|nr|no)$|^unnamed: 0$)|[a-z](ID|Id)$"
)
MILLISECONDS = 86_400_000  # in a day


@dataclass(frozen=True)
class Column:
    """A column of the data.

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
            return np.array([value is None for value in self.values], dtype=bool)
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
        data = data.copy(deep=False)
        data.columns = [str(name) for name in data.columns]
        repeated = data.columns[data.columns.duplicated()]
        if len(repeated):
            raise ValueError(
                f"the columns of data must have different names, got {repeated[0]!r} twice; rename "
                "one of them."
            )
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.Series):
        return frame.to_frame()
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def read_series(series: Any) -> Column:
    """Return a column of a frame, with the kind that its values have."""
    name, dtype = str(series.name), series.dtype
    if dtype == nw.Boolean:
        return Column(name, "boolean", _floats(series))
    if dtype.is_numeric():
        return number_column(name, _floats(series), is_integer=dtype.is_integer())
    if dtype in (nw.Date, nw.Datetime):
        return Column(name, "date", _days(series))
    if dtype == nw.Duration:
        return number_column(name, _floats(series.dt.total_seconds()))
    return values_column(name, series.to_list(), is_category=dtype in (nw.Categorical, nw.Enum))


def _floats(series: Any) -> Doubles:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _days(series: Any) -> Doubles:
    if series.dtype == nw.Datetime and series.dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    missing = series.is_null().to_numpy()
    ticks = series.dt.timestamp("ms").cast(nw.Float64).to_numpy()
    return np.where(missing, np.nan, np.asarray(ticks, dtype=np.float64) / MILLISECONDS)


def number_column(name: str, values: Doubles, *, is_integer: bool | None = None) -> Column:
    """Return a column of numbers, or of ids if they are distinct integers and named so.

    Infinite numbers count as missing.
    """
    values = np.where(np.isfinite(values), values, np.nan)
    known = values[~np.isnan(values)]
    is_whole = bool(is_integer or np.array_equal(known, np.round(known)))
    if is_whole and len(known) > 1 and ID_NAME.search(name) and len(np.unique(known)) == len(known):
        texts = [None if value != value else str(int(value)) for value in values.tolist()]
        return Column(name, "id", np.array(texts, dtype=object))
    return Column(name, "number", values, is_integer=is_whole)


def values_column(name: str, values: Sequence[Any], *, is_category: bool = False) -> Column:
    """Return a column of Python objects: booleans, numbers, dates or strings."""
    missing = [is_missing(value) for value in values]
    known = [value for value, is_none in zip(values, missing, strict=True) if not is_none]
    if known and not is_category:
        if all(isinstance(value, bool | np.bool_) for value in known):
            return Column(name, "boolean", _fill(values, missing, float))
        if all(isinstance(value, Real | Decimal) for value in known):
            return number_column(name, _fill(values, missing, float))
        if all(isinstance(value, dt.date | np.datetime64) for value in known):
            return Column(name, "date", _fill(values, missing, _to_days))
    texts = [
        None if is_none else str(value) for value, is_none in zip(values, missing, strict=True)
    ]
    kind = "category" if is_category else _kind_of([text for text in texts if text is not None])
    return category_column(name, texts) if kind == "category" else text_column(name, texts, kind)


def text_column(name: str, texts: Iterable[str | None], kind: str = "text") -> Column:
    """Return a column of texts or ids."""
    return Column(name, kind, np.array(list(texts), dtype=object))


def category_column(name: str, texts: Sequence[str | None]) -> Column:
    """Return a column of categories."""
    levels = sorted({text for text in texts if text is not None})
    codes = {level: float(code) for code, level in enumerate(levels)}
    values = np.array([np.nan if text is None else codes[text] for text in texts])
    return Column(name, "category", values, tuple(levels))


def _kind_of(texts: list[str]) -> str:
    """Return the kind of strings: "text", "id" or "category"."""
    n_distinct, n = len(set(texts)), max(len(texts), 1)
    if n_distinct > MOSTLY * n and n_distinct > 1:
        letters = sum(map(len, texts)) / n
        words = sum(text.count(" ") + 1 for text in texts) / n
        if letters >= TEXT_LETTERS or words >= TEXT_WORDS:
            return "text"
    if n_distinct > 1 and (n_distinct == n or n_distinct >= max(ALMOST_ALL * n, MANY)):
        return "id"
    return "category"


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, NA or an empty string."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value == ""
    return isinstance(value, Real | Decimal | np.datetime64) and bool(value != value)


def _fill(values: Sequence[Any], missing: list[bool], convert: Any) -> Doubles:
    pairs = zip(values, missing, strict=True)
    return np.array([np.nan if is_none else convert(value) for value, is_none in pairs], float)


def _to_days(value: Any) -> float:
    if getattr(value, "tzinfo", None) is not None:
        value = value.replace(tzinfo=None)
    return float(np.datetime64(value, "ms").astype(np.int64)) / MILLISECONDS

"""Values of one column, as numbers, as days or as text, in whatever way a table has them.

A missing value is NaN or None. So is a text such as "n/a", an infinite number, and a value that
cannot be read as what the column is.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Doubles
from modeclust.preparation.numerals import Parse, number_parser

Values = npt.NDArray[Any]  # of numbers, booleans, datetime64, or text, None if missing

# In lower case.
MISSING_VALUES: tuple[str, ...] = ("", "?", ".", "na", "n/a", "n.a", "n.a.", "nan", "none", "null")
MISSING_VALUES += ("#n/a", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?")
MAX_SPECIAL = 7  # letters of these, and of true and false
MIN_SHARE = 0.95  # of the values, for a column of text to be one of numbers or dates
FEW_TRIED, MAX_TRIED = 20, 1000  # values that a format is tried on; of the few, half as many fit
DAYS: tuple[str, ...] = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
DAYS += ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%y")
DAYS += ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y")
TIMES: tuple[str, ...] = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
# "iso" is read by `datetime.fromisoformat`, the others by `datetime.strptime`.
DATE_FORMATS = ("iso", "%Y-%m-%d %H:%M:%S UTC", *(day + time for time in TIMES for day in DAYS))
# Dates without a time zone are as they are, others in UTC.
EPOCH = datetime(1970, 1, 1)
FIRST_DAY, LAST_DAY = (datetime.min - EPOCH).days, (datetime.max - EPOCH).days
SECONDS = 86_400


def read_columns(X: Any) -> dict[str, Values] | None:
    """Return the columns of a frame of pandas or polars by name; None if X is something else."""
    check_names_differ(X, "X")
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return {str(series.name): _read_series(series) for series in frame.iter_columns()}


def check_names_differ(X: Any, what: str) -> None:
    """Raise an error that names a column that a frame of pandas has twice."""
    names = X.columns if hasattr(X, "iloc") and hasattr(X, "columns") else ()
    name, count = next(iter(Counter(map(str, names)).most_common(1)), ("", 0))
    if count > 1:
        raise ValueError(
            f"the columns of {what} must have different names, got {name!r} twice; rename one of "
            "them."
        )


def find_categories(X: Any) -> set[str]:
    """Return the names of the columns whose type is one of categories, if X is a frame."""
    return _find_type(X, nw.Categorical, nw.Enum)


def find_booleans(X: Any) -> set[str]:
    """Return the names of the columns whose type is that of booleans, if X is a frame."""
    return _find_type(X, nw.Boolean)


def _find_type(X: Any, *wanted: Any) -> set[str]:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    types = frame.schema.items() if isinstance(frame, nw.DataFrame) else ()
    return {str(name) for name, dtype in types if dtype in wanted}


def _read_series(series: Any) -> Values:
    dtype = series.dtype
    if dtype == nw.Duration:  # in seconds
        series = series.dt.total_microseconds().cast(nw.Float64) / 1e6
        dtype = series.dtype
    if dtype in (nw.Boolean, nw.Int64, nw.UInt64) and series.null_count() == 0:
        return to_values(series.to_numpy())
    if dtype.is_numeric():
        single = dtype == nw.Float32
        numbers = series if single else series.cast(nw.Float64)
        return np.asarray(numbers.to_numpy(), dtype=np.float32 if single else np.float64)
    if dtype in (nw.Date, nw.Datetime):
        times = series.cast(nw.Datetime("ms")) if dtype == nw.Date else series
        numbers = times.dt.timestamp("ms").cast(nw.Float64).to_numpy()
        dates = np.where(np.isnan(numbers), 0, numbers).astype("M8[ms]")
        dates[np.isnan(numbers)] = np.datetime64("NaT")
        return dates
    return to_values(series.to_list())


def to_values(items: Sequence[Any] | npt.NDArray[Any]) -> Values:
    """Return an array of numbers or dates as it is, and anything else as text."""
    if isinstance(items, np.ndarray):
        if is_numeric(items) or items.dtype.kind == "M":
            return items
        items = items.tolist()
    types = set(map(type, items))
    if nested := {t for t in types if issubclass(t, tuple) or not issubclass(t, Hashable)}:
        items = [str(item) if type(item) in nested else item for item in items]
    if len(types - {type(None)}) > 1:  # 1, 1.0 and True are equal
        items = list(zip(map(type, items), items, strict=True))
    known = {item: _to_text(item[1] if type(item) is tuple else item) for item in set(items)}
    return np.fromiter(map(known.__getitem__, items), dtype=object, count=len(items))


def is_numeric(values: Values) -> bool:
    """Return whether values have a type of numbers, or of booleans."""
    return values.dtype.kind in "fiub"


def to_texts(values: Values) -> npt.NDArray[np.object_]:
    """Return values as text: 1 and 1.0 are "1", True is "true"; None where one is missing."""
    if values.dtype.kind == "O":
        return values
    return to_values((values.astype(str) if values.dtype.kind == "M" else values).tolist())


def _to_text(value: Any) -> str | None:
    if isinstance(value, str) and len(text := value.strip()) > MAX_SPECIAL:
        return text
    if isinstance(value, bool | np.bool):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        digits = 15 if abs(float(value)) < 1e15 else 17  # 17 for integers that are ids
        return f"{value:.{digits}g}" if math.isfinite(value) else None
    text = str(value).strip()
    lower = text.lower()
    if lower in MISSING_VALUES or lower in ("nat", "<na>"):
        return None
    return lower if lower in ("true", "false") else text


def are_known(texts: npt.NDArray[np.object_]) -> npt.NDArray[np.bool]:
    """Return whether each text is there."""
    return np.array([text is not None for text in texts], dtype=bool)


def to_numbers(values: Values, decimal: str | None, unit: str = "") -> Doubles:
    """Return values as numbers; text has the decimal sign, None if it has none, and the unit."""
    if is_numeric(values):
        numbers = values.astype(np.float64)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    return parse_texts(to_texts(values), number_parser(decimal or ".", unit))


def to_days(values: Values, date_format: str) -> Doubles:
    """Return dates and times as days since 1970."""
    if values.dtype.kind == "M":
        days = (values - np.datetime64(0, "ms")) / np.timedelta64(SECONDS, "s")
        return np.asarray(days, dtype=np.float64)
    return parse_texts(to_texts(values), date_parser(date_format))


def from_day(day: float) -> str:
    """Return days since 1970 as a date; the nearest one from the years 1 to 9999."""
    return str(np.datetime64(round(min(max(day, FIRST_DAY), LAST_DAY)), "D"))


class DateFormat(NamedTuple):
    """How dates are written."""

    name: str  # one of DATE_FORMATS
    doubtful: str = ""  # one of the dates, if another format reads as many, and this one otherwise


def find_date_format(texts: npt.NDArray[np.object_], least: float = MIN_SHARE) -> DateFormat | None:
    """Return the format that reads the most texts, none missing, and at least this share of them.

    If two formats read as many, such as 3/4/2024 with the day or the month first, days are first,
    unless the others are then all the first of a month.
    """
    names = [name for name in DATE_FORMATS if fits(texts, date_parser(name), least)]
    if not names:
        return None
    distinct = sorted(set(texts)) if len(names) > 1 else []
    days = [parse_texts(distinct, date_parser(name)) for name in names]
    n_read = [np.count_nonzero(np.isfinite(found)) for found in days]
    best = [i for i, n in enumerate(n_read) if n == max(n_read)]
    first, other = best[0], best[-1]
    differ = np.flatnonzero(days[first] != days[other])
    if first == other or not len(differ):
        return DateFormat(names[first])
    known = np.floor(days[other][np.isfinite(days[other])]).astype("i8").astype("M8[D]")
    starts_months = bool((known == known.astype("M8[M]")).all())
    return DateFormat(names[other if starts_months else first], distinct[differ[0]])


def fits(texts: npt.NDArray[np.object_], parse: Parse, least: float) -> bool:
    """Return whether at least this share of texts, none missing, can be read."""
    if len(texts) == 0:
        return False
    for n_tried, share in ((FEW_TRIED, least / 2), (MAX_TRIED, least)):
        if np.isfinite(parse_texts(every(texts, n_tried), parse)).mean() < share:
            return False
    return True


def every(values: Values, n: int) -> Values:
    """Return about n of the values, evenly spread; at least n if there are as many."""
    return values[:: max(1, len(values) // n)]


def parse_texts(texts: Iterable[str | None], parse: Parse) -> Doubles:
    """Return texts as numbers; NaN where one is missing or cannot be read."""
    known: dict[str | None, float] = {None: np.nan}
    numbers = []
    for text in texts:
        if text not in known:
            assert text is not None
            known[text] = parse(text)
        numbers.append(known[text])
    return np.array(numbers, dtype=np.float64)


def date_parser(date_format: str) -> Parse:
    """Return a function that reads dates in this format as days since 1970."""

    def parse(text: str) -> float:
        try:
            if date_format == "iso":
                date = datetime.fromisoformat(text)
            else:
                date = datetime.strptime(text, date_format)
        except ValueError:
            return np.nan
        if date.tzinfo is not None:
            date = date.astimezone(UTC).replace(tzinfo=None)
        return (date - EPOCH).total_seconds() / SECONDS

    return parse

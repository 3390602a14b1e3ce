"""Columns as they were prepared: how the values of each become features, and back.

Each is a dataclass of plain values and arrays, so that it can be saved in a file without pickle.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from modeclust.data.reading import Doubles
from modeclust.exceptions import UnknownCategoriesWarning, _warn_user
from modeclust.io.model_file import is_array
from modeclust.preparation.numerals import MARKERS, NUMBERS
from modeclust.preparation.values import (
    DATE_FORMATS,
    Values,
    are_known,
    from_day,
    to_days,
    to_numbers,
    to_texts,
)

MIN_CATEGORY, MIN_CATEGORY_ROWS, MAX_CATEGORIES = 0.01, 5, 20
FENCE = 3.0  # quartile distances from the quartiles, Tukey's outer fences
MAX_TERMS, N_TOPICS, MIN_TEXTS = 2000, 10, 2
RARE = "(rare)"
TRUTH = {"true": True, "yes": True, "y": True, "1": True}
TRUTH |= {"false": False, "no": False, "n": False, "0": False}
MIN_UNKNOWN = 10  # values, for a warning that all are unknown


class ColumnError(ValueError):
    """Raised if a column cannot be prepared as asked. The message says why."""


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used."""

    name: str
    reason: str
    kind: ClassVar[str | None] = None
    features: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        _check(are_texts([self.name]) and are_texts([self.reason]), "a column left out")


@dataclass(frozen=True)
class NumberColumn:
    """Numbers: cut at `low` and `high`, minus the center, divided by the scale."""

    name: str
    missing: float  # share of the rows
    fill: float
    low: float
    high: float
    center: float
    scale: float
    decimal: str | None = None  # decimal sign, if they are text
    date_format: str | None = None  # if they are dates, which become days since 1970
    n_unread: int = 0  # texts that are neither a number or date nor the name of a missing value
    unread: str = ""  # the first of them
    unit: str = ""  # beside the numbers, if they are text
    doubtful: str = ""  # a text whose decimal sign, or order of day and month, is only plausible
    is_typed: bool = False  # whether they are dates by their type, not text

    def __post_init__(self) -> None:
        floats = (self.fill, self.low, self.high, self.center, self.scale)
        is_right = are_texts([self.name]) and _is_share(self.missing)
        is_right = is_right and all(type(value) is float for value in floats)
        is_right = is_right and type(self.n_unread) is int and type(self.is_typed) is bool
        texts = (self.unread, self.unit, self.doubtful)
        is_right = is_right and all(isinstance(text, str) for text in texts)
        is_right = is_right and self.decimal in (None, *NUMBERS)
        is_right = is_right and self.date_format in (None, *DATE_FORMATS)
        is_right = is_right and bool(np.isfinite([self.fill, self.center, self.scale]).all())
        _check(is_right and self.low <= self.high and self.scale > 0, "a column of numbers")

    @property
    def is_identity(self) -> bool:
        """Whether numbers are not changed."""
        is_plain = self.decimal is None and self.date_format is None
        limits = (self.low, self.high, self.center, self.scale)
        return is_plain and limits == (-np.inf, np.inf, 0.0, 1.0)

    @property
    def kind(self) -> str:
        """What the column is."""
        return "number" if self.date_format is None else "date"

    @property
    def begins_with(self) -> str:
        """Whether the day or the month comes first in dates; empty for numbers."""
        if self.date_format is None:
            return ""
        return "month" if self.date_format.startswith(("%m", "%b", "%B")) else "day"

    @property
    def features(self) -> Sequence[str]:
        """The names of the features."""
        return (self.name,)

    @classmethod
    def fit(
        cls,
        name: str,
        values: Values,
        weight: Doubles,
        scale: str | None,
        *,
        decimal: str | None = None,
        date_format: str | None = None,
        unit: str = "",
        doubtful: str = "",
    ) -> Self:
        """Return the column, whose text has a decimal sign and a unit, or a format of dates."""
        numbers = _to_numbers(values, decimal, date_format, unit)
        known = ~np.isnan(numbers)
        unread = _unread(values, known)
        missing, numbers, weight = float(np.mean(~known)), numbers[known], weight[known]
        if not weight.any():
            raise ColumnError("no values" if not known.any() else "no values with a weight")
        low, high = _fences(numbers, weight) if scale == "robust" else (-np.inf, np.inf)
        cut = np.clip(numbers, low, high)
        (fill,) = _quantiles(cut, weight, 0.5)
        center, spread = 0.0, 1.0
        if scale is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                center = float(np.average(cut, weights=weight))
                spread = float(np.sqrt(np.average((cut - center) ** 2, weights=weight))) or 1.0
            if not np.isfinite([center, spread]).all():
                raise ColumnError("numbers that are too large")
        first = unread[0] if unread else ""
        how = (decimal, date_format, len(unread), first, unit, doubtful, values.dtype.kind == "M")
        return cls(name, missing, fill, float(low), float(high), center, spread, *how)

    def read(self, values: Values) -> Doubles:
        """Return numbers, or days since 1970, in the units of the table; NaN if missing."""
        return _to_numbers(values, self.decimal, self.date_format, self.unit)

    def transform(self, values: Values) -> Doubles:
        """Return the feature, of shape (n_rows, 1)."""
        numbers = self.read(values)
        known = ~np.isnan(numbers)
        words = {*MARKERS, self.unread.lower()}
        unread = [text for text in _unread(values, known) if text.lower() not in words]
        if len(unread) > np.count_nonzero(known):
            raise ValueError(
                f"Column {self.name!r} has {len(unread):,} values that are not a {self.kind} as in "
                f"the table that was fitted, e.g. {unread[0][:20]!r}."
            )
        numbers = np.where(np.isnan(numbers), self.fill, np.clip(numbers, self.low, self.high))
        if (self.center, self.scale) == (0.0, 1.0):  # keeps the bits of every number
            return numbers[:, None]
        return ((numbers - self.center) / self.scale)[:, None]

    def inverse_transform(self, features: Doubles) -> npt.NDArray[Any]:
        """Return numbers in the units of the data, or dates: as text, or by their type."""
        numbers: Doubles = features[:, 0] * self.scale + self.center
        if self.date_format is None:
            return numbers
        return np.array(list(map(from_day, numbers)), dtype="M8[D]" if self.is_typed else str)


def _to_numbers(values: Values, decimal: str | None, date_format: str | None, unit: str) -> Doubles:
    if date_format is not None:
        return to_days(values, date_format)
    return to_numbers(values, decimal, unit)


def _unread(values: Values, known: npt.NDArray[np.bool_]) -> list[str]:
    """Return the texts among the values that are not known, apart from names of missing values."""
    if values.dtype.kind != "O":
        return []
    return [text for text in to_texts(values[~known]) if text is not None]


def _quantiles(numbers: Doubles, weight: Doubles, *shares: float) -> list[float]:
    found = np.quantile(numbers, shares, weights=weight, method="inverted_cdf")
    return [float(value) for value in np.atleast_1d(found)]


def _fences(numbers: Doubles, weight: Doubles) -> tuple[float, float]:
    """Return Tukey's outer fences. If most numbers are equal, they are those of the others."""
    first, middle, third = _quantiles(numbers, weight, 0.25, 0.5, 0.75)
    if first == third and (others := (numbers != middle) & (weight > 0)).any():
        first, third = _quantiles(numbers[others], weight[others], 0.25, 0.75)
    reach = FENCE * (third - first)
    return min(first - reach, middle), max(third + reach, middle)


@dataclass(frozen=True)
class CategoryColumn:
    """Categories: one feature each, 1 or 0, and one for all rare values together.

    A scaled number has a mean squared distance of 2 between two rows; two different categories have
    the same. A missing or unknown value is replaced by the shares of the categories.
    """

    name: str
    missing: float
    categories: list[str]
    shares: Doubles  # of the categories, then of the rare values if there are any
    n_rare: int  # different rare values
    is_boolean: bool = False  # whether they are true and false by their type
    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        names, n_rare, shares = self.categories, self.n_rare, self.shares
        is_right = are_texts([self.name]) and _is_share(self.missing) and are_texts(names)
        if is_right := is_right and type(n_rare) is int and n_rare >= 0:
            is_right = is_array(shares, "f", len(names) + (n_rare > 0))
        is_right = is_right and type(self.is_boolean) is bool
        _check(is_right and bool((np.isfinite(shares) & (shares >= 0)).all()), "categories")

    @property
    def features(self) -> Sequence[str]:
        """The names of the features."""
        names = [*self.categories, *([RARE] if self.n_rare else [])]
        return [f"{self.name}={category}" for category in names]

    @classmethod
    def fit(cls, name: str, values: Values, weight: Doubles, *, is_boolean: bool = False) -> Self:
        """Return the column; `is_boolean` if its type is that of booleans."""
        texts = to_texts(values)
        known = are_known(texts)
        names, codes = np.unique(texts[known].astype(str), return_inverse=True)
        counts = np.bincount(codes, minlength=len(names))
        order = np.lexsort((np.arange(len(names)), -counts))  # the most common first
        least = max(min(MIN_CATEGORY_ROWS, len(texts) / 10), MIN_CATEGORY * known.sum())
        is_kept = (counts >= least) | (len(names) <= 2)
        kept = np.sort(order[is_kept[order]][:MAX_CATEGORIES])
        if len(kept) < (1 if len(kept) < len(names) else 2):
            raise ColumnError("too many values" if len(names) > 1 else "constant")
        sums = np.bincount(codes, weights=weight[known], minlength=len(names))
        shares, n_rare = sums[kept], len(names) - len(kept)
        if n_rare:
            shares = np.append(shares, sums.sum() - shares.sum())
        if not sums.any():
            raise ColumnError("no values with a weight")
        missing = float(np.mean(~known))
        kept_names = names[kept].tolist()
        return cls(name, missing, kept_names, shares / shares.sum(), n_rare, is_boolean)

    def transform(self, values: Values) -> Doubles:
        """Return the features, of shape (n_rows, n_categories).

        Warns if there are several values, and none is known.
        """
        codes = {text: code for code, text in enumerate(self.categories)}
        truth = {TRUTH.get(text.lower()): code for text, code in codes.items()}
        if truth.keys() == {True, False} and len(codes) == 2:  # a boolean is known in any words
            codes |= {text: truth[is_true] for text, is_true in TRUTH.items() if text not in codes}
        other = len(self.categories) if self.n_rare else -1
        texts = to_texts(values)
        found = np.array([-1 if t is None else codes.get(t, other) for t in texts])
        present = texts[are_known(texts)]
        if len(present) >= MIN_UNKNOWN and codes.keys().isdisjoint(present):
            taken = "are rare" if self.n_rare else "count as missing"
            _warn_user(
                f"Column {self.name!r} has no value of the table that was fitted: all {taken}, "
                f"e.g. {present[0][:20]!r}. Known ones are {', '.join(self.categories[:3])!r}.",
                UnknownCategoriesWarning,
            )
        rows = np.zeros((len(values), len(self.features)))
        known = np.flatnonzero(found >= 0)
        rows[known, found[known]] = 1.0
        rows[found < 0] = self.shares
        return rows

    def inverse_transform(self, features: Doubles) -> npt.NDArray[Any]:
        """Return the category with the largest share."""
        names = np.array([*self.categories, *([RARE] if self.n_rare else [])])
        found: npt.NDArray[Any] = names[features.argmax(axis=1)]
        return found == "true" if self.is_boolean else found


@dataclass(frozen=True)
class TextColumn:
    """Texts: tf-idf, reduced to a few directions that together vary as much as one number."""

    name: str
    missing: float
    terms: list[str]
    idf: Doubles
    components: Doubles  # (n_topics, n_terms)
    center: Doubles = field(repr=False)
    kind: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        is_right = are_texts([self.name]) and _is_share(self.missing)
        is_right = is_right and are_texts(self.terms) and len(self.terms) > 0
        arrays = (self.idf, self.components, self.center)
        is_right = is_right and is_array(self.idf, "f", len(self.terms))
        is_right = is_right and is_array(self.components, "f", None, len(self.terms))
        is_right = is_right and is_array(self.center, "f", len(self.components))
        is_right = is_right and all(np.isfinite(array).all() for array in arrays)
        _check(is_right, "a column of texts")

    @property
    def features(self) -> Sequence[str]:
        """The names of the features."""
        return [f"{self.name} {j + 1}" for j in range(len(self.components))]

    @classmethod
    def fit(cls, name: str, values: Values, weight: Doubles) -> Self:
        """Return the column; texts have no weights."""
        texts = to_texts(values)
        known = [text for text in texts if text is not None]
        try:
            vectorizer = TfidfVectorizer(
                sublinear_tf=True, min_df=MIN_TEXTS, max_df=0.5, max_features=MAX_TERMS
            )
            rows = vectorizer.fit_transform(known)
        except ValueError:  # raised if there are no such words
            raise ColumnError("texts without words in common") from None
        n_topics = min(N_TOPICS, *(n - 1 for n in rows.shape))
        if n_topics < 1:
            raise ColumnError("texts without words in common")
        components = TruncatedSVD(n_topics, random_state=0).fit(rows).components_
        topics = rows @ components.T
        total = np.sqrt(topics.var(axis=0).sum())
        if not total > 0:
            raise ColumnError("texts without words in common")
        terms = vectorizer.get_feature_names_out().tolist()
        missing = float(np.mean(~are_known(texts)))
        center = topics.mean(axis=0) / total
        return cls(name, missing, terms, vectorizer.idf_, components / total, center)

    def transform(self, values: Values) -> Doubles:
        """Return the features, of shape (n_rows, n_topics); 0 where the text is missing."""
        vectorizer = TfidfVectorizer(sublinear_tf=True, vocabulary=self.terms)
        vectorizer.idf_ = self.idf
        texts = to_texts(values)
        rows = vectorizer.transform(["" if text is None else text for text in texts])
        topics = rows @ self.components.T - self.center
        topics[~are_known(texts)] = 0.0
        return np.asarray(topics)

    def inverse_transform(self, features: Doubles) -> None:
        """Return None: topics are no text."""


def are_texts(values: Any) -> bool:
    """Return whether this is a list of different texts."""
    is_list = isinstance(values, list) and all(type(value) is str for value in values)
    return is_list and len(set(values)) == len(values)


def _is_share(value: Any) -> bool:
    return type(value) is float and 0 <= value <= 1


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} of the preparation has parts that do not belong together")


PreparedColumn = NumberColumn | CategoryColumn | TextColumn
PREPARED_TYPES = (NumberColumn, CategoryColumn, TextColumn)
COLUMN_TYPES = (LeftOut, *PREPARED_TYPES)

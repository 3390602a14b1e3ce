"""What a column of a table is, judged by its name and its values."""

import re
from collections.abc import Container, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from modeclust.preparation.values import (
    MAX_TRIED,
    Values,
    are_known,
    every,
    find_date_format,
    find_decimal,
    is_numeric,
    to_numbers,
    to_texts,
)

Kind = Literal["number", "category", "date", "text", "id"]
KINDS: tuple[Kind, ...] = ("number", "category", "date", "text")  # that users may ask for

AN_ID = "an id"  # why ids are left out
MAX_MISSING = 0.9  # share of missing values above which a column is left out
ID_SHARE = 0.99  # of the values are distinct in a column of ids
MIN_COUNTER = 20  # rows from which on the numbers 1, 2, 3, ... are ids, whatever their name
MAX_CODES = 20  # a column with no more values has codes, even if its name is that of an id
MIN_DISTINCT = 0.5  # share of distinct values from which on text is no category
MIN_WORDS, MIN_REPEATED_WORDS = 4, 6  # in free text, and in text whose values are repeated
# Scripts without spaces between words, of which two letters count as a word.
NO_SPACES = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
WORD = re.compile(rf"[{NO_SPACES}]{{1,2}}|[^\s{NO_SPACES}]+")
# Last words of names. Those of the first kind are ids also if they are repeated.
ID_NAMES = {"id", "ids", "uuid", "guid", "rowid"}
COUNTER_NAMES = {"key", "index", "idx", "no", "nr", "number", "unnamed"}
# Last words of names of integers that are categories: their differences mean nothing.
CODE_NAMES = {"code", "zip", "zipcode", "postcode", "plz"}


class Guess(NamedTuple):
    """What a column is, and why it is of no use for clustering, if so."""

    kind: Kind
    reason: str = ""  # why the preparation leaves it out
    decimal: str | None = None  # the decimal sign of numbers in text
    date_format: str | None = None  # of dates in text
    is_binary: bool = False  # whether there are two different numbers


def judge_columns(
    columns: Mapping[str, Values], given: Mapping[str, str], categories: Container[str] = ()
) -> dict[str, Guess]:
    """Return what each column is: as given, a category by its type, or by name and values."""
    return {
        name: _as_kind(given[name], name, values)
        if name in given
        else guess_kind(name, values, is_category=name in categories)
        for name, values in columns.items()
    }


def _as_kind(kind: Any, name: str, values: Values) -> Guess:
    """Return how to read a column of a kind that was given."""
    is_text = values.dtype.kind != "M" and not is_numeric(values)
    texts = to_texts(values) if is_text else np.array([], dtype=object)
    texts = texts[are_known(texts)]
    decimal = find_decimal(texts) if is_text and kind == "number" else None
    date_format = "iso" if kind == "date" else None
    if is_text and kind == "date":
        date_format = find_date_format(texts)
    is_read = not is_text or (kind in ("category", "text") or (decimal or date_format))
    if not is_read or (kind == "number" and values.dtype.kind == "M"):
        raise ValueError(
            f"Column {name!r} cannot be prepared as a {kind}: most of its values are not {kind}s."
        )
    return Guess(kind, decimal=decimal, date_format=date_format)


def guess_kind(name: str, values: Values, *, is_category: bool = False) -> Guess:
    """Return what a column is; `is_category` if its type is one of categories."""
    if is_numeric(values) and values.dtype.kind != "b" and not is_category:
        return _judge_numbers(name, values)
    if values.dtype.kind == "M":
        known = values[~np.isnat(values)]
        reason = _why_left_out(len(known), len(values), len(np.unique(known)))
        return Guess("date", reason, date_format="iso")
    texts = to_texts(values)
    known = texts[are_known(texts)]
    distinct = set(known)
    reason = _why_left_out(len(known), len(texts), len(distinct))
    if is_category or len(distinct) < 2:
        return Guess("category", reason)
    if (sign := find_decimal(known)) is not None:
        return _judge_numbers(name, values, sign)
    if len(distinct) == 2:
        return Guess("category", reason)
    if (date_format := find_date_format(known)) is not None:
        return Guess("date", reason, date_format=date_format)
    words = float(np.mean([_count_words(text) for text in set(every(known, MAX_TRIED))]))
    kind = _judge_texts(name, words, len(distinct), len(known))
    return Guess(kind, reason or (AN_ID if kind == "id" else ""))


def _judge_numbers(name: str, values: Values, decimal: str | None = None) -> Guess:
    """Return whether a column of numbers is one of ids or categories instead."""
    is_exact = values.dtype.kind in "iu"  # large ids that differ may be equal in float64
    numbers = values if is_exact else to_numbers(values, decimal)
    known = numbers[~np.isnan(numbers)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    reason = _why_left_out(len(known), len(numbers), 1 if low == high else 2)
    guess = Guess("number", reason, decimal)
    if ((known == low) | (known == high)).all():
        return guess._replace(is_binary=low < high)
    if not (known == np.round(known)).all():
        return guess
    if _last_word(name) in CODE_NAMES:
        return Guess("category", reason)
    if not _may_be_id(name, known):
        return guess
    distinct = np.unique(known)
    is_counter = MIN_COUNTER <= len(distinct) == len(numbers) == int(high) - int(low) + 1
    if is_counter or _is_id(name, len(distinct), len(known)):
        return Guess("id", reason or AN_ID)
    return Guess("category", reason) if _has_id_name(name) else guess


def _may_be_id(name: str, known: Values) -> bool:
    """Return whether it is worth the time to count the distinct numbers."""
    first = known[:MAX_TRIED]
    return _has_id_name(name) or len(np.unique(first)) >= ID_SHARE * len(first) - 1


def _judge_texts(name: str, words: float, n_distinct: int, n_known: int) -> Kind:
    """Return whether texts with so many words on average are free text, ids or categories."""
    is_many = n_distinct > MAX_CODES
    if n_distinct > MIN_DISTINCT * n_known and (is_many or n_distinct == n_known):
        return "text" if words >= MIN_WORDS else "id"
    if _has_id_name(name) and _is_id(name, n_distinct, n_known):
        return "id"
    return "text" if is_many and words >= MIN_REPEATED_WORDS else "category"


def _count_words(text: str) -> int:
    return len(text.split()) if text.isascii() else len(WORD.findall(text))


def _why_left_out(n_known: int, n_rows: int, n_distinct: int) -> str:
    missing = 1 - n_known / n_rows
    if missing > MAX_MISSING:
        return f"{missing:.0%} missing" if n_known else "no values"
    return "constant" if n_distinct == 1 else ""


def _is_id(name: str, n_distinct: int, n_known: int) -> bool:
    """Return whether integers or short texts are ids, by their name and number."""
    is_unique = n_distinct >= ID_SHARE * n_known
    if _has_id_name(name):
        return is_unique or n_distinct > MAX_CODES
    return _last_word(name) in COUNTER_NAMES and is_unique


def _has_id_name(name: str) -> bool:
    return _last_word(name) in ID_NAMES or name.lower().startswith(("id_", "id "))


def _last_word(name: str) -> str:
    """Return the last word of a name such as customer_id or customerID."""
    words = re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+", name)
    return words[-1].lower() if words else ""

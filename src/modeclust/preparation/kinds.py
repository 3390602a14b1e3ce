"""What a column of a table is, judged by its name and its values."""

import re
from typing import Literal, NamedTuple

import numpy as np

from modeclust.data.reading import Doubles
from modeclust.preparation.values import (
    MAX_TRIED,
    Values,
    are_known,
    find_date_format,
    find_decimal,
    to_numbers,
    to_texts,
)

Kind = Literal["number", "category", "date", "text"]
KINDS: tuple[Kind, ...] = ("number", "category", "date", "text")

AN_ID = "an id"  # why ids are left out
MAX_MISSING = 0.9  # share of missing values above which a column is left out
ID_SHARE = 0.99  # of the values are distinct in a column of ids
MIN_COUNTER = 20  # rows from which on the numbers 1, 2, 3, ... are ids, whatever their name
MAX_CODES = 20  # a column with no more values has codes, even if its name is that of an id
MIN_DISTINCT = 0.5  # share of distinct values from which on text is no category
MIN_WORDS, MIN_REPEATED_WORDS = 4, 6  # in free text, and in text whose values are repeated
# Last words of names. Those of the first kind are ids also if they are repeated.
ID_NAMES, COUNTER_NAMES = {"id", "ids", "uuid", "guid"}, {"key", "index", "no", "nr", "number"}
# Last words of names of integers that are categories: their differences mean nothing.
CODE_NAMES = {"code", "zip", "zipcode", "postcode", "plz"}


class Guess(NamedTuple):
    """What a column is, or why it is left out."""

    kind: Kind | None
    reason: str = ""  # why it is left out, if the kind is None
    decimal: str | None = None  # the decimal sign of numbers in text
    date_format: str | None = None  # of dates in text


def guess_kind(name: str, values: Values) -> Guess:
    """Return what a column is."""
    if values.dtype.kind in "fib":
        return _judge_numbers(name, Guess("number"), values)
    if values.dtype.kind == "M":
        known = values[~np.isnat(values)]
        is_left_out = _left_out(len(known), len(values), len(np.unique(known)))
        return is_left_out or Guess("date", date_format="iso")
    texts = to_texts(values)
    known = texts[are_known(texts)]
    distinct = set(known)
    if is_left_out := _left_out(len(known), len(texts), len(distinct)):
        return is_left_out
    if (sign := find_decimal(known)) is not None:
        return _judge_numbers(name, Guess("number", decimal=sign), values)
    if len(distinct) == 2:
        return Guess("category")
    if (date_format := find_date_format(known)) is not None:
        return Guess("date", date_format=date_format)
    words = float(np.mean([len(text.split()) for text in distinct]))
    if len(distinct) > MIN_DISTINCT * len(known) and len(distinct) > MAX_CODES:
        return Guess("text") if words >= MIN_WORDS else Guess(None, AN_ID)
    if _has_id_name(name) and _is_id(name, len(distinct), len(known)):
        return Guess(None, AN_ID)
    if len(distinct) > MAX_CODES and words >= MIN_REPEATED_WORDS:
        return Guess("text")
    return Guess("category")


def _judge_numbers(name: str, guess: Guess, values: Values) -> Guess:
    """Return whether a column of numbers is one of ids or categories instead."""
    numbers = to_numbers(values, guess.decimal)
    known = numbers[~np.isnan(numbers)]
    n_distinct = 1 if len(known) and known.min() == known.max() else 2
    if is_left_out := _left_out(len(known), len(numbers), n_distinct):
        return is_left_out
    if ((known == known.min()) | (known == known.max())).all():
        return Guess("category")
    if not (known == np.round(known)).all():
        return guess
    if _last_word(name) in CODE_NAMES:
        return Guess("category")
    if not _may_be_id(name, known):
        return guess
    distinct = np.unique(known)
    is_counter = len(distinct) == len(known) and distinct[-1] - distinct[0] == len(known) - 1
    if _is_id(name, len(distinct), len(known)) or (is_counter and len(known) >= MIN_COUNTER):
        return Guess(None, AN_ID)
    return Guess("category") if _has_id_name(name) else guess


def _may_be_id(name: str, known: Doubles) -> bool:
    """Return whether it is worth the time to count the distinct numbers."""
    first = known[:MAX_TRIED]
    return _has_id_name(name) or len(np.unique(first)) >= ID_SHARE * len(first) - 1


def _left_out(n_known: int, n_rows: int, n_distinct: int) -> Guess | None:
    missing = 1 - n_known / n_rows
    if missing > MAX_MISSING:
        return Guess(None, f"{missing:.0%} missing" if n_known else "no values")
    return Guess(None, "constant") if n_distinct == 1 else None


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

"""What a column of a table is, judged by its name and its values."""

import re
from collections.abc import Container, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.preparation.numerals import (
    MARKERS,
    NUMBERS,
    Dots,
    are_codes,
    are_quantities,
    find_unit,
    judge_dots,
    number_parser,
)
from modeclust.preparation.values import (
    MAX_TRIED,
    MIN_SHARE,
    DateFormat,
    Values,
    are_known,
    every,
    find_date_format,
    fits,
    is_numeric,
    parse_texts,
    to_days,
    to_numbers,
    to_texts,
)

Kind = Literal["number", "category", "date", "text", "id"]
LEFT_OUT = "left out"
KINDS = ("number", "category", "date", "text", LEFT_OUT)  # that users may ask for

# Why columns are left out.
AN_ID, NOT_UNDERSTOOD, AS_ASKED = "an id", "text that is not understood", "as asked"
MAX_MISSING = 0.9  # share of missing values above which a column is left out
ID_SHARE = 0.99  # of the values are distinct in a column of ids
MIN_COUNTER = 20  # rows from which on the numbers 1, 2, 3, ... are ids, whatever their name
MAX_CODES = 20  # a column with no more values has codes, even if its name is that of an id
MIN_GIVEN = 0.5  # share of the values that must be what a column was said to be
MAX_WORDS = 5  # different words that stand for missing values among numbers
MIN_DISTINCT = 0.5  # share of distinct values from which on text is no category
MIN_WORDS, MIN_REPEATED_WORDS = 4, 6  # in free text, and in text whose values are repeated
# Scripts without spaces between words, of which two letters count as a word.
NO_SPACES = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
WORD = re.compile(rf"[{NO_SPACES}]{{1,2}}|[^\s{NO_SPACES}]+")
# Last words of names. Those of the first kind are ids also if they are repeated.
ID_NAMES = {"id", "ids", "uuid", "guid", "rowid"}
COUNTER_NAMES = {"key", "index", "idx", "no", "nr", "number", "unnamed", "uid", "user", "account"}
COUNTER_NAMES |= {"isbn", "ean", "sku", "barcode", "phone", "telephone", "tel", "mobile", "fax"}
# Last words of names of integers that are categories: their differences mean nothing.
CODE_NAMES = {"code", "zip", "zipcode", "postcode", "plz"}
# In names of integers that are dates, such as 20240106, if all are days of these years.
DATE_NAME = re.compile(r"date|day|datum|dob", re.IGNORECASE)
FIRST_DATE, LAST_DATE = 1900_01_01, 2100_12_31


class Guess(NamedTuple):
    """What a column is, and why it is of no use for clustering, if so."""

    kind: Kind
    reason: str = ""  # why the preparation leaves it out
    decimal: str | None = None  # the decimal sign of numbers in text
    unit: str = ""  # of numbers in text
    doubtful: str = ""  # a text whose decimal sign, or order of day and month, is only plausible
    date_format: str | None = None  # of dates in text
    is_binary: bool = False  # whether there are two different numbers


def judge_columns(
    columns: Mapping[str, Values], given: Mapping[str, str], categories: Container[str] = ()
) -> dict[str, Guess]:
    """Return what each column is: as given, a category by its type, or by name and values.

    If one column of text certainly has decimal commas, doubtful ones have them too.
    """

    def judge(name: str, *, uses_commas: bool) -> Guess:
        values, kind = columns[name], given.get(name, LEFT_OUT)
        if kind != LEFT_OUT:
            return _as_kind(kind, name, values, uses_commas=uses_commas)
        is_category = name in categories
        guess = guess_kind(name, values, is_category=is_category, uses_commas=uses_commas)
        return guess._replace(reason=AS_ASKED) if name in given else guess

    guesses = {name: judge(name, uses_commas=False) for name in columns}
    if any(guess.decimal == "," and not guess.doubtful for guess in guesses.values()):
        written = [name for name, guess in guesses.items() if guess.decimal]
        guesses |= {name: judge(name, uses_commas=True) for name in written}
    return guesses


def _as_kind(kind: Any, name: str, values: Values, *, uses_commas: bool) -> Guess:
    """Return how to read a column of a kind that was given."""
    guess = Guess(kind, date_format="iso" if kind == "date" else None)
    is_text = values.dtype.kind != "M" and not is_numeric(values)
    is_read = not (kind == "number" and values.dtype.kind == "M")
    if is_text and kind in ("number", "date"):
        texts = to_texts(values)
        numerals = _without_words(texts[are_known(texts)])
        if kind == "number":
            guess = find_numbers(numerals, MIN_GIVEN, uses_commas=uses_commas) or guess
            is_read = guess.decimal is not None
        else:
            found = find_date_format(numerals, MIN_GIVEN)
            is_read = found is not None
            guess = _of_dates(found) if found else guess
    if not is_read:
        raise ValueError(
            f"Column {name!r} cannot be prepared as a {kind}: most of its values are not {kind}s."
        )
    return guess


def _of_dates(found: DateFormat) -> Guess:
    return Guess("date", date_format=found.name, doubtful=found.doubtful)


def find_numbers(
    texts: npt.NDArray[np.object_], least: float = MIN_SHARE, *, uses_commas: bool = False
) -> Guess | None:
    """Return how texts, none missing, are read as numbers; None if fewer than this share can be.

    `uses_commas` says that other columns of the table have decimal commas.
    """
    unit = find_unit(texts)
    parsers = {sign: number_parser(sign, unit) for sign in NUMBERS}
    signs = [sign for sign, parse in parsers.items() if fits(texts, parse, least)]
    if not signs:
        return None
    dots = Dots(signs[0])
    if len(signs) > 1:
        distinct = np.array(list(set(texts)), dtype=object)
        read = {sign: np.isfinite(parse_texts(distinct, parsers[sign])) for sign in signs}
        n_read = {sign: np.count_nonzero(read[sign]) for sign in signs}
        dots = Dots(max(signs, key=n_read.__getitem__))
        if n_read["."] == n_read[","]:
            both = distinct[read["."] & read[","]]
            dots = judge_dots(both, uses_commas=uses_commas, unit=unit)
    return Guess("number", decimal=dots.decimal, unit=unit, doubtful=dots.doubtful)


def _without_words(texts: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """Return texts without those that only stand for missing values, if they are numbers or dates.

    These are markers such as "-", and at most a few different words among many numbers.
    """
    distinct = set(texts)
    words = {text for text in distinct if not any(map(str.isdigit, text))}
    markers = {text for text in words if text.lower() in MARKERS}
    if len(distinct) - len(words) <= MAX_CODES or len(words - markers) > MAX_WORDS:
        words = markers
    if not words or len(distinct) == len(words):
        return texts
    kept = np.array([text not in words for text in texts], dtype=bool)
    is_most = 2 * np.count_nonzero(kept) >= len(texts) or words == markers
    return texts[kept] if is_most else texts


def guess_kind(
    name: str, values: Values, *, is_category: bool = False, uses_commas: bool = False
) -> Guess:
    """Return what a column is; `is_category` if its type is one of categories."""
    if is_numeric(values) and values.dtype.kind != "b" and not is_category:
        return _judge_numbers(name, values, Guess("number"))
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
    numerals = known if len(distinct) == 2 else _without_words(known)
    if (found := find_numbers(numerals, uses_commas=uses_commas)) is not None:
        if not are_codes(every(numerals, MAX_TRIED)):
            return _judge_numbers(name, values, found)
    elif len(distinct) > 2 and (dates := find_date_format(numerals)) is not None:
        return _of_dates(dates)._replace(reason=reason)
    if len(distinct) == 2:
        return Guess("category", reason)
    sample = sorted(set(every(known, MAX_TRIED)))
    kind = _judge_texts(name, sample, len(distinct), len(known))
    return Guess(kind, reason or (_why_id(name, sample) if kind == "id" else ""))


def _judge_numbers(name: str, values: Values, guess: Guess) -> Guess:
    """Return whether a column of numbers is one of ids, categories or dates instead."""
    is_exact = values.dtype.kind in "iu"  # large ids that differ may be equal in float64
    numbers = values if is_exact else to_numbers(values, guess.decimal, guess.unit)
    known = numbers[~np.isnan(numbers)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    reason = _why_left_out(len(known), len(numbers), 1 if low == high else 2)
    guess = guess._replace(reason=reason)
    if ((known == low) | (known == high)).all():
        return guess._replace(is_binary=low < high)
    if not (known == np.round(known)).all():
        return guess
    if DATE_NAME.search(name) and low >= FIRST_DATE and high <= LAST_DATE:
        days = to_days(values, "iso")
        if np.count_nonzero(np.isfinite(days)) == len(known):
            return Guess("date", reason, date_format="iso")
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


def _judge_texts(name: str, sample: list[str], n_distinct: int, n_known: int) -> Kind:
    """Return whether texts, of which some are given, are free text, ids or categories."""
    words = float(np.mean([_count_words(text) for text in sample]))
    is_many = n_distinct > MAX_CODES
    if is_many and are_codes(sample) and _last_word(name) not in CODE_NAMES:
        return "id"
    if n_distinct > MIN_DISTINCT * n_known and (is_many or n_distinct == n_known):
        return "text" if words >= MIN_WORDS else "id"
    if _has_id_name(name) and _is_id(name, n_distinct, n_known):
        return "id"
    return "text" if is_many and words >= MIN_REPEATED_WORDS else "category"


def _why_id(name: str, sample: list[str]) -> str:
    """Return why short texts that are mostly different are left out."""
    is_id = _has_id_name(name) or are_codes(sample) or not are_quantities(sample)
    return AN_ID if is_id else NOT_UNDERSTOOD


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

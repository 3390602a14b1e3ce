"""Numbers as people write them: decimal signs, thousands, units, and words for missing values."""

import math
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

Parse = Callable[[str], float]

# Written in columns of numbers where one is missing, in lower case. Elsewhere they may mean more.
MARKERS = {"-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "..", "...", "unknown", "missing", "tbd"}
MARKERS |= {"inf", "+inf", "-inf", "infinity", "nil", "no data", "not available", "n.d.", "k.a."}
SIGNS = str.maketrans("\N{MINUS SIGN}'\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}", "-   ", "$€£¥%")
CURRENCIES = {"USD", "US$", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "NZD", "SEK"}
CURRENCIES |= {"NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "KRW", "TRY", "SGD", "HKD"}
UNIT_BEFORE = re.compile(r"([^\d\s]+?) ?[-+\N{MINUS SIGN}]?\d.*")
UNIT_AFTER = re.compile(r".*\d\s?((?:[^\W\d_]|°|[$€£¥](?=.))[^\s\d]{0,9})")
# Digits with a leading zero or a plus sign, such as phone numbers, and what is beside them.
CODE = re.compile(r"0\d{4,}|0\d[\d ()/-]{6,}\d|\+\d[\d ()/-]{4,}\d")
DIGITS = re.compile(r"[+(]?\d[\d ()/-]*")
MIN_CODES, MIN_DIGITS = 0.05, 0.95  # shares of these in a column of such numbers
# Amounts that are not read as numbers: "(50)", "14:35", "3 days" beside "1 day".
QUANTITY = re.compile(r"[^\w\s]?\s?\d+([.,:/ ]\d+){0,2}\s?[^\w\s.]?(\s?[^\W\d_]{2,}|\s[^\W\d_])?")


def _written_with(decimal: str, thousands: str) -> re.Pattern[str]:
    decimal, thousands = re.escape(decimal), re.escape(thousands)
    groups = rf"(?:(?:{thousands}\d{{3}})+|(?: \d{{3}})+)"
    grouped = rf"[1-9]\d{{0,2}}{groups}(?:{decimal}\d*)?"
    plain = rf"(?={decimal}?\d)\d*(?:{decimal}\d*)?(?:[eE][+-]?\d+)?"
    return re.compile(rf"[+-]? ?(?:{grouped}|{plain})")


NUMBERS = {".": _written_with(".", ","), ",": _written_with(",", ".")}  # by decimal sign


class Dots(NamedTuple):
    """What the dots or commas of numbers are that can be read with both decimal signs."""

    decimal: str
    doubtful: str = ""  # one of the numbers, if this is only plausible


def number_parser(decimal: str, unit: str = "") -> Parse:
    """Return a function that reads numbers with this decimal sign and unit; NaN if it cannot."""
    pattern, thousands = NUMBERS[decimal], "," if decimal == "." else "."

    def parse(text: str) -> float:
        digits = text.removeprefix(unit).removesuffix(unit).translate(SIGNS).strip()
        if pattern.fullmatch(digits) is None:
            return np.nan
        number = float(digits.replace(" ", "").replace(thousands, "").replace(decimal, "."))
        return number if math.isfinite(number) else np.nan

    return parse


def find_unit(texts: Iterable[str]) -> str:
    """Return the unit that all texts have before or after a number; empty if there is none."""
    distinct = set(texts)
    first = min(distinct, default="")
    before, after = UNIT_BEFORE.fullmatch(first), UNIT_AFTER.fullmatch(first)
    if before and (unit := before[1]) in CURRENCIES:
        return unit if all(text.startswith(unit) for text in distinct) else ""
    unit = after[1] if after else ""
    return unit if all(text.endswith(unit) for text in distinct) else ""


def judge_dots(texts: Iterable[str], *, uses_commas: bool, unit: str = "") -> Dots:
    """Return the decimal sign of numbers that can all be read with both.

    These are decimal commas if other columns of the table have them. Otherwise 1,244 has
    thousands, and so has 1.244 beside 961, unless it has about the size of 961 with a point.
    Computers write 1.24, not 1.240, so a last zero speaks for thousands.
    """
    distinct = sorted(set(texts))
    dotted = [text for text in distinct if "." in text and "," not in text]
    if uses_commas and any("." in text or "," in text for text in distinct):
        return Dots(",")
    parse = number_parser(".", unit)
    whole = np.abs([parse(text) for text in distinct if not {".", ","} & set(text)] or [0.0])
    small = whole[(whole >= 1) & (whole < 1000)]
    if not dotted or not len(small):
        return Dots(".")
    sizes = np.abs([parse(text) for text in dotted])
    is_size_of_thousands = np.median(small) > np.median(sizes) * math.sqrt(1000)
    ends_in_zero = any(re.search(r"0\D*$", text) for text in dotted)
    is_thousands = (ends_in_zero or is_size_of_thousands) and whole.max() < 1000
    return Dots("," if is_thousands else ".", dotted[0])


def are_codes(texts: Iterable[str]) -> bool:
    """Return whether texts are long digits that are no amounts: with leading zeros or plus signs.

    >>> are_codes(["0576836690", "1576836690"]), are_codes(["+49 635485121"]), are_codes(["10500"])
    (True, True, False)
    """
    texts = list(texts)
    n_codes = sum(CODE.fullmatch(text) is not None for text in texts)
    if n_codes < max(1, MIN_CODES * len(texts)):
        return False
    return sum(DIGITS.fullmatch(text) is not None for text in texts) >= MIN_DIGITS * len(texts)


def are_quantities(texts: Iterable[str]) -> bool:
    """Return whether most texts are amounts, which nobody uses as ids.

    >>> are_quantities(["14:35", "(50)", "3 days"]), are_quantities(["C-0045", "25a", "Ada"])
    (True, False)
    """
    fit = [QUANTITY.fullmatch(text) is not None for text in texts]
    return 2 * sum(fit) > len(fit)

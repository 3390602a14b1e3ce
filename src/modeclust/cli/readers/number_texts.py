"""Columns of CSV files that look like numbers and must stay text.

polars reads 1.244 as a number below 2, although its dot may separate thousands, and 00451 as 451.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from modeclust.preparation.kinds import judge_columns
from modeclust.preparation.numerals import are_codes
from modeclust.preparation.values import MAX_TRIED, every, read_columns

# Three digits after each dot, as in 1.244 and 1.105.196,50.
THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*$"
LEADING_ZERO = re.compile(rb"(?<![\w.,+-])0\d{4}")


def keep_texts(
    frame: Any,
    content: bytes,
    read_texts: Callable[[Sequence[str]], Any],
    decimal_comma: bool | None,
) -> Any:
    """Return the frame of a file with text in columns whose numbers polars may have misread.

    `read_texts` reads columns as text; `decimal_comma` is None if the columns tell it.
    """
    import polars as pl

    floats = [s.name for s in frame.iter_columns() if s.dtype == pl.Float64 and _may_be_grouped(s)]
    floats = [] if decimal_comma is False else floats
    integers = frame.select(pl.col(pl.Int64)).columns if LEADING_ZERO.search(content) else []
    if not floats and not integers:
        return frame
    texts = read_texts([*floats, *integers])
    samples = {name: every(texts[name].drop_nulls().to_numpy(), MAX_TRIED) for name in integers}
    kept = [name for name in integers if are_codes(samples[name])]
    if decimal_comma:
        kept += [name for name in floats if has_thousands(texts[name])]
    elif floats:
        columns = read_columns(texts.select(floats).hstack(frame.select(pl.col(pl.String))))
        guesses = judge_columns(columns or {}, {})
        kept += [name for name in floats if guesses[name].decimal == "," or guesses[name].doubtful]
    return frame.with_columns(texts.select(kept))


def _may_be_grouped(column: Any) -> bool:
    """Return whether all numbers are below 1000, some with at most three decimals."""
    numbers = np.abs(column.drop_nulls().to_numpy())
    is_whole = numbers == np.round(numbers)
    parts = numbers[~is_whole]
    if not len(parts) or not (numbers < 1000).all() or parts.min() < 1:
        return False
    return bool((np.abs(parts * 1000 - np.round(parts * 1000)) < 1e-6).all())


def has_thousands(column: Any) -> bool:
    """Return whether a column of text has dots, all of which separate thousands."""
    dotted = column.drop_nulls().filter(column.drop_nulls().str.contains(".", literal=True))
    return len(dotted) > 0 and bool(dotted.str.contains(THOUSANDS).all())

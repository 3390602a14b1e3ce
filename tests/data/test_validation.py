import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from modeclust import KModes, estimate_bandwidth
from modeclust.data.validation import check_rows, check_weights

NUMBERS = np.arange(4.0)
TEXT = ["1.5", "x", "y", "z"]
DAYS = [dt.date(2030, 1, day) for day in range(1, 5)]
MOMENTS = [dt.datetime(2030, 1, day, tzinfo=dt.UTC) for day in range(1, 5)]
LENGTHS = [dt.timedelta(hours=n) for n in range(4)]
NO_NUMBERS = {
    "text": (TEXT, "could not convert string to float: 'x'"),
    "days": (DAYS, "dates or times|float"),
    "moments": (MOMENTS, "dates or times|float"),
    "lengths": (LENGTHS, "dates or times"),
    "lists": ([[1.0]] * 4, "sequence"),
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("beside", [{}, {"first": NUMBERS}])
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_a_column_without_numbers_is_named(frame, beside, kind):
    values, reason = NO_NUMBERS[kind]
    X = frame({**beside, "other": values})
    message = f"X must hold numbers, but column 'other' does not: .*({reason}).* Leave it out, or"
    with pytest.raises(ValueError, match=message) as caught:
        check_rows(X)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=message):
        KModes(2).fit(X)
    with pytest.raises(ValueError, match=message):
        estimate_bandwidth(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_without_numbers_is_named_of_new_rows_too(frame):
    X = frame({"a": NUMBERS, "b": NUMBERS**2})
    model = KModes(2, bandwidth=1.0, n_bandwidths=1, random_state=0).fit(X)
    other = frame({"a": NUMBERS, "b": TEXT})
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match=r"column 'b' does not: could not convert .* 'x'"):
            method(other)


def test_categories_of_text_are_no_numbers():
    for X in (
        pd.DataFrame({"a": pd.Categorical(TEXT)}),
        pl.DataFrame({"a": pl.Series(TEXT, dtype=pl.Categorical)}),
    ):
        with pytest.raises(ValueError, match=r"column 'a' does not: could not convert .* 'x'"):
            check_rows(X)


def test_two_columns_of_one_name_are_both_checked():
    X = pd.DataFrame(np.stack([NUMBERS, TEXT], axis=1), columns=["a", "a"])
    with pytest.raises(ValueError, match=r"column 'a' does not: could not convert .* 'x'"):
        check_rows(X)


def test_dates_in_an_array_are_no_numbers():
    with pytest.raises(ValueError, match=r"got dates or times \(datetime64\[D\]\); pass numbers"):
        check_rows(np.array(DAYS, dtype="M8[D]")[:, None])


def test_numbers_of_every_kind_are_taken():
    X = pd.DataFrame(
        {
            "whole": pd.array([1, 2, 3, 4], dtype="Int64"),
            "object": np.array([1, 2.5, 3, 4], dtype=object),
            "flag": [True, False, True, False],
            "digits": ["1", "2", "3", "4"],
            "category": pd.Categorical([1, 2, 1, 2]),
        }
    )
    assert check_rows(X)[1].tolist() == [2.0, 2.5, 0.0, 2.0, 2.0]


DAMAGED = np.arange(12.0).reshape(4, 3)
DAMAGED[2:, 1] = np.nan, np.inf


@pytest.mark.parametrize(
    ("X", "column"),
    [
        (DAMAGED, "1"),
        (DAMAGED.astype(np.float32), "1"),
        (DAMAGED.tolist(), "1"),
        (sparse.csr_array(DAMAGED), "1"),
        (pd.DataFrame(DAMAGED, columns=["a", "b", "c"]), "'b'"),
        (pl.DataFrame(DAMAGED, ["a", "b", "c"]), "'b'"),
        (pd.DataFrame({"a": [1, 2, 3], "b": pd.array([1, None, None], dtype="Int64")}), "'b'"),
    ],
)
def test_the_column_of_missing_values_is_named(X, column):
    place = rf"contains NaN: 2 in column {column}, the first in row \d "
    with pytest.raises(ValueError, match=place):
        KModes(2).fit(X)


def test_the_first_column_with_missing_values_is_named():
    X = pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": [1.0, np.nan, 2.0]})
    with pytest.raises(ValueError, match="contains NaN: 1 in column 'a', the first in row 2 "):
        check_rows(X)


def test_the_column_of_infinite_values_is_named():
    X = np.where(np.arange(12).reshape(4, 3) == 7, -np.inf, 0)
    with pytest.raises(
        ValueError, match=r"contains infinity.*: 1 in column 1, the first in row 2 "
    ):
        check_rows(X)


def test_the_error_about_a_negative_weight_names_its_row():
    with pytest.raises(ValueError, match="sample_weight must be >= 0, got -2 in row 2; pass 0"):
        check_weights([1.0, -1.0, -2.0], np.zeros((3, 1)))

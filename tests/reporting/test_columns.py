import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from modeclust.reporting.columns import as_frame, iso_date, read_series, values_column

N = 12
LONG = [f"The delivery of parcel {i} came late and the box was open on arrival." for i in range(N)]
DAYS = pd.date_range("2024-01-30", periods=N)
KINDS = {
    "float": (np.linspace(0, 1, N), "number"),
    "integer": (np.arange(N), "number"),
    "zeros and ones": (np.arange(N) % 2, "number"),
    "customer_id": (np.arange(N) + 1000, "id"),
    "customerID": (np.arange(N) + 1000, "id"),
    "repeated_id": (np.arange(N) // 2, "number"),
    "boolean": (np.arange(N) % 2 == 0, "boolean"),
    "plan": (["basic", "pro", "team"] * (N // 3), "category"),
    "code": ([f"A-{i}" for i in range(N)], "id"),
    "comment": (LONG, "text"),
    "repeated text": (LONG[:3] * (N // 3), "category"),
    "date": (DAYS, "date"),
}


@pytest.fixture(scope="module", params=["pandas", "polars"])
def frame(request):
    data = pd.DataFrame({name: values for name, (values, _) in KINDS.items()})
    return as_frame(data if request.param == "pandas" else pl.from_pandas(data))


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column(frame, name):
    assert read_series(frame[name]).kind == KINDS[name][1]


def test_dates_are_days(frame):
    column = read_series(frame["date"])
    np.testing.assert_array_equal(column.values, np.arange(N) + 19752)
    assert column.item(0) == "2024-01-30"
    assert column.item(2) == "2024-02-01"


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([True, None, False], "boolean", [True, None, False]),
        ([Decimal("1.5"), None, Decimal(2)], "number", [1.5, None, 2.0]),
        ([1, 2.5, float("nan")], "number", [1.0, 2.5, None]),
        ([dt.date(2020, 1, 1), None], "date", ["2020-01-01", None]),
        ([dt.datetime(2020, 1, 1, 6), pd.NaT], "date", ["2020-01-01 06:00", None]),
        (["a", "b", "a", None, ""], "category", ["a", "b", "a", None, None]),
        (["a", 1, "a", pd.NA], "category", ["a", "1", "a", None]),
    ],
)
def test_objects_and_missing_values(values, kind, wanted):
    column = values_column("x", values)
    assert column.kind == kind
    assert [column.item(i) for i in range(len(values))] == wanted
    assert column.is_missing.tolist() == [value is None for value in wanted]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, None, 3], dtype="Int64", name="x"),
        pd.Series([1.0, None, 3.0], name="x"),
        pd.Series([1, np.inf, 3], name="x"),
        pl.Series("x", [1, None, 3]),
        pl.Series("x", [1.0, float("nan"), 3.0]),
    ],
)
def test_missing_and_infinite_numbers(series):
    column = read_series(as_frame(series)["x"])
    np.testing.assert_array_equal(column.values, [1, np.nan, 3])


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([True, None, False], dtype="boolean", name="x"),
        pd.Series(pd.Categorical(["b", None, "a"]), name="x"),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2021-01-01"]), name="x"),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2021-01-01"]), name="x").dt.tz_localize(
            "Asia/Tokyo"
        ),
        pl.Series("x", ["2020-01-01", None, "2021-01-01"]).str.to_date(),
        pl.Series("x", ["b", None, "a"], dtype=pl.Categorical),
    ],
)
def test_missing_values_of_each_type(series):
    column = read_series(as_frame(series)["x"])
    assert column.is_missing.tolist() == [False, True, False]
    first = {"boolean": True, "category": "b", "date": "2020-01-01"}
    assert column.item(0) == first[column.kind]


def test_a_span_of_time_is_a_number_of_seconds():
    column = read_series(as_frame(pd.DataFrame({"x": pd.to_timedelta([1, 2], "h")}))["x"])
    assert (column.kind, column.values.tolist()) == ("number", [3600, 7200])


def test_names_of_columns_are_strings_and_differ():
    assert as_frame(pd.DataFrame(np.zeros((2, 2)))).columns == ["0", "1"]
    with pytest.raises(ValueError, match="different names, got 'a' twice; rename"):
        as_frame(pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]))


def test_arrays_are_no_frames():
    assert as_frame(np.zeros((2, 2))) is None
    assert as_frame([[1, 2]]) is None
    assert as_frame(pl.DataFrame({"a": [1]}).lazy()).columns == ["a"]


def test_times_of_day_are_shown_unless_they_are_midnight():
    assert iso_date(19752.0) == "2024-01-30"
    assert iso_date(19752.75) == "2024-01-30 18:00"
    assert iso_date(-1.0) == "1969-12-31"

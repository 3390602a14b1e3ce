import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from modeclust import TablePreparation
from modeclust.preparation.kinds import guess_kind
from modeclust.preparation.values import to_values
from modeclust.reporting.columns import as_frame, iso_date, read_column, read_frame

N = 12
LONG = [f"The delivery of parcel {i} came late and the box was open on arrival." for i in range(N)]
DAYS = pd.date_range("2024-01-30", periods=N)
KINDS = {
    "float": (np.linspace(0, 1, N), "number"),
    "integer": (np.arange(N), "number"),
    "zeros and ones": (np.arange(N) % 2, "number"),
    "customer_id": (np.arange(N) + 1000, "id"),
    "customerID": (np.arange(N) + 1000, "id"),
    "region_id": (np.arange(N) // 4, "category"),
    "boolean": (np.arange(N) % 2 == 0, "boolean"),
    "plan": (["basic", "pro", "team"] * (N // 3), "category"),
    "code": ([f"A-{i}" for i in range(N)], "id"),
    "comment": (LONG, "text"),
    "repeated text": (LONG[:3] * (N // 3), "category"),
    "date": (DAYS, "date"),
    "empty": ([None] * N, "category"),
}


def read(data):
    """Return the columns of a frame or a series by name."""
    return {column.name: column for column in read_frame(as_frame(data), {})}


@pytest.fixture(scope="module", params=["pandas", "polars"])
def columns(request):
    data = pd.DataFrame({name: values for name, (values, _) in KINDS.items()})
    return read(data if request.param == "pandas" else pl.from_pandas(data))


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column(columns, name):
    assert columns[name].kind == KINDS[name][1]


def test_dates_are_days(columns):
    column = columns["date"]
    np.testing.assert_array_equal(column.values, np.arange(N) + 19752)
    assert column.item(0) == "2024-01-30"
    assert column.item(2) == "2024-02-01"


def messy(n_rows=60):
    """Return a table as people have it: what each column is, and its values."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-05") + pd.to_timedelta(rng.integers(0, 300, n_rows), "D")
    amounts = rng.uniform(1, 9e3, n_rows)
    plans = rng.choice(["basic", "pro", "team"], n_rows)
    words = ["cheap", "late", "helpful", "broken", "good", "box", "phone", "order"]
    return {
        "Unnamed: 0": ("id", np.arange(n_rows)),
        "customerNr": ("id", rng.permutation(n_rows) * 7 + 1000),
        "tweet_id": ("id", 2**60 + rng.permutation(n_rows)),
        "shop_id": ("id", rng.integers(0, 30, n_rows)),
        "region_id": ("category", rng.integers(0, 3, n_rows)),
        "sku": ("id", [f"A-{i}" for i in range(n_rows)]),
        "iso": ("date", days.strftime("%Y-%m-%d")),
        "german": ("date", [f"{day.day}.{day.month}.{day.year}" for day in days]),
        "american": ("date", days.strftime("%m/%d/%Y %H:%M")),
        "typed": ("date", days),
        "tokyo": ("date", days.tz_localize("Asia/Tokyo")),
        "price": ("number", [f"$ {amount:,.2f}" for amount in amounts]),
        "euro": ("number", [*(f"{v:.2f}".replace(".", ",") for v in amounts[2:]), "n/a", "?"]),
        "decimal": ("number", [Decimal(f"{amount:.2f}") for amount in amounts]),
        "rare": ("number", [1.5, 2.5, 3.5] + [np.nan] * (n_rows - 3)),
        "accepted": ("number", rng.integers(0, 2, n_rows)),
        "plan": ("category", np.where(rng.random(n_rows) < 0.2, "N/A", plans)),
        "grade": ("category", pd.Categorical(rng.choice(["1", "2", "3"], n_rows))),
        "churned": ("boolean", rng.choice(["True", "False"], n_rows)),
        "owner": ("boolean", rng.random(n_rows) < 0.5),
        "comment": ("text", [" ".join(rng.choice(words, 6)) for _ in range(n_rows)]),
        "評価": ("text", [f"箱が壊れていました。{i}番の荷物です" for i in range(n_rows)]),
    }


def test_a_messy_table_is_the_same_to_the_page_and_to_the_preparation():
    frame = pd.DataFrame({name: values for name, (_, values) in messy().items()})
    shown = read(frame)
    assert {name: column.kind for name, column in shown.items()} == {
        name: kind for name, (kind, _) in messy().items()
    }
    # Some columns are no features. Two values are features of their own, whatever they are.
    others = {"rare": "95% missing", "評価": "texts without words in common"}
    others |= dict.fromkeys(("accepted", "churned", "owner"), "category")
    prepared = {
        column.name: column.kind or column.reason
        for column in TablePreparation().fit(frame).columns_
    }
    assert prepared == {
        name: others.get(name, "an id" if column.kind == "id" else column.kind)
        for name, column in shown.items()
    }


def test_messy_values_are_read():
    frame = pd.DataFrame({name: values for name, (_, values) in messy().items()})
    shown = read(frame)
    day = frame["typed"][0]
    for name in ("iso", "german", "american", "typed", "tokyo"):
        assert shown[name].item(0) == str(day.date())
    np.testing.assert_allclose(shown["price"].values, frame["decimal"].astype(float))
    assert shown["euro"].is_missing.tolist() == [False] * (len(frame) - 2) + [True] * 2
    assert shown["plan"].is_missing.tolist() == (frame["plan"] == "N/A").tolist()
    assert shown["tweet_id"].values.tolist() == frame["tweet_id"].astype(str).tolist()
    assert [shown["churned"].item(i) for i in range(5)] == [
        v == "True" for v in frame["churned"][:5]
    ]


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([True, None, False], "boolean", [True, None, False]),
        ([Decimal("1.5"), None, Decimal(2)], "number", [1.5, None, 2.0]),
        ([[1, 2], [3], [1, 2], {"a": 1}], "category", ["[1, 2]", "[3]", "[1, 2]", "{'a': 1}"]),
        ([1, 2.5, float("nan")], "number", [1.0, 2.5, None]),
        (
            [dt.date(2020, 1, day) for day in (1, 2, 3)],
            "date",
            [f"2020-01-0{d}" for d in (1, 2, 3)],
        ),
        (
            [dt.datetime(2020, 1, 1, hour) for hour in (6, 7, 8)] + [pd.NaT],
            "date",
            ["2020-01-01 06:00", "2020-01-01 07:00", "2020-01-01 08:00", None],
        ),
        (["a", "b", "a", None, ""], "category", ["a", "b", "a", None, None]),
        (["a", 1, "a", pd.NA], "category", ["a", "1", "a", None]),
    ],
)
def test_objects_and_missing_values(values, kind, wanted):
    values = to_values(values)
    column = read_column("x", values, guess_kind("x", values))
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
    column = read(series)["x"]
    np.testing.assert_array_equal(column.values, [1, np.nan, 3])


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([True, None, False], dtype="boolean", name="x"),
        pl.Series("x", [True, None, False]),
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
    column = read(series)["x"]
    assert column.is_missing.tolist() == [False, True, False]
    first = {"boolean": True, "category": "b", "date": "2020-01-01"}
    assert column.item(0) == first[column.kind]


def test_a_span_of_time_is_a_number_of_seconds():
    column = read(pd.DataFrame({"x": pd.to_timedelta([1, 2], "h")}))["x"]
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

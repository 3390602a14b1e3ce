"""Tables with columns of every kind: what each is, and the rows of numbers that it becomes."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from modeclust import KModes, TablePreparation, load, save
from modeclust.exceptions import UnknownCategoriesWarning
from modeclust.preparation.columns import LeftOut
from modeclust.preparation.values import from_day

N = 60
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=N) * 1000
WORDS = "the parcel came late and box was broken but help team sent new one soon".split()  # noqa: SIM905
TEXTS = [" ".join(RNG.choice(WORDS, 7, replace=False)) for _ in range(N)]
DAYS = [date(2030, 1, 1) + timedelta(int(day)) for day in RNG.integers(0, 300, N)]


def kind_of(values, name="x"):
    """Return what a column is, or why it is left out, with another column beside it."""
    table = pl.DataFrame({name: values, "flag": ["a", "b"] * (len(values) // 2)}, strict=False)
    column = TablePreparation().fit(table).columns_[0]
    return column.reason if isinstance(column, LeftOut) else column.kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (NUMBERS.tolist(), "number"),
        ([f"{v:,.2f}" for v in NUMBERS], "number"),
        ([f"{v:.2f}".replace(".", ",") for v in NUMBERS], "number"),
        ([f"$ {abs(v):,.0f}" for v in NUMBERS], "number"),
        ([*(f"{v:.3f}" for v in NUMBERS[:-3]), "n/a", "?", "unknown"], "number"),
        (RNG.integers(0, 6, N).tolist(), "number"),
        ([timedelta(hours=int(h)) for h in RNG.integers(1, 99, N)], "number"),
        ([True, False] * (N // 2), "category"),
        (["Yes", None] + ["No", "yes "[:3]] * (N // 2 - 1), "category"),
        ([0, 1] * (N // 2), "category"),
        (["red", "green", "blue"] * (N // 3), "category"),
        (["2", "ten", "x"] * (N // 3), "category"),
        (DAYS, "date"),
        ([datetime(2030, 1, 1, tzinfo=UTC) + timedelta(hours=i**2) for i in range(N)], "date"),
        ([day.isoformat() for day in DAYS], "date"),
        ([day.strftime("%d.%m.%Y") for day in DAYS], "date"),
        ([day.strftime("%m/%d/%Y 10:30") for day in DAYS], "date"),
        (TEXTS, "text"),
        ([f"{i:x}-{i * 7919:x}" for i in range(N)], "an id"),
        (list(range(1, N + 1)), "an id"),
        ([7] * N, "constant"),
        (["same", None] * (N // 2), "constant"),
        ([None] * N, "no values"),
        ([1.0, 2.0, 3.0] + [None] * (N - 3), "95% missing"),
        ([f"{i}" + "abcdefgh"[i % 8] for i in range(25)] * 2 + ["z"] * (N - 50), "category"),
    ],
)
def test_what_a_column_is(values, kind):
    assert kind_of(values) == kind


@pytest.mark.parametrize("name", ["id", "customer_id", "customerID", "CustomerId", "ID", "uuid"])
def test_the_name_of_an_id(name):
    values = (np.arange(N) * 17 % 1009).tolist()
    assert kind_of(values, name) == "an id"
    assert kind_of(values, "humid") == "number"
    # A few codes are categories, even if their name is that of an id.
    assert kind_of([3, 5, 9] * (N // 3), name) == "category"


@pytest.mark.parametrize("name", ["paid", "Android", "index", "house_number"])
def test_names_of_numbers(name):
    assert kind_of(RNG.integers(0, 40, N).tolist(), name) == "number"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_times_of_other_zones_are_in_utc(library):
    times = pd.date_range("2030-01-01 03:00", periods=30, freq="5h", tz="Asia/Tokyo")
    frame = pd.DataFrame({"typed": times, "text": [time.isoformat() for time in times]})
    frame["utc"] = [time.tz_convert("UTC").strftime("%d.%m.%Y %H:%M") for time in times]
    table = frame if library == "pandas" else pl.from_pandas(frame)
    rows = TablePreparation(scale=None).fit_transform(table)
    assert rows[0].tolist() == [21914.75] * 3
    np.testing.assert_allclose(rows[:, 1:], rows[:, [0, 0]], rtol=1e-12)


def test_a_type_of_categories_is_kept():
    grades = pd.Categorical(RNG.choice(["1", "2", "3"], N))
    frame = pd.DataFrame({"grade": grades, "x": NUMBERS})
    for table in (frame, pl.from_pandas(frame)):
        assert [c.kind for c in TablePreparation().fit(table).columns_] == ["category", "number"]


def test_large_ids_are_read_to_the_last_digit():
    assert kind_of((2**60 + np.arange(N)).tolist(), "order_id") == "an id"
    codes = 2**60 + RNG.integers(0, 3, N)
    preparation = TablePreparation().fit(pl.DataFrame({"shop_id": codes, "x": NUMBERS}))
    assert preparation.columns_[0].categories == [str(2**60 + i) for i in range(3)]


def test_few_rows_with_different_texts_have_an_id():
    assert kind_of(["Ada", "Bob", "Cyd", "Dan"]) == "an id"
    assert kind_of(["red", "red", "blue", "green"]) == "category"


def test_arrays_of_pixels_are_not_changed():
    X = load_digits().data.astype(np.uint8)
    preparation = TablePreparation().fit(X)
    assert preparation.is_identity
    np.testing.assert_array_equal(preparation.transform(X), X)


def test_numbers_are_cut_at_the_outer_fences_and_scaled():
    values = np.arange(1.0, 101)  # quartiles 25 and 75, so the fences are -125 and 225
    frame = pd.DataFrame(
        {"x": np.append(values, [1e9, np.nan, np.inf]), "c": ["a", "b", "a"] * 34 + ["b"]}
    )
    rows = TablePreparation().fit_transform(frame)[:, 0]
    cut = np.append(values, 226.0)  # of 101 numbers the quartiles are 26 and 76
    np.testing.assert_allclose(rows[:101], (cut - cut.mean()) / cut.std())
    np.testing.assert_allclose(rows[101:], (51 - cut.mean()) / cut.std())  # the median


def test_standard_scale_is_that_of_scikit_learn():
    X = load_wine().data
    rows = TablePreparation(scale="standard").fit_transform(X)
    np.testing.assert_allclose(rows, StandardScaler().fit_transform(X), rtol=1e-10, atol=1e-12)


def test_most_numbers_are_equal():
    counts = np.array([0.0] * 80 + list(range(1, 20)) + [1e6])
    rows = TablePreparation().fit_transform(pd.DataFrame({"n": counts, "c": ["a", "b"] * 50}))
    assert 3 < rows[:, 0].max() < 10
    assert rows[98, 0] > 1


def test_categories_by_hand():
    plans = ["basic"] * 50 + ["pro"] * 40 + ["old"] * 3 + ["test"] * 2 + [None] * 5
    frame = pl.DataFrame({"plan": plans, "x": NUMBERS[:50].tolist() * 2})
    preparation = TablePreparation().fit(frame)
    assert preparation.get_feature_names_out().tolist() == [
        "plan=basic", "plan=pro", "plan=(rare)", "x"
    ]  # fmt: skip
    assert preparation.describe()[-1] == "categories: plan (5% missing, 2 rare values together)"
    rows = preparation.transform(frame)[:, :3]
    assert rows[[0, 50, 90, 93]].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    np.testing.assert_allclose(rows[99], [50 / 95, 40 / 95, 5 / 95])
    new = pl.DataFrame({"plan": ["brand new", "pro", None], "x": ["1", "2.5", "oops"]})
    np.testing.assert_array_equal(preparation.transform(new)[0, :3], [0, 0, 1])


@pytest.mark.parametrize("name", ["ZIP", "zip_code", "PLZ", "postcode", "errorCode"])
def test_numbers_that_are_codes_are_categories(name):
    codes = RNG.choice([10115, 20095, 80331], N)
    frame = pd.DataFrame({name: codes, "x": NUMBERS}).astype({name: float})
    frame.loc[0, name] = None
    preparation = TablePreparation().fit(frame)
    features = [f"{name}=10115", f"{name}=20095", f"{name}=80331", "x"]
    assert preparation.get_feature_names_out().tolist() == features
    # Too many to tell customers apart by, and never a number.
    many = TablePreparation().fit(frame.assign(**{name: RNG.choice(10**5, N, replace=False)}))
    assert many.used_ == ["x"]
    # Measurements have decimals.
    assert TablePreparation().fit(frame.assign(**{name: NUMBERS + 0.5})).used_ == [name, "x"]


def test_a_column_of_each_kind_varies_about_as_much():
    frame = pd.DataFrame({"x": NUMBERS, "c": RNG.choice(list("abcdef"), N), "t": TEXTS})
    preparation = TablePreparation().fit(frame)
    X = preparation.transform(frame)
    start = 0
    for column in preparation.columns_:
        part = X[:, start : start + len(column.features)]
        start += len(column.features)
        assert part.var(axis=0).sum() == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("X", [load_iris().data, load_digits().data, load_iris().data.astype("f4")])
def test_numbers_of_one_scale_are_not_changed(X):
    for table in (X, pd.DataFrame(X).rename(columns=str), pl.DataFrame(X)):
        preparation = TablePreparation().fit(table)
        rows = preparation.transform(table)
        assert preparation.is_identity
        assert rows.dtype == X.dtype
        np.testing.assert_array_equal(rows, X)
    with_id = pd.DataFrame(X).rename(columns=str).assign(id=np.arange(len(X)))
    np.testing.assert_array_equal(TablePreparation().fit_transform(with_id), X)


def test_weights_are_repeated_rows():
    frame = pl.DataFrame({"x": NUMBERS, "c": RNG.choice(list("abc"), N), "z": RNG.random(N) * 1e6})
    weight = RNG.integers(1, 4, N)
    weighted = TablePreparation().fit(frame, sample_weight=weight).transform(frame)
    repeated = TablePreparation().fit(frame[np.repeat(np.arange(N), weight)])
    np.testing.assert_allclose(weighted, repeated.transform(frame))


def test_new_tables():
    frame = pd.DataFrame(
        {
            "id": [f"u{i}" for i in range(N)],
            "flag": [True, False] * (N // 2),
            "x": NUMBERS,
            "day": DAYS,
        }
    )
    preparation = TablePreparation().fit(frame)
    rows = preparation.transform(frame)
    texts = pl.DataFrame(
        {
            "more": [1] * N,
            "day": [f"{day}" for day in DAYS],
            "x": [f"{v!r}" for v in NUMBERS.tolist()],
            "flag": ["True", "false"] * (N // 2),
        }
    )
    np.testing.assert_array_equal(preparation.transform(texts), rows)
    with pytest.raises(ValueError, match=r"X lacks columns .*: flag, day; its columns are id, x"):
        preparation.transform(frame[["id", "x"]])


def test_values_that_cannot_be_read_are_told():
    texts = [f"{value:.2f}" for value in NUMBERS]
    texts[:3] = ["abc", "n/a", "unknown"]
    frame = pd.DataFrame({"x": texts, "plan": ["a", "b", "c"] * (N // 3)})
    preparation = TablePreparation().fit(frame)
    share = f"{3 / N:.0%}"
    assert preparation.describe()[0] == (
        f"numbers, scaled: x ({share} missing, 2 not a number: 'abc')"
    )
    commas = frame.assign(x=[text.replace(".", ",") for text in texts])
    with pytest.raises(ValueError, match=r"Column 'x' has .* values that are not a number as in"):
        preparation.transform(commas)
    rows = preparation.transform(frame.assign(x=texts[3:] + texts[:3]))
    assert np.isfinite(rows).all()


def test_kinds_that_are_given():
    frame = pd.DataFrame({"store": RNG.choice([101, 205, 380], N), "id": range(N), "x": NUMBERS})
    preparation = TablePreparation({"store": "category", "id": "number"}).fit(frame)
    assert [column.kind for column in preparation.columns_] == ["category", "number", "number"]
    assert preparation.get_feature_names_out()[0] == "store=101"
    for kinds, message in (
        ({"zap": "number"}, "kinds names 'zap', but the columns are store, id, x"),
        ({"x": "text"}, "Column 'x' cannot be prepared as a text: it has texts without words"),
    ):
        with pytest.raises(ValueError, match=message):
            TablePreparation(kinds).fit(frame)
    with pytest.raises(
        ValueError,
        match="Column 'name' cannot be prepared as a number: most of its values are not numbers",
    ):
        TablePreparation({"name": "number"}).fit(pd.DataFrame({"name": ["a", "b"]}))


def test_columns_that_are_left_out_as_asked():
    numbers = pd.DataFrame({"a": NUMBERS, "b": NUMBERS[::-1], "c": list("xyz") * (N // 3)})
    preparation = TablePreparation({"a": "left out"}).fit(numbers)
    assert preparation.used_ == ["b", "c"]
    assert preparation.describe()[0] == "left out: a (as asked)"
    # What remains has one scale and stays as it is.
    preparation = TablePreparation({"c": "left out"}).fit(numbers)
    np.testing.assert_array_equal(preparation.transform(numbers), numbers[["a", "b"]])
    with pytest.raises(ValueError, match=r"no column to cluster by; left out: a \(as asked\)"):
        TablePreparation({"a": "left out"}).fit(numbers[["a"]])


def test_columns_with_the_same_name_are_refused():
    frame = pd.DataFrame(np.eye(4), columns=["a", "b", "c", "a"])
    for names in (frame.columns, [1, 2, 3, "1"]):
        message = f"columns of X must have different names, got '{names[0]}' twice; rename one of"
        with pytest.raises(ValueError, match=message):
            TablePreparation().fit(frame.set_axis(names, axis=1))


def test_no_column_is_left():
    frame = pl.DataFrame(
        {"id": [f"{i}a" for i in range(30)], "same": [1] * 30, "gone": [None] * 30}
    )
    with pytest.raises(
        ValueError,
        match=r"no column to cluster by; left out: id \(an id\), same \(constant\), gone \(no val",
    ):
        TablePreparation().fit(frame)
    with pytest.raises(ValueError, match=r"no column .* id \(an id\), same \(constant\)"):
        TablePreparation().fit(pl.DataFrame({"id": range(100, 130), "same": [1] * 30}))


def test_there_and_back():
    frame = pd.DataFrame(
        {"ümlaut 名": NUMBERS, "plan": ["a", "b", "c"] * (N // 3), "day": DAYS, "t": TEXTS}
    )
    preparation = TablePreparation().fit(frame)
    back = preparation.inverse_transform(preparation.transform(frame), "pandas")
    np.testing.assert_allclose(back["ümlaut 名"], NUMBERS)
    assert back["plan"].tolist() == frame["plan"].tolist()
    assert back["day"].tolist() == [str(day) for day in DAYS]
    assert list(back) == ["ümlaut 名", "plan", "day"]  # topics are no text


def test_dates_and_booleans_come_back_with_their_types():
    flags = pd.Series([True, None] + [False, True] * (N // 2 - 1), dtype="boolean")
    frame = pd.DataFrame({"day": pd.to_datetime(DAYS), "flag": flags, "text": DAYS, "x": NUMBERS})
    frame["bool"] = flags.fillna(value=False).astype(bool)
    preparation = TablePreparation().fit(frame)
    rows = preparation.transform(frame)
    pandas = preparation.inverse_transform(rows, "pandas")
    assert [pandas[name].dtype.kind for name in frame] == ["M", "b", "O", "f", "b"]
    assert pandas["day"].tolist() == frame["day"].tolist()
    assert pandas["bool"].tolist() == frame["bool"].tolist()
    polars = preparation.inverse_transform(rows, "polars")
    assert polars.dtypes == [pl.Date, pl.Boolean, pl.String, pl.Float64, pl.Boolean]
    assert polars["day"].to_list() == DAYS
    texts = preparation.inverse_transform(rows, "dict")
    assert texts["day"].tolist() == texts["text"].tolist() == [str(day) for day in DAYS]
    assert texts["bool"][:3].tolist() == ["true", "false", "false"]


def test_three_lines_and_a_file(tmp_path):
    frame = pl.DataFrame(
        {"id": range(N), "plan": ["a", "b", "c"] * (N // 3), "x": NUMBERS, "t": TEXTS}
    )
    model = make_pipeline(TablePreparation(), KModes(3, random_state=0)).fit(frame)
    assert model.predict(frame).tolist() == model[-1].labels_.tolist()
    save(model, tmp_path / "model.npz")
    same = load(tmp_path / "model.npz")
    assert same.predict(frame[::-1]).tolist() == model[-1].labels_.tolist()[::-1]
    assert same[0].describe() == model[0].describe()
    assert same.feature_names_in_.tolist() == ["id", "plan", "x", "t"]
    scaled = make_pipeline(StandardScaler(), KModes(3, random_state=0)).fit(load_iris().data)
    save(scaled, tmp_path / "scaled.npz")
    np.testing.assert_array_equal(
        load(tmp_path / "scaled.npz").predict(load_iris().data), scaled[-1].labels_
    )


def test_column_names_that_are_alike():
    frame = pl.DataFrame({"a": ["x", "y", "z"] * 20, "a=x": RNG.normal(size=N)})
    assert TablePreparation().fit(frame).get_feature_names_out().tolist() == [
        "a=x", "a=y", "a=z", "a=x_"
    ]  # fmt: skip


@parametrize_with_checks([TablePreparation(), TablePreparation(scale="standard")])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (0.4, "1970-01-01"),
        (-719_162, "0001-01-01"),
        (-1e300, "0001-01-01"),
        (2_932_896, "9999-12-31"),
        (1e300, "9999-12-31"),
    ],
)
def test_days_outside_the_calendar_become_its_first_or_last(day, expected):
    assert from_day(day) == expected


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_durations_keep_fractions_of_a_second(library):
    waits = [timedelta(milliseconds=ms) for ms in (120, 340, -560, 80)]
    rows = TablePreparation(scale=None).fit_transform(library({"wait": waits, "b": [1.0, 2, 3, 4]}))
    np.testing.assert_allclose(rows[:, 0], [0.12, 0.34, -0.56, 0.08])


def test_a_table_without_rows_is_refused():
    table = pd.DataFrame({"a": [1.0, 2.0] * 5, "b": list("xyxyxxyyxy")})
    preparation = TablePreparation().fit(table)
    with pytest.raises(ValueError, match="at least one row"):
        preparation.transform(table[:0])


def test_kinds_of_columns_with_numbers_as_names():
    table = pd.DataFrame({0: [1.0, 2.0, 3.0] * 4, 1: np.arange(12.0)})
    preparation = TablePreparation(kinds={0: "category"}).fit(table)
    assert [column.kind for column in preparation.columns_] == ["category", "number"]


def test_booleans_are_known_in_other_words():
    frame = pd.DataFrame({"x": NUMBERS, "yes": [True, False] * (N // 2)})
    preparation = TablePreparation().fit(frame)
    rows = preparation.transform(frame)
    for true, false in ((1, 0), ("Yes", "No"), ("TRUE", "FALSE"), ("y", "n"), (1.0, 0.0)):
        other = frame.assign(yes=np.where(frame["yes"], true, false))
        if isinstance(true, str):
            other["yes"] = other["yes"].str.lower()
        np.testing.assert_array_equal(preparation.transform(other), rows)


@pytest.mark.parametrize("n_levels", [3, 30])
def test_a_column_of_unknown_categories_warns(n_levels):
    levels = [f"level {i % n_levels if i % 2 else 0}" for i in range(N)]
    frame = pd.DataFrame({"x": NUMBERS, "level": levels})
    preparation = TablePreparation().fit(frame)
    other = frame.assign(level="another")
    with pytest.warns(UnknownCategoriesWarning, match="'level' has no value of the table"):
        preparation.transform(other)
    preparation.transform(other.head(5))  # a few rows may have rare values
    preparation.transform(other.assign(level=["another"] * (N - 1) + levels[:1]))


@pytest.mark.parametrize("preparation", [TablePreparation(), StandardScaler()])
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_saved_preparation_has_its_type_of_output(preparation, output, tmp_path):
    frame = pd.DataFrame({"x": NUMBERS, "y": NUMBERS[::-1]})
    model = make_pipeline(clone(preparation), KModes(3, random_state=0))
    model.set_output(transform=output).fit(frame)
    save(model, tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    assert type(loaded[:-1].transform(frame)) is type(model[:-1].transform(frame))

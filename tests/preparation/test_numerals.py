"""Numbers as people write them: dots and commas, units, words among them, and long digits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from modeclust import KModes, TablePreparation, load, save
from modeclust.preparation.columns import LeftOut

N = 60
RNG = np.random.default_rng(0)
AMOUNTS = RNG.integers(200, 4000, N)
DOTTED = [f"{amount:,}".replace(",", ".") for amount in AMOUNTS]
WEIGHTS = RNG.uniform(40, 90, N).round(1)
COMMAS = [f"{weight}".replace(".", ",") for weight in WEIGHTS]


def prepare(kinds=None, **columns):
    """Return a preparation of these columns, with a category beside them."""
    frame = pl.DataFrame({**columns, "c": ["a", "b", "c"] * (len(columns["x"]) // 3)})
    return TablePreparation(kinds, scale=None).fit(frame), frame


def read(kinds=None, **columns):
    """Return the numbers that the column x becomes."""
    preparation, frame = prepare(kinds, **columns)
    return preparation.transform(frame)[:, 0]


def kind_of(**columns):
    """Return what the column x is, or why it is left out."""
    column = prepare(**columns)[0].columns_[0]
    return column.reason if isinstance(column, LeftOut) else column.kind


def thousands(values):
    return [f"{value:,}".replace(",", ".") for value in values]


@pytest.mark.parametrize(
    ("columns", "numbers"),
    [
        ({"x": DOTTED, "y": COMMAS}, AMOUNTS),
        ({"x": [f"{text} €" for text in DOTTED], "y": COMMAS}, AMOUNTS),
        ({"x": thousands(AMOUNTS * 1000)}, AMOUNTS * 1000),
        ({"x": thousands(AMOUNTS[:-1] * 7) + ["1.105.196"]}, [*AMOUNTS[:-1] * 7, 1_105_196]),
        ({"x": [f"{a:,}" for a in AMOUNTS]}, AMOUNTS),
        ({"x": [f"{a / 1000:.3f}".replace(".", ",") for a in AMOUNTS], "y": COMMAS}, AMOUNTS / 1e3),
        ({"x": [f"{a / 1000:.3f}" for a in AMOUNTS + 1000]}, (AMOUNTS + 1000) / 1e3),
        ({"x": [f"{a / 1e3:.3e}" for a in AMOUNTS], "y": COMMAS}, AMOUNTS / 1e3),
        ({"x": COMMAS}, WEIGHTS),
        ({"x": [f"\N{MINUS SIGN}{weight}" for weight in WEIGHTS]}, -WEIGHTS),
        ({"x": [f"{weight} kg" for weight in WEIGHTS]}, WEIGHTS),
        ({"x": [f"{text} km/h" for text in COMMAS]}, WEIGHTS),
        ({"x": [f"USD {amount}" for amount in AMOUNTS]}, AMOUNTS),
        ({"x": [f"{weight} %" for weight in WEIGHTS]}, WEIGHTS),
        ({"x": [f"{weight} °C" for weight in WEIGHTS]}, WEIGHTS),
        ({"x": [f"{amount} €/m²" for amount in AMOUNTS]}, AMOUNTS),
        ({"x": [f"{amount:,}".replace(",", " ") for amount in AMOUNTS]}, AMOUNTS),
        ({"x": [f"{amount:,}".replace(",", "'") for amount in AMOUNTS]}, AMOUNTS),
        ({"x": [f"- {weight}" for weight in WEIGHTS]}, -WEIGHTS),
    ],
)
def test_numbers_in_text(columns, numbers):
    preparation, _ = prepare(**columns)
    np.testing.assert_allclose(read(**columns), numbers)
    assert not any("dots taken" in line for line in preparation.describe())


def test_a_plausible_reading_of_dots_is_told(tmp_path):
    preparation, frame = prepare(x=DOTTED)
    np.testing.assert_array_equal(preparation.transform(frame)[:, 0], AMOUNTS)
    assert preparation.describe()[-1] == (
        f"dots taken as thousands: x ({min(t for t in DOTTED if '.' in t)!r}); "
        "if that is wrong, convert them to numbers before"
    )
    numbers = [f"{n}" if n % 3 else f"{n}.125" for n in range(1, N + 1)]
    preparation, frame = prepare(x=numbers)
    np.testing.assert_array_equal(preparation.transform(frame)[:, 0], np.array(numbers, float))
    assert preparation.describe()[-1].startswith("dots taken as decimal points: x ('12.125'); if")
    assert read(x=["961", "1.244", "2.081", "642", "875", "3.017"])[1] == 1244
    # New rows are read as those of the fit, whatever they look like.
    preparation, frame = prepare(x=[f"{text} kg" for text in DOTTED])
    new = pl.DataFrame({"x": ["1.244 kg", "1.244"], "c": ["a", "b"]})
    assert preparation.transform(new)[:, 0].tolist() == [1244, 1244]
    model = make_pipeline(preparation, KModes(2, random_state=0)).fit(frame)
    save(model, tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")[0]
    assert loaded.describe() == preparation.describe()
    assert "x (in kg)" in loaded.describe()[0]
    assert loaded.transform(new)[:, 0].tolist() == [1244, 1244]


MARKERS = [
    "-",
    "--",
    ".",
    "N.A.",
    "unknown",
    "missing",
    "#N/A",
    "#DIV/0!",
    "TBD",
    "inf",
    "see note",
]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_words_among_numbers_are_missing_values(marker, share):
    n_missing = int(share * N)
    texts = [f"{weight:.4f}" for weight in RNG.normal(size=N - n_missing)] + [marker] * n_missing
    for kinds in (None, {"x": "number"}):
        preparation, frame = prepare(kinds, x=texts)
        column = preparation.columns_[0]
        assert (column.kind, column.missing) == ("number", share)
        assert column.n_unread in (0, n_missing)
        assert np.isfinite(preparation.transform(frame)).all()
        preparation.transform(frame[-1:])
    days = pd.date_range("2030-01-01", periods=N - n_missing, freq="11D").strftime("%d.%m.%Y")
    assert kind_of(x=[*days, *[marker] * n_missing]) == "date"


def test_words_that_are_categories():
    assert kind_of(x=["1", "2", "3", "4+", "many", "2"] * 10) == "category"
    assert kind_of(x=["+", "-", "0"] * 20) == "category"
    assert kind_of(x=["+", "-"] * 30) == "category"
    assert prepare(x=["1", "2", "-", "3"] * 15)[0].columns_[0].missing == 0.25


def test_a_kind_that_is_given_holds_for_half_of_the_values():
    names = [f"{'abcdefghij'[i % 10]}{chr(97 + i // 10)}" for i in range(25)]
    texts = [f"{weight}" for weight in WEIGHTS[:-25]] + names
    preparation, _ = prepare({"x": "number"}, x=texts)
    assert preparation.columns_[0].n_unread == 25
    days = [f"{day:02}.01.2030" for day in range(1, 31)] + [*names, "?", "?", "x", "y", "z"]
    assert prepare({"x": "date"}, x=days)[0].columns_[0].kind == "date"
    with pytest.raises(ValueError, match="cannot be prepared as a number: most of its values are"):
        prepare({"x": "number"}, x=texts[-36:])


@pytest.mark.parametrize(
    "texts",
    [
        [f"({amount})" for amount in AMOUNTS],
        [f"{amount // 60 % 24:02}:{amount % 60:02}" for amount in AMOUNTS],
        [f"{amount} {'kg' if amount % 2 else 'lb'}" for amount in AMOUNTS],
    ],
)
def test_amounts_that_are_not_understood_are_not_called_ids(texts):
    assert kind_of(x=texts) == "text that is not understood"


@pytest.mark.parametrize(
    "texts",
    [
        [f"{digits:010}" for digits in RNG.integers(0, 10**10, N)],
        [f"+49 {digits}" for digits in RNG.integers(10**8, 10**9, N)],
        [f"+49{digits}" for digits in RNG.integers(10**8, 10**9, N)],
        [f"0176 {digits}" for digits in RNG.integers(10**6, 10**7, N // 2)] * 2,
        [f"192.168.{i}.{i % 9}" for i in range(N)],
        [f"{digits}.jpg" for digits in RNG.integers(10**4, 10**5, N)],
        [f"C-{digits}" for digits in RNG.integers(10**4, 10**5, N)],
    ],
)
def test_long_digits_that_are_ids(texts):
    assert kind_of(x=texts) == "an id"
    assert kind_of(x=texts[:3] * 20) == "category"


@pytest.mark.parametrize("name", ["uid", "user", "user_id", "account", "ISBN13", "phone"])
def test_distinct_integers_with_the_name_of_an_id(name):
    digits = RNG.choice(10**6, N, replace=False)
    frame = pd.DataFrame({name: digits, "x": WEIGHTS})
    assert TablePreparation().fit(frame).ids_ == [name]
    counts = frame.assign(**{name: digits % 50})
    assert TablePreparation().fit(counts).used_ == ([] if name == "user_id" else [name]) + ["x"]


def test_integers_that_are_dates():
    days = pd.date_range("2024-01-06", periods=N, freq="9D")
    digits = days.strftime("%Y%m%d")
    expected = (days - pd.Timestamp("1970-01-01")).days
    for values in (digits, digits.astype(int), digits.astype(float)):
        frame = pd.DataFrame({"order_date": values, "x": WEIGHTS})
        preparation = TablePreparation(scale=None).fit(frame)
        assert preparation.describe()[1:] == ["dates, as days: order_date"]
        np.testing.assert_array_equal(preparation.transform(frame)[:, 0], expected)
        back = preparation.inverse_transform(preparation.transform(frame), "pandas")
        assert back["order_date"].tolist() == [str(day.date()) for day in days]
    wrong = digits[:-1].astype(int).tolist() + [20241301]
    for name, values in (("amount", digits.astype(int)), ("date", wrong)):
        preparation = TablePreparation().fit(pd.DataFrame({name: values, "x": WEIGHTS}))
        assert preparation.columns_[0].kind == "number"


def test_two_numbers_in_a_cell_are_none():
    pressures = [f"{amount} {weight:.0f}" for amount, weight in zip(AMOUNTS, WEIGHTS, strict=True)]
    assert kind_of(x=pressures, y=WEIGHTS) == "text that is not understood"


@pytest.mark.parametrize(
    ("written", "read", "note"),
    [
        ("%m/%d/%Y", "%Y-%m-%d", ""),
        ("%d/%m/%Y", "%Y-%m-%d", ""),
        ("%d/%m/%y", "%Y-%m-%d", ""),
        ("%d-%b-%y", "%Y-%m-%d", ""),
        ("%m/%d/%Y %I:%M %p", "%Y-%m-%d", ""),
        ("%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d", ""),
        ("%m/01/%Y", "%Y-%m-01", "the month before the day"),  # days from 1 to 12 in January?
        ("01/%m/%Y", "%Y-%m-01", "the day before the month"),
        ("%m/05/%Y", "%Y-05-%m", "the day before the month"),
    ],
)
def test_the_order_of_day_and_month_is_that_which_reads_most(written, read, note):
    days = pd.date_range("2022-01-03", periods=N, freq="11D")
    preparation, frame = prepare(x=days.strftime(written).tolist())
    back = preparation.inverse_transform(preparation.transform(frame), "dict")["x"].tolist()
    assert back == days.strftime(read).tolist()
    notes = [line for line in preparation.describe() if line.startswith("dates read with")]
    assert [note in line for line in notes] == [True] * bool(note)


def test_a_few_days_decide_the_order_of_all():
    dates = ["3/4/2024", "5/6/2024", "7/8/2024", "9/10/2024"] * 24 + ["2/13/2024"] * 3
    preparation, frame = prepare(x=dates)
    back = preparation.inverse_transform(preparation.transform(frame), "dict")["x"]
    assert back[0] == "2024-03-04"

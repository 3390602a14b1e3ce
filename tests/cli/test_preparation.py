"""Tables with columns of every kind, from the file to the labels of new rows."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import FILES, FRAME, QUICK, invoke, names, refused
from sklearn.pipeline import Pipeline

from modeclust import load
from modeclust.cli import folder
from modeclust.cli.app import FitOptions
from modeclust.cli.fit import fit_data

N = 90
RNG = np.random.default_rng(1)
SEGMENT = np.repeat([0, 1, 2], N // 3)
WORDS = np.array(["slow late broken lost wrong", "great quick kind cheap fine", "a the of so it"])
CUSTOMERS = pl.DataFrame(
    {
        "customer_id": [f"C-{i * 7919 % 1000:04}" for i in range(N)],
        "income": [None if i % 9 == 0 else 20_000.0 + 30_000 * SEGMENT[i] + i for i in range(N)],
        "spent": [f"${(SEGMENT[i] + 1) * 1000 + i:,.2f}" for i in range(N)],
        "plan": [["basic", "pro", "team"][s] if i % 10 else "?" for i, s in enumerate(SEGMENT)],
        "joined": [f"{1 + i % 28:02}/{1 + i % 12:02}/20{25 + SEGMENT[i]}" for i in range(N)],
        "news": ["Yes", "No"] * (N // 2),
        "remark": [" ".join(RNG.choice(" ".join(WORDS[[s, 2]]).split(), 6)) for s in SEGMENT],
        "country": ["DE"] * N,
        "fax": [None] * (N - 2) + ["1", "2"],
        "größe 身長": RNG.normal(170, 9, N).round(1),
    }
)
NOTES = """\
note: left out: customer_id (an id), country (constant), fax (98% missing)
note: numbers, scaled: income (11% missing), spent, größe 身長
note: dates, as days: joined
note: categories: plan (10% missing), news
note: texts, as topics: remark
note: to do otherwise: --exclude NAMES, --columns NAMES, --kinds NAME=KIND; --raw takes columns as \
they are
"""


@pytest.fixture
def customers(here):
    CUSTOMERS.write_csv("customers.csv")
    return here


def test_a_messy_table_in_one_command(customers):
    result = invoke("fit", "customers.csv", "-k", "3", "--json")
    assert result.stderr == NOTES
    found = json.loads(result.stdout)
    assert found["notices"] == [line.removeprefix("note: ") for line in NOTES.splitlines()]
    told = {row["column"]: row for row in found["preparation"]}
    assert list(told) == CUSTOMERS.columns
    assert (told["country"]["kind"], told["country"]["left_out"]) == (None, "constant")
    assert told["plan"] == {
        "column": "plan", "kind": "category", "left_out": None, "missing": 0.1, "features": 3
    }  # fmt: skip
    assert names("customers.modes") == sorted([*FILES, "columns.csv"])
    table = pl.read_csv("customers.modes/columns.csv")
    assert table["column"].to_list() == CUSTOMERS.columns
    labels = pl.read_csv("customers.modes/labels.csv")["label"].to_numpy()
    crossed = np.zeros((3, 3))
    np.add.at(crossed, (SEGMENT, labels), 1)
    assert (crossed.max(axis=1) == N // 3).all()
    modes = pl.read_csv("customers.modes/modes.csv").sort("income")
    assert modes.columns[3:] == ["income", "spent", "plan", "joined", "news", "größe 身長"]
    assert modes["plan"].to_list() == ["basic", "pro", "team"]
    assert [day[:4] for day in modes["joined"]] == ["2025", "2026", "2027"]
    np.testing.assert_allclose(modes["spent"], [1000, 2000, 3000], atol=150)
    path = pl.read_csv("customers.modes/path.csv")
    assert path[-3:].sort("income")["plan"].to_list() == ["basic", "pro", "team"]


def test_new_rows(customers):
    invoke("fit", "customers.csv", "-k", "3")
    labels = pl.read_csv("customers.modes/labels.csv")["label"]
    invoke("predict", "customers.modes", "customers.csv", "-o", "same.csv")
    assert pl.read_csv("same.csv")["label"].to_list() == labels.to_list()
    # Other types, other columns, another order, values that were never seen.
    new = CUSTOMERS.drop("customer_id", "country", "fax").with_columns(
        pl.col("spent").str.replace_all(r"[$,]", "").cast(pl.Float64),
        pl.col("joined").str.to_date("%d/%m/%Y"),
        pl.col("plan").replace({"?": "never seen"}).cast(pl.Categorical),
        (pl.col("news") == "Yes").cast(pl.String),
        extra=pl.lit("x"),
    )
    new.select(reversed(new.columns)).write_parquet("new.parquet")
    invoke("predict", "customers.modes", "new.parquet", "-o", "new.npy")
    assert np.load("new.npy").tolist() == labels.to_list()
    new.drop("plan", "spent").write_csv("less.csv")
    message = refused("predict", "customers.modes", "less.csv", "-o", "b.csv")
    assert "'less.csv' has no column 'spent', 'plan'" in message
    refusal = ("predict", "customers.modes", "new.parquet", "-o", "b.csv", "--stream")
    assert "--stream does not apply to a model of a prepared table" in refused(*refusal)
    info = invoke("info", "customers.modes").stdout
    assert "fitted on 90 rows x 18 features of 7 columns\n" in info
    assert "prepared: customer_id (an id), income (number), spent (number), plan (cat" in info
    model = load("customers.modes/model.npz")
    assert isinstance(model, Pipeline)
    assert model.predict(CUSTOMERS.to_pandas()).tolist() == labels.to_list()


def test_the_page_has_the_table_in_its_units(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CUSTOMERS.write_csv("customers.csv")
    invoke("fit", "customers.csv", "-k", "3")
    CUSTOMERS.write_parquet("customers.parquet")
    pages = [json.loads(Path("customers.modes/report.json").read_text())]
    for data in ("customers.csv", "customers.parquet"):
        invoke("report", "customers.modes", data, "-o", "page.html", "--force", "--no-open")
        page = Path("page.html").read_text()
        text = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)
        pages.append(json.loads(text[1]))
    modes = pl.read_csv("customers.modes/modes.csv")
    for page in pages:
        assert not any("--exclude" in note for note in page["notes"])
        kinds = {column["name"]: column["kind"] for column in page["columns"]}
        assert (kinds["spent"], kinds["joined"], kinds["plan"]) == ("number", "date", "category")
        clustered = {column["name"] for column in page["columns"] if column["clustered"]}
        assert clustered == {*modes.columns[3:], "remark"}
        for card, mode in zip(page["cards"], modes.iter_rows(named=True), strict=True):
            np.testing.assert_allclose(card["typical"]["spent"], mode["spent"], rtol=1e-3)
            assert card["typical"]["plan"] == mode["plan"]
            assert card["typical"]["joined"][:4] == mode["joined"][:4]
            example = card["examples"][0]
            row = CUSTOMERS.row(example["row"], named=True)
            assert example["name"] == row["customer_id"]
            assert example["text"] == row["remark"]
            assert f"${example['values']['spent']:,.2f}" == row["spent"]


def test_ids_that_were_recognised_are_beside_the_labels(customers):
    """So that labels can be joined to the table, for the rows of the fit and for new ones."""
    table = CUSTOMERS.with_columns(
        email=pl.col("customer_id") + "@example.com",
        token=pl.when(SEGMENT > 0).then("t" + pl.col("customer_id")),  # some are missing
    )
    table.write_csv("table.csv")
    table.write_parquet("table.parquet")
    for data, ending in (("table.csv", "csv"), ("table.parquet", "parquet")):
        read = getattr(pl, f"read_{ending}")
        invoke("fit", data, "-k", "3", "--force", "--json")
        labels = read(f"table.modes/labels.{ending}")
        assert labels.columns == ["customer_id", "email", "label"]
        assert labels["email"].to_list() == table["email"].to_list()
        new = ("table.modes", data, "--force", "-o")
        invoke("predict", *new, f"new.{ending}")
        assert read(f"new.{ending}").equals(labels)
    invoke("predict", *new, "new.csv", "--id-column", "email", "--outliers")
    assert pl.read_csv("new.csv").columns == ["email", "label", "outlier_score"]
    invoke("predict", *new, "new.csv", "--exclude", "email")
    assert pl.read_csv("new.csv").columns == ["customer_id", "label"]
    invoke("predict", *new, "new.npy")  # has one column
    assert np.load("new.npy").tolist() == labels["label"].to_list()
    invoke("fit", data, "-k", "3", "--force", "--id-column", "email")
    assert pl.read_parquet("table.modes/labels.parquet").columns == ["email", "label"]
    # `predict` writes the id column that `fit` was given, or others where it has gaps.
    invoke("predict", *new, "named.csv")
    assert pl.read_csv("named.csv").columns == ["email", "label"]
    gaps = table.with_columns(email=pl.when(SEGMENT > 0).then(pl.col("email")))
    gaps.write_csv("gaps.csv")
    invoke("predict", "table.modes", "gaps.csv", "-o", "gaps.labels.csv")
    assert pl.read_csv("gaps.labels.csv").columns == ["customer_id", "label"]


def test_probabilities_and_outlier_scores_of_new_rows(customers):
    invoke("fit", "customers.csv", "-k", "3")
    new = ("customers.modes", "customers.csv", "-o", "new.csv")
    invoke("predict", *new, "--proba", "--outliers")
    found = pl.read_csv("new.csv")
    model = load("customers.modes/model.npz")
    np.testing.assert_array_equal(found["label"], model[-1].labels_)
    proba = found.select(f"proba_{k}" for k in range(3)).to_numpy()
    np.testing.assert_allclose(proba, model.predict_proba(CUSTOMERS), rtol=1e-12)
    np.testing.assert_allclose(found["outlier_score"], model[-1].outlier_scores_, rtol=1e-9)


def test_the_whole_frame_is_kept(customers):
    fitted = fit_data(
        FitOptions("customers.csv", "3", id_column="customer_id"), show_progress=False
    )
    assert fitted.table.frame.columns == CUSTOMERS.columns
    assert fitted.table.frame["income"].to_list() == CUSTOMERS["income"].to_list()


def test_otherwise(customers):
    fit = ("fit", "customers.csv", *QUICK, "--force", "--json")
    columns = json.loads(invoke(*fit, "--exclude", "remark,income").stdout)["preparation"]
    assert not {"remark", "income"} & {row["column"] for row in columns}
    columns = json.loads(invoke(*fit, "--columns", "income,plan").stdout)["preparation"]
    assert [row["column"] for row in columns] == ["income", "plan"]
    kinds = ("--kinds", "customer_id=category,remark=text")
    assert "Column 'customer_id' cannot be prepared as a category: it has too many" in refused(
        *fit, *kinds
    )
    columns = json.loads(invoke(*fit, "--kinds", "news=text").stdout)["preparation"]
    assert [row["kind"] for row in columns if row["column"] == "news"] == ["text"]
    assert "Column 'customer_id' contains text" in refused(*fit, "--raw")
    assert "--kinds names 'zip', but the columns are customer_id" in refused(
        *fit, "--kinds", "zip=category"
    )
    np.save("x.npy", np.eye(9))
    assert "--kinds applies only to tables that are prepared" in refused(
        "fit", "x.npy", *QUICK, "--kinds", "x0=number"
    )
    assert (
        "'id.csv' has no column to cluster by; left out: id (an id); to do otherwise: --exclude"
        in (
            refused(
                "fit", _written("id.csv", "id\n" + "\n".join(f"a{i}" for i in range(30))), *QUICK
            )
        )
    )


def _written(name, text):
    Path(name).write_text(text)
    return name


def test_a_plain_table_is_as_before(here):
    result = invoke("fit", "iris.csv", *QUICK, "--label-column", "kind", "--json")
    assert (result.stderr, json.loads(result.stdout)["preparation"]) == ("", None)
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind", "--raw", "-o", "raw")
    for name in ("modes.csv", "path.csv", "labels.csv", "model.npz"):
        assert Path("iris.modes", name).read_bytes() == Path("raw", name).read_bytes()
    FRAME.with_columns(id=pl.arange(150)).write_csv("with_id.csv")
    result = invoke("fit", "with_id.csv", *QUICK, "--label-column", "kind")
    assert result.stderr.startswith(
        "note: left out: id (an id)\nnote: numbers, as they are: sl, sw"
    )
    labels = pl.read_csv("with_id.modes/labels.csv")
    assert labels.columns == ["id", "label"]
    assert labels.select("label").equals(pl.read_csv("raw/labels.csv"))
    FRAME.write_csv("iris2.csv")
    scaled = invoke("fit", "iris2.csv", *QUICK, "--label-column", "kind", "--standardize")
    assert "note: numbers, scaled: sl, sw, pl, pw\n" in scaled.stderr


def test_a_table_of_a_spreadsheet(here):
    content = FRAME.with_columns(id=pl.arange(150)).write_csv(separator=";").replace(".", ",")
    Path("sheet.csv").write_text(content)
    result = invoke("fit", "sheet.csv", *QUICK)
    assert result.stderr.startswith("note: the fields are separated by semicolons\n")
    assert re.search(
        r"left out: id .*\n.*scaled: sl, sw, pl, pw\n.*categories: kind", result.stderr
    )
    modes = pl.read_csv("sheet.modes/modes.csv")
    assert modes["sl"].is_between(4, 8).all()
    again = invoke("predict", "sheet.modes", "sheet.csv", "-o", "new.csv")
    assert again.stderr == "note: the fields are separated by semicolons\n"
    assert Path("new.csv").read_bytes() == Path("sheet.modes/labels.csv").read_bytes()
    # Thousandths with commas look like thousands: only the option can tell.
    rows = "\n".join(f"{i % 7},{125 * (i % 7 + 1)};{i % 3}" for i in range(1, 40))
    Path("comma.csv").write_text(f"a;b\n{rows}\n")
    invoke("fit", "comma.csv", *QUICK, "--decimal-comma")
    assert pl.read_csv("comma.modes/modes.csv")["a"].max() < 8


def _sheet(amounts, sizes, name="sheet.csv"):
    rows = zip(amounts, sizes, strict=True)
    return _written(name, "amount;size\n" + "".join(f"{a};{size}\n" for a, size in rows))


AMOUNTS = np.array([200, 900, 2500]).repeat(N // 3) + RNG.integers(0, 90, N)
DOTTED = [f"{amount:,}".replace(",", ".") for amount in AMOUNTS]
SIZES = RNG.normal(size=N).round(2)
COMMAS = [f"{size}".replace(".", ",") for size in SIZES]


@pytest.mark.parametrize(
    ("sizes", "options", "note", "low", "high"),
    [
        (COMMAS, (), None, 200, 2600),
        (SIZES, (), "dots taken as thousands: amount ('2.5", 200, 2600),
        (SIZES, ("--decimal-comma",), None, 200, 2600),
        (SIZES, ("--no-decimal-comma",), None, 2, 1000),
        (COMMAS, ("--raw", "--separator", ";", "--decimal-comma"), None, 200, 2600),
    ],
)
def test_dots_that_separate_thousands(here, sizes, options, note, low, high):
    result = invoke("fit", _sheet(DOTTED, sizes), *QUICK, *options)
    assert (note or "") in result.stderr
    assert ("dots taken" in result.stderr) == (note is not None)
    modes = pl.read_csv("sheet.modes/modes.csv")["amount"]
    assert modes.is_between(low, high).all()
    if note:
        assert "; --decimal-comma or --no-decimal-comma overrules it in text" in result.stderr


def test_weights_with_dots_are_not_guessed(here):
    fit = ("fit", _sheet(DOTTED, COMMAS), *QUICK, "--weight-column", "amount")
    message = refused(*fit, may_note=True)
    assert "Column 'amount' has dots that may separate thousands; pass --decimal-comma" in message
    for decimal_comma, weights in ((True, AMOUNTS), (False, [float(text) for text in DOTTED])):
        options = FitOptions("sheet.csv", "3", weight_column="amount", decimal_comma=decimal_comma)
        fitted = fit_data(options, show_progress=False)
        np.testing.assert_array_equal(fitted.table.weight, weights)


def test_new_rows_have_thousands_too(here):
    invoke("fit", _sheet(DOTTED, SIZES), *QUICK)
    labels = pl.read_csv("sheet.modes/labels.csv")["label"]
    # In these rows alone, the dots would be decimal points.
    rows = [i for i, text in enumerate(DOTTED) if "." in text]
    new = _sheet([DOTTED[i] for i in rows], [SIZES[i] for i in rows], "new.csv")
    invoke("predict", "sheet.modes", new, "-o", "found.csv")
    assert pl.read_csv("found.csv")["label"].to_list() == labels[rows].to_list()


def test_leading_zeros_are_kept(here):
    accounts = [f"{digits:08}" for digits in RNG.integers(0, 10**8, N)]
    depots = RNG.choice(["01067", "10115", "80331"], N)
    table = pl.DataFrame({"konto": accounts, "depot": depots, "size": SIZES})
    table.write_csv("table.csv")
    result = invoke("fit", "table.csv", *QUICK)
    assert "note: left out: konto (an id)\n" in result.stderr
    assert "note: categories: depot\n" in result.stderr
    text = pl.read_csv("table.modes/labels.csv", infer_schema=False)
    assert text["konto"].to_list() == accounts
    few = table.filter(pl.col("depot") != "01067")
    few.write_csv("few.csv")
    invoke("predict", "table.modes", "few.csv", "-o", "few.labels.csv")
    found = pl.read_csv("few.labels.csv", infer_schema=False)
    assert found.equals(text.filter(pl.Series(depots) != "01067"))


def test_a_column_that_is_left_out_as_asked(customers):
    fit = ("fit", "customers.csv", *QUICK, "--json", "--kinds", "remark=left out,news=text")
    columns = {row["column"]: row for row in json.loads(invoke(*fit).stdout)["preparation"]}
    assert (columns["remark"]["kind"], columns["remark"]["left_out"]) == (None, "as asked")


def test_one_column_and_duplicate_names(here):
    Path("one.csv").write_text("mood\n" + "good\nbad\nso so\n" * 10)
    invoke("fit", "one.csv", *QUICK)
    assert sorted(pl.read_csv("one.modes/modes.csv")["mood"]) == ["bad", "good", "so so"]
    Path("twice.csv").write_text("a,a\n1,x\n2,y\n3,z\n")
    assert "column names must be unique, got 'a'" in refused("fit", "twice.csv", *QUICK)


def test_a_long_path_is_written_without_modes(here, monkeypatch):
    monkeypatch.setattr(folder, "MAX_PATH_VALUES", 10)
    invoke("fit", "iris.csv", *QUICK)
    path = pl.read_csv("iris.modes/path.csv")
    assert path.columns[-1] == "rows_averaged"
    assert len(path) > 3

"""`report`: a page about a saved model, or about labels of any tool."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import FRAME, QUICK, invoke, names, refused

NAMED = FRAME.with_columns(
    name=pl.Series([f"flower {i}" for i in range(150)]),
    note=pl.Series([f"{kind} petals" for kind in FRAME["kind"]]),
)


def summary(page):
    """Return the data in a page."""
    text = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.DOTALL)
    return json.loads(text[1])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NAMED.write_csv("flowers.csv")
    return tmp_path


@pytest.mark.parametrize("scaled", [[], ["--standardize"]])
def test_a_model_with_all_columns_of_its_data(here, scaled):
    invoke("fit", "flowers.csv", *QUICK, "--columns", "sl,sw,pl,pw", *scaled)
    NAMED.write_parquet("flowers.parquet")
    for data in ("flowers.csv", "flowers.parquet"):
        page = ["-o", "page.html", "--force", "--no-open"]
        invoke("report", "flowers.modes", data, "--text-column", "note", *page)
        found = summary(Path("page.html").read_text())
        clustered = {column["name"] for column in found["columns"] if column["clustered"]}
        assert clustered == {"sl", "sw", "pl", "pw"}
        example = found["cards"][0]["examples"][0]
        assert example["name"] == f"flower {example['row']}"
        assert example["values"]["sl"] == FRAME["sl"][example["row"]]
        assert example["text"] == NAMED["note"][example["row"]]
        assert {card["typical"]["kind"] for card in found["cards"]} == set(FRAME["kind"])


@pytest.mark.parametrize("name", ["labels.csv", "labels.npy", "named.csv", "words.parquet"])
def test_labels_of_another_tool(here, name):
    labels = np.repeat([0, 1, -1], 50)
    if name == "labels.npy":
        np.save(name, labels)
    elif name == "words.parquet":
        pl.DataFrame({"x": np.repeat(["a", "b", "-1"], 50)}).write_parquet(name)
    else:
        column = "Cluster" if name == "named.csv" else "x"
        frame = pl.DataFrame({column: labels})
        beside = frame.with_columns(id=pl.Series(range(150))) if column == "Cluster" else frame
        beside.write_csv(name)
    invoke("report", name, "flowers.csv", "--columns", "pl,pw", "--id-column", "name", "--no-open")
    found = summary(Path("flowers-report.html").read_text())
    is_text = name == "words.parquet"
    assert found["n_clusters"] == (3 if is_text else 2)
    assert found["n_noise"] == (0 if is_text else 50)
    example = found["cards"][0]["examples"][0]
    assert example["name"] == f"flower {example['row']}"


def test_a_built_in_dataset(here):
    invoke("fit", "digits", "-k", "4", "--n-init", "1")
    invoke("report", "digits.modes", "digits", "--no-open", "-o", "page.html")
    assert summary(Path("page.html").read_text())["images"]["shape"] == [8, 8]


def test_what_does_not_fit_is_refused(here):
    np.save("few.npy", np.zeros(10, dtype=int))
    FRAME.write_csv("other.csv")
    pl.DataFrame({"a": [1], "b": [2]}).write_csv("two.csv")
    FRAME.select("kind").write_csv("text.csv")
    page = ["--no-open", "-o", "page.html"]
    assert "one entry for each of the 150 rows" in refused("report", "few.npy", "iris", *page)
    assert "no column of labels" in refused("report", "two.csv", "iris", *page)
    invoke("fit", "flowers.csv", *QUICK, "--columns", "sl,sw,pl,pw")
    NAMED[:9].write_csv("new.csv")
    message = refused("report", "flowers.modes", "new.csv", *page)
    assert "'new.csv' must be the data that the model was fitted on, 150 rows, got 9" in message
    message = refused("report", "few.npy", "flowers.csv", "--text-column", "nota", *page)
    assert "has no column 'nota' for --text-column; its columns are" in message
    assert "one entry for each of the 150" in refused("report", "few.npy", "text.csv", *page)
    Path("page.html").write_text("mine")
    assert "already exists; replace it with --force" in refused("report", "few.npy", "iris", *page)
    assert Path("page.html").read_text() == "mine"
    assert "page.html" in names()


TABLE = pl.DataFrame(
    {
        "order_id": [f"{7 * i % 90:04}" for i in range(90)],
        "paid": [f"{100 * (i % 3)},{i % 7}" for i in range(90)],
        "plan": [["basic", "pro", "team"][i % 3] for i in range(90)],
        "age": [None if i % 11 == 0 else 20 * (i % 3) + i % 5 for i in range(90)],
    }
)
PAGE = ["--no-open", "--force", "-o", "page.html"]


def test_labels_in_another_order_are_joined_by_their_ids(here):
    TABLE.write_csv("data.csv")
    invoke("fit", "data.csv", "-k", "3")
    invoke("report", "data.modes/labels.csv", "data.csv", *PAGE)
    wanted = Path("page.html").read_text()
    labels = pl.read_csv("data.modes/labels.csv")
    assert labels.columns == ["order_id", "label"]
    labels.sort("order_id").with_columns(outlier_score=0.0).write_csv("sorted.csv")
    TABLE.write_parquet("data.parquet")
    for data in ("data.csv", "data.parquet"):
        stderr = invoke("report", "sorted.csv", data, *PAGE).stderr
        assert "note: labels are joined by the column 'order_id'" in stderr
        found = summary(Path("page.html").read_text())
        assert found["labels"]["first"] == summary(wanted)["labels"]["first"]
        told, expected = ([c["typical"] for c in s["cards"]] for s in (found, summary(wanted)))
        assert told == expected


def test_rows_that_only_one_of_the_files_has_are_refused(here):
    TABLE.write_csv("data.csv")
    labels = TABLE.select("order_id", label=pl.Series(range(90)) % 3)
    labels[1:].write_csv("few.csv")
    message = refused("report", "few.csv", "data.csv", *PAGE)
    assert "'few.csv' lacks 1 row of 'data.csv', by the column 'order_id', e.g. '" in message
    TABLE[2:].write_csv("data.csv")
    message = refused("report", "few.csv", "data.csv", *PAGE)
    assert "'data.csv' lacks 1 row of 'few.csv', by the column 'order_id', e.g. '" in message
    TABLE.with_columns(pl.col("order_id").str.head(3)).write_csv("data.csv")
    labels.with_columns(pl.col("order_id").str.head(3)).sort("order_id").write_csv("sorted.csv")
    assert "in another order than those of 'data.csv'" in refused(
        "report", "sorted.csv", "data.csv", *PAGE
    )


def test_labels_of_a_table_are_prepared_as_by_fit(here):
    TABLE.with_columns(other=pl.Series(range(90)) % 3).write_csv("data.csv")
    (TABLE.select(label=pl.Series(range(90)) % 3)).write_csv("labels.csv")
    stderr = invoke("report", "labels.csv", "data.csv", *PAGE).stderr
    notes = invoke("fit", "data.csv", "-k", "3", "--exclude", "other").stderr
    *told, last = stderr.splitlines()
    assert told == notes.splitlines()[: len(told)]
    assert last == "note: to use fewer columns: --columns NAMES"
    found = summary(Path("page.html").read_text())
    clustered = {column["name"]: column["clustered"] for column in found["columns"]}
    assert clustered == {"order_id": False, "paid": True, "plan": True, "age": True}
    invoke("report", "labels.csv", "data.csv", "--columns", "age", *PAGE)
    found = summary(Path("page.html").read_text())
    assert [column["name"] for column in found["columns"] if column["clustered"]] == ["age"]


def test_errors_name_the_options_of_this_command(here):
    TABLE.select("order_id").write_csv("ids.csv")
    TABLE.select(label=pl.Series(range(90)) % 3).write_csv("labels.csv")
    np.save("gaps.npy", np.where(np.eye(90, 2) > 0, np.nan, 1.0))
    for data in ("ids.csv", "gaps.npy"):
        message = refused("report", "labels.csv", data, *PAGE)
        options = re.findall(r"--[a-z-]+", message)
        assert set(options) <= {"--columns"}, message
    assert "90 of 90 labels are distinct" in refused("report", "ids.csv", "labels.csv", *PAGE)


def test_columns_of_arrays_have_one_name(here):
    np.save("x.npy", FRAME.select("pl", "pw").to_numpy())
    invoke("fit", "x.npy", "-k", "3")
    np.save("labels.npy", np.repeat([0, 1], 75))
    for clustering in ("x.modes", "labels.npy"):
        invoke("report", clustering, "x.npy", *PAGE)
        found = summary(Path("page.html").read_text())
        assert [column["name"] for column in found["columns"]] == ["x0", "x1"]
        assert found["map"]["axes"] == ["x0", "x1"]
        assert [card["name"] for card in found["cards"]][:2] == ["Cluster 0", "Cluster 1"]
    assert pl.read_csv("x.modes/modes.csv").columns[-2:] == ["x0", "x1"]

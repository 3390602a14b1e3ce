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
    assert "no column of numbers" in refused("report", "few.npy", "text.csv", *page)
    Path("page.html").write_text("mine")
    assert "already exists; replace it with --force" in refused("report", "few.npy", "iris", *page)
    assert Path("page.html").read_text() == "mine"
    assert "page.html" in names()

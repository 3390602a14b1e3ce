"""The output folder of `fit`."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import FILES, FRAME, IRIS, QUICK, invoke, names, refused, run

from modeclust import load
from modeclust.cli import folder


def test_fit_writes_a_folder(here):
    output = invoke("fit", "iris.csv", *QUICK, "--label-column", "kind").stdout
    assert "iris.csv: 150 rows x 4 features" in output
    assert "setosa, 100%" in output
    assert re.search(r"exemplar row .*\n.*\(from 0\)", output)
    assert names("iris.modes") == FILES
    assert names() == ["iris.csv", "iris.modes"]
    model = load("iris.modes/model.npz")
    labels = pl.read_csv("iris.modes/labels.csv")
    assert labels["label"].to_list() == model.labels_.tolist()
    modes = pl.read_csv("iris.modes/modes.csv")
    assert modes.columns == ["cluster", "count", "rows_averaged", "sl", "sw", "pl", "pw"]
    assert modes["count"].to_list() == model.counts_.tolist()
    np.testing.assert_allclose(modes["rows_averaged"], model.rows_averaged_)
    np.testing.assert_allclose(modes.to_numpy()[:, 3:], model.modes_)
    path = pl.read_csv("iris.modes/path.csv")
    assert path.columns[-4:] == ["sl", "sw", "pl", "pw"]
    assert len(path) == len(model.path_) * 3
    assert path["stage"].unique().to_list() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--raw"], "scaled to unit variance"), ([], "numbers, scaled: sl, sw, pl, pw")],
)
def test_a_page_of_scaled_columns_has_their_units(tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    FRAME.with_columns(name=pl.Series([f"flower {i}" for i in range(150)])).write_csv("iris.csv")
    columns = ["--columns", "sl,sw,pl,pw", "--id-column", "name", "--label-column", "kind"]
    invoke("fit", "iris.csv", *QUICK, "--standardize", *options, *columns)
    summary = json.loads(Path("iris.modes/report.json").read_text())
    assert told in summary["notes"][-1]
    modes = pl.read_csv("iris.modes/modes.csv").select("sl", "sw", "pl", "pw").rows()
    for card, mode in zip(summary["cards"], modes, strict=True):
        np.testing.assert_allclose(list(card["typical"].values()), mode, rtol=1e-3)
        example = card["examples"][0]
        assert example["name"] == f"flower {example['row']}"
        assert example["values"]["sl"] == FRAME["sl"][example["row"]]
    assert summary["class_names"] == ["setosa", "versicolor", "virginica"]


def test_force_replaces_only_output_of_fit(here):
    Path("empty").mkdir()
    invoke("fit", "iris", *QUICK, "-o", "empty")
    assert names("empty") == FILES
    assert "--force" in refused("fit", "iris", *QUICK, "-o", "empty")
    np.save("data.npy", IRIS.data)
    invoke("fit", "data.npy", *QUICK, "-o", "empty", "--force")
    assert names("empty") == sorted({*FILES, "labels.npy"} - {"labels.csv"})
    Path("empty/notes.txt").write_text("mine")
    message = refused("fit", "iris", *QUICK, "-o", "empty", "--force")
    assert "holds 'notes.txt'" in message
    assert Path("empty/notes.txt").read_text() == "mine"
    assert "is a file" in refused("fit", "iris", *QUICK, "-o", "iris.csv", "--force")
    assert "no folder" in refused("fit", "iris", *QUICK, "-o", "absent/out")
    assert "no folder" in refused("fit", "iris", *QUICK, "-o", "iris.csv/out")
    assert names() == ["data.npy", "empty", "iris.csv"]


def test_force_does_not_replace_other_files_with_the_same_names(here):
    Path("mine").mkdir()
    Path("mine/labels.csv").write_text("by hand")
    asked = ("fit", "iris", *QUICK, "-o", "mine", "--force")
    assert "'mine' holds 'labels.csv', which does not look like the output of `fit`" in refused(
        *asked
    )
    np.savez("mine/model.npz", weights=np.zeros(3))
    assert "does not look like the output of `fit`" in refused(*asked)
    Path("mine/model.npz").write_text("a model of something else")
    assert "does not look like the output of `fit`" in refused(*asked)
    assert Path("mine/labels.csv").read_text() == "by hand"
    invoke("fit", "iris", *QUICK, "-o", "out")
    invoke("predict", "out", "iris", "-o", "out/labels.parquet")
    assert "'labels.parquet'" in refused("fit", "iris", *QUICK, "-o", "out", "--force")
    Path("out/labels.parquet").unlink()
    Path("out/report.html").unlink()
    invoke("fit", "iris", *QUICK, "-o", "out", "--force")
    assert names("out") == FILES


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_keeps_the_old_folder(error, here, monkeypatch):
    invoke("fit", "iris", *QUICK, "-o", "out")
    before = {name: Path("out", name).read_bytes() for name in FILES}

    def fail(fit, **_):
        raise error

    monkeypatch.setattr(folder, "report", fail)
    code = 130 if isinstance(error, KeyboardInterrupt) else 2
    result = invoke("fit", "moons", *QUICK, "-o", "out", "--force", code=code)
    assert result.stderr.count("\n") == 1
    assert before == {name: Path("out", name).read_bytes() for name in names("out")}
    assert names() == ["iris.csv", "out"]
    invoke("fit", "moons", *QUICK, "-o", "new", code=code)
    assert names() == ["iris.csv", "out"]


def test_a_failed_rename_restores_the_old_folder(here, monkeypatch):
    invoke("fit", "iris", *QUICK, "-o", "out")
    rename = Path.rename

    def fail(path, target):
        if path.suffix == ".part" and Path(target).name == "out" and not tried:
            tried.append(path)
            raise OSError(5, "Input/output error")
        return rename(path, target)

    tried = []
    monkeypatch.setattr(Path, "rename", fail)
    assert "Input/output error" in refused("fit", "moons", *QUICK, "-o", "out", "--force")
    assert names() == ["iris.csv", "out"]
    assert len(load("out/model.npz").labels_) == 150


@pytest.mark.posix
def test_a_full_disk_leaves_no_folder(tmp_path):
    def limit():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = run("fit", "iris", *QUICK, cwd=tmp_path, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    first, *_ = done.stderr.splitlines()  # a measurement of coverage fails too
    assert first == "error: 'iris.modes/report.html': File too large"
    assert names(tmp_path) == []

"""The command line, in this process for what it answers, and as a process of its own."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from command import invoke, refused
from rich.console import Console
from scipy import sparse
from scipy.io import mmread, mmwrite
from sklearn.datasets import load_iris
from typer.main import get_command

import modeclust
from modeclust import KModes, MeanShift, load
from modeclust.cli import folder, formats, job, printing
from modeclust.cli.app import app
from modeclust.cli.columns import TableError
from modeclust.cli.options import (
    BANDWIDTHS,
    BUILT_IN,
    ENDINGS,
    Job,
    Kernel,
    complete_bandwidth,
    complete_data,
)
from modeclust.cli.tables import Table, read_table, write_columns
from modeclust.datasets import DATASETS
from modeclust.estimators.saving import write_model
from modeclust.exceptions import ScaledModelWarning
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import RULES

IRIS = load_iris()
FRAME = pl.DataFrame(IRIS.data, schema=["sl", "sw", "pl", "pw"]).with_columns(
    kind=pl.Series(IRIS.target_names[IRIS.target].tolist())
)
QUICK = ["-k", "3", "--n-bandwidths", "3", "--n-init", "2"]
FILES = ["centers.csv", "labels.csv", "model.npz", "path.csv", "report.html", "report.json"]


class Report:
    """Stands in for the report, which has tests of its own."""

    def save(self, path):
        Path(path).write_text("{}")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder with data in it, where commands of this process run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder, "report", lambda fit, **_: Report())
    FRAME.write_csv("iris.csv")
    return tmp_path


def names(path="."):
    return sorted(file.name for file in Path(path).iterdir())


def test_names_in_the_options_are_those_of_the_library():
    assert tuple(DATASETS) == BUILT_IN
    assert list(Kernel) == list(KERNELS)
    assert set(BANDWIDTHS) == {*RULES, "inf"}
    assert list(ENDINGS) == formats.ENDINGS


@pytest.mark.parametrize("command", get_command(app).commands)
def test_every_command_has_help_with_an_example(command):
    output = invoke(command, "--help").stdout
    assert "Examples" in output
    assert f"modeclust {command}" in output


def test_help_is_quick_since_it_imports_little():
    code = """
import sys
from modeclust.__main__ import main
sys.argv = ["modeclust", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
assert not {"sklearn", "scipy", "polars"} & sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fit" in done.stdout
    assert "\x1b" not in done.stdout


def test_without_typer_one_line_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from modeclust.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: the command line needs typer; pip install 'modeclust[cli]'\n"


def test_completion(here):
    assert list(complete_bandwidth("s")) == ["silverman", "scott"]
    assert list(complete_data("iri")) == ["iris", "iris.csv"]
    assert list(complete_data(f"{here}/ir")) == [f"{here}/iris.csv"]


def test_fit_writes_a_folder(here):
    output = invoke("fit", "iris.csv", *QUICK, "--label-column", "kind").stdout
    assert "iris.csv: 150 rows x 4 features" in output
    assert "setosa, 100%" in output
    assert re.search(r"exemplar row *\n.*\(from 0\)", output)
    assert names("iris.modes") == FILES
    assert names() == ["iris.csv", "iris.modes"]
    model = load("iris.modes/model.npz")
    labels = pl.read_csv("iris.modes/labels.csv")
    assert labels["label"].to_list() == model.labels_.tolist()
    centers = pl.read_csv("iris.modes/centers.csv")
    assert centers.columns == ["cluster", "count", "sl", "sw", "pl", "pw"]
    np.testing.assert_allclose(centers.to_numpy()[:, 2:], model.cluster_centers_)
    path = pl.read_csv("iris.modes/path.csv")
    assert path.columns[-4:] == ["sl", "sw", "pl", "pw"]
    assert len(path) == 4 * 3


@pytest.mark.parametrize("data", ["moons", "iris.csv"])
def test_json_is_all_there_is_on_the_standard_output(data, here):
    columns = ["--columns", "pl,pw", "--label-column", "kind"] if data == "iris.csv" else []
    told = json.loads(invoke("fit", data, *QUICK, *columns, "--json", "-o", "out").stdout)
    assert (told["n_features"], told["n_clusters"]) == (2, 3)
    assert sum(cluster["count"] for cluster in told["clusters"]) == told["n_rows"]
    assert told["files"] == FILES
    assert told["folder"] == "out"
    infinite = invoke("fit", data, *QUICK, *columns, "--json", "--force", "--bandwidth", "inf")
    assert json.loads(infinite.stdout)["bandwidth"] is None


def test_standardized_models_answer_in_the_units_of_the_data(here):
    scale = np.array([1.0, 100.0, 1e-3, 1.0])
    frame = FRAME.with_columns(
        *(pl.col(name) * s for name, s in zip(["sl", "sw", "pl", "pw"], scale, strict=True)),
        constant=pl.lit(5.0),
    )
    frame.write_csv("scaled.csv")
    invoke("fit", "scaled.csv", *QUICK, "--label-column", "kind", "--standardize")
    centers = pl.read_csv("scaled.modes/centers.csv")
    assert centers["constant"].to_list() == [5, 5, 5]
    assert frame["sw"].min() < centers["sw"].min() <= centers["sw"].max() < frame["sw"].max()
    path = pl.read_csv("scaled.modes/path.csv")
    np.testing.assert_array_equal(path["sw"][-3:], centers["sw"])
    told = json.loads(invoke("info", "scaled.modes", "--json").stdout)
    np.testing.assert_allclose(told["means"], frame.drop("kind").mean().row(0))
    assert told["scales"][-1] == 1
    frame.select("pw", "kind", "constant", "sl", "pl", "sw").write_parquet("new.parquet")
    invoke("predict", "scaled.modes", "new.parquet", "-o", "new.npy")
    with pytest.warns(ScaledModelWarning, match=r"model\.scaling_\.transform\(X\)"):
        model = load("scaled.modes/model.npz")
    assert np.load("new.npy").tolist() == model.labels_.tolist()
    rows = model.scaling_.transform(frame.drop("kind"))
    assert model.predict(rows).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(
        model.scaling_.inverse_transform(model.cluster_centers_), centers.to_numpy()[:, 2:]
    )
    model.save("again.npz")
    invoke("predict", "again.npz", "new.parquet", "-o", "again.npy")
    assert np.load("again.npy").tolist() == model.labels_.tolist()


def test_models_know_the_columns_that_a_file_names(here):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    model = load("iris.modes/model.npz")
    assert model.feature_names_in_.tolist() == ["sl", "sw", "pl", "pw"]
    assert "pw" in model.path_.to_frame("dict")
    assert model.predict(FRAME.drop("kind")).tolist() == model.labels_.tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME.select("pw", "pl", "sw", "sl"))
    assert invoke("predict", "iris.modes", "iris.csv", "-o", "new.csv").stderr == ""
    np.save("plain.npy", IRIS.data)
    for data in ("plain.npy", "iris"):
        invoke("fit", data, *QUICK, "-o", f"of-{data}")
        assert not hasattr(load(f"of-{data}/model.npz"), "feature_names_in_")


def test_a_model_of_a_frame_takes_columns_by_name_in_silence(here):
    KModes(3, n_bandwidths=3, n_init=2).fit(FRAME.drop("kind")).save("model.npz")
    result = invoke("predict", "model.npz", "iris.csv", "-o", "new.csv")
    assert result.stderr == ""
    labels = pl.read_csv("new.csv")["label"]
    assert labels.to_list() == load("model.npz").labels_.tolist()


def test_standardized_sparse_data_stays_sparse(here):
    X = sparse.csr_array(np.where(IRIS.data > 1, IRIS.data, 0) * [1, 10, 100, 1000])
    mmwrite("data.mtx", X)
    invoke("fit", "data.mtx", *QUICK, "--standardize")
    invoke("predict", "data.modes", "data.mtx", "-o", "new.mtx")
    assert (mmread("new.mtx") == mmread("data.modes/labels.mtx")).all()
    told = json.loads(invoke("info", "data.modes", "--json").stdout)
    assert told["means"] is None
    np.testing.assert_allclose(told["scales"], X.toarray().std(axis=0))


def test_weights_count(here):
    FRAME.with_columns(w=pl.Series(np.where(IRIS.target == 0, 5, 1))).write_csv("iris.csv")
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind", "--weight-column", "w")
    X, weight = FRAME.drop("kind").to_numpy(), np.where(IRIS.target == 0, 5, 1)
    model = KModes(3, n_bandwidths=3, n_init=2, random_state=0).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(
        load("iris.modes/model.npz").cluster_centers_, model.cluster_centers_
    )


@pytest.mark.parametrize("more", [[], ["--standardize"], ["--standardize", "--stream"]])
def test_rows_that_all_weigh_nothing_are_refused(more, here):
    frame = FRAME.with_columns(w=pl.lit(0.0)).drop("kind")
    frame.write_parquet("iris.parquet")
    done = invoke("fit", "iris.parquet", *QUICK, "--weight-column", "w", *more, code=2)
    last = done.stderr.splitlines()[-1]
    assert last == "error: --weight-column must contain at least one non-zero number."


def test_predict_takes_columns_by_name(here):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    FRAME.select("kind", "pw", "pl", "sw", "sl").write_csv("other.tsv", separator="\t")
    told = json.loads(invoke("predict", "iris.modes", "other.tsv", "-o", "a.csv", "--json").stdout)
    assert told["counts"] == load("iris.modes/model.npz").counts_.tolist()
    assert Path("a.csv").read_bytes() == Path("iris.modes/labels.csv").read_bytes()
    FRAME.drop("pw", "sl").write_csv("less.csv")
    assert "no column 'sl', 'pw'" in refused("predict", "iris.modes", "less.csv", "-o", "b.csv")
    assert "is there already" in refused("predict", "iris.modes", "iris.csv", "-o", "a.csv")
    assert "must end in one of" in refused("predict", "iris.modes", "iris.csv", "-o", "b.xyz")
    Path("x.csv").mkdir()
    assert "is a folder" in refused("predict", "iris.modes", "iris.csv", "--force", "-o", "x.csv")
    Path("x.csv").rmdir()
    invoke("predict", "iris.modes/model.npz", "iris.csv", "-o", "a.csv", "--force")
    assert names() == ["a.csv", "iris.csv", "iris.modes", "less.csv", "other.tsv"]


def test_columns_that_are_left_out_are_not_asked_for_again(here):
    FRAME.with_columns(day=pl.lit("2020-01-31")).write_csv("days.csv")
    assert "'kind' holds text, e.g. 'setosa', and not numbers; leave it out with --exclude" in (
        refused("fit", "days.csv", *QUICK)
    )
    invoke("fit", "days.csv", *QUICK, "--exclude", "kind, day")
    FRAME.drop("kind").write_csv("less.csv")
    invoke("predict", "days.modes", "less.csv", "-o", "new.csv")
    assert Path("new.csv").read_bytes() == Path("days.modes/labels.csv").read_bytes()
    told = json.loads(invoke("fit", "wine", *QUICK, "--exclude", "hue,ash", "--json").stdout)
    assert told["n_features"] == 11


def test_ids_are_carried_beside_the_labels(here):
    frame = FRAME.with_columns(id=pl.Series([f"r{i}" for i in range(150)]), n=pl.arange(150))
    frame.write_csv("named.csv")
    for column in ("id", "n"):
        options = ("--exclude", "kind", "--columns", "sl,sw,pl,pw", "--id-column", column)
        invoke("fit", "named.csv", *QUICK, *options, "-o", column)
        labels = pl.read_csv(f"{column}/labels.csv")
        assert labels.columns == [column, "label"]
        assert labels[column].to_list() == frame[column].to_list()
        assert labels["label"].to_list() == load(f"{column}/model.npz").labels_.tolist()
        invoke("predict", column, "named.csv", "--id-column", column, "-o", f"{column}.csv")
        assert Path(f"{column}.csv").read_bytes() == Path(column, "labels.csv").read_bytes()
    frame.rename({"id": "label"}).write_csv("named.csv")
    asked = ("predict", "n", "named.csv", "--id-column", "label")
    invoke(*asked, "-o", "l.npz")
    with np.load("l.npz") as file:
        assert file.files == ["label", "label_"]
        assert file["label"][3] == "r3"
    assert "--id-column needs labels in a file that ends in" in refused(*asked, "-o", "l.npy")
    np.save("data.npy", IRIS.data)
    assert "got .npy" in refused("fit", "data.npy", *QUICK, "--id-column", "x0")


def test_predict_knows_built_in_data(here):
    invoke("fit", "wine", *QUICK, "--columns", "alcohol,hue", "-o", "out")
    invoke("predict", "out", "wine", "-o", "new.csv")
    assert Path("new.csv").read_bytes() == Path("out/labels.csv").read_bytes()


def test_mean_shift_models_have_predict_and_info(here):
    MeanShift(bandwidth=0.8).fit(IRIS.data).save("model.npz")
    np.save("new.npy", IRIS.data)
    invoke("predict", "model.npz", "new.npy", "-o", "labels.npy")
    assert np.load("labels.npy").tolist() == load("model.npz").labels_.tolist()
    assert "MeanShift of modeclust" in invoke("info", "model.npz").stdout


def test_models_saved_in_python_have_predict_and_info_too(here):
    KModes(3, bandwidth=np.inf, n_init=2, init=IRIS.data[:3]).fit(IRIS.data).save("model.npz")
    np.save("new.npy", IRIS.data)
    invoke("predict", "model.npz", "new.npy", "-o", "labels.npz")
    with np.load("labels.npz") as file:
        assert file["label"].tolist() == load("model.npz").labels_.tolist()
    output = invoke("info", "model.npz").stdout
    assert "bandwidth: infinite (K-means)" in output
    assert json.loads(invoke("info", "model.npz", "--json").stdout)["parameters"]["n_init"] == 2
    assert "--exclude" in refused("predict", "model.npz", "iris.csv", "-o", "b.csv")
    invoke("predict", "model.npz", "iris.csv", "--exclude", "kind", "-o", "named.npy")
    assert np.load("named.npy").tolist() == load("model.npz").labels_.tolist()
    np.save("less.npy", IRIS.data[:, :3])
    assert "expecting 4 features" in refused("predict", "model.npz", "less.npy", "-o", "b.csv")
    assert "is no model" in refused("info", "iris.csv")
    assert "No such file" in refused("info", "absent.npz")
    Path("folder").mkdir()
    assert "'folder' has no model.npz; name the folder that `fit` wrote" in refused(
        "info", "folder"
    )
    assert "this is a model" in refused("fit", "model.npz", "-k", "2")


def test_explore_writes_a_page_and_opens_it(here, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    assert "iris-report.html" in invoke("explore", "iris", *QUICK).stdout
    assert opened == [(here / "iris-report.html").as_uri()]
    assert "is there already" in refused("explore", "iris", *QUICK)
    assert "must end in .html" in refused("explore", "iris", *QUICK, "-o", "page.csv")
    told = json.loads(invoke("explore", "iris", *QUICK, "--force", "--no-open", "--json").stdout)
    assert told["page"] == "iris-report.html"
    assert len(opened) == 1
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert "no browser" in invoke("explore", "iris", *QUICK, "--force").stderr


def test_a_page_names_centers_csv_only_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke("fit", "iris", *QUICK, "--standardize")
    notes = json.loads(Path("iris.modes/report.json").read_text())["notes"]
    assert "of scaled columns; those of centers.csv are in the units of the data" in notes[-1]
    invoke("explore", "iris", *QUICK, "--standardize", "--no-open")
    page = Path("iris-report.html").read_text()
    assert "Values here are of scaled columns." in page
    assert "centers.csv" not in page


def test_force_replaces_nothing_but_its_own(here):
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


def test_force_replaces_no_folder_of_others_with_such_names(here):
    Path("mine").mkdir()
    Path("mine/labels.csv").write_text("by hand")
    asked = ("fit", "iris", *QUICK, "-o", "mine", "--force")
    assert "'mine' holds 'labels.csv', and does not look as `fit` leaves it" in refused(*asked)
    np.savez("mine/model.npz", weights=np.zeros(3))
    assert "does not look as `fit` leaves it" in refused(*asked)
    Path("mine/model.npz").write_text("a model of something else")
    assert "does not look as `fit` leaves it" in refused(*asked)
    assert Path("mine/labels.csv").read_text() == "by hand"
    invoke("fit", "iris", *QUICK, "-o", "out")
    invoke("predict", "out", "iris", "-o", "out/labels.parquet")
    assert "'labels.parquet'" in refused("fit", "iris", *QUICK, "-o", "out", "--force")
    Path("out/labels.parquet").unlink()
    Path("out/report.html").unlink()
    invoke("fit", "iris", *QUICK, "-o", "out", "--force")
    assert names("out") == FILES


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_folder(error, here, monkeypatch):
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


def test_a_failed_swap_puts_the_old_folder_back(here, monkeypatch):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iris.csv"], "Column 'kind' holds text"),
        (["iris.csv", "--columns", "sl,pww"], "no column 'pww'; did you mean 'pw'"),
        (["iris.csv", "--columns", "sl", "--label-column", "knd"], "did you mean 'kind'"),
        (["iris.csv", "--columns", "sl", "-k", "0"], "'--clusters': .*1"),
        (
            ["iris.csv", "--columns", "sl", "-k", "151"],
            "--clusters=151 is more .* rows, 150; lower --cl",
        ),
        (["iris", "--bandwidth", "0"], "--bandwidth must be a number > 0"),
        (["iris", "--bandwidth", "nan"], "--bandwidth must be a number > 0"),
        (["iris", "--bandwidth", "kn"], "--bandwidth must be .* one of knn"),
        (["iris", "--image", "8"], "--image must be HEIGHTxWIDTH"),
        (["iris", "--image", "8x8"], "--image 8x8 needs 64 columns, got 4"),
        (["iris", "--jobs", "0"], "--jobs must not be 0; pass -1 for all cores"),
        (["iris", "--seed", "-1"], "'--seed': .* 0"),
        (["iris", "--n-init", "0"], "'--n-init': .*1"),
        (["iris", "--n-bandwidths", "0"], "'--n-bandwidths': .*1"),
        (["iris", "--columns", "x,x"], "must name a column once"),
        (["irs", "-o", "out"], "did you mean 'iris'"),
        ([""], "No built-in data ''; there are"),
        (["iris", "--label-column", "x"], "has no columns of labels"),
        (["iris", "--columns", "x9"], "'iris' has no column 'x9'"),
        (["irs"], "No built-in data 'irs'; .* did you mean 'iris'"),
        (["absent.csv"], "'absent.csv': No such file or directory"),
        (["data.xlsx"], "must end in one of"),
        (["empty.csv"], "the file is empty"),
        (["header.csv"], "a header and no rows"),
        (["gaps.csv"], "Column 'b' of 'gaps.csv' has 2 missing or infinite values, first in row 2"),
        (["latin.csv"], "not UTF-8"),
        (["false.parquet"], r"cannot be read as the \.parquet file"),
        (["false.npy"], r"cannot be read as the \.npy file"),
        (["negative.csv", "--weight-column", "w"], "'w' of 'negative.csv' .* negative .* row 2"),
        (["zero.csv", "--weight-column", "w"], "--weight-column must contain at least one non-z"),
        (["folder.csv"], "Is a directory"),
        (["same.csv"], "distinct"),
    ],
)
def test_bad_input_gets_one_line_and_leaves_nothing(arguments, message, here):
    Path("empty.csv").touch()
    Path("header.csv").write_text("a,b\n")
    Path("gaps.csv").write_text("a,b\n1,2\n3,\n4,NA\n5,6\n")
    Path("latin.csv").write_bytes("a,é\n1,2\n".encode("latin1"))
    Path("false.parquet").write_text("a,b\n1,2\n")
    Path("false.npy").write_text("a,b\n1,2\n")
    Path("negative.csv").write_text("a,w\n1,1\n2,-1\n3,1\n4,1\n")
    Path("zero.csv").write_text("a,w\n1,0\n2,0\n3,0\n4,0\n")
    Path("same.csv").write_text("a,b\n1,1\n1,1\n1,1\n1,1\n")
    Path("folder.csv").mkdir()
    before = names()
    assert re.search(message, refused("fit", *QUICK, *arguments))
    assert names() == before


def test_the_library_speaks_of_options(here):
    said = [
        ("n_clusters=9 is more; lower n_clusters.", "--clusters=9 is more; lower --clusters."),
        ("Use a larger bandwidth or kernel='g'.", "Use a larger bandwidth or --kernel='g'."),
        ("bandwidth=2 is too large; np.inf to KModes", "--bandwidth=2 is too large; inf"),
        ("passed to `sample_weight`.", "passed to --weight-column."),
        (
            "'n_jobs.npz' is no model, n_jobs no 'n_init'",
            "'n_jobs.npz' is no model, --jobs no 'n_init'",
        ),
    ]
    for library, command in said:
        assert printing.reason(ValueError(library)) == command
        assert printing.reason(TableError(library)) == library
    told = invoke("fit", "iris", *QUICK, "--kernel", "biweight", "--bandwidth", "1e-9").stderr
    assert "--kernel='gaussian'" in told


def test_usage_errors_are_one_line_with_a_hint(here):
    for arguments in (
        ["fit", "iris"],
        ["fit", "iris", "-k", "x"],
        ["fit", "iris", "-k", "3", "--kernel", "nope"],
        ["fit", "--no"],
        ["predict", "a", "b"],
    ):
        assert refused(*arguments).endswith(f" {arguments[0]} --help)\n")
    assert refused("nothing").startswith("error: No such command 'nothing' (")
    assert "Usage:" in invoke(code=2).output
    assert invoke("--version").output.startswith("modeclust ")


def test_a_model_whose_notes_do_not_fit_is_refused(here):
    model = KModes(3, n_bandwidths=3, n_init=2, random_state=0).fit(IRIS.data)
    for notes in (
        {"columns": ["a"]},
        {"columns": "abcd"},
        {"columns": [1, 2, 3, 4]},
        {"classes": [1, 2, 3]},
        {"data": 5},
    ):
        write_model("model.npz", model, notes)
        (name,) = notes
        assert f"'model.npz' holds no usable model: the note '{name}'" in refused(
            "info", "model.npz"
        )


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_very_large_values(here):
    rows = np.random.RandomState(0).rand(30, 2) * 1e308
    np.save("data.npy", rows)
    told = json.loads(invoke("fit", "data.npy", *QUICK, "--json").stdout)
    assert told["inertia"] is None
    invoke("predict", "data.modes", "data.npy", "-o", "new.npy")
    assert json.loads(invoke("info", "data.modes", "--json").stdout)["n_clusters"] == 3


@pytest.mark.slow
def test_a_name_that_is_not_utf_8(tmp_path):
    name = os.fsdecode(b"iris-\xff")
    FRAME.drop("kind").write_csv(tmp_path / "iris.csv")
    (tmp_path / "iris.csv").rename(tmp_path / f"{name}.csv")
    done = run("fit", f"{name}.csv", *QUICK, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["data"], told["folder"]) == ("iris-\ufffd.csv", "iris-\ufffd.modes")
    assert names(tmp_path) == [f"{name}.csv", f"{name}.modes"]
    report = json.loads((tmp_path / f"{name}.modes" / "report.json").read_text())
    assert report["title"] == "iris-\ufffd.csv"
    done = run("explore", f"{name}.csv", *QUICK, "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"{name}-report.html").exists()
    done = run("predict", f"{name}.modes", f"{name}.csv", "-o", f"{name}.npy", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        pytest.param(["--version"], marks=pytest.mark.slow),
        pytest.param(["info", "out"], marks=pytest.mark.slow),
        ["info", "out", "--json"],
    ],
)
def test_a_closed_pipe_is_met_in_silence(arguments, here):
    invoke("fit", "iris", *QUICK, "-o", "out")
    buffered = {name: v for name, v in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "modeclust", *arguments],
        env=buffered,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_hostile_names_are_printed_as_they_are(here):
    hostile = "[bold]x\x1b[31m\u202e"
    frame = FRAME.rename({"sl": hostile}).with_columns(
        kind=pl.lit("[red]class[/]\x1b]0;title\x07 <script>")
    )
    frame.write_parquet("[bold]data.parquet")
    output = invoke("fit", "[bold]data.parquet", *QUICK, "--label-column", "kind").stdout
    assert "[bold]data.parquet: 150 rows" in output
    assert r"[red]class[/]\x1b]0;title\x07" in output.replace("\n", "")
    output = invoke("info", "[bold]data.modes").stdout
    assert r"[bold]x\x1b[31m\u202e" in output
    assert "Column 'kind' holds text, e.g. '[red]class" in refused(
        "fit", "[bold]data.parquet", *QUICK, "-o", "out"
    )
    assert pl.read_csv(Path("[bold]data.modes/centers.csv").read_bytes()).columns[2] == hostile


def test_warnings_are_one_line_each(here):
    FRAME.drop("kind").write_csv("plain.csv", include_header=False)
    result = invoke("fit", "plain.csv", *QUICK)
    assert re.fullmatch(r"note: the first line holds numbers [^\n]+\n", result.stderr)
    told = json.loads(invoke("fit", "plain.csv", *QUICK, "--force", "--json").stdout)
    assert (len(told["notices"]), told["warnings"]) == (1, [])
    told = invoke("fit", "iris", *QUICK, "--kernel", "biweight", "--bandwidth", "1e-9").stderr
    assert re.fullmatch(r"(warning: [^\n]+\n)+", told)


def test_how_the_first_line_is_read_is_told_before_the_fit(here, monkeypatch):
    FRAME.drop("kind").write_csv("plain.csv", include_header=False)
    invoke("fit", "plain.csv", *QUICK)
    result = invoke("predict", "plain.modes", "plain.csv", "-o", "new.csv")
    assert result.stderr.startswith("note: the first line holds numbers")
    monkeypatch.setattr(KModes, "fit", lambda *_, **__: 1 / 0)
    told = []
    monkeypatch.setattr(job, "tell", lambda *words: told.append(words))
    with pytest.raises(ZeroDivisionError):
        invoke("fit", "plain.csv", *QUICK, "--force")
    assert told[0][0] == "note"


def test_a_header_of_numbers_is_named_as_one(here):
    FRAME.drop("kind").rename(dict(zip(["sl", "sw", "pl", "pw"], "2468", strict=True))).write_csv(
        "years.csv"
    )
    told = json.loads(invoke("fit", "years.csv", *QUICK, "--header", "--json").stdout)
    assert (told["n_rows"], told["notices"]) == (150, [])
    result = invoke("predict", "years.modes", "years.csv", "--header", "-o", "new.csv")
    assert result.stderr == ""
    assert Path("new.csv").read_bytes() == Path("years.modes/labels.csv").read_bytes()
    told = json.loads(
        invoke("fit", "years.csv", *QUICK, "--no-header", "-o", "out", "--json").stdout
    )
    assert told["n_rows"] == 151
    assert "leave out --header" in refused("fit", "iris", *QUICK, "--header", "-o", "b")
    with_names = ("predict", "years.modes", "years.csv", "-o", "b.csv")
    assert invoke(*with_names, code=2).stderr.splitlines()[0].endswith("pass --header")


def test_a_table_with_semicolons_and_decimal_commas(here):
    content = FRAME.drop("kind").write_csv(separator=";").replace(".", ",")
    Path("semi.csv").write_text(content)
    assert "pass --separator ';'" in refused("fit", "semi.csv", *QUICK)
    assert "--decimal-comma" in refused("fit", "semi.csv", *QUICK, "--separator", ";")
    how = ("--separator", ";", "--decimal-comma")
    invoke("fit", "semi.csv", *QUICK, *how)
    invoke("predict", "semi.modes", "semi.csv", *how, "-o", "new.csv")
    assert Path("new.csv").read_bytes() == Path("semi.modes/labels.csv").read_bytes()
    invoke("fit", "iris.csv", *QUICK, "--exclude", "kind")
    assert Path("new.csv").read_bytes() == Path("iris.modes/labels.csv").read_bytes()


def test_columns_of_very_uneven_scales_get_a_hint(here):
    FRAME.drop("kind").with_columns(pl.col("pw") * 1000).write_csv("uneven.csv")
    result = invoke("fit", "uneven.csv", *QUICK, "--json")
    assert re.fullmatch(
        r"note: columns differ in scale: 'pw' varies 1,\d+ times as much as 'sw' [^\n]+\n",
        result.stderr,
    )
    assert "--standardize" in json.loads(result.stdout)["notices"][0]
    assert invoke("fit", "uneven.csv", *QUICK, "--standardize", "--force").stderr == ""


def test_even_columns_get_no_hint():
    rows = np.random.RandomState(0).rand(50, 8)
    names = [f"x{j}" for j in range(8)]
    assert job.uneven_scales(Table(rows * [1, 50, 1, 1, 1, 1, 1, 1], names)) is None
    assert job.uneven_scales(Table(rows * [1e-9, 1, 1, 1, 1, 1, 1, 1], names)) is None
    assert job.uneven_scales(Table(rows * [0, 1, 1, 1, 1, 1, 1, 1], names)) is None
    assert job.uneven_scales(Table(rows[:, :1], names[:1])) is None
    uneven = rows * [1, 1000, 1, 1, 1, 1, 1, 1]
    assert "'x1' varies" in job.uneven_scales(Table(uneven, names))
    assert job.uneven_scales(Table(sparse.csr_array(uneven), names)) is None
    assert job.uneven_scales(Table(uneven, names, image_shape=(2, 4))) is None


def test_progress_is_shown_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(printing, "console", lambda **_: terminal)
    fit = job.run(Job("iris", 3, n_bandwidths=3, n_init=2), show_progress=True)
    assert "k-means" in screen.getvalue()
    assert "path" in screen.getvalue()
    assert "_skl_callbacks" not in vars(fit.model)


def start(*arguments, cwd, **options):
    """Start a command as a process of its own, which imports what this one does."""
    source = str(Path(modeclust.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "modeclust", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": source, "BROWSER": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(*arguments, cwd, **options):
    """Run a command as a process of its own; return its code and what it printed."""
    with start(*arguments, cwd=cwd, **options) as process:
        output, errors = process.communicate()
    return Done(process.returncode, output, errors)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


OTHERS = ("parquet", "tsv.gz", "feather", "npy", "npz", "mtx")


@pytest.mark.parametrize(
    "ending", ["csv", *(pytest.param(e, marks=pytest.mark.slow) for e in OTHERS)]
)
def test_every_format_in_a_process_of_its_own(ending, tmp_path):
    name, labels = f"data.{ending}", f"labels.{ending}"
    X = FRAME.drop("kind").to_numpy()
    if ending == "npy":
        np.save(tmp_path / name, X)
    elif ending == "npz":
        np.savez(tmp_path / name, X=X)
    elif ending == "mtx":
        mmwrite(tmp_path / name, sparse.csr_array(X))
    else:
        write_columns(tmp_path / name, FRAME.drop("kind").to_dict(as_series=False))
    done = run("fit", name, *QUICK, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["files"] == sorted({*FILES} - {"labels.csv"} | {labels})
    assert names(tmp_path) == sorted([name, "data.modes"])
    assert json.loads((tmp_path / "data.modes" / "report.json").read_text())["n_rows"] == 150
    if ending != "npz":
        assert read_table(tmp_path / "data.modes" / labels).X.shape == (150, 1)


def test_explore_and_demo_in_processes_of_their_own(tmp_path):
    done = run("explore", "moons", *QUICK, "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    done = run("demo", "-o", "demo", "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path) == ["demo", "moons-report.html"]
    assert "demo/report.html" in done.stdout


@pytest.mark.posix
def test_a_full_disk_leaves_no_folder(tmp_path):
    def limit():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))

    done = run("fit", "iris", *QUICK, cwd=tmp_path, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: 'iris\.modes/report\.html': File too large\n", done.stderr)
    assert names(tmp_path) == []


@pytest.mark.posix
def test_predict_and_info_in_processes_of_their_own(here, monkeypatch):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    done = run("predict", "iris.modes", "iris.csv", "-o", "new.csv", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("new.csv").read_bytes() == Path("iris.modes/labels.csv").read_bytes()
    done = run("info", "iris.modes", "--json", cwd=here)
    assert "setosa" in json.loads(done.stdout)["classes"]

    def limit():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # it writes files too
    done = run("predict", "iris.modes", "iris.csv", "-o", "full.csv", cwd=here, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: File too large .*'full\.csv'\n", done.stderr)
    assert names() == ["iris.csv", "iris.modes", "new.csv"]


@pytest.mark.posix
def test_a_place_that_cannot_be_written_to(here):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    for place in ("/proc/labels.csv", "/dev/full/labels.csv"):
        message = refused("predict", "iris.modes", "iris.csv", "-o", place)
        assert str(Path(place).parent) in message


@pytest.mark.posix
def test_an_interrupt_leaves_nothing(tmp_path):
    arguments = ("fit", "digits", "-k", "10", "--n-init", "10000000")
    with start(*arguments, cwd=tmp_path) as process:
        time.sleep(8)  # by then it is fitting
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output == ""
    assert errors == "error: interrupted\n"
    assert names(tmp_path) == []


@pytest.mark.posix
def test_an_interrupted_fit_goes_on_from_its_checkpoint(tmp_path):
    arguments = (
        "fit",
        "digits",
        "-k",
        "10",
        "--n-init",
        "20",
        "--checkpoint",
        "digits.c",
        "--json",
    )
    whole = run(*arguments, "-o", "whole", cwd=tmp_path)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert names(tmp_path) == ["whole"]
    with start(*arguments, "-o", "out", cwd=tmp_path) as process:
        while process.poll() is None and not (tmp_path / "digits.c").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (130, "")
    assert errors == "note: the same command goes on from digits.c\nerror: interrupted\n"
    assert names(tmp_path) == ["digits.c", "whole"]
    done = run(*arguments, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert re.fullmatch(r"note: going on from digits\.c: \d+ restarts done\n", done.stderr)
    assert names(tmp_path) == ["out", "whole"]
    for name in ("centers.csv", "labels.csv", "path.csv", "report.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_checkpoint_that_is_none_is_refused_and_left_alone(here):
    content = Path("iris.csv").read_bytes()
    assert "'iris.csv' is no checkpoint" in refused(
        "fit", "iris", *QUICK, "--checkpoint", "iris.csv"
    )
    assert Path("iris.csv").read_bytes() == content
    assert "does not exist" in refused("fit", "iris", *QUICK, "--checkpoint", "absent/c")
    model = KModes(
        3, n_bandwidths=3, n_init=2, random_state=0, checkpoint="c", keep_checkpoint=True
    )
    model.fit(IRIS.data)
    content = Path("c").read_bytes()
    result = invoke("fit", "wine", *QUICK, "--checkpoint", "c", code=2)
    assert result.stderr.splitlines()[0] == "note: going on from c: 3 of 3 bandwidths done"
    assert "another fit: the shape of X is (150, 4) there and (178, 13) here" in result.stderr
    assert Path("c").read_bytes() == content
    assert "is no model" in refused("info", "c")
    invoke("fit", "iris", *QUICK, "--checkpoint", "c", "-o", "out")
    assert names() == ["iris.csv", "out"]
    np.testing.assert_array_equal(load("out/model.npz").path_.centers, model.path_.centers)

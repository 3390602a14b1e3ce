"""`predict` and `info`: saved models."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import FRAME, IRIS, QUICK, invoke, names, refused, run
from scipy import sparse
from scipy.io import mmread, mmwrite

from modeclust import KModes, MeanShift, load, save
from modeclust.estimators.saving import write_model


def test_standardized_models_report_original_units(here):
    scale = np.array([1.0, 100.0, 1e-3, 1.0])
    frame = FRAME.with_columns(
        *(pl.col(name) * s for name, s in zip(["sl", "sw", "pl", "pw"], scale, strict=True)),
        constant=pl.lit(5.0),
    )
    frame.write_csv("scaled.csv")
    invoke("fit", "scaled.csv", *QUICK, "--label-column", "kind", "--raw", "--standardize")
    modes = pl.read_csv("scaled.modes/modes.csv")
    assert modes["constant"].to_list() == [5, 5, 5]
    assert frame["sw"].min() < modes["sw"].min() <= modes["sw"].max() < frame["sw"].max()
    path = pl.read_csv("scaled.modes/path.csv")
    np.testing.assert_array_equal(path["sw"][-3:], modes["sw"])
    results = json.loads(invoke("info", "scaled.modes", "--json").stdout)
    np.testing.assert_allclose(results["means"], frame.drop("kind").mean().row(0))
    assert results["scales"][-1] == 1
    frame.select("pw", "kind", "constant", "sl", "pl", "sw").write_parquet("new.parquet")
    invoke("predict", "scaled.modes", "new.parquet", "-o", "new.npy")
    model = load("scaled.modes/model.npz")
    labels = model[-1].labels_.tolist()
    assert np.load("new.npy").tolist() == labels
    assert model.predict(frame.drop("kind").to_pandas()).tolist() == labels
    np.testing.assert_array_equal(
        model[0].inverse_transform(model[-1].modes_), modes.to_numpy()[:, 3:]
    )
    save(model, "again.npz")
    invoke("predict", "again.npz", "new.parquet", "-o", "again.npy")
    assert np.load("again.npy").tolist() == labels


@pytest.mark.parametrize("name", ["new.csv", "new.parquet", "new.npz"])
def test_shares_and_outlier_scores_are_columns(here, name):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    model, asked = load("iris.modes/model.npz"), ("predict", "iris.modes", "iris.csv", "-o", name)
    invoke(*asked, "--proba", "--outliers")
    read = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".npz": np.load}[Path(name).suffix]
    table = read(name)
    columns = table.files if name.endswith("npz") else table.columns
    assert columns == ["label", "proba_0", "proba_1", "proba_2", "outlier_score"]
    shares = np.stack([table[f"proba_{k}"] for k in range(3)], axis=1)
    np.testing.assert_allclose(shares, model.predict_proba(FRAME.drop("kind")))
    np.testing.assert_allclose(table["outlier_score"], model.outlier_scores_)
    invoke(*asked, "--outliers", "--force")
    assert list(np.load(name) if name.endswith("npz") else read(name).columns)[1:] == [
        "outlier_score"
    ]


def test_shares_and_scores_of_streamed_data(here):
    invoke("fit", "iris", *QUICK)
    FRAME.drop("kind").write_parquet("new.parquet", row_group_size=40)
    names = dict(zip(["sl", "sw", "pl", "pw"], IRIS.feature_names, strict=True))
    FRAME.drop("kind").rename(names).write_parquet("new.parquet", row_group_size=40)
    options = ("predict", "iris.modes", "new.parquet", "--proba", "--outliers")
    invoke(*options, "-o", "whole.csv")
    invoke(*options, "-o", "streamed.csv", "--stream")
    whole, streamed = pl.read_csv("whole.csv"), pl.read_csv("streamed.csv")
    assert whole.columns == streamed.columns
    np.testing.assert_allclose(whole.to_numpy(), streamed.to_numpy(), atol=1e-9)


def test_shares_and_scores_need_columns_and_a_model_that_has_them(here):
    invoke("fit", "iris", *QUICK)
    asked = ("predict", "iris.modes", "iris", "-o", "new.npy")
    assert "--proba needs labels in a format with several" in refused(*asked, "--proba")
    assert "--outliers needs labels in a format with several" in refused(*asked, "--outliers")
    MeanShift(1.0).fit(IRIS.data).save("shift.npz")
    asked = ("predict", "shift.npz", "iris", "-o", "new.csv")
    invoke(*asked, "--proba")
    assert "--outliers needs a KModes, got a MeanShift" in refused(*asked, "--outliers", "--force")


def test_models_keep_the_column_names_of_the_file(here):
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


def test_a_model_fitted_on_a_frame_selects_columns_by_name(here):
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
    results = json.loads(invoke("info", "data.modes", "--json").stdout)
    assert results["means"] is None
    np.testing.assert_allclose(results["scales"], X.toarray().std(axis=0))


def test_predict_selects_columns_by_name(here):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    FRAME.select("kind", "pw", "pl", "sw", "sl").write_csv("other.tsv", separator="\t")
    results = json.loads(
        invoke("predict", "iris.modes", "other.tsv", "-o", "a.csv", "--json").stdout
    )
    assert results["counts"] == load("iris.modes/model.npz").counts_.tolist()
    assert Path("a.csv").read_bytes() == Path("iris.modes/labels.csv").read_bytes()
    FRAME.drop("pw", "sl").write_csv("less.csv")
    assert "no column 'sl', 'pw'" in refused("predict", "iris.modes", "less.csv", "-o", "b.csv")
    assert "already exists" in refused("predict", "iris.modes", "iris.csv", "-o", "a.csv")
    assert "must end in one of" in refused("predict", "iris.modes", "iris.csv", "-o", "b.xyz")
    Path("x.csv").mkdir()
    assert "is a folder" in refused("predict", "iris.modes", "iris.csv", "--force", "-o", "x.csv")
    Path("x.csv").rmdir()
    invoke("predict", "iris.modes/model.npz", "iris.csv", "-o", "a.csv", "--force")
    assert names() == ["a.csv", "iris.csv", "iris.modes", "less.csv", "other.tsv"]


def test_predict_does_not_need_excluded_columns(here):
    FRAME.with_columns(day=pl.lit("2020-01-31")).write_csv("days.csv")
    assert "'kind' contains text, e.g. 'setosa', instead of numbers; exclude it with --exclude" in (
        refused("fit", "days.csv", *QUICK, "--raw")
    )
    invoke("fit", "days.csv", *QUICK, "--exclude", "kind, day")
    FRAME.drop("kind").write_csv("less.csv")
    invoke("predict", "days.modes", "less.csv", "-o", "new.csv")
    assert Path("new.csv").read_bytes() == Path("days.modes/labels.csv").read_bytes()
    results = json.loads(invoke("fit", "wine", *QUICK, "--exclude", "hue,ash", "--json").stdout)
    assert results["n_features"] == 11


def test_ids_are_written_next_to_the_labels(here):
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
    assert "--id-column needs labels in a format with several columns" in refused(
        *asked, "-o", "l.npy"
    )
    np.save("data.npy", IRIS.data)
    assert "got .npy" in refused("fit", "data.npy", *QUICK, "--id-column", "x0")


def test_predict_on_a_built_in_dataset(here):
    invoke("fit", "wine", *QUICK, "--columns", "alcohol,hue", "-o", "out")
    invoke("predict", "out", "wine", "-o", "new.csv")
    assert Path("new.csv").read_bytes() == Path("out/labels.csv").read_bytes()


def test_mean_shift_models(here):
    MeanShift(bandwidth=0.8).fit(IRIS.data).save("model.npz")
    np.save("new.npy", IRIS.data)
    invoke("predict", "model.npz", "new.npy", "-o", "labels.npy")
    assert np.load("labels.npy").tolist() == load("model.npz").labels_.tolist()
    assert "MeanShift model, saved by modeclust" in invoke("info", "model.npz").stdout


def test_models_saved_in_python(here):
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
    assert "'folder' has no model.npz; pass the output folder of `modeclust fit`" in refused(
        "info", "folder"
    )
    assert "this is a model" in refused("fit", "model.npz", "-k", "2")


def test_a_model_with_invalid_notes_is_refused(here):
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


@pytest.mark.posix
def test_predict_and_info_in_separate_processes(here, monkeypatch):
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
def test_output_that_cannot_be_written(here):
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind")
    for place in ("/proc/labels.csv", "/dev/full/labels.csv"):
        message = refused("predict", "iris.modes", "iris.csv", "-o", place)
        assert str(Path(place).parent) in message

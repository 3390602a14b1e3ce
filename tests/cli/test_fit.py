"""`fit`: the data that it accepts, and the fit."""

import errno
import json
import os
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import FRAME, IRIS, QUICK, invoke, names, refused

from modeclust import KModes, load
from modeclust.cli import fit
from modeclust.cli.fit import fit_scaling


def test_weights_are_used(here):
    FRAME.with_columns(w=pl.Series(np.where(IRIS.target == 0, 5, 1))).write_csv("iris.csv")
    invoke("fit", "iris.csv", *QUICK, "--label-column", "kind", "--weight-column", "w")
    X, weight = FRAME.drop("kind").to_numpy(), np.where(IRIS.target == 0, 5, 1)
    model = KModes(3, n_init=2, random_state=0).fit(X, sample_weight=weight)
    found = load("iris.modes/model.npz")
    np.testing.assert_array_equal(found.cluster_centers_, model.cluster_centers_)
    np.testing.assert_array_equal(found.modes_, model.modes_)


def test_the_default_is_that_of_python(here):
    invoke("fit", "iris", "-k", "3")
    model = load("iris.modes/model.npz")
    assert (model.bandwidth, model.rows_per_mode, model.n_init) == ("auto", "auto", "auto")
    expected = KModes(3, random_state=0).fit(IRIS.data)
    np.testing.assert_array_equal(model.path_.centers, expected.path_.centers)


def test_rows_per_mode(here):
    options = ("-k", "3", "--rows-per-mode", "20", "--json")
    found = json.loads(invoke("fit", "iris", *options).stdout)
    model = KModes(3, rows_per_mode=20, random_state=0).fit(IRIS.data)
    np.testing.assert_array_equal(load("iris.modes/model.npz").modes_, model.modes_)
    for k, cluster in enumerate(found["clusters"]):
        assert cluster["rows_averaged"] == model.rows_averaged_[k]
        assert cluster["mode_bandwidth"] == model.mode_bandwidths_[k]
        moved = np.linalg.norm(model.modes_[k] - model.path_.centers[0, k])
        assert cluster["moved"] == pytest.approx(moved)
    assert (found["rule"], found["bandwidth"]) == ("auto", model.bandwidth_)
    means = invoke("fit", "iris", "-k", "3", "--rows-per-mode", "inf", "--force", "--json")
    clusters = json.loads(means.stdout)["clusters"]
    assert [cluster["mode_bandwidth"] for cluster in clusters] == [None] * 3
    assert all(cluster["rows_averaged"] == cluster["count"] for cluster in clusters)
    assert "--rows-per-mode applies only to --bandwidth auto, got --bandwidth knn" in refused(
        "fit", "iris", "-k", "3", "--rows-per-mode", "20", "--bandwidth", "knn", "-o", "out"
    )


def test_the_number_of_clusters_is_chosen(here):
    result = invoke("fit", "iris", "-k", "auto", "--json")
    found, model = json.loads(result.stdout), load("iris.modes/model.npz")
    assert found["n_clusters"] == model.n_clusters_ == 2
    assert found["suggestion"] == {
        "is_sure": True, "by_peaks": 2, "by_dips": 2, "by_shape": None, "answer": "2 clusters"
    }  # fmt: skip
    assert (
        "number of clusters: 2 clusters\n" in invoke("fit", "iris", "-k", "auto", "--force").stdout
    )
    assert (
        json.loads(invoke("fit", "iris", *QUICK, "--force", "--json").stdout)["suggestion"] is None
    )


def test_the_largest_number_of_clusters(here):
    result = invoke("fit", "iris", "-k", "auto", "--max-clusters", "2")
    assert load("iris.modes/model.npz").max_clusters == 2
    answer = "2 by peaks, 2 by dips, and --max-clusters=2 allows no more"
    assert f"number of clusters: not sure: {answer}; 2 are taken, -k chooses" in result.stdout


def test_it_says_that_the_number_of_clusters_is_not_sure(here):
    result = invoke("fit", "moons", "-k", "auto", "--bandwidth", "knn", "--n-bandwidths", "2")
    assert re.search(
        r"number of clusters: not sure: 2 by peaks, \d+ by dips; 2 are taken, -k chooses",
        result.stdout,
    )
    assert "cluster_suggestion_" not in result.stderr


def test_fewer_distinct_rows_than_clusters_give_a_warning(here):
    Path("same.csv").write_text("a,b\n1,1\n1,1\n1,1\n1,1\n")
    result = invoke("fit", "same.csv", *QUICK)
    assert re.fullmatch(
        r"warning: X has 1 distinct rows [^\n]*--clusters=3[^\n]*Lower --clusters\.\n",
        result.stderr,
    )
    assert sorted(load("same.modes/model.npz").counts_) == [0, 0, 4]


@pytest.mark.parametrize("more", [[], ["--standardize"], ["--standardize", "--stream"]])
def test_zero_weights_are_refused(more, here):
    frame = FRAME.with_columns(w=pl.lit(0.0)).drop("kind")
    frame.write_parquet("iris.parquet")
    done = invoke("fit", "iris.parquet", *QUICK, "--weight-column", "w", *more, code=2)
    last = done.stderr.splitlines()[-1]
    assert last == "error: --weight-column must contain at least one non-zero number."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iris.csv", "--raw"], "Column 'kind' contains text"),
        (["iris.csv", "--columns", "sl,pww"], "no column 'pww'; did you mean 'pw'"),
        (["iris.csv", "--columns", "sl", "--label-column", "knd"], "did you mean 'kind'"),
        (["iris.csv", "--columns", "sl", "-k", "0"], "--clusters must be auto or an integer > 0"),
        (
            ["iris.csv", "--columns", "sl", "-k", "151"],
            "--clusters=151 is more .* rows, 150; lower --cl",
        ),
        (["iris", "--bandwidth", "0"], "--bandwidth must be auto, a number > 0"),
        (["iris", "--bandwidth", "nan"], "--bandwidth must be auto, a number > 0"),
        (["iris", "--bandwidth", "kn"], "--bandwidth must be .* one of knn"),
        *(
            (["iris", f"--bandwidth={text}"], r"with a factor, such as 0.4\*knn or knn/3, got")
            for text in ("knn/0", "knn*2*3", "-1*knn", "knn/nan")
        ),
        (["iris", "--image", "8"], "--image must be HEIGHTxWIDTH"),
        (["iris", "--image", "8x8"], "--image 8x8 needs 64 columns, got 4"),
        (["iris", "--jobs", "0"], "--jobs must not be 0; pass -1 for all cores"),
        (["iris", "--seed", "-1"], "'--seed': .* 0"),
        (["iris", "--n-init", "0"], "--n-init must be auto or an integer > 0, got '0'"),
        (["iris", "--rows-per-mode", "0"], "--rows-per-mode must be auto, a number >= 1"),
        (["iris", "--n-bandwidths", "0"], "'--n-bandwidths': .*1"),
        (["iris", "--columns", "x,x"], "must not repeat a column"),
        (["irs", "-o", "out"], "did you mean 'iris'"),
        ([""], "No built-in dataset ''; choose one of"),
        (["iris", "--label-column", "x"], "has no columns of labels, weights"),
        (["iris", "--columns", "x9"], "'iris' has no column 'x9'"),
        (["irs"], "No built-in dataset 'irs'; .* did you mean 'iris'"),
        (["absent.csv"], "'absent.csv': No such file or directory"),
        (["data.xlsx"], "must end in one of"),
        (["empty.csv"], "the file is empty"),
        (["header.csv"], "a header but no rows"),
        (
            ["gaps.csv", "--raw"],
            "Column 'b' of 'gaps.csv' has 2 missing or infinite values, first in row 2",
        ),
        (["latin.csv"], "not UTF-8"),
        (["false.parquet"], r"cannot be read as a \.parquet file"),
        (["false.npy"], r"cannot be read as a \.npy file"),
        (["negative.csv", "--weight-column", "w"], "'w' of 'negative.csv' .* negative .* row 2"),
        (["zero.csv", "--weight-column", "w"], "--weight-column must contain at least one non-z"),
        (["folder.csv"], "Is a directory"),
    ],
)
def test_bad_input_gives_one_line_and_writes_nothing(arguments, message, here):
    Path("empty.csv").touch()
    Path("header.csv").write_text("a,b\n")
    Path("gaps.csv").write_text("a,b\n1,2\n3,\n4,NA\n5,6\n")
    Path("latin.csv").write_bytes("a,é\n1,2\n".encode("latin1"))
    Path("false.parquet").write_text("a,b\n1,2\n")
    Path("false.npy").write_text("a,b\n1,2\n")
    Path("negative.csv").write_text("a,w\n1,1\n2,-1\n3,1\n4,1\n")
    Path("zero.csv").write_text("a,w\n1,0\n2,0\n3,0\n4,0\n")
    Path("folder.csv").mkdir()
    before = names()
    assert re.search(message, refused("fit", *QUICK, *arguments))
    assert names() == before


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_very_large_values(here):
    rows = np.random.RandomState(0).rand(30, 2) * 1e308
    np.save("data.npy", rows)
    results = json.loads(invoke("fit", "data.npy", *QUICK, "--json").stdout)
    assert results["inertia"] is None
    invoke("predict", "data.modes", "data.npy", "-o", "new.npy")
    assert json.loads(invoke("info", "data.modes", "--json").stdout)["n_clusters"] == 3


def test_the_note_on_the_first_line_comes_before_the_fit(here, monkeypatch):
    FRAME.drop("kind").write_csv("plain.csv", include_header=False)
    invoke("fit", "plain.csv", *QUICK)
    result = invoke("predict", "plain.modes", "plain.csv", "-o", "new.csv")
    assert result.stderr.startswith("note: the first line has only numbers")
    monkeypatch.setattr(KModes, "fit", lambda *_, **__: 1 / 0)
    results = []
    monkeypatch.setattr(fit, "tell", lambda *words: results.append(words))
    with pytest.raises(ZeroDivisionError):
        invoke("fit", "plain.csv", *QUICK, "--force")
    assert results[0][0] == "note"


def test_a_header_of_numbers(here):
    FRAME.drop("kind").rename(dict(zip(["sl", "sw", "pl", "pw"], "2468", strict=True))).write_csv(
        "years.csv"
    )
    results = json.loads(invoke("fit", "years.csv", *QUICK, "--header", "--json").stdout)
    assert (results["n_rows"], results["notices"]) == (150, [])
    result = invoke("predict", "years.modes", "years.csv", "--header", "-o", "new.csv")
    assert result.stderr == ""
    assert Path("new.csv").read_bytes() == Path("years.modes/labels.csv").read_bytes()
    results = json.loads(
        invoke("fit", "years.csv", *QUICK, "--no-header", "-o", "out", "--json").stdout
    )
    assert results["n_rows"] == 151
    assert "--header applies only to text files" in refused(
        "fit", "iris", *QUICK, "--header", "-o", "b"
    )
    with_names = ("predict", "years.modes", "years.csv", "-o", "b.csv")
    assert (
        invoke(*with_names, code=2)
        .stderr.splitlines()[0]
        .endswith("pass --header if it has the column names")
    )


def test_semicolons_and_decimal_commas(here):
    content = FRAME.drop("kind").write_csv(separator=";").replace(".", ",")
    Path("semi.csv").write_text(content)
    raw = ("fit", "semi.csv", *QUICK, "--raw")
    assert "pass --separator ';'" in refused(*raw)
    assert "--decimal-comma" in refused(*raw, "--separator", ";")
    how = ("--separator", ";", "--decimal-comma")
    invoke("fit", "semi.csv", *QUICK, *how)
    invoke("predict", "semi.modes", "semi.csv", *how, "-o", "new.csv")
    assert Path("new.csv").read_bytes() == Path("semi.modes/labels.csv").read_bytes()
    invoke("fit", "iris.csv", *QUICK, "--exclude", "kind")
    assert Path("new.csv").read_bytes() == Path("iris.modes/labels.csv").read_bytes()


def test_columns_of_different_scales_give_a_hint(here):
    FRAME.drop("kind").with_columns(pl.col("pw") * 1000).write_csv("uneven.csv")
    result = invoke("fit", "uneven.csv", *QUICK, "--raw", "--json")
    assert re.fullmatch(
        r"note: columns differ in scale: 'pw' varies 1,\d+ times as much as 'sw' [^\n]+\n",
        result.stderr,
    )
    assert "--standardize" in json.loads(result.stdout)["notices"][0]
    scaled = ("fit", "uneven.csv", *QUICK, "--raw", "--standardize", "--force")
    assert invoke(*scaled).stderr == ""


def test_images_give_no_hint(here):
    rows = np.random.RandomState(0).rand(50, 8) * [1, 1000, 1, 1, 1, 1, 1, 1]
    np.save("rows.npy", rows)
    assert "differ in scale" in invoke("fit", "rows.npy", *QUICK, "--raw").stderr
    image = ("--image", "2x4", "--force")
    assert "differ in scale" not in invoke("fit", "rows.npy", *QUICK, *image).stderr


def test_an_invalid_checkpoint_is_refused_and_not_changed(here):
    content = Path("iris.csv").read_bytes()
    assert "'iris.csv' is no checkpoint" in refused(
        "fit", "iris", *QUICK, "--checkpoint", "iris.csv"
    )
    assert Path("iris.csv").read_bytes() == content
    assert "does not exist" in refused("fit", "iris", *QUICK, "--checkpoint", "absent/c")
    model = KModes(3, n_init=2, random_state=0, checkpoint="c", keep_checkpoint=True)
    model.fit(IRIS.data)
    content = Path("c").read_bytes()
    result = invoke("fit", "wine", *QUICK, "--checkpoint", "c", code=2)
    done = "all bandwidths and 8 levels of the modes done"
    assert result.stderr.splitlines()[0] == f"note: resuming from c: {done}"
    assert "another fit: the shape of X is (150, 4) there and (178, 13) here" in result.stderr
    assert Path("c").read_bytes() == content
    assert "is no model" in refused("info", "c")
    invoke("fit", "iris", *QUICK, "--checkpoint", "c", "-o", "out")
    assert names() == ["iris.csv", "out"]
    np.testing.assert_array_equal(load("out/model.npz").path_.centers, model.path_.centers)


def test_a_constant_column_with_weights_is_not_scaled():
    # By rounding, the weighted variance of the second column is negative.
    weight = np.array([0, 3, 6, 6, 3, 3, 0, 3, 3, 6, 6, 0, 6, 3, 3, 6]) / 10
    X = np.stack([np.arange(16.0), np.full(16, 5.0)], axis=1)
    scaler = fit_scaling(X, weight)
    assert scaler.scale_[0] > 1
    assert scaler.scale_[1] == 1


@pytest.mark.parametrize("command", ["fit", "explore"])
def test_a_checkpoint_stays_until_the_results_are_written(command, here, monkeypatch):
    arguments = (command, "iris", *QUICK, "--checkpoint", "c", "-o", "out.html")
    arguments += ("--no-open",) if command == "explore" else ()
    with monkeypatch.context() as full:
        full.setattr("modeclust.cli.folder.report", _full_disk)
        message = invoke(*arguments, code=2).stderr
    assert "No space left on device" in message
    assert "run the same command to resume from c" in message
    assert names() == ["c", "iris.csv"]
    again = invoke(*arguments)
    assert "resuming from c: all bandwidths" in again.stderr
    assert names() == ["iris.csv", "out.html"]
    if command == "fit":
        assert not load("out.html/model.npz").keep_checkpoint


def _full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_cells_without_a_value_are_empty(here):
    table = FRAME.with_columns(same=pl.lit(1.0), group=pl.col("kind").str.slice(0, 1))
    table.write_csv("iris.csv")
    invoke("fit", "iris.csv", *QUICK)
    columns = pl.read_csv("iris.modes/columns.csv")
    assert columns.filter(column="same")["left_out"].item() == "constant"
    others = columns.filter(pl.col("column") != "same")
    assert others["left_out"].null_count() == len(others)
    assert columns["missing"].dtype == pl.Float64
    assert "None" not in Path("iris.modes/columns.csv").read_text()


def test_a_line_break_among_names_is_refused(here):
    assert "--columns must name at least one column" in refused(
        "fit", "iris.csv", *QUICK, "--columns", "a\nb"
    )

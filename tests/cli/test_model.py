"""The model that the options ask for, of each method."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import FRAME, IRIS, invoke, names, refused
from sklearn.datasets import make_moons

from modeclust import KModes, LaplacianKModes, MeanShift, load
from modeclust.cli.model import make_model, parse_smoothing
from modeclust.cli.options import FitOptions, Kernel, Method, NeighborSearch, Solver
from modeclust.data import machine
from modeclust.datasets import load_dataset
from modeclust.solvers.laplacian import SOLVERS

LAPLACIAN = ["--method", "laplacian"]


def test_defaults_are_those_of_python():
    for method, cls in ((Method.kmodes, KModes), (Method.laplacian, LaplacianKModes)):
        model = make_model(FitOptions("iris", "3", method=method))
        assert model.get_params() == cls(3, random_state=0).get_params()


def test_options_have_the_names_of_the_library():
    assert set(Solver) == set(SOLVERS)
    for search in NeighborSearch:
        LaplacianKModes(neighbor_search=str(search))._validate_params()


def test_options_of_laplacian():
    options = FitOptions(
        "iris",
        "3",
        method=Method.laplacian,
        smoothing="2.5",
        n_neighbors="7",
        neighbor_search=NeighborSearch.exact,
        solver=Solver.gradient,
        bandwidth="knn/2",
        n_bandwidths=4,
        kernel=Kernel.cauchy,
        seed=5,
        jobs=1,
    )
    expected = LaplacianKModes(
        3,
        smoothing=2.5,
        n_neighbors=7,
        neighbor_search="exact",
        solver="gradient",
        bandwidth="knn/2",
        n_bandwidths=4,
        kernel="cauchy",
        random_state=5,
        n_jobs=1,
    )
    assert make_model(options).get_params() == expected.get_params()


def test_k_means_compares_no_clusters(here):
    found = json.loads(invoke("fit", "moons", "-k", "2", "--bandwidth", "inf", "--json").stdout)
    assert found["redundant"] is None


def test_a_fit_is_that_of_python(here):
    found = json.loads(invoke("fit", "moons", "-k", "2", *LAPLACIAN, "--json").stdout)
    X = load_dataset("moons").X
    model = LaplacianKModes(2, random_state=0).fit(X)
    assert (found["class"], found["start"]) == ("LaplacianKModes", "linkage")
    assert (found["smoothing"], found["objective"]) == (model.smoothing_, model.objective_)
    assert found["redundant"] is None
    exemplars = [cluster["exemplar"] for cluster in found["clusters"]]
    assert exemplars == model.exemplar_indices_.tolist()
    saved = load("moons.modes/model.npz")
    np.testing.assert_array_equal(saved.assignments_, model.assignments_)
    np.testing.assert_array_equal(saved.modes_, model.modes_)
    assert saved.path_.start == "linkage"
    labels = pl.read_csv("moons.modes/labels.csv")["label"]
    assert labels.to_list() == model.labels_.tolist()
    invoke("predict", "moons.modes", "moons", "-o", "new.csv")
    assert pl.read_csv("new.csv")["label"].to_list() == model.predict(X).tolist()


def test_what_is_printed(here):
    output = invoke("fit", "moons", "-k", "2", *LAPLACIAN).stdout
    model = load("moons.modes/model.npz")
    assert f", smoothing {model.smoothing_:.4g}; modes average" in output.splitlines()[1]
    assert "linkage mean" in output
    assert "K-means" not in output
    assert "redundant" not in output
    output = invoke("info", "moons.modes").stdout
    assert "LaplacianKModes model" in output
    assert "solver='bound'" in output


def test_standardized_columns_and_classes(here):
    options = ["-k", "3", *LAPLACIAN, "--label-column", "kind", "--standardize"]
    invoke("fit", "iris.csv", *options)
    assert "setosa" in invoke("info", "iris.modes").stdout
    centers = pl.read_csv("iris.modes/modes.csv").select("sl", "sw", "pl", "pw").to_numpy()
    scaled = (IRIS.data - IRIS.data.mean(axis=0)) / IRIS.data.std(axis=0)
    model = LaplacianKModes(3, random_state=0).fit(scaled)
    expected = model.modes_ * IRIS.data.std(axis=0) + IRIS.data.mean(axis=0)
    np.testing.assert_allclose(centers, expected)
    invoke("predict", "iris.modes", "iris.csv", "-o", "new.csv")
    assert pl.read_csv("new.csv")["label"].to_list() == model.predict(scaled).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--smoothing", "1"], "--smoothing applies only to --method laplacian; remove it, or"),
        (["--n-neighbors", "5"], "--n-neighbors applies only to --method laplacian"),
        (["--neighbor-search", "exact"], "--neighbor-search applies only to --method laplacian"),
        (["--solver", "gradient"], "--solver applies only to --method laplacian"),
        ([*LAPLACIAN, "--adaptive"], "--adaptive applies only to --method kmodes"),
        ([*LAPLACIAN, "--n-init", "3"], "--n-init applies only to --method kmodes"),
        ([*LAPLACIAN, "--stream"], "--stream applies only to --method kmodes"),
        ([*LAPLACIAN, "--checkpoint", "c"], "--checkpoint applies only to --method kmodes"),
        ([*LAPLACIAN, "--bandwidth", "inf"], "--bandwidth inf applies only to --method kmodes"),
        ([*LAPLACIAN, "--smoothing", "-1"], "--smoothing must be auto, 0, or a number from"),
        ([*LAPLACIAN, "--smoothing", "nan"], "--smoothing must be auto, 0, or a number from"),
        ([*LAPLACIAN, "--n-neighbors", "0"], "--n-neighbors must be auto or an integer > 0"),
        ([*LAPLACIAN, "--bandwidth", "0"], "--bandwidth must be auto, a number > 0"),
        (
            [*LAPLACIAN, "--n-neighbors", "150"],
            "--n-neighbors=150 must be less than the number of rows, 150; lower --n-neighbors.",
        ),
    ],
)
def test_options_that_do_not_fit_the_method(options, message, here, monkeypatch):
    monkeypatch.setattr(LaplacianKModes, "_open_problem", lambda *_: 1 / 0)  # work
    before = names()
    assert message in refused("fit", "iris", "-k", "3", *options)
    assert names() == before


def test_numbers_of_smoothing():
    assert parse_smoothing("0") == 0
    assert parse_smoothing("1e100") == 1e100
    for text in ("1e-101", "1e101", "inf", "x"):
        with pytest.raises(ValueError, match="--smoothing must be auto, 0, or a number from"):
            parse_smoothing(text)


def test_data_that_would_be_streamed_is_refused(here, monkeypatch):
    FRAME.drop("kind").write_parquet("iris.parquet")
    asked = ["fit", "iris.parquet", "-k", "3", *LAPLACIAN]
    monkeypatch.setattr(machine, "memory", lambda: 1000)
    message = refused(*asked)
    assert "'iris.parquet' has 0.0048 MB of numbers, more than 25% of memory" in message
    assert "only --method kmodes can do; pass that, or --no-stream" in message
    invoke(*asked, "--no-stream")


@pytest.mark.parametrize("method", ["laplacian", "mean shift"])
def test_new_rows_are_predicted_in_chunks(method, here):
    X, _ = make_moons(400, noise=0.05, random_state=0)
    model = LaplacianKModes(2) if method == "laplacian" else MeanShift(bandwidth=0.3)
    model.fit(X).save("model.npz")
    pl.DataFrame(X, schema=["x0", "x1"]).write_parquet("new.parquet", row_group_size=100)
    for option in ("--stream", "--no-stream"):
        invoke("predict", "model.npz", "new.parquet", "-o", f"{option[2:]}.csv", option)
    assert Path("stream.csv").read_bytes() == Path("no-stream.csv").read_bytes()

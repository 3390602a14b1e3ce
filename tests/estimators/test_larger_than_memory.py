"""Data on disk, in the forms in which it may be larger than memory."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from modeclust import KModes

X, KINDS = make_blobs(6000, 3, centers=4, random_state=0)
WEIGHT = 1 + np.arange(6000) % 3
OPTIONS = {"n_clusters": 4, "bandwidth": 1.0, "n_init": 2, "n_bandwidths": 3, "random_state": 0}


def assert_as_in_memory(ours, weight=None):
    """Assert that a fit is that of the same rows in memory."""
    theirs = KModes(**OPTIONS).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(np.asarray(ours.labels_), theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.path_.centers, theirs.path_.centers, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(ours.exemplar_indices_, theirs.exemplar_indices_)


@pytest.fixture
def frame(tmp_path):
    """Return a Dask frame of a folder of Parquet files."""
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(w=WEIGHT)
    for part in range(12):
        table[part * 500 : (part + 1) * 500].to_parquet(tmp_path / f"part.{part}.parquet")
    return dd.read_parquet(tmp_path)


def test_parquet_in_a_dask_frame(frame):
    rows = frame[["a", "b", "c"]]
    model = KModes(**OPTIONS).fit(rows)
    assert_as_in_memory(model)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(rows).compute(), model.labels_.compute())
    assert_as_in_memory(KModes(**OPTIONS).fit(rows, sample_weight=frame["w"]), weight=WEIGHT)


def test_a_dask_frame_of_other_columns_is_refused(frame):
    model = KModes(**OPTIONS).fit(frame[["a", "b", "c"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])


def test_zarr(tmp_path):
    da, zarr = pytest.importorskip("dask.array"), pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(700, 2), dtype=X.dtype)
    array[...] = X
    assert_as_in_memory(KModes(**OPTIONS).fit(da.from_zarr(tmp_path / "x.zarr")))


@pytest.mark.parametrize("chunks", [None, (700, 2)], ids=["contiguous", "chunks"])
def test_hdf5(tmp_path, chunks):
    da, h5py = pytest.importorskip("dask.array"), pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=X, chunks=chunks)
        assert_as_in_memory(KModes(**OPTIONS).fit(da.from_array(file["x"], chunks=(1100, 3))))


def test_a_memory_map(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    assert_as_in_memory(KModes(**OPTIONS).fit(mapped))
    da = pytest.importorskip("dask.array")
    assert_as_in_memory(KModes(**OPTIONS).fit(da.from_array(mapped, chunks=(1000, 3))))


def largest_class(card):
    """Return the most frequent class of the rows that were looked at, and its share."""
    name, count = card["classes"][0]
    return name, count / sum(count for _, count in card["classes"])


class TestReport:
    @pytest.fixture(autouse=True)
    def small_samples(self, monkeypatch):
        monkeypatch.setattr("modeclust.reporting.sample.MAX_SAMPLE_ROWS", 600)

    def test_of_a_sample(self, frame):
        rows = frame[["a", "b", "c"]]
        model = KModes(**OPTIONS).fit(rows, sample_weight=frame["w"])
        told = model.report(rows, KINDS, None, sample_weight=frame["w"]).summary
        whole = KModes(**OPTIONS).fit(X, sample_weight=WEIGHT)
        theirs = whole.report(X, KINDS, None, sample_weight=WEIGHT).summary
        for name in ("title", "n_rows", "n_clusters", "class_names"):
            assert told[name] == theirs[name], name
        assert [column["name"] for column in told["columns"]] == ["a", "b", "c"]
        assert [step["counts"] for step in told["steps"]] == [
            step["counts"] for step in theirs["steps"]
        ]
        (note,) = told["notes"]
        assert "of the 6,000 rows" in note
        shown = told["map"]["rows"]
        assert 600 <= len(shown) <= 640
        assert told["labels"]["rows"] == shown
        assert told["map"]["classes"] == KINDS[shown].tolist()
        for k, (card, other) in enumerate(zip(told["cards"], theirs["cards"], strict=True)):
            assert card["rows"] == other["rows"]
            first = card["examples"][0]
            assert first["row"] == model.exemplar_indices_[k]
            given = [first["values"][name] for name in "abc"]
            np.testing.assert_allclose(given, X[first["row"]], atol=1e-3 * np.abs(X).max())
            (name, share), (best, expected) = (largest_class(found) for found in (card, other))
            assert name == best
            assert share == pytest.approx(expected, abs=0.1)
        model.report(rows, KINDS, None).to_html()

    def test_of_few_rows_is_of_all(self, monkeypatch):
        da = pytest.importorskip("dask.array")
        monkeypatch.setattr("modeclust.reporting.sample.MAX_SAMPLE_ROWS", 20_000)
        rows = da.from_array(X, chunks=(1000, 3))
        ours = KModes(**OPTIONS).fit(rows).report(rows, KINDS, None).summary
        theirs = KModes(**OPTIONS).fit(X).report(X, KINDS, None).summary
        for name in ("notes", "n_rows", "labels"):
            assert ours[name] == theirs[name], name
        for card, other in zip(ours["cards"], theirs["cards"], strict=True):
            assert card["classes"] == other["classes"]

    def test_of_a_sample_says_what_holds_for_all_rows(self, monkeypatch):
        da = pytest.importorskip("dask.array")
        for name in ("MAX_ROWS", "MAX_ROWS_PER_CLUSTER"):  # every 4th row is measured
            monkeypatch.setattr(f"modeclust.solvers.redundancy.{name}", 250)
        rows = da.from_array(X, chunks=(1000, 3))
        model = KModes(5, bandwidth=1.0, n_init=2, random_state=0).fit(rows)
        told = model.report(rows, None, None, stability=2).summary
        assert told["is_sample"]
        pairs = [tuple(pair["clusters"]) for pair in told["redundant"]["pairs"]]
        assert pairs == model.redundant_clusters() != []
        assert all(0 <= card["stability"]["jaccard"] <= 1 for card in told["cards"])

    def test_of_other_rows_is_refused(self):
        da = pytest.importorskip("dask.array")
        rows = da.from_array(X, chunks=(1000, 3))
        model = KModes(**OPTIONS).fit(rows)
        with pytest.raises(ValueError, match="fitted on, 6000 rows, got 5000"):
            model.report(rows[:5000], None, None)
        with pytest.raises(ValueError, match="in the same order, but row") as caught:
            model.report(rows[::-1], None, None)
        row = int(re.search(r"row (\d+) is different", str(caught.value))[1])
        labels = model.labels_.compute()
        assert labels[row] != labels[::-1][row]
        with pytest.raises(ValueError, match="one value for each of the 6000 rows"):
            model.report(rows, KINDS[:10], None)

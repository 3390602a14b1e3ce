import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from modeclust import KModes, Path, kmodes_path


@pytest.fixture(scope="module")
def path():
    X = np.random.default_rng(0).normal(size=(60, 2))
    return kmodes_path(X, 3, bandwidths=[np.inf, 4.0, 2.0, 1.0], random_state=0)


def test_shapes(path):
    assert isinstance(path, Path)
    assert len(path) == 4
    assert path.bandwidths.tolist() == [np.inf, 4.0, 2.0, 1.0]
    assert path.centers.shape == (4, 3, 2)
    assert path.objectives.shape == path.inertias.shape == path.n_iter.shape == (4,)
    assert path.counts.shape == (4, 3)
    assert path.labels.shape == (4, 60)
    assert repr(path) == "Path(4 bandwidths from inf to 1, 3 clusters, 2 features)"


def test_a_point_is_one_bandwidth(path):
    for i, point in enumerate(path):
        assert point.bandwidth == path.bandwidths[i]
        np.testing.assert_array_equal(point.centers, path.centers[i])
        np.testing.assert_array_equal(point.labels, path.labels[i])
        np.testing.assert_array_equal(np.bincount(point.labels, minlength=3), point.counts)
        assert point.objective == path.objectives[i]
    assert path[-1].bandwidth == 1.0
    assert repr(path[-1]).startswith("PathPoint(bandwidth=1, objective=0.")
    with pytest.raises(IndexError):
        path[4]


@pytest.mark.parametrize(
    ("part", "bandwidths"),
    [
        (slice(1, 3), [4.0, 2.0]),
        (slice(-1, None), [1.0]),
        (slice(None, None, 3), [np.inf, 1.0]),
        (slice(None, 10), [np.inf, 4.0, 2.0, 1.0]),
    ],
)
def test_a_part_of_a_path_is_one(path, part, bandwidths):
    short = path[part]
    assert isinstance(short, Path)
    assert short.start == "K-means"
    assert [point.bandwidth for point in short] == bandwidths
    for point in short:
        whole = path.at(point.bandwidth)
        np.testing.assert_array_equal(point.centers, whole.centers)
        np.testing.assert_array_equal(point.counts, whole.counts)
        np.testing.assert_array_equal(point.labels, whole.labels)
        assert (point.objective, point.inertia) == (whole.objective, whole.inertia)
        assert point.n_iter == whole.n_iter
    assert len(short.to_frame("dict")["step"]) == 3 * len(bandwidths)


@pytest.mark.parametrize(
    ("asked", "found"),
    [(np.inf, np.inf), (100.0, 4.0), (3.0, 4.0), (2.7, 2.0), (1.5, 2.0), (1.3, 1.0), (1.0, 1.0)],
)
def test_at_is_nearest_by_ratio(path, asked, found):
    assert path.at(asked).bandwidth == found


@pytest.mark.parametrize("bandwidth", [0.5, 0.0, -1.0, np.nan])
def test_at_refuses_what_the_path_does_not_reach(path, bandwidth):
    with pytest.raises(ValueError, match="bandwidth"):
        path.at(bandwidth)


def test_a_path_without_kmeans_does_not_reach_it(rng):
    path = kmodes_path(rng.normal(size=(30, 2)), 2, bandwidths=[4.0, 2.0], random_state=0)
    for bandwidth in (np.inf, 5.0):
        with pytest.raises(ValueError, match="from 4 to 2; fit a path that includes it"):
            path.at(bandwidth)


@pytest.mark.parametrize(
    ("backend", "kind"), [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("dict", dict)]
)
def test_to_frame(path, backend, kind):
    frame = path.to_frame(backend)
    assert isinstance(frame, kind)
    columns = (
        {name: np.asarray(frame[name]) for name in list(frame)}
        if kind is dict
        else {name: frame[name].to_numpy() for name in frame.columns}
    )
    assert list(columns) == [
        "step", "stage", "bandwidth", "objective", "inertia", "n_iter", "cluster", "count",
        "rows_averaged", "x0", "x1",
    ]  # fmt: skip
    assert all(len(values) == 12 for values in columns.values())
    row = 7  # the third bandwidth, the second cluster
    assert (columns["step"][row], columns["cluster"][row]) == (2, 1)
    assert columns["bandwidth"][row] == 2.0
    assert columns["count"][row] == path.counts[2, 1]
    np.testing.assert_array_equal([columns["x0"][row], columns["x1"][row]], path.centers[2, 1])


def test_to_frame_takes_what_is_there(path, monkeypatch):
    assert isinstance(path.to_frame(), pl.DataFrame)
    monkeypatch.delitem(sys.modules, "polars")
    assert isinstance(path.to_frame(), pd.DataFrame)
    monkeypatch.setattr("modeclust.path.find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "pandas")
    assert isinstance(path.to_frame(), dict)
    with pytest.raises(ValueError, match="backend must be"):
        path.to_frame("excel")


def test_to_frame_has_the_users_names(rng):
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["count", "height"])
    table = KModes(2, n_bandwidths=2, random_state=0).fit(frame).path_.to_frame("pandas")
    assert list(table.columns[-2:]) == ["count_", "height"]
    odd = frame.set_axis(["step_", "step"], axis=1)
    table = kmodes_path(odd, 2, bandwidths=[4.0], random_state=0).to_frame("pandas")
    assert list(table.columns[-2:]) == ["step_", "step__"]

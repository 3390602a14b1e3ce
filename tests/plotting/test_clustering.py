from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes, MeanShift, kmodes_path, load
from modeclust.plotting import ModesDisplay, PathDisplay
from modeclust.plotting.clustering import (
    Clustering,
    density_bandwidths,
    has_own_bandwidths,
    known_steps,
    labelled_step,
    labels_along,
    labels_at,
    row_range,
)

ORDER = "its rows in the same order, but row {} is different; pass the same rows"
MODELS = [
    KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0),
    KModes(3, bandwidth=np.inf, random_state=0),
    LaplacianKModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0),
    MeanShift(bandwidth=1.5),
]


@pytest.fixture(scope="module")
def rows():
    X, _ = make_blobs(200, 3, centers=3, random_state=0)
    return X


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_in_another_order_are_refused(model, rows):
    model.fit(rows)
    assert Clustering.of(model, rows).X is rows
    other = rows.copy()
    first, second = (np.flatnonzero(model.labels_ == k)[0] for k in (0, 1))
    other[[first, second]] = rows[[second, first]]
    with pytest.raises(ValueError, match=ORDER.format(min(first, second))):
        Clustering.of(model, other)
    with pytest.raises(ValueError, match=ORDER.format(min(first, second))):
        ModesDisplay.from_estimator(model, sparse.csr_array(other))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("fitted", ["float64", "float32", "csr"])
@pytest.mark.parametrize("shown", ["float64", "float32", "csr", "mapped", "frame"])
def test_the_same_rows_in_another_format_are_accepted(model, fitted, shown, rows, tmp_path):
    pd = pytest.importorskip("pandas")
    formats = {
        "float64": rows,
        "float32": rows.astype(np.float32),
        "csr": sparse.csr_array(rows),
        "frame": pd.DataFrame(rows),
        "mapped": np.memmap(tmp_path / "rows", np.float32, "w+", shape=rows.shape),
    }
    formats["mapped"][:] = rows
    model.fit(formats[fitted]).save(tmp_path / "model.npz")
    Clustering.of(load(tmp_path / "model.npz"), formats[shown])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, 1e15])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_rows_with_ties_and_large_numbers_are_accepted(offset, scale, rng):
    X = (rng.integers(0, 4, (60, 2)) + offset) * scale
    X[:20] = X[20:40]
    weight = rng.integers(0, 3, 60)
    model = KModes(4, bandwidth=scale, n_bandwidths=2, random_state=0)
    Clustering.of(model.fit(X, sample_weight=weight), X)


def test_rows_between_two_equal_modes_are_accepted(rows):
    model = KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0).fit(rows)
    model.cluster_centers_[1] = model.cluster_centers_[0]
    model.labels_ = np.where(model.predict(rows) == 0, np.arange(200) % 2, 2)
    Clustering.of(model, rows)


def test_another_order_with_the_same_labels_is_accepted(rows):
    model = KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0).fit(rows)
    by_label = np.concatenate([np.flatnonzero(model.labels_ == k)[::-1] for k in range(3)])
    positions = np.argsort(model.labels_, kind="stable")
    other = rows.copy()
    other[positions] = rows[by_label]
    Clustering.of(model, other)


def test_only_the_number_of_rows_is_checked_for_other_clusterers(rows):
    model = KMeans(3, random_state=0).fit(rows)
    Clustering.of(model, rows[::-1])
    with pytest.raises(ValueError, match="fitted on, 200 rows, got 199"):
        Clustering.of(model, rows[1:])


def test_the_last_batch_is_the_data_after_partial_fit(rows):
    model = KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0)
    model.partial_fit(rows[:100]).partial_fit(rows[100:])
    PathDisplay.from_estimator(model, rows[100:])
    with pytest.raises(ValueError, match="in the same order"):
        PathDisplay.from_estimator(model, rows[:100])


def test_numbers_and_none_choose_a_point_of_a_path_with_two_stages(rows):
    model = KModes(3, random_state=0).fit(rows)
    path = model.path_
    end = Clustering.of(model, rows)
    assert (end.step, end.bandwidth) == (len(path) - 1, path.bandwidths[-1])
    np.testing.assert_array_equal(end.centers, model.modes_)
    np.testing.assert_array_equal(end.rows_averaged, model.rows_averaged_)
    labelled = Clustering.of(model, rows, model.bandwidth_)
    np.testing.assert_array_equal(labelled.centers, model.cluster_centers_)
    assert labelled.step == labelled_step(path.stage) == 8
    assert labelled.rows_averaged is None
    between = Clustering.of(model, rows, path.bandwidths[12])
    np.testing.assert_array_equal(between.centers, path.centers[12])
    np.testing.assert_array_equal(between.labels, model.labels_)


def test_of_equal_bandwidths_the_first_is_chosen(rows):
    model = KModes(3, rows_per_mode=np.inf, random_state=0).fit(rows)
    np.testing.assert_array_equal(model.path_.bandwidths[8:], model.bandwidth_)
    assert Clustering.of(model, rows, model.bandwidth_).step == 8
    assert Clustering.of(model, rows).step == len(model.path_) - 1


def test_which_points_have_their_own_bandwidths(rows):
    options = {"random_state": 0, "n_bandwidths": 3}
    for model, expected in [
        (KModes(3, **options), [0] * 9 + [1] * 8),
        (KModes(1, **options), [0] * 9 + [1] * 8),
        (KModes(3, reassign=False, **options), [0] + [1] * 8),
        (KModes(3, reassign=False, rows_per_mode=np.inf, **options), [0] + [1] * 8),
        (KModes(3, bandwidth=1.0, **options), [0] * 4),
        (KModes(3, bandwidth=1.0, reassign=False, **options), [0] * 4),
        (LaplacianKModes(3, bandwidth=1.0, **options), [0] * 4),
    ]:
        found = has_own_bandwidths(model.fit(rows).path_)
        assert found.astype(int).tolist() == expected, model


def test_an_infinite_bandwidth_is_shown_at_the_median(rows):
    path = KModes(3, random_state=0).fit(rows).path_
    assert density_bandwidths(path, 0) is None
    np.testing.assert_array_equal(density_bandwidths(path, 3), path.bandwidths[[3, 3, 3]])
    own = path.cluster_bandwidths[-1]
    np.testing.assert_array_equal(density_bandwidths(path, 16), own)
    own[0] = np.inf
    expected = [path.bandwidths[-1], *own[1:]]
    np.testing.assert_array_equal(density_bandwidths(path, 16), expected)


@pytest.mark.parametrize(
    ("rows_averaged", "text"),
    [
        ([12.7, 24.1], "13 to 24 rows"),
        ([1204.0, 10.0, 0.0], "10 to 1,204 rows"),
        ([14.9, 15.1], "15 rows"),
        ([1.0], "1 row"),
        ([0.0], "0 rows"),
    ],
)
def test_ranges_of_rows_averaged(rows_averaged, text):
    assert row_range(np.array(rows_averaged)) == text


def test_labels_are_stored_or_recomputed(blobs):
    options = {"bandwidths": [np.inf, 2.0, 1.0], "random_state": 0}
    stored = kmodes_path(blobs, 3, store_labels=True, **options)
    not_stored = kmodes_path(blobs, 3, store_labels=False, **options)
    model = SimpleNamespace(labels_=stored.labels[-1])
    np.testing.assert_array_equal(labels_along(model, blobs, not_stored), stored.labels)
    np.testing.assert_array_equal(labels_along(model, blobs, stored), stored.labels)
    for step in range(3):
        found = labels_at(model, blobs, not_stored, step)
        np.testing.assert_array_equal(found, stored.labels[step])


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({}, range(8, 17)),  # from the bandwidth of the labels on
        ({"init": "k-means++"}, [0, *range(8, 17)]),
        ({"bandwidth": 1.0, "n_bandwidths": 3}, [3]),
        ({"bandwidth": 1.0, "n_bandwidths": 3, "init": "random"}, [0, 3]),
    ],
)
def test_labels_of_soft_clusters_are_known_where_they_are_frozen(blobs, options, known):
    kept = LaplacianKModes(3, random_state=0, **options).fit(blobs)
    lost = LaplacianKModes(3, random_state=0, store_labels=False, **options).fit(blobs)
    assert known_steps(kept, kept.path_) == list(range(len(kept.path_)))
    assert known_steps(lost, lost.path_) == list(known)
    for step in known:
        found = labels_at(lost, blobs, lost.path_, step)
        np.testing.assert_array_equal(found, kept.path_.labels[step])

"""The default: a fit that chooses the bandwidths of labels and modes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from modeclust import KModes, load

IRIS = load_iris().data


def purity(X, classes, labels, modes, n_nearest=20):
    """Return the share of the commonest class among the rows nearest to a mode, in the mean."""
    shares = []
    for k, mode in enumerate(modes):
        own = np.flatnonzero(labels == k)
        nearest = own[np.argsort(np.linalg.norm(X[own] - mode, axis=1))[:n_nearest]]
        shares.append(np.bincount(classes[nearest]).max() / len(nearest))
    return np.mean(shares)


def blobs(n_features):
    return make_blobs(400, n_features, centers=5, center_box=(-9, 9), random_state=n_features)


KNOWN = {
    "iris": load_iris(return_X_y=True),
    "wine": (scale(load_wine().data), load_wine().target),
    "blobs in 2 dimensions": blobs(2),
    "blobs in 20 dimensions": blobs(20),
}


def test_the_stages_of_the_path():
    model = KModes(3, random_state=0).fit(IRIS)
    path = model.path_
    assert_array_equal(path.stage, np.sort(path.stage))
    n_means, n_labels, n_modes = np.bincount(path.stage)
    assert n_means == 1
    labelled = path[n_labels]
    assert_array_equal(labelled.centers, model.cluster_centers_)
    assert labelled.bandwidth == model.bandwidth_
    assert labelled.objective == model.objective_ == pytest.approx(model.score(IRIS), rel=1e-12)
    # Labels are found from three radii down to one radius.
    assert path.bandwidths[1] == pytest.approx(3 * model.bandwidth_)
    assert_array_equal(path.cluster_bandwidths[:-n_modes].T, [path.bandwidths[:-n_modes]] * 3)
    assert_array_equal(path[-1].centers, model.modes_)
    assert_array_equal(path.cluster_bandwidths[-1], model.mode_bandwidths_)
    assert_array_equal(path.rows_averaged[-1], model.rows_averaged_)
    for step in range(len(path) - n_modes, len(path)):
        assert_array_equal(path.labels[step], model.labels_)
        assert_array_equal(path.counts[step], model.counts_)


def test_the_kmeans_of_the_default_is_that_of_an_infinite_bandwidth():
    X, _ = make_blobs(3000, 2, centers=12, cluster_std=3, random_state=0)
    model, means = (KModes(12, bandwidth=b, random_state=0).fit(X) for b in ("auto", np.inf))
    assert_array_equal(model.path_.centers[0], means.cluster_centers_)
    assert model.path_.n_iter[0] == means.n_iter_


def test_the_bandwidth_is_about_the_median_distance_to_the_centers():
    model = KModes(3, random_state=0).fit(IRIS)
    own = cdist(IRIS, model.cluster_centers_).min(axis=1)
    assert model.bandwidth_ == pytest.approx(np.median(own), rel=0.1)


def test_labels_are_those_of_the_nearest_centers_and_exemplars_those_of_the_modes():
    model = KModes(3, random_state=0).fit(IRIS)
    assert_array_equal(model.labels_, cdist(IRIS, model.cluster_centers_).argmin(axis=1))
    assert_array_equal(model.predict(IRIS), model.labels_)
    for k, exemplar in enumerate(model.exemplar_indices_):
        own = np.flatnonzero(model.labels_ == k)
        assert exemplar == own[cdist(IRIS[own], model.modes_[[k]]).argmin()]


def test_modes_are_typical_of_one_class():
    X, classes = load_digits(return_X_y=True)
    found, means = [], []
    for seed in range(3):
        model = KModes(10, random_state=seed).fit(X)
        found.append(purity(X, classes, model.labels_, model.modes_))
        start = model.path_[0]
        means.append(purity(X, classes, start.labels, start.centers))
    assert np.mean(found) >= 0.99
    assert np.mean(means) < 0.98


def test_labels_are_as_good_as_those_of_kmeans():
    ours, theirs = [], []
    for X, classes in KNOWN.values():
        n_clusters = classes.max() + 1
        for seed in range(3):
            means = KMeans(n_clusters, n_init=10, random_state=seed).fit(X)
            model = KModes(n_clusters, random_state=seed).fit(X)
            ours.append(adjusted_rand_score(classes, model.labels_))
            theirs.append(adjusted_rand_score(classes, means.labels_))
    assert np.mean(ours) >= np.mean(theirs)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(("share", "box"), [(0.01, 10), (0.01, 100), (0.05, 10), (0.05, 100)])
def test_no_cluster_is_lost_to_outliers(name, share, box):
    X, classes = KNOWN[name]
    n_clusters = classes.max() + 1
    lost = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n_outliers = round(share * len(X))
        offsets = box * X.std(axis=0) * rng.uniform(-1, 1, size=(n_outliers, X.shape[1]))
        dirty = np.vstack([X, X.mean(axis=0) + offsets])
        scores = [
            adjusted_rand_score(
                classes, KModes(n_clusters, random_state=seed).fit(rows).labels_[: len(X)]
            )
            for rows in (X, dirty)
        ]
        lost.append(scores[0] - scores[1])
    assert np.mean(lost) <= 0.02


@pytest.mark.parametrize("distance", [20, 100])
def test_a_true_far_cluster_of_few_rows_is_kept(distance):
    middles = np.array([[0, 0], [10, 0], [0, 10], [distance, distance]])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.repeat(middles, [300, 300, 300, 12], axis=0) + rng.normal(size=(912, 2))
        model = KModes(4, random_state=seed).fit(X)
        assert sorted(model.counts_)[0] == 12
        assert len(set(model.labels_[-12:])) == 1


@pytest.mark.parametrize("rows_per_mode", [5, 20, 40])
def test_a_mode_averages_as_many_rows_as_asked(rows_per_mode):
    X, _ = make_blobs(600, 2, centers=3, random_state=0)
    model = KModes(3, rows_per_mode=rows_per_mode, random_state=0).fit(X)
    assert_allclose(model.rows_averaged_, rows_per_mode, rtol=0.5)


def test_all_rows_give_the_means_of_the_clusters():
    model = KModes(3, rows_per_mode=np.inf, random_state=0).fit(IRIS)
    means = [IRIS[model.labels_ == k].mean(axis=0) for k in range(3)]
    assert_allclose(model.modes_, means, rtol=1e-9)
    assert_array_equal(model.mode_bandwidths_, np.inf)
    assert_array_equal(model.rows_averaged_, model.counts_)


def test_without_reassignment_the_labels_are_those_of_kmeans():
    model = KModes(3, reassign=False, random_state=0).fit(IRIS)
    assert_array_equal(model.cluster_centers_, model.path_.centers[0])
    assert_array_equal(model.labels_, model.path_.labels[0])
    assert model.bandwidth_ == np.inf
    assert set(model.path_.stage) == {0, 2}
    assert np.linalg.norm(model.modes_ - model.cluster_centers_, axis=1).min() > 0.01
    assert_array_equal(model.predict(IRIS), model.labels_)


def test_without_reassignment_one_bandwidth_can_be_given():
    model = KModes(3, bandwidth=0.4, reassign=False, random_state=0).fit(IRIS)
    assert_array_equal(model.labels_, model.path_.labels[0])
    assert_array_equal(model.mode_bandwidths_, 0.4)
    for k, mode in enumerate(model.modes_):
        own = IRIS[model.labels_ == k]
        w = np.exp(-0.5 * np.sum((own - mode) ** 2, axis=1) / 0.4**2)
        assert np.linalg.norm(w @ own / w.sum() - mode) <= 1e-4


@pytest.mark.parametrize("bandwidth", ["auto", 0.4])
def test_without_reassignment_new_batches_get_the_labels_of_their_nearest_means(bandwidth):
    model = KModes(3, bandwidth=bandwidth, reassign=False, random_state=0).fit(IRIS)
    before = model.modes_.copy()
    model.partial_fit(IRIS[::2] + 0.05)
    assert_array_equal(
        model.labels_, cdist(IRIS[::2] + 0.05, model.cluster_centers_).argmin(axis=1)
    )
    assert model.bandwidth_ == np.inf
    moved = np.linalg.norm(model.modes_ - before, axis=1)
    assert np.all((moved > 0) & (moved < 0.3))


def test_a_number_gives_modes_that_are_the_centers():
    model = KModes(3, bandwidth=0.5, random_state=0).fit(IRIS)
    assert_array_equal(model.modes_, model.cluster_centers_)
    assert_array_equal(model.mode_bandwidths_, 0.5)
    assert set(model.path_.stage) == {0, 1}


def test_an_integer_weight_repeats_a_row():
    weight = np.arange(150) % 4
    weighted = KModes(3, random_state=0).fit(IRIS, sample_weight=weight)
    repeated = KModes(3, random_state=0).fit(np.repeat(IRIS, weight, axis=0))
    assert_allclose(weighted.modes_, repeated.modes_, rtol=1e-6)
    assert_allclose(weighted.rows_averaged_, repeated.rows_averaged_, rtol=1e-6)
    assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)


@pytest.mark.parametrize("kernel", ["epanechnikov", "biweight", "cauchy"])
def test_other_kernels_find_the_same_clusters(kernel):
    X, classes = KNOWN["blobs in 20 dimensions"]
    model = KModes(5, kernel=kernel, random_state=0).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.98
    assert np.all(model.rows_averaged_ > 5)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asfortranarray, np.float32])
def test_every_form_of_rows_gives_the_same_clusters(form):
    plain, other = (KModes(3, random_state=0).fit(rows) for rows in (IRIS, form(IRIS)))
    assert_array_equal(other.labels_, plain.labels_)
    assert_allclose(other.modes_, plain.modes_, rtol=1e-4)
    assert_array_equal(other.predict(form(IRIS)), other.labels_)


def test_a_memory_mapped_file_gives_the_same_bits(tmp_path):
    np.save(tmp_path / "rows.npy", IRIS)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    one, other = (KModes(3, random_state=0).fit(rows) for rows in (IRIS, mapped))
    assert_array_equal(one.modes_, other.modes_)


def test_as_many_clusters_as_rows():
    X = np.arange(6.0)[:, None] ** 2
    model = KModes(6, random_state=0).fit(X)
    assert_array_equal(np.sort(model.modes_, axis=0), X)
    assert_array_equal(model.rows_averaged_, 1)


def test_the_number_of_clusters_may_be_of_any_integer_type():
    small, plain = (KModes(k, random_state=0).fit(IRIS) for k in (np.uint8(3), 3))
    assert_array_equal(small.modes_, plain.modes_)


def test_a_saved_model_has_both_stages(tmp_path):
    model = KModes(3, random_state=0).fit(IRIS)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert_array_equal(again.modes_, model.modes_)
    assert_array_equal(again.rows_averaged_, model.rows_averaged_)
    assert_array_equal(again.path_.stage, model.path_.stage)
    assert_array_equal(again.predict(IRIS), model.labels_)


def test_modes_of_a_stream_keep_their_bandwidths_and_follow_the_rows():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [10.0, 0.0]])
    rows = middles[rng.integers(2, size=4000)] + rng.exponential(size=(4000, 2))
    model = KModes(2, random_state=0)
    for batch in np.split(rows, 8):
        model.partial_fit(batch)
        if model.n_steps_ == 1:
            first = model.mode_bandwidths_, model.rows_averaged_
    assert_array_equal(model.mode_bandwidths_, first[0])
    assert np.all(model.rows_averaged_ > 2 * first[1])
    # The density of an exponential is highest at 0, its mean is 1.
    assert np.all(cdist(middles, model.modes_).min(axis=1) < 0.8)
    assert_array_equal(model.predict(batch), model.labels_)

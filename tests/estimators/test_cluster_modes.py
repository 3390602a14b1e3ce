"""The modes of given labels."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import LOG_PULLS
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs

from modeclust import KModes, cluster_modes
from modeclust.exceptions import EmptySupportWarning

X = load_iris().data
linked = AgglomerativeClustering(3).fit_predict(X)


def pulls(rows, mode, bandwidth, kernel="gaussian"):
    """Return the weights of a mode step."""
    with np.errstate(divide="ignore"):
        logs = LOG_PULLS[kernel](np.sum(np.square(rows - mode), axis=1) / bandwidth**2)
    return np.exp(logs - logs.max())


def test_the_mean_of_all_rows_by_hand():
    rows = [[0.0], [0.0], [0.0], [1.0], [10.0]]
    found = cluster_modes(rows, ["a", "a", "a", "a", "b"], rows_per_mode=np.inf)
    assert found.labels.tolist() == ["a", "b"]
    assert found.modes.tolist() == [[0.25], [10.0]]
    assert found.exemplar_indices.tolist() == [0, 4]
    assert found.bandwidths.tolist() == [np.inf, np.inf]
    assert found.rows_averaged.tolist() == [4.0, 1.0]
    assert found.counts.tolist() == [4, 1]


def test_a_mode_of_three_equal_rows_by_hand():
    rows = [[0.0], [0.0], [0.0], [1.0], [10.0]]
    found = cluster_modes(rows, [5, 5, 5, 5, 2], rows_per_mode=3)
    assert found.labels.tolist() == [2, 5]
    assert found.modes[0] == 10
    assert abs(found.modes[1]) < 1e-3
    assert found.rows_averaged == pytest.approx([1, 3], rel=0.01)


@pytest.mark.parametrize("kernel", sorted(LOG_PULLS))
def test_a_mode_averages_as_many_rows_as_asked(kernel):
    rows, labels = make_blobs(600, 3, centers=3, random_state=0)
    found = cluster_modes(rows, labels, rows_per_mode=40, kernel=kernel)
    for k in range(3):
        pull = pulls(rows[labels == k], found.modes[k], found.bandwidths[k], kernel)
        averaged = pull.sum() ** 2 / np.sum(pull**2)
        assert found.rows_averaged[k] == pytest.approx(averaged, rel=1e-9)
        assert 30 < averaged < 60


@pytest.mark.parametrize("bandwidth", [0.3, "knn", "2 * scott"])
def test_one_bandwidth_for_all_gives_peaks_of_their_own_densities(bandwidth):
    found = cluster_modes(X, linked, bandwidth=bandwidth, random_state=0)
    assert len(set(found.bandwidths)) == 1
    for k in range(3):
        own = X[linked == k]
        pull = pulls(own, found.modes[k], found.bandwidths[k])
        step = pull @ own / pull.sum() - found.modes[k]
        assert np.linalg.norm(step) <= 1e-4 * found.bandwidths[k]


def test_noise_is_left_out():
    labels = np.where(np.arange(150) % 7 == 0, -1, linked)
    found = cluster_modes(X, labels)
    without = cluster_modes(X[labels >= 0], labels[labels >= 0])
    assert found.labels.tolist() == [0, 1, 2]
    assert_allclose(found.modes, without.modes, rtol=1e-9)
    assert_array_equal(
        found.exemplar_indices, np.flatnonzero(labels >= 0)[without.exemplar_indices]
    )
    assert_array_equal(found.counts, np.bincount(labels[labels >= 0]))


def test_clusters_without_weight_are_left_out():
    weight = (linked != 1).astype(float)
    found = cluster_modes(X, linked, sample_weight=weight)
    assert found.labels.tolist() == [0, 2]
    whole = cluster_modes(X, linked)
    # A mode is settled if it moves little, compared with the distances in all clusters.
    assert_allclose(found.modes, whole.modes[[0, 2]], rtol=1e-4)


def test_an_integer_weight_repeats_a_row():
    weight = np.arange(150) % 3
    found = cluster_modes(X, linked, sample_weight=weight)
    again = cluster_modes(np.repeat(X, weight, axis=0), np.repeat(linked, weight))
    assert_allclose(found.modes, again.modes, rtol=1e-9)
    assert_allclose(found.rows_averaged, again.rows_averaged, rtol=1e-9)
    assert_allclose(found.bandwidths, again.bandwidths, rtol=1e-9)


def test_a_common_scale_multiplies_the_bandwidths():
    found = cluster_modes(X, linked, bandwidth=0.2, sample_scale=np.full(150, 3.0))
    plain = cluster_modes(X, linked, bandwidth=0.6)
    assert_allclose(found.modes, plain.modes, rtol=1e-6)
    assert_allclose(found.bandwidths, 0.2)


def test_labels_of_kmeans_give_the_modes_of_kmodes_that_does_not_reassign():
    means = KMeans(3, n_init=10, random_state=0, tol=0).fit(X)
    model = KModes(3, reassign=False, init=means.cluster_centers_).fit(X)
    found = cluster_modes(X, model.labels_)
    assert_array_equal(model.labels_, means.labels_)
    assert_allclose(found.modes, model.modes_, rtol=1e-6)
    assert_allclose(found.bandwidths, model.mode_bandwidths_, rtol=1e-6)
    assert_array_equal(found.exemplar_indices, model.exemplar_indices_)


def test_the_labels_need_not_be_those_of_the_nearest_means():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    radius = np.repeat([1.0, 5.0], 200)
    ring = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = cluster_modes(ring, radius.astype(int))
    assert_allclose(np.linalg.norm(found.modes, axis=1), [1, 5], atol=0.5)


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_array, pd.DataFrame, np.asfortranarray]
)
def test_every_form_of_rows_gives_the_same_modes(form):
    plain = cluster_modes(X, linked)
    found = cluster_modes(form(X), pd.Series(linked))
    assert_allclose(found.modes, plain.modes, rtol=1e-9)


def test_single_precision_stays():
    found = cluster_modes(X.astype(np.float32), linked)
    assert found.modes.dtype == np.float32
    assert_allclose(found.modes, cluster_modes(X, linked).modes, rtol=1e-4)


def test_threads_change_no_bit():
    rows, labels = make_blobs(30_000, 3, centers=4, random_state=0)
    one, three = (cluster_modes(rows, labels, n_jobs=n) for n in (1, 3))
    for before, after in zip(one, three, strict=True):
        assert_array_equal(before, after)


def test_one_row():
    found = cluster_modes([[3.0, 4.0]], [7])
    assert found.modes.tolist() == [[3.0, 4.0]]
    assert found.rows_averaged.tolist() == [1.0]


def test_a_kernel_that_reaches_no_row_is_a_warning():
    with pytest.warns(EmptySupportWarning, match="At bandwidth 0.1, the kernel reaches no row"):
        found = cluster_modes([[0.0], [1.0], [9.0]], [0, 0, 1], bandwidth=0.1, kernel="biweight")
    assert found.modes.ravel().tolist() == [0.5, 9.0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (linked[:9], "labels must have one entry for each of the 150 rows of X, got 9"),
        (np.full(150, -1), "labels must have a cluster, got -1, noise, for every row"),
        (linked + 0.5, "labels must be integers or strings, got float64"),
        (np.r_[np.nan, linked[1:]], "labels must not have NaN or missing values, got 1; the label"),
        (["a", None] * 75, "labels must not have NaN or missing values, got 75"),
        (["a", 1] * 75, "labels must be integers or strings of one type"),
        (np.stack([linked, linked], axis=1), "should be a 1d array"),
    ],
)
def test_bad_labels(labels, message):
    labels = np.array(labels, dtype=object) if isinstance(labels, list) else labels
    with pytest.raises(ValueError, match=message):
        cluster_modes(X, labels)


def test_noise_and_rows_without_weight_are_not_enough():
    with pytest.raises(ValueError, match="a cluster of rows with a positive weight"):
        cluster_modes(X, np.where(linked == 0, 4, -1), sample_weight=linked)

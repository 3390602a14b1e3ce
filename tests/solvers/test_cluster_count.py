"""The tests behind a number of clusters."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from modeclust.data.memory import MemoryDataset
from modeclust.data.sample import Sample
from modeclust.solvers import cluster_count
from modeclust.solvers.cluster_count import read_sample, run_tests
from modeclust.solvers.cluster_dips import SIGNIFICANT_DIP, count_by_dips, merge_by_dips
from modeclust.solvers.density_peaks import (
    _highest_ways,
    _peak_heights,
    count_peaks,
    intrinsic_dimension,
)
from modeclust.solvers.neighbors import nearest_other_rows


def sample_of(X, weight=None):
    return Sample(X, np.ones(len(X)) if weight is None else weight)


def dips_of(X, max_clusters=40, seed=0):
    return count_by_dips(sample_of(X), max_clusters, np.random.RandomState(seed))


# Peaks, by hand: a density over seven rows in a line, with peaks of 5, 9 and 4.

LINE = np.array([1.0, 5.0, 2.0, 9.0, 3.0, 4.0, 0.0])
EDGES = np.arange(6), np.arange(1, 7)


def line_tree():
    passes = np.minimum(LINE[EDGES[0]], LINE[EDGES[1]])
    return _highest_ways(*EDGES, passes, 7)


def test_peaks_rise_above_the_passes_to_higher_ones():
    first, second, passes = line_tree()
    assert passes.tolist() == [3, 3, 2, 2, 1, 0]
    heights = _peak_heights(LINE, first, second, passes)
    # The peak of 5 is 3 above the pass of 2, that of 4 is 1 above the pass of 3.
    assert np.sort(heights[heights > 0]).tolist() == [1, 3]


def test_of_two_ways_the_higher_one_counts():
    """Rows 0 and 3 are peaks; the way by row 1 is higher than that by row 2."""
    density = np.array([9.0, 6.0, 1.0, 8.0])
    first, second = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3])
    tree = _highest_ways(first, second, np.minimum(density[first], density[second]), 4)
    heights = _peak_heights(density, *tree)
    assert heights.max() == 2


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_intrinsic_dimension(rng, dimension):
    flat = rng.uniform(size=(2000, dimension)) @ rng.normal(size=(dimension, 12))
    distances, _ = nearest_other_rows(flat, 15)
    assert intrinsic_dimension(distances) == pytest.approx(dimension, rel=0.2)


def test_copies_do_not_spoil_the_dimension():
    assert intrinsic_dimension(np.zeros((5, 3))) == 0
    assert intrinsic_dimension(np.ones((5, 3))) == np.finfo(float).max


@pytest.mark.parametrize(
    ("X", "n_clusters"),
    [
        (make_moons(1000, noise=0.05, random_state=0)[0], 2),
        (make_circles(1000, noise=0.04, factor=0.5, random_state=0)[0], 2),
        (make_blobs(600, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)[0], 3),
        (np.random.RandomState(0).normal(size=(500, 2)), 1),
    ],
    ids=["moons", "circles", "blobs", "normal"],
)
def test_peaks_of_any_shape(X, n_clusters):
    found = count_peaks(sample_of(X), 40)
    assert found.n_clusters == n_clusters == len(np.unique(found.labels))
    assert np.count_nonzero(found.heights >= found.threshold) == n_clusters - 1
    assert np.all(np.diff(found.heights) <= 0)
    assert np.all(np.diff(np.bincount(found.labels)) <= 0)


def test_there_are_no_more_peaks_than_are_asked_for():
    X, _ = make_blobs(600, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    for max_clusters in (1, 2, 3, 4):
        found = count_peaks(sample_of(X), max_clusters)
        assert found.n_clusters == min(max_clusters, 3) == len(np.unique(found.labels))


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_have_one_peak(n_rows):
    found = count_peaks(sample_of(np.arange(float(n_rows))[:, None]), 40)
    assert found.n_clusters == 1
    assert found.labels.tolist() == [0] * n_rows


# Dips.


@pytest.mark.parametrize("n_features", [2, 200])
@pytest.mark.parametrize("draw", ["normal", "uniform", "exponential", "t3"])
def test_one_cluster_has_no_dip(n_features, draw):
    rng = np.random.RandomState(n_features)
    X = getattr(rng, draw)(size=(300, n_features)) if draw != "t3" else rng.standard_t(
        3, size=(300, n_features)
    )  # fmt: skip
    found = dips_of(X)
    assert found.n_clusters == 1
    assert found.centers.shape == (1, n_features)
    assert found.kept_values.shape == (2, 0)
    assert found.counts.tolist() == list(range(40, 1, -1))
    assert found.least_dips.max() < SIGNIFICANT_DIP


@pytest.mark.parametrize("n_features", [2, 20, 50])
def test_blobs_have_dips_between_them(n_features):
    centers = np.zeros((5, n_features))
    centers[:, :2] = 10 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 2]])
    X, y = make_blobs(500, centers=centers, random_state=0)
    found = dips_of(X)
    assert found.n_clusters == 5
    at = found.counts.tolist().index(5)
    assert found.least_dips[at] >= SIGNIFICANT_DIP > found.least_dips[:at].max()
    nearest = np.square(X[:, None] - found.centers).sum(axis=2).argmin(axis=1)
    assert len(set(zip(nearest.tolist(), y.tolist(), strict=True))) == 5
    # Two humps between the clusters that were kept: few rows are halfway.
    t, weight = found.kept_values
    assert weight.sum() >= 190
    assert np.count_nonzero(np.abs(t) < 0.2 * np.abs(t).max()) < 10


def test_the_closest_pair_is_merged_first():
    """Three groups on a line, of which two touch; each cluster begins as a half of a group."""
    X = np.concatenate([np.linspace(0, 4, 80), np.linspace(20, 22, 40)])[:, None]
    found = merge_by_dips(MemoryDataset(X, weight=np.ones(120)), np.array([[1.0], [3.0], [21.0]]))
    assert found.n_clusters == 2
    np.testing.assert_allclose(found.centers, [[2.0], [21.0]])
    assert found.counts.tolist() == [3, 2]
    assert found.merged_values.shape[1] == 80


def test_there_is_at_most_one_cluster_for_five_rows(rng):
    assert dips_of(rng.normal(size=(27, 2))).counts.tolist() == [5, 4, 3, 2]
    assert dips_of(rng.normal(size=(4, 2))).counts.tolist() == []
    assert dips_of(rng.normal(size=(30, 2)), max_clusters=1).n_clusters == 1


# Both.


def both_tests(X, weight=None, seed=0):
    return run_tests(MemoryDataset(X, weight=weight), 40, np.random.RandomState(seed))


def test_integer_weights_are_copies(rng):
    X = rng.normal(size=(300, 3)) + 6 * rng.integers(0, 2, size=(300, 1))
    weight = rng.integers(0, 4, size=300).astype(float)
    one, other = both_tests(X, weight), both_tests(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_array_equal(one.dips.least_dips, other.dips.least_dips)
    np.testing.assert_array_equal(one.peaks.heights, other.peaks.heights)
    np.testing.assert_array_equal(one.sample.X, other.sample.X)


def test_only_the_ratios_of_weights_count(rng):
    X = rng.normal(size=(200, 2))
    weight = rng.uniform(0.1, 2, size=200)
    one = read_sample(MemoryDataset(X, weight=weight), np.random.RandomState(0))
    other = read_sample(MemoryDataset(X, weight=1e-200 * weight), np.random.RandomState(0))
    np.testing.assert_allclose(one.weight, other.weight)
    assert one.weight.sum() == pytest.approx(weight.sum() ** 2 / np.square(weight).sum())


def test_copies_of_all_rows_are_no_evidence(rng):
    X = rng.normal(size=(200, 2))
    one, copied = both_tests(X), both_tests(np.repeat(X, 3, axis=0))
    np.testing.assert_allclose(one.dips.least_dips, copied.dips.least_dips)
    np.testing.assert_allclose(one.peaks.heights, copied.peaks.heights)


def test_the_order_and_the_form_of_the_rows_do_not_matter(rng):
    X = rng.normal(size=(300, 3)) + 6 * rng.integers(0, 2, size=(300, 1))
    expected = both_tests(X)
    for rows in (rng.permutation(X), sparse.csr_array(X), np.asfortranarray(X)):
        found = both_tests(rows)
        np.testing.assert_allclose(found.dips.least_dips, expected.dips.least_dips, rtol=1e-6)
        np.testing.assert_allclose(found.peaks.heights, expected.peaks.heights, rtol=1e-6)
        assert found.dips.n_clusters == found.peaks.n_clusters == 2


@pytest.mark.parametrize("seed", range(3))
def test_any_number_of_threads_gives_the_same_bits(seed):
    X, _ = make_blobs(700, n_features=6, centers=4, random_state=seed)
    one, other = (
        run_tests(MemoryDataset(X, n_threads=n), 40, np.random.RandomState(0), n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one.dips.least_dips, other.dips.least_dips)
    np.testing.assert_array_equal(one.peaks.heights, other.peaks.heights)


def test_labels_of_rows_that_were_not_sampled(monkeypatch):
    monkeypatch.setattr(cluster_count, "MAX_ROWS", 1500)
    for X, y in (
        make_moons(3000, noise=0.05, random_state=0),
        make_blobs(3000, n_features=10, centers=4, random_state=0),
    ):
        dataset = MemoryDataset(X)
        found = run_tests(dataset, 40, np.random.RandomState(0))
        assert len(found.sample.weight) == 1500
        assert adjusted_rand_score(found.label(dataset), y) > 0.99

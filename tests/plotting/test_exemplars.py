import numpy as np
import pytest
from scipy import sparse

from modeclust.plotting.exemplars import nearest_in_cluster, own_distances, sample_by_cluster


def test_nearest_rows_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [10.0], [2.0]])
    labels = [0, 0, 0, 1, 1]
    found = nearest_in_cluster(X, labels, np.array([[0.9], [9.0], [5.0]]), 2)
    np.testing.assert_array_equal(found, [[1, 0], [3, 4], [-1, -1]])


def test_ties_go_to_the_first_row():
    found = nearest_in_cluster(np.array([[1.0], [-1.0], [1.0]]), [0, 0, 0], np.zeros((1, 1)), 3)
    np.testing.assert_array_equal(found, [[0, 1, 2]])


@pytest.mark.parametrize("convert", [np.asarray, np.float32, sparse.csr_array, sparse.csr_matrix])
def test_distances_equal_plain_numpy(rng, convert):
    X, centers, labels = rng.normal(size=(50, 3)), rng.normal(size=(4, 3)), rng.integers(0, 4, 50)
    expected = np.linalg.norm(X - centers[labels], axis=1)
    np.testing.assert_allclose(own_distances(convert(X), labels, centers), expected, rtol=1e-6)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_distances_of_rows_far_from_the_origin_keep_their_digits(rng, convert):
    X = 1e6 + rng.normal(size=(50, 3))
    shift = np.array([3e-4, 0.0, -4e-4])
    found = own_distances(convert(X), np.arange(50), X + shift)
    np.testing.assert_allclose(found, 5e-4, rtol=1e-5)


def test_few_rows_are_all_in_the_sample():
    np.testing.assert_array_equal(sample_by_cluster(np.zeros(7, dtype=int), 2), range(7))
    labels = np.repeat([0, 1], [90, 10])
    np.testing.assert_array_equal(sample_by_cluster(labels, 2, size=100), range(100))


@pytest.mark.parametrize(
    ("sizes", "drawn"),
    [([9000, 900, 97, 0, 3], [900, 90, 10, 0, 3]), ([8000, 1990, 10, 0, 0], [800, 199, 10, 0, 0])],
)
def test_a_sample_keeps_shares_and_small_clusters(sizes, drawn):
    labels = np.repeat(np.arange(5), sizes)
    chosen = sample_by_cluster(labels, 5, size=1000)
    np.testing.assert_array_equal(np.bincount(labels[chosen], minlength=5), drawn)
    assert len(np.unique(chosen)) == len(chosen)
    np.testing.assert_array_equal(chosen, sample_by_cluster(labels, 5, size=1000))

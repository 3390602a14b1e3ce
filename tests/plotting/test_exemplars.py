import numpy as np
import pytest
from scipy import sparse

from modeclust import kmodes_path
from modeclust.plotting import exemplars
from modeclust.plotting.exemplars import (
    labels_along,
    labels_at,
    nearest_in_cluster,
    own_distances,
)


def test_nearest_rows_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [10.0], [2.0]])
    labels = [0, 0, 0, 1, 1]
    found = nearest_in_cluster(X, labels, np.array([[0.9], [9.0], [5.0]]), 2)
    np.testing.assert_array_equal(found, [[1, 0], [3, 4], [-1, -1]])


def test_ties_go_to_the_first_row():
    found = nearest_in_cluster(np.array([[1.0], [-1.0], [1.0]]), [0, 0, 0], np.zeros((1, 1)), 3)
    np.testing.assert_array_equal(found, [[0, 1, 2]])


@pytest.mark.parametrize("convert", [np.asarray, np.float32, sparse.csr_array, sparse.csr_matrix])
def test_distances_in_blocks_are_those_of_plain_numpy(rng, monkeypatch, convert):
    monkeypatch.setattr(exemplars, "BLOCK_NUMBERS", 21)
    X, centers, labels = rng.normal(size=(50, 3)), rng.normal(size=(4, 3)), rng.integers(0, 4, 50)
    expected = np.linalg.norm(X - centers[labels], axis=1)
    np.testing.assert_allclose(own_distances(convert(X), labels, centers), expected, rtol=1e-6)


def test_labels_are_those_kept_or_else_found_anew(blobs):
    options = {"bandwidths": [np.inf, 2.0, 1.0], "random_state": 0}
    kept = kmodes_path(blobs, 3, store_labels=True, **options)
    lost = kmodes_path(blobs, 3, store_labels=False, **options)
    np.testing.assert_array_equal(labels_along(blobs, lost), kept.labels)
    np.testing.assert_array_equal(labels_along(blobs, kept), kept.labels)
    for step in range(3):
        np.testing.assert_array_equal(labels_at(blobs, lost, step), kept.labels[step])

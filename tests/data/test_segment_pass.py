import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.segment_pass import SegmentPass
from modeclust.kernels import KERNELS


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_densities_along_segments_agree_with_the_reference(rng, kernel, is_sparse):
    X = np.round(rng.normal(size=(400, 3)), 1)
    centroids = X[:4] + 0.05
    pairs = np.array([[0, 1], [1, 3], [0, 2]])
    fractions = np.linspace(0, 1, 5)
    with MemoryDataset(sparse.csr_array(X) if is_sparse else X) as rows:
        rows.run(ModePass(centroids, 0, 0.0))
        labels = rows.labels()
        pass_ = SegmentPass(centroids, pairs, fractions, KERNELS[kernel], 1 / 0.8**2)
        found = rows.run(pass_).values
    for (i, j), values in zip(pairs, found, strict=True):
        places = centroids[i] + fractions[:, None] * (centroids[j] - centroids[i])
        pooled = X[(labels == i) | (labels == j)]
        expected = reference.density(pooled, places, 0.8, kernel)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-14)


def test_two_modes_at_one_place():
    X = np.array([[0.0], [1.0]])
    with MemoryDataset(X) as rows:
        rows.run(ModePass(np.array([[0.5], [0.5]]), 0, 0.0))
        pass_ = SegmentPass(
            np.array([[0.5], [0.5]]), np.array([[0, 1]]), np.array([0.0, 0.5, 1.0]), 0, 1.0
        )
        np.testing.assert_allclose(rows.run(pass_).values, 2 * np.exp(-0.125))

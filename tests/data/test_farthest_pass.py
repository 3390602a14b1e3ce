import numpy as np
from scipy import sparse

from modeclust.data.farthest_pass import FarthestPass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass


def test_farthest_rows_first_with_their_weights(rng):
    X = rng.normal(size=(30_000, 2))
    weight = rng.integers(0, 2, size=30_000) * 2.0
    scale = rng.uniform(1, 2, size=30_000)
    centroids = X[:3]
    distances = np.square(X[:, None] - centroids).sum(axis=2).min(axis=1)
    expected = np.argsort(np.where(weight > 0, -distances, 0))[:4]
    for form in (X, sparse.csr_array(X)):
        with MemoryDataset(form, weight=weight, scale=scale) as rows:
            rows.run(ModePass(centroids, 0, 0.0))
            found = rows.run(FarthestPass(centroids, 4))
        np.testing.assert_array_equal(found.indices, expected)
        np.testing.assert_allclose(found.distances, distances[expected])
        np.testing.assert_allclose(found.weights, 2.0 / scale[expected] ** 2)

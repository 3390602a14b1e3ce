import numpy as np
import pytest

from modeclust.data.spatial_order import spatial_order
from modeclust.estimators.kernel_density import LEAF


@pytest.mark.parametrize("n_rows", [1, 100, LEAF, 1000, 5 * LEAF + 1])
def test_spatial_order_keeps_every_row_once_in_small_boxes(rng, n_rows):
    X = rng.uniform(size=(n_rows, 2))
    order = spatial_order(X, LEAF)
    np.testing.assert_array_equal(np.sort(order), np.arange(n_rows))
    if n_rows == 1000:
        leaves = np.split(X[order], range(LEAF, n_rows, LEAF))
        areas = [np.prod(leaf.max(axis=0) - leaf.min(axis=0)) for leaf in leaves]
        assert sum(areas) < 1.3

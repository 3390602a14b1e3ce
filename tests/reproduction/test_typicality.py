import numpy as np
import pytest

from reproduction.typicality import (
    densities_at,
    density_ranks,
    distances_to_rows,
    greyness,
    purity,
)


def test_density_is_a_mean_of_kernel_values():
    density = densities_at(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]), 2.0)
    np.testing.assert_allclose(density, [(1 + np.exp(-0.5)) / 2, np.exp(-0.125)])


def test_ranks_of_densities_by_hand():
    # Each row at 0 has a neighbour, and the row at 9 has none.
    X = np.array([[0.0], [0.0], [9.0]])
    np.testing.assert_allclose(density_ranks(X, np.array([[0.0], [4.5]]), 1.0), [1, 1 / 3])
    assert density_ranks(X, np.array([[300.0]]), 1.0) == 0


def test_purity_by_hand():
    y = np.array([0, 0, 1, 1, 2])
    neighbors = np.array([[0, 1, 2, 3], [2, 3, 4, -1], [-1, -1, -1, -1]])
    assert purity(y, neighbors) == pytest.approx((2 / 4 + 2 / 3) / 2)


def test_greyness_by_hand():
    assert greyness(np.array([[0.0, 1.0]])) == 0
    assert greyness(np.array([[0.5, 0.5], [0.0, 1.0]])) == 0.5


def test_mean_distance_to_the_nearest_rows():
    X = np.array([[0.0], [1.0], [5.0]])
    np.testing.assert_allclose(distances_to_rows(X, np.array([[0.0], [6.0]])), [0, 1])
    np.testing.assert_allclose(distances_to_rows(X, np.array([[0.0], [6.0]]), 2), [0.5, 3])

"""What the core does with the sums of passes: means, moves of centers, and merging."""

import numpy as np
import pytest

from modeclust import _core
from modeclust.data.mode_pass import ModePass
from modeclust.kernels import KERNELS

K, D = 7, 5


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


@pytest.mark.parametrize("unit_length", [False, True])
@pytest.mark.parametrize("n_clusters", [1, K, 50_000])  # the last is shared among threads
def test_means(unit_length, n_clusters, rng):
    totals, otherwise = rng.normal(size=(2, n_clusters, D))
    mass = rng.uniform(0.5, 2.0, n_clusters)
    mass[::3] = 0.0
    expected = otherwise.copy()
    for k in np.flatnonzero(mass):
        expected[k] = unit(totals[k]) if unit_length else totals[k] / mass[k]
    found = _core.means(totals, mass, otherwise, unit_length)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_array_equal(found[::3], otherwise[::3])


def test_totals_that_cancel_have_no_direction():
    totals, otherwise = np.array([[1e-13, 0.0], [3e200, 4e200]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    found = _core.means(totals, np.ones(2), otherwise, True)
    np.testing.assert_allclose(found, [[0.0, 1.0], [0.6, 0.8]], rtol=1e-15)


@pytest.mark.parametrize(
    ("tolerance", "rounding", "settled"),
    [(0.0, 0.0, False), (4.9, 0.0, False), (5.0, 0.0, True), (0.5, 0.49, False), (0.5, 0.5, True)],
)
def test_moves_of_centers(tolerance, rounding, settled):
    before = np.array([[10.0, -2.0], [1.0, 1.0]])
    after = before + [[3.0, 4.0], [0.0, 0.5]]
    found = _core.center_moves(before, after, tolerance, rounding)
    assert found == (5.0, 25.25, settled)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [1e-2, 3.0, 1e3])
def test_merged_sums_are_those_of_all_rows(kernel, bandwidth, rng):
    X, centers = rng.normal(size=(60, D)), rng.normal(size=(K, D))
    step = ModePass(centers, KERNELS[kernel], 1 / bandwidth**2)
    merged = step.run(_core.Rows(X[:20].copy()))
    merged.merge(step.run(_core.Rows(X[20:].copy(), first_row=20)))
    whole = step.run(_core.Rows(X))
    for name in ("counts", "nearest", "nearest_distance"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))
    # The sums themselves are in units of their reference, which may differ.
    np.testing.assert_allclose(merged.moved(centers), whole.moved(centers), rtol=1e-9)
    np.testing.assert_allclose(merged.rows_averaged(), whole.rows_averaged(), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_rows", [50, 900, 3000])  # in one block, and in several
def test_rows_nearer_than_those_before(kernel, n_rows, rng):
    X = np.concatenate([rng.normal(3.0, 0.1, (n_rows, 2)), rng.normal(1.0, 0.1, (n_rows, 2))])
    step = ModePass(np.zeros((1, 2)), KERNELS[kernel], 1 / 0.02**2)
    found, expected = (step.run(_core.Rows(rows)) for rows in (X, X[::-1]))
    np.testing.assert_allclose(found.moved(step.centers), expected.moved(step.centers), rtol=1e-12)
    np.testing.assert_allclose(found.rows_averaged(), expected.rows_averaged(), rtol=1e-12)


def test_shapes_must_agree():
    ones = np.ones((K, D))
    with pytest.raises(ValueError, match="must have the same shape"):
        _core.means(ones, np.ones(K + 1), ones)
    with pytest.raises(ValueError, match="must have the same shape"):
        _core.center_moves(ones, np.ones((K, D + 1)))
    sums = [np.ones(K), np.ones(K), np.ones(K), ones.copy()]
    with pytest.raises(ValueError, match="must have the same shape"):
        _core.merge_mode_sums(0, *sums, np.ones(K - 1), *sums[1:])

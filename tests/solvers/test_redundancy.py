import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.kernels import KERNELS
from modeclust.solvers.kmodes import solve
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.redundancy import (
    SegmentPass,
    density_ratios,
    redundant_pairs,
    representatives,
)


def ratios_of(X, start, bandwidth):
    with MemoryDataset(X) as rows:
        state = solve(rows, start, bandwidth, SolverOptions(0, max_iter=500))
        return density_ratios(rows, state, 0), state, rows.labels()


def test_one_gaussian_cut_in_two_is_redundant_and_two_gaussians_are_not(rng):
    X = np.concatenate([rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)) + [9, 0]])
    start = np.array([[-1.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    ratios, _, _ = ratios_of(X, start, 0.7)
    assert ratios[0, 1] > 0.95
    assert ratios[0, 2] < 0.1
    assert ratios[1, 2] < 0.1
    assert redundant_pairs(ratios, 0.9) == [(0, 1)]


def test_of_many_rows_only_some_count(rng, monkeypatch):
    X = np.concatenate([rng.normal(size=(6000, 2)), rng.normal(size=(6000, 2)) + [4, 0]])
    start = np.array([[0.0, 0.0], [4.0, 0.0]])
    whole, _, _ = ratios_of(X, start, 0.7)
    monkeypatch.setattr("modeclust.solvers.redundancy.MAX_ROWS", 1000)
    some, _, _ = ratios_of(X, start, 0.7)
    assert some[0, 1] != whole[0, 1]
    assert some[0, 1] == pytest.approx(whole[0, 1], rel=0.2)
    exact, _, _ = ratios_of(X[::6], start, 0.7)
    assert some[0, 1] == pytest.approx(exact[0, 1], rel=0.05)


def test_the_ratio_is_that_of_the_pooled_density(rng):
    X = np.concatenate([rng.normal(size=(300, 1)), rng.normal(size=(200, 1)) + 3])
    ratios, state, labels = ratios_of(X, np.array([[0.0], [3.0]]), 0.5)
    assert set(labels) == {0, 1}
    ends = state.centers
    points = ends[0] + np.linspace(0, 1, 1001)[:, None] * (ends[1] - ends[0])
    densities = reference.density(X, points, 0.5)
    expected = densities.min() / min(densities[0], densities[-1])
    assert ratios[0, 1] == pytest.approx(expected, rel=0.01)
    assert ratios[1, 0] == ratios[0, 1]


def test_empty_clusters_are_left_out():
    X = np.array([[0.0], [1.0], [2.0]])
    ratios, state, _ = ratios_of(X, np.array([[1.0], [50.0]]), 1.0)
    assert state.counts.tolist() == [3, 0]
    assert ratios.nnz == 0
    ratios, _, _ = ratios_of(X, np.array([[1.0]]), 1.0)
    assert ratios.shape == (1, 1)


def test_pairs_come_with_the_highest_ratio_first():
    ratios = np.zeros((4, 4))
    ratios[0, 3], ratios[1, 2], ratios[0, 1] = 0.95, 0.99, 0.5
    assert redundant_pairs(sparse.csr_array(ratios + ratios.T), 0.9) == [(1, 2), (0, 3)]


def test_the_largest_of_each_group_stays():
    counts = np.array([5, 9, 1, 7, 7])
    assert representatives([(0, 1), (1, 2), (3, 4), (0, 2)], counts).tolist() == [1, 3]
    assert representatives([], counts).tolist() == [0, 1, 2, 3, 4]


def test_a_chain_of_pairs_is_cut_where_it_is_weakest():
    counts = np.array([5, 9, 1, 7, 7])
    assert representatives([(1, 2), (0, 1)], counts).tolist() == [0, 1, 3, 4]
    assert representatives([(0, 1), (1, 2)], counts).tolist() == [1, 2, 3, 4]
    assert representatives([(0, 1), (2, 3), (1, 2), (0, 2), (1, 3)], counts).tolist() == [1, 3, 4]


def test_many_modes_are_compared_with_their_nearest_only(rng):
    centers = np.arange(40.0)[:, None] * 10
    X = (centers + rng.normal(size=(40, 20))).reshape(-1, 1)
    ratios, _, _ = ratios_of(X, centers, 1.0)
    assert ratios.nnz < 40 * 20
    assert all(ratios[i, i + 1] > 0 for i in range(39))  # low, and not left out


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_densities_along_segments_agree_with_the_reference(rng, kernel, is_sparse):
    X = np.round(rng.normal(size=(400, 3)), 1)
    centers = X[:4] + 0.05
    pairs = np.array([[0, 1], [1, 3], [0, 2]])
    fractions = np.linspace(0, 1, 5)
    with MemoryDataset(sparse.csr_array(X) if is_sparse else X) as rows:
        rows.run(ModePass(centers, 0, 0.0))
        labels = rows.labels()
        pass_ = SegmentPass(centers, pairs, fractions, KERNELS[kernel], 1 / 0.8**2)
        found = rows.run(pass_).values
    for (i, j), values in zip(pairs, found, strict=True):
        points = centers[i] + fractions[:, None] * (centers[j] - centers[i])
        pooled = X[(labels == i) | (labels == j)]
        expected = reference.density(pooled, points, 0.8, kernel)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-14)


def test_the_density_between_two_equal_modes_is_constant():
    X = np.array([[0.0], [1.0]])
    with MemoryDataset(X) as rows:
        rows.run(ModePass(np.array([[0.5], [0.5]]), 0, 0.0))
        pass_ = SegmentPass(
            np.array([[0.5], [0.5]]), np.array([[0, 1]]), np.array([0.0, 0.5, 1.0]), 0, 1.0
        )
        np.testing.assert_allclose(rows.run(pass_).values, 2 * np.exp(-0.125))

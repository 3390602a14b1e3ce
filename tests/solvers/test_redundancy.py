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
    dip_significance,
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
    ratios, state, _ = ratios_of(X, start, 0.7)
    assert ratios[0, 1] > 0.95
    assert ratios[0, 2] < 0.1
    assert ratios[1, 2] < 0.1
    significance = dip_significance(ratios, state.rows_averaged)
    assert significance[0, 1] < 2.5 < significance[0, 2]
    assert redundant_pairs(significance, 2.5) == ([(0, 1)], False)


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


def symmetric(size, values):
    """Return a CSR matrix that stores zeros too."""
    pairs = np.array([*values, *(pair[::-1] for pair in values)])
    data = np.array([*values.values()] * 2, dtype=float)
    order = np.lexsort(pairs.T[::-1])
    ends = np.bincount(pairs[:, 0], minlength=size).cumsum()
    return sparse.csr_array((data[order], pairs[order, 1], [0, *ends]), shape=(size, size))


def test_the_significance_by_hand():
    ratios = symmetric(3, {(0, 1): 0.25, (0, 2): 1.0, (1, 2): 0.0})
    found = dip_significance(ratios, np.array([50.0, 8.0, 3.0]))
    assert found[0, 1] == found[1, 0] == pytest.approx(np.sqrt(16) * 0.5)
    assert np.isinf(found[0, 2])  # the average of three rows tells nothing
    assert found.nnz == 6
    assert dip_significance(ratios, np.full(3, 50.0))[0, 2] == 0


def test_pairs_come_with_the_smallest_dip_first():
    depth = {(0, 3): 1.0, (1, 2): 0.0, (0, 1): 2.5, (0, 2): 9.0, (1, 3): 9.0, (2, 3): np.inf}
    significance = symmetric(4, depth)
    assert redundant_pairs(significance, 2.5) == ([(1, 2), (0, 3)], False)
    assert redundant_pairs(significance, 0.0) == ([], False)
    assert redundant_pairs(significance, 3.0).pairs == [(1, 2), (0, 3), (0, 1)]
    assert redundant_pairs(sparse.csr_array((4, 4)), 2.5) == ([], False)


def test_where_most_pairs_have_no_dip_none_is_redundant():
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for n_redundant, is_too_wide in ((3, False), (4, True), (6, True)):
        depth = {pair: 0.0 if i < n_redundant else 9.0 for i, pair in enumerate(pairs)}
        found = redundant_pairs(symmetric(4, depth), 2.5)
        assert found.is_too_wide == is_too_wide
        assert len(found.pairs) == (0 if is_too_wide else n_redundant)
    # Of many clusters, only pairs within two groups are compared, and none has a dip.
    groups = {(i, j): 0.0 for i in range(10) for j in range(i + 1, 10) if (i < 5) == (j < 5)}
    assert redundant_pairs(symmetric(10, groups), 2.5) == (list(groups), False)


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

from functools import reduce

import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.kernels import KERNELS


def run(X, centers, bandwidth, kernel="gaussian", reassign=True, **rows_options):
    with MemoryDataset(X, **rows_options) as rows:
        pass_ = ModePass(centers, KERNELS[kernel], bandwidth**-2, reassign)
        return rows.run(pass_), rows.labels()


def test_four_points_by_hand():
    X = np.array([[0.0], [2.0], [5.0], [6.0]])
    centers = np.array([[1.0], [6.0]])
    sums, labels = run(X, centers, bandwidth=1.0)
    assert labels.tolist() == [0, 0, 1, 1]
    assert sums.counts.tolist() == [2, 2]
    # Cluster 0: both points at t = 1. Cluster 1: t = 1 and t = 0.
    assert sums.reference.tolist() == [1.0, 0.0]
    assert sums.mass == pytest.approx([2.0, 1 + np.exp(-0.5)])
    assert sums.totals.ravel() == pytest.approx([2.0, 6 + 5 * np.exp(-0.5)])
    assert sums.objective == pytest.approx(3 * np.exp(-0.5) + 1)
    assert sums.inertia == pytest.approx(3.0)
    assert sums.nearest.tolist() == [0, 3]
    assert sums.changed == 4
    pull = np.exp(-0.5)
    expected = [1.0, (6 + 5 * pull) / (1 + pull)]
    assert sums.moved(centers).ravel() == pytest.approx(expected, rel=1e-15)


def test_a_tie_goes_to_the_lowest_center():
    X = np.zeros((5, 2))
    centers = np.array([[3.0, 4.0], [5.0, 0.0], [0.0, 5.0], [0.0, -5.0]])
    for rows in (X, sparse.csr_array(X)):
        assert run(rows, centers, 1.0)[1].tolist() == [0] * 5


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("bandwidth", [1e-9, 0.3, 2.0, 50.0, np.inf])
@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
def test_one_pass_agrees_with_the_reference(rng, kernel, dtype, is_sparse, bandwidth, n_features):
    X = rng.normal(size=(300, n_features)).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0
    centers = rng.normal(size=(6, n_features))
    weight = rng.integers(0, 3, size=300).astype(float)
    scale = rng.uniform(0.5, 2, size=300)
    rows = sparse.csr_array(X) if is_sparse else X
    sums, labels = run(rows, centers, bandwidth, kernel, weight=weight, scale=scale)

    exact = X.astype(np.float64)
    np.testing.assert_array_equal(labels, reference.assign(exact, centers))
    expected = reference.mode_step(exact, labels, centers, bandwidth, kernel, weight, scale)
    np.testing.assert_allclose(sums.moved(centers), expected, rtol=1e-10, atol=1e-12)
    expected = reference.objective(exact, centers, bandwidth, kernel, weight, scale)
    assert sums.objective / sums.weight == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_sums_merge_the_same_in_any_grouping(rng):
    X = rng.normal(size=(90, 3))
    centers = X[:4].copy()
    for name, kernel in KERNELS.items():
        pass_ = ModePass(centers, kernel, 4.0)

        def sums_of(part, pass_=pass_):
            with MemoryDataset(part) as rows:
                return rows.run(pass_)

        def merged(first, second):
            first.merge(second)
            return first

        parts = [X[:1], X[1:30], X[30:31], X[31:]]
        left = reduce(merged, [sums_of(part) for part in parts])
        last = merged(sums_of(parts[2]), sums_of(parts[3]))
        right = merged(sums_of(parts[0]), merged(sums_of(parts[1]), last))
        whole = sums_of(X)
        for other in (left, right):
            np.testing.assert_allclose(
                other.moved(centers), whole.moved(centers), rtol=1e-13, err_msg=name
            )
            assert other.objective == pytest.approx(whole.objective, rel=1e-13)
            assert other.counts.tolist() == whole.counts.tolist()


def test_no_bandwidth_underflows(rng):
    X = rng.normal(size=(50, 2))
    centers = np.array([[10.0, 10.0], [-10.0, -10.0]])
    for kernel in ("gaussian", "cauchy"):
        for bandwidth in (1e-3, 1e-30, 1e-140):
            sums, labels = run(X, centers, bandwidth, kernel)
            moved = sums.moved(centers)
            nearest = X[sums.nearest]
            assert np.isfinite(moved).all()
            if kernel == "gaussian":
                np.testing.assert_allclose(moved, nearest, atol=1e-12)
            assert set(labels) == {0, 1}


def test_sums_are_accurate_where_each_row_is_nearer_than_the_last():
    # Each tile brings smaller t than all before: the reference follows, and nothing is lost.
    X = np.geomspace(1e3, 1e-3, 20_000)[:, None] * [1.0, -1.0]
    centers = np.zeros((1, 2))
    for name in ("gaussian", "cauchy"):
        sums, labels = run(X, centers, 0.5, name, n_jobs=1)
        expected = reference.mode_step(X, labels, centers, 0.5, name)
        np.testing.assert_allclose(sums.moved(centers), expected, rtol=1e-12)
        expected = reference.objective(X, centers, 0.5, name)
        assert sums.objective / sums.weight == pytest.approx(expected, rel=1e-12)


def test_labels_stay_where_rows_are_not_reassigned():
    X = np.array([[0.0], [1.0], [10.0]])
    with MemoryDataset(X) as rows:
        rows.run(ModePass(np.array([[0.0], [10.0]]), 0, 0.0))
        sums = rows.run(ModePass(np.array([[10.0], [0.0]]), 0, 0.0, reassign=False))
        assert rows.labels().tolist() == [0, 0, 1]
    assert sums.changed == 0
    assert sums.inertia == pytest.approx(100 + 81 + 100)


def test_csr_distances_keep_their_digits_where_the_center_is_the_row(rng):
    X = sparse.random(40, 500, 0.05, format="csr", rng=rng)
    centers = X[:5].toarray()
    centers[:, 7] += 1e-12
    sums, _ = run(X, centers, 1.0)
    np.testing.assert_allclose(sums.nearest_distance, 1e-24, rtol=1e-3)


def test_bits_do_not_depend_on_the_number_of_threads(rng):
    X = rng.normal(size=(40_000, 3)).astype(np.float32)
    centers = X[:9].astype(np.float64)
    results = []
    for n_jobs in (1, 2, 5):
        sums, labels = run(X, centers, 0.5, n_clusters=9, n_jobs=n_jobs)
        results.append(
            (sums.totals.tobytes(), sums.mass.tobytes(), sums.objective, labels.tobytes())
        )
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_features", [1, 2, 3, 40])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_tiles_without_any_weight_leave_nothing(rng, kernel, n_features, container):
    X = rng.normal(size=(3000, n_features))
    weight = np.ones(3000)
    weight[:2000] = 0
    centers = X[:2] + 0.1
    sums, labels = run(container(X), centers, 3.0 * n_features, kernel, weight=weight)
    expected = reference.mode_step(X, labels, centers, 3.0 * n_features, kernel, weight)
    np.testing.assert_allclose(sums.moved(centers), expected, rtol=1e-10)
    assert not np.allclose(expected, centers)


def test_a_far_row_of_great_weight_moves_the_center():
    X = np.array([[0.0], [11.0]])
    centers = np.zeros((1, 1))
    for options in ({"weight": np.array([1e-30, 1.0])}, {"scale": np.array([1e15, 1.0])}):
        sums, labels = run(X, centers, 1.0, **options)
        expected = reference.mode_step(X, labels, centers, 1.0, "gaussian", **options)
        assert expected[0, 0] > 10
        np.testing.assert_allclose(sums.moved(centers), expected, rtol=1e-10)


def test_labels_are_needed_before_they_can_be_kept(rng):
    X = rng.normal(size=(20, 2))
    with MemoryDataset(X) as rows, pytest.raises(RuntimeError, match="no labels yet"):
        rows.run(ModePass(X[:2], 0, 1.0, reassign=False))


@pytest.mark.parametrize("n_features", [2, 40, 900])
def test_bits_over_passes_with_bounds_do_not_depend_on_the_number_of_threads(rng, n_features):
    X = rng.normal(size=(9000, n_features)).astype(np.float32)
    results = []
    for n_jobs in (1, 2, 5):
        with MemoryDataset(X, n_clusters=75, n_jobs=n_jobs) as rows:
            centers = X[:75].astype(np.float64)
            for _ in range(4):
                sums = rows.run(ModePass(centers, 0, 1.0 / n_features))
                centers = sums.moved(centers)
            results.append((centers.tobytes(), sums.objective, rows.labels().tobytes()))
    assert results[0] == results[1] == results[2]

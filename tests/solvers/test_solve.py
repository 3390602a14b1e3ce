import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import core_rows
from modeclust.kernels import KERNELS
from modeclust.solvers.solve import (
    RunningMeans,
    inverse_square,
    solve,
    solve_kmeans,
    spread,
)


def test_iterations_are_those_of_the_reference(rng):
    X = rng.normal(size=(200, 3))
    centroids = X[:4].copy()
    for name, kernel in KERNELS.items():
        with MemoryDataset(X) as rows:
            state = solve(rows, centroids, 1.5, kernel=kernel, max_iter=5, tol=0)
        expected = reference.kmodes(X, centroids, 1.5, 5, kernel=name)
        np.testing.assert_allclose(state.centroids, expected, rtol=1e-10, err_msg=name)
        assert state.n_iter == 5
        assert state.objective == pytest.approx(reference.objective(X, expected, 1.5, name))


def test_mode_steps_between_assignments(rng):
    X = rng.normal(size=(200, 3))
    centroids = X[:4].copy()
    with MemoryDataset(X) as rows:
        state = solve(rows, centroids, 1.0, kernel=0, max_iter=2, mean_shift_iter=3, tol=0)
    for _ in range(2):
        labels = reference.assign(X, centroids)
        for _ in range(3):
            centroids = reference.mode_step(X, labels, centroids, 1.0)
    np.testing.assert_allclose(state.centroids, centroids, rtol=1e-10)


def test_it_stops_where_labels_and_centroids_are_still(rng):
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 8])
    with MemoryDataset(X) as rows:
        state = solve(rows, X[[0, 50]], 1.0, kernel=0, max_iter=1000, tol=1e-6)
        assert state.converged
        assert state.residual <= 1e-6
        again = solve(rows, state.centroids, 1.0, kernel=0, max_iter=1000, tol=1e-6)
    assert again.n_iter == 1
    np.testing.assert_array_equal(again.centroids, state.centroids)


def test_state_belongs_to_its_centroids(rng):
    X = rng.normal(size=(300, 2))
    with MemoryDataset(X) as rows:
        for max_iter in (1, 7, 500):
            state = solve(rows, X[:3], 0.7, kernel=0, max_iter=max_iter)
            labels = reference.assign(X, state.centroids)
            np.testing.assert_array_equal(rows.labels(), labels)
            np.testing.assert_array_equal(state.counts, np.bincount(labels, minlength=3))
            distances = reference.squared_distances(X, state.centroids)
            for k in range(3):
                own = np.flatnonzero(labels == k)
                assert state.nearest[k] == own[distances[own, k].argmin()]


def test_kmeans_follows_scikit_learn(rng):
    # Without the ties between points that were measured to one decimal.
    X = load_iris().data + rng.normal(scale=1e-6, size=(150, 4))
    for seed in range(5):
        start = X[np.random.default_rng(seed).choice(150, 5, replace=False)]
        for max_iter in (1, 3, 300):
            for tol in (0.0, 1e-4, 0.1):
                theirs = KMeans(5, init=start, n_init=1, max_iter=max_iter, tol=tol)
                theirs.fit(X)
                with MemoryDataset(X) as rows:
                    ours = solve_kmeans(
                        rows, start, max_iter=max_iter, tolerance=tol * spread(rows)
                    )
                    np.testing.assert_array_equal(rows.labels(), theirs.labels_)
                np.testing.assert_allclose(ours.centroids, theirs.cluster_centers_, rtol=1e-12)
                assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-12)
                assert ours.n_iter == theirs.n_iter_


@pytest.mark.parametrize("is_sparse", [False, True])
def test_an_empty_cluster_takes_the_farthest_row_as_in_scikit_learn(rng, is_sparse):
    X = np.concatenate([rng.normal(size=(40, 2)), [[30.0, 0.0], [0.0, 20.0]]])
    weight = rng.uniform(0.5, 2.0, size=len(X))
    start = np.array([[0.0, 0.0], [500.0, 500.0], [-500.0, 0.0], [1.0, 1.0]])
    theirs = KMeans(4, init=start, n_init=1, tol=0).fit(X, sample_weight=weight)
    with MemoryDataset(sparse.csr_array(X) if is_sparse else X, weight=weight) as rows:
        ours = solve_kmeans(rows, start, max_iter=300, tolerance=0.0)
        np.testing.assert_array_equal(rows.labels(), theirs.labels_)
    np.testing.assert_allclose(ours.centroids, theirs.cluster_centers_, rtol=1e-10, atol=1e-14)


def test_on_the_path_an_empty_cluster_keeps_its_centroid():
    X = np.array([[0.0], [1.0], [2.0]])
    start = np.array([[1.0], [99.0]])
    with MemoryDataset(X) as rows:
        state = solve(rows, start, 1.0, kernel=0, max_iter=10)
    assert state.counts.tolist() == [3, 0]
    assert state.nearest.tolist() == [1, -1]
    assert state.centroids[1, 0] == 99.0
    assert not state.unsupported.any()


def test_a_centroid_with_no_point_in_the_support_stays():
    X = np.array([[0.0], [1.0], [9.0], [11.0]])
    with MemoryDataset(X) as rows:
        state = solve(rows, np.array([[0.4], [10.0]]), 0.9, kernel=1, max_iter=10)
    assert state.unsupported.tolist() == [False, True]
    assert state.centroids.ravel().tolist() == [0.5, 10.0]


def test_spread_is_the_mean_variance(rng):
    X = rng.normal(size=(500, 3)) * [1, 2, 3] + 7
    weight = rng.integers(0, 4, size=500).astype(float)
    with MemoryDataset(X) as rows:
        assert spread(rows) == pytest.approx(X.var(axis=0).mean(), rel=1e-12)
    with MemoryDataset(X, weight=weight) as rows:
        repeated = np.repeat(X, weight.astype(int), axis=0)
        assert spread(rows) == pytest.approx(repeated.var(axis=0).mean(), rel=1e-12)


def test_inverse_square_of_any_bandwidth_is_finite():
    assert inverse_square(np.inf) == 0.0
    assert inverse_square(2.0) == 0.25
    assert np.isfinite(inverse_square(5e-324))


def test_a_heavy_row_that_leaves_takes_its_rounding_along():
    X = np.array([[0.0], [1.0 / 3.0], [9.0]])
    with MemoryDataset(X, weight=np.array([1.0, 1.0, 1e17])) as rows:
        means = RunningMeans(rows, np.array([[3.0], [50.0]]))
        assert means.sums.counts.tolist() == [3, 0]
        means.assign(np.array([[0.0], [9.0]]))
    assert means.sums.counts.tolist() == [2, 1]
    assert means.sums.mass[0] == 2.0
    assert means.sums.totals[0, 0] == pytest.approx(1.0 / 3.0)


class Forgetful(MemoryDataset):
    """Rows that now and then forget what they know, as a worker that died does."""

    passes = 0

    def run(self, pass_):
        self.passes += 1
        if self.passes % 3 == 0:
            self.rows = core_rows(self.X, n_clusters=8)
        return super().run(pass_)


def test_kmeans_over_rows_that_forget_is_the_same(rng):
    X = rng.normal(size=(6000, 3))
    start = X[:8].copy()
    results = []
    for kind in (MemoryDataset, Forgetful):
        with kind(X, n_clusters=8) as rows:
            results.append(solve_kmeans(rows, start, max_iter=40, tolerance=0.0))
    np.testing.assert_allclose(results[0].centroids, results[1].centroids, rtol=1e-9)
    assert results[0].counts.tolist() == results[1].counts.tolist()


def test_a_far_row_that_comes_and_goes_does_not_take_the_mean_along(rng):
    X = np.append(rng.normal(5.0, 1.0, size=1000), 1e20)[:, None]
    with MemoryDataset(X) as rows:
        state = solve_kmeans(rows, np.array([[5.0], [-1e19]]), max_iter=50, tolerance=0.0)
    assert state.converged
    np.testing.assert_allclose(np.sort(state.centroids.ravel()), [X[:-1].mean(), 1e20])


def test_a_far_centroid_does_not_stop_the_others(rng):
    X = np.vstack([rng.normal(size=(300, 2)), [[1e15, 1e15]]])
    near = np.array([[1.5, 1.5], [-1.5, -1.5]])
    with MemoryDataset(X) as rows:
        state = solve(rows, np.vstack([near, X[-1:]]), 0.5, kernel=0, max_iter=500)
    with MemoryDataset(X[:-1]) as rows:
        alone = solve(rows, near, 0.5, kernel=0, max_iter=500)
    assert alone.n_iter > 5
    np.testing.assert_allclose(state.centroids[:2], alone.centroids, rtol=1e-6)

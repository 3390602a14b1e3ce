from itertools import islice

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import load_iris

from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import core_rows
from modeclust.data.sample import Sample
from modeclust.solvers.kmeans import (
    ROWS_FOR_SEEDS,
    RunningMeans,
    check_distinct,
    distinct_rows,
    draw_seeds,
    mean_variance,
    solve_kmeans,
)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_seeds_are_distinct_rows(rng, init):
    X = rng.integers(0, 3, size=(200, 2)).astype(float)
    with MemoryDataset(X) as rows:
        pool = distinct_rows(rows, 9, np.random.RandomState(0))
    assert len(pool.weight) == 9
    for seeds in islice(draw_seeds(pool, 9, init, np.random.RandomState(0)), 3):
        assert len(np.unique(seeds, axis=0)) == 9


def test_kmeans_plusplus_spreads_its_seeds(rng):
    X = np.concatenate([rng.normal(size=(500, 2)), rng.normal(size=(5, 2)) + 1000])
    with MemoryDataset(X) as rows:
        pool = distinct_rows(rows, 2, np.random.RandomState(0))
    for seeds in islice(draw_seeds(pool, 2, "k-means++", np.random.RandomState(0)), 5):
        assert np.ptp(seeds[:, 0]) > 900


def test_random_seeds_are_drawn_by_weight():
    X = np.arange(4.0)[:, None]
    with MemoryDataset(X, weight=np.array([1.0, 0.0, 8.0, 1.0])) as rows:
        pool = distinct_rows(rows, 1, np.random.RandomState(0))
    drawn = [s[0, 0] for s in islice(draw_seeds(pool, 1, "random", np.random.RandomState(0)), 500)]
    shares = np.bincount(np.array(drawn, dtype=int), minlength=4) / 500
    np.testing.assert_allclose(shares, [0.1, 0.0, 0.8, 0.1], atol=0.06)


def test_fewer_distinct_rows_than_clusters():
    X = np.repeat(np.arange(3.0), 50)[:, None]
    weight = np.ones(150)
    weight[X.ravel() == 1] = 0
    with MemoryDataset(X, weight=weight) as rows:
        pool = distinct_rows(rows, 3, np.random.RandomState(0))
        assert sorted(pool.X.ravel()) == [0.0, 2.0]
        with pytest.raises(ValueError, match=r"n_clusters=3 .* weight, 2; lower"):
            check_distinct(pool, 3)
        seeds = next(draw_seeds(pool, 5, "k-means++", np.random.RandomState(0)))
        assert set(seeds.ravel()) == {0.0, 2.0}
        state = solve_kmeans(rows, seeds, max_iter=10, tolerance=0.0)
    assert state.inertia == 0
    assert state.converged
    assert sorted(state.counts.tolist())[:3] == [0, 0, 0]


def test_rare_distinct_rows_are_found_among_many_equal_ones():
    X = np.zeros((10 * ROWS_FOR_SEEDS, 1))
    X[[5, 9 * ROWS_FOR_SEEDS]] = [[1.0], [2.0]]
    with MemoryDataset(X) as rows:
        pool = distinct_rows(rows, 3, np.random.RandomState(0))
        assert sorted(pool.X.ravel()) == [0.0, 1.0, 2.0]
        assert len(distinct_rows(rows, 4, np.random.RandomState(0)).weight) == 3


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_kmeans_plusplus_draws_what_scikit_learn_draws(rng, container):
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.7)
    weight = rng.uniform(0.1, 3.0, 300)
    pool = Sample(container(X), weight)
    ours = islice(draw_seeds(pool, 8, "k-means++", np.random.RandomState(0)), 5)
    state = np.random.RandomState(0)
    for seeds in ours:
        theirs, _ = kmeans_plusplus(X, 8, sample_weight=weight, random_state=state)
        np.testing.assert_array_equal(seeds, theirs)


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
                        rows, start, max_iter=max_iter, tolerance=tol * mean_variance(rows)
                    )
                    np.testing.assert_array_equal(rows.labels(), theirs.labels_)
                np.testing.assert_allclose(ours.centers, theirs.cluster_centers_, rtol=1e-12)
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
    np.testing.assert_allclose(ours.centers, theirs.cluster_centers_, rtol=1e-10, atol=1e-14)


def test_spread_is_the_mean_variance(rng):
    X = rng.normal(size=(500, 3)) * [1, 2, 3] + 7
    weight = rng.integers(0, 4, size=500).astype(float)
    with MemoryDataset(X) as rows:
        assert mean_variance(rows) == pytest.approx(X.var(axis=0).mean(), rel=1e-12)
    with MemoryDataset(X, weight=weight) as rows:
        repeated = np.repeat(X, weight.astype(int), axis=0)
        assert mean_variance(rows) == pytest.approx(repeated.var(axis=0).mean(), rel=1e-12)


def test_the_rounding_of_a_heavy_row_is_gone_after_it_left_the_cluster():
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


def test_kmeans_is_the_same_if_a_dataset_loses_its_labels(rng):
    X = rng.normal(size=(6000, 3))
    start = X[:8].copy()
    results = []
    for kind in (MemoryDataset, Forgetful):
        with kind(X, n_clusters=8) as rows:
            results.append(solve_kmeans(rows, start, max_iter=40, tolerance=0.0))
    np.testing.assert_allclose(results[0].centers, results[1].centers, rtol=1e-9)
    assert results[0].counts.tolist() == results[1].counts.tolist()


def test_the_mean_is_accurate_after_a_far_row_left_the_cluster(rng):
    X = np.append(rng.normal(5.0, 1.0, size=1000), 1e20)[:, None]
    with MemoryDataset(X) as rows:
        state = solve_kmeans(rows, np.array([[5.0], [-1e19]]), max_iter=50, tolerance=0.0)
    assert state.converged
    np.testing.assert_allclose(np.sort(state.centers.ravel()), [X[:-1].mean(), 1e20])

from itertools import islice

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from modeclust.data.memory import MemoryDataset
from modeclust.data.sample import Sample
from modeclust.solvers.seeding import ROWS_FOR_SEEDS, distinct_rows, draw_seeds


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


def test_too_few_distinct_rows_is_an_error():
    X = np.repeat(np.arange(3.0), 50)[:, None]
    weight = np.ones(150)
    with MemoryDataset(X) as rows, pytest.raises(ValueError, match=r"n_clusters=4 .* 3; lower"):
        distinct_rows(rows, 4, np.random.RandomState(0))
    weight[X.ravel() == 1] = 0
    with MemoryDataset(X, weight=weight) as rows, pytest.raises(ValueError, match="weight, 2;"):
        distinct_rows(rows, 3, np.random.RandomState(0))


def test_rare_distinct_rows_are_found_among_many_equal_ones():
    X = np.zeros((10 * ROWS_FOR_SEEDS, 1))
    X[[5, 9 * ROWS_FOR_SEEDS]] = [[1.0], [2.0]]
    with MemoryDataset(X) as rows:
        pool = distinct_rows(rows, 3, np.random.RandomState(0))
        assert sorted(pool.X.ravel()) == [0.0, 1.0, 2.0]
        with pytest.raises(ValueError, match="n_clusters=4"):
            distinct_rows(rows, 4, np.random.RandomState(0))


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

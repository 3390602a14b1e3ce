"""A start that far rows cannot spoil."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from modeclust.data.memory import MemoryDataset
from modeclust.data.sample import Sample
from modeclust.solvers.kmeans import draw_seeds, solve_kmeans
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.robust_start import Breathing, improved_seeds, robust_start

MIDDLES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


def sample(X, weight=None):
    return Sample(X, np.ones(X.shape[0]) if weight is None else weight)


def start(X, means, weight=None, seed=0):
    return robust_start(sample(X, weight), means, np.random.RandomState(seed), 1)


@pytest.fixture
def blobs(rng):
    return np.concatenate([middle + rng.normal(size=(100, 2)) for middle in MIDDLES])


def is_at_middles(centers):
    return bool(np.all(cdist(MIDDLES, centers).min(axis=1) < 1))


def test_good_means_are_kept(blobs):
    means = np.stack([part.mean(axis=0) for part in np.split(blobs, 3)])
    found = start(blobs, means)
    assert_array_equal(found.centers, means)
    assert found.radius == pytest.approx(np.sort(cdist(blobs, means).min(axis=1))[149])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_outliers", [1, 15])
def test_a_center_comes_back_from_outliers(blobs, rng, seed, n_outliers):
    X = np.vstack([blobs, 1000 * rng.uniform(-1, 1, size=(n_outliers, 2))])
    means = np.vstack([blobs[:200].mean(axis=0), blobs[200:].mean(axis=0), X[-1]])
    found = start(X, means, seed=seed)
    assert is_at_middles(found.centers)
    assert found.radius < 2


def test_two_centers_in_one_cluster_are_shared_out(blobs):
    means = np.vstack(
        [blobs[:50].mean(axis=0), blobs[50:100].mean(axis=0), blobs[100:].mean(axis=0)]
    )
    assert is_at_middles(start(blobs, means).centers)


def test_a_true_far_cluster_of_few_rows_is_kept(rng):
    parts = [middle + rng.normal(size=(300, 2)) for middle in MIDDLES]
    far = np.array([60.0, 60.0])
    X = np.concatenate([*parts, far + rng.normal(size=(12, 2))])
    means = np.stack([*(part.mean(axis=0) for part in parts), X[-12:].mean(axis=0)])
    found = start(X, means)
    assert np.linalg.norm(found.centers - far, axis=1).min() < 1


def test_a_weight_counts_as_copies(blobs, rng):
    weight = rng.integers(1, 4, len(blobs)).astype(float)
    means = blobs[[0, 100, 200]]
    once, copies = (
        Breathing(sample(blobs, weight), 3, rng, 1),
        np.repeat(blobs, weight.astype(int), 0),
    )
    assert once.radius(means) == pytest.approx(
        np.median(cdist(copies, means).min(axis=1)), rel=1e-2
    )


@pytest.mark.parametrize(
    ("rows", "radius"),
    [([0, 0, 0, 0, 1, 5], 1.0), ([3, 3, 3, 3], 1.0), ([0, 0, 2, 2, 6], 2.0)],
)
def test_the_radius_is_never_0(rows, radius):
    X = np.array(rows, dtype=float)[:, None]
    search = Breathing(sample(X), 1, np.random.RandomState(0), 1)
    assert search.radius(X[:1]) == radius


def test_improved_seeds_have_a_lower_inertia(rng):
    middles = 20 * rng.uniform(size=(25, 2))
    X = np.concatenate([middle + 0.3 * rng.normal(size=(40, 2)) for middle in middles])
    pool, options = sample(X), SolverOptions(0)
    plain, better = [], []
    with MemoryDataset(X, n_clusters=25) as dataset:
        for seed in range(4):
            drawn = draw_seeds(pool, 25, "k-means++", np.random.RandomState(seed))
            plain.append(solve_kmeans(dataset, next(drawn), max_iter=300, tolerance=0.0).inertia)
            seeds = improved_seeds(pool, drawn, 25, options, np.random.RandomState(seed), 1)
            better.append(solve_kmeans(dataset, next(seeds), max_iter=300, tolerance=0.0).inertia)
    assert np.mean(better) < 0.95 * np.mean(plain)
    assert max(better) < 1.03 * min(*better, *plain)


def test_threads_change_no_bit(blobs, rng):
    X = np.vstack([blobs, 1000 * rng.uniform(-1, 1, size=(15, 2))])
    means = X[[0, 1, -1]]
    one, two = (robust_start(sample(X), means, np.random.RandomState(0), n) for n in (1, 2))
    assert_array_equal(one.centers, two.centers)
    assert one.radius == two.radius


def test_sparse_rows_give_what_dense_ones_give(rng):
    X = np.where(rng.uniform(size=(200, 6)) < 0.5, 0.0, rng.normal(size=(200, 6)))
    X[:100] += 5 * np.eye(6)[0]
    means = X[[0, 150]]
    dense, csr = start(X, means), start(sparse.csr_array(X), means)
    assert_allclose(csr.centers, dense.centers, atol=1e-9)

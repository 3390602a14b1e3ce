"""The stability of clusters of Laplacian K-modes."""

import numpy as np
import pytest
from same import assert_same
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles, make_moons

from modeclust import LaplacianKModes, load

MOONS, MOON = make_moons(200, noise=0.05, random_state=0)


def test_as_by_hand():
    """Fits to the drawn rows, and the Jaccard similarities of their labels, by plain loops."""
    X, _ = make_blobs(80, 3, centers=3, cluster_std=3, random_state=1)
    weight = np.full(80, 1.5)
    weight[:5] = 0
    model = LaplacianKModes(3).fit(X, sample_weight=weight)
    found = model.stability(X, n_resamples=3, random_state=5, sample_weight=weight)
    rng = np.random.RandomState(5)
    rng.randint(np.iinfo(np.int32).max)  # the seed of the sample for the spacing
    jaccard, distances = np.zeros((3, 3)), np.zeros((3, 3))
    for number in range(3):
        drawn = np.sort(rng.choice(np.arange(5, 80), 47, replace=False))
        seed = rng.randint(np.iinfo(np.int32).max)
        other = LaplacianKModes(3, random_state=seed).fit(X[drawn], sample_weight=weight[drawn])
        for k in range(3):
            own = set(drawn[model.labels_[drawn] == k])
            others = [set(drawn[other.labels_ == j]) for j in range(3)]
            similar = [len(own & those) / len(own | those) for those in others]
            jaccard[number, k] = max(similar)
            mode = other.modes_[int(np.argmax(similar))]
            distances[number, k] = np.linalg.norm(mode - model.modes_[k])
    away = cdist(X[5:], X[5:])
    np.fill_diagonal(away, np.inf)
    spacing = [np.median(away[model.labels_[5:] == k].min(axis=1)) for k in range(3)]
    np.testing.assert_allclose(found.jaccard, jaccard.mean(axis=0))
    np.testing.assert_allclose(found.mode_shift, distances.mean(axis=0) / spacing)
    assert found.jaccard.min() < 1


def test_bent_clusters_are_stable_and_parts_of_them_are_not():
    X, _ = make_circles(400, noise=0.04, factor=0.5, random_state=0)
    model = LaplacianKModes(2).fit(X)
    assert model.stability(X, n_resamples=5).jaccard.min() >= 0.95
    parts = LaplacianKModes(4).fit(X)
    assert parts.stability(X, n_resamples=5).jaccard.min() < 0.8


def test_any_number_of_threads_gives_the_same_bits():
    results = [
        LaplacianKModes(3, n_jobs=n_jobs, random_state=0).fit(MOONS).stability(MOONS, n_resamples=2)
        for n_jobs in (1, 3)
    ]
    assert_same(*results)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows(metric):
    X = np.abs(MOONS) * (np.abs(MOONS) > 0.2) + [0.1, 0]
    options = {"n_clusters": 3, "metric": metric, "random_state": 0}
    dense = LaplacianKModes(**options).fit(X).stability(X, n_resamples=2)
    rows = sparse.csr_array(X)
    found = LaplacianKModes(**options).fit(rows).stability(rows, n_resamples=2)
    for ours, theirs in zip(found, dense, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_given_graph_is_resampled():
    same = (MOON[:, None] == MOON).astype(float)
    model = LaplacianKModes(2, affinity=same - np.eye(200), bandwidth=1.0).fit(MOONS)
    assert model.stability(MOONS, n_resamples=3).jaccard.tolist() == [1, 1]


def test_few_rows():
    """A sample can have fewer rows than clusters, or than neighbours."""
    X = np.arange(6.0)[:, None]
    model = LaplacianKModes(5, n_neighbors=5).fit(X)
    assert np.all(np.isfinite(model.stability(X, n_resamples=3).jaccard))
    model = LaplacianKModes(5, init=X[1:]).fit(X)
    # Four rows are drawn, and each is a cluster of its own, so no drawn row changes its cluster.
    assert set(model.stability(X, n_resamples=1).jaccard) <= {0, 0.5, 1}
    weight = np.array([1.0, 0, 0, 0, 0, 0])
    model = LaplacianKModes(1).fit(X, sample_weight=weight)
    with pytest.raises(ValueError, match="at least 2 rows of positive weight"):
        model.stability(X, sample_weight=weight)


def test_a_loaded_model(tmp_path):
    model = LaplacianKModes(3, random_state=0).fit(MOONS)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    wanted = model.stability(MOONS, n_resamples=2, random_state=0)
    assert_same(loaded.stability(MOONS, n_resamples=2, random_state=0), wanted)


def test_other_rows_are_refused():
    model = LaplacianKModes(3).fit(MOONS)
    with pytest.raises(ValueError, match="same order"):
        model.stability(MOONS[::-1])
    with pytest.raises(ValueError, match="n_resamples must be"):
        model.stability(MOONS, n_resamples=0)

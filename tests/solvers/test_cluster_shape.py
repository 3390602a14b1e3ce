"""Clusters that touch, by their shape."""

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from modeclust.data.sample import Sample
from modeclust.solvers.cluster_shape import LEAST_P, MixedRows, Mixture, count_by_shape

CENTERS = np.array([[0.0, 0.0], [2.6, 0.0], [10.0, 0.0], [0.0, 10.0]])
X, Y = make_blobs(1200, centers=CENTERS, random_state=0)
APART = np.maximum(Y - 1, 0)  # the first two have no gap between them


def count(X, labels, weight=None, most=40):
    sample = Sample(X, np.ones(len(X)) if weight is None else weight)
    return count_by_shape(sample, labels, most, np.random.RandomState(0))


def test_centers_of_clusters_that_touch():
    found = count(X, APART)
    assert len(found) == 4
    for center in CENTERS:
        assert np.linalg.norm(found - center, axis=1).min() < 0.3


def test_weights_are_copies():
    weight = np.where(Y == 2, 3.0, 1.0)
    copied = np.repeat(np.arange(len(X)), weight.astype(int))
    one, other = count(X, APART, weight), count(X[copied], APART[copied])
    np.testing.assert_allclose(np.sort(one, axis=0), np.sort(other, axis=0), atol=0.02)


def test_rows_that_do_not_look_like_it():
    rng = np.random.RandomState(0)
    long = X * np.where(Y == 3, 3.0, 1.0)[:, None] + np.where(Y == 3, 1.0, 0.0)[:, None]
    assert count(long, APART) is None
    uniform = CENTERS[Y] + rng.uniform([-4, -1], [4, 1], size=X.shape)
    assert count(uniform, APART) is None


def test_one_must_stand_alone():
    """Two pairs that touch: nothing shows whether each is one wide cluster."""
    centers = np.array([[0.0, 0.0], [2.6, 0.0], [20.0, 0.0], [22.6, 0.0]])
    rows, y = make_blobs(1200, centers=centers, random_state=0)
    assert count(rows, y // 2) is None
    assert len(count(np.vstack([rows, X[Y == 3]]), np.r_[y // 2, np.full(300, 2)])) == 5


def test_there_is_nothing_to_tell_apart():
    assert count(X, Y) is None  # each is one
    assert count(X, np.zeros(len(X), int)) is None  # nothing stands alone
    assert count(X, APART, most=3) is None
    assert count(np.hstack([X] * 3), APART) is None  # too many features
    assert count(np.repeat(np.eye(2), 50, axis=0), np.repeat([0, 1], 50)) is None


def test_the_mixture_is_that_of_scikit_learn_with_the_widths_tied():
    """The widths of the clusters are equal, so that both find nearly the same."""
    found = MixedRows(Sample(X, np.ones(len(X))), 4, 1).best_mixture(CENTERS)
    peer = GaussianMixture(4, covariance_type="spherical", means_init=CENTERS, tol=1e-8).fit(X)
    np.testing.assert_allclose(found.centers, peer.means_, atol=0.15)
    np.testing.assert_allclose(found.shares, peer.weights_, atol=0.05)
    assert found.variance == pytest.approx(
        np.average(peer.covariances_, weights=peer.weights_), 0.05
    )


def test_the_p_value_of_rows_that_fit_is_uniform():
    p_values = []
    for seed in range(60):
        rows, _ = make_blobs(1000, centers=6 * CENTERS[1:], random_state=seed)
        mixed = MixedRows(Sample(rows, np.ones(1000)), 3, 1)
        p_values.append(mixed.p_value(mixed.best_mixture(6 * CENTERS[1:])))
    assert kstest(p_values, "uniform").pvalue > 0.001
    assert min(p_values) > LEAST_P


def test_the_closest_two_are_merged():
    mixture = Mixture(np.array([[0.0], [10.0], [13.0]]), np.array([0.5, 0.4, 0.1]), 1.0)
    merged = mixture.merged()
    np.testing.assert_allclose(merged.centers, [[0.0], [10.6]])
    np.testing.assert_allclose(merged.shares, [0.5, 0.5])

"""Hartigan's dip, by hand and beside the package diptest; the dips between clusters."""

import numpy as np
import pytest

from modeclust._core import dip, pair_values, separations


def dip_of(*values):
    return dip(np.array(values, dtype=float), np.ones(len(values)))


def test_by_hand():
    # Half of a jump, as a unimodal function has one jump at most.
    assert dip_of(0, 1) == pytest.approx(1 / 4)
    assert dip_of(0, 1, 2, 3) == pytest.approx(1 / 8)
    # A point mass is unimodal.
    assert dip_of(3.0) == dip_of(3.0, 3.0, 3.0) == 0
    # Two equal atoms: one may be the mode, the other is a jump of 1/2.
    assert dip_of(0, 0, 0, 1, 1, 1) == pytest.approx(1 / 4)
    # Two pairs: the second is almost a jump of 1/2. From the mode at 0.1 on, the concave function
    # rises by 1/2 + 2 d until 10, and by 1/4 - 2 d from 10 to 10.1: so 2 d is almost 1/2 - 1/4.
    assert dip_of(0, 0.1, 10, 10.1) == pytest.approx(1 / 4, rel=0.02)


@pytest.mark.parametrize("n", [10, 1000])
def test_two_uniform_groups(n):
    """A gap as wide as two groups of n values: the dip is near 1/8 of all."""
    one = (np.arange(n) + 0.5) / n
    found = dip_of(*one, *(one + 2))
    assert found == pytest.approx(1 / 8, abs=1 / n)


def test_a_unimodal_sample_has_the_smallest_dip():
    """Quantiles of one hump are as near to unimodal as so many values can be."""
    values = np.tan(np.linspace(-1.5, 1.5, 101))
    assert dip_of(*values) == pytest.approx(1 / 202)


def draw(rng, kind):
    n = int(rng.integers(2, 60))
    if kind == "normal":
        return rng.normal(size=n)
    if kind == "two groups":
        return np.concatenate([rng.normal(size=n), rng.normal(4, 1, size=n)])
    if kind == "uniform":
        return rng.uniform(size=n)
    if kind == "ties":
        return rng.integers(0, 6, size=n).astype(float)
    return np.round(rng.standard_t(2, size=n), 1)


@pytest.mark.parametrize("kind", ["normal", "two groups", "uniform", "ties", "rounded"])
def test_it_agrees_with_diptest(rng, kind):
    diptest = pytest.importorskip("diptest", reason="the package diptest is not installed")
    for _ in range(300):
        values = draw(rng, kind)
        if len(np.unique(values)) > 1:  # diptest does not call a point mass unimodal
            expected = diptest.dipstat(values, allow_zero=False)
            assert dip_of(*values) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["two groups", "ties", "rounded"])
def test_invariants(rng, kind):
    values = draw(rng, kind)
    expected, ones = dip_of(*values), np.ones(len(values))
    assert dip_of(*rng.permutation(values)) == expected
    assert dip_of(*-values) == pytest.approx(expected, abs=1e-12)
    assert dip_of(*(4 * values + 8)) == pytest.approx(expected, abs=1e-12)
    distinct, counts = np.unique(values, return_counts=True)
    assert dip(distinct, counts.astype(float)) == pytest.approx(expected, abs=1e-12)
    assert dip(values, 7.5 * ones) == pytest.approx(expected, abs=1e-12)


def test_it_checks_its_arguments():
    with pytest.raises(ValueError, match="one number for each value"):
        dip(np.zeros(3), np.ones(2))
    with pytest.raises(ValueError, match="weight must be > 0"):
        dip(np.zeros(3), np.zeros(3))
    assert dip(np.empty(0), np.empty(0)) == 0


class Clusters:
    """Rows, their centers, and the dip between two of them by plain NumPy."""

    def __init__(self, X, centers, weight):
        self.X, self.centers, self.weight = X, centers, weight
        self.squares = np.square(X[:, None] - centers).sum(axis=2)
        self.labels = self.squares.argmin(axis=1).astype(np.int32)
        self.mass = np.bincount(self.labels, weights=weight, minlength=len(centers))

    @property
    def given(self):
        return self.squares, self.centers, self.weight, self.labels

    def values(self, i, j):
        both = self.mass[[i, j]]
        mean = both @ self.centers[[i, j]] / both.sum()
        own = self.squares[np.arange(len(self.X)), self.labels]
        is_own = np.isin(self.labels, [i, j])
        inside = is_own | (np.square(self.X - mean).sum(axis=1) < own)
        squares = self.squares[:, [i, j]].copy()
        for column, k in enumerate((i, j)):
            if self.mass[k] > 1:
                squares[self.labels == k, column] *= (self.mass[k] / (self.mass[k] - 1)) ** 2
        t = (squares[:, 0] - squares[:, 1])[inside]
        order = np.argsort(t, kind="stable")
        return t[order], self.weight[inside][order]

    def separation(self, i, j):
        t, weight = self.values(i, j)
        found = np.sqrt(weight.sum()) * dip(t, weight)
        sides = [t < 0, t >= 0]
        fewer = min(weight[side].sum() for side in sides)
        if fewer < 10:
            return found
        copies, of = np.repeat(t, weight.astype(int)), int(fewer)
        below, above = copies[copies < 0][-of:], copies[copies >= 0][:of]
        balanced = np.concatenate([below, above])
        return max(found, np.sqrt(len(balanced)) * dip(balanced, np.ones(len(balanced))))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_dips_between_clusters_agree_with_numpy(rng, n_threads):
    X = rng.normal(size=(400, 3)) + 4 * rng.integers(0, 2, size=(400, 1))
    weight = rng.integers(1, 4, size=400).astype(float)
    clusters = Clusters(X, X[rng.choice(400, 8, replace=False)] + 0.1, weight)
    pairs = np.array([(i, j) for j in range(8) for i in range(j)], dtype=np.int64)
    found = separations(*clusters.given, pairs, n_threads)
    expected = [clusters.separation(i, j) for i, j in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    t, w = pair_values(*clusters.given, 2, 5)
    expected_t, expected_w = clusters.values(2, 5)
    np.testing.assert_allclose(t, expected_t, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(w, expected_w)


def test_a_small_cluster_is_compared_with_as_many_rows(rng):
    """Twenty rows beside two thousand: the dip of all is small, that of both sides is not."""
    X = np.concatenate([rng.normal(size=2000), rng.normal(8, 0.5, size=20)])[:, None]
    clusters = Clusters(X, np.array([[0.0], [8.0]]), np.ones(2020))
    (found,) = separations(*clusters.given, np.array([[0, 1]]), 1)
    t, weight = clusters.values(0, 1)
    assert np.sqrt(2020) * dip(t, weight) < 0.45
    assert found > 0.6


def test_pairs_and_labels_are_checked(rng):
    clusters = Clusters(rng.normal(size=(20, 2)), rng.normal(size=(3, 2)), np.ones(20))
    squares, centers, weight, labels = clusters.given
    for pair in ([0, 3], [-1, 0]):
        with pytest.raises(ValueError, match="pairs must be of the centers"):
            separations(*clusters.given, np.array([pair]), 1)
        with pytest.raises(ValueError, match="pairs must be of the centers"):
            pair_values(*clusters.given, *pair)
    with pytest.raises(ValueError, match="labels must be of the centers"):
        separations(squares, centers, weight, labels + 3, np.array([[0, 1]]), 1)
    with pytest.raises(ValueError, match="a row for each weight and label"):
        separations(squares, centers[:2], weight, labels, np.array([[0, 1]]), 1)

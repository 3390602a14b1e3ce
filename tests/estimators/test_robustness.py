"""What the paper claims: K too small, skewed clusters, outliers."""

import numpy as np
import pytest
import reference

from modeclust import KModes, estimate_bandwidth, kmodes_path
from modeclust.solvers.bandwidth import RULES


@pytest.mark.parametrize("seed", range(5))
def test_two_modes_of_three_gaussians_lie_inside_them(seed):
    rng = np.random.default_rng(seed)
    corners = 6 * np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    X = np.concatenate([rng.normal(size=(200, 2)) + corner for corner in corners])
    path = kmodes_path(X, 2, bandwidths=[np.inf, *np.geomspace(3, 1, 20)], random_state=0)
    means, modes = path.centers[0], path.centers[-1]
    between = np.argmin(reference.density(X, means, 0.5))
    lost = reference.density(X, means[between : between + 1], 0.5)
    assert np.all(reference.density(X, modes, 0.5) >= 3 * lost)


def skewed_mixture(seed):
    """A narrow Gaussian beside a power law, like the degrees of the paper's graph."""
    rng = np.random.default_rng(seed)
    tail = 100 * (1 + rng.pareto(2.5, size=3000))
    X = np.concatenate([rng.normal(20, 4.4, size=1000), tail])[:, None]
    return X, np.repeat([0, 1], [1000, 3000])


@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_gaussian_and_a_long_tail_are_split_where_kmeans_fails(seed):
    X, truth = skewed_mixture(seed)

    def mistakes(labels):
        wrong = np.sum(labels != truth)
        return min(wrong, len(X) - wrong)

    path = kmodes_path(X, 2, bandwidths=[np.inf, *np.geomspace(200, 1, 40)], random_state=0)
    assert mistakes(path.labels[0]) > 500
    assert mistakes(path.labels[-1]) == 0
    assert mistakes(KModes(2, random_state=0).fit(X).labels_) == 0


def moves_by_outliers(seed, rule):
    """Return how far 5% of outliers moves the means and the modes, at one bandwidth."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])
    X = np.concatenate([rng.normal(size=(190, 2)) + corner for corner in corners])
    outliers = X.mean(axis=0) + 10 * X.std() * rng.uniform(-0.5, 0.5, size=(30, 2))
    # The rules see the outliers too, and a mode at another bandwidth is another mode.
    model = KModes(3, bandwidth=estimate_bandwidth(X, rule), random_state=0)
    clean = model.fit(X).path_
    dirty = model.fit(np.concatenate([X, outliers])).path_

    def move(i):
        apart = np.linalg.norm(clean.centers[i][:, None] - dirty.centers[i], axis=2)
        return apart.min(axis=1).max()

    return move(0), move(-1)


@pytest.mark.parametrize(
    "rule", ["knn", *(pytest.param(r, marks=pytest.mark.slow) for r in RULES if r != "knn")]
)
def test_outliers_move_modes_a_fifth_as_far_as_means(rule):
    means, modes = np.median([moves_by_outliers(seed, rule) for seed in range(20)], axis=0)
    assert modes <= means / 5

from dataclasses import replace

import numpy as np
import pytest
import reference

from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.options import SolverOptions
from modeclust.solvers.streaming import NEGLIGIBLE_MASS, SufficientStatistics, update

# -G'(t) / g(t), with g(0) = 1 by convention.
SLOPES = {"gaussian": 0.5, "epanechnikov": 1.0, "biweight": 2.0, "cauchy": 1.0}
PULLS = {name: (lambda t, log=log: np.exp(log(t))) for name, log in reference.LOG_PULLS.items()}
OPTIONS = {"kernel": 0, "path_iter": 10, "mean_shift_iter": 1, "tol": 1e-4}


def update_with(X, statistics, bandwidth, weight=None, scale=None, half_life=np.inf, **options):
    options = SolverOptions(**OPTIONS | options)
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        return update(rows, statistics, bandwidth, options, half_life=half_life)


def absolute_mass(statistics, kernel):
    """Return the mass as it would be without a reference."""
    with np.errstate(divide="ignore"):
        return np.where(
            statistics.mass > 0, statistics.mass * PULLS[kernel](statistics.reference), 0.0
        )


@pytest.mark.parametrize(("half_life", "factor"), [(np.inf, 0.25), (1.0, 0.25), (0.5, 2.0**-4)])
def test_on_line_means_by_hand(half_life, factor):
    statistics = SufficientStatistics(
        np.array([[1.0]]), np.array([2.0]), np.array([2.0]), np.zeros(1), weight=2.0
    )  # of rows 0 and 2
    state, updated = update_with(np.array([[3.0], [5.0]]), statistics, np.inf, half_life=half_life)
    expected = (factor * 2 * 1 + 3 + 5) / (factor * 2 + 2)
    assert state.centers[0, 0] == pytest.approx(expected, rel=1e-15)
    assert state.counts.tolist() == [2]
    assert state.inertia == pytest.approx((3 - expected) ** 2 + (5 - expected) ** 2, rel=1e-14)
    assert updated.centers[0, 0] == pytest.approx(expected, rel=1e-15)
    assert updated.mass[0] == factor * 2 + 2
    assert updated.weight == 4.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_iteration_is_the_formula(rng, kernel):
    centers, mass = rng.normal(size=(3, 2)), np.array([5.0, 9.0, 0.5])
    statistics = SufficientStatistics(centers, mass, mass, np.zeros(3), weight=30.0)
    X, bandwidth = rng.normal(size=(20, 2)) * 2, 2.0
    weight, scale = rng.integers(0, 3, 20).astype(float), rng.uniform(0.5, 2.0, 20)
    state, updated = update_with(
        X, statistics, bandwidth, weight, scale, kernel=KERNELS[kernel], path_iter=1
    )
    factor = (30.0 / (30.0 + weight.sum())) ** 2

    def sums(current):
        labels = reference.assign(X, current)
        t = ((X - current[labels]) ** 2).sum(axis=1) / (bandwidth * scale) ** 2
        with np.errstate(divide="ignore"):
            w = weight * PULLS[kernel](t) / scale**2
        own = np.eye(3)[labels] * w[:, None]
        masses = factor * mass + own.sum(axis=0)
        return masses, (factor * mass[:, None] * centers + own.T @ X) / masses[:, None]

    _, moved = sums(centers)
    np.testing.assert_allclose(state.centers, moved, rtol=1e-12)
    masses, pulled = sums(moved)
    np.testing.assert_allclose(absolute_mass(updated, kernel), masses, rtol=1e-12)
    np.testing.assert_allclose(updated.centers, pulled, rtol=1e-12)
    assert state.objective == pytest.approx(
        reference.objective(X, moved, bandwidth, kernel, weight, scale), rel=1e-12
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_iteration_lowers_the_objective_of_the_batch_plus_the_bound(rng, kernel):
    X, bandwidth = rng.normal(size=(40, 2)) * 2, 1.5
    statistics = SufficientStatistics(
        rng.normal(size=(4, 2)), rng.uniform(1, 9, 4), np.ones(4), np.zeros(4), weight=50.0
    )
    factor = (50 / 90) ** 2
    values = []
    for n_iter in range(1, 9):
        state, _ = update_with(
            X, statistics, bandwidth, kernel=KERNELS[kernel], path_iter=n_iter, tol=0
        )
        away = ((state.centers - statistics.centers) ** 2).sum(axis=1)
        bound = -SLOPES[kernel] / bandwidth**2 * factor * (statistics.mass * away).sum()
        values.append(40 * state.objective + bound)
    assert np.all(np.diff(values) >= -1e-12)
    assert values[-1] > values[0]


@pytest.mark.parametrize("half_life", [np.inf, 7.0])
def test_the_discount_does_not_depend_on_how_rows_are_split(half_life):
    statistics = SufficientStatistics(
        np.zeros((2, 1)), np.array([1.0, 3.0]), np.ones(2), np.array([0.0, 2.0]), weight=40.0
    )
    at_once = statistics.discounted(12.0, half_life).mass
    split = statistics.discounted(5.0, half_life)
    split = replace(split, weight=45.0).discounted(7.0, half_life)
    np.testing.assert_allclose(split.mass, at_once, rtol=1e-14)
    assert statistics.mass.tolist() == [1.0, 3.0]


def test_negligible_sums_do_not_move_the_center():
    statistics = SufficientStatistics(
        np.array([[0.0], [9.0]]),
        np.array([1.0, 3 * NEGLIGIBLE_MASS]),
        np.ones(2),
        np.zeros(2),
        weight=1e9,
    )
    state, updated = update_with(np.array([[0.5]]), statistics, 1.0, half_life=0.4)
    assert updated.mass[1] == 0
    assert updated.reference[1] == np.inf
    assert state.centers[1, 0] == updated.centers[1, 0] == 9.0
    # and the next row of it is where it goes
    state, updated = update_with(np.array([[8.0]]), updated, 1.0, half_life=0.4)
    assert updated.centers[1, 0] == pytest.approx(8.0)


def test_at_a_tiny_bandwidth_only_the_nearest_row_has_weight():
    statistics = SufficientStatistics(
        np.array([[0.0]]), np.ones(1), np.ones(1), np.array([1e6]), weight=10.0
    )
    state, updated = update_with(np.array([[3.0], [8.0]]), statistics, 1e-3, path_iter=3)
    assert state.centers[0, 0] == 0.0  # at t = 1e6 the statistics are nearer than 3 is
    state, _ = update_with(np.array([[0.5], [8.0]]), updated, 1e-3, path_iter=3)
    assert state.centers[0, 0] == 0.5

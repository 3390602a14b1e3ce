import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.relaxation import LONGEST, PLAIN_STEPS, Relaxation
from modeclust.solvers.solve import solve


@given(
    seed=st.integers(0, 2**32 - 1),
    kernel=st.sampled_from(list(KERNELS)),
    factor=st.floats(0.0, 2.0),
    bandwidth=st.floats(0.05, 20.0),
)
@settings(max_examples=200, deadline=None)
def test_no_step_of_up_to_twice_the_length_lowers_the_objective(seed, kernel, factor, bandwidth):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    centroids = rng.normal(size=(3, 2))
    labels = reference.assign(X, centroids)
    moved = reference.mode_step(X, labels, centroids, bandwidth, kernel)
    relaxed = centroids + factor * (moved - centroids)
    before = reference.objective(X, centroids, bandwidth, kernel)
    after = reference.objective(X, relaxed, bandwidth, kernel)
    assert after >= before - 1e-14


def test_steps_are_plain_at_first_and_never_longer_than_allowed(rng):
    relaxation = Relaxation()
    centroids = rng.normal(size=(3, 2))
    target = rng.normal(size=(3, 2))
    rates = np.array([0.0, 0.3, 0.99])[:, None]
    for n in range(1, 30):
        moved = target + rates * (centroids - target)
        reached = relaxation.next(centroids, moved)
        lengths = np.linalg.norm(moved - centroids, axis=1)
        factors = np.linalg.norm(reached - centroids, axis=1) / np.where(lengths, lengths, 1)
        if n <= PLAIN_STEPS:
            np.testing.assert_allclose(reached, moved, rtol=1e-14)
        assert np.all(factors <= LONGEST * (1 + 1e-9))
        if n == PLAIN_STEPS + 1:
            # What is left is the first step / (1 - rate), where that is not too long.
            np.testing.assert_allclose(reached[1], target[1], atol=1e-12)
            assert factors[2] == pytest.approx(LONGEST)
        centroids = reached


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_objective_never_falls_with_weights_and_scales(rng, kernel):
    X, _ = make_moons(400, noise=0.1, random_state=1)
    weight, scale = rng.uniform(0.0, 3.0, 400), rng.uniform(0.5, 2.0, 400)
    options = {"kernel": KERNELS[kernel], "tol": 0.0}
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        objectives = [
            solve(rows, X[:4], 0.3, max_iter=n, **options).objective for n in range(3 * PLAIN_STEPS)
        ]
    assert np.all(np.diff(objectives) >= -1e-14)
    assert objectives[-1] > objectives[0]


@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "biweight"])
def test_fewer_iterations_to_the_same_objective_which_never_falls(kernel):
    X, _ = make_moons(800, noise=0.05, random_state=0)
    start = X[:5].copy()
    options = {"kernel": KERNELS[kernel], "tol": 1e-6}
    with MemoryDataset(X) as rows:
        relaxed = solve(rows, start, 0.25, max_iter=3000, **options)
        objectives = [
            solve(rows, start, 0.25, max_iter=n, **options).objective for n in range(0, 60, 3)
        ]
    assert relaxed.converged
    assert np.all(np.diff(objectives) >= -1e-14)
    centroids, n_plain = start, 0
    while n_plain < 3000:
        moved = reference.mode_step(X, reference.assign(X, centroids), centroids, 0.25, kernel)
        n_plain += 1
        if np.linalg.norm(moved - centroids, axis=1).max() <= 1e-6 * 0.25:
            break
        centroids = moved
    assert relaxed.n_iter < 0.75 * n_plain
    expected = reference.objective(X, centroids, 0.25, kernel)
    assert relaxed.objective == pytest.approx(expected, rel=1e-3)

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.kmeans import restart_kmeans
from modeclust.solvers.kmodes import (
    MAX_STEP_FACTOR,
    PLAIN_STEPS,
    Relaxation,
    automatic_start,
    evaluate,
    follow_path,
    inverse_square,
    schedule,
    solve,
)
from modeclust.solvers.options import SolverOptions

OPTIONS = {"kernel": 0, "path_iter": 3, "max_iter": 200, "mean_shift_iter": 1, "tol": 1e-6}


def test_iterations_are_those_of_the_reference(rng):
    X = rng.normal(size=(200, 3))
    centers = X[:4].copy()
    for name, kernel in KERNELS.items():
        with MemoryDataset(X) as rows:
            state = solve(rows, centers, 1.5, SolverOptions(kernel, max_iter=5, tol=0))
        expected = reference.kmodes(X, centers, 1.5, 5, kernel=name)
        np.testing.assert_allclose(state.centers, expected, rtol=1e-10, err_msg=name)
        assert state.n_iter == 5
        assert state.objective == pytest.approx(reference.objective(X, expected, 1.5, name))


def test_mode_steps_between_assignments(rng):
    X = rng.normal(size=(200, 3))
    centers = X[:4].copy()
    with MemoryDataset(X) as rows:
        state = solve(rows, centers, 1.0, SolverOptions(0, max_iter=2, mean_shift_iter=3, tol=0))
    for _ in range(2):
        labels = reference.assign(X, centers)
        for _ in range(3):
            centers = reference.mode_step(X, labels, centers, 1.0)
    np.testing.assert_allclose(state.centers, centers, rtol=1e-10)


def test_kmeans_stops_when_labels_and_centers_stay_the_same(rng):
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 8])
    with MemoryDataset(X) as rows:
        state = solve(rows, X[[0, 50]], 1.0, SolverOptions(0, max_iter=1000, tol=1e-6))
        assert state.converged
        assert state.residual <= 1e-6
        again = solve(rows, state.centers, 1.0, SolverOptions(0, max_iter=1000, tol=1e-6))
    assert again.n_iter == 1
    np.testing.assert_array_equal(again.centers, state.centers)


def test_state_belongs_to_its_centers(rng):
    X = rng.normal(size=(300, 2))
    with MemoryDataset(X) as rows:
        for max_iter in (1, 7, 500):
            state = solve(rows, X[:3], 0.7, SolverOptions(0, max_iter=max_iter))
            labels = reference.assign(X, state.centers)
            np.testing.assert_array_equal(rows.labels(), labels)
            np.testing.assert_array_equal(state.counts, np.bincount(labels, minlength=3))
            distances = reference.squared_distances(X, state.centers)
            for k in range(3):
                own = np.flatnonzero(labels == k)
                assert state.nearest[k] == own[distances[own, k].argmin()]


def test_on_the_path_an_empty_cluster_keeps_its_center():
    X = np.array([[0.0], [1.0], [2.0]])
    start = np.array([[1.0], [99.0]])
    with MemoryDataset(X) as rows:
        state = solve(rows, start, 1.0, SolverOptions(0, max_iter=10))
    assert state.counts.tolist() == [3, 0]
    assert state.nearest.tolist() == [1, -1]
    assert state.centers[1, 0] == 99.0
    assert not state.unsupported.any()


def test_a_center_with_no_point_in_the_support_stays():
    X = np.array([[0.0], [1.0], [9.0], [11.0]])
    with MemoryDataset(X) as rows:
        state = solve(rows, np.array([[0.4], [10.0]]), 0.9, SolverOptions(1, max_iter=10))
    assert state.unsupported.tolist() == [False, True]
    assert state.centers.ravel().tolist() == [0.5, 10.0]


def test_inverse_square_of_any_bandwidth_is_finite():
    assert inverse_square(np.inf) == 0.0
    assert inverse_square(2.0) == 0.25
    assert np.isfinite(inverse_square(5e-324))


def test_a_far_center_does_not_stop_the_others(rng):
    X = np.vstack([rng.normal(size=(300, 2)), [[1e15, 1e15]]])
    near = np.array([[1.5, 1.5], [-1.5, -1.5]])
    with MemoryDataset(X) as rows:
        state = solve(rows, np.vstack([near, X[-1:]]), 0.5, SolverOptions(0, max_iter=500))
    with MemoryDataset(X[:-1]) as rows:
        alone = solve(rows, near, 0.5, SolverOptions(0, max_iter=500))
    assert alone.n_iter > 5
    np.testing.assert_allclose(state.centers[:2], alone.centers, rtol=1e-6)


def test_each_bandwidth_starts_from_the_last(rng):
    X = rng.normal(size=(300, 2))
    start = X[:3].copy()
    with MemoryDataset(X) as rows:
        options = {**OPTIONS, "tol": 0.0, "max_iter": 5}
        states = list(follow_path(rows, start, np.array([4.0, 2.0, 1.0]), SolverOptions(**options)))
    expected = start
    for bandwidth, n_iter, state in zip([4.0, 2.0, 1.0], [3, 3, 5], states, strict=True):
        expected = reference.kmodes(X, expected, bandwidth, n_iter)
        np.testing.assert_allclose(state.centers, expected, rtol=1e-10)
        assert (state.bandwidth, state.n_iter) == (bandwidth, n_iter)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_state_of_the_path_has_the_objective_at_its_own_bandwidth(rng, kernel, weighted):
    X = rng.normal(size=(300, 2)) * 3
    # At the last bandwidths a compact kernel does not reach the rows of the third cluster.
    X[200:] = 40 + 10 * rng.choice([-1, 1], size=(100, 2))
    start = np.array([[0.0, 0.0], [1.0, 1.0], [40.0, 40.0]])
    weight, scale = rng.uniform(0.5, 2.0, size=(2, 300)) if weighted else (None, None)
    bandwidths = [40.0, 12.0, 4.0, 2.0, 1.0]
    options = {**OPTIONS, "kernel": KERNELS[kernel], "tol": 0.0, "max_iter": 3}
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        n_passes = []
        states = list(
            follow_path(_Counted(rows, n_passes), start, bandwidths, SolverOptions(**options))
        )
        assert len(n_passes) == 1 + 3 * len(bandwidths)
        for state in states:
            alone = evaluate(rows, state, state.centers, KERNELS[kernel])
            assert state.objective == pytest.approx(alone.objective, rel=1e-13)
            assert state.unsupported.tolist() == alone.unsupported.tolist()
            assert state.counts.tolist() == alone.counts.tolist()
            assert state.nearest.tolist() == alone.nearest.tolist()
            assert state.inertia == pytest.approx(alone.inertia, rel=1e-13)
    if kernel in ("epanechnikov", "biweight") and not weighted:
        assert states[-2].unsupported[2]


class _Counted:
    """Rows that note each pass over them."""

    def __init__(self, rows, passes):
        self._rows, self._passes = rows, passes

    def __getattr__(self, name):
        return getattr(self._rows, name)

    def run(self, pass_):
        self._passes.append(pass_)
        return self._rows.run(pass_)


def test_the_end_of_the_path_is_a_mode_of_every_cluster(rng):
    X = np.concatenate([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 6])
    with MemoryDataset(X) as rows:
        *_, last = follow_path(
            rows, X[[0, 150]], np.array([5.0, 2.0, 0.8]), SolverOptions(**OPTIONS)
        )
        labels = rows.labels()
    # A mode: no step of a small circle around it is denser, by the density of its cluster.
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    circle = 0.01 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for k, mode in enumerate(last.centers):
        own = X[labels == k]
        peak = reference.density(own, mode[None], 0.8)
        assert np.all(reference.density(own, mode + circle, 0.8) < peak)


def test_schedule_includes_both_ends():
    bandwidths = schedule(10.0, 1.0, 100)
    assert bandwidths[0] == 10.0
    assert bandwidths[-1] == 1.0
    np.testing.assert_allclose(np.diff(np.log(bandwidths)), np.log(0.1) / 99)
    assert schedule(10.0, 1.0, 1).tolist() == [1.0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_automatic_start_is_where_the_means_are_nearly_still(rng, kernel):
    X = rng.exponential(size=(2000, 2))
    with MemoryDataset(X) as rows:
        means = min(
            restart_kmeans(rows, [X[:3], X[3:6]], max_iter=300, tol=1e-4),
            key=lambda state: state.inertia,
        )
        start = automatic_start(rows, means.centers, SolverOptions(KERNELS[kernel]), 1e-3)
    labels = reference.assign(X, means.centers)
    radius = np.sqrt(reference.squared_distances(X, means.centers).min(axis=1).mean())

    def move(bandwidth):
        moved = reference.mode_step(X, labels, means.centers, bandwidth, kernel)
        return np.linalg.norm(moved - means.centers, axis=1).max()

    assert move(start) <= 0.06 * radius
    assert start == pytest.approx(radius) or move(start / 1.5) > 0.04 * radius


def test_automatic_start_ends_where_kmeans_has_not_converged(rng):
    X = rng.normal(size=(500, 2))
    with MemoryDataset(X) as rows:
        (means,) = restart_kmeans(rows, [X[:4]], max_iter=1, tol=0.0)
        assert np.isfinite(automatic_start(rows, means.centers, SolverOptions(0), 0.1))
        assert automatic_start(rows, means.centers, SolverOptions(0), 1e6) == 2e6


def test_automatic_start_of_points_on_their_centers():
    X = np.array([[0.0], [0.0], [1.0]])
    with MemoryDataset(X) as rows:
        (means,) = restart_kmeans(rows, [X[1:]], max_iter=10, tol=0.0)
        assert means.inertia == 0.0
        assert automatic_start(rows, means.centers, SolverOptions(0), 0.5) == 1.0


@given(
    seed=st.integers(0, 2**32 - 1),
    kernel=st.sampled_from(list(KERNELS)),
    factor=st.floats(0.0, 2.0),
    bandwidth=st.floats(0.05, 20.0),
)
@settings(max_examples=200, deadline=None)
def test_no_step_of_up_to_twice_the_mode_step_lowers_the_objective(seed, kernel, factor, bandwidth):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    centers = rng.normal(size=(3, 2))
    labels = reference.assign(X, centers)
    moved = reference.mode_step(X, labels, centers, bandwidth, kernel)
    relaxed = centers + factor * (moved - centers)
    before = reference.objective(X, centers, bandwidth, kernel)
    after = reference.objective(X, relaxed, bandwidth, kernel)
    assert after >= before - 1e-14


def test_acceleration_needs_two_steps_and_is_limited(rng):
    relaxation = Relaxation()
    centers = rng.normal(size=(3, 2))
    target = rng.normal(size=(3, 2))
    rates = np.array([0.0, 0.3, 0.99])[:, None]
    for n in range(1, 30):
        moved = target + rates * (centers - target)
        reached = relaxation.next(centers, moved)
        lengths = np.linalg.norm(moved - centers, axis=1)
        factors = np.linalg.norm(reached - centers, axis=1) / np.where(lengths, lengths, 1)
        if n == 1:
            np.testing.assert_allclose(reached, moved, rtol=1e-14)
        assert np.all(factors <= MAX_STEP_FACTOR * (1 + 1e-9))
        if n == 2:
            # What is left is the first step / (1 - rate), where that is not too long.
            np.testing.assert_allclose(reached[1], target[1], atol=1e-12)
            assert factors[2] == pytest.approx(MAX_STEP_FACTOR)
        centers = reached


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_objective_never_falls_with_weights_and_scales(rng, kernel):
    X, _ = make_moons(400, noise=0.1, random_state=1)
    weight, scale = rng.uniform(0.0, 3.0, 400), rng.uniform(0.5, 2.0, 400)
    options = {"kernel": KERNELS[kernel], "tol": 0.0}
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        objectives = [
            solve(rows, X[:4], 0.3, SolverOptions(max_iter=n, **options)).objective
            for n in range(3 * PLAIN_STEPS)
        ]
    assert np.all(np.diff(objectives) >= -1e-14)
    assert objectives[-1] > objectives[0]


@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "biweight"])
def test_fewer_iterations_to_the_same_objective_which_never_falls(kernel):
    X, _ = make_moons(800, noise=0.05, random_state=0)
    start = X[:5].copy()
    options = {"kernel": KERNELS[kernel], "tol": 1e-6}
    with MemoryDataset(X) as rows:
        relaxed = solve(rows, start, 0.25, SolverOptions(max_iter=3000, **options))
        objectives = [
            solve(rows, start, 0.25, SolverOptions(max_iter=n, **options)).objective
            for n in range(0, 60, 3)
        ]
    assert relaxed.converged
    assert np.all(np.diff(objectives) >= -1e-14)
    centers, n_plain = start, 0
    while n_plain < 3000:
        moved = reference.mode_step(X, reference.assign(X, centers), centers, 0.25, kernel)
        n_plain += 1
        if np.linalg.norm(moved - centers, axis=1).max() <= 1e-6 * 0.25:
            break
        centers = moved
    assert relaxed.n_iter < 0.75 * n_plain
    expected = reference.objective(X, centers, 0.25, kernel)
    assert relaxed.objective == pytest.approx(expected, rel=1e-3)

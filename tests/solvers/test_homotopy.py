import numpy as np
import pytest
import reference

from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.homotopy import automatic_start, follow, restart_kmeans, schedule
from modeclust.solvers.solve import evaluate

OPTIONS = {"kernel": 0, "path_iter": 3, "max_iter": 200, "mean_shift_iter": 1, "tol": 1e-6}


def test_each_bandwidth_starts_from_the_last(rng):
    X = rng.normal(size=(300, 2))
    start = X[:3].copy()
    with MemoryDataset(X) as rows:
        options = {**OPTIONS, "tol": 0.0, "max_iter": 5}
        states = list(follow(rows, start, [4.0, 2.0, 1.0], **options))
    expected = start
    for bandwidth, n_iter, state in zip([4.0, 2.0, 1.0], [3, 3, 5], states, strict=True):
        expected = reference.kmodes(X, expected, bandwidth, n_iter)
        np.testing.assert_allclose(state.centroids, expected, rtol=1e-10)
        assert (state.bandwidth, state.n_iter) == (bandwidth, n_iter)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_state_on_the_way_is_measured_at_its_own_bandwidth(rng, kernel, weighted):
    X = rng.normal(size=(300, 2)) * 3
    # At the last bandwidths a compact kernel does not reach the rows of the third cluster.
    X[200:] = 40 + 10 * rng.choice([-1, 1], size=(100, 2))
    start = np.array([[0.0, 0.0], [1.0, 1.0], [40.0, 40.0]])
    weight, scale = rng.uniform(0.5, 2.0, size=(2, 300)) if weighted else (None, None)
    bandwidths = [40.0, 12.0, 4.0, 2.0, 1.0]
    options = {**OPTIONS, "kernel": KERNELS[kernel], "tol": 0.0, "max_iter": 3}
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        n_passes = []
        states = list(follow(_Counted(rows, n_passes), start, bandwidths, **options))
        assert len(n_passes) == 1 + 3 * len(bandwidths)
        for state in states:
            alone = evaluate(rows, state, state.centroids, KERNELS[kernel])
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
        *_, last = follow(rows, X[[0, 150]], [5.0, 2.0, 0.8], **OPTIONS)
        labels = rows.labels()
    # A mode: no step of a small circle around it is denser, by the density of its cluster.
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    circle = 0.01 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for k, mode in enumerate(last.centroids):
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
        start = automatic_start(rows, means, KERNELS[kernel], 1e-3)
    labels = reference.assign(X, means.centroids)
    radius = np.sqrt(reference.squared_distances(X, means.centroids).min(axis=1).mean())

    def move(bandwidth):
        moved = reference.mode_step(X, labels, means.centroids, bandwidth, kernel)
        return np.linalg.norm(moved - means.centroids, axis=1).max()

    assert move(start) <= 0.06 * radius
    assert start == pytest.approx(radius) or move(start / 1.5) > 0.04 * radius


def test_automatic_start_ends_where_kmeans_has_not_converged(rng):
    X = rng.normal(size=(500, 2))
    with MemoryDataset(X) as rows:
        (means,) = restart_kmeans(rows, [X[:4]], max_iter=1, tol=0.0)
        assert np.isfinite(automatic_start(rows, means, 0, 0.1))
        assert automatic_start(rows, means, 0, 1e6) == 2e6


def test_automatic_start_of_points_on_their_centroids():
    X = np.array([[0.0], [0.0], [1.0]])
    with MemoryDataset(X) as rows:
        (means,) = restart_kmeans(rows, [X[1:]], max_iter=10, tol=0.0)
        assert means.inertia == 0.0
        assert automatic_start(rows, means, 0, 0.5) == 1.0

from contextlib import contextmanager

import numpy as np
import pytest
import reference
from sklearn.datasets import load_digits, make_blobs, make_moons

from modeclust import _core
from modeclust.data.memory import MemoryDataset, weight_spread
from modeclust.kernels import KERNELS
from modeclust.solvers.mean_shift import (
    Density,
    Limits,
    Modes,
    ModesAtBandwidth,
    ascend,
    find_modes,
)
from modeclust.solvers.mode_count import NoBandwidthError, estimated_count, find_bandwidth

LIMITS = Limits(tol=1e-6, max_iter=5000, merge_radius=0.1)


@contextmanager
def density_of(X, bandwidth, kernel="gaussian", weight=None, scale=None):
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        yield Density(
            _core.DensityRows(rows.rows),
            len(X),
            KERNELS[kernel],
            bandwidth,
            weight=float(len(X) if weight is None else weight.sum()),
            precision=1.0 if scale is None else float(scale.min() ** -2),
            spread=weight_spread(rows.weight, rows.inverse_squared_scale),
        )


class Traced(Density):
    """A density that notes the places it was asked for."""

    def shift(self, points, reach):
        self.trace.append(points.copy())
        return super().shift(points, reach)


def test_an_ascent_never_lowers_the_density():
    X, _ = make_moons(300, noise=0.1, random_state=0)
    for kernel in KERNELS:
        with density_of(X, 0.15, kernel) as density:
            for seed in X[::30]:
                traced = Traced(**vars(density))
                object.__setattr__(traced, "trace", [])
                ascend(traced, seed[None], LIMITS)
                points = np.concatenate(traced.trace)
                values = reference.density(X, points, 0.15, kernel)
                # A longer step that fell is taken back: the next place is higher than before it.
                for fall in np.flatnonzero(np.diff(values) < -1e-12 * values[1:]) + 1:
                    assert values[fall + 1] >= values[fall - 1] * (1 - 1e-12)
                assert values[-1] >= values.max() * (1 - 1e-12)


def test_slow_ascents_are_accelerated(rng):
    # Along a flat ridge plain steps shrink by 1% each.
    X = rng.uniform(-1, 1, size=(2000, 2)) * [4.0, 0.1]
    with density_of(X, 1.0) as density:
        fast = ascend(density, X[:20], LIMITS)
    ends = reference.mean_shift(X, X[:20], 1.0, tol=1e-8)
    np.testing.assert_allclose(fast.points, ends, atol=1e-3)
    points, n_plain = X[:20], 0
    while True:
        moved = reference.shift(X, points, 1.0)
        n_plain += 1
        if np.linalg.norm(moved - points, axis=1).max() < LIMITS.tol:
            break
        points = moved
    assert fast.n_iter < 0.6 * n_plain


def test_trajectories_leave_saddle_points():
    # The middle of two equal points is a fixed point of mean-shift, and no mode.
    X = np.array([[-2.0, 0.0], [2.0, 0.0]])
    with density_of(X, 1.0) as density:
        modes = find_modes(density, iter([np.zeros((1, 2))]), LIMITS, np.random.RandomState(0))
    assert len(modes.points) == 1
    assert abs(modes.points[0, 0]) == pytest.approx(2.0, abs=0.01)


def test_trajectories_that_separate_at_a_saddle_are_not_merged():
    # Seeds on both sides of the line between two equal points move along it side by side.
    X = np.array([[-2.0, 0.0], [2.0, 0.0]])
    offsets = np.array([-1e-7, 1e-7, -1e-4, 1e-4, -3e-4, 3e-4])
    seeds = np.stack([offsets, np.full(6, 3.0)], axis=1)
    with density_of(X, 1.0) as density:
        ends = ascend(density, seeds, LIMITS)
    # The first two are nearer to the line than `tol` and may end on the saddle.
    np.testing.assert_array_equal(np.sign(ends.points[2:, 0]), np.sign(offsets[2:]))
    assert np.all(np.abs(ends.points[2:, 0]) > 1.9)


def modes_at(bandwidth, n_modes):
    return ModesAtBandwidth(bandwidth, Modes(np.zeros((n_modes, 1)), None, None, True, 1))


class Counts:
    """A number of modes by bandwidth, which falls at given bandwidths."""

    def __init__(self, falls):
        self.falls = np.array(falls)

    def __call__(self, bandwidth):
        return 1 + int(np.sum(self.falls > bandwidth))

    def search(self, bandwidth):
        return modes_at(bandwidth, self(bandwidth)).modes

    def merge_modes_at(self, _found, bandwidth):
        return modes_at(bandwidth, self(bandwidth))


@pytest.mark.parametrize("n_modes", [1, 2, 3, 5])
@pytest.mark.parametrize("start", [0.01, 1.0, 100.0])
def test_find_bandwidth_brackets_the_bandwidth_from_either_side(n_modes, start):
    counts = Counts([0.5, 0.7, 0.70001, 3.0])
    found = find_bandwidth(n_modes, start, counts.search, counts.merge_modes_at)
    assert counts(found.bandwidth) == n_modes


@pytest.mark.parametrize("n_modes", [3, 30])
def test_find_bandwidth_recovers_where_every_row_is_a_mode(n_modes):
    # As in many dimensions: one mode above 0.3, a thousand below 0.26.
    counts = Counts(np.linspace(0.26, 0.3, 1000))
    tried = []

    def search(bandwidth):
        tried.append(counts(bandwidth))
        return counts.search(bandwidth)

    found = find_bandwidth(n_modes, 1.2, search, counts.merge_modes_at, counts)
    assert counts(found.bandwidth) == n_modes
    assert len(tried) == 2  # where it starts and where it ends
    assert max(tried) <= max(8 * n_modes, 30)  # 26 lie within the narrowest range that is tried


def test_find_bandwidth_returns_the_first_bandwidth_if_it_has_n_clusters_modes():
    counts = Counts([0.5, 0.7, 0.9, 3.0])
    assert find_bandwidth(2, 2.0, counts.search, counts.merge_modes_at, counts).bandwidth == 2.0


@pytest.mark.parametrize("estimated", [0.1, 1000.0])
def test_find_bandwidth_does_not_trust_an_estimate(estimated):
    counts = Counts([0.5, 0.7, 0.9, 3.0])
    found = find_bandwidth(4, 1.0, counts.search, counts.merge_modes_at, lambda _: estimated)
    assert counts(found.bandwidth) == 4


def test_estimated_count_by_hand():
    # Of four modes two have one seed each; there are ten times as many seeds in all.
    modes = Modes(np.zeros((4, 1)), None, np.array([0, 0, 0, 1, 1, 2, 3, 0]), True, 1)
    assert estimated_count(modes, 80) == 2 + 2 * 10


def test_the_error_of_find_bandwidth_has_the_nearest_numbers_of_modes():
    counts = Counts([0.5, 2.0, 2.0, 3.0])
    with pytest.raises(NoBandwidthError) as caught:
        find_bandwidth(3, 1.0, counts.search, counts.merge_modes_at)
    (low, n_low), (high, n_high) = caught.value.args
    assert (n_low, n_high) == (4, 2)
    assert low < 2.0 <= high
    assert high / low < 1.001


def hessian(X, place, bandwidth, weight, scale, kernel):
    """Second derivatives of the density, by differences."""
    n_features = X.shape[1]
    step = 1e-3 * bandwidth
    eye = np.eye(n_features) * step
    total = np.empty((n_features, n_features))
    for i in range(n_features):
        for j in range(n_features):
            corners = place + np.array(
                [eye[i] + eye[j], eye[i] - eye[j], eye[j] - eye[i], -eye[i] - eye[j]]
            )
            a, b, c, d = reference.weighted_density(X, corners, bandwidth, kernel, weight, scale)
            total[i, j] = (a - b - c + d) / (4 * step * step)
    return total


def data_sets():
    rng = np.random.default_rng(0)
    blobs = make_blobs(400, 2, centers=5, random_state=1)[0]
    degrees = np.concatenate([rng.poisson(20, 200), rng.zipf(1.6, 100) % 500])[:, None].astype(
        float
    )
    return {
        "blobs": (blobs, 0.8),
        "moons": (make_moons(300, noise=0.05, random_state=0)[0], 0.15),
        "digits": (load_digits().data[:250], 12.0),
        "degrees": (degrees, 4.0),
        "duplicates": (np.repeat(blobs[:80], 4, axis=0), 0.8),
    }


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", data_sets())
@pytest.mark.parametrize("weighted", [False, True])
def test_modes_and_partition_of_plain_mean_shift(name, kernel, weighted):
    X, bandwidth = data_sets()[name]
    rng = np.random.default_rng(1)
    weight, scale = rng.uniform(0.5, 2.0, size=(2, len(X))) if weighted else (None, None)
    if kernel in reference.COMPACT:
        bandwidth *= 2.0 if kernel == "epanechnikov" else 2.5
    options = {"kernel": kernel, "weight": weight, "scale": scale}
    with density_of(X, bandwidth, **options) as density:
        # The flat pull has modes next to each other, which would otherwise be one.
        limits = LIMITS._replace(merge_radius=1e-3) if kernel == "epanechnikov" else LIMITS
        modes = find_modes(density, iter([X]), limits, np.random.RandomState(0))
    ends = reference.mean_shift(X, X, bandwidth, **options)
    far = np.linalg.norm(ends - modes.points[modes.labels], axis=1)
    assert far.max() < 1e-4 * bandwidth, np.sort(far)[-5:] / bandwidth
    # Every mode is a peak of the density.
    shifted = reference.shift(X, modes.points, bandwidth, **options)
    assert np.abs(shifted - modes.points).max() < 1e-5 * bandwidth
    np.testing.assert_allclose(
        modes.density, reference.weighted_density(X, modes.points, bandwidth, **options), rtol=1e-9
    )
    assert np.all(np.diff(modes.density) <= 0)
    if kernel in ("gaussian", "cauchy") and X.shape[1] <= 2:
        for place in modes.points:
            assert np.linalg.eigvalsh(hessian(X, place, bandwidth, weight, scale, kernel)).max() < 0

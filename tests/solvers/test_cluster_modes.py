"""The modes of given clusters, each with a bandwidth of its own."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal

from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.cluster_modes import (
    LAST_STEP,
    LAST_STEPS,
    LEVEL_STEPS,
    N_LEVELS,
    SMALL_STEP,
    Labelled,
    follow_modes,
    rows_to_average,
)


def opened(X, labels, **options):
    dataset = MemoryDataset(X, n_clusters=labels.max() + 1, **options)
    dataset.rows.set_labels(labels.astype(np.int32), labels.max() + 1)
    return dataset


def means_of(X, labels):
    return np.stack([X[labels == k].mean(axis=0) for k in range(labels.max() + 1)])


def levels_of(X, labels, *, rows_per_mode=None, kernel="gaussian", bandwidth=np.inf, done=()):
    with opened(X, labels) as dataset:
        task = Labelled(means_of(X, labels), bandwidth, KERNELS[kernel], rows_per_mode, 1.0)
        return list(follow_modes(dataset, task, list(done)))


def weights_at(X, mode, bandwidth, kernel="gaussian"):
    with np.errstate(divide="ignore"):
        logs = reference.LOG_PULLS[kernel](np.sum((X - mode) ** 2, axis=1) / bandwidth**2)
    return np.exp(logs - logs.max())


@pytest.fixture
def skewed(rng):
    """Two clusters whose modes are far from their means, and their labels."""
    parts = [rng.exponential(size=(600, 2)), 20 + rng.exponential(size=(150, 2))]
    return np.concatenate(parts), np.repeat([0, 1], [600, 150])


def test_rows_to_average_by_hand():
    sizes = np.array([0.0, 1.0, 2.0, 3.0, 12.0, 25.0, 100.0, 2500.0])
    assert_allclose(rows_to_average(sizes), [0, 1, 2, 2.4, 9.6, 10, 20, 100])


def test_modes_leave_the_means_for_where_rows_are_dense(skewed):
    X, labels = skewed
    *_, last = levels_of(X, labels)
    # The density of an exponential is highest at 0.
    peaks = np.array([[0, 0], [20, 20]])
    from_peaks = np.linalg.norm([last.centers - peaks, means_of(X, labels) - peaks], axis=2)
    assert np.all(from_peaks[0] < 0.6 * from_peaks[1])
    assert_allclose(last.rows_averaged, rows_to_average(np.array([600.0, 150.0])), rtol=0.5)


def test_levels_fall_from_most_rows_to_few(skewed):
    X, labels = skewed
    states = levels_of(X, labels, rows_per_mode=30)
    assert len(states) == N_LEVELS
    averaged = np.array([state.rows_averaged for state in states])
    assert_allclose(averaged[0], [480, 120], rtol=0.3)
    assert_allclose(averaged[-1], [30, 30], rtol=0.5)
    bandwidths = np.array([state.cluster_bandwidths for state in states])
    assert np.all(np.diff(bandwidths, axis=0) <= 0)
    steps = [state.n_iter for state in states]
    assert max(steps[:-1]) <= LEVEL_STEPS
    assert steps[-1] <= LEVEL_STEPS + LAST_STEPS


@pytest.mark.parametrize("kernel", KERNELS)
def test_modes_are_at_peaks_of_the_densities_of_their_clusters(skewed, kernel):
    X, labels = skewed
    *levels, last = levels_of(X, labels, kernel=kernel)
    for state, small_step in ((levels[1], SMALL_STEP), (last, LAST_STEP)):
        assert state.converged
        for k in range(2):
            mode, own, bandwidth = state.centers[k], X[labels == k], state.cluster_bandwidths[k]
            w = weights_at(own, mode, bandwidth, kernel)
            assert np.linalg.norm(w @ own / w.sum() - mode) <= 1.01 * small_step * bandwidth
            assert state.rows_averaged[k] == pytest.approx(w.sum() ** 2 / np.sum(w**2), rel=1e-9)


def test_modes_reach_peaks_from_flat_slopes(rng):
    # Two bumps of nearly the same height, so that plain mode steps creep.
    X = np.concatenate([rng.normal(0, 1, 190), rng.normal(3.2, 1, 210)])[:, None]
    *_, last = levels_of(X, np.zeros(400, dtype=int))
    bandwidth = last.cluster_bandwidths[0]
    near = last.centers[0, 0] + bandwidth * np.array([-0.05, 0, 0.05])
    densities = [np.exp(-0.5 * ((X - c) / bandwidth) ** 2).sum() for c in near]
    assert densities[1] > max(densities[0], densities[2])


def test_the_bandwidth_of_a_level_averages_the_wanted_rows_where_the_mode_was(skewed):
    X, labels = skewed
    first = levels_of(X, labels)[0]
    for k, mean in enumerate(means_of(X, labels)):
        w = weights_at(X[labels == k], mean, first.cluster_bandwidths[k])
        assert w.sum() ** 2 / np.sum(w**2) == pytest.approx(0.8 * len(w), rel=0.02)


def test_all_rows_give_the_means(skewed):
    X, labels = skewed
    *_, last = levels_of(X, labels, rows_per_mode=np.inf)
    assert_allclose(last.centers, means_of(X, labels))
    assert np.all(np.isinf(last.cluster_bandwidths))
    assert last.rows_averaged.tolist() == [600, 150]


def test_a_mode_stays_where_the_density_has_no_peak_of_few_rows(rng):
    # The corners of a simplex are all as far apart: a narrower kernel has a peak at each row.
    X = np.vstack([np.eye(40), 50 + rng.normal(size=(60, 40))])
    labels = np.repeat([0, 1], [40, 60])
    *_, last = levels_of(X, labels)
    assert_allclose(last.centers[0], 1 / 40, atol=0.02)
    assert last.rows_averaged[0] > 20


@pytest.fixture
def without_clusters(rng):
    """Rows and labels of which some last peaks average too few rows."""
    return rng.random((4_000, 16)), np.repeat(np.arange(4), 1_000)


def test_a_mode_that_fails_in_the_end_goes_back_to_a_peak(without_clusters):
    X, labels = without_clusters
    *levels, last = levels_of(X, labels)
    larger = last.cluster_bandwidths > levels[-1].cluster_bandwidths
    assert larger.any()
    assert np.all(last.rows_averaged >= 0.5 * rows_to_average(np.full(4, 1_000.0)))
    for k in range(4):
        w = weights_at(own := X[labels == k], last.centers[k], last.cluster_bandwidths[k])
        step = np.linalg.norm(w @ own / w.sum() - last.centers[k])
        assert step <= 1.01 * LAST_STEP * last.cluster_bandwidths[k]


def test_a_mode_leaves_the_middle_of_a_ring(rng):
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    *_, last = levels_of(X, np.zeros(300, dtype=int))
    assert np.linalg.norm(last.centers[0]) > 0.9


@pytest.mark.parametrize("n_done", [1, 5, N_LEVELS - 1])
@pytest.mark.parametrize("data", ["skewed", "without_clusters"])
def test_levels_go_on_from_where_they_were(request, data, n_done):
    X, labels = request.getfixturevalue(data)
    whole = levels_of(X, labels)
    # A checkpoint has the centers of the last state only.
    kept = [state._replace(centers=np.empty((0, 0))) for state in whole[: n_done - 1]]
    rest = levels_of(X, labels, done=[*kept, whole[n_done - 1]])
    assert len(rest) == N_LEVELS - n_done
    for one, other in zip(rest, whole[n_done:], strict=True):
        assert_array_equal(one.centers, other.centers)
        assert_array_equal(one.cluster_bandwidths, other.cluster_bandwidths)


def test_a_cluster_without_rows_keeps_its_center():
    X = np.array([[0.0], [1.0], [2.0]])
    with MemoryDataset(X, n_clusters=2) as dataset:
        dataset.rows.set_labels(np.zeros(3, dtype=np.int32), 2)
        task = Labelled(np.array([[1.0], [9.0]]), 1.0, KERNELS["gaussian"], None, 1.0)
        *_, last = follow_modes(dataset, task, [])
    assert last.centers[1] == 9
    assert last.rows_averaged[1] == 0

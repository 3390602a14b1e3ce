"""The bandwidth at which a mode averages a given number of rows."""

import numpy as np
import pytest
from core_cases import make_rows, open_rows
from reference import LOG_PULLS

from modeclust import _core
from modeclust.data.distance_pass import LevelPass
from modeclust.data.mode_pass import ModePass
from modeclust.kernels import KERNELS


def rows_averaged(t, kernel, weight, precision):
    """(sum w)^2 / sum w^2 by the formula; a row of weight q counts as q rows."""
    with np.errstate(divide="ignore"):
        logs = LOG_PULLS[kernel](t)
    if np.isinf(logs.max()):
        return 0.0
    one = precision * np.exp(logs - logs.max())
    return (weight @ one) ** 2 / (weight @ one**2)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_relative_weights_are_ratios_of_the_weights_in_a_mode_step(kernel):
    t = np.array([0.0, 0.25, 0.99, 1.0, 4.0, 3000.0, 3001.0])
    with np.errstate(divide="ignore"):
        logs = LOG_PULLS[kernel](t)
    zeros, far = np.zeros(len(t)), np.full(len(t), 3000.0)
    found = _core.relative_weights(KERNELS[kernel], t, zeros)
    np.testing.assert_allclose(found, np.exp(logs - logs[0]), rtol=1e-14)
    if np.isfinite(logs[-1]):  # without compact support, nothing underflows near the reference
        found = _core.relative_weights(KERNELS[kernel], t, far)[-2:]
        np.testing.assert_allclose(found, np.exp(logs[-2:] - logs[-2]), rtol=1e-12)
    with pytest.raises(ValueError, match="one number for each squared distance"):
        _core.relative_weights(KERNELS[kernel], t, zeros[1:])


def wanted_bandwidths(rows, centers, kernel, wanted):
    sums = ModePass(centers, 0, 0.0).run(rows)
    unit = sums.inertia / sums.weight
    found = LevelPass(centers, KERNELS["gaussian"], np.ones(len(centers)), unit).run(rows)
    wanted = np.asarray(wanted, dtype=float)
    return _core.bandwidths_for_rows(KERNELS[kernel], found.histogram, unit, wanted) ** -2.0


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_features", [2, 5, 64])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_a_mode_averages_the_wanted_number_of_rows(rng, form, weighted, n_features, kernel):
    X, weight, scale = make_rows(rng, 2000, n_features, form=form, weighted=weighted)
    centers = np.stack([X[:1000].mean(axis=0), X[1000:].mean(axis=0) + 0.1])
    rows = open_rows(X, weight, scale, form=form)
    rows.mode_pass(centers, 0, 0.0)
    weight = np.ones(2000) if weight is None else weight
    precision = np.ones(2000) if scale is None else scale**-2.0

    def averaged_at(inverse_squares):
        averaged = []
        for k, inverse_square in enumerate(inverse_squares):
            own = (rows.labels == k) & (weight > 0)
            t = inverse_square * precision[own] * np.square(X[own] - centers[k]).sum(axis=1)
            averaged.append(rows_averaged(t, kernel, weight[own], precision[own]))
        return averaged

    # Kernels of compact support reach no row at the bandwidth that suits the others.
    width = 4.0 if kernel in ("epanechnikov", "biweight") else 1.0
    wanted = 0.97 * np.array(averaged_at(np.array([1.0, 2.0]) / (width * n_features)))
    assert wanted.min() > 3
    found = averaged_at(wanted_bandwidths(rows, centers, kernel, wanted))
    np.testing.assert_allclose(found, wanted, rtol=0.03)  # bins are narrow


def test_a_small_cluster_gets_an_infinite_bandwidth():
    rows = open_rows(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]))
    inverse = wanted_bandwidths(rows, np.array([[1.0], [50.5]]), "gaussian", [3.0, 1.5])
    assert inverse[0] == 0.0  # all three rows are wanted
    assert inverse[1] == 0.0  # both rows are equally near at any bandwidth


def test_two_rows_by_hand():
    # One row at the mode and one at distance 1: the rows averaged are (1 + w)^2 / (1 + w^2).
    rows = open_rows(np.array([[0.0], [1.0]]))
    w = 0.5
    inverse = wanted_bandwidths(rows, np.array([[0.0]]), "gaussian", [(1 + w) ** 2 / (1 + w * w)])
    assert inverse[0] == pytest.approx(-2 * np.log(w), rel=1e-6)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_features", [2, 5, 100])
@pytest.mark.parametrize("reassign", [False, True])
def test_a_mode_pass_writes_the_squared_distances_to_the_own_centers(
    rng, form, n_features, reassign
):
    X, _, _ = make_rows(rng, 3000, n_features, form=form)
    rows, centers = open_rows(X, form=form, n_threads=2, n_clusters=4), X[:4] + 0.1
    rows.mode_pass(X[4:8].copy(), 0, 0.0)
    squared = np.full(3000, np.nan)
    rows.mode_pass(centers, 0, 1.0, reassign, squared=squared)
    expected = np.square(X - centers[rows.labels]).sum(axis=1)
    np.testing.assert_allclose(squared, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="squared must have one number for each row"):
        rows.mode_pass(centers, 0, 1.0, reassign, squared=np.empty(2999))


@pytest.mark.parametrize(
    ("label", "n_clusters", "error"),
    [(0, -1, ValueError), (0, 0, ValueError), (3, 3, ValueError), (-1, 3, ValueError)]
    + [(0, 2**62, TypeError), (0, 0.5, TypeError)],
)
def test_labels_of_a_histogram_are_checked(label, n_clusters, error):
    rows, squared = _core.Rows(np.ones((5, 2))), np.ones(5)
    labels = np.full(5, label, np.int32)
    with pytest.raises(error):
        _core.distance_histogram(rows, squared, labels, n_clusters, 1.0)


def test_a_histogram_has_no_negative_number_of_clusters():
    rows, nothing = _core.Rows(np.ones((0, 2))), np.empty(0)
    assert _core.distance_histogram(rows, nothing, nothing.astype(np.int32), 0, 1.0).shape[0] == 0
    with pytest.raises(ValueError, match="labels must be numbers of clusters"):
        _core.distance_histogram(rows, nothing, nothing.astype(np.int32), -1, 1.0)


@pytest.mark.timeout(60)
def test_a_row_of_almost_no_weight_beside_copies_of_the_mode():
    X, weight = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 1.0, np.exp(-700)])
    for scale in (None, np.array([1.0, 2.0, 1.0])):
        rows = open_rows(X, weight, scale)
        rows.mode_pass(np.zeros((1, 1)), 0, 0.0)
        found = LevelPass(np.zeros((1, 1)), 0, np.ones(1), 1.0).run(rows)
        for wanted in (1.0, 1.9, 2.5):
            (bandwidth,) = _core.bandwidths_for_rows(0, found.histogram, 1.0, np.array([wanted]))
            assert bandwidth > 0

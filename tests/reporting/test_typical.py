import numpy as np
import pytest

from modeclust import KModes
from modeclust.kernels import KERNELS
from modeclust.plotting.exemplars import own_distances
from modeclust.reporting.columns import Column, category_column
from modeclust.reporting.typical import AllRows, Typical, Weights, kernel_weights

LABELS = np.array([0, 0, 0, 1, 1, -1])
VALUES = Weights.of(LABELS, np.array([1.0, 2.0, 1.0, 1.0, 0.0, 5.0]), 3)


def number(values):
    return Column("x", "number", np.array(values, dtype=float))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_mean_with_the_weights_of_the_mode_is_the_mode(kernel, blobs):
    X, _, _ = blobs
    rng = np.random.default_rng(0)
    weight, scale = rng.integers(0, 3, len(X)).astype(float), rng.uniform(0.8, 1.2, len(X))
    model = KModes(3, bandwidth=4.0, kernel=kernel, max_iter=500, tol=1e-10, random_state=0)
    model.fit(X, sample_weight=weight, sample_scale=scale)
    values = kernel_weights(
        kernel,
        own_distances(X, model.labels_, model.modes_),
        model.labels_,
        model.mode_bandwidths_,
        weight,
        scale,
    )
    weights = Weights.of(model.labels_, values, 3)
    means = np.stack([weights.means(column) for column in X.T], axis=1)
    np.testing.assert_allclose(means, model.modes_, rtol=1e-6)
    np.testing.assert_allclose(weights.rows_averaged(weight), model.rows_averaged_, rtol=1e-6)


def test_an_infinite_bandwidth_weighs_all_rows_alike():
    weights = kernel_weights(
        "gaussian", np.arange(4.0), np.array([0, 0, 1, -1]), np.full(2, np.inf)
    )
    assert weights.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_that_reaches_no_row_weighs_the_nearest(kernel):
    weights = kernel_weights(
        kernel, np.array([1e9, 2e9, 0.0]), np.array([0, 0, 1]), np.full(2, 0.1)
    )
    assert weights[[0, 2]].tolist() == [1, 1]
    assert weights[1] < 0.1


def test_weighted_means_by_hand():
    np.testing.assert_allclose(
        VALUES.means(np.array([1.0, 2.0, 3.0, 7.0, 100.0, 9.0])), [2.0, 7.0, np.nan]
    )
    np.testing.assert_allclose(VALUES.means(np.array([np.nan, 2, 5, 7, 1, 1])), [3, 7, np.nan])


def test_weighted_quantiles_by_hand():
    found = VALUES.quantiles(np.array([3.0, 1.0, 2.0, 7.0, 8.0, 9.0]), (0.1, 0.5, 0.75, 0.9))
    np.testing.assert_array_equal(found[0], [1, 1, 2, 3])
    np.testing.assert_array_equal(found[1], [7, 7, 7, 7])
    assert np.isnan(found[2]).all()


def test_quantiles_are_those_of_numpy():
    rng = np.random.default_rng(0)
    labels, weight = rng.integers(0, 4, 500), rng.uniform(0.1, 2, 500)
    values = rng.normal(size=500)
    found = Weights.of(labels, weight, 4).quantiles(values, (0.1, 0.9))
    for k in range(4):
        own = labels == k
        wanted = np.quantile(values[own], [0.1, 0.9], weights=weight[own], method="inverted_cdf")
        np.testing.assert_array_equal(found[k], wanted)


def test_shares_of_categories_leave_out_missing_ones():
    column = category_column("plan", ["a", "b", None, "b", "a", "a"])
    typical = Typical(column, VALUES)
    np.testing.assert_allclose(typical.shares, [[1 / 3, 2 / 3], [0, 1], [np.nan, np.nan]])
    np.testing.assert_array_equal(typical.values, [1, 1, np.nan])
    np.testing.assert_allclose(typical.missing, [0.25, 0, np.nan])


def test_many_clusters_with_many_categories():
    labels = np.arange(100, dtype=np.int8)
    column = category_column("plan", [f"level {k}" for k in range(100)])
    shares = Weights.of(labels, np.ones(100), 100).shares(column)
    assert [column.levels[j] for j in shares.argmax(axis=1)] == [f"level {k}" for k in range(100)]


def test_dates_have_a_middle():
    typical = Typical(Column("d", "date", np.array([3.0, 1.0, 2.0, 7.0, 8.0, 9.0])), VALUES)
    np.testing.assert_array_equal(typical.values, [1, 7, np.nan])


def test_one_absurd_value_does_not_move_what_is_usual():
    values = np.random.default_rng(0).normal(50, 10, 200)
    plain = AllRows(number(values), None)
    values[7] = 1e12
    spoiled = AllRows(number(values), None)
    assert spoiled.value == pytest.approx(plain.value, rel=0.01)
    assert spoiled.spread[0] == pytest.approx(plain.spread[0], rel=0.05)
    assert plain.value == pytest.approx(50, abs=1.5)
    assert plain.spread[0] == pytest.approx(10, rel=0.1)


def test_a_column_of_mostly_zeros_keeps_its_mean():
    values = np.r_[np.zeros(900), np.linspace(1, 100, 100)]
    usual = AllRows(number(values), None)
    assert usual.value == pytest.approx(values.mean(), rel=0.05)
    assert usual.spread[0] > 0


def test_a_column_of_almost_only_zeros_compares_shares():
    values = np.zeros(1000)
    values[:5] = [3, 4, 5, 6, 1e9]
    usual = AllRows(number(values), None)
    assert usual.value == 0
    labels = np.r_[np.zeros(4), np.ones(996)].astype(int)
    positions = usual.positions(Weights.of(labels, np.ones(1000), 2))
    np.testing.assert_allclose(positions[:, 0], [1, 1 / 996])
    effects = usual.effects(positions, usual.center)
    np.testing.assert_allclose(effects[0], (1 - 0.005) / np.sqrt(0.005 * 0.995))


def test_zeros_and_ones_are_shares():
    values = np.r_[np.ones(5), np.zeros(995)]
    usual = AllRows(number(values), None)
    assert (usual.value, usual.spread[0]) == pytest.approx((0.005, np.sqrt(0.005 * 0.995)))


def test_an_integer_weight_is_a_repeated_row():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=300), rng.integers(0, 4, 300)
    weighted = AllRows(number(values), weight.astype(float))
    repeated = AllRows(number(np.repeat(values, weight)), None)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-9)
    assert weighted.spread == pytest.approx(repeated.spread, rel=1e-9)
    np.testing.assert_array_equal(weighted.range, repeated.range)


def test_the_effect_of_a_category_is_in_standard_deviations():
    column = category_column("plan", ["a"] * 25 + ["b"] * 75)
    usual = AllRows(column, None)
    labels = np.r_[np.zeros(20), np.ones(80)].astype(int)
    positions = usual.positions(Weights.of(labels, np.ones(100), 2))
    effects = usual.effects(positions, usual.center)
    np.testing.assert_allclose(effects[0], [0.75 / np.sqrt(0.1875), -0.75 / np.sqrt(0.1875)])
    assert usual.value == 1


def test_a_rare_category_tells_nothing():
    column = category_column("plan", ["rare"] + ["a"] * 49 + ["b"] * 50)
    usual = AllRows(column, None)
    position = np.array([0.6, 0.35, 0.05])  # a, b, rare
    assert usual.telling_level(position, usual.center) == 1


def test_of_two_values_the_more_frequent_one_is_told():
    """Because "newsletter yes" is easier to read than "no newsletter no"."""
    usual = AllRows(category_column("newsletter", ["no"] * 63 + ["yes"] * 37), None)
    for share in (0.0, 0.2, 0.45, 0.8, 1.0):
        position = np.array([1 - share, share])
        told = usual.telling_level(position, usual.center)
        assert position[told] > usual.center[told]


@pytest.mark.parametrize("size", [1e-200, 1e250])
def test_numbers_of_any_size(size):
    values = np.random.default_rng(0).normal(50, 10, 200)
    plain, other = AllRows(number(values), None), AllRows(number(values * size), None)
    assert other.spread[0] == pytest.approx(plain.spread[0] * size)

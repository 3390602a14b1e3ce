"""The kernels of the core: their values G(t), and the weights g(t) of rows in a mode step."""

import math

import numpy as np
import pytest
import reference

from modeclust import _core
from modeclust.data.mode_pass import ModePass
from modeclust.kernels import KERNELS

names = pytest.mark.parametrize("name", KERNELS)


def kernel_values(name, t):
    """Return G(t) at given t: of rows at distance 1 with the precision t, or at the center."""
    t = np.asarray(t, dtype=np.float64)
    rows = _core.Rows(np.sign(t)[:, None], precision=np.where(t == 0, 1.0, t))
    out = np.empty((len(t), 1))
    _core.kernel_values(
        rows, np.zeros((1, 1)), kernel=KERNELS[name], inverse_squared_bandwidth=1.0, out=out
    )
    return out[:, 0]


def kernel_value(name, t):
    return kernel_values(name, [t])[0]


def relative_weight(name, t, reference=0.0):
    """Return g(t) / g(reference), from the sums of a pass over a row at each of them."""
    X = np.array([[math.sqrt(reference), 0.0], [0.0, math.sqrt(t)]])
    sums = ModePass(np.zeros((1, 2)), KERNELS[name], 1.0).run(_core.Rows(X))
    return sums.totals[0, 1] / X[1, 1]


@pytest.mark.parametrize(
    ("name", "value", "weight"),
    [
        ("gaussian", np.exp(-0.125), np.exp(-0.125)),
        ("epanechnikov", 0.75, 1.0),
        ("biweight", 0.5625, 0.75),
        ("cauchy", 0.8, 0.64),
    ],
)
def test_by_hand_at_one_quarter(name, value, weight):
    assert kernel_value(name, 0.25) == pytest.approx(value, rel=1e-15)
    assert relative_weight(name, 0.25) == pytest.approx(weight, rel=1e-15)


@names
def test_values_are_one_at_zero_convex_and_never_rise(name):
    t = np.linspace(0, 5, 501)
    values = kernel_values(name, t)
    assert values[0] == 1.0
    assert np.all(np.diff(values) <= 0)
    assert np.all(np.diff(values, 2) >= -1e-15)
    np.testing.assert_allclose(values, reference.PROFILES[name](t), rtol=1e-14)


@names
@pytest.mark.parametrize("t", [0.1, 0.4, 0.8, 1.7, 6.0])
def test_the_weight_is_the_slope_of_the_values(name, t):
    def slope(at):
        return -(kernel_value(name, at + 1e-6) - kernel_value(name, at - 1e-6)) / 2e-6

    expected = slope(t) / slope(2e-6)
    assert relative_weight(name, t) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@names
def test_compact_kernels_end_at_one(name):
    compact = name in reference.COMPACT
    assert (kernel_value(name, 1.0) == 0.0) == compact
    assert (relative_weight(name, 1.0) == 0.0) == compact
    assert kernel_value(name, np.nextafter(1.0, 0.0)) > 0.0
    # Where no row is in the support, the center has nowhere to go.
    beyond = ModePass(np.zeros((1, 1)), KERNELS[name], 1.0).run(_core.Rows(np.array([[1.5]])))
    assert (beyond.mass[0] == 0.0) == compact


@pytest.mark.parametrize("name", ["gaussian", "cauchy"])
def test_weights_are_ratios_that_do_not_underflow(name):
    near = relative_weight(name, 3.0) / relative_weight(name, 2.0)
    assert relative_weight(name, 3.0, 2.0) == pytest.approx(near, rel=1e-14)
    assert relative_weight(name, 1e200, 1e200) == 1.0
    assert 0 <= relative_weight(name, 2e200, 1e200) < 1


def test_exp_is_right_to_the_last_bits(rng):
    t = np.concatenate([[0.0, 1e-300, 1e-9, 100.0, 1400.0], rng.uniform(0, 1400, size=5000)])
    expected = np.exp(-t.astype(np.longdouble) / 2)
    ulp = np.spacing(expected.astype(np.float64))
    found = kernel_values("gaussian", t)
    assert np.max(np.abs(found - expected) / ulp) < 2
    assert found[0] == 1.0
    one_by_one = [  # the objective of one row with a scale is its value, by another function
        ModePass(np.zeros((1, 1)), KERNELS["gaussian"], 1.0)
        .run(_core.Rows(np.ones((1, 1)), precision=np.array([at])))
        .objective
        for at in t[1:500]
    ]
    assert np.max(np.abs(one_by_one - expected[1:500]) / ulp[1:500]) < 2


@pytest.mark.parametrize("t", [1500.0, 1e10, 1e300])
def test_gaussian_values_end_at_zero(t):
    assert kernel_value("gaussian", t) == 0.0

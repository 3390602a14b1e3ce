import numpy as np
import pytest
import reference

from modeclust.kernels import KERNELS, has_compact_support, profile, relative_pull

names = pytest.mark.parametrize("name", KERNELS)


@pytest.mark.parametrize(
    ("name", "value", "pull"),
    [
        ("gaussian", np.exp(-0.25), np.exp(-0.25)),
        ("epanechnikov", 0.5, 1.0),
        ("biweight", 0.25, 0.5),
        ("cauchy", 2 / 3, 4 / 9),
    ],
)
def test_by_hand_at_one_half(name, value, pull):
    assert profile(KERNELS[name], 0.5) == pytest.approx(value, rel=1e-15)
    assert relative_pull(KERNELS[name], 0.5, 0.0) == pytest.approx(pull, rel=1e-15)


@names
def test_profile_is_one_at_zero_convex_and_never_rises(name):
    t = np.linspace(0, 5, 501)
    values = np.array([profile(KERNELS[name], ti) for ti in t])
    assert values[0] == 1.0
    assert np.all(np.diff(values) <= 0)
    assert np.all(np.diff(values, 2) >= -1e-15)
    np.testing.assert_allclose(values, reference.PROFILES[name](t), rtol=1e-14)


@names
@pytest.mark.parametrize("t", [0.1, 0.4, 0.8, 1.7, 6.0])
def test_pull_is_the_slope_of_the_profile(name, t):
    def slope(at):
        return -(profile(KERNELS[name], at + 1e-6) - profile(KERNELS[name], at - 1e-6)) / 2e-6

    expected = slope(t) / slope(1e-6)
    assert relative_pull(KERNELS[name], t, 0.0) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@names
def test_compact_kernels_end_at_one(name):
    code = KERNELS[name]
    compact = name in ("epanechnikov", "biweight")
    assert has_compact_support(code) == compact
    assert (profile(code, 1.0) == 0.0) == compact
    assert (relative_pull(code, 1.0, 0.0) == 0.0) == compact


@pytest.mark.parametrize("name", ["gaussian", "cauchy"])
def test_relative_pull_is_a_ratio_that_does_not_underflow(name):
    code = KERNELS[name]
    near = relative_pull(code, 3.0, 0.0) / relative_pull(code, 2.0, 0.0)
    assert relative_pull(code, 3.0, 2.0) == pytest.approx(near, rel=1e-14)
    assert relative_pull(code, 1e200, 1e200) == 1.0
    assert 0 <= relative_pull(code, 2e200, 1e200) < 1

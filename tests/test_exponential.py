import numpy as np
import pytest
from numba import njit

from modeclust.compiled import FAST_MATH
from modeclust.exponential import exp_of_minus_half


@njit(fastmath=FAST_MATH)
def from_fast_math(values, bits, floats, out):
    exp_of_minus_half(values, values.size, bits, floats, out)


@pytest.mark.parametrize(
    "function",
    [lambda v, b, f, o: exp_of_minus_half(v, v.size, b, f, o), from_fast_math],
    ids=["alone", "called from fast math"],
)
def test_it_is_exp_to_the_last_bits(rng, function):
    values = np.concatenate([[0.0, 1e-300, 1e-9, 100.0, 700.0], rng.uniform(-700, 700, size=5000)])
    bits, out = np.empty(values.size, dtype=np.int64), np.empty(values.size)
    function(values, bits, bits.view(np.float64), out)
    expected = np.exp(-values.astype(np.longdouble) / 2)
    error = np.abs(out - expected) / np.spacing(expected.astype(np.float64))
    assert error.max() < 2
    assert out[0] == 1.0

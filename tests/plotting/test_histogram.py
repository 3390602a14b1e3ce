import numpy as np
import pytest

from modeclust.plotting.histogram import edges, limits

NONE = np.array([0.5])


def test_limits_hold_all_rows_of_plain_data(rng):
    values = rng.normal(size=1000)
    low, high = limits(values, values.mean())
    assert low < values.min()
    assert high > values.max()


def test_a_far_tail_is_left_out_but_no_centroid():
    values = np.append(np.linspace(0, 1, 999), 1e6)
    low, high = limits(values, NONE)
    assert -0.1 < low < 0
    assert 1 < high < 1.1
    assert limits(values, np.array([0.5, 300.0]))[1] > 300


def test_equal_rows_have_room():
    assert limits(np.full(9, 3.0), np.array([3.0])) == (2.5, 3.5)


@pytest.mark.parametrize("n_rows", [2, 500, 100_000])
def test_edges_are_equal_and_hold_all(rng, n_rows):
    values = rng.normal(size=n_rows)
    low, high = limits(values, values[:1])
    found = edges(values, low, high)
    np.testing.assert_allclose(np.diff(found), found[1] - found[0])
    assert 30 <= len(found) - 1 <= 121
    assert found[0] <= low
    assert found[-1] >= values.max()


def test_whole_numbers_lie_within_bins(rng):
    values = rng.poisson(20, 1000)
    found = edges(values, *limits(values, values[:1]))
    assert np.all(found % 1 == 0.5)
    assert np.histogram(values, found)[0].sum() == 1000

"""Timing in turns, and exponents of growth."""

import gc
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from modeclust.paper.findings import Measure
from modeclust.paper.timing import fit_growth, per_iteration, ratio, take_turns, undisturbed


def test_exponent_of_a_power_is_found_exactly():
    growth = fit_growth({size: [3e-6 * size**1.5] * 2 for size in (10, 100, 1000)})
    assert growth.exponent.value == pytest.approx(1.5)
    assert growth.exponent.high - growth.exponent.low == pytest.approx(0, abs=1e-6)
    assert growth.exponent.n_runs == 2
    assert growth.at(400) == pytest.approx(3e-6 * 400**1.5)


def test_interval_of_an_exponent_by_hand():
    # In logs of base 10: times 0, 1, 1 at 0, 1, 2. The slope is 1/2, the residuals are
    # -1/6, 1/3, -1/6, so its standard error is sqrt(1/6 / 1 / 2), and t at one degree of
    # freedom is 12.706.
    growth = fit_growth({1: [1.0], 10: [10.0], 100: [10.0]})
    assert growth.exponent.value == pytest.approx(0.5)
    reach = 12.7062 * np.sqrt(1 / 12)
    assert growth.exponent.high - 0.5 == pytest.approx(reach, rel=1e-4)
    assert 0.5 - growth.exponent.low == pytest.approx(reach, rel=1e-4)


def test_turns_are_taken_in_order_and_the_first_is_not_counted():
    order = []

    def contestant(name):
        def run():
            order.append(name)
            return float(len(order))

        return run

    seconds = take_turns({name: contestant(name) for name in "ab"}, 2)
    assert order == ["a", "b"] * 3
    assert seconds == {"a": [3, 5], "b": [4, 6]}


def test_time_is_that_of_the_processor_over_iterations(monkeypatch):
    clock = iter([10.0, 16.0])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    assert per_iteration(lambda: 3) == 2.0


def test_ratios_are_of_the_same_turn():
    assert ratio([2.0, 9.0], [1.0, 3.0]) == Measure.mean_of([2, 3])


def test_undisturbed_is_over_afterwards():
    assert gc.isenabled()
    with undisturbed():
        assert not gc.isenabled()
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), undisturbed():
        1 / 0  # noqa: B018
    assert gc.isenabled()

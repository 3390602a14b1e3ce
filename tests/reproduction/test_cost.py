"""The cost of an iteration, its timing, and exponents of growth."""

import gc
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info

from reproduction.claims import claims_of, judge
from reproduction.cost import (
    BLOCK,
    CLAIMED,
    KMEANS,
    KMODES,
    MEDOIDS,
    MEDOIDS_ITER,
    METHODS,
    N_ITER,
    SHIFT,
    Shape,
    Sizes,
    draw_rows,
    fit_growth,
    interleave,
    ratio,
    reproduce,
    shift_points,
    stable_timing,
    time_per_iteration,
)
from reproduction.findings import Measure


@pytest.fixture(scope="module")
def found():
    return reproduce(quick=True)


def test_every_claim_is_measured_and_judged(found):
    # Times at small sizes mean nothing, so no verdict is asserted.
    results = judge("cost", found.measures)
    assert all(np.isfinite([result["ours"], *result["interval"]]).all() for result in results)
    assert found.measures.keys() == claims_of("cost").keys()
    ratios = [name for name in found.measures if "-to-" in name or name == "homotopy"]
    assert len(ratios) == 6
    assert all(found.measures[name].value > 0 for name in ratios)


def test_picture_and_table_have_all_methods(found):
    [picture], [table] = found.pictures, found.tables
    assert [row[0] for row in table.rows] == list(METHODS)
    assert all(len(row) == len(table.columns) for row in table.rows)
    for ax in picture.figure.axes:
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert [label.split(",")[0] for label in labels] == list(METHODS)


def test_one_number_grows_along_an_axis():
    sizes = Sizes()
    rows = sizes.shapes("N", for_pairs=False)
    assert [shape.N for shape in rows] == list(sizes.rows)
    assert {(shape.K, shape.D) for shape in rows} == {(16, 16)}
    assert [shape.N for shape in sizes.shapes("N", for_pairs=True)] == list(sizes.rows_for_pairs)
    assert sizes.shapes("K", for_pairs=True)[-1] == Shape(sizes.n_for_pairs, 128, 16)
    assert sizes.shapes("D", for_pairs=False)[0] == Shape(sizes.n, 16, 8)
    assert all(len(sizes.shapes(axis, for_pairs=p)) >= 4 for axis in "NKD" for p in (True, False))


def test_claimed_exponents_are_the_ones_in_the_paper():
    assert ("K", SHIFT) not in CLAIMED
    assert set(CLAIMED) >= {(axis, method) for axis in "NKD" for method in (KMEANS, KMODES)}


def test_step_from_points_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0]])
    moved = shift_points(X, np.array([[1.0, 5.0], [0.0, 0.0]]), 1.0)
    weight = np.exp(-2.0)
    assert_allclose(moved, [[1.0, 0.0], [2 * weight / (1 + weight), 0.0]])


def test_steps_in_blocks_are_the_same(rng):
    X = rng.normal(size=(BLOCK + 7, 3))
    whole = shift_points(X, X, 0.7)
    assert_allclose(whole[-9:], shift_points(X, X[-9:], 0.7))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_runs_return_their_iterations(method):
    X = draw_rows(Shape(300, 4, 3))
    n_iter = METHODS[method](X, 4, 3.0)
    assert n_iter == {SHIFT: 1, MEDOIDS: MEDOIDS_ITER, KMODES: N_ITER}.get(method, n_iter)
    assert 1 < n_iter <= N_ITER or method == SHIFT


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
    half_width = 12.7062 * np.sqrt(1 / 12)
    assert growth.exponent.high - 0.5 == pytest.approx(half_width, rel=1e-4)
    assert 0.5 - growth.exponent.low == pytest.approx(half_width, rel=1e-4)


def test_rounds_are_interleaved_and_the_first_does_not_count():
    order = []

    def timer(name):
        def run():
            order.append(name)
            return float(len(order))

        return run

    seconds = interleave({name: timer(name) for name in "ab"}, 2)
    assert order == ["a", "b"] * 3
    assert seconds == {"a": [3, 5], "b": [4, 6]}


def test_time_is_processor_time_per_iteration(monkeypatch):
    clock = iter([10.0, 16.0])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    assert time_per_iteration(lambda: 3) == 2.0


def test_ratios_are_of_the_same_round():
    assert ratio([2.0, 9.0], [1.0, 3.0]) == Measure.mean_of([2, 3])


def test_stable_timing_ends():
    assert gc.isenabled()
    with stable_timing():
        assert not gc.isenabled()
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), stable_timing():
        1 / 0  # noqa: B018
    assert gc.isenabled()

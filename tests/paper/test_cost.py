"""What an iteration costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from modeclust.paper.claims import claims_of, judge
from modeclust.paper.cost import CLAIMED, Shape, Sizes, draw_rows, reproduce
from modeclust.paper.iterations import (
    BLOCK,
    KMEANS,
    KMODES,
    MEDOIDS,
    MEDOIDS_ITER,
    METHODS,
    N_ITER,
    SHIFT,
    shift_rows,
)


@pytest.fixture(scope="module")
def found():
    return reproduce(quick=True)


def test_every_claim_is_measured_and_judged(found):
    # Times of so small sizes say nothing, so no verdict is asserted.
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
    rows = sizes.shapes("N", in_pairs=False)
    assert [shape.N for shape in rows] == list(sizes.rows)
    assert {(shape.K, shape.D) for shape in rows} == {(16, 16)}
    assert [shape.N for shape in sizes.shapes("N", in_pairs=True)] == list(sizes.rows_in_pairs)
    assert sizes.shapes("K", in_pairs=True)[-1] == Shape(sizes.n_in_pairs, 128, 16)
    assert sizes.shapes("D", in_pairs=False)[0] == Shape(sizes.n, 16, 8)
    assert all(len(sizes.shapes(axis, in_pairs=p)) >= 4 for axis in "NKD" for p in (True, False))


def test_claimed_exponents_are_those_that_the_paper_gives():
    assert ("K", SHIFT) not in CLAIMED
    assert set(CLAIMED) >= {(axis, method) for axis in "NKD" for method in (KMEANS, KMODES)}


def test_step_from_places_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0]])
    moved = shift_rows(X, np.array([[1.0, 5.0], [0.0, 0.0]]), 1.0)
    weight = np.exp(-2.0)
    assert_allclose(moved, [[1.0, 0.0], [2 * weight / (1 + weight), 0.0]])


def test_steps_in_blocks_are_the_same(rng):
    X = rng.normal(size=(BLOCK + 7, 3))
    whole = shift_rows(X, X, 0.7)
    assert_allclose(whole[-9:], shift_rows(X, X[-9:], 0.7))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_runs_return_their_iterations(method):
    X = draw_rows(Shape(300, 4, 3))
    n_iter = METHODS[method](X, 4, 3.0)
    assert n_iter == {SHIFT: 1, MEDOIDS: MEDOIDS_ITER, KMODES: N_ITER}.get(method, n_iter)
    assert 1 < n_iter <= N_ITER or method == SHIFT

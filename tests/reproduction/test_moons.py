import numpy as np
import pytest
from sklearn.datasets import make_moons

from modeclust.datasets import load_dataset
from reproduction.claims import claims_of
from reproduction.moons import (
    LAST,
    N_ROWS,
    NOISE,
    SWEPT,
    is_nearest_row_wrong,
    reproduce,
)


@pytest.fixture(scope="module")
def findings():
    return reproduce(quick=True)


def test_modes_lie_on_the_moons_and_means_do_not(findings):
    assert claims_of("moons").keys() == findings.measures.keys()
    values = {name: measure.value for name, measure in findings.measures.items()}
    assert np.isfinite(list(values.values())).all()
    assert 0 < values["neither-perfect"] < 1
    assert values["modes-improve"] > 0
    assert values["mean-where-none-are"] < 0.1 < 0.5 < values["mode-typical"] <= 1
    assert values["mean-shift-modes"] > 2


def test_pictures_and_table_have_their_parts(findings):
    paths, sweep = findings.pictures
    assert [ax.get_title() for ax in paths.figure.axes] == ["K-means", "K-modes at bandwidth 0.1"]
    assert [ax.get_ylabel() for ax in sweep.figure.axes] == [
        "modes of mean-shift",
        "adjusted Rand index",
    ]
    (table,) = findings.tables
    assert [row[1] for row in table.rows[:2]] == ["2.0", "2.0"]
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_first_sample_comes_with_the_library():
    data = load_dataset("moons")
    X, y = make_moons(N_ROWS, noise=NOISE, random_state=0)
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(y, data.y)


def test_bandwidths_increase_and_surround_that_of_the_paper():
    assert np.all(np.diff(SWEPT) > 0)
    assert SWEPT[0] < LAST < SWEPT[-1]


@pytest.mark.parametrize(("center", "is_wrong"), [(0.1, False), (2.1, True)])
def test_nearest_row_by_hand(center, is_wrong):
    # The rows of cluster 0 are of class 0, except the row at 2.
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    y, labels = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    assert is_nearest_row_wrong(X, y, labels, np.array([[center], [9.0]])) is is_wrong

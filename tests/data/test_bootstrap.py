"""Bootstrap samples of rows in memory and in chunks."""

import numpy as np
import pytest
from chunks import in_chunks

from modeclust.data.bootstrap import MAX_DRAWN, draw_counts
from modeclust.data.validation import check_rows, check_weights

X = np.arange(12.0).reshape(6, 2)
FRACTIONS = np.array([0.5, 0.0, 1.5, 2.0, 0.0, 1.0])
N_DRAWS = 4000


class Draws(np.random.RandomState):
    """Records what is drawn."""

    def multinomial(self, n, pvals, size=None):
        self.asked = n, list(pvals)
        return super().multinomial(n, pvals, size)


@pytest.mark.parametrize(
    ("weight", "n_drawn", "shares"),
    [
        (None, 6, [1 / 6] * 6),
        (np.array([1.0, 0, 0, 2, 5, 0]), 8, [1 / 8, 2 / 8, 5 / 8]),
        (FRACTIONS, 4, [0.1, 0.3, 0.4, 0.2]),
        (np.full(6, 1e15), 6e15, [1 / 6] * 6),
        (np.full(6, 1e90), MAX_DRAWN, [1 / 6] * 6),
    ],
    ids=["none", "integers", "fractions", "large", "too large"],
)
def test_as_many_rows_are_drawn_as_there_are(weight, n_drawn, shares):
    rng = Draws(0)
    counts = draw_counts(X, weight, rng)
    assert rng.asked[0] == n_drawn == counts.sum()
    np.testing.assert_allclose(rng.asked[1], shares)
    if weight is not None:
        assert not counts[weight == 0].any()


@pytest.mark.parametrize("weight", [None, np.array([1.0, 0, 0, 2, 5, 0]), FRACTIONS])
@pytest.mark.parametrize("sizes", [(6,), (2, 4), (0, 1, 2, 0, 3, 0), (1,) * 6])
def test_chunks_are_drawn_from_as_memory_is(sizes, weight):
    da = pytest.importorskip("dask.array")
    rows = check_rows(da.from_array(X, chunks=-1).rechunk((sizes, (2,))), chunked=True)
    column = check_weights(weight, rows)
    counts = draw_counts(rows, column, np.random.RandomState(0))
    assert isinstance(counts, da.Array)
    assert counts.chunks == (sizes,)
    first = counts.compute()
    np.testing.assert_array_equal(counts.compute(), first)
    again = draw_counts(rows, column, np.random.RandomState(0))
    np.testing.assert_array_equal(again.compute(), first)
    expected = draw_counts(X, weight, np.random.RandomState(0))
    assert first.sum() == expected.sum()
    if weight is not None:
        assert not first[weight == 0].any()


def test_each_row_of_a_chunk_is_drawn_as_often_as_its_weight_says():
    pytest.importorskip("dask.array")
    weight = FRACTIONS * N_DRAWS  # integers
    rows = check_rows(in_chunks(X, 4), chunked=True)
    counts = draw_counts(rows, check_weights(weight, rows), np.random.RandomState(0)).compute()
    assert counts.sum() == weight.sum()
    assert np.all(np.abs(counts - weight) <= 4 * np.sqrt(weight))  # four standard deviations

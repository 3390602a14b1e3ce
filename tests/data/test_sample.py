import numpy as np
from scipy import sparse

from modeclust.data.sample import Sample


def test_distinct_merges_equal_rows_and_adds_their_weights():
    X = np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 2.0], [1.0, 2.5]])
    sample = Sample(X, np.array([1.0, 2.0, 3.0, 4.0])).distinct()
    found = {tuple(x): w for x, w in zip(sample.X, sample.weight, strict=True)}
    assert found == {(1.0, 2.0): 4.0, (3.0, 0.0): 2.0, (1.0, 2.5): 4.0}


def test_distinct_does_not_depend_on_order_repetition_or_storage(rng):
    X = rng.integers(0, 3, size=(40, 4)).astype(float)
    weight = rng.integers(1, 4, size=40).astype(float)
    expected = Sample(X, weight).distinct()
    order = rng.permutation(40)
    repeated = np.repeat(X[order], weight[order].astype(int), axis=0)
    for other in (
        Sample(X[order], weight[order]),
        Sample(repeated, np.ones(len(repeated))),
        Sample(sparse.csr_array(X), weight),
        Sample(sparse.csr_matrix(X), weight),
        Sample(X.astype(np.float32), weight),
    ):
        for found in (other.distinct(), other.distinct(in_place=True)):
            np.testing.assert_array_equal(found.dense(), expected.X)
            np.testing.assert_array_equal(found.weight, expected.weight)


def test_distinct_does_not_change_the_rows_by_default(rng):
    X = rng.normal(size=(50, 100))
    before = X.copy()
    copied = Sample(X, np.ones(50)).distinct()
    np.testing.assert_array_equal(X, before)
    taken = Sample(X, np.ones(50)).distinct(in_place=True)
    np.testing.assert_array_equal(taken.X, copied.X)
    assert np.shares_memory(taken.X, X)


def test_minus_zero_equals_zero():
    sample = Sample(np.array([[0.0], [-0.0]]), np.ones(2)).distinct()
    assert len(sample.weight) == 1


def test_rows_with_equal_keys_are_distinguished():
    X = np.array([[1e17, 0.0], [1e17, 1.0]] * 20 + [[0.0, 0.0]])
    for rows in (X, sparse.csr_array(X)):
        sample = Sample(rows, np.ones(41)).distinct()
        assert sorted(sample.weight) == [1.0, 20.0, 20.0]

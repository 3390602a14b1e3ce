import numpy as np
import pytest
from scipy import sparse

from modeclust.data.memory import MemoryDataset
from modeclust.estimators.checkpoint import DigestPass

X = np.random.default_rng(0).normal(size=(10_000, 3))
DENSE = np.where(X > 0, X, 0.0)
CSR = sparse.csr_array(DENSE)
ONES = np.ones(len(X))


def digests(rows, **options):
    with MemoryDataset(rows, **options) as opened:
        return opened.run(DigestPass())


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), CSR])
def test_any_number_of_threads_gives_the_same(rows):
    one = digests(rows, weight=ONES, scale=ONES, n_jobs=1)
    assert one == digests(rows.copy(), weight=ONES, scale=ONES, n_jobs=3)
    assert len(one.rows) == len(one.weight) == len(one.scale)
    assert len(one.rows) % 16 == 0
    assert len(one.rows) > 32  # several blocks


@pytest.mark.parametrize("place", [0, 999, 1000, 9_999])
def test_another_number_changes_the_digest(place):
    other, weight = X.copy(), ONES.copy()
    other[place, 1] = np.nextafter(other[place, 1], 9)
    weight[place] += 1e-15
    first = digests(X, weight=ONES, scale=ONES)
    assert digests(other, weight=ONES, scale=ONES).rows != first.rows
    assert digests(X, weight=weight, scale=ONES).weight != first.weight
    assert digests(X, weight=ONES, scale=1 + weight).scale != first.scale
    assert digests(other, weight=ONES, scale=ONES).weight == first.weight


def test_rows_of_a_csr_matrix_are_distinguished():
    first = digests(CSR)
    wide = CSR.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert digests(wide) == first
    assert digests(sparse.csr_array(DENSE[:, [1, 0, 2]])).rows != first.rows
    # The same numbers in the same columns, in other rows.
    a, b = sparse.csr_array([[1.0, 2.0], [0, 0]]), sparse.csr_array([[1.0, 0], [0, 2.0]])
    assert digests(a).rows != digests(b).rows


def test_another_order_of_the_rows_changes_the_digest():
    assert digests(X[::-1].copy()).rows != digests(X).rows
    blocks = np.concatenate([X[1000:2000], X[:1000], X[2000:]])
    assert digests(blocks).rows != digests(X).rows

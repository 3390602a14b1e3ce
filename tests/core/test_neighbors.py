import multiprocessing
import os

import numpy as np
import pytest
from core_cases import FEATURES, FORMS, digest, digests_of_variants, make_rows, open_rows
from scipy import sparse

from modeclust import _core


def nearest(X, n_nearest, queries=None, **options):
    """Return distances and indices by the core."""
    form = options.pop("form", "dense")
    others = None if queries is None else open_rows(queries, form=form, protect=True)
    return _core.nearest_rows(
        open_rows(X, form=form, protect=True, **options), n_nearest, queries=others
    )


def plain_nearest(X, n_nearest, queries=None):
    """Return distances and indices, query by query."""
    X = np.asarray(X, dtype=float)
    distances, indices = [], []
    for i, query in enumerate(X if queries is None else np.asarray(queries, dtype=float)):
        squared = ((X - query) ** 2).sum(axis=1)
        order = np.lexsort((np.arange(len(X)), squared))
        if queries is None:
            order = order[order != i]
        indices.append(order[:n_nearest])
        distances.append(np.sqrt(squared[order[:n_nearest]]))
    return np.array(distances), np.array(indices)


def check(found, wanted):
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_by_hand(form):
    X = np.array([[0.0], [4.0], [1.0], [-1.0]])
    distances, indices = nearest(X, 2, form=form)
    assert distances.tolist() == [[1, 1], [3, 4], [1, 2], [1, 2]]
    assert indices.tolist() == [[2, 3], [2, 0], [0, 3], [0, 2]]  # rows 2 and 3 are as far from 0
    distances, indices = nearest(X, 3, np.array([[0.0], [5.0]]), form=form)
    assert distances.tolist() == [[0, 1, 1], [1, 4, 5]]
    assert indices.tolist() == [[0, 2, 3], [1, 2, 0]]


@pytest.mark.parametrize("form", FORMS)
def test_two_rows_and_one(form):
    distances, indices = nearest(np.array([[0.0, 0.0], [3.0, 4.0]]), 1, form=form)
    assert (distances.tolist(), indices.tolist()) == ([[5], [5]], [[1], [0]])
    distances, indices = nearest(np.array([[3.0, 4.0]]), 1, np.zeros((2, 2)), form=form)
    assert (distances.tolist(), indices.tolist()) == ([[5], [5]], [[0], [0]])
    assert nearest(np.ones((3, 2)), 1, np.empty((0, 2)), form=form)[0].shape == (0, 1)


def test_bad_arguments():
    rows = open_rows(np.zeros((4, 2)))
    for n_nearest in (0, 4):
        with pytest.raises(ValueError, match=f"n_nearest must be from 1 to 3, .* {n_nearest}"):
            _core.nearest_rows(rows, n_nearest)
    with pytest.raises(ValueError, match="n_nearest must be from 1 to 4"):
        _core.nearest_rows(rows, 5, rows)
    with pytest.raises(ValueError, match="n_nearest must be from 1 to 0"):
        _core.nearest_rows(open_rows(np.zeros((1, 2))), 1)
    with pytest.raises(ValueError, match="the 2 features of the rows, got 3"):
        _core.nearest_rows(rows, 1, open_rows(np.zeros((4, 3))))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_rows(rng, form, n_features, dtype):
    for n_rows, n_nearest in [(5, 4), (33, 1), (300, 11), (700, 40)]:
        X, _, _ = make_rows(rng, n_rows, n_features, dtype, form=form)
        X[n_rows // 2 : n_rows // 2 + n_rows // 4] = X[: n_rows // 4]  # ties
        wanted = plain_nearest(X, n_nearest)
        for n_threads in (1, 2):
            check(nearest(X, n_nearest, form=form, n_threads=n_threads), wanted)
        queries, _, _ = make_rows(rng, 40, n_features, form=form)
        queries[7] = X[0]
        for n_threads in (1, 2):
            found = nearest(X, n_nearest, queries, form=form, n_threads=n_threads)
            check(found, plain_nearest(X, n_nearest, queries))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 30])
def test_all_other_rows(rng, form, n_features):
    X, _, _ = make_rows(rng, 150, n_features, form=form)
    check(nearest(X, 149, form=form), plain_nearest(X, 149))
    check(nearest(X, 150, X, form=form), plain_nearest(X, 150, X))


@pytest.mark.parametrize("n_features", [1, 5, 40])
def test_dense_and_csr_find_each_other(rng, n_features):
    X, _, _ = make_rows(rng, 300, n_features, form="csr")
    queries, _, _ = make_rows(rng, 60, n_features, np.float32, form="csr")
    wanted = plain_nearest(X, 5, queries)
    for form in FORMS:
        for other in FORMS:
            found = _core.nearest_rows(open_rows(X, form=form), 5, open_rows(queries, form=other))
            check(found, wanted)


@pytest.mark.parametrize("n_features", [2, 30])
def test_wide_indices(rng, n_features):
    X, _, _ = make_rows(rng, 100, n_features, form="csr")
    C = sparse.csr_array(X)
    rows = _core.Rows(C.data, C.indices.astype(np.int64), C.indptr, n_features)
    check(_core.nearest_rows(rows, 3), plain_nearest(X, 3))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [3, 30])
def test_equal_rows_are_at_no_distance(form, n_features):
    X = np.full((500, n_features), 0.1)
    distances, indices = nearest(X, 3, form=form)
    assert np.all(distances == 0.0)
    assert indices[:5].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]
    assert np.all(indices[4:] == [0, 1, 2])


@pytest.mark.parametrize("n_features", [2, 12, 40])
def test_ties_on_a_grid(rng, n_features):
    X = rng.integers(0, 3, size=(800, n_features)).astype(float)
    X[:, 4:] = 0.0  # many equal distances
    check(nearest(X, 20), plain_nearest(X, 20))
    queries = rng.integers(0, 3, size=(300, n_features)) + 0.5
    check(nearest(X, 20, queries), plain_nearest(X, 20, queries))


@pytest.mark.parametrize("n_features", [3, 16, 50])
@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_a_far_offset_does_not_matter(rng, n_features, offset):
    X = rng.integers(0, 1000, size=(400, n_features)).astype(float)  # exact with the offset
    found = nearest(X + offset, 7)
    np.testing.assert_array_equal(found[1], nearest(X, 7)[1])
    np.testing.assert_array_equal(found[0], nearest(X, 7)[0])


@pytest.mark.parametrize("form", FORMS)
def test_clusters_that_scores_cannot_tell_apart(rng, form):
    # Neighbours are a millionth of the distance between the clusters away, or less.
    for distance in (1e4, 1e7, 1e12):
        X = rng.normal(size=(1500, 30))
        X[::2] += distance
        check(nearest(X, 5, form=form), plain_nearest(X, 5))
        queries = X[:40] + rng.normal(size=(40, 30))
        check(nearest(X, 5, queries, form=form), plain_nearest(X, 5, queries))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 30])
def test_large_and_small_numbers(rng, form, n_features):
    X = rng.normal(size=(200, n_features))
    for scale in (1e-140, 1e-30, 1e30, 1e140):
        found = nearest(X * scale, 4, form=form)
        np.testing.assert_array_equal(found[1], plain_nearest(X, 4)[1])
        np.testing.assert_allclose(found[0], plain_nearest(X, 4)[0] * scale, rtol=1e-13)
    far = nearest(X, 4, X[:5] * 1e100, form=form)
    np.testing.assert_array_equal(far[1], plain_nearest(X, 4, X[:5] * 1e100)[1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 30])
def test_squares_that_overflow_come_last(form, n_features):
    X = np.zeros((4, n_features))
    X[:, 0] = [1e200, 0.0, 1.0, -1e300]
    distances, indices = nearest(X, 3, form=form)
    assert indices.tolist() == [[1, 2, 3], [2, 0, 3], [1, 0, 3], [0, 1, 2]]
    assert distances[1].tolist() == [1, np.inf, np.inf]


def test_sorted_rows(rng):
    # Each row is nearer to the last one than all rows before it.
    X = np.cumsum(np.abs(rng.normal(size=(3000, 30))), axis=0)
    queries = X[-3:] + 1.0
    check(nearest(X, 6, queries), plain_nearest(X, 6, queries))
    indices = nearest(X, 1)[1]
    assert np.all(np.abs(indices.ravel() - np.arange(3000)) == 1)


def test_rows_of_any_type_order_and_rescaling(rng):
    for n_features in (3, 40):
        X = rng.integers(0, 100, size=(300, n_features))
        wanted = plain_nearest(X, 4)
        for rows in (X, X.astype(np.uint8), np.asfortranarray(X, dtype=np.float32), X[:, ::-1]):
            check(_core.nearest_rows(_core.Rows(rows), 4), wanted)
        half = X.astype(np.float16)
        check(_core.nearest_rows(_core.Rows(half), 4), wanted)
        rescaled = _core.Rows(X, offset=np.full(n_features, 50.0), scale=2.0)
        check(_core.nearest_rows(rescaled, 4), (wanted[0] / 2, wanted[1]))
        check(_core.nearest_rows(rescaled, 1, rescaled), (np.zeros((300, 1)), plain_own(X)))


def plain_own(X):
    """Return the first row that equals each row."""
    return plain_nearest(X, 1, X)[1]


def all_bits(n_threads=1):
    rng = np.random.default_rng(0)
    found = []
    for form in FORMS:
        for n_features in (1, 2, 5, 20, 24, 50):
            for dtype in (np.float32, np.float64):
                X, _, _ = make_rows(rng, 900, n_features, dtype, form=form)
                rows = open_rows(X, form=form, n_threads=n_threads)
                found += _core.nearest_rows(rows, 6)
                found += _core.nearest_rows(rows, 6, open_rows(X[:50] + 0.1, form=form))
    return digest(*found)


PROGRAM = """
import json
from core.test_neighbors import all_bits
print(json.dumps(all_bits()))
"""


def test_every_instruction_set_gives_the_same_bits():
    expected = all_bits()
    assert all(found == expected for found in digests_of_variants(PROGRAM).values())


def test_any_number_of_threads_gives_the_same_bits():
    assert len({all_bits(n) for n in (1, 2, 3, 5)}) == 1


def test_tree_and_products_give_the_same_bits(rng):
    # All rows are searched in a tree, a few by products.
    for n_features in (1, 4, 9, 23):
        X = rng.normal(size=(2000, n_features)) + 20 * rng.integers(0, 9, size=(2000, 1))
        distances, indices = nearest(X, 4, X)
        for some in (slice(0, 60), slice(1000, 1060)):
            found = nearest(X, 4, X[some])
            np.testing.assert_array_equal(found[0], distances[some])
            np.testing.assert_array_equal(found[1], indices[some])


@pytest.mark.posix
@pytest.mark.parametrize("n_features", [3, 30])
def test_a_search_in_a_forked_process(rng, n_features):
    X = rng.normal(size=(3000, n_features))
    wanted = digest(*nearest(X, 3, n_threads=2))
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        sender.send(digest(*nearest(X, 3, n_threads=2)) == wanted)
        os._exit(0)
    assert receiver.poll(60)
    assert receiver.recv()
    os.waitpid(child, 0)

"""Similarities of clusters, and distances between neighbouring rows."""

import numpy as np
import pytest
from chunks import in_chunks
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.cluster import contingency_matrix

from modeclust.data.memory import MemoryDataset, open_dataset
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_rows, check_weights
from modeclust.solvers import stability
from modeclust.solvers.kmodes import assign
from modeclust.solvers.stability import compare, overlap_table, row_spacing

rng = np.random.RandomState(0)
ROWS = np.round(rng.normal(size=(900, 3)), 1)  # some are equal
CENTERS = np.array([[-1.0, 0, 0], [1, 0, 0], [0, 5, 0], [90, 90, 90]])


def slow_spacing(X, weight=None):
    """Return the median of the distance to the nearest row that is different, over all rows."""
    X = X if weight is None else np.repeat(X, weight.astype(int), axis=0)
    labels = cdist(X, CENTERS).argmin(axis=1)
    distances = cdist(X, X)
    distances[distances == 0] = np.inf
    nearest = distances.min(axis=1)
    return [np.median(nearest[labels == k]) if k in labels else np.nan for k in range(4)]


def test_two_clusterings_by_hand():
    # Three rows of the first cluster stay together, and one joins the second.
    overlap = np.array([[3.0, 1.0], [0.0, 2.0]])
    jaccard, distance = compare(overlap, np.array([[0.0], [10.0]]), np.array([[1.0], [7.0]]))
    np.testing.assert_allclose(jaccard, [3 / 4, 2 / 3])
    np.testing.assert_allclose(distance, [1, 3])


def test_of_equally_similar_clusters_the_nearest_mode_counts():
    # The second cluster and the third of the others have no rows.
    overlap = np.array([[2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    modes, others = np.array([[0.0], [5.0]]), np.array([[-3.0], [2.0], [6.0]])
    jaccard, distance = compare(overlap, modes, others)
    np.testing.assert_allclose(jaccard, [1 / 2, 0])
    np.testing.assert_allclose(distance, [2, 3])


@pytest.mark.parametrize("chunked", [False, True])
def test_the_table_counts_pairs_of_labels(chunked):
    labels, others = rng.randint(3, size=(2, 200)).astype(np.int32)
    counts = rng.randint(4, size=200)
    expected = contingency_matrix(np.repeat(labels, counts), np.repeat(others, counts))
    if chunked:
        da = pytest.importorskip("dask.array")
        labels, others, counts = (
            da.from_array(column, chunks=-1).rechunk(((0, 70, 0, 130),))
            for column in (labels, others, counts)
        )
    table = overlap_table(labels, others, counts, (3, 4))
    np.testing.assert_array_equal(table, np.hstack([expected, np.zeros((3, 1))]))


def test_spacing_by_hand():
    """Copies of a row are not its neighbours, and rows of weight 0 are not there."""
    X = np.array([[0.0], [0], [1], [5], [20], [22], [27], [27.5]])
    centers = np.array([[0.0], [25.0], [1000.0]])
    with MemoryDataset(X, weight=np.array([1.0, 1, 1, 1, 1, 1, 1, 0])) as dataset:
        assign(dataset, centers)
        found = row_spacing(dataset, 3, seed=0)
    # 0, 0, 1 and 5 have 1, 1, 1 and 4; 20, 22 and 27 have 2, 2 and 5.
    np.testing.assert_array_equal(found, [1, 2, np.nan])


def test_equal_rows_have_no_neighbours():
    with MemoryDataset(np.ones((4, 2))) as dataset:
        assign(dataset, np.ones((1, 2)))
        assert row_spacing(dataset, 1, seed=0) == np.inf


WEIGHT = np.arange(900) % 4.0
FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "chunks": lambda X: in_chunks(X, 250),
    "CSR chunks": lambda X: in_chunks(sparse.csr_array(X), 250),
}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
@pytest.mark.parametrize("form", FORMS)
def test_spacing_is_the_median_of_a_slow_search(form, weight, monkeypatch):
    monkeypatch.setattr(stability, "ROWS_PER_CLUSTER", 900)
    monkeypatch.setattr(stability, "NUMBERS_AT_ONCE", 99)
    X = ROWS if form != "float32" else ROWS.astype(np.float32).astype(np.float64)
    found = spacing(FORMS[form](ROWS), weight)
    np.testing.assert_allclose(found, slow_spacing(X, weight), rtol=1e-5)


def spacing(X, weight=None, n_threads=1):
    if hasattr(X, "compute"):
        pytest.importorskip("dask.array")
    rows = check_rows(X, chunked=True)
    with open_dataset(
        rows, Rescaling(), weight=check_weights(weight, rows), n_clusters=4, n_threads=n_threads
    ) as dataset:
        assign(dataset, CENTERS)
        return row_spacing(dataset, 4, seed=0)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
def test_a_sample_is_the_same_in_chunks_and_threads(weight):
    expected = spacing(ROWS, weight)
    assert not np.array_equal(expected, slow_spacing(ROWS, weight), equal_nan=True)
    np.testing.assert_allclose(expected[:2], slow_spacing(ROWS, weight)[:2], rtol=0.3)
    np.testing.assert_array_equal(spacing(ROWS, weight, n_threads=3), expected)
    np.testing.assert_allclose(spacing(in_chunks(ROWS, 250), weight), expected)

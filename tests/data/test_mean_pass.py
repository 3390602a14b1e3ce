import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.mean_pass import FarthestPass, MeanPass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass


def test_four_points_by_hand():
    X = np.array([[0.0], [2.0], [5.0], [6.0]])
    first, second = np.array([[1.0], [6.0]]), np.array([[4.0], [9.0]])
    with MemoryDataset(X, weight=np.array([1.0, 2.0, 3.0, 0.0])) as rows:
        sums = rows.run(MeanPass(first))
        assert sums.counts.tolist() == [2, 1]  # of positive weight
        assert sums.mass.tolist() == [3.0, 3.0]
        assert sums.totals.tolist() == [[4.0], [15.0]]
        assert sums.changed == 4
        change = rows.run(MeanPass(second, after=first))
        assert rows.labels().tolist() == [0, 0, 0, 0]
    assert change.counts.tolist() == [1, -1]
    assert change.mass.tolist() == [3.0, -3.0]
    assert change.totals.tolist() == [[15.0], [-15.0]]
    assert change.changed == 2
    sums.merge(change)
    assert sums.moved(second).tolist() == [[19.0 / 6.0], [9.0]]


def test_rows_settled_by_their_bounds_are_not_read(rng):
    X = np.vstack([rng.normal(size=(1000, 3)), rng.normal(size=(1000, 3)) + 50])
    centers = np.array([[0.0, 0.0, 0.0], [50.0, 50.0, 50.0]])
    with MemoryDataset(X) as rows:
        assert rows.run(MeanPass(centers)).read == 2000
        change = rows.run(MeanPass(centers + 0.1, after=centers))
        assert (change.read, change.searched, change.changed) == (0, 0, 0)
        assert not change.totals.any()


@pytest.mark.parametrize("between", ["another pass", "other centers", "nothing known"])
def test_a_block_without_valid_bounds_adds_all_its_rows(rng, between):
    X = rng.normal(size=(500, 3))
    centers = X[:4].copy()
    with MemoryDataset(X) as rows:
        rows.run(MeanPass(centers))
        after = centers
        if between == "another pass":
            rows.run(ModePass(centers, 0, 1.0))
        elif between == "other centers":
            after = centers + 1.0
        else:
            after = None
        sums = rows.run(MeanPass(centers + 0.01, after=after))
    assert sums.counts.sum() == 500
    np.testing.assert_allclose(sums.totals.sum(axis=0), X.sum(axis=0))


def test_bits_do_not_depend_on_the_number_of_threads(rng):
    X = rng.normal(size=(40_000, 3)).astype(np.float32)
    start = X[:9].astype(np.float64)
    results = []
    for n_jobs in (1, 2, 5):
        with MemoryDataset(X, n_clusters=9, n_jobs=n_jobs) as rows:
            sums = rows.run(MeanPass(start))
            moved = sums.moved(start)
            sums.merge(rows.run(MeanPass(moved, after=start)))
            results.append((sums.totals.tobytes(), sums.mass.tobytes(), rows.labels().tobytes()))
    assert results[0] == results[1] == results[2]
    np.testing.assert_array_equal(
        np.frombuffer(results[0][2], dtype=np.int32), reference.assign(X.astype(float), moved)
    )


def test_farthest_rows_first_with_their_weights(rng):
    X = rng.normal(size=(30_000, 2))
    weight = rng.integers(0, 2, size=30_000) * 2.0
    scale = rng.uniform(1, 2, size=30_000)
    centers = X[:3]
    distances = np.square(X[:, None] - centers).sum(axis=2).min(axis=1)
    expected = np.argsort(np.where(weight > 0, -distances, 0))[:4]
    for form in (X, sparse.csr_array(X)):
        with MemoryDataset(form, weight=weight, scale=scale) as rows:
            rows.run(ModePass(centers, 0, 0.0))
            found = rows.run(FarthestPass(centers, 4))
        np.testing.assert_array_equal(found.indices, expected)
        np.testing.assert_allclose(found.distances, distances[expected])
        np.testing.assert_allclose(found.weights, 2.0 / scale[expected] ** 2)

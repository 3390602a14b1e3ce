import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.memory import MemoryDataset
from modeclust.data.shift_pass import LEAF, ShiftPass
from modeclust.data.spatial_order import spatial_order
from modeclust.kernels import KERNELS

NEGLIGIBLE = 80.0


def sums_of(X, points, bandwidth, kernel, *, reach=None, n_jobs=1, largest_norm=None, **options):
    with MemoryDataset(X, n_jobs=n_jobs, block_size=3 * LEAF, **options) as rows:
        pass_ = ShiftPass(
            points,
            KERNELS[kernel],
            bandwidth**-2,
            np.full(len(points), np.inf) if reach is None else reach,
            NEGLIGIBLE,
            1e3 if largest_norm is None else largest_norm,
        )
        return rows.run(pass_)


def check(sums, X, points, bandwidth, kernel, rtol=1e-9, **options):
    moved = reference.shift(X, points, bandwidth, kernel, **options)
    np.testing.assert_allclose(sums.moved(points), moved, rtol=rtol, atol=rtol)
    weight = options.get("weight")
    total = len(X) if weight is None else weight.sum()
    density = reference.weighted_density(X, points, bandwidth, kernel, **options)
    np.testing.assert_allclose(sums.density / total, density, rtol=rtol)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_features", [1, 2, 7, 30])
@pytest.mark.parametrize("weighted", [False, True])
def test_as_the_reference(rng, kernel, n_features, weighted):
    X = rng.normal(size=(700, n_features))
    points = np.concatenate([X[:90], rng.normal(size=(20, n_features)) * 3])
    options = {}
    if weighted:
        options = {"weight": rng.uniform(0, 2, 700), "scale": rng.uniform(0.5, 2, 700)}
        options["weight"][::7] = 0.0
    bandwidth = 0.5 * np.sqrt(n_features)
    sums = sums_of(X, points, bandwidth, kernel, **options)
    check(sums, X, points, bandwidth, kernel, **options)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows_as_dense_ones(rng, kernel):
    X = rng.normal(size=(500, 40)) * (rng.random((500, 40)) < 0.2)
    points = X[:70] + 0.01
    sums = sums_of(sparse.csr_array(X), points, 2.0, kernel)
    check(sums, X, points, 2.0, kernel)


@pytest.mark.parametrize("n_features", [2, 30])
def test_single_precision_rows(rng, n_features):
    X = rng.normal(size=(500, n_features)).astype(np.float32)
    sums = sums_of(X, X[:50].astype(float), 1.0, "gaussian")
    check(sums, X.astype(float), X[:50].astype(float), 1.0, "gaussian")


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "biweight"])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_out_of_reach_is_passed_over_and_changes_nothing(rng, kernel, weighted):
    X = rng.uniform(size=(5000, 2)) * 100
    X = X[spatial_order(X, LEAF)]
    options = {"scale": rng.uniform(0.5, 2.0, 5000)} if weighted else {}
    points = X[::20] + 0.1
    every = sums_of(X, points, 1.0, kernel, **options)
    near = sums_of(X, points, 1.0, kernel, reach=every.smallest, **options)
    np.testing.assert_allclose(near.moved(points), every.moved(points), rtol=1e-12)
    np.testing.assert_allclose(near.density, every.density, rtol=1e-12)
    np.testing.assert_array_equal(near.smallest, every.smallest)


def test_far_places_and_tiny_bandwidths_do_not_underflow(rng):
    X = rng.normal(size=(300, 2))
    points = np.array([[1e3, 0.0], [-50.0, 80.0], [0.0, 0.0]])
    for bandwidth in (1e-3, 1.0):
        sums = sums_of(X, points, bandwidth, "gaussian")
        moved = reference.shift(X, points, bandwidth)
        np.testing.assert_allclose(sums.moved(points), moved, rtol=1e-9)


def test_long_rows_by_differences_where_products_would_lose_digits(rng):
    X = rng.normal(size=(300, 30)) * 1e-4 + 10.0
    points = X[:40]
    largest_norm = float((X**2).sum(axis=1).max())
    sums = sums_of(X, points, 1e-4, "gaussian", largest_norm=largest_norm)
    check(sums, X, points, 1e-4, "gaussian", rtol=1e-10)


@pytest.mark.parametrize("n_features", [2, 30])
def test_any_number_of_threads_gives_the_same_bits(rng, n_features):
    X = rng.normal(size=(3000, n_features))
    one = sums_of(X, X[:200], 1.0, "gaussian", n_jobs=1)
    two = sums_of(X, X[:200], 1.0, "gaussian", n_jobs=2)
    assert one.totals.tobytes() == two.totals.tobytes()
    assert one.density.tobytes() == two.density.tobytes()

"""What must hold for any data."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs

from modeclust import KModes, MeanShift, estimate_bandwidth, kmodes_path
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.rescaling import RescaledRows, Rescaling
from modeclust.kernels import KERNELS


@st.composite
def problems(draw):
    """Draw rows with ties and duplicates, weights, scales, a start and a bandwidth."""
    n_rows = draw(st.integers(2, 40))
    n_features = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n_rows, n_features))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X = X[rng.integers(0, n_rows, size=n_rows)]
    X = X * 10.0 ** draw(st.integers(-3, 3))
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    weight = rng.integers(0, 3, size=n_rows).astype(float) if draw(st.booleans()) else None
    if weight is not None:
        weight[0] = 1.0
    scale = rng.uniform(0.3, 3, size=n_rows) if draw(st.booleans()) else None
    n_clusters = draw(st.integers(1, n_rows))
    start = X[rng.choice(n_rows, n_clusters, replace=False)].astype(np.float64)
    start += rng.normal(size=start.shape) * np.abs(X).max() * draw(st.sampled_from([0, 0.3, 3]))
    bandwidth = 10.0 ** draw(st.floats(-6, 2)) * (np.abs(X).max() + 1e-3)
    rows = sparse.csr_array(X) if draw(st.booleans()) else X
    return rows, weight, scale, start, bandwidth


@settings(max_examples=300, deadline=None)
@given(problems(), st.sampled_from(sorted(KERNELS)), st.integers(1, 3))
def test_the_objective_never_falls_at_a_fixed_bandwidth(problem, kernel, mode_steps):
    X, weight, scale, centers, bandwidth = problem
    with MemoryDataset(X, weight=weight, scale=scale) as rows:
        last = -np.inf
        for _ in range(6):
            for reassign in [True] + [False] * (mode_steps - 1):
                pass_ = ModePass(centers, KERNELS[kernel], bandwidth**-2, reassign)
                sums = rows.run(pass_)
                assert sums.objective >= last - 1e-12 * sums.weight
                last = sums.objective
                centers = sums.moved(centers)
                assert np.isfinite(centers).all()


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from(sorted(KERNELS)))
def test_a_fit_of_anything_is_finite_and_consistent(problem, kernel):
    X, weight, scale, start, bandwidth = problem
    present = X.shape[0] if weight is None else int((weight > 0).sum())
    dense = X.toarray() if sparse.issparse(X) else X
    assume(present >= 2)
    distinct = len(np.unique(dense if weight is None else dense[weight > 0], axis=0))
    model = KModes(
        min(len(start), distinct), bandwidth=bandwidth, kernel=kernel, n_bandwidths=4, n_init=2,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, sample_weight=weight, sample_scale=scale)
    assert np.isfinite(model.path_.centers).all()
    assert 0 <= model.objective_ <= 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(
        model.counts_, np.bincount(model.labels_, minlength=model.n_clusters)
    )
    assert np.all((model.redundancy_.data >= 0) & (model.redundancy_.data <= 1))


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:600]


def fit(X, n_clusters=6, **options):
    fit_options = {
        name: options.pop(name) for name in ("sample_weight", "sample_scale") if name in options
    }
    options = {"bandwidth": 15.0, "n_bandwidths": 8, "n_init": 3, "random_state": 0} | options
    return KModes(n_clusters, **options).fit(X, **fit_options)


def test_csr_equals_dense(digits):
    dense, csr = fit(digits), fit(sparse.csr_array(digits))
    np.testing.assert_array_equal(csr.labels_, dense.labels_)
    np.testing.assert_allclose(csr.cluster_centers_, dense.cluster_centers_, atol=1e-8)
    np.testing.assert_array_equal(csr.path_.labels, dense.path_.labels)


def test_float32_centers_are_close_to_float64s(digits):
    X = digits / 16 + np.random.default_rng(0).normal(scale=0.01, size=digits.shape)
    single = fit(X.astype(np.float32), bandwidth=1.0)
    double = fit(X, bandwidth=1.0)
    np.testing.assert_allclose(single.cluster_centers_, double.cluster_centers_, atol=1e-4)


def test_every_thread_count_gives_the_same_bits():
    X, _ = make_blobs(60_000, 3, centers=12, random_state=0)
    results = [
        fit(X.astype(np.float32), 12, bandwidth="knn", n_jobs=n_jobs) for n_jobs in (1, 2, 5)
    ]
    for other in results[1:]:
        assert other.path_.centers.tobytes() == results[0].path_.centers.tobytes()
        assert other.labels_.tobytes() == results[0].labels_.tobytes()
        assert other.objective_ == results[0].objective_
        assert other.redundancy_.data.tobytes() == results[0].redundancy_.data.tobytes()


def test_weights_are_repetitions_even_with_random_seeds(digits):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(digits))
    repeated = fit(np.repeat(digits, weight, axis=0), bandwidth="knn")
    weighted = fit(digits, bandwidth="knn", sample_weight=weight)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-8)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)


def test_permuting_rows_permutes_labels(digits):
    order = np.random.default_rng(0).permutation(len(digits))
    plain, permuted = fit(digits, bandwidth="knn"), fit(digits[order], bandwidth="knn")
    np.testing.assert_array_equal(permuted.labels_, plain.labels_[order])
    np.testing.assert_allclose(permuted.cluster_centers_, plain.cluster_centers_, atol=1e-8)


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_translation_moves_the_centers_along(digits, offset):
    plain, moved = fit(digits), fit(digits + offset)
    np.testing.assert_array_equal(moved.labels_, plain.labels_)
    np.testing.assert_allclose(
        moved.cluster_centers_ - offset, plain.cluster_centers_, atol=offset * 1e-14
    )


@pytest.mark.parametrize("factor", [1e-150, 1e-45, 1e-3, 7.0, 1e45, 1e150])
def test_scaling_the_data_scales_the_result(digits, factor):
    plain, scaled = fit(digits), fit(digits * factor, bandwidth=15.0 * factor)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_allclose(scaled.cluster_centers_ / factor, plain.cluster_centers_, atol=1e-8)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_rotation_rotates_the_centers(digits):
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 64)))
    start = digits[:6]
    plain, rotated = fit(digits, init=start), fit(digits @ rotation, init=start @ rotation)
    np.testing.assert_array_equal(rotated.labels_, plain.labels_)
    np.testing.assert_allclose(
        rotated.cluster_centers_, plain.cluster_centers_ @ rotation, atol=1e-8
    )


def test_only_the_product_of_scales_and_bandwidth_matters(digits):
    scale = np.random.default_rng(0).uniform(0.5, 2, size=600)
    plain = kmodes_path(digits, 4, bandwidths=[20.0, 10.0], init=digits[:4], sample_scale=scale)
    for factor in (1e-30, 0.5, 1e20):
        other = kmodes_path(
            digits, 4, bandwidths=np.array([20.0, 10.0]) / factor, init=digits[:4],
            sample_scale=scale * factor,
        )  # fmt: skip
        np.testing.assert_allclose(other.centers, plain.centers, rtol=1e-10)
        np.testing.assert_array_equal(other.n_iter, plain.n_iter)
        np.testing.assert_allclose(other.bandwidths * factor, [20.0, 10.0])


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint8, np.int64, bool])
def test_other_dtypes_are_converted_to_float64(digits, dtype):
    X = (digits > 7).astype(dtype) if dtype is bool else digits.astype(dtype)
    found, expected = fit(X, bandwidth=3.0), fit(X.astype(np.float64), bandwidth=3.0)
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    assert found.cluster_centers_.dtype == np.float64


def test_lists_fortran_order_and_constant_columns_are_accepted(digits):
    plain = fit(digits)
    for same in (digits.tolist(), np.asfortranarray(digits)):
        np.testing.assert_array_equal(fit(same).cluster_centers_, plain.cluster_centers_)
    wide = fit(
        np.hstack([digits, np.full((600, 2), 5.0)]),
        init=np.hstack([digits[:6], np.full((6, 2), 5.0)]),
    )
    narrow = fit(digits, init=digits[:6])
    np.testing.assert_allclose(wide.cluster_centers_[:, :64], narrow.cluster_centers_, rtol=1e-10)
    np.testing.assert_allclose(wide.cluster_centers_[:, 64:], 5.0, rtol=1e-14)


def test_a_mapped_file_equals_memory(digits, tmp_path):
    np.save(tmp_path / "rows.npy", digits)
    np.save(tmp_path / "bytes.npy", digits.astype(np.uint8))
    expected = fit(digits, bandwidth="knn")
    for name in ("rows.npy", "bytes.npy"):
        mapped = fit(np.load(tmp_path / name, mmap_mode="r"), bandwidth="knn")
        np.testing.assert_array_equal(mapped.labels_, expected.labels_)
        np.testing.assert_array_equal(mapped.cluster_centers_, expected.cluster_centers_)


def blobs(seed):
    """Clusters so far apart that most restarts find them, in one order or another."""
    rng = np.random.RandomState(seed)
    X = np.vstack([rng.randn(40, 6) + 8 * rng.randn(6) for _ in range(4)])
    X[np.abs(X) < 0.5] = 0
    return X


@pytest.mark.parametrize(
    ("changed", "order"),
    [
        (lambda X: sparse.csr_matrix(X), slice(None)),
        (lambda X: X[::-1], slice(None, None, -1)),
        (lambda X: X + 1e6, slice(None)),
        (lambda X: X * 3, slice(None)),
        (lambda X: X.astype(np.float32), slice(None)),
    ],
    ids=["CSR", "reversed", "moved", "scaled", "single"],
)
def test_the_best_restart_does_not_depend_on_rounding(changed, order):
    for seed in range(10):
        X = blobs(seed)
        options = {"random_state": seed, "n_bandwidths": 3}
        expected = KModes(4, **options).fit(X).labels_
        found = KModes(4, **options).fit(changed(X)).labels_
        np.testing.assert_array_equal(found, expected[order])


def test_weights_choose_the_same_restart():
    rng = np.random.default_rng(0)
    for seed in range(10):
        X = blobs(seed)
        weight = rng.integers(0, 3, size=len(X))
        options = {"random_state": seed, "n_bandwidths": 3}
        weighted = KModes(4, **options).fit(X, sample_weight=weight).labels_
        repeated = KModes(4, **options).fit(np.repeat(X, weight, axis=0)).labels_
        np.testing.assert_array_equal(np.repeat(weighted, weight), repeated)


@pytest.mark.parametrize("factor", [1e-300, 1e160, 1e300])
def test_numbers_near_the_end_of_the_range(factor):
    X = blobs(0)
    with np.errstate(over="ignore"):  # the inertia, which is a square
        model = KModes(4, random_state=0).fit(X * factor)
    plain = KModes(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.cluster_centers_ / factor, plain.cluster_centers_, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X * factor), plain.labels_)


def test_new_rows_of_another_size_find_their_nearest_mode():
    X = np.array([[1.0], [1.1], [4.9], [5.1]])
    model = KModes(2, bandwidth=0.5, init=[[5.0], [1.0]]).fit(X)
    for tiny in (np.array([[1e-200]]), sparse.csr_matrix([[1e-200]])):
        assert model.predict(tiny).tolist() == [1]
        assert np.isfinite(model.transform(tiny)).all()
    assert model.predict(np.array([[1.0], [5.0], [1e200]])).tolist()[:2] == [1, 0]


def test_extreme_weights_and_bandwidths():
    X = blobs(0)
    plain = KModes(4, bandwidth=2.0, random_state=0).fit(X)
    for weight in (1e306, 1e-320):
        model = KModes(4, bandwidth=2.0, random_state=0).fit(X, sample_weight=np.full(160, weight))
        np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_, rtol=1e-10)
    wide = KModes(4, bandwidth=1e308, random_state=0).fit(X)
    assert np.isfinite(wide.path_.bandwidths[1:]).all()
    assert wide.bandwidth_ == 1e308
    np.testing.assert_allclose(wide.cluster_centers_, wide.path_.centers[0], atol=1e-10)
    with pytest.raises(ValueError, match="too large for these rows"):
        KModes(4, bandwidth=1.0).fit(X * 1e-310)


def test_no_tolerance_still_ends():
    model = KModes(4, bandwidth=2.0, tol=0, max_iter=3000, random_state=0).fit(blobs(0))
    assert model.path_.n_iter[-1] < 3000


def test_unsorted_csr_with_duplicate_entries_is_summed():
    Z = np.where(blobs(0) < 0.2, 0, blobs(0))[:, :2]
    data = np.stack([Z[:, 1] / 2, Z[:, 0] / 2, Z[:, 1] / 2, Z[:, 0] / 2], axis=1).ravel()
    indptr = np.arange(0, 4 * len(Z) + 1, 4)
    odd = sparse.csr_matrix((data, np.tile([1, 0, 1, 0], len(Z)), indptr), shape=Z.shape)
    for options in ({}, {"bandwidth": "likelihood"}, {"adaptive": True}):
        found = KModes(3, random_state=0, **options).fit(odd)
        expected = KModes(3, random_state=0, **options).fit(sparse.csr_matrix(Z))
        assert found.bandwidth_ == pytest.approx(expected.bandwidth_, rel=1e-9)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert odd.nnz == 4 * len(Z)


def test_a_mapped_file_with_an_offset_is_not_read_whole(tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 3)) + 1e6
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    rows = Rescaling.of(mapped).to_internal(mapped)
    assert isinstance(rows, RescaledRows)
    np.testing.assert_array_equal(rows[5:7], Rescaling.of(X).to_internal(X)[5:7])
    expected, found = (fit(source, 3, bandwidth="knn", max_iter=2000) for source in (X, mapped))
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)


@pytest.mark.parametrize("n_rows", range(3, 13))
def test_rounding_of_weights_is_no_spread_of_equal_rows(n_rows):
    X = np.full((n_rows, 1), 5.0)
    weight = np.random.default_rng(1).choice([0.3, 0.6], n_rows)  # they sum to a bit more or less
    for rule in ("silverman", "scott"):
        assert estimate_bandwidth(X, rule, sample_weight=weight) == 1
    model = KModes(1, bandwidth=1.0, n_bandwidths=1).fit(X, sample_weight=weight)
    assert model.path_.objectives.max() <= 1
    assert model.score(X, sample_weight=weight) <= 1
    assert MeanShift(1.0, kernel="biweight").fit(X, sample_weight=weight).density_ <= 1


def test_modes_of_mean_shift_are_among_the_rows():
    X = np.random.default_rng(0).integers(0, 2, size=(200, 4)).astype(float)
    model = MeanShift(1.0, kernel="biweight").fit(X)
    assert model.cluster_centers_.min() >= -1e-15
    assert model.cluster_centers_.max() <= 1 + 1e-15

"""Numbers at both ends of their range: the right answer, or a clear error before any work.

Rows are worked on in units that suit them, a power of two: so data times a power of two give
the same clusters, bit for bit. Only where distances, or bandwidths beside them, would be no
numbers, is there an error.
"""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from modeclust import (
    KModes,
    LaplacianKModes,
    MeanShift,
    estimate_bandwidth,
    kmodes_path,
    modes_by_bandwidth,
)
from modeclust.data.memory import MemoryDataset
from modeclust.exceptions import EmptyClusterWarning, EmptySupportWarning
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import RULES


def blobs():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.randn(8, 3) + 6 * rng.randn(3) for _ in range(3)])
    X[np.abs(X) < 0.3] = 0
    return X


X, H = blobs(), 2.0
QUICK = {"n_bandwidths": 3, "n_init": 2, "random_state": 0}
CLIMB = {"tol": 1e-2, "random_state": 0}


def of_kmodes(X, h, **options):
    model = KModes(3, bandwidth=h, **QUICK, **options).fit(X)
    assert np.isfinite(model.path_.centers).all()
    assert np.isfinite(model.transform(X)).all()
    assert 0 <= model.score(X) <= 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.labels_)
    assert np.isfinite(model.outlier_scores_).all()
    np.testing.assert_allclose(model.score_outliers(X), model.outlier_scores_, atol=1e-6)
    return model.labels_


def of_batches(X, h):
    model = KModes(3, bandwidth=h, **QUICK).partial_fit(X[::2]).partial_fit(X[1::2])
    assert np.isfinite(model.cluster_centers_).all()
    return model.labels_


def of_path(X, h):
    path = kmodes_path(X, 3, bandwidths=[np.inf, 2 * h, h], n_init=2, random_state=0)
    assert np.isfinite(path.centers).all()
    return path.labels


def of_mean_shift(X, h, **options):
    model = MeanShift(h, **CLIMB, **options).fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    assert set(model.predict(X)) <= set(range(model.n_clusters_))
    return model.labels_


def of_tree(X, h):
    tree = modes_by_bandwidth(X, [h, 2 * h, 4 * h], **CLIMB)
    assert all(np.isfinite(level.modes).all() for level in tree)
    return tree.n_modes


def of_laplacian(X, h, **options):
    model = LaplacianKModes(3, bandwidth=h, **QUICK, **options).fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    return model.labels_


BY_KERNEL = {
    **{f"KModes {k}": lambda X, h, k=k: of_kmodes(X, h, kernel=k) for k in KERNELS},
    **{f"MeanShift {k}": lambda X, h, k=k: of_mean_shift(X, h, kernel=k) for k in KERNELS},
}
FITS = {
    **{name: fit for name, fit in BY_KERNEL.items() if "gaussian" in name or "biweight" in name},
    "KModes rule": lambda X, h: of_kmodes(X, "knn"),
    "KModes adaptive": lambda X, h: KModes(3, adaptive=True, **QUICK).fit(X).labels_,
    "partial_fit": of_batches,
    "kmodes_path": of_path,
    "MeanShift adaptive": lambda X, h: of_mean_shift(X, h, adaptive=True),
    "modes_by_bandwidth": of_tree,
    "LaplacianKModes gradient": of_laplacian,
    "LaplacianKModes bound": lambda X, h: of_laplacian(X, h, solver="bound"),
    "LaplacianKModes local": lambda X, h: of_laplacian(X, h, affinity_bandwidth="local"),
}


@pytest.fixture(autouse=True)
def only_what_users_should_know():
    """Let the library say that a cluster is empty and the like; any other warning is an error."""
    with warnings.catch_warnings():
        for kind in (EmptyClusterWarning, EmptySupportWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        yield


def single(rows):
    return rows.astype(np.float32)


def slowly(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("form", "exponent"),
    [
        (np.asarray, -1060),
        (sparse.csr_array, 1000),
        *(slowly(np.asarray, exponent) for exponent in (-1000, -500, 500, 1000, 1018)),
        slowly(sparse.csr_array, -1000),
        slowly(single, -140),
        *(slowly(single, exponent) for exponent in (-120, 120)),
    ],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_a_power_of_two_changes_nothing(form, exponent):
    unit = 2.0**exponent
    rows = form(X * unit)
    same = form(X) if exponent > -1040 and exponent != -140 else form(rows / unit)
    for name, fit in FITS.items():
        expected = fit(same, H)
        np.testing.assert_array_equal(fit(rows, H * unit), expected, err_msg=name)
    if exponent < -1040:
        return  # bandwidths are rounded to few digits
    for rule in RULES:
        found, expected = (estimate_bandwidth(part, rule) for part in (rows, same))
        assert found / unit == pytest.approx(expected, rel=1e-9), rule
    found, expected = (estimate_bandwidth(part, local=True) for part in (rows, same))
    np.testing.assert_allclose(found / unit, expected, rtol=1e-9)


TOO_LARGE = "X must hold smaller numbers: rows reach .* distances .* below .*; divide X by 4"
UNSUITABLE = r"bandwidth=.* is too (small|large) for these rows; pass a bandwidth closer"
SPARSE = "too small for sparse rows"
ALIKE = "n_clusters=3 is more than the number of distinct rows"
FAR = np.vstack([X, np.full((1, 3), 1e160)])

# Rows, bandwidth, and what some or all of the above may refuse them for.
EXTREMES = {
    "columns of very different sizes": (X * [1e300, 1e-300, 1], 1e300, None),
    "and a bandwidth that suits none of them": (X * [1e300, 1e-300, 1], 1.0, UNSUITABLE),
    "nor this one": (X * [1e300, 1e-300, 1], 1e-300, UNSUITABLE),
    "two columns that are all but constant": (X * [1e-300, 1e-300, 1], 1e-300, UNSUITABLE),
    "a huge offset": (X * 1e285 + 1e300, 1e286, None),
    "the largest numbers": (X / np.abs(X).max() * 1.7e308, 1e307, TOO_LARGE),
    "the upper half of the range": (np.abs(X) / np.abs(X).max() * 1e308, 1e307, None),
    "both ends of the range": (np.where(X > 0, 1.7e308, -1.7e308), 1e300, TOO_LARGE),
    "the smallest numbers": (np.round(X) * 5e-324, 1e-323, None),
    "nothing but zeros and the smallest": (np.where(X > 0, 5e-324, 0.0), 5e-324, None),
    "the smallest bandwidth": (X, 5e-324, UNSUITABLE),
    "a tiny bandwidth": (X, 1e-90, None),
    "a bandwidth whose square is no number": (X, 1e160, UNSUITABLE),
    "a wide bandwidth": (X, 1e90, None),
    "the largest bandwidth": (X, 8e307, f"{UNSUITABLE}|bandwidths must"),
    "rows too small for a bandwidth": (X * 1e-300, 4e307, f"{UNSUITABLE}|bandwidths must"),
    "rows too large for a bandwidth": (X * 1e300, 1e-300, UNSUITABLE),
    "a row very far out": (FAR, 2.0, UNSUITABLE),
    "and a bandwidth that suits it": (FAR, 1e159, ALIKE),
    "sparse rows of very different sizes": (sparse.csr_array(X * [1e300, 1e-300, 1]), 1e300, None),
    "sparse rows that lose all digits": (sparse.csr_array(X + 1e100), 1e90, f"{ALIKE}|{SPARSE}"),
    "a sparse row very far out": (sparse.csr_array(FAR), 2.0, UNSUITABLE),
    "the largest single numbers": (single(X / np.abs(X).max() * 3.4e38), 1e37, TOO_LARGE),
    "the smallest single numbers": (single(np.round(X) * 1.4e-45), 1e-45, None),
    "small single numbers, wide bandwidth": (single(X * 1e-40), 1.0, None),
    "single columns of very different sizes": (single(X * [1e36, 1e-38, 1]), 1e36, None),
    "a bandwidth too small for single numbers": (single(X), 1e-60, None),
    "a bandwidth too large for single numbers": (single(X), 1e60, None),
}


@pytest.mark.parametrize(
    "fits", [FITS, pytest.param(BY_KERNEL, marks=pytest.mark.slow)], ids=["all", "every kernel"]
)
@pytest.mark.parametrize("case", EXTREMES)
def test_the_result_is_finite_or_an_error_is_raised_before_the_fit(case, fits, monkeypatch):
    rows, bandwidth, refusal = EXTREMES[case]
    passes = []
    run = MemoryDataset.run
    monkeypatch.setattr(
        MemoryDataset, "run", lambda self, pass_: passes.append(pass_) or run(self, pass_)
    )
    estimates = {r: lambda X, h, r=r: estimate_bandwidth(X, r, local=True) for r in RULES}
    for name, fit in (fits | estimates).items():
        passes.clear()
        found = answer(fit, rows, bandwidth)
        if isinstance(found, ValueError):
            assert refusal is not None, f"{name}: {found}"
            assert re.search(refusal, str(found)), f"{name}: {found}"
            assert passes == [], name
        else:
            assert np.isfinite(found).all(), name


def answer(fit, rows, bandwidth):
    try:
        return fit(rows, bandwidth)
    except ValueError as error:
        return error


def test_new_rows_far_beyond_those_of_the_fit():
    for form in (np.asarray, sparse.csr_array):
        model = KModes(3, bandwidth=H, **QUICK).fit(form(X))
        far = np.array([[3e200, 4e200, 0.0], [0.0, 0.0, 1e160]])
        np.testing.assert_allclose(
            model.transform(form(far)), [[5e200] * 3, [1e160] * 3], rtol=1e-12
        )
        assert set(model.predict(form(far))) <= {0, 1, 2}
        assert model.score(form(far)) == 0
        with pytest.raises(
            ValueError, match="X must hold smaller numbers: the distances to the centers"
        ):
            model.transform(form(np.full((1, 3), 1.7e308)))


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1.0, 1e200, 1e300])
@pytest.mark.parametrize("middle", [0.0, 1e-200])
def test_a_single_mode_at_zero(unit, middle):
    rows = np.array([[-1.0], [1.0], [middle]]) * unit
    for bandwidth in (1e-3 * unit, unit, 100 * unit, np.inf):
        model = KModes(1, bandwidth=bandwidth, n_bandwidths=2, n_init=1).fit(rows)
        assert model.score(rows) == pytest.approx(model.objective_, rel=1e-12)
        np.testing.assert_allclose(model.transform(rows)[:2, 0], unit, rtol=1e-12)
        assert np.abs(model.partial_fit(rows).cluster_centers_).max() <= 1e-12 * unit

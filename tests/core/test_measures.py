import json

import numpy as np
import pytest
import reference
from core_cases import FEATURES, FORMS, digest, digests_of_variants, make_rows, open_rows

from modeclust import _core
from modeclust.kernels import KERNELS


def memberships_of(rng, n_rows, n_clusters):
    """Return rows of the simplex, most of them with zeros."""
    parts = np.maximum(rng.normal(size=(n_rows, n_clusters)), 0)
    parts[:, 0] += 1e-3
    return parts / parts.sum(axis=1, keepdims=True)


def distances(rows, centers, dtype=np.float64):
    out = np.full((rows.n_rows, len(centers)), np.nan, dtype)
    _core.distances(rows, centers, out)
    return out


def kernel_values(rows, centers, kernel, bandwidth):
    out = np.full((rows.n_rows, len(centers)), np.nan)
    inverse = bandwidth**-2
    _core.kernel_values(
        rows, centers, kernel=KERNELS[kernel], inverse_squared_bandwidth=inverse, out=out
    )
    return out


def soft_sums(rows, centers, memberships, kernel, bandwidth):
    return _core.soft_sums(
        rows,
        centers,
        memberships,
        kernel=KERNELS[kernel],
        inverse_squared_bandwidth=bandwidth**-2,
    )


def segment_densities(rows, labels, centers, pairs, fractions, kernel, bandwidth, step=1):
    return _core.segment_densities(
        rows,
        labels,
        centers,
        np.asarray(pairs),
        np.asarray(fractions, dtype=float),
        kernel=KERNELS[kernel],
        inverse_squared_bandwidth=bandwidth**-2,
        step=step,
    )


def ones(X, values):
    return np.ones(len(X)) if values is None else values


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_and_kernel_values(rng, form, n_features, dtype):
    for n_rows in (0, 1, 5, 1500):
        X, weight, scale = make_rows(rng, n_rows, n_features, dtype, form=form, weighted=True)
        rows = open_rows(X, weight, scale, form=form, protect=True)
        for n_clusters in (1, 3, 8, 17):
            centers = rng.normal(size=(n_clusters, n_features))
            squared = reference.squared_distances(X.astype(float), centers)
            np.testing.assert_allclose(distances(rows, centers), np.sqrt(squared), rtol=1e-13)
            single = distances(rows, centers, np.float32)
            np.testing.assert_allclose(single, np.sqrt(squared), rtol=1e-6)
            for kernel in KERNELS:
                found = kernel_values(rows, centers, kernel, n_features**0.5)
                t = squared / (n_features * scale[:, None] ** 2)
                wanted = weight[:, None] * reference.PROFILES[kernel](t)
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_own_distances(rng, form, n_features, dtype):
    for n_rows in (0, 1, 5, 1500):
        X, _, _ = make_rows(rng, n_rows, n_features, dtype, form=form)
        labels = rng.integers(0, 4, n_rows).astype(np.int32)
        centers = rng.normal(size=(4, n_features))
        rows = open_rows(X, form=form, protect=True)
        wanted = ((X.astype(float) - centers[labels]) ** 2).sum(axis=1)
        found = _core.own_distances(rows, centers, labels)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_a_row_at_its_center_is_at_no_distance(rng, form):
    X, _, _ = make_rows(rng, 20, 9, form=form)
    rows = open_rows(X, form=form)
    assert np.all(np.diag(distances(rows, X)) == 0.0)
    assert np.all(_core.own_distances(rows, X, np.arange(20, dtype=np.int32)) == 0.0)


@pytest.mark.parametrize("form", FORMS)
def test_distances_whose_squares_overflow(form):
    X = np.array([[3e200, 4e200], [0.0, 0.0], [-3e200, 1.0]])
    found = distances(open_rows(X, form=form), np.zeros((1, 2)))
    np.testing.assert_allclose(found.ravel(), [5e200, 0.0, 3e200], rtol=1e-15)
    far = distances(open_rows(X, form=form), np.array([[1e308, -1e308]]))
    np.testing.assert_allclose(far[1], 1.4142135623730951e308, rtol=1e-15)


def mode_step(X, Z, centers, bandwidth, kernel, weight, scale):
    """The formula, with weights relative to the largest of each cluster."""
    moved = centers.copy()
    for k in range(len(centers)):
        t = ((X - centers[k]) ** 2).sum(axis=1) / (bandwidth * scale) ** 2
        with np.errstate(divide="ignore"):
            logs = np.log(Z[:, k] * weight / scale**2) + reference.LOG_PULLS[kernel](t)
        if np.isfinite(logs.max(initial=-np.inf)):
            w = np.exp(logs - logs.max())
            moved[k] = (w[:, None] * X).sum(axis=0) / w.sum()
    return moved


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_soft_sums(rng, form, n_features, dtype, weighted):
    for n_rows in (0, 1, 5, 1500):
        X, weight, scale = make_rows(rng, n_rows, n_features, dtype, form=form, weighted=weighted)
        rows = open_rows(X, weight, scale, form=form, protect=True, first_row=10)
        Z = memberships_of(rng, n_rows, 5)
        centers = rng.normal(size=(5, n_features))
        X, q, s = X.astype(float), ones(X, weight), ones(X, scale)
        squared = reference.squared_distances(X, centers)
        share = Z * q[:, None]
        for kernel in KERNELS:
            for bandwidth in (0.2 * n_features**0.5, 2 * n_features**0.5):
                sums = soft_sums(rows, centers, Z, kernel, bandwidth)
                t = squared / (bandwidth * s[:, None]) ** 2
                objective = (share * reference.PROFILES[kernel](t)).sum()
                assert sums.objective == pytest.approx(objective, rel=1e-10, abs=1e-250)
                inertia = (share * squared / s[:, None] ** 2).sum()
                assert sums.inertia == pytest.approx(inertia, rel=1e-12)
                assert sums.weight == pytest.approx(share.sum(), rel=1e-12)
                np.testing.assert_array_equal(sums.counts, (Z > 0).sum(axis=0))
                near = np.where(share > 0, squared, np.inf)
                if n_rows:
                    has_row = np.isfinite(near.min(axis=0))
                    nearest = np.where(has_row, 10 + near.argmin(axis=0), -1)
                    np.testing.assert_array_equal(sums.nearest, nearest)
                np.testing.assert_allclose(
                    sums.nearest_distance, near.min(axis=0, initial=np.inf), rtol=1e-13
                )
                moved = np.where(
                    sums.mass[:, None] > 0,
                    sums.totals / np.where(sums.mass > 0, sums.mass, 1.0)[:, None],
                    centers,
                )
                wanted = mode_step(X, Z, centers, bandwidth, kernel, q, s)
                np.testing.assert_allclose(moved, wanted, rtol=1e-8, atol=1e-9)


def test_an_infinite_bandwidth_gives_means(rng):
    X = rng.normal(size=(100, 3))
    Z = memberships_of(rng, 100, 2)
    sums = _core.soft_sums(
        open_rows(X), np.zeros((2, 3)), Z, kernel=0, inverse_squared_bandwidth=0.0
    )
    np.testing.assert_allclose(sums.totals / sums.mass[:, None], Z.T @ X / Z.sum(axis=0)[:, None])
    assert sums.objective == pytest.approx(100)


@pytest.mark.parametrize("n_features", [1, 40])
def test_a_far_member_alone_is_found_without_underflow(n_features):
    X = np.zeros((3, n_features))
    X[:, 0] = 0.0, 100.0, 101.0
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    sums = soft_sums(open_rows(X), np.zeros((2, n_features)), Z, "gaussian", 1.0)
    np.testing.assert_allclose((sums.totals / sums.mass[:, None])[:, 0], [0.0, 100.0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_segment_densities(rng, form, n_features, dtype):
    pairs = np.array([[0, 1], [1, 3], [0, 2], [2, 2]])
    fractions = np.linspace(0, 1, 11)
    for n_rows in (0, 1, 5, 1500):
        X, weight, scale = make_rows(rng, n_rows, n_features, dtype, form=form, weighted=True)
        rows = open_rows(X, weight, scale, form=form, protect=True)
        labels = rng.integers(0, 5, n_rows).astype(np.int32)
        centers = rng.normal(size=(5, n_features))
        bandwidth = 0.8 * n_features**0.5
        for kernel in KERNELS:
            found = segment_densities(rows, labels, centers, pairs, fractions, kernel, bandwidth)
            for (i, j), values in zip(pairs[:3], found, strict=False):
                points = centers[i] + fractions[:, None] * (centers[j] - centers[i])
                own = (labels == i) | (labels == j)
                squared = reference.squared_distances(points, X[own].astype(float))
                t = squared / (bandwidth * scale[own]) ** 2
                wanted = reference.PROFILES[kernel](t) @ weight[own]
                np.testing.assert_allclose(values, wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("step", [2, 7, 5000])
def test_segment_densities_of_every_nth_row(rng, step):
    X, weight, scale = make_rows(rng, 1500, 3, np.float64, weighted=True)
    labels = rng.integers(0, 3, 1500).astype(np.int32)
    task = rng.normal(size=(3, 3)), [[0, 1], [1, 2]], np.linspace(0, 1, 9), "gaussian", 2.0
    found = segment_densities(open_rows(X, weight, scale, n_threads=2), labels, *task, step=step)
    few = open_rows(X[::step].copy(), weight[::step].copy(), scale[::step].copy())
    expected = segment_densities(few, labels[::step].copy(), *task)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_two_modes_at_one_point():
    rows = open_rows(np.array([[0.0], [1.0]]))
    centers = np.array([[0.5], [0.5]])
    labels = np.array([0, 1], dtype=np.int32)
    found = segment_densities(rows, labels, centers, [[0, 1]], [0.0, 0.5, 1.0], "gaussian", 1.0)
    np.testing.assert_allclose(found, 2 * np.exp(-0.125), rtol=1e-15)


def all_bits(X, weight, scale, form, n_threads=1):
    """Return a digest of every pass."""
    rows = open_rows(X, weight, scale, form=form, n_threads=n_threads, n_clusters=3)
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(3, X.shape[1]))
    Z = memberships_of(rng, len(X), 3)
    labels = rng.integers(0, 3, len(X)).astype(np.int32)
    found = [distances(rows, centers), _core.own_distances(rows, centers, labels)]
    for kernel in KERNELS:
        found.append(kernel_values(rows, centers, kernel, 2.0))
        sums = soft_sums(rows, centers, Z, kernel, 2.0)
        found += [sums.reference, sums.mass, sums.totals, sums.counts, sums.nearest]
        found += [sums.nearest_distance, sums.objective, sums.inertia, sums.weight]
        found.append(
            segment_densities(
                rows, labels, centers, [[0, 1], [1, 2]], np.linspace(0, 1, 9), kernel, 2.0
            )
        )
    return digest(*found)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(rng, form, n_features, weighted):
    X, weight, scale = make_rows(rng, 20_000, n_features, form=form, weighted=weighted)
    assert len({all_bits(X, weight, scale, form, n) for n in (1, 2, 3, 5)}) == 1


PROGRAM = """
import json
from core.test_measures import variant_digests
print(json.dumps(variant_digests()))
"""


def variant_digests():
    rng = np.random.default_rng(0)
    return [
        all_bits(*make_rows(rng, 700, n_features, dtype, form=form, weighted=True), form)
        for form in FORMS
        for n_features in FEATURES
        for dtype in (np.float32, np.float64)
    ]


def test_every_instruction_set_gives_the_same_bits():
    found = digests_of_variants(PROGRAM)
    expected = json.loads(json.dumps(variant_digests()))
    assert all(digests == expected for digests in found.values()), list(found)


def test_rows_of_any_type_and_order_are_read(rng):
    X = rng.integers(0, 100, size=(50, 40))
    centers = rng.normal(size=(3, 40))
    wanted = np.sqrt(reference.squared_distances(X.astype(float), centers))
    for rows in (X, X.astype(np.uint8), np.asfortranarray(X, dtype=np.float32), X[:, ::-1]):
        own = centers[:, ::-1].copy() if rows.strides[1] < 0 else centers
        np.testing.assert_allclose(distances(_core.Rows(rows), own), wanted, rtol=1e-12)


def test_offset_and_scale_of_float32_rows(rng):
    X = rng.normal(size=(70, 40)).astype(np.float32) + np.float32(8)
    rows = _core.Rows(X, offset=np.full(40, 8.0), scale=2.0)
    inner = ((X - np.float32(8)) / np.float32(2)).astype(float)
    centers = rng.normal(size=(3, 40))
    wanted = np.sqrt(reference.squared_distances(inner, centers))
    np.testing.assert_allclose(distances(rows, centers), wanted, rtol=1e-12)
    Z = memberships_of(rng, 70, 3)
    sums = soft_sums(rows, centers, Z, "gaussian", 5.0)
    assert sums.inertia == pytest.approx((Z * wanted**2).sum(), rel=1e-12)


class TestBadArguments:
    rows = open_rows(np.zeros((4, 2)))
    centers = np.zeros((3, 2))
    labels = np.zeros(4, dtype=np.int32)

    def test_centers_of_other_features(self):
        with pytest.raises(ValueError, match="centers must have the 2 features"):
            _core.own_distances(self.rows, np.zeros((3, 5)), self.labels)

    def test_labels_of_other_rows(self):
        with pytest.raises(ValueError, match="labels must have one number for each row"):
            _core.own_distances(self.rows, self.centers, self.labels[:3])

    @pytest.mark.parametrize("label", [-1, 3])
    def test_labels_without_a_center(self, label):
        labels = np.array([0, 1, label, 2], dtype=np.int32)
        with pytest.raises(ValueError, match=f"between 0 and 2, got {label} for row 2"):
            _core.own_distances(self.rows, self.centers, labels)

    def test_out_of_another_shape(self):
        with pytest.raises(ValueError, match="out must have a row for each row"):
            _core.distances(self.rows, self.centers, np.zeros((4, 2)))

    def test_out_of_another_type(self):
        with pytest.raises(TypeError):
            _core.distances(self.rows, self.centers, np.zeros((4, 3), dtype=int))

    def test_memberships_of_another_shape(self):
        with pytest.raises(ValueError, match="memberships must have a row for each row"):
            soft_sums(self.rows, self.centers, np.zeros((4, 2)), "gaussian", 1.0)

    def test_pairs_of_unknown_centers(self):
        with pytest.raises(ValueError, match="pairs must be of centers"):
            segment_densities(self.rows, self.labels, self.centers, [[0, 3]], [0.5], "cauchy", 1.0)

    def test_a_step_of_zero(self):
        with pytest.raises(ValueError, match="step must be from 1"):
            segment_densities(
                self.rows, self.labels, self.centers, [[0, 1]], [0.5], "cauchy", 1.0, 0
            )

    def test_a_bandwidth_that_is_no_number(self):
        with pytest.raises(ValueError, match="inverse_squared_bandwidth must be"):
            _core.soft_sums(
                self.rows,
                self.centers,
                np.zeros((4, 3)),
                kernel=0,
                inverse_squared_bandwidth=np.inf,
            )

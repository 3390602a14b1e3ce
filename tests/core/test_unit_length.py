"""Rows that the core brings to length 1 as it reads them."""

import numpy as np
import pytest
import reference
from core_cases import FORMS, digest, digests_of_variants, open_rows
from scipy import sparse

from modeclust import _core
from modeclust.data.reading import UnitRows, core_rows
from modeclust.kernels import GAUSSIAN, KERNELS

FEATURES = [2, 9, 30, 100]


def rows_of(n_features, dtype, form, seed=0, n_rows=400):
    """Return rows of any length, none of which is 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * rng.lognormal(0, 3, size=(n_rows, 1))
    if form == "csr":
        X[:, 1:] *= rng.random((n_rows, n_features - 1)) < 0.3
    return X.astype(dtype)


def both(n_features, dtype, form, **options):
    """Return rows with factors, and copies of length 1 without."""
    X = rows_of(n_features, dtype, form)
    factors = open_rows(X, form=form).inverse_lengths()
    with_factors = open_rows(X, form=form, factors=factors, **options)
    unit = UnitRows(sparse.csr_array(X) if form == "csr" else X, factors)[:]
    return with_factors, core_rows(unit, **options)


def passes(rows, centers):
    """Return the results of every pass over the rows."""
    labels = np.arange(rows.n_rows, dtype=np.int32) % len(centers)
    memberships = np.full((rows.n_rows, len(centers)), 0.3)
    values, distances = np.empty((2, rows.n_rows, len(centers)))
    _core.kernel_values(rows, centers, kernel=0, inverse_squared_bandwidth=2.0, out=values)
    _core.distances(rows, centers, distances)
    soft = _core.soft_sums(rows, centers, memberships, kernel=1, inverse_squared_bandwidth=0.5)
    shifted = _core.DensityRows(rows).shift_sums(
        centers, kernel=0, inverse_squared_bandwidth=4.0, negligible=600.0
    )
    return [
        values,
        distances,
        rows.keys(np.linspace(0.5, 1.5, rows.n_features)),
        _core.own_distances(rows, centers, labels),
        *_core.nearest_rows(rows, 5, _core.Rows(centers)),
        *(soft.mass, soft.totals, soft.nearest, soft.objective),
        *(shifted.mass, shifted.totals, shifted.density),
        *(part for _ in range(3) for part in rows.mode_pass(centers, 0, 2.0)[:-3]),
        *(part for _ in range(2) for part in rows.mean_pass(centers)[:3]),
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", FEATURES)
def test_every_pass_is_that_of_unit_rows(n_features, dtype, form):
    rows, unit = both(n_features, dtype, form, n_threads=2, n_clusters=5)
    assert rows.unit_length
    assert not unit.unit_length
    centers = reference.to_sphere(np.random.default_rng(1).normal(size=(5, n_features)))
    for one, other in zip(passes(rows, centers), passes(unit, centers), strict=True):
        np.testing.assert_array_equal(one, other)
    assert rows.mode_pass(centers, 0, 1.0)[-1] is True
    assert unit.mean_pass(centers)[-1] is False


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths(dtype, form):
    X = rows_of(7, dtype, form)
    X[3] = 0
    expected = 1 / np.linalg.norm(np.delete(X, 3, axis=0).astype(np.float64), axis=1)
    found = open_rows(X, form=form).inverse_lengths()
    assert found[3] == np.inf
    np.testing.assert_allclose(np.delete(found, 3), expected, rtol=1e-14)


def test_lengths_of_extreme_rows():
    sizes = np.array([5e-324, 1e-308, 1e-200, 1.0, 1e200, 1.7e308])
    found = open_rows(np.outer(sizes, [0.6, -0.8, 0.0])).inverse_lengths()
    assert found[0] == np.inf  # 1 / |x| overflows
    np.testing.assert_allclose(found[1:] * sizes[1:], 1, rtol=1e-12)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("form", FORMS)
def test_densities_along_arcs(kernel, form):
    X = rows_of(9, np.float64, form)
    unit = reference.to_sphere(X)
    rng = np.random.default_rng(2)
    centers = reference.to_sphere(rng.normal(size=(3, 9)))
    centers[2] = -centers[1]
    labels = rng.integers(3, size=len(X)).astype(np.int32)
    rows = open_rows(X, form=form, factors=open_rows(X, form=form).inverse_lengths())
    pairs, fractions = np.array([[0, 1], [1, 2]]), np.linspace(0, 1, 11)
    found = _core.segment_densities(
        rows, labels, centers, pairs, fractions, kernel=KERNELS[kernel],
        inverse_squared_bandwidth=0.4,
    )  # fmt: skip
    for (i, j), densities in zip(pairs, found, strict=True):
        own = unit[(labels == i) | (labels == j)]
        for a, density in zip(fractions, densities, strict=True):
            point = (1 - a) * centers[i] + a * centers[j]
            length = np.linalg.norm(point)
            squared = np.full(len(own), 2.0)  # halfway between opposite centers
            if length > 1e-6:
                squared = ((own - point / length) ** 2).sum(axis=1)
            value = reference.PROFILES[kernel](0.4 * squared).sum()
            assert density == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_means_of_length_1():
    totals = np.array([[3.0, 4.0], [0.0, 0.0], [1e-14, 0.0], [1e-13, 0.0], [1e-300, 1e-300]])
    mass = np.array([7.0, 0.0, 1.0, 1e-2, 1e-300])
    otherwise = np.tile([0.0, 1.0], (5, 1))
    found = _core.means(totals, mass, otherwise, unit_length=True)
    half = 0.5**0.5
    expected = [[0.6, 0.8], [0, 1], [0, 1], [1, 0], [half, half]]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_factors_must_fit():
    with pytest.raises(ValueError, match="factors must have one number for each row"):
        _core.Rows(np.ones((3, 2)), factors=np.ones(2))


PROGRAM = """
import json
from core.test_unit_length import variant_digests
print(json.dumps(variant_digests()))
"""


def variant_digests():
    """Return digests of passes over rows in each form, with one thread and with three."""
    found = []
    for form in FORMS:
        for dtype in (np.float32, np.float64):
            for n_features in (9, 100):
                centers = reference.to_sphere(np.eye(4, n_features) + 0.1)
                for n_threads in (1, 3):
                    rows, _ = both(n_features, dtype, form, n_threads=n_threads)
                    sums = [rows.mode_pass(centers, GAUSSIAN, 2.0)[:-3] for _ in range(3)]
                    found.append(digest(rows.inverse_lengths(), *sums[-1]))
    return found


def test_every_instruction_set_and_number_of_threads_gives_the_same_bits():
    expected = variant_digests()
    assert expected[::2] == expected[1::2]
    found = digests_of_variants(PROGRAM)
    assert all(digests == expected for digests in found.values()), list(found)

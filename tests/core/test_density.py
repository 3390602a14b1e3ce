import json

import numpy as np
import pytest
import reference
from core_cases import FEATURES, FORMS, digest, digests_of_variants, make_rows, open_rows

from modeclust import _core
from modeclust.kernels import KERNELS


def shifted(rows, points, bandwidth, kernel, *, negligible=100.0, nearest=None):
    return _core.DensityRows(rows).shift_sums(
        points,
        kernel=KERNELS[kernel],
        inverse_squared_bandwidth=bandwidth**-2,
        negligible=negligible,
        nearest=nearest,
    )


def moved(sums, points):
    has_mass = sums.mass > 0
    means = sums.totals / np.where(has_mass, sums.mass, 1.0)[:, None]
    return np.where(has_mass[:, None], means, points)


def bits(sums):
    return digest(sums.reference, sums.mass, sums.totals, sums.density, sums.smallest)


def check(sums, X, points, bandwidth, kernel, weight=None, scale=None, rtol=1e-8):
    """Compare with the formulas, which share no code with the core."""
    X = X.astype(float)
    options = {"kernel": kernel, "weight": weight, "scale": scale}
    total = len(X) if weight is None else weight.sum()
    density = total * reference.weighted_density(X, points, bandwidth, **options)
    np.testing.assert_allclose(sums.density, density, rtol=rtol, atol=1e-250)
    expected = reference.shift(X, points, bandwidth, **options)
    np.testing.assert_allclose(moved(sums, points), expected, rtol=rtol, atol=rtol)
    present = np.ones(len(X), bool) if weight is None else weight > 0
    own_scale = 1.0 if scale is None else scale
    t = reference.squared_distances(points, X) / (bandwidth * own_scale) ** 2
    smallest = t[:, present].min(axis=1)
    reached = smallest < 1 if kernel in reference.COMPACT else smallest < np.inf
    atol = 1e-9 * (1.0 + (X**2).sum(axis=1).max()) / bandwidth**2
    np.testing.assert_allclose(sums.smallest[reached], smallest[reached], rtol=1e-9, atol=atol)
    np.testing.assert_array_equal(np.isfinite(sums.reference), reached)


def test_one_row_by_hand():
    rows = open_rows(np.array([[3.0, 4.0]]), weight=np.array([2.0]))
    sums = shifted(rows, np.zeros((1, 2)), 5.0, "gaussian")
    assert sums.smallest.tolist() == [1.0]
    assert sums.density[0] == pytest.approx(2 * np.exp(-0.5), rel=1e-15)
    assert moved(sums, np.zeros((1, 2))).tolist() == [[3.0, 4.0]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_agree_with_the_formulas(rng, form, n_features, dtype):
    for n_rows in (1, 5, 1500):
        for weighted in (False, True):
            X, weight, scale = make_rows(
                rng, n_rows, n_features, dtype, form=form, weighted=weighted and n_rows > 1
            )
            points = np.concatenate([X[:37] + 0.01, 3 * rng.normal(size=(6, n_features))])
            rows = open_rows(X, weight, scale, form=form, protect=True)
            if weight is not None and not weight.any():
                continue
            for kernel in KERNELS:
                for bandwidth in (0.5 * n_features**0.5, 0.05 * n_features**0.5):
                    sums = shifted(rows, points.astype(float), bandwidth, kernel)
                    check(sums, X, points.astype(float), bandwidth, kernel, weight, scale)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 40])
def test_no_rows_and_no_points(rng, form, n_features):
    points = rng.normal(size=(3, n_features))
    for weight in (np.empty(0), np.zeros(4)):
        rows = open_rows(np.ones((len(weight), n_features)), weight, form=form)
        sums = shifted(rows, points, 1.0, "gaussian")
        np.testing.assert_array_equal([sums.reference, sums.smallest], np.inf)
        np.testing.assert_array_equal([sums.mass, sums.density], 0.0)
        assert not sums.totals.any()
    sums = shifted(open_rows(np.ones((5, n_features)), form=form), points[:0], 1.0, "gaussian")
    assert sums.totals.shape == (0, n_features)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
def test_leaves_out_of_reach_change_nothing(rng, kernel, n_features):
    X = rng.uniform(0, 100, size=(3000, n_features))
    points = X[::50] + 0.1
    rows = open_rows(X)
    sums = shifted(rows, points, 1.0, kernel)
    check(sums, X, points, 1.0, kernel)
    near = shifted(rows, points, 1.0, kernel, nearest=sums.smallest * (1 + 1e-12))
    assert bits(near) == bits(sums)


def test_the_order_is_of_all_rows_with_weight_and_keeps_neighbours_together(rng):
    X = rng.uniform(size=(5000, 2))
    weight = np.where(rng.random(5000) < 0.5, 0.0, 1.0)
    order = _core.DensityRows(open_rows(X, weight)).order
    np.testing.assert_array_equal(np.sort(order), np.flatnonzero(weight))
    leaves = [X[order[i : i + 32]] for i in range(0, len(order), 32)]
    widths = np.array([np.ptp(leaf, axis=0).max() for leaf in leaves])
    assert np.median(widths) < 3 * np.sqrt(32 / len(order))


@pytest.mark.parametrize("n_features", [2, 30])
def test_far_points_and_tiny_bandwidths_do_not_underflow(rng, n_features):
    X = rng.normal(size=(300, n_features))
    points = np.concatenate([np.full((1, n_features), 1e3), X[:1] + 1.0, X[:1]])
    for bandwidth in (1e-2, 1.0):
        sums = shifted(open_rows(X), points, bandwidth, "gaussian")
        expected = reference.shift(X, points, bandwidth)
        np.testing.assert_allclose(moved(sums, points), expected, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_long_rows_by_differences_where_products_would_lose_digits(rng, form):
    X = rng.normal(size=(300, 30)) * 1e-4 + 10.0
    sums = shifted(open_rows(X, form=form), X[:40], 1e-4, "gaussian")
    check(sums, X, X[:40], 1e-4, "gaussian", rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 6, 40])
def test_any_number_of_threads_gives_the_same_bits(rng, form, n_features):
    X, weight, scale = make_rows(rng, 3000, n_features, form=form, weighted=True)
    found = {
        bits(shifted(open_rows(X, weight, scale, form=form, n_threads=n), X[:700], 1.0, "gaussian"))
        for n in (1, 2, 3, 5)
    }
    assert len(found) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [3, 40])
def test_a_point_has_the_same_bits_whatever_others_there_are(rng, form, n_features):
    X, weight, scale = make_rows(rng, 500, n_features, form=form, weighted=True)
    rows = open_rows(X, weight, scale, form=form)
    every = shifted(rows, X[:100], 2.0, "cauchy")
    for some in (slice(7, 8), slice(3, 20), slice(50, 100)):
        few = shifted(rows, X[some], 2.0, "cauchy")
        assert few.totals.tobytes() == every.totals[some].tobytes()
        assert few.mass.tobytes() == every.mass[some].tobytes()


PROGRAM = """
import json
import numpy as np
from core.test_density import variant_digests
print(json.dumps(variant_digests()))
"""


def variant_digests():
    rng = np.random.default_rng(0)
    found = []
    for form in FORMS:
        for n_features in (1, 2, 3, 7, 9, 33, 100):
            for dtype in (np.float32, np.float64):
                X, weight, scale = make_rows(
                    rng, 700, n_features, dtype, form=form, weighted=n_features != 2
                )
                rows = open_rows(X, weight, scale, form=form)
                points = X[:40].astype(float)
                found += [bits(shifted(rows, points, 1.0, kernel)) for kernel in KERNELS]
    return found


def test_every_instruction_set_gives_the_same_bits():
    found = digests_of_variants(PROGRAM)
    expected = json.loads(json.dumps(variant_digests()))
    assert all(digests == expected for digests in found.values()), list(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": np.zeros((2, 3))}, "points must have the 2 features"),
        ({"kernel": len(KERNELS)}, f"kernel must be a number from 0 to {len(KERNELS) - 1}"),
        ({"kernel": -1}, f"kernel must be a number from 0 to {len(KERNELS) - 1}"),
        ({"inverse_squared_bandwidth": -1.0}, "inverse_squared_bandwidth must be"),
        ({"inverse_squared_bandwidth": np.nan}, "inverse_squared_bandwidth must be"),
        ({"nearest": np.zeros(3)}, "nearest must have one number for each point"),
        ({"negligible": 0.0}, "negligible must be"),
        ({"negligible": 601.0}, "negligible must be"),
    ],
)
def test_bad_arguments(changes, message):
    rows = _core.DensityRows(open_rows(np.zeros((5, 2))))
    arguments = {"points": np.zeros((2, 2)), "kernel": 0, "inverse_squared_bandwidth": 1.0}
    with pytest.raises(ValueError, match=message):
        rows.shift_sums(**(arguments | changes))


def test_points_of_another_type_are_refused():
    rows = _core.DensityRows(open_rows(np.zeros((5, 2))))
    with pytest.raises(TypeError):
        rows.shift_sums(np.zeros((2, 2), dtype=complex), kernel=0, inverse_squared_bandwidth=1.0)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_features", [3, 40])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_rows_of_weight_0_at_the_point_of_far_rows(rng, form, n_features, kernel):
    X = np.ones((40, n_features))
    X[::2] = 0.0
    weight = np.arange(40) % 2.0
    sums = shifted(open_rows(X, weight, form=form), np.zeros((1, n_features)), 1e-100, kernel)
    assert np.isfinite(sums.mass).all()
    assert np.isfinite(sums.totals).all()

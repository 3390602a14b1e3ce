import numpy as np
import pytest
from reference import COMPACT, PROFILES

from modeclust.plotting import density
from modeclust.plotting.density import ClusterDensity, histogram_edges, histogram_limits


def plain_density(kde, points, labels, n_clusters, bandwidth):
    squared = np.sum((points[:, None] - kde.X) ** 2, axis=2)
    values = PROFILES[kde.kernel](squared / (bandwidth * kde.scale) ** 2) * kde.weight
    own = labels == np.arange(n_clusters)[:, None]
    return np.einsum("pn,kn->kp", values, own) / kde.weight.sum()


@pytest.fixture
def rows_and_labels(rng):
    """Rows, labels 0 and 1, weights and local scales."""
    X = rng.normal(size=(40, 2))
    return X, rng.integers(0, 2, 40), rng.uniform(0, 2, 40), rng.uniform(0.5, 2, 40)


def test_two_rows_by_hand():
    kde = ClusterDensity.of([[0.0], [2.0]], "gaussian", weight=[3.0, 1.0])
    values = kde.evaluate(np.array([[0.0], [2.0]]), [0, 1], 2, bandwidth=2.0)
    near = np.exp(-0.5)
    np.testing.assert_allclose(values, [[0.75, 0.75 * near], [0.25 * near, 0.25]])


def test_two_clusters_with_their_own_bandwidths_by_hand():
    kde = ClusterDensity.of([[0.0], [2.0]], "gaussian", weight=[3.0, 1.0])
    values = kde.evaluate(np.array([[0.0], [2.0]]), [0, 1], 2, bandwidth=np.array([2.0, 1.0]))
    expected = [[0.75, 0.75 * np.exp(-0.5)], [0.25 * np.exp(-2), 0.25]]
    np.testing.assert_allclose(values, expected)


@pytest.mark.parametrize("kernel", PROFILES)
def test_each_cluster_can_have_its_own_bandwidth(rows_and_labels, kernel, monkeypatch):
    monkeypatch.setattr(density, "GRID_SIZE", 11)
    X, labels, weight, scale = rows_and_labels
    kde = ClusterDensity.of(X, kernel, weight, scale)
    own = np.array([0.8, 0.3])
    _, values = kde.on_plane(labels, np.zeros((2, 2)), own)
    on_line = ClusterDensity.of(X[:, :1], kernel, weight, scale)
    x = np.linspace(-3, 3, 50)
    curves = on_line.with_area_of_weights(x, labels, 2, own)
    for k, bandwidth in enumerate(own):
        _, alone = kde.on_plane(labels, np.zeros((2, 2)), bandwidth)
        np.testing.assert_allclose(values[k], alone[k])
        alone = on_line.with_area_of_weights(x, labels, 2, bandwidth)
        np.testing.assert_allclose(curves[k], alone[k])


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("weighted", [False, True])
def test_densities_equal_plain_numpy(rows_and_labels, rng, kernel, weighted):
    X, labels, weight, scale = rows_and_labels
    kde = ClusterDensity.of(X, kernel, *((weight, scale) if weighted else ()))
    points = rng.normal(size=(30, 2))
    found = kde.evaluate(points, labels, 3, 0.8)
    np.testing.assert_allclose(found, plain_density(kde, points, labels, 3, 0.8), atol=1e-15)
    assert not found[2].any()


def test_many_rows_are_sampled_and_keep_their_weight(rng, monkeypatch):
    X = rng.normal(size=(4000, 1))
    labels = np.repeat([0, 1], [3900, 100])
    kde = ClusterDensity.of(X, "gaussian", weight=rng.uniform(0.5, 1.5, 4000))
    points = np.linspace(-2, 2, 9)[:, None]
    exact = kde.evaluate(points, labels, 2, 0.5)
    monkeypatch.setattr(density, "MAX_ROWS", 1000)
    found = kde.evaluate(points, labels, 2, 0.5)
    np.testing.assert_array_equal(found[1], exact[1])
    np.testing.assert_allclose(found[0], exact[0], rtol=0.15)
    assert not np.array_equal(found[0], exact[0])


@pytest.mark.parametrize("kernel", PROFILES)
def test_the_grid_covers_rows_and_centers(rows_and_labels, kernel, monkeypatch):
    monkeypatch.setattr(density, "GRID_SIZE", 11)
    monkeypatch.setattr(density, "BLOCK_ROWS", 7)
    X, labels, weight, scale = rows_and_labels
    kde = ClusterDensity.of(X, kernel, weight, scale)
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, -9.0]])
    (x, y), values = kde.on_plane(labels, centers, 0.8)
    assert x[0] < X[:, 0].min()
    assert x[-1] > 9
    assert y[0] < -9
    assert values.shape == (3, 11, 11)
    points = np.array([(a, b) for b in y for a in x])
    expected = plain_density(kde, points, labels, 3, 0.8).reshape(3, 11, 11)
    np.testing.assert_allclose(values, expected, atol=1e-15)


def test_the_grid_of_equal_rows_has_a_width():
    rows = np.full((4, 2), [0.0, 5.0])
    kde = ClusterDensity.of(rows, "biweight")
    (x, y), _ = kde.on_plane(np.zeros(4, dtype=int), rows[:1], 1e-16)
    assert x[0] < x[-1]
    assert y[0] < 5 < y[-1]


@pytest.mark.parametrize("kernel", ["gaussian", *COMPACT])
def test_the_area_of_a_density_is_the_weight_of_its_cluster(rows_and_labels, kernel):
    X, labels, weight, scale = rows_and_labels
    kde = ClusterDensity.of(X[:, :1], kernel, weight, scale)
    centers = np.array([[-20.0], [20.0], [0.0]])
    (x,), values = kde.on_line(labels, centers, 0.8)
    assert np.isin(centers, x).all()
    areas = np.trapezoid(values, x)
    np.testing.assert_allclose(areas, np.bincount(labels, weight, 3), rtol=1e-3)


def test_the_area_of_a_cauchy_kernel_is_nearly_its_weight():
    kde = ClusterDensity.of([[0.0]], "cauchy", weight=[2.0])
    (x,), values = kde.on_line([0], np.array([[[-1000.0]], [[1000.0]]]), 1.0)
    np.testing.assert_allclose(np.trapezoid(values[0], x), 2.0, rtol=0.02)


def test_limits_include_all_rows(rng):
    values = rng.normal(size=1000)
    low, high = histogram_limits(values, values.mean())
    assert low < values.min()
    assert high > values.max()


def test_limits_leave_out_a_long_tail_but_no_center():
    values = np.append(np.linspace(0, 1, 999), 1e6)
    low, high = histogram_limits(values, np.array([0.5]))
    assert -0.1 < low < 0
    assert 1 < high < 1.1
    assert histogram_limits(values, np.array([0.5, 300.0]))[1] > 300


def test_limits_of_equal_rows():
    assert histogram_limits(np.full(9, 3.0), np.array([3.0])) == (2.5, 3.5)


@pytest.mark.parametrize("n_rows", [2, 500, 100_000])
def test_bins_have_equal_widths_and_cover_all_rows(rng, n_rows):
    values = rng.normal(size=n_rows)
    low, high = histogram_limits(values, values[:1])
    found = histogram_edges(values, low, high)
    np.testing.assert_allclose(np.diff(found), found[1] - found[0])
    assert 30 <= len(found) - 1 <= 121
    assert found[0] <= low
    assert found[-1] >= values.max()


def test_integers_are_in_the_middle_of_bins(rng):
    values = rng.poisson(20, 1000)
    found = histogram_edges(values, *histogram_limits(values, values[:1]))
    assert np.all(found % 1 == 0.5)
    assert np.histogram(values, found)[0].sum() == 1000

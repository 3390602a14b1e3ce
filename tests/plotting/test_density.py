import numpy as np
import pytest
from reference import PROFILES

from modeclust.plotting import density
from modeclust.plotting.density import Ground


def plain(ground, places, labels, n_clusters, bandwidth):
    squared = np.sum((places[:, None] - ground.X) ** 2, axis=2)
    values = PROFILES[ground.kernel](squared / (bandwidth * ground.scale) ** 2) * ground.weight
    own = labels == np.arange(n_clusters)[:, None]
    return np.einsum("pn,kn->kp", values, own) / ground.weight.sum()


@pytest.fixture
def scene(rng):
    """Rows, labels of which none is 2, weights and scales."""
    X = rng.normal(size=(40, 2))
    return X, rng.integers(0, 2, 40), rng.uniform(0, 2, 40), rng.uniform(0.5, 2, 40)


def test_two_rows_by_hand():
    ground = Ground.of([[0.0], [2.0]], "gaussian", weight=[3.0, 1.0])
    values = ground.densities(np.array([[0.0], [2.0]]), [0, 1], 2, bandwidth=2.0)
    near = np.exp(-0.5)
    np.testing.assert_allclose(values, [[0.75, 0.75 * near], [0.25 * near, 0.25]])


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("weighted", [False, True])
def test_densities_are_those_of_plain_numpy(scene, rng, kernel, weighted):
    X, labels, weight, scale = scene
    ground = Ground.of(X, kernel, *((weight, scale) if weighted else ()))
    places = rng.normal(size=(30, 2))
    found = ground.densities(places, labels, 3, 0.8)
    np.testing.assert_allclose(found, plain(ground, places, labels, 3, 0.8), atol=1e-15)
    assert not found[2].any()


def test_many_rows_are_sampled_and_keep_their_weight(rng, monkeypatch):
    X = rng.normal(size=(4000, 1))
    labels = np.repeat([0, 1], [3900, 100])
    ground = Ground.of(X, "gaussian", weight=rng.uniform(0.5, 1.5, 4000))
    places = np.linspace(-2, 2, 9)[:, None]
    exact = ground.densities(places, labels, 2, 0.5)
    monkeypatch.setattr(density, "MOST_ROWS", 1000)
    found = ground.densities(places, labels, 2, 0.5)
    np.testing.assert_array_equal(found[1], exact[1])
    np.testing.assert_allclose(found[0], exact[0], rtol=0.15)
    assert not np.array_equal(found[0], exact[0])


@pytest.mark.parametrize("kernel", PROFILES)
def test_the_plane_holds_rows_and_centers(scene, kernel, monkeypatch):
    monkeypatch.setattr(density, "GRID", 11)
    monkeypatch.setattr(density, "BLOCK", 7)
    X, labels, weight, scale = scene
    ground = Ground.of(X, kernel, weight, scale)
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, -9.0]])
    (x, y), values = ground.on_plane(labels, centers, 0.8)
    assert x[0] < X[:, 0].min()
    assert x[-1] > 9
    assert y[0] < -9
    assert values.shape == (3, 11, 11)
    places = np.array([(a, b) for b in y for a in x])
    expected = plain(ground, places, labels, 3, 0.8).reshape(3, 11, 11)
    np.testing.assert_allclose(values, expected, atol=1e-15)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "biweight"])
def test_areas_on_a_line_are_the_weights_of_the_clusters(scene, kernel):
    X, labels, weight, scale = scene
    ground = Ground.of(X[:, :1], kernel, weight, scale)
    centers = np.array([[-20.0], [20.0], [0.0]])
    (x,), values = ground.on_line(labels, centers, 0.8)
    assert np.isin(centers, x).all()
    areas = np.trapezoid(values, x)
    np.testing.assert_allclose(areas, np.bincount(labels, weight, 3), rtol=1e-3)


def test_the_area_below_a_cauchy_kernel_is_nearly_its_weight():
    ground = Ground.of([[0.0]], "cauchy", weight=[2.0])
    (x,), values = ground.on_line([0], np.array([[[-1000.0]], [[1000.0]]]), 1.0)
    np.testing.assert_allclose(np.trapezoid(values[0], x), 2.0, rtol=0.02)

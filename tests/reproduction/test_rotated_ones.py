import numpy as np
import pytest

from reproduction.claims import claims_of
from reproduction.rotated_ones import (
    ANGLES,
    FINE_ANGLES,
    Rotation,
    narrowest_single_mode,
    reproduce,
    rotate,
    slant,
    typical_ones,
)
from reproduction.sources import SETTING, Source


def bar(size=16):
    """Return an upright stroke, two pixels wide."""
    image = np.zeros((size, size))
    image[1:-1, size // 2 - 1 : size // 2 + 1] = 1.0
    return image


@pytest.fixture(params=["as set", "missing"])
def findings(request, monkeypatch):
    if request.param == "missing":
        monkeypatch.delenv(SETTING, raising=False)
    findings = reproduce(quick=True)
    if request.param == "missing":
        (stand_in,) = findings.stand_ins.values()
        assert stand_in.startswith("USPS is missing")
    return findings


def test_the_mode_is_a_one_and_the_mean_is_not(findings):
    assert claims_of("rotated-ones").keys() == findings.measures.keys()
    values = {name: measure.value for name, measure in findings.measures.items()}
    assert np.isfinite(list(values.values())).all()
    assert values["mode-valid"] < values["one-mode-not-valid"] < values["mean-not-valid"]
    assert 2 <= values["smaller-bandwidth-several-modes"] <= len(ANGLES)
    (picture,) = findings.pictures
    assert len(picture.figure.axes) == len(ANGLES) + 6
    (table,) = findings.tables
    assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize("diagonal", [-45, 45])
def test_slant_by_hand(diagonal):
    assert slant(bar()) == pytest.approx(0)
    image = np.eye(9) if diagonal == 45 else np.eye(9)[::-1]
    assert slant(image) == pytest.approx(diagonal)


def test_rotations_begin_upright():
    for image in (bar(), np.eye(16)):
        rotation = rotate(image)
        upright = rotation.images[3].reshape(rotation.shape)
        assert abs(slant(upright)) < 1
        for row, angle in zip(rotation.images, ANGLES, strict=True):
            turned = row.reshape(rotation.shape)
            assert slant(turned) == pytest.approx(angle, abs=2)
        assert rotation.valid.min() >= 0
        assert rotation.valid.max() <= 1
        np.testing.assert_array_equal(rotation.valid[::15], rotation.images)
        assert len(rotation.valid) == len(FINE_ANGLES)


def test_corners_are_kept():
    square = np.ones((8, 8))
    np.testing.assert_allclose(rotate(square).valid.sum(axis=1), square.sum(), rtol=0.05)


def test_distances_are_in_steps():
    images = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    rotation = Rotation((1, 2), images, images)
    nearest, distances = rotation.nearest(np.array([[0.0, 1.0], [3.5, 0.0]]))
    np.testing.assert_array_equal(nearest, [0, 2])
    np.testing.assert_allclose(distances, [0.5, 0.25])
    assert rotation.distance(np.array([[0.0, 1.0], [3.5, 0.0]])) == pytest.approx(0.5)


def test_two_points_merge_at_half_their_distance():
    X = np.array([[0.0], [2.0]])
    model = narrowest_single_mode(X, 0.1, n_halvings=4)
    assert model.n_clusters_ == 1
    assert model.bandwidth_ == pytest.approx(1, rel=0.25)
    assert narrowest_single_mode(X, 5.0).bandwidth_ == 5.0


def test_typical_ones_are_nearest_to_their_mean():
    X = np.array([[9.0], [0.0], [1.0], [5.0]])
    source = Source(X, np.array([0, 1, 1, 1]), "", (1, 1))
    np.testing.assert_array_equal(typical_ones(source, 2).ravel(), [1, 0])

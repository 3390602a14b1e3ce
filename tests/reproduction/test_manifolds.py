"""Landmarks on the Swiss roll, and spectral clustering."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_swiss_roll

from modeclust import kmodes_path
from reproduction.claims import judge
from reproduction.manifolds import (
    distances_to_roll,
    draw_rows,
    embed_spectrally,
    exemplars_of_kmeans,
    off_sphere,
    place_landmarks,
    reproduce,
)


@pytest.fixture(scope="module")
def found():
    return reproduce(quick=True)


def test_every_claim_is_measured_and_judged(found):
    results = judge("manifolds", found.measures)
    assert all(np.isfinite([result["ours"], *result["interval"]]).all() for result in results)
    assert len(found.pictures) == len(found.tables) == 2
    assert all(len(row) == len(t.columns) for t in found.tables for row in t.rows)


def test_modes_are_closer_even_at_small_sizes(found):
    assert found.measures["small-bandwidth"].value < 0.1
    for name in ("few-landmarks", "many-landmarks", "sphere-moons", "sphere-circles"):
        assert 0 <= found.measures[name].value < 1


def test_rows_without_noise_are_on_the_roll():
    X, _ = make_swiss_roll(200, random_state=0)
    assert distances_to_roll(X).max() < 1e-3


def test_distance_to_the_roll_by_hand():
    end = 4.5 * np.pi  # where x = 0, z = t
    points = np.array(
        [
            [0.0, 5.0, end],
            [0.0, -3.0, end],  # below the lower edge
            [0.0, 25.0, end],  # above the upper one
            [0.0, 5.0, -1.5 * np.pi],  # at the inner end
            [-7.0, 10.0, end],  # past the outer end
        ]
    )
    assert_allclose(distances_to_roll(points), [0, 3, 4, 0, 7], atol=1e-3)


def test_distance_of_an_offset_along_the_normal():
    t = np.array([6.0, 8.0, 10.0])
    slope = np.column_stack([np.cos(t) - t * np.sin(t), np.sin(t) + t * np.cos(t)])
    normal = np.column_stack([-slope[:, 1], slope[:, 0]]) / np.linalg.norm(slope, axis=1)[:, None]
    x, z = (np.column_stack([t * np.cos(t), t * np.sin(t)]) + 0.5 * normal).T
    assert_allclose(distances_to_roll(np.column_stack([x, [1, 2, 3], z])), 0.5, atol=1e-4)


def test_exemplars_are_rows_of_their_cluster():
    X = np.array([[0.0], [1.0], [5.0], [10.0], [11.0], [13.0]])
    path = kmodes_path(X, 2, bandwidths=[np.inf], init=X[[0, 4]])
    assert path.centers[0].ravel() == pytest.approx([2, 34 / 3])
    assert exemplars_of_kmeans(X, path).tolist() == [1, 4]


def test_landmarks_are_measured_at_the_estimated_bandwidth():
    run = place_landmarks(200, 5, 0.0, 0, n_init=1)
    assert len(run.distances) == len(run.path)
    centers = run.path.centers[run.chosen]
    assert run.mode_to_mean == pytest.approx(distances_to_roll(centers).mean() / run.distances[0])
    assert run.row_distance < 1e-3


def test_embedding_of_two_parts_that_do_not_touch():
    X = np.array([[0.0], [0.1], [0.2], [100.0], [100.1], [100.2]])
    rows = embed_spectrally(X, 2, 0.1)
    assert_allclose(np.linalg.norm(rows, axis=1), 1)
    # Ng, Jordan and Weiss: rows of one part coincide, and the parts are orthogonal.
    assert_allclose(rows @ rows.T, np.kron(np.eye(2), np.ones((3, 3))), atol=1e-9)


def test_embedding_leaves_out_the_affinity_of_a_row_with_itself():
    # Three rows at equal distances: A = a (1 - I), so the matrix is (1 - I) / 2.
    X = np.eye(3)
    rows = embed_spectrally(X, 1, 1.0)
    assert_allclose(rows @ rows.T, np.ones((3, 3)))


def test_off_sphere_by_hand():
    assert off_sphere(np.array([[1.0, 0.0], [0.0, 0.5], [0.0, -1.25]])) == pytest.approx(0.25)


@pytest.mark.parametrize("name", ["moons", "circles", "digits"])
def test_draws_follow_the_seed(name):
    first, again, other = (draw_rows(name, 50, seed)[0] for seed in (0, 0, 1))
    assert len(first) == 50
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)

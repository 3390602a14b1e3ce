import numpy as np
import pytest

from modeclust.data.distance_pass import OwnDistancePass, Spread, cluster_medians
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass

NORMAL = 1.4826


def spread_of(distances, labels, counts=None, shape=(1, 2)):
    distances = np.asarray(distances, dtype=float)
    counts = np.ones(len(distances)) if counts is None else np.asarray(counts, dtype=float)
    return Spread.of(distances, np.asarray(labels), counts, shape)


def test_medians_of_clusters_agree_with_numpy(rng):
    labels = rng.integers(0, 5, 200)
    labels[labels == 3] = 4
    values = rng.normal(size=200)
    counts = rng.integers(1, 4, 200)
    found = cluster_medians(values, labels, counts.astype(float), 6)
    for k in (0, 1, 2, 4):
        own = labels == k
        assert found[k] == np.median(np.repeat(values[own], counts[own]))
    assert found[3] == found[5] == 0


def test_only_every_nth_row_of_the_dataset_counts(rng):
    X, centers = rng.normal(size=(20, 2)), np.zeros((1, 2))
    whole = np.square(X).sum(axis=1)
    for first in range(4):
        with MemoryDataset(X[first:], first_row=first) as rows:
            rows.run(ModePass(centers, 0, 0.0))
            found = rows.run(OwnDistancePass(centers, step=3)).squared
        np.testing.assert_allclose(found, whole[-(-first // 3) * 3 :: 3])


def test_the_spread_of_one_cluster_by_hand():
    # With one cluster, its radius and deviation are those of all rows.
    spread = spread_of([1.0, 8.0, 27.0], [0, 0, 0])
    assert spread.radius.tolist() == pytest.approx([8.0])
    # u is 1/4, 1 and 9/4: the median of 3/4, 0 and 5/4 is 3/4.
    assert spread.deviation.tolist() == pytest.approx([NORMAL * 0.75])
    assert spread.typical_radius == 8.0
    assert spread.n_dimensions == 1.0  # 2 / (9 s^2) is below 1
    scores = spread.scores(np.array([0.0, 8.0, 64.0]), np.array([0, 0, 0]))
    np.testing.assert_allclose(scores, np.array([-1, 0, 3]) / (NORMAL * 0.75), atol=1e-12)


def test_clusters_are_averaged_with_20_rows_of_all():
    distances = np.concatenate([np.linspace(1, 3, 60), np.linspace(10, 30, 20)])
    labels = np.repeat([0, 1], [60, 20])
    spread = spread_of(distances, labels, shape=(2, 2))
    typical = np.median(distances)
    np.testing.assert_allclose(spread.radius[0], 2.0**0.75 * typical**0.25)
    np.testing.assert_allclose(spread.radius[1], 20.0**0.5 * typical**0.5)


def test_a_small_cluster_is_left_out():
    distances = np.concatenate([np.linspace(1, 3, 100), np.linspace(50, 60, 100), [1e6, 2e6]])
    labels = np.repeat([0, 2, 3], [100, 100, 2])
    spread = spread_of(distances, labels, shape=(4, 2))
    assert spread.is_small.tolist() == [False, True, False, True]
    whole = spread_of(distances[:200], labels[:200], shape=(4, 2))
    assert spread.typical_radius == whole.typical_radius
    np.testing.assert_allclose(spread.radius[[0, 2]], whole.radius[[0, 2]])


def test_weights_are_repetitions_and_rows_without_weight_do_not_count(rng):
    distances, counts = rng.exponential(size=50), rng.integers(0, 3, 50)
    labels = rng.integers(0, 2, 50)
    weighted = spread_of(distances, labels, counts, (2, 2))
    repeated = spread_of(np.repeat(distances, counts), np.repeat(labels, counts), shape=(2, 2))
    np.testing.assert_allclose(weighted.radius, repeated.radius)
    np.testing.assert_allclose(weighted.deviation, repeated.deviation)


@pytest.mark.parametrize(
    ("distances", "radius"), [([0.0] * 4, 1.0), ([2.0] * 4, 2.0), ([0.0, 0.0, 0.0, 4.0], 1.0)]
)
def test_equal_distances_have_a_finite_spread(distances, radius):
    spread = spread_of(distances, [0] * 4)
    assert spread.radius.tolist() == [radius]
    assert np.isfinite(spread.scores(np.array([0.0, 5.0]), np.array([0, 0]))).all()


@pytest.mark.parametrize("n_features", [1, 2, 5, 20, 100])
def test_the_scores_of_a_gaussian_cluster_are_normal(rng, n_features):
    distances = np.linalg.norm(rng.normal(size=(40_000, n_features)), axis=1)
    labels = np.zeros(40_000, dtype=int)
    spread = spread_of(distances, labels, shape=(1, n_features))
    scores = spread.scores(distances, labels)
    assert 0.0005 < np.mean(scores > 3) < 0.003  # 0.00135 for a normal distribution
    assert np.std(scores) == pytest.approx(1, abs=0.1)
    assert spread.n_dimensions == pytest.approx(n_features, rel=0.3)


def test_other_units_change_nothing_but_the_radii(rng):
    distances, labels = rng.exponential(size=30), np.arange(30) % 3
    spread = spread_of(distances, labels, shape=(3, 4))
    other = spread.in_units(1e5)
    np.testing.assert_allclose(
        other.scores(1e5 * distances, labels), spread.scores(distances, labels)
    )
    for unit in (1e-320, 1e308):
        assert np.isfinite(spread.in_units(unit).radius).all()
        assert spread.in_units(unit).radius.min() > 0


def test_ratios_of_distances_do_not_overflow():
    spread = spread_of([1e-300, 1e-300, 1e200], [0, 0, 0])
    assert np.isfinite(spread.scores(np.array([0.0, 1e300]), np.array([0, 0]))).all()
    np.testing.assert_allclose(spread.probabilities(np.array([[1e300, 1e10]])).sum(axis=1), 1)


def test_shares_are_those_of_equal_gaussians():
    spread = Spread(np.ones(2), np.ones(2), np.zeros(2, dtype=bool), 2.0, 3.0)
    distances = np.array([[1.0, 2.0], [3.0, 3.0], [0.0, 1e300]])
    odds = np.exp(-3 * (4 - 1) / (2 * 4))
    np.testing.assert_allclose(
        spread.probabilities(distances), [[1 / (1 + odds), odds / (1 + odds)], [0.5, 0.5], [1, 0]]
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"radius": np.array([1.0, -1.0])},
        {"radius": np.array([1.0, np.nan])},
        {"radius": 5},
        {"deviation": np.ones(3)},
        {"is_small": np.array([True, True])},
        {"typical_radius": np.inf},
        {"n_dimensions": 0.0},
        {"n_dimensions": "2"},
    ],
)
def test_a_spread_of_wrong_parts_is_refused(changes):
    parts = {
        "radius": np.ones(2),
        "deviation": np.ones(2),
        "is_small": np.zeros(2, dtype=bool),
        "typical_radius": 1.0,
        "n_dimensions": 2.0,
    }
    assert Spread(**parts).typical_radius == 1.0
    with pytest.raises(ValueError, match="a spread must have radii > 0"):
        Spread(**parts | changes)

import numpy as np
import pytest
from scipy import sparse

from modeclust.data.memory import MemoryDataset
from modeclust.data.rescaling import Rescaling
from modeclust.data.sample import Sample
from modeclust.solvers.confidence import (
    OutlierScale,
    Spread,
    cluster_quantiles,
    measure_typical,
    outlier_scores,
    small_clusters,
)

NORMAL = 1.4826


def spread_of(distances, labels, counts=None, n_features=2):
    distances = np.asarray(distances, dtype=float)
    counts = np.ones(len(distances)) if counts is None else np.asarray(counts, dtype=float)
    return Spread.of(distances, np.asarray(labels), counts, n_features)


def measured(X, centers, weight=None):
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=float)
    return measure_typical(Sample(X, weight), np.asarray(centers, dtype=float), 1.0, 1)


def scored(X, centers, scale):
    dataset = MemoryDataset(X, n_clusters=len(centers), n_threads=1)
    return outlier_scores(dataset, np.asarray(centers, dtype=float), scale)


@pytest.mark.parametrize("quantile", [0.5, 0.8413])
def test_quantiles_of_clusters_agree_with_numpy(rng, quantile):
    labels = rng.integers(0, 5, 200)
    labels[labels == 3] = 4
    values = rng.normal(size=200)
    counts = rng.integers(1, 4, 200)
    found = cluster_quantiles(values, labels, counts.astype(float), 6, quantile)
    for k in (0, 1, 2, 4):
        own = labels == k
        repeated = np.repeat(values[own], counts[own])
        expected = np.quantile(repeated, quantile, method="averaged_inverted_cdf")
        assert found[k] == expected
    assert found[3] == found[5] == 0


def test_the_spread_of_one_cluster_by_hand():
    spread = spread_of([1.0, 8.0, 27.0], [0, 0, 0])
    assert spread.radius == 8.0
    assert spread.n_dimensions == 1.0  # u is 1/4, 1 and 9/4, and 2 / (9 s^2) is below 1


@pytest.mark.parametrize("n_features", [1, 2, 5, 20, 100])
def test_the_dimension_of_a_gaussian_cluster(rng, n_features):
    distances = np.linalg.norm(rng.normal(size=(40_000, n_features)), axis=1)
    spread = spread_of(distances, np.zeros(40_000, dtype=int), n_features=n_features)
    assert spread.n_dimensions == pytest.approx(n_features, rel=0.3)


def test_shares_are_those_of_equal_gaussians():
    distances = np.array([[1.0, 2.0], [3.0, 3.0], [0.0, 1e300]])
    odds = np.exp(-3 * (4 - 1) / (2 * 4))
    np.testing.assert_allclose(
        Spread(2.0, 3.0).probabilities(distances),
        [[1 / (1 + odds), odds / (1 + odds)], [0.5, 0.5], [1, 0]],
    )


def test_units_stay_within_floats():
    for unit in (1e-320, 1e308):
        assert 0 < Spread(2.0, 3.0).in_units(unit).radius < np.inf


def test_clusters_far_below_the_mean_size_are_small():
    labels = np.repeat([0, 2, 3], [100, 100, 2])
    found = small_clusters(labels, np.ones(202), 5)
    assert found.tolist() == [False, True, False, True, True]
    assert not small_clusters(labels, np.where(labels == 3, 50.0, 1.0), 5)[3]


def test_scores_by_hand():
    # Rows at 1, 8 and 27 from the only center. With one cluster, nothing is averaged.
    X = np.array([[1.0], [8.0], [27.0]])
    scale = measured(X, [[0.0]]).scale
    assert scale.radius.tolist() == pytest.approx([8.0])
    assert scale.deviation.tolist() == pytest.approx([NORMAL * 0.75])
    assert scale.rows.ravel().tolist() == [1, 8, 27]
    # Of three kept rows, the farthest counts: 26, 19 and 26 away.
    gaps = np.log(np.array([26, 19, 26]) / 8)
    np.testing.assert_allclose(scale.gap, np.median(gaps))
    # The 84% quantile of gaps is the largest: it equals the median, so there is no deviation.
    np.testing.assert_allclose(scale.gap_deviation, np.sqrt(2 / 9))
    from_center = (np.array([0, 64]) / 8) ** (2 / 3) - 1
    gaps = np.log(np.array([27, 63]) / 8)
    expected = np.maximum(from_center / (NORMAL * 0.75), (gaps - np.log(26 / 8)) / np.sqrt(2 / 9))
    np.testing.assert_allclose(scored(np.array([[0.0], [64.0]]), [[0.0]], scale), expected)


@pytest.mark.parametrize("n_features", [2, 5, 20, 100])
def test_few_rows_of_a_gaussian_cluster_are_above_3(rng, n_features):
    X, centers = rng.normal(size=(4000, n_features)), np.zeros((1, n_features))
    scale = measured(X, centers).scale
    scores = scored(rng.normal(size=(20_000, n_features)), centers, scale)
    assert 0.0005 < np.mean(scores > 3) < 0.006  # 0.00135 for one normal score


def test_a_row_in_a_hole_is_found(rng):
    angles = rng.uniform(0, 2 * np.pi, 600)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) + rng.normal(size=(600, 2)) * 0.03
    centers = np.zeros((1, 2))
    hole, ordinary = scored(
        np.array([[0.0, 0.0], [0.0, 1.0]]), centers, measured(ring, centers).scale
    )
    assert hole > 3 > ordinary


def test_rows_of_small_clusters_are_compared_with_others(rng):
    X = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + [30, 0]])
    X = np.concatenate([X, rng.normal(size=(4, 2)) * 0.1 + [300, 300]])
    centers = np.array([[0.0, 0], [30, 0], [300, 300]])
    scale = measured(X, centers).scale
    assert scale.is_small.tolist() == [False, False, True]
    assert np.unique(scale.labels).tolist() == [0, 1]
    scores = scored(X, centers, scale)
    assert scores[600:].min() > 20 > scores[:600].max()


def test_a_cluster_of_scattered_rows_is_compared_with_others(rng):
    X = rng.normal(size=(1000, 8)) * 0.1 + np.repeat(np.eye(8)[:4], 250, axis=0)
    noise, tight = rng.normal(size=(80, 8)) * 2 - 9, rng.normal(size=(80, 8)) * 0.1 - 9
    centers = np.concatenate([np.eye(8)[:4], np.full((1, 8), -9.0)])
    for extra, is_small in ((noise, True), (tight, False)):
        rows = np.concatenate([X, extra])
        scale = measured(rows, centers).scale
        assert scale.is_small.tolist() == [False] * 4 + [is_small]
        assert (scored(rows, centers, scale)[1000:].min() > 20) == is_small


def test_few_rows_of_each_cluster_are_kept(rng):
    X = rng.normal(size=(3000, 2)) + np.repeat([[0, 0], [50, 0]], [2000, 1000], axis=0)
    scale = measured(X, [[0, 0], [50, 0]]).scale
    assert np.bincount(scale.labels).tolist() == [128, 128]
    many = measured(rng.uniform(size=(9000, 2)), rng.uniform(size=(100, 2))).scale
    assert np.bincount(many.labels, minlength=100).max() == 40  # 4096 // 100


def test_a_weight_is_a_repetition(rng):
    X, centers = rng.normal(size=(200, 2)), [[-1.0, 0], [1.0, 0]]
    counts = rng.integers(1, 4, 200)
    # Samples have distinct rows, with the number of their copies.
    scale = measured(X, centers, counts).scale
    # 40 rows of weight 100 are kept more often than the other rows.
    heavy = measured(X, centers, np.where(np.arange(200) < 40, 100.0, 1.0)).scale
    at = lambda kept: np.isin(kept.rows[:, 0], X[:40, 0]).mean()  # noqa: E731
    assert at(heavy) > 0.9 > 0.5 > at(scale)


@pytest.mark.parametrize("X", [np.zeros((30, 2)), np.repeat(np.eye(2), 15, axis=0)])
def test_equal_rows_have_finite_scores(X):
    scale = measured(X, [[0.0, 0.0]]).scale
    scores = scored(np.concatenate([X, [[5.0, 5.0], [1e200, 0]]]), [[0.0, 0.0]], scale)
    assert np.isfinite(scores).all()
    assert scores[-1] > scores[-2] > 3 > scores[0]


def test_sparse_rows_give_the_same(rng):
    X = rng.normal(size=(400, 5)) * (rng.uniform(size=(400, 5)) < 0.5)
    centers = X[[3, 7]]
    dense, other = measured(X, centers), measured(sparse.csr_array(X), centers)
    assert sparse.issparse(other.scale.rows)
    assert other.spread.radius == pytest.approx(dense.spread.radius)
    np.testing.assert_allclose(
        scored(sparse.csr_array(X), centers, other.scale), scored(X, centers, dense.scale)
    )


def test_rescaling_there_and_back_changes_nothing(rng):
    X = rng.normal(size=(100, 2))
    scale, rescaling = measured(X, X[:2]).scale, Rescaling(np.array([1024.0, 0.0]), 2.0**20)
    again = scale.to_original(rescaling).to_internal(rescaling)
    np.testing.assert_allclose(again.rows, scale.rows, atol=1e-9)
    np.testing.assert_array_equal(again.radius, scale.radius)


@pytest.mark.parametrize(
    "changes", [{"radius": -1.0}, {"radius": np.inf}, {"n_dimensions": 0.0}, {"n_dimensions": "2"}]
)
def test_a_spread_of_wrong_parts_is_refused(changes):
    with pytest.raises(ValueError, match="a spread must have a radius > 0"):
        Spread(**{"radius": 1.0, "n_dimensions": 2.0} | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"radius": np.array([1.0, -1.0])},
        {"radius": 5},
        {"deviation": np.ones(3)},
        {"gap": np.array([0.0, np.nan])},
        {"gap_deviation": np.zeros(2)},
        {"gap_deviation": np.array([1.0, 1e-200])},
        {"is_small": np.array([True, True])},
        {"is_small": np.array([True, False])},
        {"labels": np.array([1, 0, 0], dtype=np.int32)},
        {"labels": np.array([0, 1], dtype=np.int32)},
        {"rows": 5},
    ],
)
def test_an_outlier_scale_of_wrong_parts_is_refused(changes):
    parts = {
        "radius": np.ones(2),
        "deviation": np.ones(2),
        "gap": np.zeros(2),
        "gap_deviation": np.ones(2),
        "is_small": np.zeros(2, dtype=bool),
        "rows": np.zeros((3, 2)),
        "labels": np.array([0, 0, 1], dtype=np.int32),
    }
    assert len(OutlierScale(**parts).radius) == 2
    with pytest.raises(ValueError, match="an outlier scale must have radii"):
        OutlierScale(**parts | changes)

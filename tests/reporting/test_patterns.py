import json

import numpy as np
from scipy import sparse
from sklearn.datasets import load_wine

from modeclust import KModes
from modeclust.plotting.exemplars import nearest_by_distance
from modeclust.reporting import patterns
from modeclust.reporting.summarize import summarize


def test_sparse_rows_are_shown_by_their_largest_features():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 200))
    X[:30, :3] = [3.0, 2.0, 1.0]
    X[30:, 100:102] = [1.0, 5.0]
    X += rng.random(X.shape) * 1e-3
    names = [f"word{d}" for d in range(200)]
    model = KModes(2, bandwidth=1.0, init=X[[0, 40]]).fit(sparse.csr_array(X))
    summary = summarize(model, sparse.csr_array(X), feature_names=names)
    assert summary["pattern"] == "terms"
    first, second = summary["centers"][-1]
    assert [feature for feature, _ in first[:3]] == [0, 1, 2]
    assert [feature for feature, _ in second[:2]] == [101, 100]
    assert len(first) == patterns.N_MODE_TERMS
    np.testing.assert_allclose([value for _, value in first[:3]], [3, 2, 1], atol=2e-3)
    nearest = summary["exemplars"][-1][0][0]
    terms = summary["exemplar_values"][summary["exemplar_rows"].index(nearest)]
    assert [feature for feature, _ in terms[:3]] == [0, 1, 2]
    assert "singular vector 1" in summary["map"]["axes"][0]
    json.dumps(summary, allow_nan=False)


def test_there_are_fewer_exemplars_if_there_are_too_many_numbers(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr(patterns, "MAX_EXEMPLAR_NUMBERS", 4 * 60)
    summary = summarize(model, X)
    assert len(summary["exemplar_rows"]) <= 60
    assert all(1 <= len(rows) <= 20 for step in summary["exemplars"] for rows in step)


def test_features_with_different_ranges_have_their_own_scale():
    wine = load_wine(as_frame=True)
    model = KModes(3, n_bandwidths=2, random_state=0).fit(wine.data)
    summary = summarize(model, wine.data)
    assert summary["feature_names"] == list(wine.data.columns)
    np.testing.assert_array_equal(
        summary["feature_ranges"], np.stack([wine.data.min(), wine.data.max()], axis=1)
    )


def test_features_with_similar_ranges_have_one_scale(blobs):
    X, _, model = blobs
    assert summarize(model, X)["feature_ranges"] is None


def test_an_empty_cluster_has_no_exemplars_and_no_mean_distance():
    assert nearest_by_distance(np.ones(3), np.array([0, 0, 2]), 3, 2).tolist() == [
        [0, 1],
        [-1, -1],
        [2, -1],
    ]
    assert patterns._cluster_means(np.ones(3), np.array([0, 0, 2]), 3) == [1.0, None, 1.0]


def test_very_many_classes_take_little_space(blobs):
    X, _, model = blobs
    summary = summarize(model, X, np.arange(150))
    assert len(json.dumps(summary)) < 2 * len(json.dumps(summarize(model, X)))

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from modeclust import KModes
from modeclust.estimators.confidence import Confidence
from modeclust.kernels import KERNELS
from modeclust.reporting.charts import MAX_SHOWN_SCORE
from modeclust.reporting.summarize import summarize


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_density_of_one_feature_peaks_at_the_mode(kernel):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 300), rng.normal(10, 1, 200)][:, None]
    weight = rng.integers(1, 4, len(X))
    model = KModes(2, bandwidth=3.0, kernel=kernel, random_state=0, adaptive=True)
    model.fit(X, sample_weight=weight)
    summary = summarize(model, X, sample_weight=weight)["histogram"]
    grid = np.array(summary["grid"])
    assert summary["densities"][0] is None
    for k, density in enumerate(summary["densities"][-1]):
        peak = grid[np.argmax(density)]
        assert peak == pytest.approx(model.cluster_centers_[k, 0], abs=0.1)


def test_a_constant_feature_has_a_histogram():
    X = np.full((20, 1), 3.0)
    model = KModes(1, bandwidth=1.0).fit(X)
    summary = summarize(model, X)["histogram"]
    assert np.sum(summary["counts"][-1]) == 20


def test_rows_outside_the_axis_limits_are_counted():
    X = np.r_[np.linspace(0, 1, 500), 1e6][:, None]
    model = KModes(1, bandwidth=1.0).fit(X)
    summary = summarize(model, X)["histogram"]
    assert summary["n_outside"] == 1
    assert summary["edges"][-1] < 2


@pytest.mark.parametrize("constant", [True, False])
def test_many_features_are_projected_on_principal_components(blobs, constant):
    X, _, _ = blobs
    X = np.zeros_like(X) if constant else X
    model = KModes(1, n_bandwidths=2).fit(X)
    summary = summarize(model, X)["map"]
    assert "principal component 1" in summary["axes"][0]
    assert np.isfinite(summary["points"]).all()
    if not constant:
        centered = X - X.mean(axis=0)
        _, _, axes = np.linalg.svd(centered, full_matrices=False)
        np.testing.assert_allclose(
            np.abs(summary["points"][0]), np.abs(centered @ axes[0]), atol=1e-4
        )


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_rows_far_from_zero_are_on_the_map(n_features):
    X, _ = make_blobs(200, n_features=n_features, centers=4, random_state=0)
    plain = KModes(4, n_bandwidths=3, random_state=0).fit(X)
    moved = KModes(4, n_bandwidths=3, random_state=0, store_labels=False).fit(X + 1e8)
    summary, moved_summary = summarize(plain, X), summarize(moved, X + 1e8)
    width = np.ptp(X)
    offset = 1e8 if n_features <= 2 else 0.0
    places, far = (
        np.array(summary["map"]["points"]),
        np.array(moved_summary["map"]["points"]) - offset,
    )
    np.testing.assert_allclose(np.abs(far), np.abs(places), atol=1e-3 * width)
    examples = [e for card in moved_summary["cards"] for e in card["examples"]]
    values = np.array([list(e["values"].values()) for e in examples]) - 1e8
    wanted = X[[e["row"] for e in examples]]
    np.testing.assert_allclose(values, wanted, atol=1e-3 * width)


def test_bars_have_the_weight_of_their_rows():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 500), rng.normal(10, 1, 500)][:, None]
    weight = np.repeat([10.0, 0.1], 500)
    model = KModes(2, bandwidth=1.0, init=[[0.0], [10.0]]).fit(X, sample_weight=weight)
    summary = summarize(model, X, sample_weight=weight)["histogram"]
    np.testing.assert_allclose(np.sum(summary["counts"][-1], axis=1), [5000, 50], rtol=1e-9)
    width = summary["edges"][1] - summary["edges"][0]
    areas = np.trapezoid(summary["densities"][-1], summary["grid"], axis=1) / width
    np.testing.assert_allclose(areas, [5000, 50], rtol=0.05)
    assert summary["weighted"]


def test_densities_finer_than_the_chart_keep_their_area():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 500), rng.normal(1000, 1, 500)][:, None]
    model = KModes(2, bandwidth=0.2, init=[[0.0], [1000.0]]).fit(X)
    summary = summarize(model, X)["histogram"]
    width = summary["edges"][1] - summary["edges"][0]
    areas = np.trapezoid(summary["densities"][-1], summary["grid"], axis=1) / width
    np.testing.assert_allclose(areas, 500, rtol=0.02)


def test_noise_is_in_no_bar_and_no_density():
    X = np.r_[np.linspace(0, 1, 50), np.linspace(5, 6, 50), 20.0][:, None]
    labels = np.r_[np.zeros(50), np.ones(50), -1].astype(int)
    summary = summarize(labels, X)["histogram"]
    np.testing.assert_array_equal(np.sum(summary["counts"][-1], axis=1), [50, 50])
    width = summary["edges"][1] - summary["edges"][0]
    areas = np.trapezoid(summary["densities"][-1], summary["grid"], axis=1) / width
    np.testing.assert_allclose(areas, 50, rtol=0.05)


def test_the_heat_map_has_the_effects_of_numbers_and_the_commonest_categories():
    plan = np.repeat(["a", "b", "c"], [50, 30, 20])
    X = (
        np.r_[np.zeros(50), np.ones(30), np.full(20, 2.0)][:, None]
        + np.linspace(0, 0.1, 100)[:, None]
    )
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    heat = summarize(labels, pd.DataFrame({"x": X[:, 0], "plan": plan}), X=X)["heat"]
    rows = {row["label"]: i for i, row in enumerate(heat["rows"])}
    assert set(rows) == {"x", "plan = a", "plan = b", "plan = c"}
    effects, shares = np.array(heat["effects"]), np.array(heat["values"], dtype=float)
    assert effects.shape == (3, 4)
    assert effects[0, rows["plan = a"]] == pytest.approx(1.0)  # (1 - 0.5) / 0.5
    assert shares[:, rows["plan = c"]].tolist() == [0, 0, 1]
    assert effects[0, rows["x"]] < -0.5
    largest = np.abs(effects).max(axis=0)
    assert (np.diff(largest) <= 0).all()


def test_outliers_are_listed():
    X, _ = make_blobs(100, centers=2, random_state=0)
    model = KModes(2, n_bandwidths=2, random_state=0).fit(X)
    typical = model._confidence.typical
    model._confidence = Confidence(typical, np.r_[np.zeros(98), 20.0, 70.0])
    outliers = summarize(model, X)["outliers"]
    assert outliers["rows"][0] == {
        "row": 99,
        "name": "row 99",
        "cluster": int(model.labels_[99]),
        "score": 70.0,
    }
    assert outliers["edges"][-1] == MAX_SHOWN_SCORE
    assert outliers["n_above"] == 2
    assert sum(outliers["counts"]) == 100
    assert len(outliers["edges"]) == len(outliers["counts"]) + 1


@pytest.mark.parametrize("to_rows", [np.asarray, sparse.csr_array])
def test_modes_of_cosine_lie_among_their_rows(to_rows):
    """Rows of text share few words, so a mode of length 1 would be far from all of them."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(3), 60)
    rates = np.full((3, 400), 0.02)
    for k in range(3):
        rates[k, 20 * k : 20 * k + 20] = 0.3
    X = to_rows(rng.poisson(rates[group]).astype(float) + 1e-3 * (np.arange(400) == 399))
    model = KModes(3, metric="cosine", random_state=0).fit(X)
    summary = summarize(model, X)["map"]
    points = np.array(summary["points"]).T
    for centers in summary["centers"]:
        for k, center in enumerate(centers):
            own = points[model.labels_[summary["rows"]] == k]
            assert (np.abs(center - own.mean(axis=0)) < 2 * own.std(axis=0)).all()

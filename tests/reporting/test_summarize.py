import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.exceptions import NotFittedError

from modeclust import KModes
from modeclust.plotting.exemplars import nearest_by
from modeclust.reporting import summarize as summary_module
from modeclust.reporting.page import Report
from modeclust.reporting.summarize import summarize


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(150, n_features=4, centers=3, random_state=0)
    return X, y, KModes(3, n_bandwidths=5, random_state=0).fit(X)


def test_a_case_by_hand():
    X = np.array(
        [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [9.0, 0.0, 0.0], [9.0, 0.0, 1.0], [9.0, 0.0, 3.0]]
    )
    model = KModes(2, bandwidth=np.inf, init=X[[0, 2]]).fit(X)
    told = summarize(model, X, ["a", "b", "b", "b", "c"])
    [step] = told["steps"]
    assert step == {
        "bandwidth": None,
        "objective": 1.0,
        "inertia": pytest.approx(2 + 16 / 9 + 1 / 9 + 25 / 9),
        "n_iter": step["n_iter"],
        "counts": [2, 3],
        "moved": [0.0, 0.0],
        "changed": 0,
    }
    assert told["class_names"] == ["a", "b", "c"]
    assert told["commonest"] == [[[0, 1], [1, 2]]]
    np.testing.assert_allclose(told["centers"][0][1], [9, 0, 4 / 3])
    assert told["exemplars"] == [[[0, 1], [3, 2, 4]]]
    np.testing.assert_allclose(told["spread"], [[1, (4 / 3 + 1 / 3 + 5 / 3) / 3]])
    assert told["labels"] == {"rows": None, "first": [0, 0, 1, 1, 1], "changes": []}
    assert told["map"]["rows"] == [0, 1, 2, 3, 4]
    assert told["redundant"]["pairs"] == []


def test_labels_of_every_step_are_told_by_their_changes(blobs):
    X, _, _ = blobs
    model = KModes(5, bandwidth=0.4, n_bandwidths=12, random_state=3).fit(X)
    told = summarize(model, X)["labels"]
    labels = np.array(told["first"])
    np.testing.assert_array_equal(labels, model.path_.labels[0])
    for (rows, values), wanted in zip(told["changes"], model.path_.labels[1:], strict=True):
        labels[rows] = values
        np.testing.assert_array_equal(labels, wanted)
    assert sum(len(rows) for rows, _ in told["changes"]) > 0


def test_labels_that_were_not_kept_are_found_again(blobs):
    X, _, model = blobs
    other = KModes(3, n_bandwidths=5, store_labels=False, random_state=0).fit(X)
    assert other.path_.labels is None
    assert summarize(other, X) == summarize(model, X)


def test_redundant_pairs_are_those_of_the_model(blobs):
    X, _, _ = blobs
    model = KModes(5, random_state=0).fit(X)
    told = summarize(model, X)["redundant"]
    pairs = model.redundant_clusters(told["threshold"])
    assert len(pairs) > 0
    assert [tuple(pair["clusters"]) for pair in told["pairs"]] == pairs
    assert all(pair["ratio"] > 0.9 for pair in told["pairs"])


def test_sparse_rows_are_told_by_their_greatest_features():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 200))
    X[:30, :3] = [3.0, 2.0, 1.0]
    X[30:, 100:102] = [1.0, 5.0]
    X += rng.random(X.shape) * 1e-3
    names = [f"word{d}" for d in range(200)]
    model = KModes(2, bandwidth=1.0, init=X[[0, 40]]).fit(sparse.csr_array(X))
    told = summarize(model, sparse.csr_array(X), feature_names=names)
    assert told["pattern"] == "terms"
    first, second = told["centers"][-1]
    assert [feature for feature, _ in first[:3]] == [0, 1, 2]
    assert [feature for feature, _ in second[:2]] == [101, 100]
    assert len(first) == summary_module.N_CENTER_TERMS
    np.testing.assert_allclose([value for _, value in first[:3]], [3, 2, 1], atol=2e-3)
    nearest = told["exemplars"][-1][0][0]
    terms = told["exemplar_values"][told["exemplar_rows"].index(nearest)]
    assert [feature for feature, _ in terms[:3]] == [0, 1, 2]
    assert "singular vector 1" in told["map"]["axes"][0]
    json.dumps(told, allow_nan=False)


def test_bandwidths_are_left_out_where_there_are_too_many_numbers(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr(summary_module, "MOST_CENTER_NUMBERS", 3 * 4 * 3)
    told = summarize(model, X)
    assert [step["bandwidth"] for step in told["steps"]] == [
        None,
        *model.path_.bandwidths[[2, 5]],
    ]
    assert told["notes"] == ["3 bandwidths of the path are left out to keep this page small."]


def test_fewer_exemplars_where_there_are_too_many_numbers(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr(summary_module, "MOST_EXEMPLAR_NUMBERS", 4 * 60)
    told = summarize(model, X)
    assert len(told["exemplar_rows"]) <= 60
    assert all(1 <= len(rows) <= 20 for step in told["exemplars"] for rows in step)


def test_of_very_many_rows_only_those_drawn_have_labels(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr(summary_module, "MOST_LABELLED", 100)
    told = summarize(model, X)
    assert told["labels"]["rows"] == told["map"]["rows"]


def test_features_of_unlike_ranges_have_their_own():
    wine = load_wine(as_frame=True)
    model = KModes(3, n_bandwidths=2, random_state=0).fit(wine.data)
    told = summarize(model, wine.data)
    assert told["feature_names"] == list(wine.data.columns)
    np.testing.assert_array_equal(
        told["feature_ranges"], np.stack([wine.data.min(), wine.data.max()], axis=1)
    )


def test_one_scale_for_features_that_are_alike(blobs):
    X, _, model = blobs
    assert summarize(model, X)["feature_ranges"] is None


def test_a_cluster_without_rows_has_no_exemplars_nor_spread():
    assert nearest_by(np.ones(3), np.array([0, 0, 2]), 3, 2).tolist() == [[0, 1], [-1, -1], [2, -1]]
    assert summary_module._means_by(np.ones(3), np.array([0, 0, 2]), 3) == [1.0, None, 1.0]


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "biweight", "cauchy"])
def test_the_density_of_one_feature_peaks_at_the_mode(kernel):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 300), rng.normal(10, 1, 200)][:, None]
    weight = rng.integers(1, 4, len(X))
    model = KModes(2, bandwidth=2.0, kernel=kernel, random_state=0, adaptive=True)
    model.fit(X, sample_weight=weight)
    told = summarize(model, X, sample_weight=weight)["line"]
    grid = np.array(told["grid"])
    assert told["densities"][0] is None
    for k, density in enumerate(told["densities"][-1]):
        peak = grid[np.argmax(density)]
        assert peak == pytest.approx(model.cluster_centers_[k, 0], abs=0.1)


def test_a_constant_feature_has_a_histogram():
    X = np.full((20, 1), 3.0)
    model = KModes(1, bandwidth=1.0).fit(X)
    told = summarize(model, X)["line"]
    assert np.sum(told["counts"][-1]) == 20


def test_rows_far_out_are_counted_as_outside():
    X = np.r_[np.linspace(0, 1, 500), 1e6][:, None]
    model = KModes(1, bandwidth=1.0).fit(X)
    told = summarize(model, X)["line"]
    assert told["outside"] == 1
    assert told["edges"][-1] < 2


@pytest.mark.parametrize("constant", [True, False])
def test_many_features_are_drawn_by_principal_components(blobs, constant):
    X, _, _ = blobs
    X = np.zeros_like(X) if constant else X
    model = KModes(1, n_bandwidths=2).fit(X)
    told = summarize(model, X)["map"]
    assert "principal component 1" in told["axes"][0]
    assert np.isfinite(told["places"]).all()
    if not constant:
        centered = X - X.mean(axis=0)
        _, _, axes = np.linalg.svd(centered, full_matrices=False)
        np.testing.assert_allclose(np.abs(told["places"][0]), np.abs(centered @ axes[0]), atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0, 1]}, "one class for each of the 150 rows"),
        ({"y": np.linspace(0, 1, 150)}, "must be classes"),
        ({"image_shape": (3, 3)}, "image_shape must hold the 4 features"),
        ({"image_shape": (4,)}, "image_shape must be"),
        ({"image_shape": 4}, "image_shape must be"),
        ({"image_shape": "2x2"}, "image_shape must be"),
        ({"feature_names": "abcd"}, "feature_names must be a list"),
        ({"image_shape": (1, 2, 2)}, "image_shape must be"),
        ({"feature_names": ["a"]}, "feature_names must have one name for each of the 4"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sample_scale": np.zeros(150)}, "sample_scale must be > 0"),
        ({"path": "report.pdf"}, "ends in .html or .json"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(blobs, options, message, tmp_path, monkeypatch):
    X, _, model = blobs
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        model.report(X, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_told_before_work(blobs, tmp_path, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr("modeclust.reporting.page.summarize", None)
    with pytest.raises(FileNotFoundError, match="no folder for the report"):
        model.report(X, path=tmp_path / "nowhere" / "report.html")


def test_one_note_is_one_sentence(blobs):
    X, _, model = blobs
    assert summarize(model, X, notes="Read this.")["notes"] == ["Read this."]


def test_wrong_data_are_refused(blobs):
    X, _, model = blobs
    with pytest.raises(ValueError, match="fitted on, 150 rows, got 149"):
        summarize(model, X[1:])
    with pytest.raises(ValueError, match="in the same order"):
        summarize(model, np.roll(X, 1, axis=0))
    with pytest.raises(ValueError, match="4 features"):
        summarize(model, X[:, 1:])
    with pytest.raises(NotFittedError):
        summarize(KModes(3), X)


def test_names_of_a_frame_are_used_and_compared(blobs):
    X, _, _ = blobs
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = KModes(3, n_bandwidths=2, random_state=0).fit(frame)
    assert summarize(model, frame)["feature_names"] == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        summarize(model, frame[list("dcba")])


def test_reports_are_written_where_told(blobs, tmp_path, monkeypatch):
    X, y, model = blobs
    monkeypatch.chdir(tmp_path)
    report = model.report(X, y, title="Blobs")
    assert isinstance(report, Report)
    assert repr(report) == "Report('Blobs', 6 bandwidths)"
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.to_html()
    report.save("numbers.json")
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == report.summary
    assert model.report(X, path=None).summary["title"] == "3 modes of 150 rows"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["numbers.json", "report.html"]
    assert report.to_html() == model.report(X, y, None, title="Blobs").to_html()


def test_what_is_missing_is_named(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr("modeclust.reporting.page.find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"plotly and jinja2; install with: .*modeclust\[report\]"
    ):
        model.report(X, path=None)


def test_a_model_without_a_path_is_refused(blobs):
    X, _, _ = blobs
    with pytest.raises(ValueError, match="path_"):
        summarize(KMeans(3, n_init=1).fit(X), X)


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_rows_far_from_zero_are_drawn_apart(n_features):
    X, _ = make_blobs(200, n_features=n_features, centers=4, random_state=0)
    plain = KModes(4, n_bandwidths=3, random_state=0).fit(X)
    moved = KModes(4, n_bandwidths=3, random_state=0, store_labels=False).fit(X + 1e8)
    told, there = summarize(plain, X), summarize(moved, X + 1e8)
    reach = np.ptp(X)
    offset = 1e8 if n_features <= 2 else 0.0
    places, far = np.array(told["map"]["places"]), np.array(there["map"]["places"]) - offset
    np.testing.assert_allclose(np.abs(far), np.abs(places), atol=1e-3 * reach)
    values = np.array(there["exemplar_values"]) - 1e8
    wanted = X[there["exemplar_rows"]]
    np.testing.assert_allclose(values, wanted, atol=1e-3 * reach)


def test_labels_found_again_far_from_zero_are_those_of_the_fit():
    X, _ = make_blobs(400, n_features=1, centers=4, random_state=1)
    X += 1e8
    model = KModes(4, n_bandwidths=4, random_state=0, store_labels=False).fit(X)
    kept = KModes(4, n_bandwidths=4, random_state=0).fit(X)
    assert summarize(model, X)["labels"] == summarize(kept, X)["labels"]


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e250])
@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_rows_of_any_size(scale, n_features):
    X, _ = make_blobs(100, n_features=n_features, centers=3, random_state=0)
    small = summarize(KModes(3, n_bandwidths=3, random_state=0).fit(X), X)
    model = KModes(3, n_bandwidths=3, random_state=0).fit(X * scale)
    told = summarize(model, X * scale)
    json.dumps(told, allow_nan=False)
    assert told["exemplars"] == small["exemplars"]
    np.testing.assert_allclose(np.array(told["spread"]) / scale, small["spread"], rtol=1e-6)
    moved = [np.array(t["steps"][-1]["moved"]) for t in (told, small)]
    np.testing.assert_allclose(moved[0] / scale, moved[1], rtol=1e-3, atol=1e-6)


def test_bars_have_the_weight_of_their_rows():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 500), rng.normal(10, 1, 500)][:, None]
    weight = np.repeat([10.0, 0.1], 500)
    model = KModes(2, bandwidth=1.0, init=[[0.0], [10.0]]).fit(X, sample_weight=weight)
    told = summarize(model, X, sample_weight=weight)["line"]
    np.testing.assert_allclose(np.sum(told["counts"][-1], axis=1), [5000, 50], rtol=1e-9)
    width = told["edges"][1] - told["edges"][0]
    areas = np.trapezoid(told["densities"][-1], told["grid"], axis=1) / width
    np.testing.assert_allclose(areas, [5000, 50], rtol=0.05)
    assert told["weighted"]


def test_densities_finer_than_the_chart_keep_their_area():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 500), rng.normal(1000, 1, 500)][:, None]
    model = KModes(2, bandwidth=0.2, init=[[0.0], [1000.0]]).fit(X)
    told = summarize(model, X)["line"]
    width = told["edges"][1] - told["edges"][0]
    areas = np.trapezoid(told["densities"][-1], told["grid"], axis=1) / width
    np.testing.assert_allclose(areas, 500, rtol=0.02)


def test_very_many_classes_take_little_room(blobs):
    X, _, model = blobs
    told = summarize(model, X, np.arange(150))
    assert len(json.dumps(told)) < 2 * len(json.dumps(summarize(model, X)))


@pytest.mark.parametrize(
    "missing",
    [
        np.r_[np.nan, np.zeros(149)],
        pd.Series([None] + ["a"] * 149),
        pd.Series([pd.NA] + ["a"] * 149),
        pd.Series([pd.NA] + [1] * 149, dtype="Int64"),
    ],
)
def test_missing_classes_are_named(blobs, missing):
    X, _, model = blobs
    with pytest.raises(ValueError, match="1 are missing, the first in row 0"):
        summarize(model, X, missing)


def test_half_a_character_does_not_stop_a_report(blobs, tmp_path):
    X, _, model = blobs
    for name in ("report.html", "report.json"):
        model.report(X, path=tmp_path / name, title="odd \ud800 title")
    assert len(list(tmp_path.iterdir())) == 2

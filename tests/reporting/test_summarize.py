import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes
from modeclust.reporting import steps as steps_module
from modeclust.reporting import summarize as summarize_module
from modeclust.reporting.summarize import summarize


def test_a_case_by_hand():
    X = np.array(
        [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [9.0, 0.0, 0.0], [9.0, 0.0, 1.0], [9.0, 0.0, 3.0]]
    )
    model = KModes(2, bandwidth=np.inf, init=X[[0, 2]]).fit(X)
    summary = summarize(model, X, y=["a", "b", "b", "b", "c"])
    [step] = summary["steps"]
    assert step == {
        "stage": 0,
        "name": "Means",
        "bandwidth": None,
        "own_bandwidths": False,
        "rows_averaged": [2.0, 3.0],
        "objective": 1.0,
        "counts": [2, 3],
        "moved": [0.0, 0.0],
        "n_changed": 0,
        "typical": [[0.0, 1.0], [9.0, pytest.approx(4 / 3, rel=1e-5)]],
    }
    assert [summary["columns"][c]["name"] for c in summary["step_columns"]] == [
        "feature 0",
        "feature 2",
    ]
    assert summary["class_names"] == ["a", "b", "c"]
    assert [card["classes"] for card in summary["cards"]] == [
        [["a", 1], ["b", 1]],
        [["b", 2], ["c", 1]],
    ]
    rows = [[example["row"] for example in card["examples"]] for card in summary["cards"]]
    assert rows == [[0, 1], [3, 2, 4]]
    assert [card["nearest"]["cluster"] for card in summary["cards"]] == [1, 0]
    assert summary["cards"][0]["nearest"]["distance"] == pytest.approx(np.hypot(9, 1 / 3))
    assert summary["labels"] == {
        "rows": None,
        "names": None,
        "first": [0, 0, 1, 1, 1],
        "changes": [],
    }
    assert summary["map"]["rows"] == [0, 1, 2, 3, 4]
    assert summary["redundant"] is None


def test_labels_along_the_path_follow_from_their_changes(blobs):
    X, _, _ = blobs
    model = KModes(5, bandwidth=0.4, n_bandwidths=12, random_state=3).fit(X)
    summary = summarize(model, X)["labels"]
    labels = np.array(summary["first"])
    np.testing.assert_array_equal(labels, model.path_.labels[0])
    for (rows, values), wanted in zip(summary["changes"], model.path_.labels[1:], strict=True):
        labels[rows] = values
        np.testing.assert_array_equal(labels, wanted)
    assert sum(len(rows) for rows, _ in summary["changes"]) > 0


def test_labels_that_were_not_stored_are_recomputed(blobs):
    X, _, model = blobs
    other = KModes(3, store_labels=False, random_state=0).fit(X)
    assert other.path_.labels is None
    assert summarize(other, X) == summarize(model, X)


def test_soft_clusters(blobs):
    X, y, _ = blobs
    model = LaplacianKModes(3).fit(X)
    summary = summarize(model, X, y=y)
    assert summary["start"] == "linkage"
    assert ["smoothing", f"{model.smoothing_:.4g}"] in summary["method"]["details"]
    assert summary["redundant"] is None
    objectives = [step["objective"] for step in summary["steps"]]
    assert objectives == [None, *model.path_.objectives[1:9], *[None] * 8]
    assert [step["counts"] for step in summary["steps"]] == model.path_.counts.tolist()
    first = [card["examples"][0]["row"] for card in summary["cards"]]
    assert first == model.exemplar_indices_.tolist()


def test_steps_of_soft_clusters_without_known_labels_are_left_out(blobs):
    X, _, _ = blobs
    model = LaplacianKModes(3, store_labels=False).fit(X)
    summary = summarize(model, X)
    assert [step["stage"] for step in summary["steps"]] == [1, *[2] * 8]
    np.testing.assert_array_equal(summary["labels"]["first"], model.labels_)
    [note] = summary["notes"]
    assert note.startswith("Labels along the path were not stored, so only the last steps are")


def test_redundant_pairs_are_those_of_the_model(blobs):
    X, _, _ = blobs
    model = KModes(5, random_state=0).fit(X)
    summary = summarize(model, X)["redundant"]
    pairs = model.redundant_clusters()
    assert len(pairs) > 0
    assert [tuple(pair["clusters"]) for pair in summary["pairs"]] == pairs
    assert "no deeper than chance" in summary["sentence"]
    assert all(0 <= pair["depth"] < 2.5 for pair in summary["pairs"])
    cards = summarize(model, X)["cards"]
    i, j = pairs[0]
    assert j in cards[i]["redundant_with"]
    assert i in cards[j]["redundant_with"]
    wide = summarize(KModes(5, bandwidth=1e3, random_state=0).fit(X), X)["redundant"]
    assert wide["is_too_wide"]
    assert wide["pairs"] == []
    assert "too wide to tell" in wide["sentence"]
    assert "fit with a smaller bandwidth, such as 'knn/3'" in wide["sentence"]


@pytest.mark.parametrize("options", [{"bandwidth": np.inf}, {"reassign": False}])
def test_at_an_infinite_bandwidth_no_clusters_are_compared(blobs, options):
    X, _, _ = blobs
    assert summarize(KModes(3, random_state=0, **options).fit(X), X)["redundant"] is None


def test_bandwidths_are_omitted_if_there_are_too_many_numbers(blobs, monkeypatch):
    X, _, _ = blobs
    model = KModes(3, bandwidth=1.0, n_bandwidths=5, random_state=0).fit(X)
    monkeypatch.setattr(steps_module, "MAX_STEP_VALUES", 3 * 8 * 3)
    summary = summarize(model, X)
    assert [step["bandwidth"] for step in summary["steps"]] == [
        None,
        *model.path_.bandwidths[[2, 5]],
    ]
    assert summary["notes"] == ["3 steps of the path are omitted to keep this page small."]


@pytest.mark.parametrize("n_kept", [1, 3, 4, 7, 16, 17])
def test_the_end_of_each_stage_is_kept(blobs, n_kept, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr(steps_module, "MAX_STEP_VALUES", 3 * 8 * n_kept)
    steps = summarize(model, X)["steps"]
    assert len(steps) == max(n_kept, 3)
    assert steps[0]["stage"] == 0
    labelled = [step for step in steps if step["stage"] < 2][-1]
    assert labelled["bandwidth"] == model.bandwidth_
    np.testing.assert_allclose(steps[-1]["rows_averaged"], model.rows_averaged_, atol=0.01)


def test_the_steps_of_both_stages(blobs):
    X, _, model = blobs
    steps = summarize(model, X)["steps"]
    assert [step["stage"] for step in steps] == [0] + 8 * [1] + 8 * [2]
    assert [step["own_bandwidths"] for step in steps] == 9 * [False] + 8 * [True]
    assert [step["bandwidth"] for step in steps[1:]] == model.path_.bandwidths[1:].tolist()
    averaged = [step["rows_averaged"] for step in steps]
    np.testing.assert_allclose(averaged, model.path_.rows_averaged, atol=0.01)
    moved = np.linalg.norm(model.modes_ - model.path_.centers[0], axis=1)
    np.testing.assert_allclose(steps[-1]["moved"], moved)
    assert {step["n_changed"] for step in steps[9:]} == {0}


def test_with_very_many_rows_only_those_on_the_map_have_labels(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr(summarize_module, "MAX_LABELLED_ROWS", 100)
    summary = summarize(model, X)
    assert summary["labels"]["rows"] == summary["map"]["rows"]


def test_one_note_is_one_sentence(blobs):
    X, _, model = blobs
    assert summarize(model, X, notes="Read this.")["notes"] == ["Read this."]


def test_labels_recomputed_far_from_zero_equal_those_of_the_fit():
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
    summary = summarize(model, X * scale)
    json.dumps(summary, allow_nan=False)
    for card, other in zip(summary["cards"], small["cards"], strict=True):
        rows, same = ([e["row"] for e in c["examples"]] for c in (card, other))
        assert rows == same
        found, wanted = (np.array(list(c["typical"].values())) for c in (card, other))
        np.testing.assert_allclose(found / scale, wanted, rtol=1e-3)
        for item, like in zip(card["apart"], other["apart"], strict=True):
            assert item["effect"] == pytest.approx(like["effect"], abs=1e-3)
    moved = [np.array(t["steps"][-1]["moved"]) for t in (summary, small)]
    np.testing.assert_allclose(moved[0] / scale, moved[1], rtol=1e-3, atol=1e-6)


def test_it_says_how_the_number_of_clusters_was_chosen():
    X, _ = make_blobs(200, centers=12 * np.eye(3), random_state=0)
    model = KModes("auto", bandwidth=3.0, n_bandwidths=2, random_state=0).fit(X)
    assert summarize(model, X)["notes"] == [
        "The number of clusters was chosen from the data. 3 clusters, and both tests agree."
    ]
    assert summarize(KModes(3, bandwidth=3.0, n_bandwidths=2).fit(X), X)["notes"] == []


def test_columns_that_differ_most_are_shown_along_the_path(blobs, monkeypatch):
    X, _, model = blobs
    summary = summarize(model, X)
    monkeypatch.setattr(steps_module, "MAX_STEP_COLUMNS", 2)
    monkeypatch.setattr(steps_module, "MAX_STEP_VALUES", 3 * 6 * 17)
    fewer = summarize(model, X)
    heat = [row["column"] for row in summary["heat"]["rows"]]
    assert fewer["step_columns"] == sorted(heat[:2])
    for values, all_values in zip(fewer["steps"], summary["steps"], strict=True):
        wanted = [[own[c] for c in fewer["step_columns"]] for own in all_values["typical"]]
        assert values["typical"] == wanted


def test_every_term_of_the_method_is_in_the_glossary(blobs):
    X, _, _ = blobs
    model = KModes(3, adaptive=True, random_state=0).fit(X)
    for summary in (summarize(model, X), summarize(LaplacianKModes(3).fit(X), X)):
        terms = [term for term, _ in summary["method"]["details"]]
        assert set(terms) - {"clusters", "labels"} <= set(summary["glossary"])

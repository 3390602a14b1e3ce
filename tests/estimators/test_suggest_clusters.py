"""`suggest_clusters`, and estimators that choose the number of clusters by it."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from callbacks import Callback, needs_callbacks
from chunks import in_chunks
from interruption import Interrupter, assert_same_fit
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeclust import ClusterSuggestion, KModes, LaplacianKModes, load, suggest_clusters
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.exceptions import CheckpointError, ModelFileError, UnsureClusterCountWarning
from modeclust.solvers import cluster_count

CENTERS = 12 * np.eye(5)
X, Y = make_blobs(300, centers=CENTERS, random_state=0)


QUICK = {"bandwidth": 3.0, "n_bandwidths": 2, "random_state": 0}


def unsure(suggestion):
    """Return a suggestion that says otherwise."""
    return replace(suggestion, is_sure=False, n_by_peaks=3)


@pytest.fixture
def never_sure(monkeypatch):
    suggest = cluster_count.Tests.suggestion
    monkeypatch.setattr(cluster_count.Tests, "suggestion", lambda *given: unsure(suggest(*given)))


def test_blobs():
    found = suggest_clusters(X, random_state=0)
    assert (found.n_clusters, found.n_by_peaks, found.n_by_dips) == (5, 5, 5)
    assert found.is_sure
    assert found.answered_by == "dips"
    assert adjusted_rand_score(found.labels, Y) == 1
    assert repr(found) == "ClusterSuggestion(5 clusters)"
    assert np.count_nonzero(found.peak_heights >= found.peak_threshold) == 4
    assert found.dips[found.dip_counts == 5] >= found.dip_threshold
    assert found.n_rows == 300
    assert found.max_clusters == 40


def test_what_it_says():
    found = suggest_clusters(X, random_state=0)
    assert str(unsure(found)) == ("not sure: 3 by peaks, 5 by dips. Look at .plot(); n_clusters=5")
    assert "max_clusters=5 allows no more" in str(suggest_clusters(X, max_clusters=5))
    heights = np.r_[found.peak_heights[:4], 0.8 * found.peak_threshold]
    almost = replace(found, is_sure=False, peak_heights=heights)
    assert "another peak is almost high enough" in str(almost)
    touching = replace(found, is_sure=False, n_clusters=7, n_by_shape=7)
    assert touching.answered_by == "shape"
    assert str(touching) == (
        "not sure: 5 by peaks, 5 by dips, 7 by shape. Look at .plot(); n_clusters=7"
    )


def test_a_few_rows_tell_nothing(rng):
    group = rng.normal(size=(10, 2))
    few, enough = (np.concatenate([group[:n], group[:n] + 50]) for n in (4, 10))
    for rows in (few, np.repeat(few, 30, axis=0), few[:2]):
        found = suggest_clusters(rows, random_state=0)
        assert not found.is_sure
        assert "too few different rows to tell" in str(found)
    found = suggest_clusters(enough, random_state=0)
    assert (found.n_clusters, found.is_sure) == (2, True)
    assert str(suggest_clusters(np.zeros((9, 2)))) == "1 cluster"


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_array,
        np.float32,
        np.asfortranarray,
        lambda X: pd.DataFrame(X),
        lambda X: pl.DataFrame(X),
        lambda X: X.tolist(),
        lambda X: 1e9 + 1e3 * X,
        lambda X: 1e-20 * X,
    ],
)
def test_any_form_of_the_rows(form):
    found = suggest_clusters(form(X), random_state=0)
    assert found.n_clusters == 5
    assert found.is_sure
    assert adjusted_rand_score(found.labels, Y) == 1


def test_rows_of_weight_zero_are_ignored_and_labelled():
    weight = np.where(Y == 4, 0.0, 2.0)
    found = suggest_clusters(X, sample_weight=weight, random_state=0)
    assert found.n_clusters == 4
    assert found.n_rows == np.count_nonzero(weight)
    assert adjusted_rand_score(found.labels[Y < 4], Y[Y < 4]) == 1
    assert found.labels.shape == Y.shape


@pytest.mark.parametrize(
    ("rows", "n_rows"),
    [(np.zeros((9, 2)), 1), (np.array([[0.0], [1.0]]), 2), (np.repeat(np.eye(3), 4, axis=0), 3)],
)
def test_few_distinct_rows_are_one_cluster(rows, n_rows):
    found = suggest_clusters(rows, max_clusters=50)
    assert found.n_clusters == 1
    assert found.n_rows == n_rows
    assert found.labels.tolist() == [0] * len(rows)


@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        (X, {"max_clusters": 0}, "'max_clusters' parameter"),
        (X, {"max_clusters": 2.5}, "'max_clusters' parameter"),
        (X[:1], {}, "at least 2|minimum of 2"),
        (np.vstack([X, np.full(5, np.nan)]), {}, "NaN"),
        (X, {"sample_weight": np.zeros(300)}, "weight"),
        (np.vstack([X, np.zeros(5)]), {"metric": "cosine"}, "300"),
    ],
)
def test_bad_input_is_refused(rows, given, message):
    with pytest.raises(ValueError, match=message):
        suggest_clusters(rows, **given)


def test_directions():
    """Only the directions of the rows count: lengths of another scale do not matter."""
    lengths = np.random.RandomState(0).uniform(0.1, 10, size=(300, 1))
    rows = lengths * X
    found = suggest_clusters(rows, metric="cosine", random_state=0)
    assert found.n_clusters == 5
    assert adjusted_rand_score(found.labels, Y) == 1
    same = suggest_clusters(sparse.csr_array(rows), metric="cosine", random_state=0)
    np.testing.assert_array_equal(found.labels, same.labels)


def test_max_clusters():
    assert suggest_clusters(X, max_clusters=1).n_clusters == 1
    found = suggest_clusters(X, max_clusters=5, random_state=0)
    assert found.n_clusters == 5
    assert not found.is_sure
    assert suggest_clusters(X[:20], max_clusters=1000).n_clusters <= 20


def test_the_same_seed_gives_the_same_answer():
    found, same = (suggest_clusters(X, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(found.dips, same.dips)
    np.testing.assert_array_equal(found.labels, same.labels)


def test_a_dask_array_is_sampled():
    pytest.importorskip("dask.array")
    found, expected = suggest_clusters(in_chunks(X, 120)), suggest_clusters(X)
    assert found.labels is None
    assert found.n_clusters == expected.n_clusters == 5
    np.testing.assert_allclose(found.peak_heights, expected.peak_heights)


def test_clusters_that_touch():
    """Of four round clusters, two are so near that there is no gap between them."""
    centers = [[0.0, 0.0], [2.6, 0.0], [10.0, 0.0], [0.0, 10.0]]
    rows, y = make_blobs(1200, centers=centers, random_state=0)
    found = suggest_clusters(rows, random_state=0)
    assert (found.n_by_peaks, found.n_by_dips, found.n_by_shape) == (3, 3, 4)
    assert found.n_clusters == 4
    assert not found.is_sure
    assert adjusted_rand_score(found.labels, y) > 0.85
    with pytest.warns(UnsureClusterCountWarning, match="3 by dips, 4 by shape; the fit has 4"):
        assert KModes("auto", random_state=0).fit(rows).n_clusters_ == 4


# Estimators.


@pytest.mark.parametrize("cls", [KModes, LaplacianKModes])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32])
def test_a_fit_is_that_of_the_suggested_number(cls, form):
    model = cls("auto", **QUICK).fit(form(X))
    assert model.n_clusters_ == 5
    assert model.n_clusters == "auto"
    assert model.cluster_suggestion_.labels is None
    np.testing.assert_array_equal(
        model.cluster_suggestion_.dips, suggest_clusters(form(X), random_state=0).dips
    )
    same = cls(5, **QUICK).fit(form(X))
    assert same.cluster_suggestion_ is None
    assert same.n_clusters_ == 5
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_array_equal(model.modes_, same.modes_)
    assert adjusted_rand_score(model.labels_, Y) == 1


def test_all_defaults():
    model = KModes("auto", random_state=0).fit(X)
    assert model.n_clusters_ == len(model.modes_) == 5
    assert model.fit(X[Y < 3]).n_clusters_ == 3
    assert model.set_params(n_clusters=2).fit(X).cluster_suggestion_ is None


@pytest.mark.parametrize("cls", [KModes, LaplacianKModes])
def test_it_warns_if_it_is_not_sure(cls, never_sure):
    message = (
        "n_clusters='auto' is not sure: 3 by peaks, 5 by dips; the fit has 5. Look at "
        r"cluster_suggestion_.plot\(\), and pass the number that you prefer as n_clusters."
    )
    with pytest.warns(UnsureClusterCountWarning, match=message) as told:
        model = cls("auto", **QUICK).fit(X)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert model.n_clusters_ == 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsureClusterCountWarning)
        cls("auto", **QUICK).fit(X)


@pytest.mark.parametrize("cls", [KModes, LaplacianKModes])
def test_centers_need_a_number(cls):
    message = r"n_clusters='auto' needs init='k-means\+\+', .* got an array of shape \(2, 5\); pass"
    with pytest.raises(ValueError, match=message):
        cls("auto", init=X[:2]).fit(X)


def test_weights_count():
    weight = np.where(Y == 4, 0.0, 1.0)
    assert KModes("auto", **QUICK).fit(X, sample_weight=weight).n_clusters_ == 4


def test_verbose(capsys):
    KModes("auto", verbose=1, **QUICK).fit(X)
    assert "[KModes] n_clusters='auto': 5 clusters\n" in capsys.readouterr().out


@pytest.mark.parametrize("cls", [KModes, LaplacianKModes])
def test_saved_and_loaded(cls, tmp_path):
    model = cls("auto", max_clusters=20, **QUICK).fit(X)
    model.save(tmp_path / "model.npz")
    same = load(tmp_path / "model.npz")
    assert same.n_clusters == "auto"
    assert same.n_clusters_ == 5
    assert isinstance(same.cluster_suggestion_, ClusterSuggestion)
    assert str(same.cluster_suggestion_) == str(model.cluster_suggestion_)
    np.testing.assert_array_equal(same.cluster_suggestion_.dips, model.cluster_suggestion_.dips)
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    model.n_clusters_ = 4
    model.save(tmp_path / "model.npz")
    with pytest.raises(ModelFileError, match="n_clusters_ must be 5"):
        load(tmp_path / "model.npz")


def test_a_suggestion_has_all_its_parts():
    found = suggest_clusters(X, random_state=0)
    for change in (
        {"n_clusters": 2.0},
        {"dips": found.dips[:-1]},
        {"is_sure": None},
        {"n_by_shape": 2.0},
    ):
        with pytest.raises(ValueError, match="parts of a cluster suggestion"):
            replace(found, **change)


@pytest.mark.parametrize("seed", [0, None])
def test_an_interrupted_fit_chooses_the_same_number(monkeypatch, tmp_path, seed):
    model = KModes("auto", checkpoint=tmp_path / "fit", **QUICK | {"random_state": seed})
    np.random.seed(1)
    expected = KModes("auto", **QUICK | {"random_state": seed}).fit(X)
    np.random.seed(1)
    writes = Interrupter(monkeypatch, Checkpoint, "write")
    with writes.interrupting(2):
        model.fit(X)
    model.fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(model.cluster_suggestion_.dips, expected.cluster_suggestion_.dips)


def test_a_checkpoint_of_another_limit_is_refused(tmp_path):
    file = tmp_path / "fit"
    KModes("auto", checkpoint=file, keep_checkpoint=True, **QUICK).fit(X)
    with pytest.raises(CheckpointError, match="max_clusters"):
        KModes("auto", max_clusters=9, checkpoint=file, **QUICK).fit(X)


def test_the_first_batch_decides():
    model = KModes("auto", **QUICK)
    for rows in np.array_split(X, 2):
        model.partial_fit(rows)
    assert model.n_clusters_ == len(model.modes_) == 5
    assert model.cluster_suggestion_.n_clusters == 5
    assert model.n_samples_seen_ == 300


def test_stability_and_merging_keep_the_number(never_sure):
    with pytest.warns(UnsureClusterCountWarning):
        model = KModes("auto", **QUICK).fit(X)
    assert model.stability(X, n_resamples=2).jaccard.shape == (5,)
    wider = KModes("auto", **QUICK | {"bandwidth": 3.0})
    with pytest.warns(UnsureClusterCountWarning):
        wider.fit(X)
    shallowest = wider.dip_significance_.data.min()
    merged = wider.merge_redundant(X, threshold=shallowest + 0.01)
    assert merged.n_clusters_ == len(merged.modes_) < 5
    assert merged.cluster_suggestion_ is None


def test_a_dask_collection():
    pytest.importorskip("dask.array")
    model = KModes("auto", **QUICK).fit(in_chunks(X, 120))
    assert model.n_clusters_ == 5
    same = KModes(5, **QUICK).fit(in_chunks(X, 120))
    assert_same_fit(same.set_params(n_clusters="auto"), without_suggestion(model))


def without_suggestion(model):
    model.cluster_suggestion_ = None
    model._fitted_with["n_clusters"] = 5
    return model


@needs_callbacks
def test_callbacks():
    callback = Callback()
    model = KModes("auto", **QUICK)
    model.set_callbacks(callback)
    model.fit(X)
    assert model.n_clusters_ == 5


@pytest.mark.parametrize("scale", [1, 10])
def test_rows_at_equal_distances_have_no_more_dimensions_than_features(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = suggest_clusters(scale * np.eye(100), max_clusters=40, random_state=0)
    assert found.dimension <= 100
    assert np.isfinite(found.peak_heights).all()
    assert found.n_by_peaks <= 40


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_threads_are_those_asked_for(n_jobs, monkeypatch):
    seen = []
    nearest_rows = cluster_count.nearest_rows

    def watched(X, queries, n_neighbors, n_threads=None):
        seen.append(n_threads)
        return nearest_rows(X, queries, n_neighbors, n_threads)

    monkeypatch.setattr(cluster_count, "nearest_rows", watched)
    suggest_clusters(X[:, :2], random_state=0, n_jobs=n_jobs)
    suggest_clusters(X, random_state=0, n_jobs=n_jobs)
    assert set(seen) == {n_jobs}

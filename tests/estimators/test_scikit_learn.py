"""scikit-learn's conventions."""

import io
import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from callbacks import needs_callbacks
from rich.console import Console
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from modeclust import KModes, LaplacianKModes, MeanShift

X = load_iris().data

GRAPH = "rows that are repeated are neighbours in the graph, a row of weight 2 is one vertex"
SOFT = {
    "check_sample_weight_equivalence_on_dense_data": GRAPH,
    "check_sample_weight_equivalence_on_sparse_data": GRAPH,
}


def failures(model):
    """Return the checks that an estimator fails, and why."""
    is_soft = isinstance(model, LaplacianKModes) and model.smoothing != 0
    return SOFT if is_soft else {}


# Of a few rows without clusters, the graph makes one, or takes long to decide.
few_rows = pytest.mark.filterwarnings(
    "ignore::modeclust.exceptions.EmptyClusterWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


@parametrize_with_checks(
    [
        KModes(n_clusters=3),
        KModes(n_clusters=2, adaptive=True, n_init=2),
        MeanShift(),
        LaplacianKModes(n_clusters=3),
        LaplacianKModes(n_clusters=2, solver="bound", n_init=2),
    ],
    expected_failed_checks=failures,
)
@few_rows
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        MeanShift(adaptive=True, kernel="biweight"),
        LaplacianKModes(n_clusters=2, smoothing=0, n_init=2),
    ],
    expected_failed_checks=failures,
)
@few_rows
def test_estimator_checks_of_others(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [KModes(), LaplacianKModes()])
# Two of the checks have 4 distinct rows for the default of 8 clusters.
@few_rows
def test_estimator_checks_of_the_default(model):
    check_estimator(model, expected_failed_checks=failures(model), on_skip=None)


def test_pipeline_clone_and_pickle():
    model = make_pipeline(StandardScaler(), KModes(3, random_state=0)).fit(X)
    assert model.predict(X).shape == (150,)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again[-1].path_.centers, model[-1].path_.centers)
    assert not hasattr(clone(model)[-1], "labels_")


# Older versions of scikit-learn read the names of polars frames by a protocol that polars dropped.
NAMELESS = find_spec("sklearn.callback") is None and not hasattr(pl.DataFrame, "__dataframe__")


@pytest.mark.parametrize(
    "library", [pd, pytest.param(pl, marks=pytest.mark.skipif(NAMELESS, reason="no names"))]
)
def test_frames_in_and_out(library):
    frame = library.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = KModes(3, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.get_feature_names_out().tolist() == ["kmodes0", "kmodes1", "kmodes2"]
    name = library.__name__
    out = model.set_output(transform=name).transform(frame)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == ["kmodes0", "kmodes1", "kmodes2"]
    np.testing.assert_allclose(
        out.to_numpy(), np.linalg.norm(X[:, None, :2] - model.cluster_centers_, axis=2)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(
            frame.rename({"a": "z"}) if library is pl else frame.rename(columns={"a": "z"})
        )


def test_grid_search_over_bandwidths():
    search = GridSearchCV(
        KModes(3, random_state=0), {"bandwidth": [0.3, 0.6, 1.2]}, cv=3, n_jobs=2
    ).fit(X)
    assert search.best_params_["bandwidth"] == 1.2  # the objective grows with the bandwidth


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_dtypes_are_kept(dtype, container):
    rows = container(X.astype(dtype))
    model = KModes(3, random_state=0).fit(rows)
    assert model.cluster_centers_.dtype == dtype
    assert model.path_.centers.dtype == dtype
    assert model.transform(rows).dtype == dtype
    assert model.labels_.dtype == np.int32


def test_sample_weight_is_routed():
    with config_context(enable_metadata_routing=True):
        weight = np.arange(150.0)
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            KModes(3, random_state=0).set_fit_request(sample_weight=True),
        ).fit(X, sample_weight=weight)
    direct = KModes(3, random_state=0).fit(StandardScaler().fit_transform(X), sample_weight=weight)
    np.testing.assert_array_equal(model[-1].cluster_centers_, direct.cluster_centers_)


class Recorder:
    """A callback that writes down the tasks it is told of."""

    def __init__(self, stop_after=None, watched="bandwidth"):
        self.begun, self.ended, self.fitted = [], [], []
        self.stop_after, self.watched = stop_after, watched

    def setup(self, estimator, context):
        self.begun.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.ended.append((context.task_name, context.task_id))
        if context.task_name == self.watched:
            self.fitted.append(fitted_estimator)
        return self.ended[-1] == self.stop_after

    def teardown(self, estimator, context):
        self.ended.append("teardown")


@needs_callbacks
def test_callbacks_see_restarts_and_bandwidths_as_tasks():
    recorder = Recorder()
    model = KModes(3, bandwidth=0.5, n_init=2, n_bandwidths=3, random_state=0)
    model.set_callbacks(recorder).fit(X)
    assert recorder.begun == [
        "setup",
        ("fit", 0, 2),
        ("k-means", 0, 2),
        ("restart", 0, 0),
        ("restart", 1, 0),
        ("path", 1, 3),
        ("bandwidth", 0, 0),
        ("bandwidth", 1, 0),
        ("bandwidth", 2, 0),
    ]
    assert recorder.ended[-2:] == [("fit", 0), "teardown"]
    assert len(recorder.ended) == len(recorder.begun)
    np.testing.assert_array_equal(recorder.fitted[-1].predict(X), model.labels_)
    assert [one.bandwidth_ for one in recorder.fitted] == model.path_.bandwidths[1:].tolist()


@needs_callbacks
def test_a_callback_can_stop_the_path():
    stopper = Recorder(stop_after=("bandwidth", 1))
    model = KModes(3, bandwidth=0.5, n_init=2, n_bandwidths=5, random_state=0, path_iter=1)
    model.set_callbacks(stopper).fit(X)  # with no warning of convergence
    assert len(model.path_) == 3
    assert model.bandwidth_ == model.path_.bandwidths[2]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@needs_callbacks
def test_callbacks_see_the_levels_of_the_modes_as_tasks():
    recorder = Recorder(watched="level")
    model = KModes(3, random_state=0).set_callbacks(recorder).fit(X)
    n_bandwidths, n_levels = np.bincount(model.path_.stage)[1:]
    assert recorder.begun[:3] == ["setup", ("fit", 0, 3), ("k-means", 0, 1)]
    assert ("path", 1, n_bandwidths) in recorder.begun
    assert recorder.begun[-n_levels - 1 :] == [
        ("modes", 2, n_levels),
        *(("level", number, 0) for number in range(n_levels)),
    ]
    for fitted, point in zip(recorder.fitted, model.path_[-n_levels:], strict=True):
        np.testing.assert_array_equal(fitted.modes_, point.centers)
        np.testing.assert_array_equal(fitted.predict(X), model.labels_)


@needs_callbacks
def test_a_callback_can_stop_the_levels_of_the_modes():
    stopper = Recorder(stop_after=("level", 4))
    model = KModes(3, random_state=0).set_callbacks(stopper).fit(X)
    whole = KModes(3, random_state=0).fit(X)
    assert np.count_nonzero(model.path_.stage == 2) == 5
    np.testing.assert_array_equal(model.modes_, whole.path_[len(model.path_) - 1].centers)
    np.testing.assert_array_equal(model.labels_, whole.labels_)


@needs_callbacks
def test_progress_bar(monkeypatch):
    from sklearn.callback import ProgressBar

    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    monkeypatch.setattr("rich.progress.get_console", lambda: console)
    KModes(3, n_init=2, n_bandwidths=4, random_state=0).set_callbacks(ProgressBar()).fit(X)
    shown = screen.getvalue()
    for task in ("KModes - fit", "k-means", "path", "modes"):
        assert task in shown
    assert "100%" in shown


@needs_callbacks
def test_scoring_monitor_sees_the_objective_at_every_bandwidth():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring={"objective": lambda model, X, y: model.score(X)})
    model = KModes(3, bandwidth=0.5, n_init=2, n_bandwidths=3, random_state=0)
    model.set_callbacks(monitor)
    model.fit(X, load_iris().target)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "bandwidth"]
    assert [row["objective"] for row in rows] == model.path_.objectives[1:].tolist()


def test_verbose_prints_one_line_a_bandwidth(capsys):
    KModes(3, bandwidth=0.5, n_bandwidths=4, verbose=1, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("[KModes] bandwidth inf")
    assert all("objective" in line and "sizes" in line for line in lines)

"""Laplacian K-modes with the default parameters: linkage, "bound", modes with own bandwidths."""

import os
from pathlib import Path

import numpy as np
import pytest
from callbacks import Callback, needs_callbacks
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import (
    load_digits,
    load_iris,
    make_blobs,
    make_circles,
    make_moons,
    make_swiss_roll,
)
from sklearn.metrics import adjusted_rand_score

from modeclust import LaplacianKModes, cluster_modes, estimate_bandwidth, load
from modeclust.exceptions import EmptySupportWarning

IRIS = load_iris().data
CIRCLES, CIRCLE = make_circles(600, noise=0.05, factor=0.5, random_state=0)
BLOBS, BLOB = make_blobs(300, 5, centers=4, random_state=0)
SOLVERS = ("bound", "gradient")


def spirals(n_rows=600):
    rng = np.random.default_rng(0)
    angle = np.sqrt(rng.uniform(0.1, 1, n_rows)) * 3 * np.pi
    arm = np.arange(n_rows) % 2
    sign = 1 - 2 * arm
    X = np.c_[sign * angle * np.cos(angle), sign * angle * np.sin(angle)]
    return X + rng.normal(0, 0.2, X.shape), arm


@pytest.mark.parametrize(
    ("X", "y"),
    [
        make_circles(600, noise=0.05, factor=0.5, random_state=0),
        make_moons(600, noise=0.08, random_state=0),
        spirals(),
        make_blobs(600, 2, centers=5, cluster_std=0.6, random_state=3),
    ],
    ids=["circles", "moons", "spirals", "blobs"],
)
def test_clusters_of_any_shape(X, y):
    model = LaplacianKModes(len(set(y.tolist()))).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1


def test_sheets_in_space():
    X, _ = make_swiss_roll(800, noise=0.1, random_state=0)
    X = np.r_[X, X + [0, 60, 0]]
    assert adjusted_rand_score(np.arange(1600) // 800, LaplacianKModes(2).fit_predict(X)) == 1


def test_digits():
    X, y = load_digits(return_X_y=True)
    model = LaplacianKModes(10).fit(X)
    assert adjusted_rand_score(y, model.labels_) >= 0.8
    nearest = np.argsort(cdist(model.modes_, X), axis=1)[:, :20]
    purity = [np.bincount(y[rows]).max() / 20 for rows in nearest]
    assert np.mean(purity) >= 0.95


def battery():
    folder = Path(os.environ.get("MODECLUST_DATA", "missing")) / "battery"
    return sorted(folder.glob("*.npz"))


@pytest.mark.skipif(not battery(), reason="left out: needs the battery in MODECLUST_DATA")
def test_the_public_battery():
    scores = []
    for file in battery():
        data = np.load(file)
        X = data["X"][:, np.ptp(data["X"], axis=0) > 0].astype(float)
        best = -1.0
        for labels in data["labels"]:
            n_clusters, known = int(labels.max()), labels > 0
            model = LaplacianKModes(n_clusters).fit(X)  # a warning is an error
            assert model.counts_.min() > 0
            best = max(best, adjusted_rand_score(labels[known], model.labels_[known]))
        scores.append(best)
    assert np.mean(scores) >= 0.94


COIL = Path(os.environ.get("MODECLUST_DATA", "missing")) / "coil20.npz"


@pytest.mark.skipif(not COIL.exists(), reason="left out: needs coil20.npz in MODECLUST_DATA")
def test_small_clusters():
    """Ten views of each of 20 objects: random ones, and consecutive ones; the mean of both."""
    data = np.load(COIL)
    views = [np.flatnonzero(data["y"] == label) for label in np.unique(data["y"])]
    peers = (KMeans(20, n_init=10, random_state=0), AgglomerativeClustering(20))
    scores = []
    for draw in range(3):
        rng = np.random.RandomState(50 + draw)
        at_random = [rng.choice(own, 10, replace=False) for own in views]
        in_turn = [np.take(own, rng.randint(72) + np.arange(10), mode="wrap") for own in views]
        for rows in (np.concatenate(at_random), np.concatenate(in_turn)):
            X, y = data["X"][rows].astype(float), data["y"][rows]
            models = (LaplacianKModes(20), *peers)
            scores.append([adjusted_rand_score(y, model.fit_predict(X)) for model in models])
    ours, kmeans, ward = np.mean(scores, axis=0)
    assert ours > max(kmeans, ward)


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_are_of_two_stages(solver):
    model = LaplacianKModes(4, solver=solver).fit(BLOBS)
    path = model.path_
    assert path.stage.tolist() == [0] + [1] * 8 + [2] * 8
    np.testing.assert_array_equal(path.centers[8], model.cluster_centers_)
    np.testing.assert_array_equal(path.centers[-1], model.modes_)
    np.testing.assert_array_equal(path.cluster_bandwidths[-1], model.mode_bandwidths_)
    np.testing.assert_array_equal(path.rows_averaged[-1], model.rows_averaged_)
    np.testing.assert_array_equal(path.labels[8], model.labels_)
    np.testing.assert_array_equal(path.labels[-1], model.labels_)
    assert model.bandwidth_ == path.bandwidths[8]
    means = np.array([BLOBS[path.labels[0] == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(path.centers[0], means)
    own = np.linalg.norm(BLOBS - means[path.labels[0]], axis=1)
    wanted = (
        np.sort(own)[149]
        if solver == "bound"
        else 1.5 * estimate_bandwidth(BLOBS, statistic="median")
    )
    assert model.bandwidth_ == pytest.approx(wanted)
    np.testing.assert_array_equal(model.labels_, model.assignments_.argmax(axis=1))
    away = cdist(model.modes_, BLOBS)
    away[model.labels_ != np.arange(4)[:, None]] = np.inf
    np.testing.assert_array_equal(model.exemplar_indices_, away.argmin(axis=1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_modes_are_those_of_cluster_modes(solver):
    model = LaplacianKModes(2, solver=solver).fit(CIRCLES)
    given = cluster_modes(CIRCLES, model.labels_)
    np.testing.assert_array_equal(model.modes_, given.modes)
    np.testing.assert_array_equal(model.mode_bandwidths_, given.bandwidths)
    np.testing.assert_array_equal(model.rows_averaged_, given.rows_averaged)
    # They lie on the rings, not in their empty middle.
    radius = np.linalg.norm(model.modes_, axis=1)
    ring = np.array([np.linalg.norm(CIRCLES[model.labels_ == k], axis=1).mean() for k in (0, 1)])
    np.testing.assert_allclose(radius, ring, atol=0.1)


def test_rows_per_mode():
    model = LaplacianKModes(4, rows_per_mode=30).fit(BLOBS)
    np.testing.assert_allclose(model.rows_averaged_, 30, rtol=0.2)


@pytest.mark.parametrize("bandwidth", [2.0, "knn"])
def test_a_bandwidth_gives_one_stage(bandwidth):
    model = LaplacianKModes(4, bandwidth=bandwidth, n_bandwidths=3).fit(BLOBS)
    assert model.path_.stage.tolist() == [0, 1, 1, 1]
    np.testing.assert_array_equal(model.modes_, model.cluster_centers_)
    np.testing.assert_array_equal(model.mode_bandwidths_, model.bandwidth_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_order_of_rows_does_not_matter(solver, form):
    """Not even if clusters have the same size, as the two circles have."""
    X, order = form(CIRCLES), np.random.default_rng(0).permutation(600)
    labels = LaplacianKModes(2, solver=solver).fit_predict(X)
    permuted = LaplacianKModes(2, solver=solver).fit_predict(X[order])
    np.testing.assert_array_equal(permuted, labels[order])
    assert np.bincount(labels).tolist() == [300, 300]


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_and_sparse_rows_are_in_the_same_clusters(solver):
    X = np.round(BLOBS, 2)
    X[np.abs(X) < 1] = 0
    labels = LaplacianKModes(4, solver=solver).fit_predict(X)
    for other in (X.astype(np.float32), sparse.csr_array(X)):
        model = LaplacianKModes(4, solver=solver).fit(other)
        np.testing.assert_array_equal(model.labels_, labels)
        assert model.modes_.dtype == other.dtype


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_number_of_threads_gives_the_same_bits(solver):
    X, _ = make_blobs(5000, 6, centers=5, random_state=0)
    fits = [LaplacianKModes(5, solver=solver, n_jobs=n).fit(X) for n in (1, 2, 3)]
    assert len({model.assignments_.tobytes() + model.modes_.tobytes() for model in fits}) == 1
    assert len({model.predict_proba(X[::9]).tobytes() for model in fits}) == 1


class TestNewRows:
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_rows_of_the_fit_keep_their_labels(self, solver):
        for X, n_clusters in ((CIRCLES, 2), (IRIS, 3), (BLOBS, 4)):
            model = LaplacianKModes(n_clusters, solver=solver).fit(X)
            found = model.predict_proba(X)
            np.testing.assert_allclose(found.sum(axis=1), 1)
            assert np.mean(model.predict(X) == model.labels_) > 0.98
            assert np.abs(found - model.assignments_).mean() < 0.03

    def test_new_rows_on_rings(self):
        model = LaplacianKModes(2).fit(CIRCLES)
        X, y = make_circles(200, noise=0.05, factor=0.5, random_state=1)
        assert adjusted_rand_score(y, model.predict(X)) == 1

    def test_the_bound_by_its_formula(self):
        model = LaplacianKModes(3).fit(IRIS)
        new = IRIS[::10] + 0.11
        away = cdist(IRIS, IRIS)
        np.fill_diagonal(away, np.inf)
        k = 10
        c = np.sort(away, axis=1)[:, k // 2 - 1]
        c = np.maximum(c, c[c > 0].min())
        degrees = model._neighborhood.degrees  # of the graph before it was normalised
        distances = cdist(new, IRIS)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
        d = np.take_along_axis(distances, nearest, axis=1)
        own = np.maximum(d[:, k // 2 - 1], c.min())
        q = (d**2 + own[:, None] * c[nearest]) / (2 * c.mean() ** 2)
        w = 1 / q / np.sqrt(degrees[nearest])
        w /= w.sum(axis=1, keepdims=True)
        mean = np.einsum("nm,nmk->nk", w, model.assignments_[nearest])
        g = np.exp(-cdist(new, model.cluster_centers_, "sqeuclidean") / (2 * model.bandwidth_**2))
        scores = g + 50 * mean  # smoothing times the mean degree is 50
        wanted = np.exp(scores - scores.max(axis=1, keepdims=True))
        wanted /= wanted.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(new), wanted, atol=1e-8)

    @pytest.mark.parametrize("away", [1e3, 1e10, 1e150])
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_far_rows_are_with_the_rows_on_their_side(self, solver, away):
        X = np.r_[BLOBS[:40], BLOBS[:40] + 300.0]
        model = LaplacianKModes(2, solver=solver).fit(X)
        low, high = model.labels_[[0, -1]]
        assert low != high
        far = np.array([[-away] * 5, [300 + away] * 5])
        assert np.all(np.isfinite(model.predict_proba(far)))
        if away < 1e150:
            assert model.predict(far).tolist() == [low, high]


class TestWeights:
    def test_rows_of_weight_0_are_no_clusters(self):
        X = np.r_[BLOBS, BLOBS[:50] + 100]
        weight = np.r_[np.ones(300), np.zeros(50)]
        model = LaplacianKModes(4).fit(X, sample_weight=weight)
        alone = LaplacianKModes(4).fit(BLOBS)
        assert adjusted_rand_score(alone.labels_, model.labels_[:300]) > 0.95
        assert np.all(model.exemplar_indices_ < 300)
        assert model.modes_.max() < 50

    def test_fewer_rows_with_weight_than_clusters(self):
        weight = np.r_[1.0, 1.0, np.zeros(298)]
        with pytest.warns(UserWarning, match="2 distinct rows with a positive weight"):
            model = LaplacianKModes(3).fit(BLOBS, sample_weight=weight)
        assert np.all(np.isfinite(model.modes_))


@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_few_rows(n_clusters):
    X = np.arange(10.0).reshape(5, 2) ** 2
    model = LaplacianKModes(n_clusters).fit(X)
    assert np.bincount(model.labels_, minlength=n_clusters).min() > 0


def test_equal_rows():
    with pytest.warns(UserWarning, match="1 distinct rows"):
        model = LaplacianKModes(2).fit(np.ones((20, 3)))
    np.testing.assert_array_equal(model.modes_, 1)


@pytest.mark.parametrize("init", ["k-means++", "random", IRIS[[0, 60, 120]]])
@pytest.mark.parametrize("solver", SOLVERS)
def test_other_starts(init, solver):
    model = LaplacianKModes(3, init=init, solver=solver, random_state=0).fit(IRIS)
    assert adjusted_rand_score(load_iris().target, model.labels_) > 0.55
    assert model.path_.stage.tolist() == [0] + [1] * 8 + [2] * 8


@pytest.mark.parametrize("affinity", ["heat", "binary"])
def test_linkage_over_other_graphs(affinity):
    model = LaplacianKModes(2, affinity=affinity).fit(CIRCLES)
    assert adjusted_rand_score(CIRCLE, model.labels_) == 1


def test_linkage_over_a_given_graph_that_is_not_connected():
    W = np.zeros((300, 300))
    for part in (slice(0, 100), slice(100, 200), slice(200, 300)):
        W[part, part] = 1
    model = LaplacianKModes(2, affinity=W).fit(np.arange(300.0)[:, None])
    assert sorted(np.bincount(model.labels_)) == [100, 200]
    assert len(set(model.labels_[:100])) == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_saved_model_predicts_the_same(tmp_path, solver):
    model = LaplacianKModes(2, solver=solver).fit(CIRCLES)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.path_.start, loaded.path_[3:].start) == ("linkage", "linkage")
    np.testing.assert_array_equal(loaded.modes_, model.modes_)
    np.testing.assert_array_equal(loaded.rows_averaged_, model.rows_averaged_)
    new = CIRCLES[:50] + 0.01
    assert loaded.predict_proba(new).tobytes() == model.predict_proba(new).tobytes()


class Recorder(Callback):
    """A callback that collects the names of the steps, with a prediction at each."""

    def __init__(self):
        self.steps = []

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.task_name in ("start", "bandwidth", "level"):
            self.steps.append((context.parent.task_name, context.task_name))
            assert fitted_estimator.predict(BLOBS).shape == (300,)
            assert fitted_estimator.modes_.shape == (4, 5)


@needs_callbacks
def test_callbacks_see_every_step():
    recorder = Recorder()
    LaplacianKModes(4).set_callbacks(recorder).fit(BLOBS)
    expected = [("linkage", "start")] + [("path", "bandwidth")] * 8 + [("modes", "level")] * 8
    assert recorder.steps == expected


@pytest.mark.parametrize("bandwidth", [0.05, 0.1, "knn", "auto"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_clusters_of_linkage_survive_the_path(solver, bandwidth):
    model = LaplacianKModes(2, solver=solver, bandwidth=bandwidth).fit(CIRCLES)
    assert adjusted_rand_score(CIRCLE, model.labels_) == 1
    labels = model.path_.labels[model.path_.stage < 2]
    assert np.all(labels == model.labels_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_kernel_that_reaches_no_row_leaves_the_clusters_of_linkage(solver):
    model = LaplacianKModes(2, solver=solver, kernel="biweight", bandwidth=1e-3)
    with pytest.warns(EmptySupportWarning, match="Use a larger bandwidth"):
        model.fit(CIRCLES)
    assert adjusted_rand_score(CIRCLE, model.labels_) == 1

"""Laplacian K-modes: the estimator."""

import warnings

import numpy as np
import pytest
from callbacks import Callback, needs_callbacks
from reference import PROFILES, project
from same import assert_same
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes, LaplacianKModes
from modeclust.exceptions import ApproximateNeighborsWarning
from modeclust.kernels import KERNELS
from modeclust.solvers.neighbors import approximate_rows, distances_to_neighbors, nearest_other_rows

IRIS = load_iris().data
MOONS, MOON = make_moons(300, noise=0.05, random_state=0)
BLOBS, BLOB = make_blobs(200, 3, centers=4, random_state=0)
SOLVERS = ("gradient", "bound")
# The problem of the paper, from K-means to one bandwidth. The defaults are tested in
# test_laplacian_defaults.py.
PAPER = {
    "affinity": "heat",
    "bandwidth": "knn",
    "init": "k-means++",
    "n_init": 10,
    "n_neighbors": 5,
    "random_state": 0,
    "solver": "gradient",
}


def paper(n_clusters, **parameters):
    return LaplacianKModes(n_clusters, **{**PAPER, **parameters})


def blobs(**parameters):
    return paper(4, **parameters).fit(BLOBS)


def value_maximised(model, X, weight=1.0):
    """Return the objective of a fitted model by its formula."""
    Z, W = model.assignments_, model.affinity_.toarray()
    t = cdist(X, model.cluster_centers_, "sqeuclidean") / model.bandwidth_**2
    pull = np.sum(np.asarray(weight).reshape(-1, 1) * Z * PROFILES[model.kernel](t))
    if model.solver == "gradient":
        laplacian = np.diag(W.sum(axis=1)) - W
        return pull - model.smoothing_ * np.trace(Z.T @ laplacian @ Z)
    return pull + model.smoothing_ / 2 * np.sum(W * (Z @ Z.T)) - np.sum(Z * np.log(Z))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["spirals5", "moons_lap", "usps_lap"])
def test_the_authors_results(authors_result, name):
    data = authors_result(name)
    parts = (data["affinity_data"], data["affinity_indices"], data["affinity_indptr"])
    first, last = data["bandwidths"][[0, -1]]
    model = paper(
        len(data["init_centers"]),
        smoothing=float(data["smoothing"]),
        affinity=sparse.csr_array(parts),
        init=data["init_centers"],
        bandwidth=last,
        start_bandwidth=first,
        n_bandwidths=len(data["bandwidths"]),
    ).fit(data["X"])
    np.testing.assert_allclose(model.path_.bandwidths[1:], data["bandwidths"])
    assert model.objective_ >= (1 - 1e-4) * data["objectives"][-1]
    same = np.mean(model.labels_ == data["assignments"].argmax(axis=1))
    assert same >= (1 if name == "spirals5" else 0.99)
    if name == "spirals5":
        assert adjusted_rand_score(data["y"], model.labels_) == 1
    assert np.abs(model.cluster_centers_ - data["centers"][-1]).max() <= 1e-2 * last


def test_moons_are_separated_and_their_modes_are_on_them():
    model = paper(2, bandwidth=0.1, random_state=0).fit(MOONS)
    assert adjusted_rand_score(MOON, model.labels_) == 1
    assert adjusted_rand_score(MOON, KModes(2, bandwidth=0.1).fit(MOONS).labels_) < 1
    away = cdist(model.cluster_centers_, MOONS)
    assert away.min(axis=1).max() < 0.1
    assert len(set(MOON[away.argmin(axis=1)])) == 2


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_without_smoothing_it_is_kmodes(container, dtype, offset):
    X = container((IRIS + offset).astype(dtype))
    weight = np.arange(150) % 4
    shared = {"n_clusters": 3, "bandwidth": "knn", "n_bandwidths": 5, "n_init": 10}
    shared["random_state"] = 0
    soft = paper(smoothing=0, **shared).fit(X, sample_weight=weight)
    hard = KModes(**shared).fit(X, sample_weight=weight)
    for name in ("labels_", "cluster_centers_", "counts_", "exemplar_indices_"):
        assert getattr(soft, name).tobytes() == getattr(hard, name).tobytes(), name
    assert soft.objective_ == pytest.approx(hard.objective_ * weight.sum())
    np.testing.assert_array_equal(soft.path_.objectives, hard.path_.objectives)
    np.testing.assert_array_equal(soft.assignments_, np.eye(3)[hard.labels_])
    np.testing.assert_array_equal(soft.predict(X), hard.predict(X))
    np.testing.assert_array_equal(soft.predict_proba(X), soft.assignments_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_by_its_formula(solver, kernel, weighted):
    weight = np.linspace(0.5, 2, 200) if weighted else np.ones(200)
    model = paper(4, bandwidth=2.0, kernel=kernel, solver=solver, smoothing=1.5, random_state=0)
    model.fit(BLOBS, sample_weight=weight)
    assert model.objective_ == pytest.approx(value_maximised(model, BLOBS, weight))
    assert model.path_.objectives[-1] == pytest.approx(model.objective_ / weight.sum())


@pytest.mark.parametrize("n_neighbors", [1, 2])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_holds_for_graphs_whose_rows_could_change_places(seed, n_neighbors):
    X, _ = make_blobs(60, 2, centers=3, random_state=seed)
    model = paper(3, n_neighbors=n_neighbors, affinity="binary", solver="bound", random_state=0)
    history = model.fit(X).objective_history_
    assert np.all(np.diff(history) >= -1e-12 * np.abs(history[:-1]))
    assert model.objective_ == pytest.approx(value_maximised(model, X))


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 1000])
def test_memberships_of_neighbours_do_not_alternate(most, monkeypatch):
    monkeypatch.setattr("modeclust.solvers.laplacian.MAX_SMOOTHINGS", most)
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    W = np.kron([[0, 1], [1, 0]], np.eye(2))  # joins 0 and 2, 1 and 3
    model = paper(2, affinity=W, smoothing=10.0, solver="bound", bandwidth=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    assert model.objective_ == pytest.approx(value_maximised(model, X))
    assert np.all(np.diff(model.objective_history_) >= 0)
    if most < 1000:
        return
    assert model.objective_ > 19
    assert np.abs(model.assignments_[:2] - model.assignments_[2:]).max() < 0.01


@pytest.mark.parametrize("smoothing", [1e-8, 1e8])
def test_the_objective_keeps_its_digits_however_much_is_smoothed(smoothing):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = blobs(smoothing=smoothing, bandwidth=2.0)
    W = model.affinity_.tocoo()
    Z = model.assignments_
    rough = np.sum(W.data[:, None] * (Z[W.row] - Z[W.col]) ** 2) / 2
    pull = np.sum(Z * np.exp(-cdist(BLOBS, model.cluster_centers_, "sqeuclidean") / 8))
    assert model.objective_ == pytest.approx(pull - smoothing * rough, rel=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.01, "auto", 3.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_fitted_attributes_agree(solver, smoothing):
    model = blobs(solver=solver, smoothing=smoothing)
    Z = model.assignments_
    assert Z.shape == (200, 4)
    assert np.all(Z >= 0)
    np.testing.assert_allclose(Z.sum(axis=1), 1)
    np.testing.assert_array_equal(model.labels_, Z.argmax(axis=1))
    assert model.labels_.dtype == np.int32
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_, minlength=4))
    assert np.all(np.diff(model.objective_history_) >= -1e-12 * abs(model.objective_))
    assert model.objective_history_[-1] == model.objective_
    assert model.path_.bandwidths[0] == np.inf
    assert len(model.path_) == 11
    np.testing.assert_array_equal(model.path_.labels[-1], model.labels_)
    np.testing.assert_array_equal(model.path_.centers[-1], model.cluster_centers_)
    assert model.n_iter_ == model.path_.n_iter.sum()
    assert model.smoothing_ == smoothing or smoothing == "auto"
    away = cdist(model.cluster_centers_, BLOBS)
    away[model.labels_ != np.arange(4)[:, None]] = np.inf
    np.testing.assert_array_equal(model.exemplar_indices_, away.argmin(axis=1))
    own = np.sum((BLOBS - model.cluster_centers_[model.labels_]) ** 2)
    assert model.inertia_ == pytest.approx(own)


def test_blobs_come_back_with_both_solvers():
    X, y = make_blobs(300, 2, centers=4, cluster_std=0.5, random_state=3)
    for solver in SOLVERS:
        model = paper(4, solver=solver, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1


def test_the_graph_joins_neighbours():
    heat = blobs(n_neighbors=3, affinity_bandwidth=0.7).affinity_.toarray()
    away = cdist(BLOBS, BLOBS)
    np.fill_diagonal(away, np.inf)
    near = np.zeros((200, 200), dtype=bool)
    near[np.repeat(np.arange(200), 3), np.argsort(away, axis=1)[:, :3].ravel()] = True
    near |= near.T
    np.testing.assert_allclose(heat, np.where(near, np.exp(-(away**2) / (2 * 0.49)), 0))
    binary = blobs(n_neighbors=3, affinity="binary").affinity_.toarray()
    np.testing.assert_array_equal(binary, near)
    local = blobs(n_neighbors=3, affinity_bandwidth="local").affinity_.toarray()
    scale = np.sort(away, axis=1)[:, 2]
    wanted = np.where(near, np.exp(-(away**2) / (2 * np.outer(scale, scale))), 0)
    np.testing.assert_allclose(local, wanted)
    target = blobs(n_neighbors=3, bandwidth=0.7).affinity_.toarray()
    np.testing.assert_array_equal(target, heat)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix, sparse.csc_array, np.array])
def test_a_given_graph_is_used(kind):
    model = blobs()
    W = model.affinity_.toarray()
    given = W + np.diag(np.arange(200.0))  # the diagonal does not matter
    same = blobs(affinity=kind(given))
    assert same.assignments_.tobytes() == model.assignments_.tobytes()
    assert sparse.isspmatrix(same.affinity_) is False
    np.testing.assert_array_equal(same.affinity_.toarray(), W)
    np.testing.assert_array_equal(same.predict_proba(BLOBS), model.predict_proba(BLOBS))


def test_a_graph_that_is_symmetric_to_rounding_is_made_so():
    W = blobs().affinity_.toarray()
    W[0] *= 1 + 1e-14
    assert abs(W - W.T).max() > 0
    used = blobs(affinity=W).affinity_
    assert abs(used - used.T).max() == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_number_of_threads_gives_the_same_bits(solver):
    X, _ = make_blobs(6000, 4, centers=5, random_state=0)
    found = [
        paper(
            5, solver=solver, n_init=2, n_bandwidths=3, max_iter=10, random_state=0, n_jobs=n_jobs
        )
        for n_jobs in (1, 2, 3)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        bits = {model.fit(X).assignments_.tobytes() for model in found}
    assert len(bits) == 1
    assert found[0].objective_ == pytest.approx(value_maximised(found[0], X))
    assert len({model.predict_proba(X[::7]).tobytes() for model in found}) == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_dense_and_sparse_rows_give_the_same(solver):
    X = np.where(BLOBS > 1, BLOBS, 0)
    dense = paper(4, solver=solver, random_state=0).fit(X)
    rows = sparse.csr_array(X)
    csr = paper(4, solver=solver, random_state=0).fit(rows)
    np.testing.assert_allclose(csr.assignments_, dense.assignments_, atol=1e-6)
    np.testing.assert_allclose(csr.cluster_centers_, dense.cluster_centers_, atol=1e-6)
    wanted = dense.predict_proba(X)
    for model, new in [(csr, rows), (csr, X), (dense, rows)]:
        np.testing.assert_allclose(model.predict_proba(new), wanted, atol=1e-6)


def test_mapped_rows(tmp_path):
    np.save(tmp_path / "X.npy", BLOBS)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = paper(4, random_state=0).fit(mapped)
    assert model.assignments_.tobytes() == blobs().assignments_.tobytes()
    np.testing.assert_array_equal(model.predict_proba(mapped), blobs().predict_proba(BLOBS))


class TestNewPoints:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("affinity", ["heat", "binary"])
    @pytest.mark.parametrize("scale", [None, 1.0, "local"])
    def test_rows_of_the_fit_get_nearly_their_memberships_of_the_fit(self, solver, affinity, scale):
        model = paper(3, solver=solver, affinity=affinity, affinity_bandwidth=scale, random_state=0)
        model.fit(IRIS)
        found = model.predict_proba(IRIS)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert np.all(found >= 0)
        assert np.abs(found - model.assignments_).mean() < 0.01
        np.testing.assert_array_equal(model.predict(IRIS), found.argmax(axis=1))
        assert np.mean(model.predict(IRIS) == model.labels_) > 0.98

    @pytest.mark.parametrize("kernel", KERNELS)
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_by_the_formula(self, solver, kernel):
        model = blobs(
            solver=solver, kernel=kernel, bandwidth=3.0, affinity_bandwidth=2.0, smoothing=0.7
        )
        new = BLOBS[:40] + 0.3
        away = cdist(new, BLOBS)
        near = np.argsort(away, axis=1)[:, :5]
        w = np.exp(-(np.take_along_axis(away, near, axis=1) ** 2) / (2 * 2.0**2))
        mean = np.einsum("nm,nmk->nk", w, model.assignments_[near])
        g = PROFILES[kernel](cdist(new, model.cluster_centers_, "sqeuclidean") / 9)
        if solver == "bound":
            wanted = softmax(g + 0.7 * mean, axis=1)
        else:
            target = (mean + g / (2 * 0.7)) / w.sum(axis=1, keepdims=True)
            wanted = project(target)
        np.testing.assert_allclose(model.predict_proba(new), wanted, atol=1e-10)

    @pytest.mark.parametrize("away", [1e2, 1e10, 1e150, 1e300])
    @pytest.mark.parametrize("kernel", KERNELS)
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_far_points_get_the_mode_on_their_side(self, solver, kernel, away):
        X = np.r_[BLOBS[:20], BLOBS[:20] + 200.0]
        model = paper(2, solver=solver, kernel=kernel, random_state=0).fit(X)
        low, high = model.labels_[[0, -1]]
        assert low != high
        far = np.array([[-away] * 3, [200 + away] * 3])
        found = model.predict_proba(far)
        assert np.all(np.isfinite(found))
        np.testing.assert_allclose(found.sum(axis=1), 1)
        if away < 1e150:  # where squares are numbers
            assert model.predict(far).tolist() == [low, high]

    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_local_scales_at_all_distances(self, solver, dtype, container):
        X = np.repeat(np.random.default_rng(0).uniform(1, 2, (6, 3)), 6, axis=0).astype(dtype)
        model = paper(2, affinity_bandwidth="local", solver=solver, random_state=0)
        model.fit(container(X))
        for place in (1.5, 1e10, 1e30, 1e154 if dtype == np.float64 else 1e37):
            found = model.predict_proba(container(np.full((1, 3), place, dtype)))
            np.testing.assert_allclose(found.sum(axis=1), 1)

    def test_little_smoothing_gives_whole_assignments(self):
        model = paper(3, smoothing=1e-8, affinity_bandwidth=0.05, random_state=0)
        found = model.fit(IRIS).predict_proba(IRIS + 0.3)
        np.testing.assert_array_equal(found, np.eye(3)[found.argmax(axis=1)])

    def test_one_at_a_time_gives_the_same(self):
        model = blobs()
        rows = [model.predict_proba(row[None])[0] for row in BLOBS[:5]]
        np.testing.assert_allclose(rows, model.predict_proba(BLOBS)[:5], atol=1e-12)


class TestGraphsOfAllKinds:
    def test_components_of_the_graph_are_smoothed_separately(self):
        X = np.r_[BLOBS, BLOBS + 1e3]
        model = paper(2, bandwidth=2.0, random_state=0).fit(X)
        assert len(set(model.labels_[:200])) == len(set(model.labels_[200:])) == 1
        assert sparse.csgraph.connected_components(model.affinity_)[0] > 1

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("far", [3.0, 1e5])
    def test_a_row_without_neighbours_is_with_the_nearest_mode(self, solver, far):
        X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0], [9.1], [9.2], [9.3], [9.3 + far]])
        W = np.zeros((9, 9))
        W[:4, :4] = W[4:8, 4:8] = 1
        model = paper(
            2, solver=solver, affinity=W, bandwidth=1.0, init=[[0.2], [9.1]], smoothing=1.0
        )
        model.fit(X, sample_weight=[1] * 8 + [0])
        assert model.labels_[8] == model.labels_[7] != model.labels_[0]
        if solver == "gradient":
            assert model.assignments_[8].max() == 1

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_a_graph_without_edges(self, solver):
        model = paper(3, affinity=sparse.csr_array((150, 150)), solver=solver, random_state=0)
        model.fit(IRIS)
        nearest = cdist(IRIS, model.cluster_centers_).argmin(axis=1)
        np.testing.assert_array_equal(model.labels_, nearest)
        assert model.smoothing_ == 1.0

    @pytest.mark.parametrize("n_features", [1, 30])
    def test_equal_rows_have_the_affinity_1(self, n_features):
        X = np.repeat(np.random.default_rng(0).uniform(1, 2, (10, n_features)), 8, axis=0)
        model = paper(2, affinity_bandwidth="local", random_state=0).fit(X)
        assert np.all(model.affinity_.data == 1)
        assert np.all(np.isfinite(model.predict_proba(X[:3] + 1)))

    def test_automatic_smoothing_assumes_that_some_edges_are_cut(self):
        X = np.r_[BLOBS, BLOBS + 1e3]
        model = paper(2, bandwidth=2.0, random_state=0).fit(X)
        cut = model.affinity_[model.path_.labels[0] == 0][:, model.path_.labels[0] == 1].sum()
        assert cut == 0
        assert model.smoothing_ == pytest.approx(0.15 * 400 / (0.01 * model.affinity_.sum()))

    def test_few_rows_without_smoothing_need_no_neighbours(self):
        X = BLOBS[:4]
        model = paper(2, smoothing=0, random_state=0).fit(X)
        hard = KModes(2, bandwidth="knn", n_bandwidths=10, n_init=10, random_state=0).fit(X)
        np.testing.assert_array_equal(model.cluster_centers_, hard.cluster_centers_)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_no_cluster_vanishes(self, solver):
        X = np.random.default_rng(0).normal(size=(100, 2))
        W = np.ones((100, 100))
        model = paper(5, affinity=W, smoothing=10.0, solver=solver, random_state=0)
        model.fit(X)
        assert model.counts_.min() > 0
        np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_, minlength=5))
        history = model.objective_history_
        assert np.all(np.diff(history) >= -1e-12 * np.abs(history[:-1]))
        assert model.objective_ == pytest.approx(value_maximised(model, X))


class TestScales:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("factor", [2.0**-400, 2.0**400])
    def test_the_result_does_not_depend_on_the_units(self, solver, factor):
        model, scaled = (
            paper(3, solver=solver, random_state=0).fit(X) for X in (IRIS, IRIS * factor)
        )
        np.testing.assert_array_equal(scaled.labels_, model.labels_)
        np.testing.assert_allclose(scaled.cluster_centers_ / factor, model.cluster_centers_)
        np.testing.assert_allclose(
            scaled.predict_proba(IRIS[:9] * factor), model.predict_proba(IRIS[:9]), atol=1e-8
        )

    def test_an_offset_does_not_matter(self):
        model, moved = (paper(4, random_state=0).fit(X) for X in (BLOBS, BLOBS + 1e8))
        np.testing.assert_array_equal(moved.labels_, model.labels_)
        np.testing.assert_allclose(moved.assignments_, model.assignments_, atol=1e-4)

    def test_rows_of_weight_0_follow_the_others(self):
        weight = np.r_[np.ones(180), np.zeros(20)]
        outlier = np.r_[BLOBS[:180], BLOBS[:20] + 50]
        model = paper(4, bandwidth=2.0, random_state=0).fit(outlier, sample_weight=weight)
        assert model.cluster_centers_.max() < 30
        assert np.all(model.exemplar_indices_ < 180)


@pytest.mark.parametrize("solver", SOLVERS)
def test_automatic_smoothing(solver):
    model = blobs(solver=solver, bandwidth=1.0)
    if solver == "gradient":
        Z = np.eye(4)[model.path_.labels[0]]
        W = model.affinity_.toarray()
        cut = np.trace(Z.T @ (np.diag(W.sum(axis=1)) - W) @ Z)
        assert cut > 0.01 * W.sum()
        assert model.smoothing_ == pytest.approx(0.15 * 200 / cut)
        doubled = paper(4, bandwidth=1.0, random_state=0)
        doubled.fit(BLOBS, sample_weight=np.full(200, 2.0))
        assert doubled.smoothing_ == pytest.approx(2 * model.smoothing_)
        np.testing.assert_array_equal(doubled.labels_, model.labels_)
    else:
        assert model.smoothing_ * model.affinity_.sum() / 200 == pytest.approx(50)


class TestApproximateNeighbours:
    def test_they_are_nearly_the_exact_ones(self):
        X, _ = make_blobs(1000, 20, centers=5, random_state=0)
        exact, about = (
            paper(5, neighbor_search=way, affinity="binary", random_state=0).fit(X)
            for way in ("exact", "approximate")
        )
        assert about.affinity_.multiply(exact.affinity_).sum() > 0.95 * exact.affinity_.sum()
        assert about.affinity_.diagonal().max() == 0
        assert adjusted_rand_score(exact.labels_, about.labels_) > 0.99

    def test_many_rows_get_them_with_a_warning(self, monkeypatch):
        monkeypatch.setattr("modeclust.solvers.neighbors.MAX_EXACT_PRODUCTS", 500**2 * 16)
        X, _ = make_blobs(501, 16, centers=3, random_state=0)
        with pytest.warns(ApproximateNeighborsWarning, match="501 rows are approximate") as caught:
            model = paper(3, random_state=0).fit(X)
        assert caught[0].filename == __file__
        said = paper(3, neighbor_search="approximate", random_state=0).fit(X)
        assert said.affinity_.data.tobytes() == model.affinity_.data.tobytes()
        paper(3, neighbor_search="exact", random_state=0).fit(X)
        paper(3, random_state=0).fit(X[:500])
        paper(3, random_state=0).fit(X[:, :15])

    @pytest.mark.parametrize("n_jobs", [-2, 2, 64])
    def test_any_number_of_threads_gives_the_same_bits(self, n_jobs):
        X, _ = make_blobs(3000, 8, centers=3, random_state=0)
        found, alone = (approximate_rows(X, 10, np.random.RandomState(0), n) for n in (n_jobs, 1))
        assert_same(found, alone)

    @pytest.mark.parametrize("offset", [0.0, 1e6])
    @pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
    def test_rows_of_any_size(self, offset, scale):
        X, _ = make_blobs(500, 3, centers=3, random_state=0)
        X = (X + offset) * scale
        _, expected = nearest_other_rows(X / scale - offset, 5)
        distances, indices = approximate_rows(X, 5, np.random.RandomState(0))
        shared = [len(np.intersect1d(*both)) for both in zip(indices, expected, strict=True)]
        assert np.mean(shared) > 4.8
        np.testing.assert_array_equal(distances, distances_to_neighbors(X, X, indices))

    def test_equal_rows(self):
        distances, indices = approximate_rows(np.ones((40, 2)), 3, np.random.RandomState(0))
        np.testing.assert_array_equal(distances, 0.0)
        assert not (indices == np.arange(40)[:, None]).any()

    def test_those_of_sparse_rows_are_exact(self):
        X = sparse.random_array((25, 30), density=0.2, format="csr", rng=0)
        exact, about = (
            paper(3, neighbor_search=way, bandwidth=1.0, random_state=0).fit(X)
            for way in ("exact", "approximate")
        )
        assert about.affinity_.data.tobytes() == exact.affinity_.data.tobytes()

    def test_without_faiss_all_are_exact(self, monkeypatch):
        monkeypatch.setattr("modeclust.solvers.neighbors.MAX_EXACT_PRODUCTS", 10)
        monkeypatch.setattr("modeclust.solvers.neighbors.find_spec", lambda name: None)
        X, _ = make_blobs(50, 16, centers=3, random_state=0)
        paper(3, random_state=0).fit(X)
        with pytest.raises(ModuleNotFoundError, match=r"modeclust\[approximate\]"):
            paper(3, neighbor_search="approximate").fit(X)


def test_an_error_leaves_the_fitted_model_as_it_was(monkeypatch):
    model = blobs()
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}

    def fail(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("modeclust.estimators.soft_problem.follow_soft_path", fail)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS[:, :3])
    before["n_features_in_"] = 3
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before if name != "n_features_in_")


def test_a_fit_that_did_not_converge_warns():
    model = paper(4, max_iter=1, smoothing=0.1, random_state=0)
    expected = "did not converge .* Raise max_iter or tol"
    with pytest.warns(ConvergenceWarning, match=expected) as caught:
        model.fit(BLOBS)
    assert caught[0].filename == __file__


def test_verbose_prints_one_line_a_bandwidth(capsys):
    blobs(verbose=1, n_bandwidths=3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("[LaplacianKModes] bandwidth") for line in lines)


class Recorder(Callback):
    """A callback that asks each state for its predictions, and stops at one."""

    def __init__(self, stop_after=None):
        self.predictions, self.stop_after = [], stop_after

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.task_name in ("restart", "bandwidth"):
            self.predictions.append(fitted_estimator.predict(BLOBS))
        return (context.task_name, context.task_id) == self.stop_after


@needs_callbacks
@pytest.mark.parametrize("smoothing", ["auto", 0.0])
def test_callbacks_get_models_that_predict(smoothing):
    recorder = Recorder()
    model = paper(4, smoothing=smoothing, n_init=2, n_bandwidths=3, random_state=0)
    model.set_callbacks(recorder).fit(BLOBS)
    assert len(recorder.predictions) == 5
    np.testing.assert_array_equal(recorder.predictions[-1], model.predict(BLOBS))


@needs_callbacks
def test_a_callback_can_stop_the_path():
    model = paper(4, n_bandwidths=5, random_state=0)
    model.set_callbacks(Recorder(stop_after=("bandwidth", 1))).fit(BLOBS)
    assert len(model.path_) == 3
    assert model.bandwidth_ == model.path_.bandwidths[2]

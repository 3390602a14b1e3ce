from itertools import pairwise

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes, estimate_bandwidth, kmodes_path
from modeclust.exceptions import EmptyClusterWarning, EmptySupportWarning, WideBandwidthWarning
from modeclust.kernels import KERNELS

IRIS = load_iris().data


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(300, 2, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    return X, y


def test_fitted_attributes_belong_together(blobs):
    X, _ = blobs
    model = KModes(3, bandwidth="knn", random_state=0).fit(X)
    assert model.bandwidth_ == estimate_bandwidth(X)
    np.testing.assert_array_equal(model.modes_, model.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, reference.assign(X, model.cluster_centers_))
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_))
    expected = reference.objective(X, model.cluster_centers_, model.bandwidth_)
    assert model.objective_ == pytest.approx(expected, rel=1e-12)
    distances = reference.squared_distances(X, model.cluster_centers_)
    assert model.inertia_ == pytest.approx(distances.min(axis=1).sum(), rel=1e-12)
    for k, row in enumerate(model.exemplar_indices_):
        own = np.where(model.labels_ == k, distances[:, k], np.inf)
        assert row == own.argmin()
    assert model.n_iter_ == model.path_.n_iter.sum()
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


def test_predict_transform_and_score_agree_with_the_fit(blobs):
    X, _ = blobs
    for rows in (X, X.astype(np.float32), sparse.csr_array(X), X + 1e8, X * 1e-150):
        model = KModes(3, random_state=0).fit(rows)
        np.testing.assert_array_equal(model.predict(rows), model.labels_)
        np.testing.assert_array_equal(model.fit_predict(rows), model.labels_)
        assert model.score(rows) == pytest.approx(model.objective_, rel=1e-14)
        np.testing.assert_array_equal(model.transform(rows), model.fit_transform(rows))
        dense = rows.toarray() if sparse.issparse(rows) else rows
        np.testing.assert_allclose(
            model.transform(rows),
            np.linalg.norm(dense[:, None] - model.cluster_centers_, axis=2),
            rtol=1e-4,
        )


def test_score_of_new_data_with_weights_and_scales(blobs, rng):
    X, _ = blobs
    model = KModes(3, bandwidth=1.5, kernel="cauchy", random_state=0).fit(X[:200])
    new, weight, scale = X[200:], rng.uniform(size=100), rng.uniform(0.5, 2, size=100)
    expected = reference.objective(new, model.cluster_centers_, 1.5, "cauchy", weight, scale)
    found = model.score(new, sample_weight=weight, sample_scale=scale)
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_path_has_kmeans_first_and_the_target_last(blobs):
    X, _ = blobs
    model = KModes(3, bandwidth=0.5, n_bandwidths=7, start_bandwidth=4.0, random_state=0).fit(X)
    np.testing.assert_allclose(
        model.path_.bandwidths, [np.inf, *np.geomspace(4.0, 0.5, 7)], rtol=1e-12
    )
    assert model.bandwidth_ == 0.5
    means = KMeans(3, n_init=10, random_state=0).fit(X)
    assert model.path_.inertias[0] == pytest.approx(means.inertia_, rel=1e-6)
    assert model.path_.objectives[0] == 1.0
    np.testing.assert_array_equal(model.path_.centers[-1], model.cluster_centers_)
    np.testing.assert_array_equal(model.path_.labels[-1], model.labels_)
    for point in list(model.path_)[1:]:
        expected = reference.objective(X, point.centers, point.bandwidth)
        assert point.objective == pytest.approx(expected, rel=1e-12)
        np.testing.assert_array_equal(point.labels, reference.assign(X, point.centers))
    assert np.all(model.path_.n_iter[1:-1] <= 10)


def test_one_bandwidth_is_the_target_alone(blobs):
    model = KModes(3, bandwidth=0.5, n_bandwidths=1, random_state=0).fit(blobs[0])
    assert model.path_.bandwidths.tolist() == [np.inf, 0.5]


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_the_best_restart_is_followed(init):
    X = load_digits().data[:500]
    few = KModes(10, bandwidth=np.inf, init=init, n_init=1, random_state=3).fit(X)
    many = KModes(10, bandwidth=np.inf, init=init, n_init=12, random_state=3).fit(X)
    assert many.inertia_ < few.inertia_
    assert many.path_.bandwidths.tolist() == [np.inf]


def test_infinite_bandwidth_is_scikit_learns_kmeans():
    X = load_digits().data
    for seed in range(3):
        start = X[np.random.default_rng(seed).choice(len(X), 10, replace=False)]
        ours = KModes(10, bandwidth=np.inf, init=start).fit(X)
        theirs = KMeans(10, init=start, n_init=1).fit(X)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
        assert ours.score(X) == 1.0


@pytest.mark.parametrize("kernel", ["gaussian", "cauchy"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_tiny_bandwidth_gives_exemplars(rng, kernel, container):
    X = rng.normal(size=(200, 3)) * 100
    model = KModes(
        5, bandwidth=1e-9 * 100, kernel=kernel, n_bandwidths=60, random_state=0, max_iter=3000
    ).fit(container(X))
    assert np.isfinite(model.path_.centers).all()
    nearest = X[model.exemplar_indices_]
    assert np.abs(model.cluster_centers_ - nearest).max() < 1e-6


def test_callable_and_array_init(blobs):
    X, _ = blobs
    calls = []

    def first_rows(X, n_clusters, random_state):
        calls.append(random_state)
        return X[:n_clusters]

    called = KModes(3, init=first_rows, n_init=4).fit(X)
    given = KModes(3, init=X[:3]).fit(X)
    assert len(calls) == 4
    np.testing.assert_array_equal(called.cluster_centers_, given.cluster_centers_)
    with pytest.raises(ValueError, match=r"init must have shape \(3, 2\)"):
        KModes(3, init=lambda X, n_clusters, random_state: X[:2]).fit(X)


def test_the_init_array_is_not_changed(blobs):
    start = blobs[0][:3].copy()
    KModes(3, init=start).fit(blobs[0])
    np.testing.assert_array_equal(start, blobs[0][:3])


def test_random_state_decides(blobs):
    X, _ = blobs
    first, again, other = (
        KModes(5, n_init=1, random_state=seed).fit(X).cluster_centers_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("rule", ["knn", "silverman", "scott", "likelihood"])
def test_bandwidth_rules(rule):
    model = KModes(3, bandwidth=rule, random_state=0).fit(IRIS)
    assert model.bandwidth_ == pytest.approx(estimate_bandwidth(IRIS, rule), rel=1e-12)


def test_adaptive_is_a_scale_from_neighbours(blobs):
    X, _ = blobs
    local = estimate_bandwidth(X, local=True)
    adaptive = KModes(3, adaptive=True, random_state=0).fit(X)
    by_hand = KModes(3, random_state=0).fit(X, sample_scale=local / local.mean())
    np.testing.assert_allclose(adaptive.cluster_centers_, by_hand.cluster_centers_, rtol=1e-10)
    plain = KModes(3, random_state=0).fit(X)
    assert not np.allclose(adaptive.cluster_centers_, plain.cluster_centers_, rtol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_scales_and_weights_reach_the_mode_step(rng, kernel):
    X = rng.normal(size=(150, 2))
    weight, scale = rng.integers(0, 3, size=150).astype(float), rng.uniform(0.5, 2, size=150)
    with pytest.warns(ConvergenceWarning):
        path = kmodes_path(
            X, 4, bandwidths=[1.5], kernel=kernel, init=X[:4], max_iter=6, tol=0,
            sample_weight=weight, sample_scale=scale,
        )  # fmt: skip
    expected = reference.kmodes(X, X[:4], 1.5, 6, kernel=kernel, weight=weight, scale=scale)
    np.testing.assert_allclose(path.centers[-1], expected, rtol=1e-9)


def test_path_without_infinity_starts_from_init_as_it_is(blobs):
    X, _ = blobs
    path = kmodes_path(X, 3, bandwidths=[2.0, 1.0], init=X[:3], path_iter=1, max_iter=500)
    np.testing.assert_allclose(path.centers[0], reference.kmodes(X, X[:3], 2.0, 1), rtol=1e-12)
    assert path.n_iter[0] == 1
    seeded = kmodes_path(X, 3, bandwidths=[2.0, 1.0], random_state=0)
    assert len(seeded) == 2


def test_path_function_and_estimator_agree(blobs):
    X, _ = blobs
    model = KModes(3, bandwidth="knn", random_state=0).fit(X)
    path = kmodes_path(X, 3, bandwidths=model.path_.bandwidths, random_state=0)
    np.testing.assert_array_equal(path.centers, model.path_.centers)


def test_labels_along_the_path_are_stored_on_demand(blobs, monkeypatch):
    X, _ = blobs
    assert KModes(3, random_state=0).fit(X).path_.labels.shape == (17, 300)
    assert KModes(3, random_state=0, store_labels=False).fit(X).path_.labels is None
    monkeypatch.setattr("modeclust.estimators.problem.MAX_LABELS", 17 * 300 - 1)
    assert KModes(3, random_state=0).fit(X).path_.labels is None
    assert KModes(3, random_state=0, store_labels=True).fit(X).path_.labels is not None


def test_no_convergence_is_a_warning_that_names_bandwidth_and_residual(blobs):
    with pytest.warns(
        ConvergenceWarning,
        match=r"0\.5 within 2 iter.* by 0\.\d+, or 0\.\d+ bandwidths; 0\.0001 are",
    ):
        KModes(3, bandwidth=0.5, max_iter=2, n_bandwidths=2, random_state=0).fit(blobs[0])


def test_modes_of_given_labels_that_do_not_converge_are_named_in_a_warning(blobs):
    with pytest.warns(
        ConvergenceWarning, match=r"bandwidth 0\.5 within 1 iter.* 0\.0001 are allowed"
    ):
        KModes(3, bandwidth=0.5, reassign=False, max_iter=1, random_state=0).fit(blobs[0])


def test_an_emptied_cluster_is_named_in_a_warning():
    # Two centers that end on one mode: the points of the second go to the first.
    X = np.array([[0.0], [0.1], [0.2], [10.0]])
    start = np.array([[0.1], [40.0]])
    with pytest.warns(EmptyClusterWarning, match=r"Clusters \[1\] lost all .* bandwidth 2"):
        path = kmodes_path(X, 2, bandwidths=[2.0, 1.0], init=start)
    assert path.counts[-1].tolist() == [4, 0]
    assert path.centers[-1, 1, 0] == 40.0


def test_a_cluster_of_rows_without_weight_is_empty():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [11.0]])
    with pytest.warns(EmptyClusterWarning, match=r"Clusters \[1\]"):
        path = kmodes_path(
            X, 2, bandwidths=[1.0], init=[[0.1], [10.5]], sample_weight=[1, 1, 1, 0, 0]
        )
    assert path.counts[-1].tolist() == [3, 2]


def test_seeds_are_drawn_among_rows_of_positive_weight(rng):
    X = rng.normal(size=(50_000, 2))
    weight = np.zeros(50_000)
    present = rng.choice(50_000, 500, replace=False)
    X[present] += (rng.normal(size=(10, 2)) * 30)[np.arange(500) % 10]
    weight[present] = 1
    options = {"bandwidth": np.inf, "n_init": 3, "random_state": 0}
    weighted = KModes(10, **options).fit(X, sample_weight=weight)
    alone = KModes(10, **options).fit(X[np.sort(present)])
    assert weighted.inertia_ == pytest.approx(alone.inertia_, rel=1e-9)


def test_a_kernel_that_reaches_no_row_is_one_warning():
    X = np.array([[0.0], [0.5], [9.0], [11.0]])
    with pytest.warns(EmptySupportWarning, match=r"bandwidth 0\.9 on.* clusters \[1\]") as caught:
        path = kmodes_path(
            X, 2, bandwidths=[3.0, 0.9, 0.5], kernel="epanechnikov", init=[[0.2], [10.0]]
        )
    assert len(caught) == 1
    assert path.centers[-1].ravel().tolist() == [0.25, 10.0]


def test_redundant_clusters_of_one_gaussian_are_seen_and_merged(rng):
    X = np.concatenate([rng.normal(size=(600, 2)), rng.normal(size=(300, 2)) + [10, 0]])
    model = KModes(4, bandwidth=0.8, random_state=0).fit(X)
    pairs = model.redundant_clusters()
    sides = model.cluster_centers_[:, 0] > 5
    assert 0 < sides.sum() < 4
    assert pairs
    assert all(sides[i] == sides[j] for i, j in pairs)
    assert all(model.redundancy_[i, j] > 0.8 for i, j in pairs)
    assert all(model.dip_significance_[i, j] < 2.5 for i, j in pairs)

    merged = model.merge_redundant(X)
    assert merged.n_clusters == 2
    assert sorted(merged.counts_) == [300, 600]
    assert merged.bandwidth_ == model.bandwidth_
    assert merged.redundant_clusters() == []
    assert merged.merge_redundant(X) is merged
    with pytest.raises(ValueError, match="fitted on, 900 rows, got 50"):
        model.merge_redundant(X[:50])
    with pytest.raises(ValueError, match="in the same order, but row 0"):
        merged.merge_redundant(X[::-1])
    np.testing.assert_array_equal(merged.predict(X), merged.labels_)
    assert model.n_clusters == 4


def test_a_cluster_between_two_does_not_merge_them():
    X, y = make_blobs([300] * 3, 2, centers=[[0, 0], [4.5, 0], [0, 40]], random_state=4)
    start = [[0, 0], [2.2, 0], [4.5, 0], [0, 40]]
    model = KModes(4, bandwidth=0.9, init=start, start_bandwidth=1.1, n_bandwidths=2).fit(X)
    one, other = model.redundant_clusters()
    first, last = set(one) ^ set(other)  # the ends of a chain
    assert model.dip_significance_[first, last] > 5
    merged = model.merge_redundant(X)
    assert merged.n_clusters == 3
    assert adjusted_rand_score(y, merged.labels_) > 0.9


def test_a_bandwidth_too_wide_to_tell_merges_nothing():
    model = KModes(5, bandwidth=50.0, random_state=0).fit(IRIS)
    assert model.dip_significance_.data.max() < 2.5
    with pytest.warns(WideBandwidthWarning, match="bandwidth 50 is too wide to tell"):
        assert model.redundant_clusters() == []
    with pytest.warns(WideBandwidthWarning):
        assert model.merge_redundant(IRIS) is model


def test_a_higher_threshold_returns_more_pairs():
    X, _ = make_blobs(600, centers=[[0, 0], [5, 0], [2, 5]], random_state=0)
    model = KModes(7, random_state=0).fit(X)
    found = [set(model.redundant_clusters(threshold)) for threshold in (0, 1, 2.5, 4)]
    assert all(few <= more for few, more in pairwise(found))
    assert found[0] < found[-1]


def test_redundancy_needs_a_density():
    model = KModes(3, bandwidth=np.inf, random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="finite bandwidth"):
        model.redundant_clusters()


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_unfitted(method):
    with pytest.raises(NotFittedError):
        getattr(KModes(), method)(IRIS)
    with pytest.raises(NotFittedError):
        KModes().redundant_clusters()


def test_one_cluster():
    model = KModes(1, random_state=0).fit(IRIS)
    assert model.counts_.tolist() == [150]
    assert model.redundant_clusters() == []


def test_as_many_clusters_as_rows():
    X = np.arange(6.0)[:, None] ** 2
    model = KModes(6, bandwidth=0.1, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(model.cluster_centers_.ravel()), X.ravel())

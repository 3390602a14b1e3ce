import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import reference
from callbacks import Callback, needs_callbacks
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import MeanShift as TheirMeanShift
from sklearn.datasets import load_digits, load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from modeclust import MeanShift, estimate_bandwidth, modes_by_bandwidth
from modeclust.kernels import KERNELS

BLOBS, BLOB_LABELS = make_blobs(600, 2, centers=4, cluster_std=0.8, random_state=3)


def same_partition(a, b):
    return adjusted_rand_score(a, b) == 1.0


def test_attributes():
    model = MeanShift(bandwidth=1.0).fit(BLOBS)
    n = model.n_clusters_
    assert model.cluster_centers_.shape == (n, 2)
    assert model.labels_.shape == (600,)
    assert model.counts_.tolist() == np.bincount(model.labels_, minlength=n).tolist()
    assert np.all(np.diff(model.density_) <= 0)
    density = reference.weighted_density(BLOBS, model.cluster_centers_, 1.0)
    np.testing.assert_allclose(model.density_, density, rtol=1e-9)
    assert model.bandwidth_ == 1.0
    assert same_partition(model.labels_, BLOB_LABELS)
    rule = MeanShift().fit(BLOBS)
    assert rule.bandwidth_ == estimate_bandwidth(BLOBS)


@pytest.mark.parametrize("kernel", KERNELS)
def test_predict_follows_the_basin(rng, kernel):
    X, _ = make_moons(300, noise=0.08, random_state=0)
    bandwidth = {"gaussian": 0.2, "cauchy": 0.1}.get(kernel, 0.5)
    merge_radius = 1e-3 if kernel == "epanechnikov" else 0.1
    model = MeanShift(bandwidth, kernel=kernel, merge_radius=merge_radius).fit(X)
    assert 2 < model.n_clusters_ < 100
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new = X + rng.normal(scale=0.02, size=X.shape)
    ends = reference.mean_shift(X, new, bandwidth, kernel=kernel)
    nearest = reference.assign(ends, model.cluster_centers_)
    np.testing.assert_array_equal(model.predict(new), nearest)
    by_distance = model.predict(new, method="nearest")
    np.testing.assert_array_equal(by_distance, reference.assign(new, model.cluster_centers_))


def test_far_points_have_the_mode_of_the_row_nearest_to_them():
    model = MeanShift(1.0).fit(BLOBS)
    far = np.array([[1e6, 0.0], [0.0, -1e9]])
    nearest = reference.assign(far, BLOBS)
    np.testing.assert_array_equal(model.predict(far), model.labels_[nearest])


@pytest.mark.parametrize("seeds", ["bin", 100, BLOBS[::9]], ids=["bin", "number", "array"])
def test_seeds(seeds):
    every = MeanShift(1.0).fit(BLOBS)
    some = MeanShift(1.0, seeds=seeds, random_state=0).fit(BLOBS)
    np.testing.assert_allclose(some.cluster_centers_, every.cluster_centers_, atol=1e-4)
    assert np.mean(some.labels_ == every.labels_) > 0.97


def test_a_seed_alone_finds_one_mode():
    model = MeanShift(1.0, seeds=BLOBS[:1]).fit(BLOBS)
    assert model.n_clusters_ == 1
    assert model.counts_.tolist() == [600]


@pytest.mark.parametrize("kernel", KERNELS)
def test_integer_weights_are_repeated_rows(rng, kernel):
    X = BLOBS[:200]
    times = rng.integers(0, 4, 200)
    weighted = MeanShift(1.5, kernel=kernel).fit(X, sample_weight=times)
    repeated = MeanShift(1.5, kernel=kernel).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(
        weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(weighted.density_, repeated.density_, rtol=1e-8)
    assert np.repeat(weighted.labels_, times).tolist() == repeated.labels_.tolist()


def test_adaptive_scales(rng):
    X = np.concatenate([rng.normal(size=(200, 2)) * 0.1, rng.normal(size=(200, 2)) * 2 + 12])
    local = estimate_bandwidth(X, local=True) / estimate_bandwidth(X)
    adaptive = MeanShift(1.0, adaptive=True).fit(X)
    given = MeanShift(1.0).fit(X, sample_scale=local)
    np.testing.assert_allclose(adaptive.cluster_centers_, given.cluster_centers_, atol=1e-4)
    ends = reference.mean_shift(X, X, 1.0, scale=local)
    far = np.linalg.norm(ends - adaptive.cluster_centers_[adaptive.labels_], axis=1)
    assert far.max() < 1e-3


@pytest.mark.parametrize("factor", [1e-30, 0.1, 4.0, 1e30])
def test_only_the_product_of_scales_and_bandwidth_matters(rng, factor):
    X, scale = BLOBS[:150], rng.uniform(0.7, 1.3, size=150)
    plain = MeanShift(1.0, random_state=0).fit(X, sample_scale=scale)
    other = MeanShift(1.0 / factor, random_state=0).fit(X, sample_scale=scale * factor)
    np.testing.assert_array_equal(other.labels_, plain.labels_)
    np.testing.assert_allclose(other.cluster_centers_, plain.cluster_centers_, atol=1e-6)
    assert other.bandwidth_ * factor == pytest.approx(1.0)
    trees = [
        modes_by_bandwidth(X, np.array([1.0, 4.0]) / by, sample_scale=scale * by, random_state=0)
        for by in (1.0, factor)
    ]
    np.testing.assert_array_equal(trees[1].n_modes, trees[0].n_modes)
    np.testing.assert_allclose(trees[1].bandwidths * factor, [1.0, 4.0])


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows(make):
    X = np.maximum(load_digits().data[:300] - 8, 0)
    dense = MeanShift(12.0).fit(X)
    model = MeanShift(12.0).fit(make(X))
    assert same_partition(model.labels_, dense.labels_)
    np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, atol=1e-3)
    np.testing.assert_array_equal(model.predict(make(X)), model.labels_)


def test_single_precision_stays():
    model = MeanShift(1.0).fit(BLOBS.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32
    expected = MeanShift(1.0).fit(BLOBS)
    np.testing.assert_allclose(model.cluster_centers_, expected.cluster_centers_, atol=1e-5)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.parametrize(("offset", "scale"), [(1e8, 1.0), (0.0, 1e-150), (0.0, 1e150)])
def test_the_result_does_not_depend_on_offset_and_scale(offset, scale):
    plain = MeanShift(1.0).fit(BLOBS)
    model = MeanShift(scale).fit(BLOBS * scale + offset)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    centers = (model.cluster_centers_ - offset) / scale
    np.testing.assert_allclose(centers, plain.cluster_centers_, atol=1e-4)


def test_any_number_of_threads_gives_the_same_bits():
    X = load_iris().data
    one, two = (MeanShift(0.6, n_jobs=n, random_state=0).fit(X) for n in (1, 2))
    assert one.cluster_centers_.tobytes() == two.cluster_centers_.tobytes()
    assert one.labels_.tobytes() == two.labels_.tobytes()


def test_any_number_of_threads_gives_the_same_bits_of_sparse_rows(monkeypatch):
    monkeypatch.setattr("modeclust.solvers.mean_shift.MAX_POINTS", 40)
    X = sparse.csr_array(np.maximum(load_digits().data[:300] - 8, 0))
    fits = [MeanShift(12.0, n_jobs=n, random_state=0).fit(X) for n in (1, 2, 5)]
    assert len({model.cluster_centers_.tobytes() for model in fits}) == 1
    assert len({model.labels_.tobytes() for model in fits}) == 1
    assert len({model.predict(X).tobytes() for model in fits}) == 1


def test_as_many_modes_as_wanted_from_many_seeds():
    X, _ = make_blobs(2000, 2, centers=5, cluster_std=0.7, random_state=1)
    model = MeanShift(n_clusters=5, random_state=0).fit(X)
    assert model.n_clusters_ == 5
    assert MeanShift(1.2, n_clusters=5, random_state=0).fit(X).bandwidth_ == 1.2  # has so many
    np.testing.assert_array_equal(model.labels_, MeanShift(model.bandwidth_).fit(X).labels_)


def test_constant_and_repeated_rows():
    model = MeanShift().fit(np.ones((5, 3)))
    assert model.n_clusters_ == 1
    np.testing.assert_allclose(model.cluster_centers_, 1.0)
    model = MeanShift(0.1).fit([[0.0], [0.0], [1.0]])
    np.testing.assert_allclose(model.cluster_centers_, [[0.0], [1.0]], atol=1e-12)
    assert model.counts_.tolist() == [2, 1]


def test_the_epanechnikov_kernel_gives_scikit_learns_mean_shift():
    ours = MeanShift(1.5, kernel="epanechnikov", merge_radius=1.0).fit(BLOBS)
    theirs = TheirMeanShift(bandwidth=1.5).fit(BLOBS)
    assert ours.n_clusters_ == len(theirs.cluster_centers_)
    nearest = reference.assign(theirs.cluster_centers_, ours.cluster_centers_)
    assert sorted(nearest) == list(range(ours.n_clusters_))
    far = np.linalg.norm(theirs.cluster_centers_ - ours.cluster_centers_[nearest], axis=1)
    assert far.max() < 0.1


def test_too_few_iterations_are_a_warning():
    with pytest.warns(ConvergenceWarning, match="within 2 steps"):
        MeanShift(1.0, max_iter=2).fit(BLOBS)
    with pytest.warns(ConvergenceWarning, match="within 2 steps"):
        modes_by_bandwidth(BLOBS, [1.0, 2.0], max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MeanShift(1.0).fit(BLOBS)


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 7])
def test_as_many_modes_as_wanted(n_clusters):
    model = MeanShift(n_clusters=n_clusters).fit(BLOBS)
    assert model.n_clusters_ == n_clusters
    again = MeanShift(model.bandwidth_).fit(BLOBS)
    assert again.n_clusters_ == n_clusters
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_a_number_of_modes_at_no_bandwidth_is_an_error():
    # Three equal points on a line go from three modes to one at once, by symmetry.
    X = np.array([[-1.0], [0.0], [1.0]])
    with pytest.raises(ValueError, match=r"No bandwidth gives 2 modes: there are 3 at .* and 1 at"):
        MeanShift(n_clusters=2).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters=4 is more than the number of rows"):
        MeanShift(n_clusters=4).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters=3 .* distinct rows"):
        MeanShift(n_clusters=3).fit([[0.0], [0.0], [1.0]])


def test_moons_have_about_13_modes_and_no_bandwidth_parts_them(authors_result):
    # The paper's figure 3: "GMS would return around 13 clusters".
    data = authors_result("moons_kmodes")
    X, y = data["X"], data["y"]
    assert 11 <= MeanShift(0.1).fit(X).n_clusters_ <= 15
    bandwidths = np.geomspace(0.05, 2.0, 30)
    two = [
        model.labels_
        for bandwidth in bandwidths
        if (model := MeanShift(bandwidth, seeds="bin").fit(X)).n_clusters_ == 2
    ]
    assert len(two) > 0
    assert max(adjusted_rand_score(y, labels) for labels in two) < 0.9


def test_ten_modes_of_images_are_one_giant_cluster_and_outliers(authors_result):
    # The paper's figure 5, on USPS: K modes of one density are no K clusters.
    data = authors_result("usps_kmodes")
    model = MeanShift(n_clusters=10).fit(data["X"])
    assert model.counts_.max() > 0.9 * len(data["X"])
    assert np.median(model.counts_) <= 10
    assert adjusted_rand_score(data["y"], model.labels_) < 0.05


def test_modes_over_bandwidths(rng):
    degrees = np.concatenate([rng.poisson(20, 300), rng.poisson(80, 200)])[:, None].astype(float)
    tree = modes_by_bandwidth(degrees, [40.0, 0.5, 1.0, 4.0, 15.0])
    assert tree.bandwidths.tolist() == [0.5, 1.0, 4.0, 15.0, 40.0]
    assert np.all(np.diff(tree.n_modes) <= 0)
    for i, level in enumerate(tree):
        model = MeanShift(level.bandwidth).fit(degrees)
        assert len(level.modes) == model.n_clusters_
        np.testing.assert_allclose(level.modes, model.cluster_centers_, atol=1e-3)
        np.testing.assert_allclose(level.density, model.density_, rtol=1e-6)
        labels = tree.labels(i)
        assert np.bincount(labels, minlength=len(level.modes)).tolist() == level.counts.tolist()
    assert tree[-1].parents is None
    assert "5 bandwidths from 0.5 to 40" in repr(tree)
    # Merges: the labels of a level are those of the one before, put together.
    for i in range(len(tree) - 1):
        pairs = np.unique(np.stack([tree.labels(i), tree.labels(i + 1)], axis=1), axis=0)
        assert len(pairs) == len(np.unique(tree.labels(i)))
    frame = tree.to_frame("dict")
    assert len(frame["x0"]) == tree.n_modes.sum()
    assert frame["parent"][-1] == -1


def test_scikit_learn_conventions():
    frame = pd.DataFrame(BLOBS, columns=["a", "b"])
    model = MeanShift(1.0).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.labels_)
    np.testing.assert_array_equal(model.fit_predict(frame), model.labels_)
    assert not hasattr(clone(model), "labels_")
    with pytest.raises(NotFittedError):
        MeanShift().predict(BLOBS)


class Stopper(Callback):
    """A callback that counts parts of the seeds, and can stop after one."""

    def __init__(self, stop_after=None):
        self.n_parts, self.stop_after, self.max_subtasks = 0, stop_after, None

    def on_fit_task_begin(self, estimator, context):
        if context.task_name == "fit":
            self.max_subtasks = context.max_subtasks

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.n_parts += context.task_name == "seeds"
        return self.n_parts == self.stop_after


@needs_callbacks
def test_callbacks_see_parts_of_the_seeds_and_can_stop(monkeypatch):
    monkeypatch.setattr("modeclust.solvers.mean_shift.MAX_POINTS", 150)
    plain = MeanShift(1.0).fit(BLOBS)
    watcher = Stopper()
    model = MeanShift(1.0).set_callbacks(watcher).fit(BLOBS)
    assert (watcher.n_parts, watcher.max_subtasks) == (4, 4)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    stopped = MeanShift(1.0).set_callbacks(Stopper(stop_after=1)).fit(BLOBS)
    assert stopped.labels_.shape == (600,)
    assert 1 <= stopped.n_clusters_ <= plain.n_clusters_


def test_long_rows_in_threads():
    X = load_digits().data[:200]
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: MeanShift(20.0).fit(X).labels_.tobytes(), range(8)))
    assert len(set(fits)) == 1


def test_the_prediction_of_a_row_does_not_depend_on_other_rows():
    X = np.concatenate([BLOBS[:150], BLOBS[:150] + 8])
    for kernel, merge_radius in (("epanechnikov", 1.0), ("gaussian", 0.1)):
        model = MeanShift(0.8, kernel=kernel, merge_radius=merge_radius).fit(X)
        alone = [int(model.predict(row[None])[0]) for row in X[:60]]
        assert alone == model.predict(X)[:60].tolist()


def test_rows_without_weight_make_no_modes():
    X = np.concatenate([np.zeros(5), np.arange(10, 20, 0.3)])[:, None]
    weight = np.concatenate([np.ones(5), np.zeros(34)])
    model = MeanShift(1.0, kernel="biweight").fit(X, sample_weight=weight)
    assert model.n_clusters_ == 1
    assert model.counts_.tolist() == [39]


def test_long_rows_that_are_far_apart_or_memory_mapped_keep_their_modes(tmp_path, rng):
    Y = rng.normal(size=(6, 20)) * 5
    for offset in (1e7, 3e7, 1e8):
        assert MeanShift(0.05).fit(np.vstack([Y, Y + offset])).n_clusters_ == 12
    X = rng.normal(size=(200, 30)) + 1e8
    mapped = np.memmap(tmp_path / "rows", mode="w+", shape=X.shape, dtype=float)
    mapped[:] = X
    np.testing.assert_array_equal(MeanShift(3.0).fit(mapped).labels_, MeanShift(3.0).fit(X).labels_)


def test_modes_of_mapped_whole_numbers_are_not_rounded(tmp_path):
    X = np.array([[0], [1], [10], [11]])
    mapped = np.memmap(tmp_path / "rows", mode="w+", shape=X.shape, dtype=np.int32)
    mapped[:] = X
    (level,) = modes_by_bandwidth(mapped, [1.0])
    np.testing.assert_allclose(np.sort(level.modes, axis=0), [[0.5], [10.5]], atol=1e-3)
    np.testing.assert_array_equal(level.modes, modes_by_bandwidth(X, [1.0])[0].modes)


def test_the_model_keeps_rows_of_its_own(rng):
    X = np.concatenate([rng.normal(size=(50, 30)), rng.normal(size=(50, 30)) + 5])
    model = MeanShift(3.0).fit(X)
    query = X.copy()
    before = model.predict(query)
    X[:] = 0
    np.testing.assert_array_equal(model.predict(query), before)


def test_sparse_rows_that_would_lose_all_digits_are_refused(rng):
    X = rng.normal(size=(50, 3))
    X[:, 0] += 1e8
    with pytest.raises(ValueError, match="too small for sparse rows"):
        MeanShift(0.5).fit(sparse.csr_array(X))
    with pytest.raises(ValueError, match="from 5 seeds"):
        MeanShift(n_clusters=6, seeds=5).fit(BLOBS)

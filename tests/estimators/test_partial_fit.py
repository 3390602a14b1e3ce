"""K-modes of a stream."""

import os
import pickle
from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import pytest
import reference
from callbacks import Callback, needs_callbacks
from scipy import sparse
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from modeclust import KModes, kmodes_path, load
from modeclust.kernels import KERNELS
from modeclust.plotting import ModesDisplay, PathDisplay, ScheduleDisplay


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(2000, 2, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)[0]


def batches(X, *sizes):
    """Yield the rows of X, in batches of the sizes, the last of which is repeated."""
    first = 0
    while first < X.shape[0]:
        size, *rest = sizes
        sizes = rest or [size]
        yield X[first : first + size]
        first += size


def streamed(model, X, *sizes):
    for batch in batches(X, *sizes):
        model.partial_fit(batch)
    return model


def state_of(model):
    return {
        name: getattr(model, name)
        for name in ("cluster_centers_", "labels_", "counts_", "objective_", "bandwidth_")
    }


def assert_same_bits(model, other):
    for name, value in state_of(model).items():
        np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)
    for name in ("centers", "mass", "reference", "weight", "scale"):
        np.testing.assert_array_equal(
            getattr(other._statistics, name), getattr(model._statistics, name)
        )
    assert (other.n_steps_, other.n_samples_seen_) == (model.n_steps_, model.n_samples_seen_)


def test_the_first_batch_is_a_fit(blobs):
    model = KModes(3, random_state=0).partial_fit(blobs[:300])
    assert_same_bits(model, KModes(3, random_state=0).fit(blobs[:300]))
    assert len(model.path_) == 17
    assert (model.n_steps_, model.n_samples_seen_) == (1, 300)


@pytest.mark.parametrize("bandwidth", [0.8, np.inf])
def test_attributes_are_those_of_the_last_batch(blobs, bandwidth):
    model = streamed(KModes(3, bandwidth=bandwidth, random_state=0), blobs, 300, 200)
    batch = blobs[1900:]
    assert (model.n_steps_, model.n_samples_seen_) == (10, 2000)
    assert model.bandwidth_ == bandwidth
    np.testing.assert_array_equal(model.predict(batch), model.labels_)
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_, minlength=3))
    assert model.score(batch) == model.objective_
    distances = reference.squared_distances(batch, model.cluster_centers_)
    assert model.inertia_ == pytest.approx(distances.min(axis=1).sum(), rel=1e-12)
    for k, row in enumerate(model.exemplar_indices_):
        assert row == np.where(model.labels_ == k, distances[:, k], np.inf).argmin()
    assert len(model.path_) == 1
    np.testing.assert_array_equal(model.path_.centers[0], model.cluster_centers_)
    np.testing.assert_array_equal(model.path_.labels[0], model.labels_)
    assert model.n_iter_ == model.path_.n_iter[0] <= model.path_iter
    assert model.redundancy_.shape == (3, 3)
    assert model.transform(batch).shape == (100, 3)


def distance_in_bandwidths(model, X, start):
    """Return how far the modes are from those that K-modes on all rows reaches from `start`."""
    path = kmodes_path(
        X, len(start), bandwidths=[model.bandwidth_], init=start, kernel=model.kernel,
        max_iter=5000, tol=1e-6,
    )  # fmt: skip
    away = np.linalg.norm(model.cluster_centers_ - path.centers[-1], axis=1)
    return away / model.bandwidth_, path.objectives[-1]


def shuffled(X, times=1):
    rng = np.random.default_rng(0)
    return np.concatenate([X[rng.permutation(len(X))] for _ in range(times)])


def mnist():
    folder = os.environ.get("MODECLUST_DATA")
    if folder is None or not (FilePath(folder) / "mnist.npz").exists():
        pytest.skip("left out: MNIST, in MODECLUST_DATA")
    with np.load(FilePath(folder) / "mnist.npz") as file:
        images = next(file[name] for name in file.files if file[name].ndim > 1)
    return shuffled(images.reshape(len(images), -1))[:20_000].astype(np.float32)


STREAMS = {
    "blobs": (lambda: make_blobs(20_000, 2, centers=8, random_state=3)[0], 8),
    "16 features": (
        lambda: make_blobs(20_000, 16, centers=10, cluster_std=3.0, random_state=3)[0],
        10,
    ),
    "iris 100 times": (lambda: shuffled(load_iris().data, 100), 3),
    "digits 10 times": (lambda: shuffled(load_digits().data, 10), 10),
    "MNIST": (mnist, 10),
}


@pytest.mark.parametrize(
    "name",
    [
        "blobs",
        "iris 100 times",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("16 features", "digits 10 times")),
        pytest.param("MNIST", marks=pytest.mark.slow),
    ],
)
def test_a_shuffled_stream_converges_to_the_batch_answer(name):
    rows, n_clusters = STREAMS[name]
    X = rows()
    # Images begin with a tenth: their clusters are wide, and a start from 200 of them is poor.
    size, first, tolerance = len(X) // 100, len(X) // 100, 0.08
    if name == "MNIST":
        first, tolerance = len(X) // 10, 0.2
    model = KModes(n_clusters, bandwidth="knn", random_state=0).partial_fit(X[:first])
    start = model.cluster_centers_
    streamed(model, X[first:], size)
    away, objective = distance_in_bandwidths(model, X, start)
    assert away.max() < tolerance
    assert np.median(away) < 0.04
    assert model.score(X) == pytest.approx(objective, rel=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_converges(blobs, kernel):
    X = np.tile(blobs, (5, 1))
    model = KModes(3, bandwidth=2.0, kernel=kernel, random_state=0).partial_fit(X[:200])
    start = model.cluster_centers_
    away, _ = distance_in_bandwidths(streamed(model, X[200:], 100), X, start)
    assert away.max() < 0.05


def test_an_infinite_bandwidth_is_on_line_kmeans(blobs):
    model = streamed(KModes(3, bandwidth=np.inf, random_state=0), blobs, 100)
    means = KMeans(3, n_init=5, random_state=0).fit(blobs).cluster_centers_
    away = np.sqrt(reference.squared_distances(means, model.cluster_centers_)).min(axis=1)
    assert away.max() < 0.15  # of clusters of standard deviation 1
    assert model.score(blobs) == 1.0


def test_the_size_of_batches_matters_little(blobs):
    ends = [
        streamed(KModes(3, bandwidth=1.5, half_life=500, random_state=0), blobs[:1200], 200, size)
        for size in (1, 10, 100, 500)
    ]
    for model in ends[1:]:
        assert model.n_samples_seen_ == 1200
        away = np.linalg.norm(model.cluster_centers_ - ends[0].cluster_centers_, axis=1)
        assert away.max() < 0.05 * 1.5


def test_a_moving_cluster_is_followed_where_the_past_is_forgotten(rng):
    ends = {}
    for half_life in (200, np.inf):
        model = KModes(2, bandwidth=1.0, half_life=half_life, random_state=0)
        for step in range(200):
            middles = np.array([[0.0, 0.0], [20.0, 0.05 * step]])
            model.partial_fit(rng.normal(middles[np.arange(40) % 2]))
        right = model.cluster_centers_[:, 0].argmax()
        ends[half_life] = model.cluster_centers_[right, 1]
        still = model.cluster_centers_[1 - right]
        assert np.linalg.norm(still) < 0.5
    # It makes 0.00125 for each row, and the mode is 1.44 half-lives / (1 - r) behind, with r = 1/2.
    assert ends[200] == pytest.approx(0.05 * 199 - 0.00125 * 1.44 * 200 * 2, abs=0.5)
    assert ends[np.inf] < 8


def test_a_cluster_without_rows_stays_and_can_come_back(blobs):
    model = KModes(3, bandwidth=1.0, half_life=20, random_state=0).partial_fit(blobs)
    gone = model.predict([[0.0, 6.0]])[0]
    centers = model.cluster_centers_.copy()
    others = blobs[model.labels_ != gone]
    for _ in range(20):
        streamed(model, others, 100)
        assert model.counts_[gone] == 0
        assert model.exemplar_indices_[gone] == -1
    np.testing.assert_allclose(model.cluster_centers_[gone], centers[gone], rtol=1e-12)
    assert model._statistics.mass[gone] == 0
    streamed(model, blobs, 50)
    assert np.linalg.norm(model.cluster_centers_[gone] - centers[gone]) < 1


def test_weight_two_repeats_a_row_and_weight_zero_removes_it(blobs, rng):
    weight = rng.integers(0, 3, size=2000)
    weighted, repeated = (KModes(3, bandwidth=1.0, random_state=0) for _ in range(2))
    for rows in batches(np.arange(2000), 500, 20):
        weighted.partial_fit(blobs[rows], sample_weight=weight[rows])
        repeated.partial_fit(np.repeat(blobs[rows], weight[rows], axis=0))
    np.testing.assert_allclose(
        weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9, atol=1e-9
    )
    assert weighted._statistics.weight == repeated._statistics.weight == weight.sum()
    with pytest.raises(ValueError, match="at least one non-zero"):
        weighted.partial_fit(blobs[:5], sample_weight=np.zeros(5))


@pytest.mark.parametrize("factor", [1.0, 8.0, 1e-170])
def test_only_the_product_of_scales_and_bandwidth_matters(blobs, rng, factor):
    scale = rng.uniform(0.5, 2.0, size=2000)
    ends = []
    for unit in (1.0, factor):
        model = KModes(3, bandwidth=1.0 / unit, random_state=0)
        for rows in batches(np.arange(2000), 500, 100):
            model.partial_fit(blobs[rows], sample_scale=scale[rows] * unit)
        ends.append(model)
    np.testing.assert_allclose(
        ends[0].cluster_centers_, ends[1].cluster_centers_, rtol=1e-9, atol=1e-9
    )
    plain = streamed(KModes(3, bandwidth=1.0, random_state=0), blobs, 500, 100)
    assert not np.allclose(plain.cluster_centers_, model.cluster_centers_, rtol=1e-3)
    if factor < 1e-50:
        with pytest.raises(ValueError, match=r"mean of the first batch, 1\.2.*e-170, got"):
            model.partial_fit(blobs[:10])  # whose scales are 1


def test_scales_of_one_equal_no_scales(blobs):
    ends = []
    for scale in (None, np.ones(100)):
        model = KModes(3, bandwidth=1.0, random_state=0)
        model.partial_fit(blobs[:500], sample_scale=np.linspace(1, 3, 500))
        ends.append(model.partial_fit(blobs[500:600], sample_scale=scale))
    np.testing.assert_array_equal(ends[0].cluster_centers_, ends[1].cluster_centers_)
    assert ends[0].score(blobs[500:600]) == pytest.approx(ends[0].objective_, rel=1e-12)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, pd.DataFrame])
def test_containers_agree(blobs, container):
    def kept(X):
        return X.set_axis(["a", "b"], axis=1) if container is pd.DataFrame else X

    dense = streamed(KModes(3, bandwidth=1.0, random_state=0), blobs[:900], 300, 100)
    model = KModes(3, bandwidth=1.0, random_state=0)
    for batch in batches(blobs[:900], 300, 100):
        model.partial_fit(kept(container(batch)))
    np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(model.labels_, dense.labels_)


def test_float32_is_kept_and_lists_and_maps_are_taken(blobs, tmp_path):
    double = streamed(KModes(3, bandwidth=1.0, random_state=0), blobs, 300, 100)
    single = streamed(KModes(3, bandwidth=1.0, random_state=0), blobs.astype(np.float32), 300, 100)
    assert single.cluster_centers_.dtype == single.path_.centers.dtype == np.float32
    assert single._statistics.centers.dtype == np.float64
    np.testing.assert_allclose(single.cluster_centers_, double.cluster_centers_, atol=1e-5)
    np.testing.assert_array_equal(single.predict(blobs[1900:].astype(np.float32)), single.labels_)
    np.save(tmp_path / "rows.npy", blobs)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = KModes(3, bandwidth=1.0, random_state=0)
    for rows in batches(np.arange(2000), 300, 100):
        model.partial_fit(mapped[rows[0] : rows[-1] + 1])
    assert_same_bits(model, double)
    model.partial_fit(blobs[:2].tolist(), sample_scale=[1, 2])


@pytest.mark.parametrize(("factor", "offset"), [(1.0, 1e8), (2.0**-500, 0.0), (2.0**300, 0.0)])
def test_the_result_does_not_depend_on_the_units(blobs, factor, offset):
    plain = streamed(KModes(3, random_state=0), blobs, 300, 100, 1, 99)
    other = streamed(KModes(3, random_state=0), blobs * factor + offset, 300, 100, 1, 99)
    np.testing.assert_allclose(
        (other.cluster_centers_ - offset) / factor, plain.cluster_centers_, atol=1e-6
    )
    np.testing.assert_array_equal(other.labels_, plain.labels_)
    assert other.objective_ == pytest.approx(plain.objective_, rel=1e-6)


@pytest.mark.parametrize("kernel", ["epanechnikov", "biweight"])
def test_rows_out_of_the_support_move_nothing(blobs, kernel):
    model = KModes(3, bandwidth=1.0, kernel=kernel, random_state=0).partial_fit(blobs)
    centers = model.cluster_centers_.copy()
    for _ in range(5):
        model.partial_fit([[100.0, 100.0]])
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-3)
    assert model.objective_ == 0.0


def test_any_number_of_threads_gives_the_same_bits(rng):
    X = rng.normal(size=(60_000, 8))
    options = {"bandwidth": 1.0, "n_init": 1, "n_bandwidths": 3, "random_state": 0}
    ends = [streamed(KModes(5, n_jobs=n, **options), X, 20_000) for n in (1, 2, 3)]
    for model in ends[1:]:
        assert_same_bits(model, ends[0])


def test_fit_starts_again_and_partial_fit_continues(blobs):
    fitted = KModes(3, random_state=0).fit(blobs[:500])
    model = streamed(KModes(3, random_state=0), blobs, 700, 100).fit(blobs[:500])
    assert_same_bits(model, fitted)
    begun = KModes(3, random_state=0).partial_fit(blobs[:500])
    assert_same_bits(fitted.partial_fit(blobs[500:700]), begun.partial_fit(blobs[500:700]))
    assert fitted.n_samples_seen_ == 700


def test_the_weight_of_a_fit_in_a_stream_is_its_number_of_rows(blobs):
    # The statistics of a converged fit weigh as much as its rows: one far row hardly moves it.
    model = KModes(1, bandwidth=np.inf).fit(blobs)
    mean = model.cluster_centers_[0].copy()
    model.partial_fit(mean[None] + 100.0)
    np.testing.assert_allclose(model.cluster_centers_[0] - mean, 0.05, rtol=2e-3)


@needs_callbacks
def test_a_path_that_a_callback_stopped_can_be_resumed(blobs):
    class Stopper(Callback):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            return context.task_name == "bandwidth" and context.task_id == 1

    options = {"bandwidth": 0.5, "path_iter": 1, "tol": 0.0, "random_state": 0}
    model = KModes(3, **options).set_callbacks(Stopper()).partial_fit(blobs)
    assert len(model.path_) == 3
    mass = reference.kernel_weights(blobs, model.cluster_centers_, model.bandwidth_)
    own, kept = np.eye(3)[model.labels_].T, model._statistics
    np.testing.assert_allclose(
        kept.mass * np.exp(-kept.reference / 2) / (own * mass).sum(axis=1),
        [np.exp(-reference.squared_distances(blobs, c[None]).min() / model.bandwidth_**2 / 2)
         for c in model.cluster_centers_], rtol=1e-9,
    )  # fmt: skip
    model.partial_fit(blobs[:10])


def test_a_loaded_model_continues_with_the_same_bits(blobs, tmp_path):
    X = blobs.astype(np.float32) * np.float32(0.1) + np.float32(7)
    straight = streamed(KModes(3, half_life=500, random_state=0), X, 300, 100)
    model = KModes(3, half_life=500, random_state=0)
    for batch in batches(X, 300, 100):
        model.partial_fit(batch)
        model.save(tmp_path / "model.npz")
        model = load(tmp_path / "model.npz")
    assert_same_bits(model, straight)


def test_memory_does_not_grow_with_the_stream(blobs):
    model = streamed(KModes(3, random_state=0), blobs[:400], 100)
    size = len(pickle.dumps(model))
    streamed(model, blobs, 100)
    assert len(pickle.dumps(model)) <= size + 100  # numbers may need a byte more


def test_pictures_and_the_report_show_the_last_batch(blobs):
    model = streamed(KModes(3, random_state=0), blobs, 500, 300)
    batch = blobs[1700:]
    PathDisplay.from_estimator(model, batch)
    ModesDisplay.from_estimator(model, batch)
    ScheduleDisplay.from_estimator(model)
    summary = model.report(batch, path=None).summary
    assert summary["n_rows"] == 300
    assert len(summary["steps"]) == 2  # centers, then modes
    assert model.merge_redundant(batch).n_clusters <= 3
    with pytest.raises(ValueError, match="fitted on, 300 rows, got 2000"):
        model.report(blobs, path=None)


def test_an_adaptive_model_takes_no_batches(blobs):
    model = KModes(3, adaptive=True)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as caught:
        model.partial_fit(blobs)
    assert "Pass sample_scale" in str(caught.value.__cause__)


def test_bad_batches_are_refused_and_change_nothing(blobs):
    with pytest.raises(ValueError, match="n_clusters=8 is more than the number of rows"):
        KModes(8).partial_fit(blobs[:5])
    with pytest.raises(ValueError, match="half_life"):
        KModes(3, half_life=0).partial_fit(blobs)
    model = KModes(3, random_state=0).partial_fit(blobs[:500])
    same = KModes(3, random_state=0).fit(blobs[:500])
    for batch, options, message in [
        (blobs[:, :1], {}, "1 features, but KModes is expecting 2"),
        (blobs[:0], {}, "0 sample"),
        ([[np.nan, 1.0]], {}, "NaN"),
        (blobs[:3], {"sample_weight": [1, 1]}, "sample_weight"),
        (blobs[:3], {"sample_weight": [1, -1, 1]}, "sample_weight must be >= 0, got -1 in row 1"),
        (blobs[:3], {"sample_scale": [1, 0, 1]}, "sample_scale must be > 0"),
        (blobs[:3], {"sample_scale": [1, 1]}, r"sample_scale must have shape \(3,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(batch, **options)
    assert_same_bits(model, same)


def test_a_warning_of_the_first_batch_points_at_the_caller(blobs):
    for method in ("fit", "partial_fit"):
        model = KModes(3, bandwidth=0.5, max_iter=2, n_bandwidths=2, random_state=0)
        with pytest.warns(ConvergenceWarning) as caught:
            getattr(model, method)(blobs)
        assert [one.filename for one in caught] == [__file__]


def test_sample_weight_can_be_routed():
    with config_context(enable_metadata_routing=True):
        request = KModes().set_partial_fit_request(sample_weight=True, sample_scale=False)
        assert request.get_metadata_routing().partial_fit.requests["sample_weight"] is True


def test_a_bandwidth_that_is_given_as_its_number_is_still_chosen(blobs):
    model = KModes(3, random_state=0).fit(blobs)
    model.set_params(bandwidth=model.bandwidth_).partial_fit(blobs[:100])
    assert model._fitted_with["bandwidth"] == "auto"
    model.set_params(bandwidth="auto").partial_fit(blobs[:100])
    assert model.n_steps_ == 3

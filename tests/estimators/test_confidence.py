"""How sure labels are, and which rows are outliers."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import modeclust
from modeclust import KModes, LaplacianKModes, MeanShift
from modeclust.estimators.confidence import largest_at
from modeclust.exceptions import EmptySupportWarning
from modeclust.kernels import KERNELS

X, Y = make_blobs(400, centers=[[0, 0], [7, 0], [0, 20]], cluster_std=[1, 1, 4], random_state=0)


@pytest.fixture(scope="module")
def model():
    return KModes(3, random_state=0).fit(X)


def shares_of(model, X):
    """Return the shares by their definition."""
    distances = np.linalg.norm(X[:, None] - model.cluster_centers_, axis=2)
    own = distances[np.arange(len(X)), model.labels_]
    medians = np.array([np.median(own[model.labels_ == k]) for k in range(3)])
    u = (own / medians[model.labels_]) ** (2 / 3)
    deviation = 1.4826 * np.median(abs(u - 1))
    n_dimensions = np.clip(2 / (9 * deviation**2), 1, X.shape[1])
    log_shares = -n_dimensions * distances**2 / (2 * np.median(own) ** 2)
    shares = np.exp(log_shares - log_shares.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def test_shares_by_their_definition(model):
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares, shares_of(model, X), atol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", ["auto", 0.5, np.inf])
def test_every_kernel_and_bandwidth_has_finite_shares_and_scores(kernel, bandwidth):
    rows = load_digits().data[:300]
    model = KModes(4, kernel=kernel, bandwidth=bandwidth, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptySupportWarning)
        model.fit(rows)
    new = np.concatenate([rows, rows + 1e6, [np.full(64, 1e150)]])
    shares = model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() >= 0
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(new))
    scores = model.score_outliers(new)
    assert np.isfinite(scores).all()
    assert scores[-1] == scores.max() > 1e6


def test_a_row_between_clusters_is_unsure_and_an_outlier_need_not_be(model):
    middle = model.cluster_centers_[[0, 1]].mean(axis=0)
    far = model.cluster_centers_[0] - [50, 0] if model.cluster_centers_[0][0] < 3 else None
    nearest = np.argsort(np.linalg.norm(model.cluster_centers_ - middle, axis=1))[:2]
    shares = model.predict_proba([middle])
    assert shares[0, nearest].sum() > 0.99
    if far is not None:
        assert model.predict_proba([far]).max() > 0.99
        assert model.score_outliers([far]) > 10


@pytest.mark.parametrize(
    "container", [np.float32, sparse.csr_array, sparse.csr_matrix, pd.DataFrame]
)
def test_shares_and_scores_of_other_containers(container, model):
    rows = X.astype(np.float32) if container is np.float32 else container(X)
    columns = {} if container is not pd.DataFrame else {"columns": ["a", "b"]}
    rows = pd.DataFrame(X, **columns) if columns else rows
    other = KModes(3, random_state=0).fit(rows)
    np.testing.assert_allclose(other.predict_proba(rows), model.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(other.score_outliers(rows), model.outlier_scores_, atol=1e-4)
    np.testing.assert_allclose(other.outlier_scores_, model.outlier_scores_, atol=1e-4)
    assert other.predict_proba(rows).dtype == other.outlier_scores_.dtype == np.float64


def test_scores_of_the_fit_are_those_of_the_same_rows(model):
    np.testing.assert_array_equal(model.score_outliers(X), model.outlier_scores_)


def test_a_score_means_the_same_in_a_tight_and_in_a_loose_cluster():
    rows, y = make_blobs(4000, centers=[[0, 0], [1000, 0]], cluster_std=[1, 50], random_state=0)
    model = KModes(2, random_state=0).fit(rows)
    shares = [np.mean(model.outlier_scores_[y == k] > 2) for k in (0, 1)]
    assert shares == pytest.approx([0.03, 0.03], abs=0.015)  # the larger of two normal numbers
    tight, loose = model.score_outliers([[0, 5], [1000, 250]])
    assert tight == pytest.approx(loose, rel=0.15)
    assert tight > 3


def test_rows_of_a_small_cluster_are_scored_elsewhere(rng):
    rows = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + [30, 0]])
    rows = np.concatenate([rows, rng.normal(size=(4, 2)) * 0.1 + [300, 300]])
    model = KModes(3, random_state=0, init=[[0, 0], [30, 0], [300, 300]], bandwidth=5.0).fit(rows)
    assert np.bincount(model.labels_).tolist() == [300, 300, 4]
    assert model.outlier_scores_[600:].min() > 20 > model.outlier_scores_[:600].max()
    np.testing.assert_allclose(model.score_outliers(rows), model.outlier_scores_)
    assert model.predict_proba(rows)[600:].argmax(axis=1).tolist() == [2] * 4


def test_known_outliers_have_the_highest_scores(rng):
    noise = rng.uniform(-30, 40, size=(8, 2))
    noise = noise[np.linalg.norm(noise[:, None] - [[0, 0], [7, 0], [0, 20]], axis=2).min(1) > 12]
    rows = np.concatenate([X, noise])
    scores = KModes(3, random_state=0).fit(rows).outlier_scores_
    assert roc_auc_score(np.arange(len(rows)) >= len(X), scores) > 0.99


def test_a_weight_is_a_repetition(rng):
    counts = rng.integers(0, 4, len(X))
    options = {"bandwidth": 2.0, "init": [[0, 0], [7, 0], [0, 20]]}
    weighted = KModes(3, **options).fit(X, sample_weight=counts)
    repeated = KModes(3, **options).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.score_outliers(X), repeated.score_outliers(X))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_chunks_are_scored_lazily(model):
    da = pytest.importorskip("dask.array")
    rows = da.from_array(X, chunks=(150, 2))
    other = KModes(3, random_state=0).fit(rows)
    for found, expected in (
        (other.outlier_scores_, other.score_outliers(X)),
        (other.score_outliers(rows), other.score_outliers(X)),
        (other.predict_proba(rows), other.predict_proba(X)),
    ):
        assert isinstance(found, da.Array)
        np.testing.assert_allclose(found.compute(), expected, atol=1e-12)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
    radii = [found._confidence.typical.spread.radius for found in (other, model)]
    assert radii[0] == pytest.approx(radii[1])


def test_batches_are_scored_by_the_first_one(model):
    batches = clone(model).partial_fit(X)
    first = batches._confidence.typical
    batches.partial_fit(X[:1])
    assert batches._confidence.typical is first
    assert batches.outlier_scores_.shape == (1,)
    np.testing.assert_allclose(batches.outlier_scores_, batches.score_outliers(X[:1]))


def test_a_saved_model_gives_the_same(model, tmp_path):
    for fitted in (model, MeanShift(2.0).fit(X)):
        fitted.save(tmp_path / "model.npz")
        loaded = modeclust.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    model.save(tmp_path / "model.npz")
    loaded = modeclust.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.outlier_scores_, model.outlier_scores_)
    np.testing.assert_array_equal(loaded.score_outliers(X), model.outlier_scores_)


def test_the_share_of_the_label_is_exchanged_with_the_largest():
    shares = np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2]])
    labels = np.array([1, 2, 0, 1])
    found = largest_at(shares.copy(), labels)
    np.testing.assert_array_equal(found.argmax(axis=1), labels)
    np.testing.assert_allclose(found, [[0, 1, 0], *shares[1:]])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_shares_of_mean_shift_are_largest_at_the_nearest_mode(container):
    rows = container(X)
    model = MeanShift(2.0).fit(rows)
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(rows, method="nearest"))
    far = model.predict_proba(np.array([[1e12, -1e12]]))
    assert np.isfinite(far).all()
    alone = MeanShift(1e-3).fit(X[:5])  # each row is a mode
    np.testing.assert_allclose(alone.predict_proba(X[:5]).sum(axis=1), 1)


@pytest.mark.parametrize("kind", [KModes(3), LaplacianKModes(3), MeanShift(2.0)])
def test_models_of_sparse_rows_with_y_have_no_shares(kind, tmp_path):
    model = clone(kind)
    with pytest.raises(NotFittedError):
        model.predict_proba(X)
    shares = model.fit(X).predict_proba(X)
    assert shares.shape == (400, len(model.cluster_centers_))
    pipeline = make_pipeline(StandardScaler(), clone(kind)).fit(X, Y)
    assert pipeline.predict_proba(X).shape[0] == 400
    rows = sparse.csr_array(X)
    assert model.fit(rows).predict_proba(rows).shape == (400, len(model.cluster_centers_))
    model.fit(rows, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"fitted without y.* Call fit\(X\)"):
        model.predict_proba(rows)
    model.save(tmp_path / "model.npz")
    assert not hasattr(modeclust.load(tmp_path / "model.npz"), "predict_proba")


def test_scores_are_measured_when_they_are_first_needed(model):
    lazy = clone(model).fit(X)
    copies = pickle.loads(pickle.dumps(lazy)), copy.deepcopy(clone(model).fit(X))
    assert lazy._confidence.X is None  # the pickle needed the scores, and then no rows
    for other in (lazy, *copies):
        np.testing.assert_array_equal(other.outlier_scores_, model.outlier_scores_)
        np.testing.assert_array_equal(other.score_outliers(X), model.outlier_scores_)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_with_cosine_only_directions_count(container, rng):
    lengths = rng.uniform(0.1, 10, (len(X), 1))
    rows, other = container(X + 3), container((X + 3) * lengths)
    for kind in (KModes(3, metric="cosine", random_state=0), MeanShift(0.2, metric="cosine")):
        model = clone(kind).fit(rows)
        np.testing.assert_allclose(model.predict_proba(other), model.predict_proba(rows), atol=1e-9)
        with pytest.raises(ValueError, match="not all zeros, but these are: 1"):
            model.predict_proba(container(np.array([[1.0, 0], [0, 0]])))
    model = KModes(3, metric="cosine", random_state=0).fit(rows)
    np.testing.assert_allclose(model.score_outliers(rows), model.outlier_scores_, atol=1e-9)
    np.testing.assert_allclose(model.score_outliers(other), model.outlier_scores_, atol=1e-6)
    with pytest.raises(ValueError, match="not all zeros, but these are: 0"):
        model.score_outliers(container(np.zeros((1, 2))))


def test_mapped_rows_are_scored_as_those_in_memory(model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    other = KModes(3, random_state=0).fit(mapped)
    np.testing.assert_array_equal(other.outlier_scores_, model.outlier_scores_)
    np.testing.assert_array_equal(other.score_outliers(mapped), model.outlier_scores_)


def test_any_number_of_threads_gives_the_same_bits():
    rows = load_digits().data
    one, two = (KModes(10, random_state=0, n_jobs=n).fit(rows) for n in (1, 2))
    np.testing.assert_array_equal(one.outlier_scores_, two.outlier_scores_)
    np.testing.assert_array_equal(one.predict_proba(rows), two.predict_proba(rows))


def test_a_resumed_fit_has_the_same_scores(model, tmp_path):
    options = {"checkpoint": tmp_path / "fit.checkpoint", "keep_checkpoint": True}
    for _ in range(2):  # the second fit takes everything from the file
        other = KModes(3, random_state=0, **options).fit(X)
        np.testing.assert_array_equal(other.outlier_scores_, model.outlier_scores_)


def test_scores_need_a_fit():
    with pytest.raises(NotFittedError):
        KModes().score_outliers(X)
    with pytest.raises(NotFittedError):
        KModes().predict_proba(X)
    assert not hasattr(KModes(), "outlier_scores_")


def test_dense_rows_far_from_zero_are_scored_as_sparse_ones(rng):
    rows = rng.normal(size=(300, 2)) + 1e5
    model = KModes(2, random_state=0).fit(sparse.csr_array(rows))
    expected = model.score_outliers(sparse.csr_array(rows))
    np.testing.assert_allclose(model.score_outliers(rows), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_rows_that_differ_from_many_equal_ones_are_no_outliers_for_that(n_clusters, rng):
    X = (rng.uniform(size=(1000, 8)) < 0.05).astype(float)  # two thirds of the rows are 0
    X[-1] = 10
    scores = KModes(n_clusters, random_state=0).fit(X).outlier_scores_
    assert np.flatnonzero(scores > 3).tolist() == [len(X) - 1]

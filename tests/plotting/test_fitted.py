import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes, MeanShift, load
from modeclust.plotting import ModesDisplay, PathDisplay
from modeclust.plotting.fitted import Fitted

ORDER = "its rows in the same order, but row {} is different; pass the same rows"
MODELS = [
    KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0),
    KModes(3, bandwidth=np.inf, random_state=0),
    LaplacianKModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0),
    MeanShift(bandwidth=1.5),
]


@pytest.fixture(scope="module")
def rows():
    X, _ = make_blobs(200, 3, centers=3, random_state=0)
    return X


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_in_another_order_are_refused(model, rows):
    model.fit(rows)
    assert Fitted.of(model, rows).X is rows
    other = rows.copy()
    first, second = (np.flatnonzero(model.labels_ == k)[0] for k in (0, 1))
    other[[first, second]] = rows[[second, first]]
    with pytest.raises(ValueError, match=ORDER.format(min(first, second))):
        Fitted.of(model, other)
    with pytest.raises(ValueError, match=ORDER.format(min(first, second))):
        ModesDisplay.from_estimator(model, sparse.csr_array(other))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("fitted", ["float64", "float32", "csr"])
@pytest.mark.parametrize("shown", ["float64", "float32", "csr", "mapped", "frame"])
def test_the_same_rows_in_another_form_are_not(model, fitted, shown, rows, tmp_path):
    pd = pytest.importorskip("pandas")
    forms = {
        "float64": rows,
        "float32": rows.astype(np.float32),
        "csr": sparse.csr_array(rows),
        "frame": pd.DataFrame(rows),
        "mapped": np.memmap(tmp_path / "rows", np.float32, "w+", shape=rows.shape),
    }
    forms["mapped"][:] = rows
    model.fit(forms[fitted]).save(tmp_path / "model.npz")
    Fitted.of(load(tmp_path / "model.npz"), forms[shown])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, 1e15])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_ties_and_large_numbers_are_no_reason_to_refuse(offset, scale, rng):
    X = (rng.integers(0, 4, (60, 2)) + offset) * scale
    X[:20] = X[20:40]
    weight = rng.integers(0, 3, 60)
    model = KModes(4, bandwidth=scale, n_bandwidths=2, random_state=0)
    Fitted.of(model.fit(X, sample_weight=weight), X)


def test_of_two_equal_modes_each_may_have_any_row(rows):
    model = KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0).fit(rows)
    model.cluster_centers_[1] = model.cluster_centers_[0]
    model.labels_ = np.where(model.predict(rows) == 0, np.arange(200) % 2, 2)
    Fitted.of(model, rows)


def test_another_order_that_no_label_shows_is_taken(rows):
    model = KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0).fit(rows)
    by_label = np.concatenate([np.flatnonzero(model.labels_ == k)[::-1] for k in range(3)])
    places = np.argsort(model.labels_, kind="stable")
    other = rows.copy()
    other[places] = rows[by_label]
    Fitted.of(model, other)


def test_of_other_clusterers_only_the_number_is_known(rows):
    model = KMeans(3, random_state=0).fit(rows)
    Fitted.of(model, rows[::-1])
    with pytest.raises(ValueError, match="fitted on, 200 rows, got 199"):
        Fitted.of(model, rows[1:])


def test_the_last_batch_is_the_data_of_a_stream(rows):
    model = KModes(3, bandwidth=1.0, n_bandwidths=3, random_state=0)
    model.partial_fit(rows[:100]).partial_fit(rows[100:])
    PathDisplay.from_estimator(model, rows[100:])
    with pytest.raises(ValueError, match="in the same order"):
        PathDisplay.from_estimator(model, rows[:100])

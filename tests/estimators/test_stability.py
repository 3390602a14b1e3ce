"""The stability of clusters under resampling of the rows."""

import copy

import numpy as np
import pandas as pd
import pytest
from callbacks import Callback, needs_callbacks
from chunks import in_chunks
from same import assert_same
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from modeclust import KModes, load
from modeclust.estimators import stability
from modeclust.estimators.stability import Stability
from modeclust.exceptions import SingleRowWarning

X, _ = make_blobs(90, 3, centers=4, cluster_std=2.5, random_state=0)
OPTIONS = {"n_clusters": 4, "random_state": 0, "n_bandwidths": 3}
BANDWIDTHS = ["auto", "knn/2", 2.0, np.inf]


class Draws(np.random.RandomState):
    """Draws what it is given."""

    def __init__(self, *draws):
        super().__init__(0)
        self.left = iter(draws)

    def multinomial(self, n, pvals, size=None):
        drawn = np.array(next(self.left))
        assert drawn.sum() == n
        return drawn


def given_draws(monkeypatch, draws):
    """Let stability draw what is given, in chunks too."""
    left = iter(draws)

    def draw_counts(rows, weight, rng):
        counts = next(left).astype(float)
        if not hasattr(rows, "stats"):
            return counts
        import dask.array as da

        return da.from_array(counts, chunks=(tuple(rows.stats.lengths),))

    monkeypatch.setattr(stability, "draw_counts", draw_counts)


def bootstrap(n_resamples, n_rows=90):
    rng = np.random.RandomState(0)
    return [rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows)) for _ in range(n_resamples)]


def assert_equal(found, expected, **tolerance):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, **tolerance)


def test_by_hand():
    """K-means, which starts from 0 and 10, finds the clusters {0, 4} and {6, 10}: modes 2 and 8.

    In a sample of 0, 0, 4 and 6 it finds {0, 0} and {4, 6}: modes 0 and 5. The nearest rows are at
    distances 4 and 2 in the first cluster, 2 and 4 in the second: 3 in the median.
    """
    rows = np.array([[0.0], [4.0], [6.0], [10.0]])
    model = KModes(2, bandwidth=np.inf, init=rows[[0, 3]]).fit(rows)
    np.testing.assert_array_equal(model.modes_, [[2], [8]])
    draw = [2, 1, 1, 0]
    found = model.stability(rows, n_resamples=1, random_state=Draws(draw))
    assert isinstance(found, Stability)
    assert_equal(found, ([2 / 3, 1 / 2], [2 / 3, 3 / 3]))
    found = model.stability(rows, n_resamples=2, random_state=Draws(draw, [1, 1, 1, 1]))
    assert_equal(found, ([(2 / 3 + 1) / 2, (1 / 2 + 1) / 2], [1 / 3, 1 / 2]))


def slow_stability(model, rows, draws, seeds, scale=None):
    """Return the stability by fits to repeated rows, and by sets of drawn rows."""
    results = []
    for counts, seed in zip(draws, seeds, strict=True):
        drawn = np.repeat(np.arange(len(rows)), counts)
        other = KModes(**model.get_params()).set_params(random_state=seed)
        other.fit(rows[drawn], sample_scale=None if scale is None else scale[drawn])
        for k in range(len(model.modes_)):
            own = set(np.flatnonzero(model.labels_[drawn] == k))
            others = [set(np.flatnonzero(other.labels_ == j)) for j in range(len(other.modes_))]
            similar = [len(own & B) / len(own | B) if own | B else 0 for B in others]
            mode = other.modes_[np.argmax(similar)]
            results.append((max(similar), np.linalg.norm(model.modes_[k] - mode)))
    distances = cdist(rows, rows)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    spacing = [np.median(nearest[model.labels_ == k]) for k in range(len(model.modes_))]
    jaccard, shift = np.reshape(results, (len(draws), -1, 2)).mean(axis=0).T
    return jaccard, shift / spacing


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, len(X))], ids=["plain", "scales"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_counts_as_weights_give_the_same_as_repeated_rows(bandwidth, scale, monkeypatch):
    model = KModes(**OPTIONS, bandwidth=bandwidth).fit(X, sample_scale=scale)
    draws, seeds = bootstrap(5), []
    given_draws(monkeypatch, draws)
    fit_again = KModes._fit_again

    def recorded(self, rows, seed, changed, **columns):
        seeds.append(seed)
        return fit_again(self, rows, seed, changed, **columns)

    monkeypatch.setattr(KModes, "_fit_again", recorded)
    found = model.stability(X, n_resamples=5, sample_scale=scale)
    assert len(set(seeds)) == 5
    assert found.jaccard.min() < 1
    assert_equal(found, slow_stability(model, X, draws, seeds, scale), rtol=1e-6)


def test_separate_groups_are_stable():
    rows, _ = make_blobs(150, 10, centers=3, center_box=(-30, 30), random_state=0)
    found = KModes(3, random_state=0).fit(rows).stability(rows, n_resamples=10)
    assert found.jaccard.min() == 1
    assert found.mode_shift.max() < 1


@pytest.mark.parametrize("seed", range(3))
def test_the_halves_of_a_group_are_not_stable(seed):
    centers = [[0, 0], [20, 0], [0, 20]]
    rows, group = make_blobs([200, 100, 100], centers=centers, random_state=seed)
    model = KModes(4, random_state=0).fit(rows)
    of_half = np.array([np.all(group[model.labels_ == k] == 0) for k in range(4)])
    assert of_half.sum() == 2
    jaccard, _ = model.stability(rows, n_resamples=10)
    assert jaccard[of_half].max() < 0.85
    assert jaccard[~of_half].min() > 0.95


def test_digits():
    rows = load_digits().data
    jaccard, mode_shift = KModes(10, random_state=0).fit(rows).stability(rows, n_resamples=5)
    assert jaccard.min() < 0.6  # K-means splits some digits, and not always the same
    assert np.sum(jaccard > 0.85) >= 5
    assert np.all(mode_shift[jaccard > 0.85] < 1)


# Invariants.


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
def test_any_number_of_threads_gives_the_same_bits(bandwidth):
    model = KModes(**OPTIONS, bandwidth=bandwidth).fit(X)
    first, second = (model.set_params(n_jobs=n).stability(X, n_resamples=3) for n in (1, 3))
    assert_same(first, second)


def test_the_order_of_the_clusters_does_not_matter():
    model = KModes(**OPTIONS).fit(X)
    order = np.array([2, 0, 3, 1])
    permuted = copy.deepcopy(model)
    permuted.modes_, permuted.cluster_centers_ = model.modes_[order], model.cluster_centers_[order]
    permuted.labels_ = np.argsort(order)[model.labels_]
    expected = model.stability(X, n_resamples=4)
    assert_equal(permuted.stability(X, n_resamples=4), [values[order] for values in expected])


@pytest.mark.parametrize(
    "map_rows", [lambda X: X * 2.0**-500, lambda X: X * 1e150, lambda X: X + 1e3]
)
def test_units_do_not_matter(map_rows):
    expected = KModes(**OPTIONS).fit(X).stability(X, n_resamples=3)
    rows = map_rows(X)
    assert_equal(KModes(**OPTIONS).fit(rows).stability(rows, n_resamples=3), expected, rtol=1e-6)


def test_the_seed_is_that_of_the_model_by_default():
    model = KModes(**OPTIONS).fit(X)
    expected = model.stability(X, n_resamples=3)
    assert_same(model.stability(X, n_resamples=3, random_state=0), expected)
    state = np.random.RandomState(0)
    assert_same(model.stability(X, n_resamples=3, random_state=state), expected)
    other = model.stability(X, n_resamples=3, random_state=1)
    assert not np.array_equal(other.mode_shift, expected.mode_shift)


def test_an_integer_weight_is_a_repetition(monkeypatch):
    weight = np.arange(len(X)) % 3 + 1
    copies = np.repeat(np.arange(len(X)), weight)
    model = KModes(**OPTIONS).fit(X, sample_weight=weight)
    repeated = KModes(**OPTIONS).fit(X[copies])
    draws = bootstrap(3, weight.sum())
    given_draws(monkeypatch, draws)
    expected = repeated.stability(X[copies], n_resamples=3)
    given_draws(monkeypatch, [np.bincount(copies, weights=draw) for draw in draws])
    found = model.stability(X, n_resamples=3, sample_weight=weight)
    assert_equal(found, expected, rtol=1e-6)


def test_rows_of_weight_0_are_not_there():
    weight = np.arange(len(X)) % 3 * 0.7
    model = KModes(**OPTIONS).fit(X, sample_weight=weight)
    found = model.stability(X, n_resamples=3, sample_weight=weight)
    rows, weight = X[weight > 0], weight[weight > 0]
    model = KModes(**OPTIONS).fit(rows, sample_weight=weight)
    assert_equal(found, model.stability(rows, n_resamples=3, sample_weight=weight), rtol=1e-6)


# Containers.


def mapped(rows, folder):
    np.save(folder / "rows.npy", rows)
    return np.load(folder / "rows.npy", mmap_mode="r")


FORMS = {
    "frame": lambda X, _: pd.DataFrame(X, columns=["a", "b", "c"]),
    "float32": lambda X, _: X.astype(np.float32),
    "CSR": lambda X, _: sparse.csr_array(X),
    "memmap": mapped,
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_any_form(form, tmp_path):
    expected = KModes(**OPTIONS).fit(X).stability(X, n_resamples=3)
    rows = FORMS[form](X, tmp_path)
    found = KModes(**OPTIONS).fit(rows).stability(rows, n_resamples=3)
    assert_equal(found, expected, rtol=1e-3 if form == "float32" else 1e-6)


@pytest.fixture(params=["threads", "processes"])
def scheduler(request):
    distributed = pytest.importorskip("distributed")
    if request.param == "threads":
        yield
    else:
        with distributed.Client(request.getfixturevalue("dask_cluster")):
            yield


DASK_FORMS = {
    "plain": lambda X: in_chunks(X, 25),
    "CSR": lambda X: in_chunks(sparse.csr_array(X), 25),
    "frame": lambda X: pytest.importorskip("dask.dataframe").from_pandas(
        pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3
    ),
}


@pytest.mark.parametrize("form", DASK_FORMS)
def test_chunks_give_the_same_as_memory(form, scheduler, monkeypatch):
    weight = np.arange(len(X)) % 3
    draws = [draw * (weight > 0) for draw in bootstrap(2)]
    given_draws(monkeypatch, draws)
    model = KModes(**OPTIONS).fit(X, sample_weight=weight)
    expected = model.stability(X, n_resamples=2, sample_weight=weight)
    given_draws(monkeypatch, draws)
    rows = DASK_FORMS[form](X)
    model = KModes(**OPTIONS).fit(rows, sample_weight=weight)
    found = model.stability(rows, n_resamples=2, sample_weight=weight)
    assert_equal(found, expected, rtol=1e-6)


def test_chunks_are_drawn_from_on_their_workers(scheduler):
    rows = in_chunks(X, 25)
    model = KModes(**OPTIONS).fit(rows)
    found = model.stability(rows, n_resamples=2)
    assert_same(model.stability(rows, n_resamples=2), found)
    assert np.all((found.jaccard > 0) & (found.jaccard <= 1))


def test_a_loaded_model(tmp_path):
    model = KModes(**OPTIONS).fit(X)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert_same(loaded.stability(X, n_resamples=2), model.stability(X, n_resamples=2))


def test_a_loaded_model_of_chunks(tmp_path):
    pytest.importorskip("dask.array")
    rows = in_chunks(X, 25)
    model = KModes(**OPTIONS).fit(rows)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    expected = model.stability(rows, n_resamples=2)
    assert_same(loaded.stability(rows, n_resamples=2), expected)
    assert_equal(model.stability(X, n_resamples=2), loaded.stability(X, n_resamples=2))


# Limits.


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
def test_one_cluster_is_always_the_same(bandwidth):
    found = KModes(1, random_state=0, bandwidth=bandwidth).fit(X).stability(X, n_resamples=3)
    assert found.jaccard == 1
    assert 0 < found.mode_shift < np.inf


def test_equal_rows():
    rows = np.ones((5, 2))
    assert_equal(KModes(1).fit(rows).stability(rows, n_resamples=2), ([1], [0]))


def test_a_cluster_without_rows_has_no_stability():
    rows = np.array([[0.0], [1.0], [2.0], [9.0]])
    model = KModes(2, init=[[1.0], [9.0]], bandwidth=1.0).fit(rows)
    weight = np.array([1.0, 1, 1, 0])
    found = model.stability(rows, n_resamples=2, sample_weight=weight, random_state=0)
    np.testing.assert_array_equal(np.isnan(found), [[False, True]] * 2)
    # As after a path along which a cluster lost its rows.
    model.modes_ = model.cluster_centers_ = np.append(model.modes_, [[99.0]], axis=0)
    found = model.stability(rows, n_resamples=2, random_state=Draws([1, 2, 0, 1], [1, 1, 1, 1]))
    np.testing.assert_array_equal(found.jaccard, [1, 1, np.nan])
    np.testing.assert_array_equal(np.isnan(found.mode_shift), [False, False, True])


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("init", ["k-means++", "array"])
@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
def test_a_sample_of_fewer_distinct_rows_than_clusters(bandwidth, init, chunked, monkeypatch):
    """Each is a cluster of its own."""
    rows = np.array([[0.0], [0.0], [4.0], [6.0]])
    start = init if init == "k-means++" else rows[1:]
    model = KModes(3, init=start, random_state=0, bandwidth=bandwidth)
    if chunked:
        pytest.importorskip("dask.array")
    data = in_chunks(rows, 3) if chunked else rows
    model.fit(data)
    given_draws(monkeypatch, [np.array([2, 2, 0, 0]), np.array([1, 0, 2, 1])])
    jaccard, shift = model.stability(data, n_resamples=2)
    order = model.modes_[:, 0].round().argsort()
    np.testing.assert_allclose(jaccard[order], [1, 1 / 2, 1 / 2])
    np.testing.assert_allclose(shift[order], [0, 4 / 2 / 2, 6 / 2 / 2], atol=1e-6)


def test_resamples_do_not_warn():
    model = KModes(**OPTIONS, bandwidth=1.0, max_iter=1, path_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    model.stability(X, n_resamples=2)  # a warning would be an error


def test_resamples_have_no_checkpoint(tmp_path):
    model = KModes(**OPTIONS, checkpoint=tmp_path / "c").fit(X)
    (tmp_path / "c").write_text("something else")
    model.stability(X, n_resamples=1)
    assert (tmp_path / "c").read_text() == "something else"


@needs_callbacks
def test_resamples_run_no_callbacks():
    class Counter(Callback):
        count = 0

        def on_fit_task_begin(self, estimator, context):
            self.count += 1

    counter = Counter()
    model = KModes(**OPTIONS).set_callbacks(counter).fit(X)
    before = counter.count
    model.stability(X, n_resamples=1)
    assert counter.count == before > 0


def test_one_line_is_printed_for_each_resample(capsys):
    rows = np.array([[0.0], [4.0], [6.0], [10.0]])
    model = KModes(2, bandwidth=np.inf, init=rows[[0, 3]]).fit(rows)
    draws = Draws([2, 1, 1, 0], [1, 1, 1, 1])
    model.set_params(verbose=1).stability(rows, n_resamples=2, random_state=draws)
    assert capsys.readouterr().out.splitlines() == [
        "[KModes] resample 1 of 2  jaccard 0.500 to 0.667",
        "[KModes] resample 2 of 2  jaccard 1.000 to 1.000",
    ]


def test_the_model_is_not_changed():
    model = KModes(**OPTIONS).fit(X)
    before = copy.deepcopy(vars(model))
    model.stability(X, n_resamples=1)
    assert_same(vars(model), before)


def test_parameters_are_those_of_the_fit():
    model = KModes(**OPTIONS, bandwidth=2.0).fit(X)
    expected = model.stability(X, n_resamples=2)
    model.set_params(n_clusters=2, bandwidth="knn", kernel="cauchy")
    assert_same(model.stability(X, n_resamples=2), expected)


def test_errors_come_before_the_work(monkeypatch):
    with pytest.raises(NotFittedError):
        KModes(4).stability(X)
    model = KModes(**OPTIONS).fit(X)
    adaptive = KModes(**OPTIONS, adaptive=True).fit(X)
    monkeypatch.setattr(KModes, "fit", None)
    with pytest.raises(ValueError, match="same order, but row"):
        model.stability(X[::-1])
    with pytest.raises(ValueError, match="90 rows, got 50"):
        model.stability(X[:50])
    with pytest.raises(ValueError, match="2 features, but KModes is expecting 3"):
        model.stability(X[:, :2])
    with pytest.raises(ValueError, match="n_resamples must be an integer >= 1, got 0"):
        model.stability(X, n_resamples=0)
    with pytest.raises(ValueError, match="sample_scale cannot be given with adaptive=True"):
        adaptive.stability(X, sample_scale=np.ones(90))


def test_other_errors_of_fits_are_raised():
    model = KModes(**OPTIONS).fit(X).set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs"):
        model.stability(X)


def test_a_cluster_of_one_row_does_not_warn_again():
    rows = np.concatenate([X[:, :2], [[1e4, 1e4]]])
    with pytest.warns(SingleRowWarning):
        model = KModes(3, bandwidth=np.inf, random_state=0).fit(rows)
    found = model.stability(rows, n_resamples=5, random_state=0)  # warnings are errors
    assert found.jaccard.shape == (3,)

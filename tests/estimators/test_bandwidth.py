import warnings

import numpy as np
import pytest
import reference
from scipy import sparse
from scipy.stats import gaussian_kde
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from modeclust import KModes, LaplacianKModes, MeanShift, estimate_bandwidth
from modeclust.data.memory import MemoryDataset
from modeclust.solvers.bandwidth import RULES, average

STATISTICS = {"mean": np.mean, "median": np.median}
rules = pytest.mark.parametrize("rule", RULES)


@pytest.mark.parametrize("n_neighbors", [1, 10, 30])
@pytest.mark.parametrize("n_features", [1, 3, 40])
def test_knn_is_the_average_distance_to_the_kth_other_row(rng, n_neighbors, n_features):
    X = rng.normal(size=(150, n_features))
    for statistic, function in STATISTICS.items():
        expected = reference.knn_bandwidth(X, n_neighbors, function)
        found = estimate_bandwidth(X, n_neighbors=n_neighbors, statistic=statistic)
        assert found == pytest.approx(expected, rel=1e-10)


def test_knn_by_hand():
    X = np.array([[0.0], [1.0], [3.0]])
    assert estimate_bandwidth(X, n_neighbors=1) == pytest.approx((1 + 1 + 2) / 3)
    # There are only two other rows.
    assert estimate_bandwidth(X, n_neighbors=10) == pytest.approx((3 + 2 + 3) / 3)


def test_the_median_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [100.0]])  # the nearest are at 1, 1, 2, 97
    assert estimate_bandwidth(X, n_neighbors=1, statistic="median") == 1.5
    # Half of the weight, 1.75, is reached by the two rows at 1.
    found = estimate_bandwidth(X, n_neighbors=1, statistic="median", sample_weight=[1, 1, 1, 0.5])
    assert found == 1
    found = estimate_bandwidth(X, n_neighbors=1, statistic="median", sample_weight=[1, 1, 1, 0])
    assert found == 1
    found = estimate_bandwidth(X, n_neighbors=2, statistic="median", sample_weight=[1, 1, 1, 2])
    assert found == 3  # at 3, 2, 3, 97, 97


@pytest.mark.parametrize("weights", [[0.1] * 4, [0.1 / 3] * 4, [7.0] * 4, [1e-300] * 4])
def test_the_median_of_equal_weights_is_numpys(weights):
    assert average(np.array([4.0, 1.0, 2.0, 8.0]), np.array(weights), "median") == 3


def test_the_weighted_median_is_numpys_of_repeated_values(rng):
    assert average(np.array([3.0, 1.0, 2.0]), np.ones(3), "median") == 2
    assert average(np.array([4.0, 1.0]), np.ones(2), "median") == 2.5
    assert average(np.array([4.0, 1.0]), np.array([0.3, 0.2]), "median") == 4
    for n in range(1, 9):
        values, weights = rng.normal(size=n), rng.integers(1, 4, size=n)
        expected = np.median(np.repeat(values, weights))
        assert average(values, weights.astype(float), "median") == expected


def test_outliers_hardly_change_the_median(rng):
    X = rng.normal(size=(1000, 2))
    outliers = rng.uniform(-1, 1, size=(20, 2)) * 1000
    spoiled = np.concatenate([X, outliers])
    clean = estimate_bandwidth(X, statistic="median")
    assert estimate_bandwidth(spoiled, statistic="median") == pytest.approx(clean, rel=0.05)
    assert estimate_bandwidth(spoiled) > 10 * estimate_bandwidth(X)
    local = estimate_bandwidth(X, local=True)
    for statistic in STATISTICS:  # each row has the distance to its own neighbour
        found = estimate_bandwidth(spoiled, local=True, statistic=statistic)[:1000]
        np.testing.assert_allclose(found, local, rtol=0.7)
        assert np.median(found / local) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "knn"])
def test_only_knn_has_a_median(rule):
    with pytest.raises(ValueError, match=f"needs rule='knn', got rule='{rule}'.*leave out"):
        estimate_bandwidth(np.eye(4), rule, statistic="median")


def test_the_median_where_most_rows_are_repeated():
    X = np.concatenate([np.zeros((60, 1)), np.arange(1.0, 21.0)[:, None]])
    # Most distances are 0, so the distinct rows count: 21 rows, one apart.
    assert estimate_bandwidth(X, n_neighbors=1, statistic="median") == 1


def test_normal_reference_rules_are_scipys_in_one_dimension(rng):
    x = rng.normal(size=500) * 3 + 5
    for rule in ("scott", "silverman"):
        expected = gaussian_kde(x, rule).factor * x.std(ddof=1)
        assert estimate_bandwidth(x[:, None], rule) == pytest.approx(expected, rel=1e-10)


def test_likelihood_is_the_best_left_out_density():
    X, _ = make_blobs(120, 2, random_state=0)
    found = estimate_bandwidth(X, "likelihood")

    def left_out(bandwidth):
        total = 0.0
        for n in range(len(X)):
            others = np.delete(X, n, axis=0)
            total += KernelDensity(bandwidth=bandwidth).fit(others).score(X[n : n + 1])
        return total

    best = left_out(found)
    for factor in (0.5, 0.8, 0.95, 1.05, 1.25, 2.0):
        assert left_out(found * factor) < best


@rules
def test_bandwidths_scale_with_the_data(rng, rule):
    X = rng.normal(size=(100, 3))
    plain = estimate_bandwidth(X, rule)
    assert estimate_bandwidth(X * 1e-200, rule) == pytest.approx(plain * 1e-200, rel=1e-6)
    assert estimate_bandwidth(X + 1e8, rule) == pytest.approx(plain, rel=1e-5)
    assert estimate_bandwidth(X.astype(np.float32), rule) == pytest.approx(plain, rel=1e-4)
    assert estimate_bandwidth(sparse.csr_array(X), rule) == pytest.approx(plain, rel=1e-6)


@rules
def test_integer_weights_are_repeated_rows(rng, rule):
    X = rng.normal(size=(80, 2))
    weight = rng.integers(0, 4, size=80)
    repeated = estimate_bandwidth(np.repeat(X, weight, axis=0), rule)
    order = rng.permutation(80)
    weighted = estimate_bandwidth(X[order], rule, sample_weight=weight[order])
    assert weighted == pytest.approx(repeated, rel=1e-9)
    if rule == "knn":
        for local in (False, True):
            options = {"statistic": "median", "local": local}
            repeated = estimate_bandwidth(np.repeat(X, weight, axis=0), **options)
            weighted = estimate_bandwidth(X, sample_weight=weight, **options)
            weighted = np.repeat(weighted, weight) if local else weighted
            np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


@rules
def test_other_weights_do_not_depend_on_their_unit(rng, rule):
    X = rng.normal(size=(80, 2))
    weight = rng.uniform(0.1, 1, size=80)
    expected = estimate_bandwidth(X, rule, sample_weight=weight)
    assert estimate_bandwidth(X, rule, sample_weight=weight / 1000) == pytest.approx(expected)


@rules
def test_bandwidths_are_positive_where_rows_repeat(rule):
    X = np.repeat(np.arange(4.0), 30)[:, None]
    assert estimate_bandwidth(X, rule) > 0.1
    assert estimate_bandwidth(np.full((20, 2), 3.0), rule) == 1.0
    high = np.repeat(np.random.default_rng(0).normal(size=(5, 40)) + 3, 30, axis=0)
    assert estimate_bandwidth(high, rule) > 0.1


def test_local_scales_are_distances_to_the_tenth_neighbour():
    X = load_iris().data
    local = estimate_bandwidth(X, local=True)
    distances = np.sort(np.sqrt(reference.squared_distances(X, X)), axis=1)[:, 10]
    np.testing.assert_allclose(local, distances, rtol=1e-10)
    other = estimate_bandwidth(X, "scott", local=True)
    ratio = estimate_bandwidth(X, "scott") / distances.mean()
    np.testing.assert_allclose(other, distances * ratio, rtol=1e-10)


def test_local_scales_are_positive_where_rows_repeat():
    X = np.concatenate([np.zeros((20, 1)), np.arange(1.0, 30.0)[:, None]])
    local = estimate_bandwidth(X, local=True)
    assert local.min() > 0
    assert local[0] == local[local > 0].min()


def few_queries(monkeypatch):
    """Let few rows of a sample have their neighbours among all rows, as on large data."""
    monkeypatch.setattr("modeclust.solvers.bandwidth.NUMBERS_PER_ROW", 0)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_ratio_estimate_is_near_the_exact_result(rng, monkeypatch, statistic):
    few_queries(monkeypatch)
    blobs, _ = make_blobs(9000, 2, centers=5, random_state=0)
    digits = rng.normal(size=(9000, 60))
    for X in (blobs, digits, sparse.csr_array(digits * (digits > 1))):
        exact = estimate_bandwidth(X, statistic=statistic, n_samples=9000)
        found = estimate_bandwidth(X, statistic=statistic, random_state=0)
        assert exact != found == pytest.approx(exact, rel=0.1)


def test_the_ratio_estimate_by_its_formula(rng, monkeypatch):
    few_queries(monkeypatch)
    X = rng.normal(size=(900, 2))
    state = np.random.RandomState(0)
    with MemoryDataset(X) as dataset:
        chosen = dataset.draw(400, state)
    few = np.sort(state.permutation(400)[:10])
    in_sample = np.sqrt(reference.squared_distances(X[chosen], X[chosen]))
    near = np.sort(in_sample, axis=1)[:, 10]
    exact = np.sort(np.sqrt(reference.squared_distances(X[chosen[few]], X)), axis=1)[:, 10]
    for statistic, function in STATISTICS.items():
        found = estimate_bandwidth(X, n_samples=400, statistic=statistic, random_state=0)
        expected = function(near) * function(exact) / function(near[few])
        assert found == pytest.approx(expected, rel=1e-12)


def test_the_ratio_estimate_of_every_dataset_is_the_same(rng, monkeypatch, tmp_path):
    da = pytest.importorskip("dask.array")
    few_queries(monkeypatch)
    monkeypatch.setattr("modeclust.data.memory.NUMBERS_AT_ONCE", 5000)
    X = rng.normal(size=(7000, 3)).astype(np.float32).astype(np.float64)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    weight = rng.integers(0, 3, size=7000).astype(float)
    for told in ({}, {"sample_weight": weight}):
        expected = estimate_bandwidth(X, random_state=0, **told)
        for rows in (mapped, X.astype(np.float32), sparse.csr_array(X)):
            found = estimate_bandwidth(rows, random_state=0, **told)
            assert found == pytest.approx(expected, rel=1e-5)
        for n_jobs in (1, 3):
            assert estimate_bandwidth(X, random_state=0, n_jobs=n_jobs, **told) == expected
        model = KModes(2, bandwidth="knn", n_init=1, n_bandwidths=1, random_state=0, max_iter=1)
        chunks = {name: da.from_array(value, chunks=2000) for name, value in told.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(da.from_array(X, chunks=(1500, 3)), **chunks)
        assert model.bandwidth_ == pytest.approx(expected, rel=1e-12)


def test_a_sample_of_rows_stands_for_many(rng):
    X = rng.normal(size=(6000, 2))
    exact = estimate_bandwidth(X, n_samples=6000)
    sampled = [estimate_bandwidth(X, n_samples=1000, random_state=seed) for seed in (0, 0, 1)]
    assert sampled[0] == sampled[1] != sampled[2]
    assert sampled == pytest.approx([exact] * 3, rel=0.05)
    assert estimate_bandwidth(X, n_samples=1000, random_state=0, n_jobs=2) == sampled[0]
    local = estimate_bandwidth(X, local=True, n_samples=1000, random_state=0)
    full = estimate_bandwidth(X, local=True, n_samples=6000)
    assert np.corrcoef(np.log(local), np.log(full))[0, 1] > 0.8
    assert local.mean() == pytest.approx(exact, rel=0.05)


def test_likelihood_of_a_sample_is_scaled_to_all_rows(rng):
    X = rng.normal(size=(4000, 1))
    assert estimate_bandwidth(X, "likelihood", random_state=0) == pytest.approx(
        estimate_bandwidth(X, "scott"), rel=0.3
    )


def test_a_mapped_file_gives_the_same(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("modeclust.data.memory.NUMBERS_AT_ONCE", 500)
    for dtype in (np.float64, np.int16):
        X = (rng.normal(size=(300, 3)) * 100).astype(dtype)
        np.save(tmp_path / "rows.npy", X)
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        for rule in RULES:
            expected = estimate_bandwidth(X, rule)
            assert estimate_bandwidth(mapped, rule) == pytest.approx(expected, rel=1e-9)


@rules
@pytest.mark.parametrize("n_features", [3, 40])
def test_tight_clusters_far_apart(rng, rule, n_features):
    X = rng.normal(size=(200, n_features)) * 1e-3
    X[100:] += 3000
    found = estimate_bandwidth(X, rule)
    alone = [estimate_bandwidth(part, rule) for part in (X[:100], X[100:])]
    if rule == "knn":
        assert found == pytest.approx(np.mean(alone), rel=1e-3)
    elif rule == "likelihood":
        assert found == pytest.approx(np.mean(alone), rel=0.05)
    else:  # these look at the spread of all
        assert found > 1


def test_one_far_row_does_not_make_the_local_scales_equal(rng):
    X = np.concatenate([rng.normal(size=(200, 2)) * s + 5 * s for s in (0.02, 0.3, 1)])
    local = estimate_bandwidth(X, local=True)
    with_outlier = estimate_bandwidth(np.concatenate([X, [[1e6, 0]]]), local=True)
    np.testing.assert_allclose(with_outlier[:600], local, rtol=1e-9)


def test_csr_with_an_offset(rng):
    X = rng.normal(size=(200, 2)) + 1e6
    for rule in RULES:
        dense, csr = estimate_bandwidth(X, rule), estimate_bandwidth(sparse.csr_array(X), rule)
        # The distances of CSR rows that are searched are products, and off by 1e-4 here.
        assert csr == pytest.approx(dense, rel=0.02 if rule in ("knn", "likelihood") else 1e-6)


def test_the_estimator_samples_the_same_rows_as_the_function(rng):
    X = rng.normal(size=(8000, 2))
    model = KModes(2, bandwidth="knn", n_init=1, n_bandwidths=1, max_iter=1000, random_state=0)
    model.fit(X)
    assert model.bandwidth_ == estimate_bandwidth(X, random_state=0)


@pytest.mark.parametrize("adaptive", [False, True])
@rules
def test_a_fraction_of_a_rule_is_its_result_divided_by_a_number(rule, adaptive):
    X = load_iris().data
    whole = estimate_bandwidth(X, rule)
    fractions = [(f"{rule}/3", 3), (f" {rule} / 0.5 ", 0.5), (f"2 * {rule}", 0.5)]
    for text, divisor in [*fractions, (f"{rule}*0.5", 2), (f"{rule} * 2/4", 2)]:
        options = {"n_init": 1, "n_bandwidths": 3, "random_state": 0, "adaptive": adaptive}
        by_part = KModes(3, bandwidth=text, **options).fit(X)
        by_number = KModes(3, bandwidth=whole / divisor, **options).fit(X)
        assert by_part.bandwidth_ == whole / divisor
        assert by_part.path_.centers.tobytes() == by_number.path_.centers.tobytes()


def test_every_estimator_takes_a_fraction_of_a_rule():
    X = load_iris().data
    half = estimate_bandwidth(X) / 2
    assert MeanShift("knn/2").fit(X).bandwidth_ == half
    assert LaplacianKModes(3, bandwidth="knn/2", n_init=1).fit(X).bandwidth_ == half
    search = GridSearchCV(
        KModes(3, n_init=1, n_bandwidths=2, random_state=0),
        {"bandwidth": ["knn", "knn/2"]},
        scoring="adjusted_rand_score",
    )
    assert search.fit(X, load_iris().target).best_params_["bandwidth"] in ("knn", "knn/2")


def test_a_fraction_of_a_rule_works_for_chunks():
    da = pytest.importorskip("dask.array")
    X = load_iris().data
    model = KModes(3, bandwidth="knn/4", n_init=1, n_bandwidths=2, random_state=0)
    assert model.fit(da.from_array(X, chunks=(50, 4))).bandwidth_ == pytest.approx(
        estimate_bandwidth(X) / 4, rel=1e-12
    )

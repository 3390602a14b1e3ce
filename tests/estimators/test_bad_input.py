"""Bad input gets a clear error before any work is done."""

import numpy as np
import pytest
from scipy import sparse

from modeclust import KModes, kmodes_path

GOOD = np.arange(20.0).reshape(10, 2) ** 2


def spoiled(value):
    X = GOOD.copy()
    X[3, 1] = value
    return X


@pytest.fixture(autouse=True)
def no_work_is_done(monkeypatch):
    def work(*args, **options):
        raise AssertionError("work began")

    monkeypatch.setattr("modeclust.rows.memory.MemoryRows.reduce", work)
    monkeypatch.setattr("modeclust.algorithms.bandwidth.nearest_rows", work)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (spoiled(np.nan), ValueError, "contains NaN"),
        (spoiled(np.inf), ValueError, "contains infinity"),
        (sparse.csr_array(spoiled(np.nan)), ValueError, "contains NaN"),
        ([["a", "b"], ["c", "d"]], ValueError, "could not convert string to float"),
        (np.empty((0, 2)), ValueError, "0 sample"),
        (np.empty((5, 0)), ValueError, "0 feature"),
        ([[1.0, 2.0]], ValueError, "1 sample.* minimum of 2"),
        ([1.0, 2.0, 3.0], ValueError, "Expected 2D array, got 1D"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3"),
        (GOOD + 1j, ValueError, "Complex data not supported"),
        (GOOD[:4], ValueError, r"n_clusters=5 is more than .* n_samples=4; lower"),
        (np.repeat(GOOD[:4], 5, axis=0), ValueError, r"n_clusters=5 .* distinct rows .* 4; lower"),
        (None, ValueError, "Expected 2D array"),
    ],
    ids=str,
)
def test_bad_rows(X, error, message):
    with pytest.raises(error, match=message):
        KModes(5).fit(X)
    with pytest.raises(error, match=message):
        kmodes_path(X, 5, bandwidths=[1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, r"'n_clusters' .* int in the range \[1, inf\). Got 0"),
        ({"n_clusters": 2.5}, r"'n_clusters' .* Got 2.5"),
        ({"bandwidth": 0}, r"'bandwidth' .* range \(0.0, inf\] .* Got 0"),
        ({"bandwidth": -1.0}, r"'bandwidth' .* Got -1.0"),
        ({"bandwidth": np.nan}, r"'bandwidth' .* Got nan"),
        ({"bandwidth": "magic"}, r"'bandwidth' .*'knn'.* Got 'magic'"),
        ({"kernel": "triangle"}, r"'kernel' .*'gaussian'.* Got 'triangle'"),
        ({"n_bandwidths": 0}, "'n_bandwidths'"),
        ({"start_bandwidth": -2.0}, "'start_bandwidth'"),
        ({"start_bandwidth": 0.5}, r"start_bandwidth must be .* greater than .* 1, got 0.5"),
        ({"start_bandwidth": np.inf}, "start_bandwidth must be finite"),
        ({"path_iter": 0}, "'path_iter'"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"mean_shift_iter": 0}, "'mean_shift_iter'"),
        ({"tol": -1e-3}, "'tol'"),
        ({"init": "best"}, "'init'"),
        ({"init": GOOD[:2]}, r"init must have shape \(3, 2\).* got \(2, 2\)"),
        ({"init": GOOD[:3, :1]}, r"init must have shape \(3, 2\).* got \(3, 1\)"),
        ({"init": spoiled(np.nan)[3:6]}, "init contains NaN"),
        ({"n_init": 0}, "'n_init'"),
        ({"random_state": "seed"}, "'random_state'"),
        ({"n_jobs": 1.5}, "'n_jobs'"),
        ({"n_jobs": 0}, "n_jobs must not be 0; pass None or -1"),
        ({"store_labels": "sometimes"}, "'store_labels'"),
        ({"adaptive": "yes"}, "'adaptive'"),
    ],
    ids=str,
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        KModes(**({"n_clusters": 3, "bandwidth": 1.0} | options)).fit(GOOD)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": np.full(10, -1.0)}, "Negative values"),
        ({"sample_weight": np.zeros(10)}, "(?i)zero"),
        ({"sample_weight": np.ones(9)}, r"sample_weight.shape == \(9,\), expected \(10,\)"),
        ({"sample_weight": np.full(10, np.nan)}, "sample_weight contains NaN"),
        ({"sample_weight": ["heavy"] * 10}, "could not convert string"),
        ({"sample_scale": np.zeros(10)}, "sample_scale must be > 0, got 0.0"),
        ({"sample_scale": np.ones(9)}, r"sample_scale must have shape \(10,\).* got \(9,\)"),
        ({"sample_scale": np.ones((10, 1))}, r"sample_scale must have shape \(10,\)"),
        ({"sample_scale": np.full(10, np.inf)}, "sample_scale contains infinity"),
        ({"sample_scale": np.geomspace(1e-60, 1, 10)}, r"factor of 1e\+50, got .* 1e-60 to 1"),
    ],
    ids=str,
)
def test_bad_weights_and_scales(options, message):
    with pytest.raises(ValueError, match=message):
        KModes(3, bandwidth=1.0).fit(GOOD, **options)
    with pytest.raises(ValueError, match=message):
        kmodes_path(GOOD, 3, bandwidths=[1.0], **options)


def test_scales_and_adaptive_exclude_each_other():
    with pytest.raises(ValueError, match="sample_scale cannot be given with adaptive=True"):
        KModes(3, adaptive=True).fit(GOOD, sample_scale=np.ones(10))


@pytest.mark.parametrize(
    ("bandwidths", "message"),
    [
        ([], "at least one number"),
        ([[2.0, 1.0]], "one-dimensional"),
        ([1.0, 2.0], "must decrease"),
        ([1.0, np.inf], "must decrease"),
        ([np.inf, np.inf], "must decrease"),
        ([1.0, 0.0], "must be > 0"),
        ([1.0, np.nan], "must be > 0"),
        (["wide"], "could not convert string"),
        (1.0, "'bandwidths' parameter"),
    ],
    ids=str,
)
def test_bad_bandwidths(bandwidths, message):
    with pytest.raises(ValueError, match=message):
        kmodes_path(GOOD, 3, bandwidths=bandwidths)


@pytest.mark.parametrize("bandwidths", [["a", 1.0], [[2.0], [1.0, 0.5]]])
def test_bandwidths_that_are_no_numbers(bandwidths):
    with pytest.raises(ValueError, match="bandwidths must be a list of numbers, got"):
        kmodes_path(np.arange(20.0)[:, None], 2, bandwidths=bandwidths)

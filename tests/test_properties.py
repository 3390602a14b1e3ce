"""What must hold for whatever users may pass, over everything public.

A property is a function under `@holds_for`, with strategies for what it is given. Each is tried on
a few fixed examples by `make test`, and on many random ones by `make test-slow`. Either there is an
error that the documentation gives a reason for (`refusal`), or all that is fitted fits together.
"""

import pickle
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import LOG_PULLS, PROFILES
from same import assert_same
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import modeclust
from modeclust import (
    KModes,
    LaplacianKModes,
    MeanShift,
    estimate_bandwidth,
    kmodes_path,
    modes_by_bandwidth,
)
from modeclust.algorithms.bandwidth import RULES
from modeclust.exceptions import EmptyClusterWarning, EmptySupportWarning
from modeclust.kernels import KERNELS

ALWAYS = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
QUICK = settings(max_examples=15, derandomize=True, **ALWAYS)
THOROUGH = settings(max_examples=400, database=None, **ALWAYS)
PROPERTIES = []


def holds_for(*strategies):
    def add(check):
        PROPERTIES.append(pytest.param(check, strategies, id=check.__name__))
        return check

    return add


def run(check, strategies, how):
    with warnings.catch_warnings():
        for kind in (EmptyClusterWarning, EmptySupportWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        how(given(*strategies)(check))()


# What is drawn.


class Data(NamedTuple):
    X: Any  # in some form that users may have
    dense: Any  # the same numbers as float64
    eps: float  # by how much of the largest of them results may be rounded
    weight: Any
    scale: Any

    @property
    def present(self):
        return np.ones(len(self.dense), bool) if self.weight is None else self.weight > 0

    @property
    def n_distinct(self):
        return len(np.unique(self.dense[self.present], axis=0))

    @property
    def rounding(self):
        return self.eps * np.abs(self.dense).max()


FORMS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "single CSR": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "CSC": sparse.csc_array,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "int": lambda X: np.round(X).astype(np.int64),
    "bool": lambda X: X > 0,
    "not aligned": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


@st.composite
def data(draw, scales=True):
    """Draw rows with ties, duplicates, constant columns, offsets; weights with zeros; scales."""
    n_rows, n_features = draw(st.integers(1, 30)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    form = draw(st.sampled_from(sorted(FORMS)))
    X = rng.normal(size=(n_rows, n_features))
    if draw(st.booleans()):
        X = np.round(2 * X)
    if draw(st.booleans()):
        X = X[rng.integers(0, n_rows, size=n_rows)]
    if draw(st.booleans()):
        X[:, rng.integers(n_features)] = draw(st.sampled_from([0.0, 5.0]))
    if form not in ("int", "bool"):
        X = X * 10.0 ** draw(st.integers(-3, 3))
    if form not in ("bool", "CSR", "single CSR", "CSC"):
        X = X + draw(st.sampled_from([0.0, 0.0, 1e3, -1e6, 1e8])) * (np.abs(X).max() or 1)
    given_X = FORMS[form](X)
    dense = np.asarray(given_X.toarray() if sparse.issparse(given_X) else given_X).astype(float)
    weight = scale = None
    if draw(st.booleans()):
        weight = rng.integers(0, 3, size=n_rows) * draw(st.sampled_from([1.0, 0.3, 1e-200]))
    if scales and draw(st.booleans()):
        scale = rng.uniform(0.3, 3, size=n_rows) * draw(st.sampled_from([1.0, 1e-20, 1e20]))
    eps = 1e-6 if "single" in form else 1e-14
    return Data(given_X, dense, eps, weight, scale)


RATIOS = st.one_of(st.floats(-2, 2), st.sampled_from([-6.0, 6.0]))


def bandwidth_for(rows, exponent):
    """Return a bandwidth of so many orders beside the spread of the rows."""
    spread = np.ptp(rows.dense, axis=0).max() or 1.0
    size = 1.0 if rows.scale is None else float(np.mean(rows.scale))
    return float(10.0**exponent * spread / size)


KERNEL = st.sampled_from(sorted(KERNELS))
SEED = st.integers(0, 100)
PATHS = st.fixed_dictionaries(
    {
        "n_bandwidths": st.integers(1, 4),
        "n_init": st.integers(1, 3),
        "path_iter": st.integers(1, 3),
        "max_iter": st.sampled_from([1, 5, 300]),
        "tol": st.sampled_from([0.0, 1e-4, 0.1]),
        "kernel": KERNEL,
        "random_state": SEED,
        "store_labels": st.sampled_from(["auto", True, False]),
    }
)


@st.composite
def inits(draw):
    """Draw what returns a start for K clusters of some rows."""
    kind = draw(st.sampled_from(["k-means++", "random", "rows", "callable", "outside"]))
    if kind in ("k-means++", "random"):
        return lambda dense, n_clusters: kind
    if kind == "callable":
        return lambda dense, n_clusters: _last_rows
    rng = np.random.default_rng(draw(SEED))
    away = 3.0 if kind == "outside" else 0.0

    def rows(dense, n_clusters):
        start = dense[rng.integers(0, len(dense), size=n_clusters)]
        return start + away * rng.normal(size=start.shape) * np.ptp(dense, axis=0)

    return rows


def _last_rows(X, n_clusters, random_state):
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    return dense[-n_clusters:]


# What is asked of it.


def refusal(rows, n_clusters=1, n_neighbors=0):
    """Return what the error for such rows says, or None if there is to be none."""
    n_rows = len(rows.dense)
    if n_rows < 2:
        return "minimum of 2 is required"
    if not rows.present.any():
        return "at least one non-zero"
    if n_neighbors >= n_rows:
        return "n_neighbors=.* must be less than the number of rows"
    if n_clusters > n_rows:
        return "n_clusters=.* is more than the number of rows"
    if n_clusters > rows.n_distinct:
        return "n_clusters=.* is more than the number of distinct rows"
    return None


def outcome(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except ValueError as error:
        return error


def is_refused(found, expected):
    """Return whether it is an error, which must be the one expected."""
    if isinstance(found, ValueError):
        assert expected is not None, found
        assert re.search(expected, str(found)), found
    else:
        assert expected is None, f"should have been refused: {expected}"
    return expected is not None


def check_inside(centers, rows, extra=None):
    """Assert that centroids are finite, and in the box of the rows and of `extra` points."""
    assert np.isfinite(centers).all()
    points = rows.dense[rows.present]
    points = points if extra is None else np.vstack([points, extra])
    slack = 4 * rows.rounding
    assert np.all(centers >= points.min(axis=0) - slack)
    assert np.all(centers <= points.max(axis=0) + slack)


def distances_to(centers, rows):
    return cdist(rows.dense, centers.astype(float))


def check_labels(labels, counts, rows, n_clusters):
    assert labels.shape == (len(rows.dense),)
    np.testing.assert_array_equal(counts, np.bincount(labels, minlength=n_clusters))


def check_nearest(labels, away, rows):
    own = away[np.arange(len(labels)), labels]
    assert np.all(own <= away.min(axis=1) * (1 + 1e-6) + 8 * rows.rounding)


def check_exemplars(model, away, rows):
    for k, exemplar in enumerate(model.exemplar_indices_):
        members = np.flatnonzero((model.labels_ == k) & rows.present)
        if len(members) == 0:
            assert exemplar == -1
            continue
        assert exemplar in members
        assert away[exemplar, k] <= away[members, k].min() * (1 + 1e-6) + 8 * rows.rounding


def check_path(path, model, rows, n_bandwidths):
    assert len(path) == n_bandwidths + 1
    assert path.bandwidths[0] == np.inf
    assert np.all(np.diff(path.bandwidths[1:]) < 0)
    assert path.bandwidths[-1] == model.bandwidth_
    assert np.isfinite(path.centers).all()
    assert np.all(path.counts.sum(axis=1) == len(rows.dense))
    assert np.all(path.inertias >= 0)
    np.testing.assert_array_equal(path.centers[-1], model.cluster_centers_)
    np.testing.assert_array_equal(path.counts[-1], model.counts_)
    if model.store_labels is False:
        assert path.labels is None
    else:
        np.testing.assert_array_equal(path.labels[-1], model.labels_)
        for labels, counts in zip(path.labels, path.counts, strict=True):
            check_labels(labels, counts, rows, path.counts.shape[1])
    frame = path.to_frame("dict")
    assert {len(column) for column in frame.values()} == {path.counts.size}
    for point in path:
        assert path.at(point.bandwidth).bandwidth == point.bandwidth


def check_copies(model, rows, predict, refit):
    """Assert that saved, pickled and cloned models are the same."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.npz"
        if not callable(getattr(model, "init", None)):
            model.save(file)
            assert_same(vars(modeclust.load(file)), vars(model))
    assert_same(vars(pickle.loads(pickle.dumps(model))), vars(model))
    again = refit(clone(model))
    for name, value in vars(model).items():
        if name.endswith("_") and name != "feature_names_in_":
            assert_same(getattr(again, name), value)
    assert_same(predict(again), predict(model))


def kernel_mean(rows, t, kernel):
    weight = np.ones(len(t)) if rows.weight is None else rows.weight / rows.weight.max()
    return float(np.sum(weight * PROFILES[kernel](t)) / weight.sum())


def bandwidths_of_rows(rows, bandwidth):
    return bandwidth * (np.ones(len(rows.dense)) if rows.scale is None else rows.scale)


@holds_for(data(), RATIOS, st.integers(1, 6), inits(), PATHS, st.integers(1, 2), st.booleans())
def kmodes_fits_together(rows, exponent, n_clusters, init, options, mean_shift_iter, is_infinite):
    bandwidth = np.inf if is_infinite else bandwidth_for(rows, exponent)
    start = init(rows.dense, n_clusters)
    model = KModes(
        n_clusters, bandwidth=bandwidth, init=start, mean_shift_iter=mean_shift_iter, **options
    )
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    expected = refusal(rows, n_clusters)
    if is_refused(outcome(model.fit, rows.X, **told), expected):
        return
    given_start = start if isinstance(start, np.ndarray) else None
    check_inside(model.cluster_centers_, rows, given_start)
    check_labels(model.labels_, model.counts_, rows, n_clusters)
    away = distances_to(model.cluster_centers_, rows)
    check_nearest(model.labels_, away, rows)
    check_exemplars(model, away, rows)
    check_path(model.path_, model, rows, 0 if is_infinite else options["n_bandwidths"])
    assert np.all((model.path_.objectives >= 0) & (model.path_.objectives <= 1))
    assert model.objective_ == model.path_.objectives[-1]
    assert np.isclose(model.bandwidth_, bandwidth, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(rows.X), model.labels_)
    np.testing.assert_allclose(
        model.transform(rows.X), away, rtol=1e-5 if rows.eps > 1e-10 else 1e-9,
        atol=8 * rows.rounding,
    )  # fmt: skip
    assert model.score(rows.X, **told) == pytest.approx(model.objective_, rel=1e-9, abs=1e-300)
    # Of rounded distances, as far as they matter at this bandwidth.
    blur = 8 * rows.rounding / bandwidths_of_rows(rows, bandwidth).min()
    if blur < 1e-7:
        t = (away.min(axis=1) / bandwidths_of_rows(rows, bandwidth)) ** 2
        value = kernel_mean(rows, t, model.kernel)
        assert model.objective_ == pytest.approx(value, rel=1e-5, abs=1e-5)
    check_copies(model, rows, lambda m: m.predict(rows.X), lambda m: m.fit(rows.X, **told))
    if is_infinite:
        return
    pairs = model.redundant_clusters(0.5)
    assert all(i < j < n_clusters for i, j in pairs)
    merged = model.merge_redundant(rows.X, threshold=0.5, **told)
    assert merged.redundant_clusters(0.5) == []
    check_inside(merged.cluster_centers_, rows, given_start)


@holds_for(data(scales=False), st.integers(1, 5), PATHS, st.sampled_from(RULES), st.booleans())
def rules_and_adaptive_fits_together(rows, n_clusters, options, rule, adaptive):
    model = KModes(n_clusters, bandwidth=rule, adaptive=adaptive, **options)
    found = outcome(model.fit, rows.X, sample_weight=rows.weight)
    if is_refused(found, refusal(rows, n_clusters)):
        return
    check_inside(model.cluster_centers_, rows)
    check_path(model.path_, model, rows, options["n_bandwidths"])
    assert 0 <= model.objective_ <= 1
    np.testing.assert_array_equal(model.predict(rows.X), model.labels_)
    estimate = estimate_bandwidth(
        rows.X, rule, sample_weight=rows.weight, random_state=options["random_state"]
    )
    assert model.bandwidth_ == pytest.approx(estimate, rel=1e-12)


@holds_for(data(), RATIOS, st.integers(1, 4), PATHS, st.sampled_from([1.0, 10.0, np.inf]))
def batches_fit_together(rows, exponent, n_clusters, options, half_life):
    model = KModes(
        n_clusters, bandwidth=bandwidth_for(rows, exponent), half_life=half_life, **options
    )
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    if is_refused(outcome(model.partial_fit, rows.X, **told), refusal(rows, n_clusters)):
        return
    for step in (2, 3):
        model.partial_fit(rows.X, **told)
        check_inside(model.cluster_centers_, rows)
        check_labels(model.labels_, model.counts_, rows, n_clusters)
        check_nearest(model.labels_, distances_to(model.cluster_centers_, rows), rows)
        assert 0 <= model.objective_ <= 1
        assert (model.n_steps_, model.n_samples_seen_) == (step, step * len(rows.dense))


@holds_for(data(), RATIOS, st.integers(1, 5), PATHS)
def kmodes_path_is_that_of_kmodes(rows, exponent, n_clusters, options):
    model = KModes(n_clusters, bandwidth=bandwidth_for(rows, exponent), **options)
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    if is_refused(outcome(model.fit, rows.X, **told), refusal(rows, n_clusters)):
        return
    options = {name: value for name, value in options.items() if name != "n_bandwidths"}
    path = kmodes_path(rows.X, n_clusters, bandwidths=model.path_.bandwidths, **options, **told)
    if rows.scale is None:
        assert_same(path, model.path_)
        return
    # Bandwidths are multiplied by the mean scale, and divided by it again.
    np.testing.assert_allclose(path.bandwidths, model.path_.bandwidths, rtol=1e-12)
    np.testing.assert_array_equal(path.centers[0], model.path_.centers[0])


@holds_for(
    data(),
    RATIOS,
    KERNEL,
    st.sampled_from(["all", "bin", 5, "rows"]),
    st.sampled_from([0.1, 1.0]),
    SEED,
)
def mean_shift_fits_together(rows, exponent, kernel, seeds, merge_radius, seed):
    if seeds == "bin" and sparse.issparse(rows.X):
        seeds = "all"
    bandwidth = bandwidth_for(rows, exponent)
    model = MeanShift(
        bandwidth,
        kernel=kernel,
        seeds=rows.dense[:3] if seeds == "rows" else seeds,
        merge_radius=merge_radius,
        random_state=seed,
    )
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        found = outcome(model.fit, rows.X, **told)
    if isinstance(found, ValueError) and "too small beside sparse rows" in str(found):
        assert sparse.issparse(rows.X)
        return
    if is_refused(found, refusal(rows)):
        return
    centers, n_modes = model.cluster_centers_, model.n_clusters_
    assert centers.shape == (n_modes, rows.dense.shape[1])
    extra = rows.dense  # a seed of weight 0 that nothing pulls at stays where it is
    check_inside(centers, rows, extra)
    check_labels(model.labels_, model.counts_, rows, n_modes)
    assert model.counts_.min() > 0 or seeds in ("bin", "rows")
    assert np.all((model.density_ >= 0) & (model.density_ <= 1))
    assert np.all(np.diff(model.density_) <= 1e-9)
    assert np.isclose(model.bandwidth_, bandwidth, rtol=1e-12)
    if not caught and kernel != "epanechnikov":
        check_stationary(model, rows)
    nearest = model.predict(rows.X, method="nearest")
    check_nearest(nearest, distances_to(centers, rows), rows)
    assert set(model.predict(rows.X)) <= set(range(n_modes))
    check_copies(model, rows, lambda m: m.predict(rows.X), lambda m: m.fit(rows.X, **told))


def check_stationary(model, rows):
    """Assert that mean-shift leaves modes where they are, and their densities."""
    scale = np.ones(len(rows.dense)) if rows.scale is None else rows.scale / rows.scale.mean()
    h = model.bandwidth_ * (1.0 if rows.scale is None else rows.scale.mean())
    blur = 8 * rows.rounding / (h * scale.min())
    if blur > 1e-7:
        return  # the coordinates are rounded by more than would be seen
    weight = np.ones(len(scale)) if rows.weight is None else rows.weight / rows.weight.max()
    away = distances_to(model.cluster_centers_, rows)
    for mode, distance, density in zip(model.cluster_centers_, away.T, model.density_, strict=True):
        t = (distance / (h * scale)) ** 2
        value = np.sum(weight * PROFILES[model.kernel](t)) / weight.sum()
        assert density == pytest.approx(value, rel=1e-6, abs=1e-9)
        with np.errstate(divide="ignore"):
            logs = np.where(weight > 0, LOG_PULLS[model.kernel](t), -np.inf)
        if np.isinf(logs.max()):
            continue  # nothing pulls
        pull = weight / scale**2 * np.exp(logs - logs.max())
        moved = pull @ rows.dense / pull.sum()
        assert np.linalg.norm(moved - mode) <= 20 * model.tol * h + 8 * rows.rounding


@holds_for(data(), st.lists(RATIOS, min_size=1, max_size=4, unique=True), KERNEL, SEED)
def modes_by_bandwidth_fit_together(rows, exponents, kernel, seed):
    bandwidths = np.unique([bandwidth_for(rows, exponent) for exponent in exponents])
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    options = {"kernel": kernel, "random_state": seed, **told}
    tree = outcome(modes_by_bandwidth, rows.X, bandwidths[::-1], **options)
    if isinstance(tree, ValueError) and "too small beside sparse rows" in str(tree):
        assert sparse.issparse(rows.X)
        return
    if is_refused(tree, refusal(rows)):
        return
    np.testing.assert_allclose(tree.bandwidths, bandwidths, rtol=1e-12)
    assert np.all(np.diff(tree.n_modes) <= 0)
    for i, level in enumerate(tree):
        check_inside(level.modes, rows, rows.dense)
        check_labels(tree.labels(i), level.counts, rows, len(level.modes))
    model = MeanShift(bandwidths[0], kernel=kernel, random_state=seed).fit(rows.X, **told)
    np.testing.assert_array_equal(tree.labels(0), model.labels_)
    np.testing.assert_array_equal(tree[0].modes, model.cluster_centers_)
    assert {len(c) for c in tree.to_frame("dict").values()} == {tree.n_modes.sum()}


@holds_for(
    data(scales=False),
    RATIOS,
    st.integers(1, 5),
    PATHS,
    st.sampled_from(["auto", 0, 0.1, 10.0]),
    st.sampled_from(["gradient", "bound"]),
    st.sampled_from(["heat", "binary"]),
    st.sampled_from([None, "local", 0.5]),
    st.integers(1, 4),
)
def laplacian_kmodes_fits_together(
    rows, exponent, n_clusters, options, smoothing, solver, affinity, width, n_neighbors
):
    affinity_bandwidth = bandwidth_for(rows, -0.5) if width == 0.5 else width
    model = LaplacianKModes(
        n_clusters,
        bandwidth=bandwidth_for(rows, exponent),
        smoothing=smoothing,
        solver=solver,
        affinity=affinity,
        affinity_bandwidth=affinity_bandwidth,
        n_neighbors=n_neighbors,
        **options,
    )
    weight = rows.weight
    if weight is not None and 0 < weight.max() < 1e-100:
        weight = weight * 1e200
    found = outcome(model.fit, rows.X, sample_weight=weight)
    if is_refused(found, refusal(rows, n_clusters, 0 if smoothing == 0 else n_neighbors)):
        return
    Z = model.assignments_
    assert Z.shape == (len(rows.dense), n_clusters)
    assert np.all(Z >= 0)
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-9)
    assert np.all(Z[np.arange(len(Z)), model.labels_] >= Z.max(axis=1) - 1e-9)
    check_labels(model.labels_, model.counts_, rows, n_clusters)
    assert np.isfinite(model.cluster_centers_).all()
    check_inside(model.cluster_centers_, rows, rows.dense)
    check_path(model.path_, model, rows, options["n_bandwidths"])
    history = model.objective_history_
    assert np.isfinite(history).all()
    assert np.all(np.diff(history) >= -1e-9 * np.maximum(np.abs(history[1:]), 1e-300))
    assert model.objective_ == history[-1]
    W = model.affinity_
    assert abs(W - W.T).max() == 0
    assert W.nnz == 0 or W.data.min() >= 0
    shares = model.predict_proba(rows.X)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-9)
    assert np.all(shares >= 0)
    labels = model.predict(rows.X)
    assert np.all(shares[np.arange(len(Z)), labels] >= shares.max(axis=1) - 1e-9)
    check_copies(
        model,
        rows,
        lambda m: m.predict_proba(rows.X),
        lambda m: m.fit(rows.X, sample_weight=weight),
    )


@holds_for(
    data(scales=False), st.sampled_from(RULES), st.integers(1, 40), st.integers(-40, 40), SEED
)
def bandwidths_scale_with_the_rows(rows, rule, n_neighbors, exponent, seed):
    options = {"rule": rule, "n_neighbors": n_neighbors, "sample_weight": rows.weight}
    found = outcome(estimate_bandwidth, rows.X, **options)
    if is_refused(found, refusal(rows)):
        return
    assert 0 < found < np.inf
    local = estimate_bandwidth(rows.X, local=True, **options)
    assert local.shape == (len(rows.dense),)
    assert np.all((local > 0) & np.isfinite(local))
    dense = rows.dense
    rel = 1e-4 if rule == "likelihood" else 1e-9  # which searches a maximum
    found = estimate_bandwidth(dense, **options)
    if rows.n_distinct > 1:
        larger = estimate_bandwidth(dense * 2.0**exponent, **options)
        assert larger == pytest.approx(found * 2.0**exponent, rel=rel)
    order = np.random.default_rng(seed).permutation(len(dense))
    options["sample_weight"] = None if rows.weight is None else rows.weight[order]
    assert estimate_bandwidth(dense[order], **options) == pytest.approx(found, rel=rel)


@pytest.mark.parametrize(("check", "strategies"), PROPERTIES)
def test_on_a_few_examples(check, strategies):
    run(check, strategies, QUICK)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("check", "strategies"), PROPERTIES)
def test_on_many_examples(check, strategies):
    run(check, strategies, THOROUGH)

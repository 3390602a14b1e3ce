"""All that is fitted fits together: each estimator and each function by itself."""

import warnings

import numpy as np
import pytest
from hypothesis import strategies as st
from public import CALLABLE
from same import assert_same
from sklearn.exceptions import ConvergenceWarning

from modeclust import KModes, MeanShift, estimate_bandwidth
from modeclust.datasets import DATASETS
from modeclust.exceptions import WideBandwidthWarning
from properties.checking import (
    bandwidths_of_rows,
    check_copies,
    check_exemplars,
    check_frames,
    check_history,
    check_inside,
    check_labels,
    check_nearest,
    check_path,
    check_rows_averaged,
    check_stationary,
    distances_to,
    given_start,
    is_refused,
    is_too_fine,
    kernel_mean,
    outcome,
    refusal,
    soft_refusal,
)
from properties.drawing import (
    BANDWIDTH,
    BY_ITSELF,
    BY_RULE,
    EUCLIDEAN,
    FILE,
    FIT,
    FIT_SOFT,
    KERNEL,
    KMODES,
    LAPLACIAN,
    MEAN_SHIFT,
    METRIC,
    PATHS,
    RATIOS,
    ROWS,
    RULE,
    SCALE,
    SEED,
    THREADS,
    WEIGHT,
    OfRows,
    bandwidth_for,
    blobs,
    data,
    holds_for,
    of_rows,
    sizeable,
    without,
)

DEPTH = st.sampled_from([0.0, 0.5, 2.5, 10.0, np.inf])


@holds_for(
    {
        "KModes": KMODES,
        "KModes.fit": FIT,
        "KModes.predict": {"X": ROWS},
        "KModes.transform": {"X": ROWS},
        "KModes.score": FIT,
        "KModes.predict_proba": {"X": ROWS},
        "KModes.score_outliers": {"X": ROWS},
        "KModes.redundant_clusters": {"threshold": DEPTH},
        "KModes.merge_redundant": {**without(FIT, "y"), "threshold": DEPTH},
        "KModes.stability": {
            **without(FIT, "y"),
            "n_resamples": st.integers(1, 2),
            "random_state": st.one_of(st.none(), SEED),
        },
        "KModes.save": FILE,
        "load": FILE,
    },
    data(),
)
def kmodes_fits_together(ask, rows):
    model = ask("KModes", rows)
    n_clusters, bandwidth = model.n_clusters, model.bandwidth
    expected = refusal(rows, n_clusters, metric=model.metric)
    if is_refused(outcome(ask, "KModes.fit", rows, model), expected):
        return
    start, seen = given_start(model, rows), rows.by(model.metric)
    check_inside(model.cluster_centers_, seen, start)
    check_labels(model.labels_, model.counts_, rows, n_clusters)
    away = distances_to(model.cluster_centers_, seen)
    check_nearest(model.labels_, away, seen)
    check_exemplars(model, away, seen)
    is_infinite = np.isinf(bandwidth)
    check_path(model.path_, model, rows, 0 if is_infinite else model.n_bandwidths)
    check_iterations(model)
    assert np.all((model.path_.objectives >= 0) & (model.path_.objectives <= 1))
    assert model.objective_ == model.path_.objectives[-1]
    assert np.isclose(model.bandwidth_, bandwidth, rtol=1e-12)
    np.testing.assert_array_equal(ask("KModes.predict", rows, model), model.labels_)
    np.testing.assert_allclose(
        ask("KModes.transform", rows, model), away, rtol=1e-5 if rows.eps > 1e-10 else 1e-9,
        atol=8 * seen.rounding,
    )  # fmt: skip
    score = ask("KModes.score", rows, model)
    assert score == pytest.approx(model.objective_, rel=1e-9, abs=1e-300)
    # Of rounded distances, as far as they matter at this bandwidth.
    blur = 8 * seen.rounding / bandwidths_of_rows(rows, bandwidth).min()
    if blur < 1e-7:
        t = (away.min(axis=1) / bandwidths_of_rows(rows, bandwidth)) ** 2
        value = kernel_mean(rows, t, model.kernel)
        assert model.objective_ == pytest.approx(value, rel=1e-5, abs=1e-5)
    check_copies(
        ask, model, rows, lambda m: m.predict(rows.X), lambda m: ask("KModes.fit", rows, m)
    )
    check_stability(ask("KModes.stability", rows, model), model, rows)
    check_confidence(ask, model, rows)
    if is_infinite:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WideBandwidthWarning)
        pairs = ask("KModes.redundant_clusters", rows, model)
        merged = ask("KModes.merge_redundant", rows, model)
    threshold = ask.arguments("KModes.merge_redundant", rows)["threshold"]
    assert all(i < j < n_clusters for i, j in pairs)
    assert merged._redundant(threshold).pairs == []
    check_inside(merged.cluster_centers_, seen, start)


def check_confidence(ask, model, rows):
    """Assert that shares agree with the labels, and that outlier scores are finite."""
    scores = ask("KModes.score_outliers", rows, model)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, model.outlier_scores_, rtol=1e-6, atol=1e-6)
    if model._sparse_with_y:
        assert not hasattr(model, "predict_proba")
        return
    shares = ask("KModes.predict_proba", rows, model)
    check_shares(shares, len(model.cluster_centers_))
    np.testing.assert_array_equal(shares.argmax(axis=1), model.labels_)


def check_shares(shares, n_clusters):
    """Assert that each row has shares of all clusters that sum to 1."""
    assert shares.shape[1] == n_clusters
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def check_stability(found, model, rows):
    """Assert that clusters with rows, and no others, have a similarity and a shift."""
    labels, n_clusters = model.labels_[rows.present], model.n_clusters
    has_rows = np.isin(np.arange(n_clusters), labels)
    jaccard, shift = found
    np.testing.assert_array_equal(np.isnan(jaccard), ~has_rows)
    np.testing.assert_array_equal(np.isnan(shift), ~has_rows)
    assert np.all((jaccard[has_rows] >= 0) & (jaccard[has_rows] <= 1))
    assert np.all((shift[has_rows] >= 0) & np.isfinite(shift[has_rows]))
    if n_clusters == 1:
        assert jaccard == 1


def check_iterations(model):
    """Assert that no bandwidth of K-modes took more iterations than it may."""
    first, *between, last = (
        [*model.path_.n_iter, 0] if len(model.path_) == 1 else model.path_.n_iter
    )
    assert max(first, last) <= model.max_iter
    assert max(between, default=0) <= model.path_iter


@holds_for(
    {"KModes": BY_ITSELF, "KModes.fit": FIT, "KModes.save": FILE, "load": FILE},
    data(scales=False),
)
def labels_and_modes_have_bandwidths_of_their_own(ask, rows):
    model = ask("KModes", rows)
    expected = refusal(rows, model.n_clusters, metric=model.metric)
    if is_refused(outcome(ask, "KModes.fit", rows, model), expected):
        return
    path, n_clusters, seen = model.path_, model.n_clusters, rows.by(model.metric)
    n_labelled = np.count_nonzero(path.stage < 2)
    assert np.all(np.diff(path.stage) >= 0)
    np.testing.assert_array_equal(path.centers[n_labelled - 1], model.cluster_centers_)
    np.testing.assert_array_equal(path.centers[-1], model.modes_)
    np.testing.assert_array_equal(path.cluster_bandwidths[-1], model.mode_bandwidths_)
    np.testing.assert_array_equal(path.rows_averaged[-1], model.rows_averaged_)
    assert path.bandwidths[n_labelled - 1] == model.bandwidth_
    if not model.reassign:
        assert n_labelled == 1
    start = given_start(model, rows)
    check_inside(model.cluster_centers_, seen, start)
    check_inside(model.modes_, seen, start)
    check_labels(model.labels_, model.counts_, rows, n_clusters)
    check_nearest(model.labels_, distances_to(model.cluster_centers_, seen), seen)
    check_exemplars(model, distances_to(model.modes_, seen), seen)
    np.testing.assert_array_equal(model.predict(rows.X), model.labels_)
    present = np.bincount(model.labels_[rows.present], minlength=n_clusters)
    assert np.all((model.rows_averaged_ > 0) == (present > 0))
    if not model.adaptive:
        check_rows_averaged(model, seen)
    check_copies(
        ask, model, rows, lambda m: m.predict(rows.X), lambda m: ask("KModes.fit", rows, m)
    )


@holds_for(
    {
        "cluster_modes": {
            "X": ROWS,
            "labels": SEED.map(
                lambda seed: OfRows(
                    f"labels {seed}",
                    lambda rows, _: np.random.default_rng(seed).integers(-1, 3, len(rows.dense)),
                )
            ),
            "bandwidth": st.one_of(st.just("auto"), KMODES["bandwidth"]),
            "rows_per_mode": BY_ITSELF["rows_per_mode"],
            "kernel": KERNEL,
            "metric": METRIC,
            "sample_weight": WEIGHT,
            "sample_scale": SCALE,
            "random_state": SEED,
            "n_jobs": THREADS,
        }
    },
    data(),
)
def modes_of_given_labels_are_in_their_clusters(ask, rows):
    given = ask.arguments("cluster_modes", rows)
    labels, seen = given["labels"], rows.by(given["metric"])
    found = outcome(ask, "cluster_modes", rows)
    kept = np.unique(labels[rows.present & (labels >= 0)])
    if not len(kept):
        is_all_noise = (labels < 0).all()
        lacks_weight = not rows.present.any() and not is_all_noise
        assert is_refused(
            found, "at least one non-zero" if lacks_weight else "labels must have a cluster"
        )
        return
    if given["metric"] == "cosine" and not rows.dense.any(axis=1).all():
        assert is_refused(found, "not all zeros")
        return
    assert_same(found.labels, kept)
    assert_same(found.counts, np.array([np.count_nonzero(labels == k) for k in kept]))
    away = distances_to(found.modes, seen)
    for i, k in enumerate(kept):
        members = rows.present & (labels == k)
        check_inside(found.modes[i : i + 1], seen, rows.dense[members])
        exemplar = found.exemplar_indices[i]
        assert members[exemplar]
        nearest = away[members, i].min()
        assert away[exemplar, i] <= nearest * (1 + 1e-6) + 8 * seen.rounding


@holds_for(
    {
        "suggest_clusters": {
            "X": ROWS,
            "max_clusters": st.integers(1, 40),
            "metric": METRIC,
            "sample_weight": WEIGHT,
            "random_state": SEED,
            "n_jobs": THREADS,
        },
        "ClusterSuggestion.plot": {"ax": st.none()},
        "ClusterCountDisplay.from_suggestion": {
            "suggestion": of_rows("the suggestion", lambda rows, _: rows.model),
            "ax": st.none(),
        },
        "ClusterCountDisplay.plot": {"ax": st.none()},
        "KModes": {**BY_ITSELF, "n_clusters": st.just("auto"), "init": st.just("k-means++")},
        "LaplacianKModes": {
            **without(LAPLACIAN, "affinity", "n_neighbors"),
            "n_clusters": st.just("auto"),
            "init": st.just("linkage"),
        },
    },
    data(scales=False),
)
def a_number_of_clusters_is_one_of_those_allowed(ask, rows):
    found = outcome(ask, "suggest_clusters", rows)
    metric = ask.arguments("suggest_clusters", rows)["metric"]
    if is_refused(found, refusal(rows, metric=metric)):
        return
    assert 1 <= found.n_clusters <= min(found.max_clusters, rows.n_distinct)
    assert found.n_clusters in (found.n_by_peaks, found.n_by_dips, found.n_by_shape)
    assert found.is_sure <= (found.n_by_peaks == found.n_by_dips)
    assert found.n_rows == rows.n_distinct or metric == "cosine"
    assert found.labels.shape == (len(rows.dense),)
    np.testing.assert_array_equal(np.unique(found.labels), np.arange(found.labels.max() + 1))
    assert found.labels.max() < found.n_clusters
    assert np.all(np.isfinite(found.dips) & (found.dips >= 0))
    assert np.all(np.isfinite(found.peak_heights) & (found.peak_heights > 0))
    display = ask("ClusterSuggestion.plot", rows, found)
    again = ask("ClusterCountDisplay.from_suggestion", rows._replace(model=found))
    assert display.title_.get_text() == again.title_.get_text()
    ask("ClusterCountDisplay.plot", rows, again).figure_.canvas.draw()
    for name, weight in (("KModes", rows.weight), ("LaplacianKModes", sizeable(rows.weight))):
        model = ask(name, rows)
        fitted = outcome(model.fit, rows.X, sample_weight=weight)
        if is_refused(fitted, refusal(rows, metric=model.metric)):
            return
        assert model.n_clusters_ == model.cluster_suggestion_.n_clusters <= model.max_clusters
        assert len(model.modes_) == model.n_clusters_


@holds_for(
    {
        "KModes": {**KMODES, **BY_RULE, "adaptive": st.booleans()},
        "estimate_bandwidth": {"X": ROWS, "sample_weight": WEIGHT},
    },
    data(scales=False),
)
def rules_and_adaptive_fits_together(ask, rows):
    model = ask("KModes", rows)
    found = outcome(model.fit, rows.X, sample_weight=rows.weight)
    if is_refused(found, refusal(rows, model.n_clusters, metric=model.metric)):
        return
    start = given_start(model, rows)
    check_inside(model.cluster_centers_, rows.by(model.metric), start)
    check_path(model.path_, model, rows, model.n_bandwidths)
    assert 0 <= model.objective_ <= 1
    np.testing.assert_array_equal(model.predict(rows.X), model.labels_)
    estimate = ask(
        "estimate_bandwidth",
        rows,
        rule=model.bandwidth,
        metric=model.metric,
        random_state=model.random_state,
    )
    assert model.bandwidth_ == pytest.approx(estimate, rel=1e-12)


@holds_for(
    {
        "KModes": {
            **KMODES,
            "bandwidth": BANDWIDTH,
            "half_life": st.sampled_from([1.0, 10.0, np.inf]),
        },
        "KModes.partial_fit": FIT,
    },
    data(),
)
def batches_fit_together(ask, rows):
    model = ask("KModes", rows)
    expected = refusal(rows, model.n_clusters, metric=model.metric)
    if is_refused(outcome(ask, "KModes.partial_fit", rows, model), expected):
        return
    start, seen = given_start(model, rows), rows.by(model.metric)
    for step in (2, 3):
        ask("KModes.partial_fit", rows, model)
        check_inside(model.cluster_centers_, seen, start)
        check_labels(model.labels_, model.counts_, rows, model.n_clusters)
        check_nearest(model.labels_, distances_to(model.cluster_centers_, seen), seen)
        assert 0 <= model.objective_ <= 1
        assert (model.n_steps_, model.n_samples_seen_) == (step, step * len(rows.dense))


@holds_for(
    {
        "kmodes_path": {
            **PATHS,
            "X": ROWS,
            "sample_weight": WEIGHT,
            "sample_scale": SCALE,
            "mean_shift_iter": st.integers(1, 2),
            "bandwidths": st.lists(RATIOS, min_size=1, max_size=4, unique=True).map(
                lambda exponents: OfRows(
                    f"1e{sorted(exponents)} spreads", lambda rows, _: falling(rows, exponents)
                )
            ),
        },
        "Path.__getitem__": {"index": st.integers(-2, 1)},
        "Path.at": {
            "bandwidth": st.floats(0, 1).map(
                lambda share: OfRows(f"{share:g} of the way", lambda path, _: between(path, share))
            )
        },
        "Path.to_frame": {"backend": st.sampled_from(["polars", "pandas", "dict", None])},
    },
    data(),
)
def a_path_ends_where_it_was_asked_to(ask, rows):
    given = ask.arguments("kmodes_path", rows)
    n_clusters, bandwidths, metric = given["n_clusters"], given["bandwidths"], given["metric"]
    path = outcome(ask, "kmodes_path", rows)
    if is_refused(path, refusal(rows, n_clusters, metric=metric)):
        return
    assert path.centers.shape == (len(bandwidths), n_clusters, rows.dense.shape[1])
    np.testing.assert_allclose(path.bandwidths, bandwidths, rtol=1e-12)
    assert np.all((path.objectives >= 0) & (path.objectives <= 1))
    wanted = ask.arguments("Path.at", path)["bandwidth"]
    found = ask("Path.at", path, path).bandwidth
    ratios = np.abs(np.log(path.bandwidths[1:] / wanted))
    assert abs(np.log(found / wanted)) <= ratios.min() + 1e-12
    assert ask("Path.__getitem__", rows, path).bandwidth in path.bandwidths
    assert len(ask("Path.to_frame", rows, path)["step"]) == path.counts.size
    check_frames(path, path.counts.size)
    means = ask("kmodes_path", rows, bandwidths=bandwidths[:1])
    assert len(means) == 1
    if rows.eps < 1e-10 and rows.scale is None:
        # K-means is the same whatever follows; the end of a path is rounded to the user's units.
        np.testing.assert_allclose(
            means.centers[0], path.centers[0], atol=8 * rows.by(metric).rounding
        )


def falling(rows, exponents):
    return [np.inf, *np.unique([bandwidth_for(rows, exponent) for exponent in exponents])[::-1]]


def between(path, share):
    """Return a bandwidth that a path goes by, its ends at shares of 0 and 1."""
    ends = np.log(path.bandwidths[[1, -1]] if len(path) > 1 else [1.0, 1.0])
    return float(np.exp((1 - share) * ends[0] + share * ends[1]))


@holds_for({"KModes": without(KMODES, "verbose", "max_clusters")}, data())
def kmodes_path_is_that_of_kmodes(ask, rows):
    options = ask.arguments("KModes", rows)
    model = KModes(**options)
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    expected = refusal(rows, model.n_clusters, metric=model.metric)
    if is_refused(outcome(model.fit, rows.X, **told), expected):
        return
    if not options["reassign"]:
        return  # `kmodes_path` always assigns rows to their nearest modes
    options = without(
        options, "n_bandwidths", "bandwidth", "start_bandwidth", "rows_per_mode", "reassign"
    )
    path = CALLABLE["kmodes_path"](rows.X, bandwidths=model.path_.bandwidths, **options, **told)
    if rows.scale is None:
        assert_same(path, model.path_)
        return
    # Bandwidths are multiplied by the mean scale, and divided by it again.
    np.testing.assert_allclose(path.bandwidths, model.path_.bandwidths, rtol=1e-12)
    np.testing.assert_array_equal(path.centers[0], model.path_.centers[0])


@holds_for(
    {
        "MeanShift": MEAN_SHIFT,
        "MeanShift.fit": FIT,
        "MeanShift.predict": {"X": ROWS, "method": st.sampled_from(["basin", "nearest"])},
        "MeanShift.predict_proba": {"X": ROWS},
        "MeanShift.save": FILE,
        "load": FILE,
    },
    data(),
)
def mean_shift_fits_together(ask, rows):
    model = ask("MeanShift", rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        found = outcome(ask, "MeanShift.fit", rows, model)
    if is_too_fine(found, rows) or is_refused(found, refusal(rows, metric=model.metric)):
        return
    centers, n_modes = model.cluster_centers_, model.n_clusters_
    seen = rows.by(model.metric)
    assert centers.shape == (n_modes, rows.dense.shape[1])
    extra = rows.dense  # a seed of weight 0 that nothing pulls at stays where it is
    check_inside(centers, seen, extra)
    check_labels(model.labels_, model.counts_, rows, n_modes)
    seeded_at_rows = not isinstance(model.seeds, np.ndarray) and model.seeds != "bin"
    assert model.counts_.min() > 0 or not seeded_at_rows
    assert np.all((model.density_ >= 0) & (model.density_ <= 1))
    assert np.all(np.diff(model.density_) <= 1e-9)
    assert np.isclose(model.bandwidth_, model.bandwidth, rtol=1e-12)
    assert model.n_iter_ >= 1
    if not caught and model.kernel != "epanechnikov":
        check_stationary(model, seen)
    nearest = model.predict(rows.X, method="nearest")
    check_nearest(nearest, distances_to(centers, seen), seen)
    assert set(ask("MeanShift.predict", rows, model)) <= set(range(n_modes))
    if not model._sparse_with_y:
        check_shares(ask("MeanShift.predict_proba", rows, model), n_modes)
    check_copies(
        ask, model, rows, lambda m: m.predict(rows.X), lambda m: ask("MeanShift.fit", rows, m)
    )


@holds_for(
    {
        "MeanShift": {
            **MEAN_SHIFT,
            "bandwidth": BANDWIDTH,
            "metric": EUCLIDEAN,  # the number of distinct directions depends on rounding
            "n_clusters": st.integers(1, 6),
            "seeds": st.sampled_from(["all", 8]),
        }
    },
    data(scales=False),
    quick=6,
    thorough=150,
)
def mean_shift_finds_as_many_modes_as_asked_or_says_why_not(ask, rows):
    model = ask("MeanShift", rows)
    found = outcome(model.fit, rows.X, sample_weight=rows.weight)
    expected = refusal(rows, model.n_clusters)
    if expected is None and model.n_clusters > rows.n_distinct:
        expected = "n_clusters=.* is more than the number of distinct rows"
    if expected is None and isinstance(found, ValueError):
        reasons = f"No bandwidth gives {model.n_clusters} modes|too small for sparse rows"
        assert is_refused(found, reasons)
        return
    if is_refused(found, expected):
        return
    assert len(model.cluster_centers_) == model.n_clusters_ == model.n_clusters
    check_labels(model.labels_, model.counts_, rows, model.n_clusters)
    assert 0 < model.bandwidth_ < np.inf


@holds_for(
    {
        "modes_by_bandwidth": {
            **without(MEAN_SHIFT, "bandwidth", "seeds"),
            "X": ROWS,
            "sample_weight": WEIGHT,
            "sample_scale": SCALE,
            "bandwidths": st.lists(RATIOS, min_size=1, max_size=4, unique=True).map(
                lambda exponents: OfRows(
                    f"1e{exponents} spreads",
                    lambda rows, _: np.unique([bandwidth_for(rows, e) for e in exponents])[::-1],
                )
            ),
        },
        "ModeTree.__getitem__": {"index": st.sampled_from([0, -1])},
        "ModeTree.labels": {"index": st.sampled_from([0, -1])},
        "ModeTree.to_frame": {"backend": st.sampled_from(["polars", "pandas", "dict", None])},
    },
    data(),
)
def modes_by_bandwidth_fit_together(ask, rows):
    given = ask.arguments("modes_by_bandwidth", rows)
    tree = outcome(ask, "modes_by_bandwidth", rows)
    if is_too_fine(tree, rows) or is_refused(tree, refusal(rows, metric=given["metric"])):
        return
    seen = rows.by(given["metric"])
    bandwidths = given["bandwidths"][::-1]
    np.testing.assert_allclose(tree.bandwidths, bandwidths, rtol=1e-12)
    assert np.all(np.diff(tree.n_modes) <= 0)
    for i, level in enumerate(tree):
        check_inside(level.modes, seen, rows.dense)
        check_labels(tree.labels(i), level.counts, rows, len(level.modes))
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    options = without(given, "X", "bandwidths", *told)
    model = MeanShift(bandwidths[0], **options).fit(rows.X, **told)
    np.testing.assert_array_equal(tree.labels(0), model.labels_)
    np.testing.assert_array_equal(tree[0].modes, model.cluster_centers_)
    level, labels = ask("ModeTree.__getitem__", rows, tree), ask("ModeTree.labels", rows, tree)
    assert level in tree.levels
    assert labels.max() < tree.n_modes[0]
    check_frames(tree, tree.n_modes.sum())
    assert len(ask("ModeTree.to_frame", rows, tree)["step"]) == tree.n_modes.sum()


@holds_for(
    {
        "LaplacianKModes": {**LAPLACIAN, "bandwidth": st.just("auto")},
        "LaplacianKModes.fit": FIT_SOFT,
        "LaplacianKModes.predict_proba": {"X": ROWS},
    },
    data(scales=False),
)
def soft_labels_and_modes_have_bandwidths_of_their_own(ask, rows):
    model = ask("LaplacianKModes", rows)
    if is_refused(outcome(ask, "LaplacianKModes.fit", rows, model), soft_refusal(model, rows)):
        return
    path, n_clusters = model.path_, model.n_clusters
    assert path.stage.tolist() == [0] + [1] * 8 + [2] * 8
    np.testing.assert_array_equal(path.centers[8], model.cluster_centers_)
    np.testing.assert_array_equal(path.centers[-1], model.modes_)
    np.testing.assert_array_equal(path.cluster_bandwidths[-1], model.mode_bandwidths_)
    np.testing.assert_array_equal(path.rows_averaged[-1], model.rows_averaged_)
    assert path.bandwidths[8] == model.bandwidth_
    start = model.init if isinstance(model.init, np.ndarray) else rows.dense
    seen = rows.by(model.metric)
    check_inside(model.modes_, seen, np.vstack([start, rows.dense]))
    check_labels(model.labels_, model.counts_, rows, n_clusters)
    check_exemplars(model, distances_to(model.modes_, seen), seen)
    if isinstance(model.init, str) and model.init == "linkage" and model.smoothing != 0:
        assert model.counts_.min() > 0
    if not model._sparse_with_y:
        check_shares(ask("LaplacianKModes.predict_proba", rows, model), n_clusters)


@holds_for(
    {
        "LaplacianKModes": LAPLACIAN,
        "LaplacianKModes.fit": FIT_SOFT,
        "LaplacianKModes.predict": {"X": ROWS},
        "LaplacianKModes.predict_proba": {"X": ROWS},
        "LaplacianKModes.stability": {
            **without(FIT_SOFT, "y"),
            "n_resamples": st.integers(1, 2),
            "random_state": st.one_of(st.none(), SEED),
        },
        "LaplacianKModes.save": FILE,
        "load": FILE,
    },
    data(scales=False),
)
def laplacian_kmodes_fits_together(ask, rows):
    model = ask("LaplacianKModes", rows)
    n_clusters = model.n_clusters
    if is_refused(outcome(ask, "LaplacianKModes.fit", rows, model), soft_refusal(model, rows)):
        return
    Z = model.assignments_
    assert Z.shape == (len(rows.dense), n_clusters)
    assert np.all(Z >= 0)
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-9)
    assert np.all(Z[np.arange(len(Z)), model.labels_] >= Z.max(axis=1) - 1e-9)
    check_labels(model.labels_, model.counts_, rows, n_clusters)
    start = model.init if isinstance(model.init, np.ndarray) else rows.dense
    extra = np.vstack([start, rows.dense])
    check_inside(model.cluster_centers_, rows.by(model.metric), extra)
    check_path(model.path_, model, rows, model.n_bandwidths)
    check_history(model)
    W = model.affinity_
    assert abs(W - W.T).max() == 0
    assert W.nnz == 0 or W.data.min() >= 0
    labels = ask("LaplacianKModes.predict", rows, model)
    predict = model.predict
    if not model._sparse_with_y:
        shares = ask("LaplacianKModes.predict_proba", rows, model)
        check_shares(shares, n_clusters)
        assert np.all(shares[np.arange(len(Z)), labels] >= shares.max(axis=1) - 1e-9)
        predict = model.predict_proba
    check_copies(
        ask,
        model,
        rows,
        lambda m: getattr(m, predict.__name__)(rows.X),
        lambda m: ask("LaplacianKModes.fit", rows, m),
    )
    found = outcome(ask, "LaplacianKModes.stability", rows, model)
    if not is_refused(found, "at least 2 rows" if rows.present.sum() < 2 else None):
        check_stability(found, model, rows)


# Only "knn" averages distances.
STATISTIC = st.sampled_from(["mean", "median"]).map(
    lambda wanted: OfRows(
        f"{wanted} of knn", lambda _, found: wanted if found["rule"] == "knn" else "mean"
    )
)


@holds_for(
    {
        "estimate_bandwidth": {
            "X": ROWS,
            "sample_weight": WEIGHT,
            "rule": RULE,
            "n_neighbors": st.integers(1, 40),
            "n_samples": st.sampled_from([30, 5000]),
            "statistic": STATISTIC,
            "metric": METRIC,
            "random_state": SEED,
            "n_jobs": THREADS,
        }
    },
    data(scales=False),
    st.integers(-40, 40),
    SEED,
)
def bandwidths_scale_with_the_rows(ask, rows, exponent, seed):
    options = ask.arguments("estimate_bandwidth", rows)
    found = outcome(ask, "estimate_bandwidth", rows)
    is_cosine = options["metric"] == "cosine"
    if is_refused(found, refusal(rows, metric=options["metric"])):
        return
    assert 0 < found < np.inf
    local = ask("estimate_bandwidth", rows, local=True)
    assert local.shape == (len(rows.dense),)
    assert np.all((local > 0) & np.isfinite(local))
    dense = rows.dense
    rel = 1e-4 if options["rule"] == "likelihood" else 1e-9  # which searches a maximum
    found = ask("estimate_bandwidth", rows, X=dense)
    if rows.n_distinct > 1:
        larger = ask("estimate_bandwidth", rows, X=dense * 2.0**exponent)
        factor = 1.0 if is_cosine else 2.0**exponent
        assert larger == pytest.approx(found * factor, rel=rel)
    order = np.random.default_rng(seed).permutation(len(dense))
    weight = None if rows.weight is None else rows.weight[order]
    permuted = ask("estimate_bandwidth", rows, X=dense[order], sample_weight=weight)
    assert permuted == pytest.approx(found, rel=rel)


@holds_for(
    {
        "estimate_bandwidth": {
            "X": ROWS,
            "rule": RULE,
            "n_neighbors": st.integers(1, 12),
            "n_samples": st.integers(2, 250),
            "statistic": STATISTIC,
            "local": st.booleans(),
            "random_state": SEED,
        }
    },
    blobs(scales=False),
)
def bandwidths_of_samples_are_those_of_rows(ask, rows):
    given = ask.arguments("estimate_bandwidth", rows)
    found = ask("estimate_bandwidth", rows)
    np.testing.assert_array_equal(found, ask("estimate_bandwidth", rows))
    every = estimate_bandwidth(
        rows.X,
        given["rule"],
        given["n_neighbors"],
        local=given["local"],
        statistic=given["statistic"],
        random_state=0,
    )
    if given["n_samples"] >= len(rows.dense):
        np.testing.assert_array_equal(found, every)
    elif given["rule"] == "knn" and not given["local"]:
        # Each of the rows drawn has its true neighbours.
        own = estimate_bandwidth(rows.X, n_neighbors=given["n_neighbors"], local=True)
        assert own.min() * (1 - 1e-12) <= found <= own.max() * (1 + 1e-12)
    assert np.all((found > 0) & np.isfinite(found))


@holds_for(
    {"load_dataset": {"name": st.sampled_from(sorted(DATASETS))}}, data(), quick=8, thorough=20
)
def built_in_data_is_the_same_at_every_call(ask, rows):
    found = ask("load_dataset", rows)
    assert len(found.X) == len(found.y)
    assert found.X.shape[1] == len(found.feature_names) == len(set(found.feature_names))
    assert np.isfinite(found.X).all()
    assert found.image_shape is None or np.prod(found.image_shape) == found.X.shape[1]
    again = ask("load_dataset", rows)
    assert_same(again, found)
    found.X[:] = 0  # what one user does to it
    assert again.X.any()
    assert ask("load_dataset", rows).X.any()

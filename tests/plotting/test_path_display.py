import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from modeclust import KModes, LaplacianKModes, estimate_bandwidth
from modeclust.kernels import KERNELS
from modeclust.plotting import PathDisplay, path_display
from modeclust.plotting.clustering import adaptive_scales
from modeclust.plotting.palette import color

PLAIN = KModes(3, bandwidth=0.5, n_bandwidths=5, random_state=0)


def positions(artist):
    return np.asarray(artist.get_offsets())


def nearest_by_force(X, labels, centers):
    found = []
    for k, center in enumerate(centers):
        own = X[labels == k]
        found.append(own[np.argmin(np.linalg.norm(own - center, axis=1))])
    return np.array(found)


def drawn(model, X, **options):
    display = PathDisplay.from_estimator(model, X, **options)
    display.figure_.canvas.draw()
    return display


def test_marks_are_at_the_points_of_the_path(blobs):
    model = clone(PLAIN).fit(blobs)
    display = drawn(model, blobs)
    path = model.path_
    np.testing.assert_array_equal(positions(display.means_), path[0].centers)
    expected = nearest_by_force(blobs, path[0].labels, path[0].centers)
    np.testing.assert_array_equal(positions(display.exemplars_), expected)
    np.testing.assert_array_equal(positions(display.modes_), model.cluster_centers_)
    for k, line in enumerate(display.paths_):
        np.testing.assert_array_equal(line.get_xydata(), path.centers[:, k])
        np.testing.assert_array_equal(positions(display.points_[k]), blobs[model.labels_ == k])
    colors = [to_rgba(color(k)) for k in range(3)]
    np.testing.assert_array_equal(display.modes_.get_facecolors(), colors)


def test_another_bandwidth_of_the_path(blobs):
    model = clone(PLAIN).fit(blobs)
    point = model.path_[3]
    display = drawn(model, blobs, bandwidth=point.bandwidth)
    np.testing.assert_array_equal(positions(display.modes_), point.centers)
    assert len(display.paths_[0].get_xydata()) == 4
    assert display.ax_.get_title() == f"K-modes at bandwidth {point.bandwidth:.3g}"


def test_k_means_has_means_and_exemplars_only(blobs):
    display = drawn(clone(PLAIN).fit(blobs), blobs, bandwidth=np.inf)
    assert display.densities is None
    assert display.modes_ is None
    assert display.paths_ == display.densities_ == []
    assert len(positions(display.means_)) == len(positions(display.exemplars_)) == 3
    assert display.ax_.get_title() == "K-means"


def test_a_path_of_one_bandwidth_has_modes_only(blobs):
    model = KModes(4, bandwidth=1.0, random_state=0).fit(blobs).merge_redundant(blobs)
    assert len(model.path_) == 1
    display = drawn(model, blobs)
    assert display.means_ is display.exemplars_ is None
    assert len(positions(display.modes_)) == len(model.cluster_centers_)


def test_modes_with_their_own_bandwidths(blobs):
    model = KModes(3, random_state=0).fit(blobs)
    display = drawn(model, blobs)
    low, high = np.round([model.rows_averaged_.min(), model.rows_averaged_.max()])
    rows = f"{low:.0f} rows" if low == high else f"{low:.0f} to {high:.0f} rows"
    assert display.ax_.get_title() == f"K-modes: modes average {rows}"
    np.testing.assert_array_equal(positions(display.means_), model.path_[0].centers)
    np.testing.assert_array_equal(positions(display.centers_), model.cluster_centers_)
    np.testing.assert_array_equal(positions(display.modes_), model.modes_)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[:4] == ["K-means center", "its nearest row", "center of the labels", "mode"]
    contours = drawn(model, blobs, levels=[0.5]).densities_[1]
    for outline in contours.get_paths():
        squared = np.sum((outline.vertices[:, None] - blobs) ** 2, axis=2)
        kernel = np.exp(-squared / (2 * model.mode_bandwidths_[1] ** 2)) * (model.labels_ == 1)
        np.testing.assert_allclose(kernel.mean(axis=1), contours.levels[0], rtol=0.05)


def test_the_end_of_the_first_stage(blobs):
    model = KModes(3, random_state=0).fit(blobs)
    display = drawn(model, blobs, bandwidth=model.bandwidth_)
    assert display.ax_.get_title() == f"K-modes at bandwidth {model.bandwidth_:.3g}"
    np.testing.assert_array_equal(positions(display.modes_), model.cluster_centers_)
    assert display.centers_ is None


def test_frozen_labels_at_one_bandwidth(blobs):
    model = clone(PLAIN).set_params(reassign=False).fit(blobs)
    display = drawn(model, blobs)
    assert display.ax_.get_title() == "K-modes at bandwidth 0.5"
    np.testing.assert_array_equal(positions(display.means_), model.cluster_centers_)
    np.testing.assert_array_equal(positions(display.modes_), model.modes_)
    assert display.centers_ is None  # they are the K-means centers


@pytest.mark.parametrize("reassign", [True, False])
@pytest.mark.parametrize("n_features", [1, 2])
def test_modes_that_are_means(blobs, reassign, n_features):
    X = blobs[:, :n_features]
    model = KModes(3, rows_per_mode=np.inf, reassign=reassign, random_state=0).fit(X)
    display = drawn(model, X)
    assert display.ax_.get_title().startswith("K-modes: modes average")
    assert len(positions(display.modes_)) == 3
    assert len(display.densities_) == (3 if reassign else 0)


def test_boundaries_are_halfway_between_the_centers_of_the_labels(rng):
    X = np.concatenate([rng.normal(0, 1, 300), 4 + rng.exponential(3, 300)])[:, None]
    model = KModes(2, random_state=0).fit(X)
    display = drawn(model, X)
    (boundary,) = display.boundaries_
    x = boundary.get_xdata()[0]
    assert x == pytest.approx(model.cluster_centers_.mean())
    assert abs(x - model.modes_.mean()) > 0.1
    left = np.argmin(model.cluster_centers_)
    np.testing.assert_array_equal(model.labels_ == left, X[:, 0] < x)
    np.testing.assert_array_equal(positions(display.centers_)[:, 0], model.cluster_centers_[:, 0])
    np.testing.assert_array_equal(positions(display.modes_)[:, 0], model.modes_[:, 0])
    grid, bin_width = display.grid[0], display.points_[0][0].get_width()
    for k, curve in enumerate(display.densities_):
        away = (grid[:, None] - X[model.labels_ == k, 0]) / model.mode_bandwidths_[k]
        expected = np.exp(-(away**2) / 2).sum(axis=1) / np.sqrt(2 * np.pi)
        expected *= bin_width / model.mode_bandwidths_[k]
        np.testing.assert_allclose(curve.get_ydata(), expected, atol=1e-9)


def test_stages_are_told_from_bandwidths_by_default(blobs):
    display = PathDisplay.from_estimator(clone(PLAIN).fit(blobs), blobs)
    display.stages = None
    assert display.plot().ax_.get_title() == "K-modes at bandwidth 0.5"
    assert display.means_ is not None


def test_contours_are_at_fractions_of_the_maximum(blobs):
    display = drawn(clone(PLAIN).fit(blobs), blobs, levels=[0.5, 0.2])
    assert len(display.densities_) == 3
    for density, contours in zip(display.densities, display.densities_, strict=True):
        np.testing.assert_allclose(contours.levels, density.max() * np.array([0.2, 0.5]))


def test_a_contour_has_the_density_of_its_level(blobs):
    model = clone(PLAIN).fit(blobs)
    weight = np.linspace(0.5, 2, len(blobs))
    contours = drawn(model, blobs, sample_weight=weight, levels=[0.5]).densities_[1]
    (outline,) = contours.get_paths()
    squared = np.sum((outline.vertices[:, None] - blobs) ** 2, axis=2)
    kernel = np.exp(-squared / (2 * 0.5**2)) * weight * (model.labels_ == 1)
    np.testing.assert_allclose(kernel.sum(axis=1) / weight.sum(), contours.levels[0], rtol=0.05)


def test_local_scales_of_an_adaptive_model_are_recomputed(blobs):
    model = clone(PLAIN).set_params(adaptive=True).fit(blobs)
    scales = estimate_bandwidth(blobs, local=True) / estimate_bandwidth(blobs)
    found = PathDisplay.from_estimator(model, blobs).densities
    by_hand = clone(PLAIN).fit(blobs, sample_scale=scales)
    given = PathDisplay.from_estimator(by_hand, blobs, sample_scale=scales).densities
    plain = PathDisplay.from_estimator(clone(PLAIN).fit(blobs), blobs).densities
    np.testing.assert_allclose(found, given, rtol=1e-6)
    assert not np.allclose(found, plain, rtol=0.01)
    with pytest.raises(ValueError, match="sample_scale cannot be given with adaptive=True"):
        PathDisplay.from_estimator(model, blobs, sample_scale=scales)


@pytest.mark.parametrize("rule", ["knn", "likelihood", 0.5])
def test_local_scales_are_drawn_as_in_the_fit(rng, rule):
    X, weight = rng.normal(size=(6000, 2)), rng.integers(0, 3, 6000)
    model = KModes(2, bandwidth=rule, adaptive=True, n_bandwidths=3, random_state=3, n_init=1)
    model.fit(X, sample_weight=weight)
    width = model.bandwidth_ * adaptive_scales(model, X, weight.astype(float))
    away = np.linalg.norm(X - model.cluster_centers_[model.labels_], axis=1) / width
    objective = np.average(np.exp(-(away**2) / 2), weights=weight)
    assert objective == pytest.approx(model.objective_, rel=1e-9)


def test_rows_of_weight_0_are_not_exemplars():
    X = np.array([[0.0, 0], [2, 0], [1, 0.1], [9, 0], [10, 0]])
    model = KModes(2, bandwidth=1.0, init=X[[0, 4]], n_bandwidths=2)
    model.fit(X, sample_weight=[1, 1, 0, 1, 1])
    display = drawn(model, X, sample_weight=[1, 1, 0, 1, 1])
    np.testing.assert_array_equal(positions(display.exemplars_), [[0, 0], [9, 0]])


def test_bars_of_a_histogram_count_all_rows(rng):
    X = np.concatenate([rng.normal(0, 1, 300), rng.normal(8, 1, 100)])[:, None]
    model = KModes(2, bandwidth=0.5, random_state=0).fit(X)
    display = drawn(model, X)
    counts = [sum(bar.get_height() for bar in bars) for bars in display.points_]
    np.testing.assert_array_equal(counts, model.counts_)
    assert display.ax_.get_ylabel() == "rows per bin"
    (boundary,) = display.boundaries_
    assert boundary.get_xdata()[0] == pytest.approx(model.cluster_centers_.mean())
    bin_width = display.points_[0][0].get_width()
    for curve, count in zip(display.densities_, model.counts_, strict=True):
        x, y = curve.get_data()
        assert np.trapezoid(y, x) == pytest.approx(count * bin_width, rel=0.01)
    np.testing.assert_array_equal(positions(display.modes_)[:, 0], model.cluster_centers_[:, 0])


def test_bars_of_weighted_rows_hold_the_weight(rng):
    X, weight = rng.normal(size=(200, 1)), rng.uniform(0, 3, 200)
    model = KModes(2, bandwidth=0.3, random_state=0).fit(X, sample_weight=weight)
    display = drawn(model, X, sample_weight=weight, bins=7)
    assert len(display.points_[0]) == 7
    heights = sum(bar.get_height() for bars in display.points_ for bar in bars)
    assert heights == pytest.approx(weight.sum())
    assert display.ax_.get_ylabel() == "weight of the rows per bin"


def test_rows_outside_the_axis_limits_are_counted():
    X = np.append(np.linspace(0, 1, 500), [50.0, 60.0])[:, None]
    model = KModes(1, bandwidth=0.2).fit(X)
    display = drawn(model, X)
    assert display.ax_.texts[-1].get_text() == "2 of 502 rows are outside the axis limits"
    assert sum(bar.get_height() for bar in display.points_[0]) == 500


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_more_features_are_projected(rng, convert):
    X = np.abs(rng.normal(size=(80, 5)))
    model = KModes(2, n_bandwidths=4, random_state=0).fit(convert(X))
    display = drawn(model, convert(X))
    assert display.densities is None
    assert display.densities_ == []
    assert display.ax_.get_xlabel().startswith("principal component 1")
    assert len(display.points) == 80


def test_many_rows_are_sampled_by_cluster(rng, monkeypatch):
    monkeypatch.setattr(path_display, "MAX_POINTS", 200)
    X = np.concatenate([rng.normal(0, 1, (1990, 2)), rng.normal(30, 1, (10, 2))])
    model = KModes(2, bandwidth=1.0, random_state=0).fit(X)
    display = drawn(model, X)
    sizes = sorted(len(positions(points)) for points in display.points_)
    assert sizes == [10, 199]
    assert display.n_rows == 2000
    words = [text.get_text() for text in display.ax_.texts]
    assert "209 of 2,000 rows are shown" in words
    expected = nearest_by_force(X, model.path_[0].labels, model.path_[0].centers)
    np.testing.assert_array_equal(positions(display.exemplars_), expected)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_features", [1, 2])
def test_every_kernel_and_single_precision(blobs, kernel, n_features):
    X = blobs[:, :n_features].astype(np.float32)
    model = clone(PLAIN).set_params(kernel=kernel).fit(X)
    assert len(drawn(model, X).densities_) == 3


def test_labels_not_stored_are_recomputed(blobs):
    kept = clone(PLAIN).fit(blobs)
    lost = clone(PLAIN).set_params(store_labels=False).fit(blobs)
    for bandwidth in (np.inf, kept.path_.bandwidths[2], None):
        first = PathDisplay.from_estimator(kept, blobs, bandwidth=bandwidth)
        again = PathDisplay.from_estimator(lost, blobs, bandwidth=bandwidth)
        np.testing.assert_array_equal(first.labels, again.labels)
        np.testing.assert_array_equal(first.exemplars, again.exemplars)


def test_a_soft_clustering_is_drawn_with_its_stored_labels(blobs):
    options = {"n_clusters": 3, "n_bandwidths": 3, "random_state": 0}
    kept = LaplacianKModes(**options).fit(blobs)
    lost = LaplacianKModes(store_labels=False, **options).fit(blobs)
    for bandwidth in (kept.bandwidth_, None):
        first = PathDisplay.from_estimator(kept, blobs, bandwidth=bandwidth)
        again = PathDisplay.from_estimator(lost, blobs, bandwidth=bandwidth)
        np.testing.assert_array_equal(first.labels, again.labels)
    assert (first.exemplars_ is None, again.exemplars_ is None) == (False, True)
    for step in (0, 2):
        bandwidth = kept.path_.bandwidths[step]
        display = PathDisplay.from_estimator(kept, blobs, bandwidth=bandwidth)
        np.testing.assert_array_equal(display.labels, kept.path_.labels[step])
        with pytest.raises(ValueError, match="fit it with store_labels=True"):
            PathDisplay.from_estimator(lost, blobs, bandwidth=bandwidth)


def test_clusters_of_linkage(blobs):
    model = LaplacianKModes(3, random_state=0).fit(blobs)
    display = PathDisplay.from_estimator(model, blobs)
    assert display.ax_.get_title().startswith("Laplacian K-modes: modes average ")
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[:4] == ["linkage mean", "its nearest row", "center", "mode"]
    display = PathDisplay.from_estimator(model, blobs, bandwidth=np.inf)
    assert display.ax_.get_title() == "Clusters of linkage"
    rule = LaplacianKModes(3, init="k-means++", bandwidth="knn", random_state=0).fit(blobs)
    display = PathDisplay.from_estimator(rule, blobs)
    assert display.ax_.get_title() == f"Laplacian K-modes at bandwidth {rule.bandwidth_:.3g}"
    assert display.ax_.get_legend().get_texts()[0].get_text() == "K-means center"


def test_soft_clusters_on_a_line_have_no_boundaries():
    X = np.random.RandomState(0).normal(size=(90, 1)) + 9 * np.arange(90)[:, None] // 30
    display = PathDisplay.from_estimator(LaplacianKModes(3).fit(X), X)
    assert display.boundaries_ == []
    assert len(display.densities_) == 3


def test_names_of_frames_and_names_given(blobs):
    frame = pd.DataFrame(blobs, columns=["width", "height"])
    model = clone(PLAIN).fit(frame)
    ax = drawn(model, frame).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    ax = drawn(model, frame, feature_names=["$a^$", "b\n" * 50]).ax_
    assert ax.get_xlabel() == r"\$a^\$"
    assert "\n" not in ax.get_ylabel()
    assert len(ax.get_ylabel()) <= 60


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_one_cluster_and_twelve(rng, n_features):
    X = rng.normal(size=(100, n_features))
    display = drawn(KModes(1, random_state=0).fit(X), X)
    assert len(display.points_) == 1
    assert display.boundaries_ == []
    display = drawn(KModes(12, n_bandwidths=3, random_state=0).fit(X), X)
    assert len(display.points_) == 12


def test_an_eleventh_cluster_has_another_symbol(rng):
    X = rng.normal(size=(100, 2))
    points = drawn(KModes(12, n_bandwidths=3, random_state=0).fit(X), X).points_
    circle, square = points[0].get_paths()[0], points[10].get_paths()[0]
    assert len(circle.vertices) != len(square.vertices)


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_an_empty_cluster(blobs, emptied, n_features):
    X = np.tile(blobs, 2)[:, :n_features]
    display = drawn(emptied(X), X)
    np.testing.assert_array_equal(np.isnan(display.exemplars).all(axis=1), [False, False, True])
    if n_features == 2:
        assert len(display.densities_) == 2


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_constant_rows(n_features):
    X = np.full((8, n_features), 2.0)
    model = KModes(1).fit(X)
    display, means = drawn(model, X), drawn(model, X, bandwidth=np.inf)
    for marks in (display.means_, display.modes_, means.means_):
        assert len(positions(marks)) == 1
        assert np.isfinite(positions(marks)).all()


def test_the_axes_given_are_respected(blobs):
    figure, axes = plt.subplots(1, 2, sharex=True, sharey=True)
    model = clone(PLAIN).fit(blobs)
    PathDisplay.from_estimator(model, blobs, bandwidth=np.inf, ax=axes[0])
    display = PathDisplay.from_estimator(model, blobs, ax=axes[1], legend=False)
    figure.canvas.draw()
    assert display.figure_ is figure
    assert display.ax_ is axes[1]
    assert figure.axes == list(axes)
    assert axes[0].get_legend() is not None
    assert axes[1].get_legend() is None
    assert plt.get_fignums() == [figure.number]


def test_the_legend_is_below_the_axes(blobs):
    display = drawn(clone(PLAIN).fit(blobs), blobs)
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y1 < display.ax_.xaxis.label.get_window_extent().y0
    assert legend.y0 > 0
    assert legend.x1 < display.figure_.bbox.x1


def test_plot_can_be_called_again(blobs):
    display = drawn(clone(PLAIN).fit(blobs), blobs)
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first
    assert len(display.points_) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": 0.01}, "is not on the path"),
        ({"bandwidth": -1}, "bandwidth must be a number > 0"),
        ({"feature_names": ["a"]}, "one name for each of the 2 features, got 1"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sample_scale": [1.0]}, "sample_scale must have shape"),
    ],
)
def test_wrong_options_are_refused_before_drawing(blobs, options, message):
    model = clone(PLAIN).fit(blobs)
    with pytest.raises(ValueError, match=message):
        PathDisplay.from_estimator(model, blobs, **options)
    assert plt.get_fignums() == []


def test_wrong_models_and_data_are_refused(blobs):
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(KModes(), blobs)
    model = clone(PLAIN).fit(blobs)
    with pytest.raises(ValueError, match="fitted on, 180 rows, got 179"):
        PathDisplay.from_estimator(model, blobs[1:])
    with pytest.raises(ValueError, match="X has 1 features, but KModes is expecting 2"):
        PathDisplay.from_estimator(model, blobs[:, :1])
    with pytest.raises(ValueError, match="KMeans has not; pass a fitted KModes"):
        PathDisplay.from_estimator(KMeans(2, n_init=1).fit(blobs), blobs)
    assert plt.get_fignums() == []

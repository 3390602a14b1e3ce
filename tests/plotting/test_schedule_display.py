from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from modeclust import KModes, LaplacianKModes, MeanShift, Path, kmodes_path
from modeclust.plotting import ScheduleDisplay
from modeclust.plotting.palette import color


def path(bandwidths, labels=None, n_clusters=2):
    n_steps = len(bandwidths)
    return Path(
        bandwidths=np.array(bandwidths),
        centers=np.zeros((n_steps, n_clusters, 1)),
        objectives=np.linspace(1, 0.5, n_steps),
        inertias=np.ones(n_steps),
        counts=np.arange(n_steps * n_clusters).reshape(n_steps, n_clusters),
        n_iter=np.ones(n_steps, dtype=np.int64),
        labels=None if labels is None else np.array(labels),
    )


def test_lines_hold_the_path():
    given = path([np.inf, 4.0, 2.0], [[0, 0, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1]])
    display = ScheduleDisplay.from_path(given)
    display.figure_.canvas.draw()
    places = display.objective_line_.get_xdata()
    assert places[0] > 4
    np.testing.assert_array_equal(places[1:], [4, 2])
    np.testing.assert_array_equal(display.objective_line_.get_ydata(), given.objectives)
    for k, line in enumerate(display.size_lines_):
        np.testing.assert_array_equal(line.get_ydata(), given.counts[:, k])
        assert line.get_color() == color(k)
    np.testing.assert_array_equal(display.changed, [0.25, 0.5])
    np.testing.assert_array_equal(display.changed_line_.get_xdata(), [4, 2])
    np.testing.assert_array_equal(display.changed_line_.get_ydata(), [25, 50])


def test_bandwidths_decrease_from_left_to_right_after_k_means():
    display = ScheduleDisplay.from_path(path([np.inf, 4.0, 2.0, 1.0]))
    ax = display.axes_[-1]
    left, right = ax.get_xlim()
    assert left > right
    assert ax.get_xscale() == "log"
    names = dict(zip([t.get_text() for t in ax.get_xticklabels()], ax.get_xticks(), strict=True))
    assert names["1"] == 1
    assert names["K-means"] == max(names.values()) == display.objective_line_.get_xdata()[0]


def test_a_finite_path_has_no_tick_for_k_means():
    ax = ScheduleDisplay.from_path(path([4.0, 2.0])).axes_[-1]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["4", "2"]


@pytest.mark.parametrize("bandwidths", [[np.inf], [3.0], [np.inf, 2.0]])
@pytest.mark.parametrize("n_clusters", [1, 12, 60])
def test_short_paths_and_many_clusters(bandwidths, n_clusters):
    labels = np.zeros((len(bandwidths), 4), dtype=int)
    display = ScheduleDisplay.from_path(path(bandwidths, labels, n_clusters))
    display.figure_.canvas.draw()
    assert len(display.size_lines_) == n_clusters
    assert (display.axes_[1].get_legend() is None) == (n_clusters == 60)


def test_repeated_colours_have_other_line_styles():
    display = ScheduleDisplay.from_path(path([2.0, 1.0], n_clusters=12))
    first, again = display.size_lines_[1], display.size_lines_[11]
    assert first.get_color() == again.get_color()
    assert first.get_linestyle() != again.get_linestyle()


def test_a_note_says_that_labels_were_not_stored(blobs):
    model = KModes(3, random_state=0, store_labels=False).fit(blobs)
    display = ScheduleDisplay.from_estimator(model)
    assert display.changed_line_ is None
    assert "not stored" in display.axes_[-1].texts[0].get_text()


def test_of_a_fitted_model(blobs):
    model = KModes(3, bandwidth=1.0, random_state=0).fit(blobs)
    display = ScheduleDisplay.from_estimator(model)
    changed = [np.mean(a != b) for a, b in pairwise(model.path_.labels)]
    np.testing.assert_allclose(display.changed, changed)
    assert ScheduleDisplay.from_path(
        kmodes_path(blobs, 2, bandwidths=[3.0, 1.0], random_state=0)
    ).axes_.shape == (4,)
    assert display.axes_[-1].get_xscale() == "log"
    for k, line in enumerate(display.averaged_lines_):
        np.testing.assert_array_equal(line.get_ydata(), model.path_.rows_averaged[:, k])


def two_stages():
    """K-means, two bandwidths of labels, and two levels of modes with equal medians."""
    return replace(
        path([np.inf, 4.0, 2.0, 1.0, 1.0], np.zeros((5, 4), dtype=int)),
        stage=np.array([0, 1, 1, 2, 2]),
        cluster_bandwidths=np.array([[np.inf] * 2, [4.0] * 2, [2.0] * 2, [1.0, np.inf], [1.0] * 2]),
        rows_averaged=np.array([[60.0, 20], [50, 20], [40, 18], [30, 16], [23.6, 1.0]]),
    )


def test_modes_with_their_own_bandwidths_are_evenly_spaced():
    display = ScheduleDisplay.from_path(two_stages())
    display.figure_.canvas.draw()
    assert display.step_names == ["K-means", "4", "2", "23 rows", "12 rows"]
    np.testing.assert_array_equal(display.objective_line_.get_xdata(), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(display.changed_line_.get_xdata(), [1, 2, 3, 4])
    ax = display.axes_[-1]
    assert ax.get_xlim()[0] < 0 < 4 < ax.get_xlim()[1]
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names[0] == "K-means"
    assert {"2", "12 rows"} <= {*names}
    assert "rows averaged" in ax.get_xlabel()
    for panel in display.axes_:
        dotted = [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == ":"]
        assert dotted == [0.5, 2.5]


@pytest.mark.parametrize("solver", ["bound", "gradient"])
def test_the_objective_of_a_graph_is_shown_where_labels_are_found(blobs, solver):
    model = LaplacianKModes(3, solver=solver).fit(blobs)
    display = ScheduleDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert display.step_names[0] == "linkage"
    shown = display.objective_line_.get_ydata()
    np.testing.assert_array_equal(shown[1:9], model.path_.objectives[1:9])
    assert np.isnan(shown[[0, *range(9, 17)]]).all()
    low, high = display.axes_[0].get_ylim()
    assert low <= shown[1:9].min() < shown[1:9].max() <= high
    assert (low == 0) == (solver == "gradient")  # that of "bound" is above 1
    without = LaplacianKModes(3, smoothing=0).fit(blobs)
    display = ScheduleDisplay.from_estimator(without)
    np.testing.assert_array_equal(display.objective_line_.get_ydata(), without.path_.objectives)


def test_rows_averaged_have_a_panel():
    display = ScheduleDisplay.from_path(two_stages())
    display.figure_.canvas.draw()
    assert [line.get_ydata().tolist() for line in display.averaged_lines_] == [
        [60, 50, 40, 30, 23.6],
        [20, 20, 18, 16, 1],
    ]
    panel = display.axes_[2]
    assert panel.get_ylabel() == "rows\naveraged"
    assert {"1", "10", "50"} <= {text.get_text() for text in panel.get_yticklabels()}
    assert "rows averaged" in display.title_.get_text()
    without = ScheduleDisplay.from_path(replace(two_stages(), rows_averaged=None))
    assert len(without.axes_) == 3
    assert without.averaged_lines_ == []


def test_a_cluster_without_rows_averages_none():
    averaged = two_stages().rows_averaged
    averaged[:, 1] = 0.0
    display = ScheduleDisplay.from_path(replace(two_stages(), rows_averaged=averaged))
    display.figure_.canvas.draw()
    assert np.isnan(display.averaged_lines_[1].get_ydata()).all()
    assert display.step_names[-1] == "24 rows"
    assert display.axes_[2].get_ylim()[0] > 10


def test_frozen_labels_at_one_bandwidth_keep_the_log_axis(blobs):
    options = {"bandwidth": 0.5, "n_bandwidths": 4, "random_state": 0}
    model = KModes(3, reassign=False, **options).fit(blobs)
    display = ScheduleDisplay.from_estimator(model)
    assert display.step_names is None
    np.testing.assert_array_equal(
        display.objective_line_.get_xdata()[1:], model.path_.bandwidths[1:]
    )


@pytest.mark.parametrize("options", [{}, {"rows_per_mode": np.inf}, {"reassign": False}])
@pytest.mark.parametrize("n_clusters", [1, 12])
def test_default_fits(blobs, options, n_clusters):
    model = KModes(n_clusters, random_state=0, **options).fit(blobs)
    display = ScheduleDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    names = [text.get_text() for text in display.axes_[-1].get_xticklabels()]
    assert names[0] == "K-means"
    assert "K-means" not in names[1:]


def test_the_axes_given_are_divided(blobs):
    figure, axes = plt.subplots(1, 2, layout="constrained")
    model = KModes(3, random_state=0).fit(blobs)
    display = ScheduleDisplay.from_estimator(model, ax=axes[1])
    figure.canvas.draw()
    assert display.figure_ is figure
    assert display.ax_ is axes[1]
    assert all(ax.get_position().x0 >= 0.5 for ax in display.axes_)


def test_models_without_a_path_are_refused(blobs):
    with pytest.raises(NotFittedError):
        ScheduleDisplay.from_estimator(KModes())
    with pytest.raises(ValueError, match="MeanShift has not; pass a fitted KModes"):
        ScheduleDisplay.from_estimator(MeanShift(bandwidth=1.0).fit(blobs))


@pytest.mark.parametrize("unit", [1e-250, 1e250])
def test_bandwidths_far_from_1(unit):
    display = ScheduleDisplay.from_path(path([np.inf, 4 * unit, 2 * unit]))
    display.figure_.canvas.draw()
    broken = display.axes_[0].lines[-1].get_xdata()[0]
    assert 4 * unit < broken < display.objective_line_.get_xdata()[0]

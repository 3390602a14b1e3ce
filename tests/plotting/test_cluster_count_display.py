from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from sklearn.datasets import make_blobs

from modeclust import suggest_clusters
from modeclust.plotting import ClusterCountDisplay
from modeclust.plotting.cluster_count_display import KEPT, MERGED


@pytest.fixture(scope="module")
def found():
    X, _ = make_blobs(300, centers=12 * np.eye(5), random_state=0)
    return suggest_clusters(X, random_state=0)


def titles(display):
    return [panel.get_title() for panel in display.axes_]


def test_it_shows_what_the_tests_have_seen(found):
    display = found.plot()
    display.figure_.canvas.draw()
    assert isinstance(display, ClusterCountDisplay)
    assert display.title_.get_text() == "5 clusters"
    assert titles(display) == [
        "Peaks of the density: 5",
        "Clusters with gaps between them: 5",
        "The last two that were merged: one hump?",
        "The closest two of the 5 left: two humps?",
    ]
    bars = [(bar.get_height(), bar.get_facecolor()) for bar in display.peak_bars_]
    shown = found.peak_heights[: len(bars)]
    assert bars == [
        (height, to_rgba(KEPT if height >= found.peak_threshold else MERGED)) for height in shown
    ]
    np.testing.assert_array_equal(display.dip_line_.get_xdata(), np.arange(40, 4, -1))
    np.testing.assert_array_equal(display.dip_line_.get_ydata(), found.dips[:36])
    kept = sum(bar.get_height() for bar in display.kept_bars_)
    assert 0.9 * len(found.kept_values) <= kept <= len(found.kept_values)
    merged = sum(bar.get_height() for bar in display.merged_bars_)
    assert 0.9 * len(found.merged_values) <= merged <= len(found.merged_values)


def test_it_says_that_it_is_not_sure(found):
    display = ClusterCountDisplay.from_suggestion(replace(found, n_by_peaks=3, is_sure=False))
    assert display.title_.get_text() == "Not sure: 3 by peaks, 5 by dips"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "Both tests find this number: peaks"),
        ({"is_sure": False, "peak_threshold": 1e-3}, "Both tests find this number, but it is cl"),
        ({"is_sure": False, "max_clusters": 5}, "There may be more: max_clusters=5 allows no more"),
        ({"is_sure": False, "n_rows": 19}, "With 19 different rows, the tests can find no more"),
        ({"is_sure": False, "n_by_peaks": 3}, "The dips are suggested, as the rows have many"),
        ({"is_sure": False, "n_by_peaks": 3, "dimension": 2.0}, "The peaks are suggested"),
        ({"is_sure": False, "n_by_shape": 7, "n_clusters": 7}, "Some clusters touch."),
    ],
)
def test_a_line_says_why(found, change, reason):
    display = replace(found, **change).plot()
    texts = [text.get_text() for axes in display.figure_.axes for text in axes.texts]
    assert any(reason in text for text in texts)


def test_one_cluster_has_no_pair_left():
    display = suggest_clusters(np.random.RandomState(0).normal(size=(100, 2))).plot()
    assert display.kept_bars_ is None
    assert titles(display)[3] == "No two clusters are left"
    assert display.merged_bars_ is not None


def test_equal_rows_leave_nothing_to_show():
    display = suggest_clusters(np.zeros((9, 2))).plot()
    display.figure_.canvas.draw()
    assert display.merged_bars_ is display.kept_bars_ is None
    assert titles(display)[2] == "No clusters were merged"
    assert len(display.peak_bars_) == 0


def test_axes(found):
    figure, (left, _) = plt.subplots(1, 2)
    assert found.plot(ax=left).figure_ is figure

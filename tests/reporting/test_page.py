"""The page of a report, in a real browser."""

import base64
import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_digits, make_blobs, make_moons

from modeclust import KModes, estimate_bandwidth

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 2">',
    "\"quotes\" & 'others', with a comma",
    "=cmd|' /C calc'!A0",
    "שלום עולם",
]


def make(folder, model, X, y=None, **options):
    path = folder / "report.html"
    report = model.report(X, y, path, **options)
    return SimpleNamespace(path=path, model=model, X=X, y=y, summary=report.summary)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    bandwidth = estimate_bandwidth(X) / 3
    model = KModes(10, bandwidth=bandwidth, n_bandwidths=50, random_state=0).fit(X)
    return make(tmp_path_factory.mktemp("digits"), model, X, y, image_shape=(8, 8))


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    X, y = make_moons(300, noise=0.05, random_state=0)
    model = KModes(2, bandwidth=0.2, n_bandwidths=6, random_state=0).fit(X)
    return make(tmp_path_factory.mktemp("moons"), model, X, y)


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 200), rng.normal(8, 2, 300)][:, None]
    model = KModes(2, bandwidth=1.0, n_bandwidths=5, random_state=0).fit(X)
    return make(tmp_path_factory.mktemp("line"), model, X, feature_names=["length"])


def slide(page, step):
    page.locator("#slider").fill(str(step))


def readout(page):
    return page.locator("#readout").inner_text()


def step_of(page):
    return int(page.locator("#slider").input_value())


def mode_pixels(page, cluster):
    """Return the pixels of the mode of a cluster as drawn, 0 to 255."""
    shades = page.evaluate(
        """k => {
            const canvas = document.querySelector(`[data-cluster="${k}"] .mode`);
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return Array.from(data).filter((_, i) => i % 4 === 0);
        }""",
        cluster,
    )
    return np.array(shades)


def downloaded(page, button):
    with page.expect_download() as download:
        page.locator(button).click()
    with Path(download.value.path()).open(newline="", encoding="utf-8") as file:
        return download.value.suggested_filename, list(csv.reader(file))


@pytest.mark.parametrize("step", [0, 25, 50])
def test_the_slider_moves_the_pictures(digits, open_page, step):
    page = open_page(digits.path)
    slide(page, step)
    centers = digits.model.path_.centers
    for k in (0, 9):
        wanted = 255 - 255 * centers[step, k]  # pixels of the data reach from 0 to 1
        np.testing.assert_allclose(mode_pixels(page, k), wanted, atol=1)
    assert f"step {step + 1} of 51" in readout(page)
    assert ("K-means" in readout(page)) == (step == 0)


def test_cards_show_the_nearest_rows_and_their_classes(digits, open_page):
    page = open_page(digits.path)
    assert "up to 20 rows" in page.locator("#patterns-caption").inner_text()
    for k in (0, 4):
        own = np.flatnonzero(digits.model.labels_ == k)
        away = np.linalg.norm(digits.X[own] - digits.model.cluster_centers_[k], axis=1)
        nearest = own[np.argsort(away, kind="stable")[:20]]
        card = page.locator(f'[data-cluster="{k}"]')
        titles = [
            picture.get_attribute("title") for picture in card.locator(".exemplars canvas").all()
        ]
        assert titles == [f"row {row}" for row in nearest]
        counts = np.bincount(digits.y[nearest], minlength=10)
        bars = [bar.get_attribute("title") for bar in card.locator(".classes > div").all()]
        assert bars == [
            f"class {name}: {count} row{'s' * (count != 1)}"
            for name, count in enumerate(counts.tolist())
        ]


def test_the_table_shows_sizes_and_classes_at_the_step(digits, open_page):
    page = open_page(digits.path)
    slide(page, 0)
    labels = digits.model.path_.labels[0]
    rows = page.locator("#clusters tbody tr").all()
    assert len(rows) == 10
    for k, row in enumerate(rows):
        own = digits.y[labels == k]
        cells = row.locator("td").all_inner_texts()
        assert cells[0].strip() == str(k)
        assert cells[1] == str(len(own))
        share = np.bincount(own).max() / len(own)
        assert cells[3] == f"{digits.model.path_.rows_averaged[0, k]:.0f}"
        assert cells[7] == f"{np.bincount(own).argmax()} ({100 * share:.0f}%)"


def test_play_runs_to_the_target_and_stops(moons, open_page):
    page = open_page(moons.path)
    slide(page, 3)
    play = page.locator("#play")
    play.click()
    assert play.inner_text() == "Stop"
    page.wait_for_function("document.getElementById('slider').value === '6'")
    assert play.inner_text() == "Play"
    play.click()  # from the target it begins again
    assert step_of(page) < 6
    play.click()
    stopped = step_of(page)
    page.wait_for_timeout(700)
    assert step_of(page) == stopped


def test_keys(moons, open_page):
    page = open_page(moons.path)
    page.locator("body").click(position={"x": 2, "y": 2})  # no element has the focus
    for key, step in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)]:
        page.keyboard.press(key)
        assert step_of(page) == step
    page.keyboard.press("End")
    assert step_of(page) == 6
    page.keyboard.press("ArrowRight")
    assert step_of(page) == 6
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function("document.getElementById('slider').value === '2'")
    page.keyboard.press(" ")
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert step_of(page) == 1
    assert page.locator("#slider").get_attribute("aria-valuetext").startswith("bandwidth")


@pytest.mark.parametrize("step", [0, 31])
def test_downloads_have_the_numbers_of_the_step(digits, open_page, step):
    page = open_page(digits.path)
    slide(page, step)
    point = digits.model.path_[step]
    name, (header, *lines) = downloaded(page, "#download-modes")
    assert name.startswith("modes-")
    assert name.endswith(".csv")
    assert header == ["cluster", "count", "rows_averaged", *(f"x{d}" for d in range(64))]
    values = np.array(lines, dtype=np.float64)
    np.testing.assert_array_equal(values[:, 0], np.arange(10))
    np.testing.assert_array_equal(values[:, 1], point.counts)
    np.testing.assert_array_equal(values[:, 2], point.rows_averaged)
    np.testing.assert_array_equal(values[:, 3:], point.centers)
    _, (header, *lines) = downloaded(page, "#download-labels")
    assert header == ["row", "label"]
    rows, labels = np.array(lines, dtype=int).T
    np.testing.assert_array_equal(rows, np.arange(len(digits.X)))
    np.testing.assert_array_equal(labels, point.labels)


def test_the_page_of_the_digits_is_small(digits):
    assert digits.path.stat().st_size < 8e6


def test_the_map_shows_modes_and_their_paths(moons, open_page):
    page = open_page(moons.path)
    centers = moons.model.path_.centers
    for step in (0, 4, 6):
        slide(page, step)
        traces = page.evaluate("document.getElementById('map').data.map(({x, y}) => ({x, y}))")
        _, path, start, label_centers, mode = traces
        assert label_centers["x"] == []  # labels are those of the modes
        np.testing.assert_array_equal([start["x"], start["y"]], centers[0].T)
        np.testing.assert_array_equal([mode["x"], mode["y"]], centers[step].T)
        wanted = [*centers[: step + 1, 0, 0], None, *centers[: step + 1, 1, 0], None]
        assert path["x"] == wanted


def test_rows_are_drawn_in_the_colours_of_their_clusters(moons, open_page):
    page = open_page(moons.path)
    slide(page, 0)
    seen = page.evaluate(
        """() => {
            const {xaxis, yaxis} = document.getElementById("map")._fullLayout;
            const canvas = document.getElementById("rows");
            const {data, width} = canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height);
            return report.map.rows.map((_, i) => {
                const [x, y] = report.map.points.map((axis) => axis[i]);
                const left = Math.round(xaxis._offset + xaxis.d2p(x));
                const top = Math.round(yaxis._offset + yaxis.d2p(y));
                const at = 4 * (width * top + left);
                return Array.from(data.slice(at, at + 3));
            });
        }"""
    )
    blue, orange = [63, 144, 218], [255, 169, 14]
    labels = moons.model.path_.labels[0]
    wanted = np.where(labels[:, None] == 0, blue, orange)
    right = np.all(np.abs(np.array(seen) - wanted) <= 3, axis=1)
    assert right.mean() > 0.98  # a row of the other cluster may lie over one


def test_a_tooltip_names_the_row(moons, open_page):
    page = open_page(moons.path)
    place = page.evaluate(
        """() => {
            const {xaxis, yaxis} = document.getElementById("map")._fullLayout;
            const box = document.getElementById("rows").getBoundingClientRect();
            const [x, y] = report.map.points.map((axis) => axis[7]);
            const [left, top] = [box.left + xaxis._offset, box.top + yaxis._offset];
            return [left + xaxis.d2p(x), top + yaxis.d2p(y)];
        }"""
    )
    page.mouse.move(*place)
    assert page.locator("#tooltip").inner_text() == (
        f"row 7, cluster {moons.model.labels_[7]}, class {moons.y[7]}"
    )


def test_the_curves_follow_and_lead(moons, open_page):
    page = open_page(moons.path)
    cursor = "document.getElementById('curves').layout.shapes[0].x0"
    ends = []
    for step in (0, 6):
        slide(page, step)
        ends.append(page.evaluate(cursor))
    assert ends[0] < ends[1]
    sizes = page.evaluate("document.getElementById('curves').data.map(({y}) => y)")
    np.testing.assert_array_equal(sizes[0], moons.model.path_.objectives)
    np.testing.assert_array_equal(np.array(sizes[1:3]).T, moons.model.path_.counts)
    before, after = moons.model.path_.labels[:-1], moons.model.path_.labels[1:]
    np.testing.assert_array_equal(sizes[3], [0, *(before != after).sum(axis=1)])


@pytest.fixture(scope="module")
def two_stages(tmp_path_factory):
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = KModes(2, random_state=0).fit(X)
    return make(tmp_path_factory.mktemp("auto"), model, X, y)


def test_both_stages_are_named_in_plain_words(two_stages, open_page):
    page, model = open_page(two_stages.path), two_stages.model
    low, high = np.round(sorted(model.rows_averaged_)).astype(int)
    rows = f"{low} to {high} rows" if low < high else f"{low} rows"
    words = page.locator("#facts").inner_text()
    label_bandwidth = f"{model.bandwidth_:.4g}"
    assert words.endswith(f"auto: labels at bandwidth {label_bandwidth}, modes average {rows}")
    tooltips = [term.get_attribute("title") for term in page.locator("#facts .term").all()]
    assert "nearest center" in tooltips[0]
    assert "How many rows the mode averages" in tooltips[1]
    median = f"modes of {np.median(model.rows_averaged_):.0f} rows"
    names = {
        0: "K-means (bandwidth ∞)",
        8: f"bandwidth {label_bandwidth}",
        16: f"{median} (median)",
    }
    for step, name in names.items():
        slide(page, step)
        assert readout(page).splitlines()[0] == name
    assert page.locator("#last").inner_text() == median
    name, _ = downloaded(page, "#download-modes")
    assert name == f"modes-{np.median(model.rows_averaged_):.0f}rows.csv"
    assert "the bandwidth of the labels" in page.locator("#clusters th .term").last.get_attribute(
        "title"
    )


def test_the_table_shows_the_rows_averaged_at_each_step(two_stages, open_page):
    page = open_page(two_stages.path)
    for step in (0, 8, 16):
        slide(page, step)
        assert page.locator("#clusters th").all_inner_texts()[3] == "rows averaged"
        for k, row in enumerate(page.locator("#clusters tbody tr").all()):
            averaged = two_stages.model.path_.rows_averaged[step, k]
            assert row.locator("td").nth(3).inner_text() == f"{averaged:.0f}"


def test_the_map_tells_means_centers_and_modes_apart(two_stages, open_page):
    page, model = open_page(two_stages.path), two_stages.model
    for step in (0, 8, 16):
        slide(page, step)
        traces = page.evaluate("document.getElementById('map').data.map(({x, y}) => ({x, y}))")
        _, _, means, centers, modes = ([trace["x"], trace["y"]] for trace in traces)
        np.testing.assert_array_equal(means, model.path_.centers[0].T)
        np.testing.assert_array_equal(modes, model.path_.centers[step].T)
        expected = model.cluster_centers_.T.tolist() if step == 16 else [[], []]
        assert centers == expected
    assert "center of the labels" in page.locator("#map .legend").inner_html()


def test_the_curves_of_both_stages(two_stages, open_page):
    page, path = open_page(two_stages.path), two_stages.model.path_
    slide(page, 16)
    chart = page.evaluate(
        "(({data, layout}) => ({data: data.map(({x, y}) => ({x, y})), shapes: layout.shapes, "
        "names: layout.xaxis.ticktext}))(document.getElementById('curves'))"
    )
    assert all(trace["x"] == list(range(17)) for trace in chart["data"])
    assert [shape["x0"] for shape in chart["shapes"]] == [16, 0.5, 8.5]
    assert chart["names"][0] == "K-means"
    assert f"{path.bandwidths[8]:.4g}" in chart["names"]
    assert chart["names"][-1] == f"{np.median(path.rows_averaged[-1]):.0f} rows"
    averaged = np.array([trace["y"] for trace in chart["data"][-2:]])
    np.testing.assert_array_equal(averaged.T, path.rows_averaged)


def test_boundaries_of_one_feature_are_between_the_centers_of_the_labels(tmp_path, open_page):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 300), 4 + rng.exponential(3, 300)][:, None]
    line = make(tmp_path, KModes(2, random_state=0).fit(X), X)
    shapes = open_page(line.path).evaluate("document.getElementById('map').layout.shapes")
    boundary, *modes = (shape["x0"] for shape in shapes)
    assert boundary == pytest.approx(line.model.cluster_centers_.mean())
    np.testing.assert_array_equal(modes, line.model.modes_[:, 0])
    summary = line.summary["histogram"]
    grid, width = np.array(summary["grid"]), summary["edges"][1] - summary["edges"][0]
    for k, curve in enumerate(summary["densities"][-1]):
        bandwidth = max(line.model.mode_bandwidths_[k], grid[1] - grid[0])
        away = (grid[:, None] - X[line.model.labels_ == k, 0]) / bandwidth
        expected = np.exp(-(away**2) / 2).sum(axis=1) / (np.sqrt(2 * np.pi) * bandwidth)
        np.testing.assert_allclose(curve, width * expected, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reassign": False, "bandwidth": 0.5}, "labels of K-means, modes at bandwidth 0.5"),
        (
            {"reassign": False, "rows_per_mode": 30},
            r"auto: labels of K-means, modes average (2\d|3\d)( to 2\d| to 3\d)? rows",
        ),
        ({"rows_per_mode": np.inf}, "modes average 150 rows"),
    ],
)
def test_frozen_labels_and_modes_that_are_means(options, words, tmp_path, open_page):
    X = np.repeat(np.arange(2), 150)[:, None] * 20 + np.random.default_rng(0).normal(size=(300, 2))
    shown = make(tmp_path, KModes(2, random_state=0, **options).fit(X), X)
    page = open_page(shown.path)
    assert re.search(words, page.locator("#facts").inner_text())
    for step in (0, 1, len(shown.summary["steps"]) - 1):
        slide(page, step)
        assert ("K-means" in readout(page)) == (step == 0)
    caption = page.locator("#redundant-caption").inner_text()
    assert ("labels are those of K-means" in caption) == ("reassign" in options)


def test_outliers_are_shown(tmp_path, open_page):
    X, _ = make_blobs([200, 200], 3, centers=[[0, 0, 0], [20, 0, 0]], random_state=0)
    X[7] += 100
    shown = make(tmp_path, KModes(2, random_state=0).fit(X), X)
    page = open_page(shown.path)
    n_above = np.count_nonzero(shown.model.outlier_scores_ > 3)
    caption = page.locator("#outliers-caption").inner_text()
    assert caption.startswith(f"{n_above} of 400 rows have a score above 3")
    first = page.locator("#farthest li").first.inner_text()
    assert "row 7" in first
    assert f"{shown.model.outlier_scores_[7]:.1f}" in first
    counts = page.evaluate("document.getElementById('outliers').data[0].y")
    assert sum(counts) == 400


def test_a_bandwidth_too_wide_to_tell_is_said(tmp_path, open_page):
    X, _ = make_blobs(150, 3, centers=3, random_state=0)
    shown = make(tmp_path, KModes(4, bandwidth=1e3, random_state=0).fit(X), X)
    page = open_page(shown.path)
    assert "too wide to tell" in page.locator("#redundant-caption").inner_text()
    assert page.locator("#redundant li").count() == 0


def test_one_feature_is_a_histogram_with_densities(line, open_page):
    page = open_page(line.path)
    path = line.model.path_
    for step in (0, 5):
        slide(page, step)
        chart = page.evaluate(
            "(({data, layout}) => ({data: data.map(({y}) => y), shapes: layout.shapes}))"
            "(document.getElementById('map'))"
        )
        edges = np.array(line.summary["histogram"]["edges"])
        for k in range(2):
            values = line.X[path.labels[step] == k, 0]
            np.testing.assert_array_equal(chart["data"][k], np.histogram(values, edges)[0])
        boundary = path.centers[step].mean()
        np.testing.assert_allclose(chart["shapes"][0]["x0"], boundary)
        assert (len(chart["data"][2]) > 0) == (step > 0)
    assert "length" in page.locator("#map").inner_text()


def test_densities_of_one_feature_have_the_area_of_the_bars(line):
    summary = line.summary["histogram"]
    width = summary["edges"][1] - summary["edges"][0]
    for densities in summary["densities"][-2:]:
        area = np.trapezoid(np.sum(densities, axis=0), summary["grid"])
        assert area / (width * len(line.X)) == pytest.approx(
            1, abs=0.05
        )  # part of it is outside the axis limits


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    X, y = make_blobs(120, n_features=5, centers=3, random_state=0)
    frame = pd.DataFrame(X, columns=HOSTILE)
    classes = np.array(HOSTILE)[y]
    model = KModes(3, random_state=0).fit(frame)
    folder = tmp_path_factory.mktemp("hostile")
    return make(folder, model, frame, classes, title=HOSTILE[0], notes=HOSTILE)


def test_nothing_from_the_data_runs(hostile, open_page):
    page = open_page(hostile.path)
    for step in range(len(hostile.model.path_)):
        slide(page, step)
    page.mouse.move(300, 400)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("body img").count() == 0
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.title() == HOSTILE[0]
    assert page.locator("#notes li").all_inner_texts() == HOSTILE
    assert HOSTILE[1][:20] in page.locator("#clusters").inner_text()


def test_names_in_downloads_are_text_to_a_spreadsheet(hostile, open_page):
    page = open_page(hostile.path)
    slide(page, len(hostile.model.path_) - 1)
    _, (header, *lines) = downloaded(page, "#download-modes")
    assert header[3:] == [*HOSTILE[:3], "'" + HOSTILE[3], HOSTILE[4]]
    values = np.array(lines, dtype=float)[:, 3:]
    np.testing.assert_array_equal(values, hostile.model.modes_)


def test_a_hostile_csv_is_explored_safely(tmp_path, open_page):
    X, y = make_blobs(90, n_features=5, centers=3, random_state=1)
    file = tmp_path / "<b>bold<b>.csv"
    frame = pd.DataFrame(X, columns=HOSTILE)
    frame["kind"] = np.array(HOSTILE)[y]
    frame.to_csv(file, index=False)
    page_file = tmp_path / "page.html"
    command = ["explore", str(file), "-k", "3", "--label-column", "kind", "--no-open"]
    subprocess.run(
        [sys.executable, "-m", "modeclust", *command, "-o", str(page_file)],
        check=True,
        capture_output=True,
    )
    page = open_page(page_file)
    slide(page, 0)
    assert page.evaluate("window.hacked") is None
    assert page.locator("body img, h1 b").count() == 0
    assert page.locator("h1").inner_text() == file.name
    _, (header, *_) = downloaded(page, "#download-modes")
    assert header[3:] == [*HOSTILE[:3], "'" + HOSTILE[3], HOSTILE[4]]


def test_the_policy_stops_what_is_not_the_page(hostile, chromium):
    page = chromium.new_page()
    page.goto(hostile.path.as_uri())
    blocked = page.evaluate(
        """() => new Promise((done) => {
            const seen = [];
            document.addEventListener("securitypolicyviolation", (event) => {
                seen.push(event.effectiveDirective);
                if (seen.length === 3) done(seen.sort());
            });
            const script = document.createElement("script");
            script.textContent = "window.hacked = 3";
            document.body.append(script);
            fetch("https://example.org/").catch(() => null);
            new Image().src = "https://example.org/x.png";
        })"""
    )
    assert blocked == ["connect-src", "img-src", "script-src-elem"]
    assert page.evaluate("window.hacked") is None
    page.context.close()


def test_many_rows_are_sampled_and_the_page_says_so(tmp_path, open_page):
    X, _ = make_blobs(12_000, centers=4, random_state=0)
    model = KModes(4, n_bandwidths=3, n_init=1, random_state=0).fit(X)
    made = make(tmp_path, model, X)
    page = open_page(made.path)
    assert "5,000 of the 12,000 rows" in page.locator("#map-caption").inner_text()
    _, lines = downloaded(page, "#download-labels")
    assert [int(line[1]) for line in lines[1:]] == model.labels_.tolist()


def test_kmeans_alone_and_one_cluster(tmp_path, open_page):
    X, _ = make_blobs(60, n_features=3, random_state=0)
    model = KModes(1, bandwidth=np.inf, random_state=0).fit(X)
    page = open_page(make(tmp_path, model, X).path)
    assert page.locator("#slider").is_disabled()
    assert page.locator("#play").is_disabled()
    assert "K-means" in readout(page)


def test_more_clusters_than_colours_have_symbols(tmp_path, open_page):
    X = np.repeat(np.arange(12.0)[:, None] * 10, 20, axis=0) + np.linspace(0, 1, 240)[:, None]
    X = np.c_[X, X % 7]
    model = KModes(12, bandwidth=1.0, n_bandwidths=2, random_state=0).fit(X)
    page = open_page(make(tmp_path, model, X).path)
    marks = page.locator("#clusters .chip path").evaluate_all(
        "paths => paths.map((path) => path.getAttribute('d') + path.getAttribute('fill'))"
    )
    assert len(set(marks)) == 12


@pytest.mark.slow
def test_very_many_clusters_and_bandwidths(tmp_path, open_page):
    X = np.arange(400.0)[:, None] + np.array([[0.0, 0.5]])
    model = KModes(200, bandwidth=0.5, n_bandwidths=40, n_init=1, random_state=0).fit(X)
    made = make(tmp_path, model, X)
    page = open_page(made.path)
    page.evaluate("report.exemplars = Array(200).fill(report.exemplars).flat()")
    page.evaluate("void patternCards()")  # with more lists than a call takes arguments
    slide(page, 3)
    assert page.locator(".card").count() == 200


def test_a_theme_change_keeps_the_zoom(moons, open_page):
    page = open_page(moons.path, scheme="dark", width=1000)
    page.evaluate("Plotly.relayout('map', {'xaxis.range': [0, 1]})")
    page.emulate_media(color_scheme="light")
    page.wait_for_function("document.getElementById('map').layout.font.color === '#1b1f24'")
    assert page.evaluate("document.getElementById('map')._fullLayout.xaxis.range") == [0, 1]


def test_rows_stay_with_the_axes(moons, open_page):
    page = open_page(moons.path, width=1100)
    for bounds in ([-2, 3], [0, 1], [-2, 3]):
        page.evaluate(f"Plotly.relayout('map', {{'xaxis.range': {bounds}}})")
        address, places = page.evaluate(
            """() => {
                const {xaxis, yaxis} = document.getElementById("map")._fullLayout;
                const places = report.map.rows.map((_, i) => [
                    xaxis._offset + xaxis.d2p(report.map.points[0][i]),
                    yaxis._offset + yaxis.d2p(report.map.points[1][i])]);
                return [document.getElementById("rows").toDataURL(), places];
            }"""
        )
        picture = np.array(Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))))
        shown = (moons.X[:, 0] > bounds[0] + 0.01) & (moons.X[:, 0] < bounds[1] - 0.01)
        columns, lines = np.round(np.array(places)[shown]).astype(int).T
        assert np.all(picture[lines, columns, 3] > 0)


@pytest.mark.parametrize(
    "width", [320, *(pytest.param(w, marks=pytest.mark.slow) for w in (360, 800)), 1600]
)
def test_the_page_fits_the_screen(digits, hostile, open_page, width):
    for report in (digits, hostile):
        page = open_page(report.path, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for panel in page.locator(".panel").all():
            box = panel.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_light_and_dark(moons, open_page):
    looks = {}
    for scheme in ("light", "dark"):
        page = open_page(moons.path, scheme=scheme)
        looks[scheme] = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " document.getElementById('map').layout.font.color]"
        )
    assert looks["light"][0] == "rgb(255, 255, 255)"
    assert looks["light"][0] != looks["dark"][0]
    assert looks["light"][1] != looks["dark"][1]
    page.emulate_media(color_scheme="light")
    page.wait_for_function(
        f"document.getElementById('map').layout.font.color === '{looks['light'][1]}'"
    )


def indented(text):
    """Return a text as Sphinx has it on the page of a gallery."""
    return "\n".join(4 * " " + line.expandtabs(8).rstrip() for line in text.splitlines())


@pytest.mark.parametrize("written", [str, indented])
def test_the_page_works_inside_a_notebook(moons, open_page, tmp_path, written):
    report = moons.model.report(moons.X, path=None)
    outer = tmp_path / "notebook.html"
    outer.write_text(f"<meta charset=utf-8>{written(report._repr_html_())}", encoding="utf-8")
    page = open_page(outer, ready="iframe")
    frame = page.frame_locator("iframe")
    frame.locator("#curves .main-svg").first.wait_for()
    frame.locator("#slider").fill("0")
    assert "K-means" in frame.locator("#readout").inner_text()


def test_the_json_is_what_the_page_holds(moons, open_page, tmp_path):
    path = tmp_path / "report.json"
    moons.model.report(moons.X, moons.y, path)
    summary = json.loads(path.read_text(encoding="utf-8"))
    held = open_page(moons.path).evaluate("report")
    assert {
        name: value for name, value in held.items() if name not in ("colors", "symbols")
    } == summary

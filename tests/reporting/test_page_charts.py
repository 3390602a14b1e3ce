"""The charts of the page in a real browser: map, histogram, heat map, curves, and the evidence."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import modeclust
from modeclust import KModes
from modeclust.reporting.page import Report
from tests.reporting.reading import number, pixels, readout, slide, step_of

BLUE, ORANGE = [63, 144, 218], [255, 169, 14]  # of clusters 0 and 1


def places(page, points):
    """Return where points of the map are, in pixels of its canvas."""
    return np.array(page.evaluate("points => points.map(([x, y]) => mapPoint(x, y))", points))


def test_rows_are_drawn_in_the_colours_of_their_clusters(moons, open_page):
    page = open_page(moons.path)
    slide(page, 0)
    at = places(page, moons.data.tolist()).round().astype(int)
    seen = pixels(page, "#map canvas")[at[:, 1], at[:, 0]]
    labels = moons.clustering.path_.labels[0]
    wanted = np.where(labels[:, None] == 0, BLUE, ORANGE)
    right = np.all(np.abs(seen[:, :3].astype(int) - wanted) <= 4, axis=1)
    assert right.mean() > 0.85  # names and symbols of modes are drawn over some rows


def test_modes_are_drawn_where_they_are(moons, open_page):
    page, path = open_page(moons.path), moons.clustering.path_
    for step in (0, len(path) - 1):
        slide(page, step)
        at = places(page, path.centers[step].tolist()).round().astype(int)
        seen = pixels(page, "#map canvas")[at[:, 1], at[:, 0], :3]
        np.testing.assert_array_equal(seen, [BLUE, ORANGE])


def test_modes_of_images_are_drawn_as_pictures(digits, open_page):
    page = open_page(digits.path)
    k = 4
    [[x, y]] = places(page, [digits.summary["map"]["centers"][-1][k]])
    seen = pixels(page, "#map canvas")[..., :3]
    corner = seen[round(y - 15 + 2), round(x - 15 + 2)]  # of the picture, which is 30 pixels wide
    np.testing.assert_allclose(corner, 255 * digits.clustering.modes_[k, 0], atol=2)
    frame = seen[round(y), round(x) - 16]
    assert frame.tolist() == [169, 107, 89]  # the colour of cluster 4


def test_a_tooltip_names_the_row_and_its_cluster(table, open_page):
    page = open_page(table.path)
    point = [axis[7] for axis in table.summary["map"]["points"]]
    [[x, y]] = places(page, [point])
    box = page.locator("#map canvas").bounding_box()
    page.mouse.move(box["x"] + x, box["y"] + y)
    name = table.summary["labels"]["names"][table.summary["map"]["rows"][7]]
    found = page.locator("#tip").inner_text()
    assert found.split(" · ")[0] == name or " rows (" in found  # a mode may lie over the row
    page.mouse.move(0, 0)
    assert page.locator("#tip").is_hidden()


def test_the_map_can_be_enlarged(moons, open_page):
    page = open_page(moons.path)
    before = places(page, moons.data[:2].tolist())
    page.locator("#map button[aria-label='Zoom in']").click()
    after = places(page, moons.data[:2].tolist())
    np.testing.assert_allclose(after[1] - after[0], 1.5 * (before[1] - before[0]))
    page.locator("#map button", has_text="All").click()
    np.testing.assert_allclose(places(page, moons.data[:2].tolist()), before)


def test_arrow_keys_go_from_cluster_to_cluster_on_the_map(table, open_page):
    page = open_page(table.path)
    page.locator("#map canvas").focus()
    page.keyboard.press("ArrowRight")
    largest = max(table.summary["cards"], key=lambda card: card["rows"])
    assert page.locator("#live").inner_text().startswith(f"{largest['name']}: {largest['rows']} ")


def test_many_rows_are_sampled_and_the_page_says_so(make_page, open_page):
    X, _ = make_blobs(12_000, centers=4, random_state=0)
    shown = make_page(KModes(4, n_bandwidths=3, n_init=1, random_state=0).fit(X), X)
    assert "of the 12,000 rows" in open_page(shown.path).locator("#map-caption").inner_text()


def test_one_feature_is_a_histogram_with_densities(make_page, open_page):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"length": np.r_[rng.normal(0, 1, 200), rng.normal(8, 2, 300)]})
    shown = make_page(KModes(2, bandwidth=1.0, n_bandwidths=5, random_state=0).fit(data), data)
    page, path = open_page(shown.path), shown.clustering.path_
    edges = np.array(shown.summary["histogram"]["edges"])
    for step in (0, 5):
        slide(page, step)
        assert "length" in page.locator("#map").inner_text()
        titles = page.locator("#map rect title").all_text_contents()
        counts = [int(title.rpartition(": ")[2].split()[0]) for title in titles]
        wanted = [np.histogram(data["length"][path.labels[step] == k], edges)[0] for k in (0, 1)]
        assert counts == [count for own in wanted for count in own if count]
        assert page.locator("#map path.density").count() == (2 if step else 0)
        assert page.locator("#map line.mode-line").count() == 2


def test_the_heat_map_says_what_the_summary_has(table, open_page):
    page, heat = open_page(table.path), table.summary["heat"]
    page.locator("#heat").focus()
    order = sorted(range(3), key=lambda k: -table.summary["cards"][k]["rows"])
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    said, k = page.locator("#live").inner_text(), order[1]
    effect = heat["effects"][k][2]
    assert said.startswith(f"{table.summary['cards'][k]['name']}: {heat['rows'][2]['label']} ")
    if abs(effect) < 0.2:
        assert said.endswith("like all rows")
    else:
        size, _, side, *_ = said.rpartition(", ")[2].split()
        assert float(size) == pytest.approx(abs(effect), rel=0.06)
        assert side == ("above" if effect > 0 else "below")


def test_only_the_seen_part_of_a_large_heat_map_is_drawn(make_page, open_page):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 30, 300)
    data = pd.DataFrame(rng.normal(0, 4, (30, 200))[group] + rng.normal(size=(300, 200)))
    page = open_page(make_page(KModes(30, n_init=1, random_state=0).fit(data), data).path)
    canvas = page.locator("#heat canvas").bounding_box()
    assert canvas["height"] <= 500
    assert page.evaluate("document.getElementById('heat').scrollHeight") > 200 * 20
    before = pixels(page, "#heat canvas")
    page.evaluate("document.getElementById('heat').scrollTo(0, 2000)")
    page.wait_for_function("heat.box.scrollTop === 2000")
    page.wait_for_timeout(100)
    after = pixels(page, "#heat canvas")
    assert before.shape == after.shape
    assert np.any(before != after)


def test_the_curves_lead_and_follow(moons, open_page):
    page = open_page(moons.path)
    page.locator("#path-panel > summary").click()
    page.wait_for_selector("#curves svg")
    assert page.locator("#curves figure").count() == 4
    cursor = "document.querySelector('#curves .now').getAttribute('x1')"
    ends = []
    for step in (0, len(moons.summary["steps"]) - 1):
        slide(page, step)
        ends.append(float(page.evaluate(cursor)))
    assert ends[0] < ends[1]
    page.locator("#curves svg").first.click(position={"x": ends[0] + 2, "y": 60})
    assert step_of(page) == 0
    assert readout(page).startswith("Means")


def test_how_the_number_of_clusters_was_chosen(make_page, open_page):
    X, _ = make_blobs(400, centers=4, random_state=3)
    shown = make_page(KModes("auto", random_state=0).fit(X), X)
    page, suggestion = open_page(shown.path), shown.summary["suggestion"]
    page.wait_for_selector("#evidence rect")
    titles = page.locator("#evidence figure").first.locator("rect title").all_text_contents()
    found = [number(title.rpartition("dip ")[2]) for title in titles]
    np.testing.assert_allclose(found, suggestion["dips"], rtol=1e-3)
    said = page.locator("#evidence-caption").inner_text()
    assert said == suggestion["sentence"]


def test_outliers_and_redundant_pairs(table, open_page, tmp_path):
    """These parts depend on what the model computes, so a summary has them put in here."""
    summary = copy.deepcopy(table.summary)
    summary["outliers"] = {
        "edges": [0, 1, 2, 3],
        "counts": [290, 9, 1],
        "rows": [{"row": 7, "name": "Ann", "cluster": 1, "score": 2.75}],
    }
    summary["redundant"] = {
        "sentence": "Two clusters are redundant if nothing divides them.",
        "pairs": [{"clusters": [2, 0], "depth": 0.01, "text": "no dip"}],
    }
    Report(summary).save(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    page.wait_for_selector("#outliers rect")
    titles = page.locator("#outliers rect title").all_text_contents()
    assert titles == ["290 rows from 0 to 1", "9 rows from 1 to 2", "1 row from 2 to 3"]
    line = page.locator("#outliers tbody tr").inner_text()
    assert line.split("\t")[:2] == ["Ann", "2.8"]
    assert summary["cards"][1]["name"] in line
    pair = page.locator("#redundant li").inner_text()
    assert all(summary["cards"][k]["name"] in pair for k in (0, 2))
    assert "no dip" in pair
    summary["outliers"] = summary["redundant"] = None
    modeclust.reporting.page.Report(summary).save(tmp_path / "without.html")
    page = open_page(tmp_path / "without.html")
    assert page.locator("#outliers-panel").is_hidden()
    assert page.locator("#redundant-panel").is_hidden()

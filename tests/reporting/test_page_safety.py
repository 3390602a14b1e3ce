"""The page is one file that works offline, and nothing from the data runs in it."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import modeclust
from modeclust import KModes
from modeclust.reporting.page import Report
from tests.reporting.reading import downloaded, slide

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 2">',
    "\"quotes\" & 'others', with a comma",
    "=cmd|' /C calc'!A0",
    "שלום עולם",
]


@pytest.fixture(scope="module")
def hostile(make_page):
    """A page whose columns, rows, categories, classes, texts, title and notes are hostile."""
    X, y = make_blobs(120, n_features=5, centers=3, random_state=0)
    frame = pd.DataFrame(X, columns=HOSTILE)
    model = KModes(3, random_state=0).fit(frame)
    names = [f"{HOSTILE[i % 5]} {i}" for i in range(120)]
    frame["kind"] = np.array(HOSTILE)[y]
    return make_page(
        model,
        frame,
        y=np.array(HOSTILE)[y],
        row_names=names,
        texts=[f"{HOSTILE[i % 5]} is a text with some words" for i in range(120)],
        title=HOSTILE[0],
        notes=HOSTILE,
    )


def test_nothing_from_the_data_runs(hostile, open_page):
    page = open_page(hostile.path)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    for step in range(len(hostile.summary["steps"])):
        slide(page, step)
    box = page.locator("#map canvas").bounding_box()
    for x in range(20, int(box["width"]), 60):
        page.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("body img").count() == 0
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.title() == HOSTILE[0]
    notes = page.locator("#notes li").all_inner_texts()
    assert all(note in notes for note in HOSTILE)
    assert HOSTILE[1] in page.locator("#cards").inner_text()


def test_a_summary_with_any_text_is_safe(hostile, open_page, tmp_path):
    """Every text of the summary is hostile, and longer than it should be."""
    text = HOSTILE[0] + HOSTILE[1] + "x" * 200

    def spoil(value, key=None):
        if isinstance(value, str):
            return value if key in ("kind", "stage", "rows", "modes") else text
        if isinstance(value, list):
            return [spoil(item) for item in value]
        if isinstance(value, dict):
            return {name: spoil(item, name) for name, item in value.items()}
        return value

    summary = copy.deepcopy(hostile.summary)
    summary["glossary"] = {"mode": text, text: text}
    for part in ("title", "facts", "notes", "method", "noun", "start"):
        summary[part] = spoil(summary[part])
    for card in summary["cards"]:
        for part in ("name", "sentence", "terms", "classes"):
            card[part] = spoil(card[part])
        for item in [*card["apart"], *card["nearest"]["apart"]]:
            item["text"] = text
        for example in card["examples"]:
            example |= {"name": text, "text": text, "class": text}
    Report(summary).save(tmp_path / "report.html")
    for width in (1280, 360):
        page = open_page(tmp_path / "report.html", width=width)
        assert page.evaluate("window.hacked") is None
        assert page.locator("body img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_in_downloads_are_text_to_a_spreadsheet(hostile, open_page):
    page = open_page(hostile.path)
    slide(page, len(hostile.summary["steps"]) - 1)
    _, (head, *lines) = downloaded(page, "#download-modes")
    first = head.index(HOSTILE[0])
    safe = [*HOSTILE[:3], "'" + HOSTILE[3], HOSTILE[4]]
    assert head[first : first + 5] == safe
    values = np.array([line[first : first + 5] for line in lines], dtype=float)
    np.testing.assert_allclose(values, hostile.clustering.modes_, atol=0.01)
    assert {line[first + 5] for line in lines} <= set(safe)


def test_the_policy_stops_what_is_not_the_page(hostile, chromium):
    page = chromium.new_page()
    page.goto(hostile.path.as_uri())
    blocked = page.evaluate(
        """() => new Promise((done) => {
            const seen = [];
            document.addEventListener("securitypolicyviolation", (event) => {
                seen.push(event.effectiveDirective);
                if (seen.length === 4) done(seen.sort());
            });
            const script = document.createElement("script");
            script.textContent = "window.hacked = 3";
            document.body.append(script);
            const style = document.createElement("style");
            style.textContent = "body { display: none }";
            document.body.append(style);
            fetch("https://example.org/").catch(() => null);
            new Image().src = "https://example.org/x.png";
        })"""
    )
    assert blocked == ["connect-src", "img-src", "script-src-elem", "style-src-elem"]
    assert page.evaluate("window.hacked") is None
    page.context.close()


def test_the_page_holds_the_summary_and_nothing_else(table, open_page, tmp_path):
    table.report.save(tmp_path / "report.json")
    summary = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    held = open_page(table.path).evaluate("report")
    assert {name: value for name, value in held.items() if name != "colors"} == summary
    assert summary == table.summary


def test_sizes_of_pages(make_page):
    rng = np.random.default_rng(0)
    faces = np.repeat(rng.random((40, 1024)), 10, axis=0)
    faces = np.clip(faces + rng.normal(0, 0.1, faces.shape), 0, 1)
    model = KModes(40, n_init=1, random_state=0).fit(faces)
    assert make_page(model, faces, image_shape=(32, 32)).path.stat().st_size < 10e6
    table = pd.DataFrame(rng.normal(size=(2240, 29)))
    model = KModes(6, n_init=1, random_state=0).fit(table)
    assert make_page(model, table).path.stat().st_size < 6e6


def indented(text):
    """Return a text as Sphinx has it on the page of a gallery."""
    return "\n".join(4 * " " + line.expandtabs(8).rstrip() for line in text.splitlines())


@pytest.mark.parametrize("written", [str, indented])
def test_the_page_works_inside_a_notebook(moons, open_page, tmp_path, written):
    report = modeclust.report(moons.clustering, moons.data, path=None)
    outer = tmp_path / "notebook.html"
    outer.write_text(f"<meta charset=utf-8>{written(report._repr_html_())}", encoding="utf-8")
    page = open_page(outer, ready="iframe")
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready]").wait_for()
    frame.locator("#slider").fill("0")
    assert frame.locator("#readout").inner_text().startswith("Means")
    frame.locator("#cluster-0 .rename").click()
    frame.locator("#cluster-0 input").fill("Upper moon")
    frame.locator("#cluster-0 input").press("Enter")
    assert frame.locator("#cluster-0 h3").inner_text() == "Upper moon"


def test_a_lone_surrogate_does_not_break_the_page(table, open_page, tmp_path):
    report = SimpleNamespace(path=tmp_path / "report.html")
    Report({**table.summary, "title": "odd \ud800 title"}).save(report.path)
    assert open_page(report.path).title() == "odd ? title"

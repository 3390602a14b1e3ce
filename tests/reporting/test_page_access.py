"""The page for every reader: by keyboard and screen reader, dark, narrow, printed."""

import copy

import pytest
from browser import AXE

from modeclust.reporting.page import Report
from tests.reporting.reading import readout, slide, step_of

FIXTURES = ("table", "digits", "moons", "eighty")


@pytest.fixture
def find_faults():
    """Return a function that lists the serious faults of accessibility that axe-core finds."""
    if not AXE.exists():
        pytest.skip("left out: needs axe-core, which `python tests/browser.py` installs by npm")

    def find(page):
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            (fault["id"], [node["html"] for node in fault["nodes"]])
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
        ]

    return find


@pytest.mark.parametrize("name", FIXTURES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_no_serious_fault(name, width, scheme, request, open_page, find_faults):
    page = open_page(request.getfixturevalue(name).path, width=width, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.evaluate("openCard(0, true)")
    page.wait_for_timeout(100)
    assert find_faults(page) == []


def test_axe_would_find_a_fault(moons, chromium, find_faults):
    page = chromium.new_page()
    page.goto(moons.path.as_uri())
    page.evaluate("document.body.append(document.createElement('button'))")
    assert [name for name, _ in find_faults(page)] == ["button-name"]
    page.context.close()


def test_keys_of_the_slider(moons, open_page):
    page = open_page(moons.path)
    last = len(moons.summary["steps"]) - 1
    page.locator("h1").click()  # no element has the focus
    for key, step in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)]:
        page.keyboard.press(key)
        assert step_of(page) == step
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert step_of(page) == last
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    said = page.locator("#slider").get_attribute("aria-valuetext")
    assert said == f"Means, step 1 of {last + 1}"
    assert readout(page).startswith("Means")
    page.keyboard.press(" ")
    page.wait_for_function("document.getElementById('slider').value === '2'")
    page.keyboard.press(" ")
    assert page.locator("#play").inner_text() == "Play"


def test_terms_have_tooltips_by_pointer_and_keyboard(table, open_page):
    page, glossary = open_page(table.path), table.summary["glossary"]
    term = page.locator("#cluster-0 .term", has_text="Rows averaged")
    tip = page.locator("#tip")
    term.hover()
    assert tip.inner_text() == glossary["rows averaged"]
    page.mouse.move(0, 0)
    page.locator("h1").hover()
    assert tip.is_hidden()
    term.focus()
    assert tip.inner_text() == glossary["rows averaged"]
    assert term.get_attribute("aria-describedby") == "tip"
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_a_card_is_opened_by_the_keyboard(eighty, open_page):
    page = open_page(eighty.path)
    link = page.locator("#sizes a").nth(2)
    link.focus()
    page.keyboard.press("Enter")
    focused = page.evaluate("document.activeElement.closest('.card').id")
    k = page.locator("#sizes li").nth(2).get_attribute("data-cluster")
    assert focused == f"cluster-{k}"
    toggle = page.locator(f"#cluster-{k} .toggle")
    assert toggle.get_attribute("aria-expanded") == "true"


@pytest.mark.parametrize(
    "width", [320, *(pytest.param(w, marks=pytest.mark.slow) for w in (360, 800)), 1600]
)
def test_the_page_fits_the_screen(table, digits, open_page, width):
    for shown in (table, digits):
        page = open_page(shown.path, width=width)
        page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true })"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for box in page.locator(".panel, .card").all():
            if not box.is_visible():
                continue
            area = box.bounding_box()
            assert area["x"] >= 0
            assert area["x"] + area["width"] <= width


@pytest.mark.parametrize("name", ["שלום " * 40, "w" * 200, "a name of words " * 12])
def test_long_names_and_right_to_left_text_fit(name, table, open_page, tmp_path):
    summary = copy.deepcopy(table.summary)
    old = summary["columns"][0]["name"]
    summary["columns"][0]["name"] = name
    for row in summary["heat"]["rows"]:
        row["label"] = row["label"].replace(old, name)
    for card in summary["cards"]:
        card["name"] = name
        for part in (card["typical"], card["detail"], *(e["values"] for e in card["examples"])):
            if old in part:
                part[name] = part.pop(old)
        for item in card["apart"]:
            item["text"] = item["text"].replace(old, name)
    Report(summary).save(tmp_path / "report.html")
    for width in (360, 1400):
        page = open_page(tmp_path / "report.html", width=width)
        page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true })"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#cluster-0 h3").inner_text() == name.strip()


def test_light_and_dark(moons, open_page):
    page = open_page(moons.path, scheme="dark", width=1000)
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "map.tones.ink"
    dark = page.evaluate(f"[{ground}, {ink}]")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{ink} !== '{dark[1]}'")
    light = page.evaluate(f"[{ground}, {ink}]")
    assert light[0] != dark[0]
    assert light[1] == "#1a1e24"
    slide(page, 0)


def test_print_has_no_controls(table, open_page):
    page = open_page(table.path, width=1100)
    page.emulate_media(media="print")
    for selector in ("#play", "#links", ".rename", "#card-tools", "#downloads-panel"):
        assert page.locator(selector).first.is_hidden()
    assert page.locator(".card").first.is_visible()
    page.emulate_media(media="screen")

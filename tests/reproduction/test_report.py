"""The report: pictures, numbers and a page."""

import json
from html.parser import HTMLParser

import pytest

from reproduction import report
from reproduction.claims import VERDICTS, claims_of
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.report import is_report_file, number, summary, write_report

HOSTILE = "<b>bold</b> & \"quoted\" </script><script>document.title = 'hacked'</script>"
LONG = "aVeryLongWordWithoutAnyPlaceToBreak" * 10


class Pictures(HTMLParser):
    """Collects the images, links and anchors of a page."""

    def __init__(self, page):
        super().__init__()
        self.images, self.links, self.ids, self.tags = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag == "img":
            self.images.append(attrs)
        if tag == "a":
            self.links.append(attrs["href"])
        if "id" in attrs:
            self.ids.append(attrs["id"])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    lines = []
    return folder, write_report(["gaussians"], folder, quick=True, log=lines.append), lines


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Write the report of an item with hostile text, and with a claim of each kind."""
    import matplotlib.pyplot as plt

    values = [1.0, 0.3, float("nan"), 0.5]
    measures = dict(zip(claims_of("gaussians"), map(Measure.exactly, values), strict=True))
    measures["mode-in-high-density"] = Measure(0.9, 0.5, 1.3, 10)

    def reproduce(name, *, quick):
        return Findings(
            measures,
            [Picture(plt.figure(), HOSTILE), Picture(plt.figure(), LONG)],
            [Table(HOSTILE, ["", HOSTILE], [[LONG, HOSTILE]])],
            {"m": HOSTILE},
        )

    monkeypatch.setattr(report, "reproduce", reproduce)
    return tmp_path, write_report(["gaussians"], tmp_path)


def test_results_have_a_verdict_on_every_claim(written):
    folder, results, _ = written
    stored = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert stored == results
    claims = stored["claims"]
    assert [claim["name"] for claim in claims] == [
        claim.name for claim in claims_of("gaussians").values()
    ]
    for claim in claims:
        assert {"name", "paper", "ours", "verdict"} <= claim.keys()
        assert isinstance(claim["ours"], float)
        assert claim["verdict"] in VERDICTS
    assert sum(stored["verdicts"].values()) == len(claims)
    assert stored["quick"] is True
    assert [item["name"] for item in stored["items"]] == ["gaussians"]


def test_page_shows_every_picture(written):
    folder, results, _ = written
    page = Pictures((folder / "index.html").read_text(encoding="utf-8"))
    pictures = sorted(file.name for file in folder.glob("*.png"))
    assert pictures == ["gaussians.png"]
    assert [image["src"] for image in page.images] == pictures
    assert all(image["alt"] for image in page.images)
    assert {"results.json", "#gaussians", "gaussians.png"} <= set(page.links)
    assert {"gaussians", *(claim["name"] for claim in results["claims"])} <= set(page.ids)
    assert all(is_report_file(file.name) for file in folder.iterdir())


def test_the_log_has_a_line_for_each_claim(written):
    _, results, lines = written
    assert lines[0] == "gaussians: Three Gaussians in two clusters (fig. 2)"
    for line, claim in zip(lines[1:], results["claims"], strict=False):
        assert line.startswith(f"{claim['name']} ")
        assert f": {number(claim['ours'])}" in line
    assert len(lines) == len(results["claims"]) + 2


def test_text_is_escaped(hostile):
    folder, results = hostile
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = Pictures(text)
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "&lt;b&gt;bold&lt;/b&gt; &amp;" in text
    assert [image["src"] for image in page.images] == ["gaussians.png", "gaussians-2.png"]
    assert page.images[0]["alt"] == HOSTILE
    on_stand_in = [claim["name"] for claim in results["claims"] if claim["stand_in"]]
    assert len(on_stand_in) == 3
    assert all(name.startswith("gaussians.m") for name in on_stand_in)
    assert "A quick run" not in text


def test_page_explains_a_miss(hostile):
    folder, results = hostile
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert [claim["verdict"] for claim in results["claims"]] == ["not", "partly", "not", "not"]
    assert "off by 0.75: Our Gaussians are closer" in text
    assert "the interval is off by 0.3: The densities of the two clusters" in text
    assert "not measured: A mode may lie" in text
    assert "0.5 to 1.3, 10 runs" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (0.0, "0"),
        (-3.0, "-3"),
        (0.12345, "0.123"),
        (-0.00133333, "-0.00133"),
        (99.96, "100"),
        (999.49, "999"),
        (999.6, "1,000"),
        (1234.5, "1,234"),
        (506489, "506,489"),
        (12345678.9, "12,345,679"),
        (2e6, "2,000,000"),
        (1e-7, "1e-07"),
    ],
)
def test_numbers_as_text(value, text):
    assert number(value) == text


def test_summary_has_both_numbers():
    claim = {"ours": 0.5, "interval": [0.25, 0.75], "paper": 0.6}
    assert summary(claim) == "0.5 (0.25 to 0.75); paper: 0.6"
    assert summary({"ours": 1, "interval": [1, 1], "paper": "much"}) == "1; paper: much"


def test_other_files_are_not_part_of_a_report():
    assert is_report_file("index.html")
    assert is_report_file("results.json")
    assert is_report_file("rotated-ones-12.png")
    for name in ("moons-in-spring.png", "cost2.png", "usps.svg", "notes.txt", "usps-.png"):
        assert not is_report_file(name)


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1200, "light")])
def test_page_in_a_browser(width, scheme, hostile, chromium):
    folder, _ = hostile
    troubles = []
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.goto((folder / "index.html").as_uri())
    assert page.title() == "The K-modes paper, reproduced"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    loaded = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
    assert page.evaluate(loaded)
    page.click("nav a")
    assert page.url.endswith("#gaussians")
    page.close()
    assert troubles == []


def test_a_claim_on_a_stand_in_holds_in_part_at_most(tmp_path, monkeypatch):
    values = dict.fromkeys(claims_of("gaussians"), Measure.exactly(1.0))
    monkeypatch.setattr(
        report, "reproduce", lambda name, *, quick: Findings(values, [], (), {"both": "No data."})
    )
    *_, last = write_report(["gaussians"], tmp_path)["claims"]
    assert (last["name"], last["stand_in"]) == ("gaussians.both-find-three", True)
    assert (last["verdict"], last["off"]) == ("partly", 0)
    assert "stand-in" in last["why"]

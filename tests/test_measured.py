"""Pages of measured results show what is in them. `make docs` runs these."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]
DOCS, BENCHMARKS = ROOT / "docs", ROOT / "benchmarks"
MOST_BYTES = 3_000_000

pytestmark = pytest.mark.docs


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """The module that makes the pages, in a folder of its own."""
    spec = importlib.util.spec_from_file_location("measured", DOCS / "_ext" / "measured.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DOCS", tmp_path)
    return module


def times(*seconds):
    ordered = sorted(seconds)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return {"median": middle, "min": ordered[0], "max": ordered[-1], "values": list(seconds)}


def contestant(seconds, base, **others):
    ratios = times(*(a / b for a, b in zip(seconds, base, strict=True)))
    return {"seconds": times(*seconds), "ratio": ratios, "iterations": [9]} | others


def small_run(**parts):
    return {
        "environment": {
            "date": "today", "system": "none", "cores": 1, "threads": 1, "python": "3",
            "packages": {"modeclust": "0"},
        },
        "repeats": 2, "quick": False, "left_out": [], "failed": [], "outside_cores": {},
        "workloads": {}, "growth": {}, "others": {},
    } | parts  # fmt: skip


def page_of(results, folder):
    file = folder / "results.json"
    file.write_text(json.dumps(results), encoding="utf-8")
    command = [sys.executable, BENCHMARKS / "page.py", file, folder / "benchmarks"]
    subprocess.run(command, check=True)
    return (folder / "benchmarks" / "page.inc").read_text(encoding="utf-8")


def test_who_took_less_by_hand(tmp_path):
    lloyd, elkan, intelex, ours = (4.0, 2.0), (1.0, 1.0), (3.0, 1.0), (2.0, 1.5)
    of = {
        "modeclust": contestant(ours, lloyd, inertia=5.0),
        "scikit-learn Lloyd": contestant(lloyd, lloyd, inertia=5.0),
        "scikit-learn Elkan": contestant(elkan, lloyd, inertia=5.0),
        "scikit-learn-intelex": contestant(intelex, lloyd, inertia=4.0),
    }
    data = {"title": "points", "source": "made up", "dtype": "float64"}
    page = page_of(
        small_run(workloads={"w": {"data": data, "kmeans": {"contestants": of}}}), tmp_path
    )
    # Times: less than Lloyd's in both turns, more than Elkan's, and Intel's in one turn each.
    beside = "scikit-learn Lloyd, scikit-learn Elkan, scikit-learn-intelex"
    assert f"| K-means from one start | {beside} | 1 | 1 | 1 |" in page
    assert f"| inertia of that K-means | {beside} | 0 | 2 | 1 |" in page
    assert "Of 6 comparisons" in page
    assert "less than the other in every turn of 1, and more in every turn of 2;" in page
    goal = (
        "| K-means from one start / scikit-learn Lloyd | points | at most 0.33 | 0.625 | missed |"
    )
    assert goal in page
    lost = page.split("## Where modeclust loses")[1].split("## Goals")[0]
    assert "| K-means from one start | points | scikit-learn Elkan | 1.75 (1.5 to 2) |" in lost
    assert "| inertia of that K-means | points | scikit-learn-intelex | 1.25" in lost
    assert "Lloyd" not in lost


def scores(*values):
    return {"mean": sum(values) / len(values)} | times(*values)


def test_the_goals_by_hand(tmp_path):
    def known(name, purity, ours, theirs):
        of = {"purity": purity, "adjusted_rand": ours, "rows_averaged": scores(9.0, 9.0)}
        means = of | {"purity": scores(1.0, 0.9), "adjusted_rand": theirs}
        return {
            "name": name,
            "data": {"title": f"{name} 9 x 2", "source": "made up"},
            "contestants": {"scikit-learn KMeans": means, "KModes()": of},
        }

    sets = [
        known("digits", scores(1.0, 0.98), scores(0.5, 0.6), scores(0.5, 0.6)),
        known("USPS", scores(0.8, 0.9), scores(0.3, 0.3), scores(0.4, 0.5)),
    ]
    page = page_of(small_run(**{"defaults-quality": {"seeds": 2, "sets": sets}}), tmp_path)
    assert "1 of 3 are reached." in page
    purity = "| purity near modes |"
    assert f"{purity} digits 9 x 2 | at least 0.99 | 0.99 | reached |" in page
    assert f"{purity} USPS 9 x 2 | at least 0.86 | 0.85 | missed |" in page
    # The means over sets and seeds, ours and that of K-means: 0.425 and 0.5.
    beside = "| adjusted Rand index, beside K-means | mean of the sets |"
    assert f"{beside} at least 0.5 | 0.425 | missed |" in page
    # K-means misses no purity in the first turn: equal to ours on the digits, lost on USPS.
    lost = page.split("## Where modeclust loses")[1].split("## Goals")[0]
    title = "1 - adjusted Rand index of a default fit"
    assert f"| {title} | USPS 9 x 2 | scikit-learn KMeans | 1.28 (1.17 to 1.4) |" in lost
    assert "digits" not in lost


def test_a_run_of_nothing_makes_a_page(tmp_path):
    page = page_of(small_run(), tmp_path)
    assert "Of 0 comparisons" not in page
    assert "today" in page


def test_the_benchmarks_page_shows_all_of_its_run(tmp_path):
    results = json.loads((DOCS / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    assert not results["quick"]
    page = page_of(results, tmp_path)
    for workload in results["workloads"].values():
        for name, own in workload["iteration"]["contestants"].items():
            if name not in ("scikit-learn Lloyd", "opening", "bare read"):
                assert f"{own['ratio']['median']:.2f} (" in page
    pictures = re.findall(r"/measured/benchmarks/(\S+)", page)
    assert {"iteration-light.svg", "iteration-dark.svg"} <= set(pictures)
    assert {file.name for file in (tmp_path / "benchmarks").glob("*.svg")} == set(pictures)


def test_the_paper_page_shows_every_claim(measured, tmp_path):
    committed = DOCS / "paper"
    results = json.loads((committed / "results.json").read_text(encoding="utf-8"))
    (tmp_path / "paper").mkdir()
    for name in ("results.json", "../paper.md.jinja"):
        (tmp_path / "paper" / name).write_bytes((committed / name).read_bytes())
    measured.make("paper")
    page = (tmp_path / "measured" / "paper" / "page.inc").read_text(encoding="utf-8")
    for claim in results["claims"]:
        assert f'<tr id="{claim["name"]}">' in page
    for verdict, count in results["verdicts"].items():
        assert page.count(f'<td><span class="verdict {verdict}">') == count
    shown = set(re.findall(r"\{figure\} /paper/(\S+)", page))
    assert shown == {file.name for file in committed.glob("*.png")}
    assert sum(file.stat().st_size for file in committed.iterdir()) < MOST_BYTES


def test_a_run_is_put_in_place(measured, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    Image.new("RGB", (30, 20), "red").save(run / "moons.png")
    results = {"quick": False, "items": [{"pictures": [{"file": "moons.png"}]}]}
    (run / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "of-an-older-run.png").touch()
    measured.take("paper", run)
    assert sorted(file.name for file in (tmp_path / "paper").iterdir()) == [
        "moons.png",
        "results.json",
    ]
    with Image.open(tmp_path / "paper" / "moons.png") as image:
        assert image.size == (30, 20)
        assert image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_a_quick_run_is_refused(measured, tmp_path):
    (tmp_path / "results.json").write_text('{"quick": true}', encoding="utf-8")
    with pytest.raises(SystemExit, match="quick run"):
        measured.take("benchmarks", tmp_path)
    assert not (tmp_path / "benchmarks").exists()

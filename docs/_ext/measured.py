"""Makes what the pages show of measured results; takes the results of a new run.

As a Sphinx extension it makes tables and plots from `docs/<page>/results.json` into `docs/measured`
whenever the documentation is made: a page can show no number that is not in its results.

    python docs/_ext/measured.py benchmarks out/bench
    python docs/_ext/measured.py paper out/paper
    python docs/_ext/measured.py comparison out/comparison
    python docs/_ext/measured.py battery out/battery

puts the results of a run in the place of those that are there.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
BENCHMARKS = DOCS.parent / "benchmarks"
COLOURS_OF_A_PICTURE = 256


def make(page: str) -> None:
    """Make what a page includes, from the results that are there."""
    results, folder = DOCS / page / "results.json", DOCS / "measured" / page
    shutil.rmtree(folder, ignore_errors=True)
    if page == "paper":
        _make_paper(results, folder)
        return
    # In a process of its own: the modules there set what threads and caches a process has.
    script = {
        "benchmarks": "page.py",
        "comparison": "comparison_page.py",
        "battery": "battery_page.py",
    }[page]
    subprocess.run([sys.executable, BENCHMARKS / script, results, folder], check=True)


def _make_paper(file: Path, folder: Path) -> None:
    from markupsafe import Markup

    from reproduction.report import VERDICT_WORDS, items_of, templates

    environment = templates()
    environment.filters["markdown"] = lambda text: Markup(
        re.sub(r"([\\`*_\[\]<>$|#])", r"\\\1", text)
    )
    template = environment.from_string((DOCS / "paper.md.jinja").read_text(encoding="utf-8"))
    results = json.loads(file.read_text(encoding="utf-8"))
    page = template.render(results=results, items=items_of(results), words=VERDICT_WORDS)
    folder.mkdir(parents=True)
    (folder / "page.inc").write_text(page, encoding="utf-8")


def take(page: str, run: Path) -> None:
    """Put the results of a run in place, with its pictures where the page shows them."""
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    if results["quick"]:
        raise SystemExit(f"{run} is a quick run, which shows nothing; make a full one.")
    folder = DOCS / page
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copyfile(run / "results.json", folder / "results.json")
    for item in results.get("items", ()):
        for picture in item["pictures"]:
            _shrink(run / picture["file"], folder / picture["file"])


def _shrink(picture: Path, copy: Path) -> None:
    """Copy a picture with few colours, which takes a third of the room."""
    from PIL import Image

    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(COLOURS_OF_A_PICTURE, dither=Image.Dither.NONE)
        few.save(copy, optimize=True)


PAGES = ("benchmarks", "paper", "comparison", "battery")


def setup(app):
    """Make all of it when the documentation is made."""
    app.connect("builder-inited", lambda app: [make(page) for page in PAGES])
    return {"parallel_read_safe": True}


def main() -> None:
    """Take the results that the command line names."""
    parser = argparse.ArgumentParser(description="Put the results of a run into the documentation.")
    parser.add_argument("page", choices=PAGES)
    parser.add_argument("run", type=Path, help="the folder that the run wrote", metavar="FOLDER")
    arguments = parser.parse_args()
    take(arguments.page, arguments.run)


if __name__ == "__main__":
    main()

"""The results for the documentation: tables, and plots for light and dark pages.

    python benchmarks/page.py RESULTS FOLDER

makes them from `results.json` of a run. Any part of it may be missing.
"""

import argparse
import json
import re
from pathlib import Path

from defaults_tables import BATTERY_TITLE
from plots import COLOURS, draw_all
from tables import to_markdown

PICTURE = re.compile(r"!\[(?P<caption>.*?)\]\((?P<name>.*?)\.png\)")
# Sections with details, which are folded at first.
FOLDED = ("What was run for it", "What bounds spare", BATTERY_TITLE)


def write_page(results, folder: Path):
    """Write `page.inc`, which a page includes, and its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in COLOURS:
        for name, figure in draw_all(results, page):
            figure.savefig(folder / f"{name}-{page}.svg", metadata={"Date": None})
    (folder / "page.inc").write_text(to_page(to_markdown(results), folder.name), encoding="utf-8")


def to_page(markdown: str, folder: str, folded=FOLDED) -> str:
    """Return Markdown for Sphinx, with light and dark pictures, columns and folded sections."""
    sections = (
        _section(text, folder, folded) for text in re.split(r"^(?=## )", markdown, flags=re.M)
    )
    return "\n\n".join(sections)


def _section(text, folder, folded):
    title, _, body = text.partition("\n\n")
    blocks = [
        _pictures(PICTURE.findall(block), folder) if PICTURE.match(block) else block
        for block in body.strip().split("\n\n")
    ]
    body = "\n\n".join(blocks)
    if title.removeprefix("## ") in folded:
        return f"::::{{dropdown}} {title.removeprefix('## ')}\n{body}\n::::"
    return f"{title}\n\n{body}"


def _pictures(found, folder):
    """Return pictures side by side, or one below the other on narrow pages."""
    if len(found) == 1:
        return _either(*found[0], folder)
    items = "\n".join(f":::{{grid-item}}\n{_either(*one, folder)}\n:::" for one in found)
    return f"::::{{grid}} 1 2 2 {min(len(found), 3)}\n{items}\n::::"


def _either(caption, name, folder):
    return "\n\n".join(
        f"```{{image}} /measured/{folder}/{name}-{page}.svg\n"
        f":alt: {caption}\n:class: only-{page}\n```"
        for page in COLOURS
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    write_page(json.loads(arguments.results.read_text(encoding="utf-8")), arguments.folder)


if __name__ == "__main__":
    main()

"""The results on disk: JSON, Markdown and pictures, each replaced as a whole."""

import json
from pathlib import Path

from plots import draw_all
from tables import to_markdown


def write_report(results, folder: Path):
    """Write all of the results so far."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "results.json", lambda part: part.write_text(json.dumps(results, indent=1)))
    _replace(folder / "results.md", lambda part: part.write_text(to_markdown(results)))
    for name, figure in draw_all(results):
        _replace(folder / name, lambda part, f=figure: f.savefig(part, dpi=120, format="png"))


def _replace(file, write):
    """Write a file under another name, then give it its own."""
    part = file.with_name(f".{file.name}")
    write(part)
    part.replace(file)

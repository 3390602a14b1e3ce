"""Write the results as JSON, Markdown and pictures. Files are replaced when complete."""

import json
from functools import partial
from pathlib import Path

from plots import draw_all
from tables import to_markdown


def write_report(results, folder: Path):
    """Write all results so far."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "results.json", lambda part: part.write_text(json.dumps(results, indent=1)))
    _replace(folder / "results.md", lambda part: part.write_text(_page(results)))
    for name, figure in draw_all(results):
        _replace(folder / f"{name}.png", partial(_draw, figure))


def _page(results):
    return f"# Benchmark\n\n{to_markdown(results)}"


def _draw(figure, part):
    figure.savefig(part, dpi=120, format="png", facecolor="white")


def _replace(file, write):
    """Write a file under another name, then rename it."""
    part = file.with_name(f".{file.name}")
    write(part)
    part.replace(file)

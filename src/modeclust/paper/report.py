"""Runs items and writes what they found: pictures, `results.json` and `index.html`."""

import json
import os
import platform
import re
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from modeclust.io.atomic import written
from modeclust.paper.claims import VERDICTS, judge, nothing_found
from modeclust.paper.findings import Findings
from modeclust.paper.items import ITEMS, reproduce

RESULTS, PAGE = "results.json", "index.html"
PAGE_TEMPLATE = "page.html"
DPI = 150
WORDS = dict(zip(VERDICTS, ("reproduced", "in part", "not reproduced"), strict=True))


def owns(name: str) -> bool:
    """Return whether a file of this name is one that a report is made of."""
    is_picture = re.fullmatch(rf"({'|'.join(ITEMS)})(-\d+)?\.png", name)
    return name in (RESULTS, PAGE) or is_picture is not None


def is_report(folder: Path) -> bool:
    """Return whether a folder has results as a report has them."""
    try:
        results = json.loads((folder / RESULTS).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(results, dict) and results.keys() >= {"claims", "verdicts", "items"}


def write_report(
    names: list[str],
    folder: Path,
    *,
    quick: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Run items, write their report to an empty folder, and return what is in `results.json`."""
    items = []
    for name in names:
        tell(f"{name}: {ITEMS[name].title} ({ITEMS[name].where})")
        items.append(_run(name, folder, quick=quick))
        for line in items[-1]["stand_ins"]:
            tell(line)
        if items[-1]["error"]:
            tell(f"{name} failed: {items[-1]['error']}")
        for claim in items[-1]["claims"]:
            tell(f"{claim['name']} {WORDS[claim['verdict']]}: {shown(claim)}")
        tell(f"{name} took {items[-1]['seconds']:.0f} s")
    claims = [claim for item in items for claim in item["claims"]]
    results = {
        "claims": claims,
        "verdicts": _count(claims),
        "quick": quick,
        "items": [{key: value for key, value in item.items() if key != "claims"} for item in items],
        "environment": _environment(),
    }
    with written(folder / RESULTS) as file:
        file.write(json.dumps(results, indent=2, allow_nan=False, ensure_ascii=False).encode())
    with written(folder / PAGE) as file:
        file.write(_page(results).encode())
    return results


def _count(claims: list[dict[str, Any]]) -> dict[str, int]:
    return {v: sum(claim["verdict"] == v for claim in claims) for v in VERDICTS}


def shown(claim: dict[str, Any]) -> str:
    """Return our number beside that of the paper, in one line."""
    low, high = claim["interval"]
    spread = f" ({number(low)} to {number(high)})" if low != high else ""
    paper = claim["paper"]
    paper = number(paper) if isinstance(paper, int | float) else paper
    return f"{number(claim['ours'])}{spread}; paper: {paper}"


def number(value: float | None) -> str:
    """Return a number as people read it."""
    if value is None:
        return "none"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    # To three digits, 999.5 would be 1e+03.
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def _run(name: str, folder: Path, *, quick: bool) -> dict[str, Any]:
    import matplotlib as mpl

    start = time.perf_counter()
    error = None
    with mpl.rc_context({"backend": "agg"}), warnings.catch_warnings():
        try:
            findings = reproduce(name, quick=quick)
            claims = judge(name, findings.measures)
        except Exception as caught:  # what the other items find is not to be lost with it
            error = f"{type(caught).__name__}: {caught}"
            findings = Findings({}, [])
            claims = nothing_found(name, error)
        pictures = _write_pictures(name, findings, folder)
    item = ITEMS[name]
    for claim in claims:
        own = claim["name"].removeprefix(f"{name}.")
        claim["stand_in"] = any(map(own.startswith, findings.stand_ins))
        if claim["stand_in"] and claim["verdict"] == "reproduced":
            claim |= {"verdict": "partly", "why": "It is measured on a stand-in for the data."}
    return {
        "name": name,
        "title": item.title,
        "where": item.where,
        "error": error,
        "claims": claims,
        "pictures": pictures,
        "tables": [table._asdict() for table in findings.tables],
        "stand_ins": list(findings.stand_ins.values()),
        "seconds": round(time.perf_counter() - start, 1),
    }


def _write_pictures(name: str, findings: Findings, folder: Path) -> list[dict[str, str]]:
    import matplotlib.pyplot as plt

    pictures = []
    for i, (figure, caption) in enumerate(findings.pictures):
        file = f"{name}.png" if i == 0 else f"{name}-{i + 1}.png"
        with written(folder / file) as stream:
            figure.savefig(stream, dpi=DPI, format="png", bbox_inches="tight", facecolor="white")
        plt.close(figure)
        pictures.append({"file": file, "caption": caption})
    return pictures


def _environment() -> dict[str, Any]:
    from modeclust import __version__

    return {
        "modeclust": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scikit-learn": version("scikit-learn"),
        "cores": os.cpu_count(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _page(results: dict[str, Any]) -> str:
    template = templates().get_template(PAGE_TEMPLATE)
    page: str = template.render(results=results, items=items_of(results), words=WORDS)
    return page


def templates() -> Any:
    """Return the templates of the page and of its tables, as a Jinja environment."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("modeclust.paper", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment


def items_of(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items of `results.json`, each with its claims and the count of its verdicts."""
    items = []
    for item in results["items"]:
        claims = [c for c in results["claims"] if c["name"].startswith(f"{item['name']}.")]
        items.append({**item, "claims": claims, "verdicts": _count(claims)})
    return items

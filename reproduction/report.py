"""Runs items and writes a report: pictures, `results.json` and `index.html`."""

import json
import os
import platform
import re
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reproduction.claims import VERDICTS, judge, judge_failure
from reproduction.findings import Findings
from reproduction.items import ITEMS, reproduce

RESULTS, PAGE = "results.json", "index.html"
PAGE_TEMPLATE = "page.html"
DPI = 150
VERDICT_WORDS = dict(zip(VERDICTS, ("reproduced", "in part", "not reproduced"), strict=True))


def is_report_file(name: str) -> bool:
    """Return whether a report may contain a file of this name."""
    is_picture = re.fullmatch(rf"({'|'.join(ITEMS)})(-\d+)?\.png", name)
    return name in (RESULTS, PAGE) or is_picture is not None


def is_report(folder: Path) -> bool:
    """Return whether a folder contains the results of a report."""
    try:
        results = json.loads((folder / RESULTS).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(results, dict) and results.keys() >= {"claims", "verdicts", "items"}


def check_folder(folder: Path, *, force: bool) -> None:
    """Raise an error if a report must not replace a folder, or cannot be written there."""
    target = folder.resolve()
    if not target.parent.is_dir():
        raise ValueError(f"the folder {str(target.parent)!r} does not exist; create it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ValueError(f"the folder {str(target.parent)!r} is read-only.")
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; pass another folder with -o.")
    if target.samefile(Path.cwd()):
        raise ValueError("-o is the current folder; pass a folder inside it.")
    content = sorted(target.iterdir())
    if other := [file.name for file in content if not is_report_file(file.name) or file.is_dir()]:
        raise ValueError(f"{str(folder)!r} contains {other[0]!r}, which is not part of a report.")
    if content and not is_report(target):
        raise ValueError(f"{str(folder)!r} contains {content[0].name!r}, but is not a report.")
    if content and not force:
        raise ValueError(f"{str(folder)!r} exists; pass --force to replace it, or another -o.")


@contextmanager
def replace_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """Yield a new folder that replaces `folder` if no error occurs, and is removed otherwise."""
    target = folder.resolve()
    new = target.with_name(f".{target.name}-{os.getpid()}")
    new.mkdir()
    try:
        yield new
        check_folder(target, force=force)  # again: the items may have run for long
        shutil.rmtree(target, ignore_errors=True)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def write_report(
    names: list[str],
    folder: Path,
    *,
    quick: bool = False,
    log: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Run items, write their report to an empty folder, and return the content of `results.json`.

    `log` is called with lines of progress.
    """
    items = []
    for name in names:
        log(f"{name}: {ITEMS[name].title} ({ITEMS[name].where})")
        items.append(_run(name, folder, quick=quick))
        for line in items[-1]["stand_ins"]:
            log(line)
        if items[-1]["error"]:
            log(f"{name} failed: {items[-1]['error']}")
        for claim in items[-1]["claims"]:
            log(f"{claim['name']} {VERDICT_WORDS[claim['verdict']]}: {summary(claim)}")
        log(f"{name} took {items[-1]['seconds']:.0f} s")
    claims = [claim for item in items for claim in item["claims"]]
    results = {
        "claims": claims,
        "verdicts": _count(claims),
        "quick": quick,
        "items": [{key: value for key, value in item.items() if key != "claims"} for item in items],
        "environment": _environment(),
    }
    text = json.dumps(results, indent=2, allow_nan=False, ensure_ascii=False)
    (folder / RESULTS).write_text(text, encoding="utf-8")
    (folder / PAGE).write_text(_page(results), encoding="utf-8")
    return results


def _count(claims: list[dict[str, Any]]) -> dict[str, int]:
    return {v: sum(claim["verdict"] == v for claim in claims) for v in VERDICTS}


def summary(claim: dict[str, Any]) -> str:
    """Return our number and the paper's in one line."""
    low, high = claim["interval"]
    spread = f" ({number(low)} to {number(high)})" if low != high else ""
    paper = claim["paper"]
    paper = number(paper) if isinstance(paper, int | float) else paper
    return f"{number(claim['ours'])}{spread}; paper: {paper}"


def number(value: float | None) -> str:
    """Return a number as text: three digits, or all digits before the point."""
    if value is None:
        return "none"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    # With three digits, 999.5 would be 1e+03.
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def _run(name: str, folder: Path, *, quick: bool) -> dict[str, Any]:
    import matplotlib as mpl

    start = time.perf_counter()
    error = None
    with mpl.rc_context({"backend": "agg"}), warnings.catch_warnings():
        try:
            findings = reproduce(name, quick=quick)
            claims = judge(name, findings.measures)
        except Exception as caught:  # one failed item must not lose the findings of the others
            error = f"{type(caught).__name__}: {caught}"
            findings = Findings({}, [])
            claims = judge_failure(name, error)
        pictures = _write_pictures(name, findings, folder)
    item = ITEMS[name]
    for claim in claims:
        own_name = claim["name"].removeprefix(f"{name}.")
        claim["stand_in"] = any(map(own_name.startswith, findings.stand_ins))
        if claim["stand_in"] and claim["verdict"] == "reproduced":
            claim |= {"verdict": "partly", "why": "It was measured on a stand-in for the data."}
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
        figure.savefig(folder / file, dpi=DPI, bbox_inches="tight", facecolor="white")
        plt.close(figure)
        pictures.append({"file": file, "caption": caption})
    return pictures


def _environment() -> dict[str, Any]:
    return {
        **{name: version(name) for name in ("modeclust", "numpy", "scikit-learn")},
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _page(results: dict[str, Any]) -> str:
    template = templates().get_template(PAGE_TEMPLATE)
    page: str = template.render(results=results, items=items_of(results), words=VERDICT_WORDS)
    return page


def templates() -> Any:
    """Return the Jinja environment with the templates of the page and its tables."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment


def items_of(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items in `results.json`, each with its claims and a count of its verdicts."""
    items = []
    for item in results["items"]:
        claims = [c for c in results["claims"] if c["name"].startswith(f"{item['name']}.")]
        items.append({**item, "claims": claims, "verdicts": _count(claims)})
    return items

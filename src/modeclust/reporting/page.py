"""The explorer: one page that shows a path, and works without a network."""

import base64
import errno
import hashlib
import html
import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modeclust.io.atomic import check_path, written
from modeclust.plotting.palette import COLORS, PLOTLY_SYMBOLS
from modeclust.reporting.summarize import summarize

SCRIPTS = ("report.js", "charts.js", "patterns.js", "explorer.js")
HEIGHT = 900  # pixels, of the page within a notebook


@dataclass(frozen=True, repr=False)
class Report:
    """What `modeclust.KModes.report` tells of a model: as a page, as JSON, and inside a notebook.

    Attributes
    ----------
    summary : dict
        All that the page shows, as numbers and text.
    """

    summary: dict[str, Any]

    def to_json(self) -> str:
        """Return the summary as JSON.

        Returns
        -------
        str
            One JSON object.
        """
        return json.dumps(self.summary, allow_nan=False, ensure_ascii=False)

    def to_html(self) -> str:
        """Return the page, which holds all that it needs.

        Returns
        -------
        str
            HTML.
        """
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, or the JSON where the name ends so.

        Parameters
        ----------
        path : str or path
            A file that ends in ``.html``, ``.htm`` or ``.json``.
        """
        text = self.to_json() if check_target(path) == ".json" else self.to_html()
        with written(path) as file:
            file.write(text.encode(errors="replace"))

    def __repr__(self) -> str:
        return f"Report({self.summary['title']!r}, {len(self.summary['steps'])} bandwidths)"

    def _repr_html_(self) -> str:
        # On one line and without tabs: Sphinx indents lines and expands tabs, and a script that is
        # changed has another digest than the policy allows.
        page = html.escape(self.to_html()).translate({ord("\n"): "&#10;", ord("\t"): "&#9;"})
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )


def make_report(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str] | None, **options: Any
) -> Report:
    """Return the report of a model, and save it if `path` is not None.

    `options` are passed to `summarize`. Arguments are checked before any work is done.
    """
    check_installed()
    if path is not None:
        check_target(path)
    if isinstance(y, str | os.PathLike):
        raise ValueError(
            f"y must be the class of each row, got {y!r}; the path is the third argument: "
            f"report(X, path={y!r})."
        )
    report = Report(summarize(model, X, y, **options))
    if path is not None:
        report.save(path)
    return report


def check_target(path: str | os.PathLike[str]) -> str:
    """Return the ending of a report's file, or refuse what cannot be one."""
    check_path(path)
    ending = Path(path).suffix.lower()
    if ending not in (".html", ".htm", ".json"):
        raise ValueError(f"a report ends in .html or .json, got {os.fspath(path)!r}.")
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "there is no folder for the report, make it first", os.fspath(path)
        )
    return ending


def check_installed() -> None:
    """Refuse to begin where the page could not be made."""
    missing = [name for name in ("plotly", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"A report needs {' and '.join(missing)}; install with: pip install 'modeclust[report]'"
        )


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary."""
    check_installed()
    import jinja2
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from modeclust import __version__

    shown = {**summary, "colors": COLORS, "symbols": PLOTLY_SYMBOLS}
    scripts = [get_plotlyjs(), *(_source(name) for name in SCRIPTS)]
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _source("explorer.html")
    )
    return template.render(
        title=summary["title"],
        version=__version__,
        policy=_policy(scripts),
        css=Markup(_source("explorer.css")),
        data=Markup(_inert(json.dumps(shown, allow_nan=False, separators=(",", ":")))),
        scripts=[Markup(script) for script in scripts],
    )


@cache
def _source(name: str) -> str:
    return (files("modeclust.reporting") / "page" / name).read_text(encoding="utf-8")


def _policy(scripts: list[str]) -> str:
    """Return a policy by which no other script runs, and nothing is fetched.

    `eval` is left to those who drive the page from outside; nothing here calls it.
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()) for script in scripts)
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src 'unsafe-eval' {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; form-action 'none'; base-uri 'none'"
    )


def _inert(text: str) -> str:
    """Return JSON that no browser can take for the end of a script, or for markup."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text

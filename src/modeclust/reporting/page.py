"""The report as a page: one HTML file that shows the path and works offline."""

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

from modeclust.io.atomic import StrPath, check_path, written
from modeclust.plotting.palette import COLORS
from modeclust.reporting.summarize import summarize

SCRIPTS = ("report.js", "charts.js", "patterns.js", "explorer.js")
NOTEBOOK_HEIGHT = 900  # pixels


@dataclass(frozen=True, repr=False)
class Report:
    """Report of a fitted model, as returned by `modeclust.KModes.report`.

    It can be saved as an HTML page or as JSON. A notebook shows the page.

    Attributes
    ----------
    summary : dict
        Everything that the page shows, as numbers and text.
    """

    summary: dict[str, Any]

    def to_json(self) -> str:
        """Return the summary as JSON.

        Returns
        -------
        str
            JSON object.
        """
        return json.dumps(self.summary, allow_nan=False, ensure_ascii=False)

    def to_html(self) -> str:
        """Return the page as HTML. It contains its own scripts and styles.

        Returns
        -------
        str
            HTML document.
        """
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the page, or the summary as JSON.

        Parameters
        ----------
        path : str or path-like
            File to write. It must end in ``.html`` or ``.htm`` for the page, or in ``.json``.
        """
        text = self.to_json() if check_target(path) == ".json" else self.to_html()
        with written(path) as file:
            file.write(text.encode(errors="replace"))

    def __repr__(self) -> str:
        return f"Report({self.summary['title']!r}, {len(self.summary['steps'])} steps)"

    def _repr_html_(self) -> str:
        # Sphinx indents lines and expands tabs. The security policy would then block the scripts,
        # because their digests have changed. So line breaks and tabs are escaped.
        page = html.escape(self.to_html()).translate({ord("\n"): "&#10;", ord("\t"): "&#9;"})
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {NOTEBOOK_HEIGHT}px; border: 0"></iframe>'
        )


def make_report(model: Any, X: Any, y: Any, path: StrPath | None, **options: Any) -> Report:
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


def check_target(path: StrPath) -> str:
    """Return the suffix of the file of a report, or raise an error if it cannot be written."""
    check_path(path)
    suffix = Path(path).suffix.lower()
    if suffix not in (".html", ".htm", ".json"):
        raise ValueError(
            f"the path of a report must end in .html or .json, got {os.fspath(path)!r}."
        )
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT,
            "the folder of the report does not exist; create it first",
            os.fspath(path),
        )
    return suffix


def check_installed() -> None:
    """Raise an error if a package that makes the page is missing."""
    missing = [name for name in ("plotly", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"A report requires {' and '.join(missing)}; install it with "
            "`pip install 'modeclust[report]'`."
        )


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary as HTML."""
    check_installed()
    import jinja2
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from modeclust import __version__

    scripts = [get_plotlyjs(), *(_source(name) for name in SCRIPTS)]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.from_string(_source("explorer.html")).render(
        title=summary["title"],
        version=__version__,
        policy=_security_policy(scripts),
        css=Markup(_source("explorer.css")),
        data={**summary, "colors": COLORS},
        scripts=[Markup(script) for script in scripts],
    )


@cache
def _source(name: str) -> str:
    return (files("modeclust.reporting") / "page" / name).read_text(encoding="utf-8")


def _security_policy(scripts: list[str]) -> str:
    """Return a content security policy: only these scripts run, and nothing is fetched.

    `eval` is allowed for tools that drive the page from outside. The page does not call it.
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()) for script in scripts)
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src 'unsafe-eval' {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; form-action 'none'; base-uri 'none'"
    )

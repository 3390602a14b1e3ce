"""The page of a report: one HTML file with its data, styles and scripts, which works offline."""

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from modeclust import __version__
from modeclust.plotting.palette import COLORS

STYLES = ("page.css", "cards.css")
# They share one scope: each uses what those before it define, and main.js starts the page.
SCRIPTS = (
    "dom.js",
    "terms.js",
    "state.js",
    "fields.js",
    "images.js",
    "cards.js",
    "glance.js",
    "charts.js",
    "map.js",
    "histogram.js",
    "heat.js",
    "compare.js",
    "table.js",
    "curves.js",
    "evidence.js",
    "downloads.js",
    "main.js",
)
# JSON inside an element of HTML must not contain what could end the element.
ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary as HTML."""
    css = "".join(map(_source, STYLES))
    scripts = [_source(name) for name in SCRIPTS]
    data = json.dumps(
        {**summary, "colors": COLORS},
        allow_nan=False,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return Template(_source("page.html")).substitute(
        title=html.escape(summary["title"]),
        version=__version__,
        policy=_security_policy(css, scripts),
        css=css,
        data=data.translate(ESCAPED),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


@cache
def _source(name: str) -> str:
    return (files("modeclust.reporting") / "page" / name).read_text(encoding="utf-8")


def _security_policy(css: str, scripts: Sequence[str]) -> str:
    """Return a content security policy: only these styles and scripts apply; nothing is fetched.

    `eval` is allowed for tools that drive the page from outside. The page does not call it.
    """
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src 'unsafe-eval' {allowed}; style-src {_digest(css)}; "
        "img-src data: blob:; form-action 'none'; base-uri 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""The report: a summary, which can be saved as a page or as JSON."""

import errno
import html
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modeclust.io.atomic import StrPath, check_path, written
from modeclust.reporting.render import render

NOTEBOOK_HEIGHT = 900  # pixels


@dataclass(frozen=True, repr=False)
class Report:
    """Report of a fitted model, as returned by `modeclust.report`.

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
        n = len(self.summary["cards"])
        return f"Report({self.summary['title']!r}, {n} card{'' if n == 1 else 's'})"

    def _repr_html_(self) -> str:
        # Sphinx indents lines and expands tabs. The security policy would then block the scripts,
        # because their digests have changed. So line breaks and tabs are escaped.
        page = html.escape(self.to_html()).translate({ord("\n"): "&#10;", ord("\t"): "&#9;"})
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {NOTEBOOK_HEIGHT}px; border: 0"></iframe>'
        )


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

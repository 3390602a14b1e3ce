"""Messages, warnings and progress on the terminal."""

import io
import json
import re
from pathlib import Path

import polars as pl
from callbacks import needs_callbacks
from command import FRAME, QUICK, invoke, refused
from rich.console import Console

from modeclust.cli import fit, printing
from modeclust.cli.options import (
    FitOptions,
)
from modeclust.cli.readers.files import TableError


def test_messages_name_options_instead_of_parameters(here):
    said = [
        ("n_clusters=9 is more; lower n_clusters.", "--clusters=9 is more; lower --clusters."),
        ("Use a larger bandwidth or kernel='g'.", "Use a larger bandwidth or --kernel='g'."),
        ("bandwidth=2 is too large; np.inf to KModes", "--bandwidth=2 is too large; inf"),
        ("passed to `sample_weight`.", "passed to --weight-column."),
        (
            "'n_jobs.npz' is no model, n_jobs no 'n_init'",
            "'n_jobs.npz' is no model, --jobs no 'n_init'",
        ),
    ]
    for library, command in said:
        assert printing.reason(ValueError(library)) == command
        assert printing.reason(TableError(library)) == library
    results = invoke("fit", "iris", *QUICK, "--kernel", "biweight", "--bandwidth", "1e-9").stderr
    assert "--kernel='gaussian'" in results


def test_control_characters_and_markup_are_printed_literally(here):
    hostile = "[bold]x\x1b[31m\u202e"
    frame = FRAME.rename({"sl": hostile}).with_columns(
        kind=pl.lit("[red]class[/]\x1b]0;title\x07 <script>")
    )
    frame.write_parquet("[bold]data.parquet")
    output = invoke("fit", "[bold]data.parquet", *QUICK, "--label-column", "kind").stdout
    assert "[bold]data.parquet: 150 rows" in output
    assert r"[red]class[/]\x1b]0;title\x07" in output.replace("\n", "")
    output = invoke("info", "[bold]data.modes").stdout
    assert r"[bold]x\x1b[31m\u202e" in output
    assert "Column 'kind' contains text, e.g. '[red]class" in refused(
        "fit", "[bold]data.parquet", *QUICK, "-o", "out"
    )
    assert pl.read_csv(Path("[bold]data.modes/centers.csv").read_bytes()).columns[2] == hostile


def test_each_warning_is_one_line(here):
    FRAME.drop("kind").write_csv("plain.csv", include_header=False)
    result = invoke("fit", "plain.csv", *QUICK)
    assert re.fullmatch(r"note: the first line has only numbers [^\n]+\n", result.stderr)
    results = json.loads(invoke("fit", "plain.csv", *QUICK, "--force", "--json").stdout)
    assert (len(results["notices"]), results["warnings"]) == (1, [])
    results = invoke("fit", "iris", *QUICK, "--kernel", "biweight", "--bandwidth", "1e-9").stderr
    assert re.fullmatch(r"(warning: [^\n]+\n)+", results)


@needs_callbacks
def test_progress_is_shown_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(printing, "console", lambda **_: terminal)
    options = FitOptions("iris", 3, n_bandwidths=3, n_init=2)
    fitted = fit.fit_data(options, show_progress=True)
    assert "k-means" in screen.getvalue()
    assert "path" in screen.getvalue()
    assert "_skl_callbacks" not in vars(fitted.model)

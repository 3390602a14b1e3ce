"""Messages, warnings and progress on the terminal."""

import io
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
from callbacks import needs_callbacks
from command import FRAME, QUICK, invoke, refused
from rich.console import Console

from modeclust import load
from modeclust.cli import fit, printing
from modeclust.cli.options import FitOptions, Method
from modeclust.cli.readers.files import TableError

# The kernel reaches no row.
NARROW = ["--kernel", "biweight", "--bandwidth", "1e-9", "--n-bandwidths", "3"]


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
    results = invoke("fit", "iris", *QUICK, *NARROW).stderr
    assert "--kernel='gaussian'" in results


def test_control_characters_and_markup_are_printed_literally(here):
    hostile = "[bold]x\x1b[31m\u202e"
    frame = FRAME.rename({"sl": hostile}).with_columns(
        kind=pl.lit("[red]class[/]\x1b]0;title\x07 <script>")
    )
    frame.write_parquet("[bold]data.parquet")
    output = invoke("fit", "[bold]data.parquet", *QUICK, "--label-column", "kind").stdout
    assert "[bold]data.parquet: 150 rows" in output
    assert r"[red]class[/]\x1b]0;title\x07" in "".join(output.split())  # it is folded
    output = invoke("info", "[bold]data.modes").stdout
    assert r"[bold]x\x1b[31m\u202e" in output
    assert "Column 'kind' contains text, e.g. '[red]class" in refused(
        "fit", "[bold]data.parquet", *QUICK, "--raw", "-o", "out"
    )
    assert pl.read_csv(Path("[bold]data.modes/modes.csv").read_bytes()).columns[3] == hostile


def test_both_stages_are_printed(here):
    output = invoke("fit", "iris", "-k", "3").stdout
    model = load("iris.modes/model.npz")
    low, high = np.round([model.rows_averaged_.min(), model.rows_averaged_.max()]).astype(int)
    line = output.splitlines()[1]
    assert line == (
        f"auto: labels at bandwidth {model.bandwidth_:.4g}, objective {model.objective_:.4f}; "
        f"modes average {low} to {high} rows"
    )
    assert re.search(
        r"rows +exemplar row +moved from +\n.*averaged +\(from 0\) +K-means mean", output
    )
    moved = np.linalg.norm(model.modes_ - model.path_.centers[0], axis=1)
    for k, count in enumerate(model.counts_):
        words = [k, count, f"{model.rows_averaged_[k]:.0f}", model.exemplar_indices_[k]]
        words.append(f"{moved[k]:.3g}")
        assert [str(word) for word in words] in [text.split()[:5] for text in output.splitlines()]
    output = invoke("info", "iris.modes").stdout
    own = ", ".join(f"{bandwidth:.4g}" for bandwidth in model.mode_bandwidths_)
    assert f"bandwidth: labels {model.bandwidth_:.4g}; modes {own}\n" in output
    averaged = ", ".join(f"{rows:.0f}" for rows in model.rows_averaged_)
    assert f"rows averaged: {averaged}\n" in output
    told = json.loads(invoke("info", "iris.modes", "--json").stdout)
    assert told["rows_averaged"] == model.rows_averaged_.tolist()
    assert told["mode_bandwidths"] == model.mode_bandwidths_.tolist()


def test_one_bandwidth_is_printed(here):
    output = invoke("fit", "iris", "-k", "3", "--bandwidth", "knn/2").stdout
    model = load("iris.modes/model.npz")
    bandwidth = f"{model.bandwidth_:.4g}"
    line = f"bandwidth {bandwidth} (knn/2), objective {model.objective_:.4f}"
    assert output.splitlines()[1] == line
    assert f"bandwidth: {bandwidth}\n" in invoke("info", "iris.modes").stdout


def test_redundant_pairs_are_not_listed_if_most_pairs_are(here):
    output = invoke("fit", "digits", "-k", "6", "--bandwidth", "50", "-o", "wide").stdout
    assert (
        "redundant clusters: bandwidth 50 is too wide to tell; to compare clusters, pass" in output
    )
    output = invoke("fit", "digits", "-k", "6", "--n-init", "1", "-o", "auto").stdout
    assert "redundant" not in output
    output = invoke("fit", "iris", "-k", "3", "--bandwidth", "0.5").stdout
    assert re.search(r"redundant clusters \(no dip in density between them\): \d and \d\n", output)


def test_each_warning_is_one_line(here):
    FRAME.drop("kind").write_csv("plain.csv", include_header=False)
    result = invoke("fit", "plain.csv", *QUICK)
    assert re.fullmatch(r"note: the first line has only numbers [^\n]+\n", result.stderr)
    results = json.loads(invoke("fit", "plain.csv", *QUICK, "--force", "--json").stdout)
    assert (len(results["notices"]), results["warnings"]) == (1, [])
    results = invoke("fit", "iris", *QUICK, *NARROW).stderr
    assert re.fullmatch(r"(warning: [^\n]+\n)+", results)


@needs_callbacks
def test_progress_is_shown_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(printing, "console", lambda **_: terminal)
    options = FitOptions("iris", "3", n_init="2")
    fitted = fit.fit_data(options, show_progress=True)
    assert "k-means" in screen.getvalue()
    assert "path" in screen.getvalue()
    assert "modes" in screen.getvalue()
    assert "_skl_callbacks" not in vars(fitted.model)
    fit.fit_data(FitOptions("iris", "3", method=Method.laplacian), show_progress=True)
    assert "linkage" in screen.getvalue()

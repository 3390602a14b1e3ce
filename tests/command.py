"""Run the command line in this process or in a new one."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import polars as pl
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import modeclust
from modeclust.cli.app import app

IRIS = load_iris()
FRAME = pl.DataFrame(IRIS.data, schema=["sl", "sw", "pl", "pw"]).with_columns(
    kind=pl.Series(IRIS.target_names[IRIS.target].tolist())
)
QUICK = ["-k", "3", "--n-init", "2"]
FILES = ["labels.csv", "model.npz", "modes.csv", "path.csv", "report.html", "report.json"]


def invoke(*arguments, code=0):
    """Run a command, and check its exit code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    assert "\x1b" not in result.output
    return result


def refused(*arguments, may_note=False):
    """Run a command with bad input, and return its one-line error, which may follow notes."""
    result = invoke(*arguments, code=2)
    assert result.stdout == ""
    notes = r"(?:note: [^\n]+\n)*" if may_note else ""
    answer = re.fullmatch(rf"{notes}(error: [^\n]+\n)", result.stderr)
    assert answer, result.stderr
    return answer[1]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def names(path="."):
    """Return the names of the files in a folder."""
    return sorted(file.name for file in Path(path).iterdir())


def start(*arguments, cwd, **options):
    """Start a command in a new process, which imports the same sources."""
    source = str(Path(modeclust.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "modeclust", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": source, "BROWSER": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(*arguments, cwd, **options):
    """Run a command in a new process, and return its exit code and output."""
    with start(*arguments, cwd=cwd, **options) as process:
        output, errors = process.communicate()
    return Done(process.returncode, output, errors)

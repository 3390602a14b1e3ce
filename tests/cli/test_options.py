"""The help and the options."""

import subprocess
import sys

import pytest
from command import invoke
from typer.main import get_command

from modeclust.cli.app import app
from modeclust.cli.options import (
    BANDWIDTHS,
    BUILT_IN,
    Kernel,
    complete_bandwidth,
    complete_data,
)
from modeclust.cli.readers.files import CSV_ENDINGS, ENDINGS
from modeclust.cli.readers.table import READERS
from modeclust.datasets import DATASETS
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import RULES


def test_options_have_the_names_of_the_library():
    assert tuple(DATASETS) == BUILT_IN
    assert list(Kernel) == list(KERNELS)
    assert set(BANDWIDTHS) == {"auto", *RULES, "inf"}
    assert list(ENDINGS) == [*CSV_ENDINGS, *READERS]


@pytest.mark.parametrize("command", get_command(app).commands)
def test_the_help_of_every_command_has_an_example(command):
    output = invoke(command, "--help").stdout
    assert "Examples" in output
    assert f"modeclust {command}" in output


def test_help_imports_little():
    code = """
import sys
from modeclust.__main__ import main
sys.argv = ["modeclust", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
assert not {"sklearn", "scipy", "polars"} & sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fit" in done.stdout
    assert "\x1b" not in done.stdout


def test_completion(here):
    assert list(complete_bandwidth("a")) == ["auto"]
    assert list(complete_bandwidth("s")) == ["silverman", "scott"]
    assert list(complete_data("iri")) == ["iris", "iris.csv"]
    assert list(complete_data(f"{here}/ir")) == [f"{here}/iris.csv"]

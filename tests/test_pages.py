"""All that the pages say to type can be typed: commands, options, targets and extras are there."""

import re

import pytest
from pages import (
    COMMANDS,
    DOCS,
    KINDS,
    PAGES,
    README,
    ROOT,
    assert_says,
    blocks,
    check,
    commands_in_text,
    shell_lines,
)

from modeclust import KModes

OTHER_SHELLS = r"^```(bash|console|shell|zsh)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_says_to_type_can_be_typed(page):
    assert not re.findall(OTHER_SHELLS, page.read_text(encoding="utf-8"), re.MULTILINE)
    for command in dict.fromkeys([*shell_lines(page), *commands_in_text(page)]):
        check(command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_output_on_a_page_is_below_the_block_that_prints_it(page):
    outputs = re.findall(r"^```text\n", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(outputs) == sum(bool(shown) for _, shown in blocks(page, "python"))


def test_the_command_line_has_the_defaults_of_kmodes_as_two_pages_say():
    defaults = {option.name: option.default for option in COMMANDS["fit"].params}
    for name in ("bandwidth", "rows_per_mode", "kernel", "adaptive", "n_init"):
        assert defaults[name] == KModes().get_params()[name]
    assert defaults["n_bandwidths"] is None  # that of the method
    assert_says(README, "Or from the command line, with the same defaults:")
    assert_says(DOCS / "quickstart.md", "Its other defaults are those of `KModes`.")


def test_the_pages_have_commands_of_every_kind():
    lines = [line for page in PAGES for line in shell_lines(page)]
    assert {line.split()[0] for line in lines} == set(KINDS)
    assert sum(len(commands_in_text(page)) for page in PAGES) > 20


@pytest.mark.parametrize(
    "command",
    [
        "modeclust fit big.parquet",
        "modeclust fit big.parquet -k 3 --kernels gaussian",
        "modeclust fits big.parquet -k 3",
        "make tests",  # a folder, and no target
        "make lint tests",
        "make release-check TAGS=v0.1.0",
        "pip install '.[everything]'",
        "pip install 'dask[frames]'",
        "pip install kmodes",
        "pip install --group builds",
        "pip install --everything .",
        "gdb --args .venv/bin/python -m pytest tests/cores",
        "pip uninstall modeclust",
        "python benchmarks/walk.py",
        "python benchmarks/run.py --only scales",
        "python benchmarks/run.py --few",
        "python -m reproduction suns",
        "python -m reproduction --fast",
        "git tag v0.1.0",
        "make lint && make test",
    ],
)
def test_what_cannot_be_typed_is_found(command):
    with pytest.raises(AssertionError):
        check(command)

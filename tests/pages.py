"""The commands and code blocks in the documentation, and checks that they can be run."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from typer.main import get_command

from modeclust.cli.app import app
from reproduction.__main__ import parse
from reproduction.items import choose_items

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
# The gallery is generated from the examples, which have their own tests.
DOCS_PAGES = sorted(page for page in DOCS.rglob("*.md") if "gallery" not in page.parts)
PAGES = [README, ROOT / "CONTRIBUTING.md", *DOCS_PAGES]
COMMANDS = get_command(app).commands
PIP_OPTIONS = {"--editable", "--no-build-isolation", "--no-deps"}


def blocks(page, language):
    """Return the code blocks of a language, each with the output shown below it, or "".

    The code may be folded, the output is not.
    """
    output = r"(?:\n(?::::\n)?\n```text\n(.*?)```)?"
    return re.findall(rf"^```{language}\n(.*?)```{output}", _text(page), re.DOTALL | re.MULTILINE)


def shell_lines(page):
    """Return the lines of all shell blocks."""
    joined = "".join(block.replace("\\\n", " ") for block, _ in blocks(page, "sh"))
    return [line for line in joined.splitlines() if shlex.split(line, comments=True)]


def lines_to_run(page):
    """Return the shell lines that call `modeclust`."""
    return [line for line in shell_lines(page) if line.startswith("modeclust ")]


def commands_in_text(page):
    """Return the commands between backticks in the text."""
    text = re.sub(r"^```.*?^```$", "", _text(page), flags=re.DOTALL | re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]
    return [span for span in spans if _kind(span.partition(" ")[0])]


def results(page):
    """Return the measured results that a page shows."""
    return json.loads(_text(DOCS / page / "results.json"))


def assert_says(page, sentence):
    """Fail unless the sentence is on the page, ignoring line breaks."""
    if sentence not in " ".join(_text(page).split()):
        raise AssertionError(f"{page.name} should say, as measured: {sentence}")


def run(line):
    """Run a `modeclust` command in the current folder."""
    command = shlex.split(line, comments=True)
    env = {**os.environ, "BROWSER": "true"}  # the program `true` stands in for a browser
    done = subprocess.run(
        [sys.executable, "-m", *command], env=env, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"


def check(line):
    """Fail if a command is of an unknown kind, or names something that does not exist."""
    words = shlex.split(line, comments=True)
    kind = _kind(words[0])
    assert kind is not None, f"unknown kind of command: {line}"
    try:
        kind(words)
    except Exception as error:
        raise AssertionError(f"cannot be run: {line}\n{error}") from error


def _text(page):
    return page.read_text(encoding="utf-8")


def _kind(program):
    return _check_script if program.startswith("benchmarks/") else KINDS.get(program)


def _check_modeclust(words):
    for name in words[1:2]:
        command = COMMANDS[name]
        if len(words) > 2:  # otherwise the text may only name the command
            command.make_context(name, words[2:])


def _check_make(words):
    makefile = _text(ROOT / "Makefile")
    # `make -n` would not do, because it accepts the folder `tests` as a target.
    targets = re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE)
    for word in words[1:]:
        variable, is_set, _ = word.partition("=")
        assert f"$({variable})" in makefile if is_set else word in targets, word


def _check_pip(words):
    assert words[1] == "install"
    rest = iter(words[2:])
    for word in rest:
        if word == "--group":
            assert next(rest) in _pyproject()["dependency-groups"], words
        elif word.startswith("-"):
            assert word.startswith("-C") or word in PIP_OPTIONS, word
        else:
            requirement = Requirement(re.sub(r"^\.", "modeclust", word))
            assert requirement.extras <= _declared_extras()[requirement.name], word


def _check_gdb(words):
    assert words[:5] == ["gdb", "--args", ".venv/bin/python", "-m", "pytest"]
    assert all((ROOT / word).exists() for word in words[5:])


@cache
def _pyproject():
    return tomllib.loads(_text(ROOT / "pyproject.toml"))


@cache
def _declared_extras():
    """Return the extras in pyproject.toml, of modeclust and of its dependencies."""
    project = _pyproject()["project"]
    optional = project["optional-dependencies"]
    extras = {"modeclust": set(optional)}
    for group in (project["dependencies"], *optional.values()):
        for requirement in map(Requirement, group):
            extras.setdefault(requirement.name, set()).update(requirement.extras)
    return extras


def _check_python(words):
    if words[1:3] != ["-m", "reproduction"]:
        _check_script(words[1:])
        return
    try:
        choose_items(parse(words[3:]).items, to_run=False)
    except SystemExit as error:  # of argparse
        raise AssertionError(f"wrong options: {words[3:]}") from error


def _check_script(words):
    script, *options = words
    assert (ROOT / script).is_file(), script
    if options:
        assert script == "benchmarks/run.py", "no other script takes options"
        # In a new process, because the script sets the threads and caches of its process.
        code = "import sys, run; sys.argv = sys.argv[1:]; run.parse()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


KINDS = {
    "modeclust": _check_modeclust,
    "make": _check_make,
    "pip": _check_pip,
    ".venv/bin/pip": _check_pip,
    "gdb": _check_gdb,
    "python": _check_python,
}

"""The page of warnings and errors names all that the library raises, and nothing else."""

import ast
import builtins
import re
from functools import cache
from pathlib import Path

import sklearn.exceptions
import sklearn.utils._param_validation

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "modeclust"
PAGE = (ROOT / "docs" / "guide" / "warnings.md").read_text(encoding="utf-8")

# Not for users: abstract methods, a pass in the wrong order, and those that become other errors, or
# a line of the command line.
INTERNAL = {"NotImplementedError", "RuntimeError", "NoBandwidthError", "DamagedPartError"}
INTERNAL |= {"ColumnError", "TableError", "FileError"}
# Raised by what the library calls, in its name.
BY_OTHERS = {"InvalidParameterError", "NotFittedError", "KeyboardInterrupt"}


def named():
    """Return the classes that are explained: in first columns of tables, and as terms of lists."""
    places = re.findall(r"^\| (.*?) \||^(`.*)\n: ", PAGE, flags=re.MULTILINE)
    text = " ".join(place for pair in places for place in pair)
    return set(re.findall(r"`(\w+(?:Error|Warning|Interrupt))`", text))


@cache
def trees():
    files = list(SOURCES.rglob("*.py"))
    assert len(files) > 50
    return [ast.parse(file.read_text(encoding="utf-8")) for file in files]


def raised():
    """Return the classes that are raised or warned with, by their names in the sources."""
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func)
            elif isinstance(node, ast.Call) and is_warning(node.func):
                name = ast.unparse(node.args[1])
            else:
                continue
            if re.fullmatch(r"\w+(Error|Warning)", name):
                yield name


def is_warning(function):
    return ast.unparse(function) in ("warnings.warn", "_warn_user")


def defined():
    """Return the exceptions and warnings that the library defines."""
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and re.search("(Error|Warning)$", node.name):
                yield node.name


def test_the_page_names_every_warning_and_error():
    assert {*raised(), *defined()} - INTERNAL <= named()


def test_all_that_the_page_names_can_be_raised():
    assert named() <= {*raised(), *defined(), *BY_OTHERS}


def test_what_others_raise_is_there():
    places = [builtins, sklearn.exceptions, sklearn.utils._param_validation]
    for name in BY_OTHERS | {"ConvergenceWarning"}:
        assert any(hasattr(place, name) for place in places)

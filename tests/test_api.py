"""Every public name is on the API page, and says what its parameters are."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object

import modeclust
import modeclust.datasets
import modeclust.exceptions
import modeclust.plotting

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
# What public names return.
RETURNED = {
    "modeclust.estimators.cluster_modes.ClusterModes",
    "modeclust.estimators.stability.Stability",
    "modeclust.mode_tree.TreeLevel",
    "modeclust.path.PathPoint",
    "modeclust.reporting.page.Report",
}


def listed():
    """Yield the names on the page: in lists below a module, and in directives."""
    module = None
    for line in PAGE.splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r"(?:   |\.\. autoexception:: )(\w[\w.]*)", line):
            yield f"{module}.{found[1]}"


def callables():
    """Yield what can be called on the page, by name, with the methods of classes that are ours."""
    for name in listed():
        module, _, attribute = name.rpartition(".")
        value = getattr(import_module(module), attribute)
        if module != "modeclust.exceptions":
            yield name, value
        for member in dir(value) if inspect.isclass(value) else ():
            method = getattr(value, member)
            if inspect.isroutine(method) and not member.startswith("_") and is_ours(method):
                yield f"{name}.{member}", method


def is_ours(value):
    return (getattr(value, "__module__", None) or "").startswith("modeclust")


def defined_in(module):
    return {
        f"{module.__name__}.{name}"
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }


def test_the_page_lists_what_is_public_and_no_name_twice():
    expected = {f"modeclust.{name}" for name in modeclust.__all__}
    expected |= {f"modeclust.plotting.{name}" for name in modeclust.plotting.__all__}
    expected |= defined_in(modeclust.exceptions) | defined_in(modeclust.datasets)
    assert sorted(listed()) == sorted(expected | RETURNED)


@pytest.mark.parametrize(
    ("name", "value"), [pytest.param(*pair, id=pair[0]) for pair in callables()]
)
def test_every_parameter_is_documented_in_its_order(name, value):
    doc = get_doc_object(value)
    assert doc["Summary"]
    entries = doc["Parameters"]
    if not entries and inspect.isclass(value):  # a result, of which the fields are attributes
        entries = doc["Attributes"]
    told = {name.lstrip("*"): entry.desc for entry in entries for name in entry.name.split(", ")}
    parameters = inspect.signature(value).parameters
    assert list(told) == [name for name in parameters if name != "self"]
    assert all(told.values())

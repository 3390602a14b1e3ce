"""All public names, from the API page, and their parameters."""

import inspect
import re
from operator import attrgetter
from pathlib import Path

import typer
from sklearn.base import BaseEstimator
from typer.testing import CliRunner

import modeclust
import modeclust.datasets
import modeclust.reporting.page
from modeclust.cli.app import app

API_PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
# Results of the library, which users do not create.
RECORDS = ["Path", "PathPoint", "ModeTree", "TreeLevel", "Report", "ExampleData"]
RECORDS += ["PathDisplay", "ModesDisplay", "ScheduleDisplay"]
RECORDS += ["ClusterModes", "Stability", "ClusterSuggestion", "ClusterCountDisplay"]


def public():
    """Yield all functions, classes and own methods that the API page lists, by name."""
    for place in re.findall(r"^   (\w[\w.]*)$", API_PAGE, re.MULTILINE):
        name, value = place.rpartition(".")[2], attrgetter(place)(modeclust)
        if name not in RECORDS:
            yield name, value
        if inspect.isclass(value):
            yield from methods(name, value)


def methods(name, owner):
    """Yield the public methods of a class that are defined in modeclust."""
    for method in dir(owner):
        raw = inspect.getattr_static(owner, method)
        function = getattr(owner, method) if not isinstance(raw, property) else None
        module = getattr(inspect.unwrap(function), "__module__", "") if callable(function) else ""
        is_public = not method.startswith("_") or method == "__getitem__"
        if is_public and str(module).startswith("modeclust"):
            yield f"{name}.{method}", function


PUBLIC = dict(public())


def inherited():
    """Yield the methods that estimators inherit from mixins of scikit-learn."""
    for name, owner in PUBLIC.items():
        if inspect.isclass(owner) and issubclass(owner, BaseEstimator):
            for method in set(dir(owner)) - set(dir(BaseEstimator)):
                if isinstance(inspect.getattr_static(owner, method), property):
                    continue
                is_own = f"{name}.{method}" in PUBLIC
                is_own |= isinstance(inspect.getattr_static(owner, method), property)
                if not (is_own or method.startswith("_") or method.endswith("_request")):
                    yield f"{name}.{method}", getattr(owner, method)


SHELL = typer.main.get_command(app)


def options(command):
    """Return the options and arguments of a command, by name."""
    return {p.name: p for p in SHELL.commands[command].params if p.name != "help"}


def typed(command):
    """Return a function that runs a command with options; its errors become exceptions."""

    def run(**values):
        words = [command]
        for name, option in options(command).items():
            words += words_of(option, values.get(name))
        result = CliRunner().invoke(app, words)
        if result.exit_code == 2:
            raise ValueError(result.stderr)
        if result.exception is not None:
            raise result.exception
        return result.stdout

    return run


def words_of(option, value):
    """Return the words that set an option to a value; none if the value is None."""
    if value is None:
        return []
    if option.param_type_name == "argument":
        return [str(value)]
    if not getattr(option, "is_flag", False):
        return [option.opts[0], str(value)]
    return option.opts[:1] if value else option.secondary_opts[:1]


def commands():
    """Yield the commands, by name."""
    for command in SHELL.commands:
        yield f"modeclust {command}", typed(command)


# All public callables, including inherited methods and commands.
CALLABLE = {
    **PUBLIC,
    **dict(inherited()),
    **dict(commands()),
}


def parameters(name):
    """Return the names of the parameters of a public callable."""
    if name.startswith("modeclust "):
        return list(options(name.removeprefix("modeclust ")))
    return [p for p in inspect.signature(CALLABLE[name]).parameters if p != "self"]

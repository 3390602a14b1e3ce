"""The items of the paper by name. The script `<name>.py` reproduces an item."""

import difflib
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from reproduction.findings import Findings
from reproduction.sources import check_setting


class Item(NamedTuple):
    """A figure, a table, or the claims of a section."""

    title: str
    where: str  # in the paper
    data: tuple[str, ...] = ()  # names of data sets in `sources`
    packages: tuple[str, ...] = ("matplotlib",)


ITEMS = {
    "rotated-ones": Item("A rotated 1 has one typical image", "fig. 1", ("usps",)),
    "gaussians": Item("Three Gaussians in two clusters", "fig. 2"),
    "moons": Item("Two moons", "fig. 3"),
    "degrees": Item("The degrees of a graph", "fig. 4", packages=("matplotlib", "networkx")),
    "usps": Item("Handwritten digits", "fig. 5", ("usps",)),
    "accuracy": Item("Clusters against classes", "table 1", ("coil20", "mnist", "tdt2")),
    "cost": Item("Cost of an iteration", "sections 2 and 3", packages=("matplotlib", "kmedoids")),
    "robustness": Item("Outliers, a wrong K, a wrong bandwidth, a direct start", "section 4"),
    "manifolds": Item("Landmarks, and spectral clustering", "section 6"),
}


def choose_items(names: list[str], *, to_run: bool = True) -> list[str]:
    """Return the items with these names in the order of the paper, or all if there are no names.

    An unknown name is an error. With `to_run`, so are a missing package and a bad setting.
    """
    for name in names:
        if name not in ITEMS:
            similar = difflib.get_close_matches(name, ITEMS, 1)
            hint = f" Did you mean {similar[0]!r}?" if similar else ""
            raise ValueError(f"item must be one of {', '.join(ITEMS)}, got {name!r}.{hint}")
    chosen = [name for name in ITEMS if name in names or not names]
    if not to_run:
        return chosen
    check_setting()
    needed = {package for name in chosen for package in ITEMS[name].packages} | {"jinja2"}
    if missing := sorted(package for package in needed if find_spec(package) is None):
        raise ImportError(
            f"{' and '.join(missing)} must be installed; "
            "run pip install '.[plot,report]' --group reproduction"
        )
    return chosen


def reproduce(name: str, *, quick: bool = False) -> Findings:
    """Run the script of an item. A quick run uses small sizes and only tests the code."""
    script = import_module(f"reproduction.{name.replace('-', '_')}")
    findings: Findings = script.reproduce(quick=quick)
    return findings

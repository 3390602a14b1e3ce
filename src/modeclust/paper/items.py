"""The items of the paper, by name. A script `<name>.py` of this package reproduces each."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from modeclust.paper.findings import Findings
from modeclust.paper.sources import check_setting


class Item(NamedTuple):
    """One figure, table or set of claims."""

    title: str
    where: str  # in the paper
    data: tuple[str, ...] = ()  # of `sources`
    packages: tuple[str, ...] = ("matplotlib",)


ITEMS = {
    "rotated-ones": Item("A rotated 1 has one typical image", "fig. 1", ("usps",)),
    "gaussians": Item("Three Gaussians in two clusters", "fig. 2"),
    "moons": Item("Two moons", "fig. 3"),
    "degrees": Item("The degrees of a graph", "fig. 4", packages=("matplotlib", "networkx")),
    "usps": Item("Handwritten digits", "fig. 5", ("usps",)),
    "accuracy": Item("Clusters against classes", "table 1", ("coil20", "mnist", "tdt2")),
    "cost": Item(
        "What an iteration costs", "sections 2 and 3", packages=("matplotlib", "kmedoids")
    ),
    "robustness": Item("Outliers, a wrong K, a wrong bandwidth, a direct start", "section 4"),
    "manifolds": Item("Landmarks, and spectral clustering", "section 6"),
}


def check_items(names: list[str], *, to_run: bool = True) -> list[str]:
    """Return the items asked for, all if none are, or refuse what is none or cannot be run."""
    import difflib

    for name in names:
        if name not in ITEMS:
            near = difflib.get_close_matches(name, ITEMS, 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ValueError(f"the paper has no item {name!r}; there are {', '.join(ITEMS)}{hint}")
    chosen = [name for name in ITEMS if name in names or not names]
    if not to_run:
        return chosen
    check_setting()
    needed = {package for name in chosen for package in ITEMS[name].packages} | {"jinja2"}
    if missing := sorted(package for package in needed if find_spec(package) is None):
        raise ImportError(
            f"{' and '.join(missing)} must be installed for this: pip install 'modeclust[paper]'"
        )
    return chosen


def list_of_items() -> list[dict[str, Any]]:
    """Return all items in plain types."""
    return [
        {"name": name, "title": item.title, "where": item.where, "data": list(item.data)}
        for name, item in ITEMS.items()
    ]


def reproduce(name: str, *, quick: bool = False) -> Findings:
    """Run the script of an item; a quick run is of small sizes, and shows only that it works."""
    script = import_module(f"modeclust.paper.{name.replace('-', '_')}")
    findings: Findings = script.reproduce(quick=quick)
    return findings

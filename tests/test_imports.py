"""Imports point one way, and what is optional is imported where it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "modeclust"

# A module may import from its own layer and from those below it.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"reporting"},
    {"plotting"},
    {"estimators"},
    {"preparation"},
    {"solvers"},
    {"data"},
    {"kernels", "path", "mode_tree", "cluster_suggestion", "versions", "datasets"},
    {"io"},
    {"exceptions"},
    {"_core", "_sklearn"},
]
# The imports that point up, when a method is called: `KModes.report` and `ClusterSuggestion.plot`.
UPWARD = {
    ("modeclust.estimators.reporting", "modeclust.reporting.page"),
    ("modeclust.estimators.reporting", "modeclust.reporting.report"),
    ("modeclust.cluster_suggestion", "modeclust.plotting.cluster_count_display"),
}
OPTIONAL = {
    "matplotlib",
    "typer",
    "rich",
    "dask",
    "distributed",
    "zarr",
    "h5py",
    "pyarrow",
    "polars",
    "faiss",
    "pandas",
    "playwright",
}
# What only the reproduction of the paper and the tests use.
REPRODUCTION = {"reproduction", "jinja2", "networkx", "kmedoids", "diptest"}


def layer(module):
    """Return the layer of `modeclust.<module>...`; a higher number is lower down."""
    name = module.split(".")[1]
    found = [number for number, names in enumerate(LAYERS) if name in names]
    assert found, f"{module} has no layer; add it to LAYERS"
    return found[0]


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda f: f.stem)
def test_imports_point_one_way(file):
    module = ".".join(["modeclust", *file.relative_to(SOURCE).with_suffix("").parts])
    if module == "modeclust.__init__":
        return
    for target in imports(ast.parse(file.read_text())):
        if target.startswith("modeclust.") and (module, target) not in UPWARD:
            assert layer(target) >= layer(module), f"{module} imports {target}"
        assert target.partition(".")[0] not in REPRODUCTION, f"{module} imports {target}"


def test_a_wrong_import_would_be_seen():
    target = next(imports(ast.parse("from modeclust.estimators.kmodes import KModes")))
    assert layer(target) < layer("modeclust.data.memory")


def test_estimators_load_neither_plots_nor_reports():
    code = """
import sys
import modeclust
for name in set(modeclust.__all__) - {"report"}:
    getattr(modeclust, name)
assert not [name for name in sys.modules if name.startswith(("modeclust.plot", "modeclust.rep"))]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_needs_nothing_optional_and_changes_nothing():
    code = f"""
import os, sys, warnings
import sklearn.cluster, scipy.stats
from contextlib import suppress
with suppress(ImportError):
    import sklearn.callback
before, loaded = dict(os.environ), set(sys.modules)
import modeclust
assert sorted(modeclust.__all__) == modeclust.__all__
assert all(hasattr(modeclust, name) for name in modeclust.__all__)
assert {{*modeclust.__all__, "plotting"}} <= set(dir(modeclust))
assert not {{"Any", "TYPE_CHECKING", "import_module"}} & set(dir(modeclust))
assert not hasattr(modeclust, "absent")
new = {{name.partition('.')[0] for name in set(sys.modules) - loaded}}
assert not new & {OPTIONAL!r}, new
assert dict(os.environ) == before
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)

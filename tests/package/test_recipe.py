"""The recipe for conda-forge asks for what pyproject.toml asks for."""

import tomllib
from pathlib import Path

import pytest

import modeclust

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IN_CONDA = {"dask": "dask-core", "matplotlib": "matplotlib-base"}
FOR_USERS = ("plot", "cli", "approximate", "dask", "zarr", "hdf5")
RECIPE = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")


def in_conda(requirements):
    """Return requirements of pip as conda writes them, without those of our own extras."""
    parts = [one.partition(">=") for one in requirements if not one.startswith("modeclust")]
    names = [(name.partition("[")[0], version) for name, _, version in parts]
    return {f"{IN_CONDA.get(name, name)} >={version}" for name, version in names}


@pytest.fixture(scope="module")
def rendered():
    """Return the recipe as it is built on Linux."""
    from rattler_build import Stage0Recipe, VariantConfig

    variants = {"python": ["3.13.*"], "c_stdlib": ["sysroot"], "target_platform": ["linux-64"]}
    [found] = Stage0Recipe.from_yaml(RECIPE).render(VariantConfig(variants))
    return found.recipe.to_dict()


def test_it_is_not_built_for_older_pythons():
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'match(python, "<{lowest}")' in RECIPE


def test_it_asks_for_the_same(rendered):
    asked = rendered["requirements"]
    extras = PROJECT["project"]["optional-dependencies"]
    assert {*asked["run"]} == {"python"} | in_conda(PROJECT["project"]["dependencies"])
    assert {*asked["host"]} == {"python", "pip"} | in_conda(PROJECT["build-system"]["requires"])
    assert {*asked["run_constraints"]} == in_conda(
        one for name in FOR_USERS for one in extras[name]
    )
    assert {*asked["build"], *asked["host"]} > in_conda(PROJECT["dependency-groups"]["build"])


def test_it_says_the_same(rendered):
    project = PROJECT["project"]
    ((command, target),) = project["scripts"].items()
    assert rendered["build"]["python"]["entry_points"] == [f"{command} = {target}"]
    assert rendered["package"] == {"name": project["name"], "version": modeclust.__version__}
    assert rendered["about"]["summary"] == project["description"]
    assert rendered["about"]["license"] == project["license"]

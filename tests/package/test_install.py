"""The package works with its core dependencies alone; an extra is asked for where it is needed."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.package, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FOR_DEVELOPERS = {"all", "bench", "dev", "docs", "release", "test"}

# What is done, the extra that it needs, and what must be there to ask for it.
NEEDS = [
    ("displays", "plot", ()),
    ("approximate", "approximate", ()),
    ("command", "cli", ()),
    ("stream", "dask", ("cli",)),
    ("zarr_file", "zarr", ("cli",)),
    ("hdf5_file", "hdf5", ("cli",)),
]
# What begins with the user's own import, so that there is nothing to say without it.
ARRAYS = ["dask", "zarr", "hdf5"]


def test_every_extra_is_tried():
    assert {extra for _, extra, _ in NEEDS} == EXTRAS.keys() - FOR_DEVELOPERS


def test_the_core_needs_no_extra(environment, tmp_path):
    environment.hold()
    done = environment.do("core", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("compiler", "variables"),
    [
        ("GCC", {"CXX": "g++", "MODECLUST_ZIG": ""}),
        ("clang", {"CXX": "clang++", "MODECLUST_ZIG": ""}),
        ("clang", {"CXX": "", "MODECLUST_ZIG": "1"}),
    ],
    ids=["gcc", "clang", "zig"],
)
def test_the_sdist_builds_and_works_as_the_wheel_does(
    compiler, variables, environment_of_sdist, tmp_path
):
    if variables["CXX"] and not shutil.which(variables["CXX"]):
        pytest.skip(f"left out: there is no {variables['CXX']}")
    environment = environment_of_sdist(**variables)
    done = environment.do("core", tmp_path)
    assert done.returncode == 0, done.stderr
    code = "from modeclust import _core; print(_core.compiler())"
    assert environment.run("-c", code, cwd=tmp_path).stdout.startswith(compiler)


def test_the_core_does_not_load_what_is_optional(environment, tmp_path):
    environment.hold("all")
    done = environment.do("loaded", tmp_path)
    assert done.returncode == 0, done.stderr
    optional = {"matplotlib", "typer", "rich", "polars", "faiss"}
    optional |= {"dask", "distributed", "zarr", "h5py"}
    assert "modeclust" in done.stdout.split()
    assert not optional & set(done.stdout.split())


@pytest.mark.parametrize(("job", "extra", "others"), NEEDS, ids=[job for job, *_ in NEEDS])
def test_without_the_extra_it_is_asked_for(job, extra, others, environment, tmp_path):
    environment.hold(*others)
    done = environment.do(job, tmp_path)
    assert done.returncode != 0
    assert f"pip install 'modeclust[{extra}]'" in done.stderr


@pytest.mark.parametrize(("job", "extra", "others"), NEEDS, ids=[job for job, *_ in NEEDS])
def test_with_the_extra_it_is_done(job, extra, others, environment, tmp_path):
    environment.hold(*others, extra)
    done = environment.do(job, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("extra", ARRAYS)
def test_arrays_of_the_extra_alone(extra, environment, tmp_path):
    environment.hold(extra)
    done = environment.do(extra, tmp_path)
    assert done.returncode == 0, done.stderr


def test_no_licence_binds_users_further(environment):
    environment.hold("all")
    allowed = "Apache;BSD;ISC;MIT;PSF-2.0;Python Software Foundation"
    done = subprocess.run(
        [
            Path(sys.executable).with_name("pip-licenses"),
            f"--python={environment.python}",
            "--from=mixed",
            "--partial-match",
            f"--allow-only={allowed}",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr

"""The wheel and the sdist hold what the repository holds, and nothing else."""

import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[2]
# Of the repository and of no use outside it.
LEFT_OUT = (".ci/", ".github/", ".pre-commit-config.yaml")
DATA = (
    "py.typed",
    "_core.pyi",
    "reporting/page/page.html",
    "reporting/page/main.js",
)


def tracked(*folders):
    done = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines())


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    info = next(name.partition("/")[0] for name in names if ".dist-info/" in name)
    described = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    compiled = {name for name in names if re.fullmatch(r"modeclust/_core\.[\w.-]+\.(so|pyd)", name)}
    sources = tracked("src") - tracked("src/modeclust/core")
    assert len(compiled) == 1
    assert {f"modeclust/{name}" for name in DATA} < names
    assert names - compiled == {name.removeprefix("src/") for name in sources} | {
        f"{info}/{name}" for name in described
    }


def test_the_wheel_is_for_all_newer_pythons_from_3_12_on(wheel):
    _, _, python, abi, _ = wheel.stem.split("-")
    if sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert (python, abi) == ("cp312", "abi3")
    else:
        assert abi.startswith(python)


def test_the_sdist_holds_the_repository_and_nothing_else(sdist):
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert names == {"PKG-INFO"} | {n for n in tracked() if not n.startswith(LEFT_OUT)}


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(file.read(name).decode())
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_all("Project-URL") == ["Paper, https://arxiv.org/abs/1304.6478"]
    # The page of an index has neither the folders nor the pictures of the repository.
    assert not re.findall(r"\]\((?!https:)[^)]*", metadata.get_payload())


@pytest.mark.timeout(600)  # it is compiled, and all that the tests need is installed
def test_the_sdist_can_run_its_tests(sdist, tmp_path, environment_of_folder):
    with tarfile.open(sdist) as file:
        file.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        file.extractall(tmp_path / "sdist")
    (folder,) = (tmp_path / "sdist").iterdir()
    environment = environment_of_folder(folder)
    for arguments in (["--collect-only"], ["tests/io/test_atomic.py", "tests/test_release.py"]):
        done = environment.run(
            *("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments), cwd=folder
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr

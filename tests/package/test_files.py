"""The wheel and the sdist hold what the repository holds, and nothing else."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[2]
# Of the repository and of no use outside it.
LEFT_OUT = (".ci/", ".github/", ".pre-commit-config.yaml")
DATA = ("py.typed", "show/page/explorer.html", "show/page/explorer.js", "paper/moons.toml")


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
    assert {f"modeclust/{name}" for name in DATA} < names
    assert names == {name.removeprefix("src/") for name in tracked("src")} | {
        f"{info}/{name}" for name in described
    }


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


def test_the_sdist_can_run_its_tests(sdist, tmp_path):
    with tarfile.open(sdist) as file:
        file.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        file.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    for arguments in (["--collect-only"], ["tests/test_files.py", "tests/test_release.py"]):
        done = subprocess.run(
            [*run, *arguments], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr

"""The built package, and an environment that has it and nothing of the sources."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
JOBS = Path(__file__).with_name("jobs.py")


def built(ending):
    found = list(DIST.glob(f"*{ending}"))
    assert len(found) == 1, f"dist/ must hold one {ending} file; `make package` builds it"
    return found[0]


@pytest.fixture(scope="session")
def wheel():
    return built(".whl")


@pytest.fixture(scope="session")
def sdist():
    return built(".tar.gz")


class Environment:
    """A virtual environment with the package, its core dependencies and the extras asked for."""

    def __init__(self, folder, package, *extras, options=(), python=sys.executable, **variables):
        from uv import find_uv_bin

        self.folder, self.package, self.uv = folder, package, find_uv_bin()
        self.options, self.variables = options, variables
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.bin / "python"
        self.extras = extras
        self._uv("venv", "--python", python, folder)
        self._install(*extras)
        self.core = folder / "core.txt"
        self.core.write_text(self._pip("freeze"))

    def hold(self, *extras):
        """Install extras, and remove all others."""
        if extras != self.extras:
            self._pip("sync", self.core)
            self._install(*extras)
            self.extras = extras

    def do(self, job, folder):
        """Run a job of jobs.py in a folder, with warnings as errors."""
        return self.run("-W", "error", JOBS, job, cwd=folder)

    def run(self, *arguments, cwd):
        """Run Python without what leads back to the sources."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=cwd,
            env=outside(MPLBACKEND="Agg"),
            capture_output=True,
            text=True,
        )

    def _install(self, *extras):
        package = f"{self.package}[{','.join(extras)}]" if extras else self.package
        self._pip("install", *self.options, package)

    def _pip(self, command, *arguments):
        return self._uv("pip", command, "--python", self.python, *arguments)

    def _uv(self, *arguments):
        done = subprocess.run(
            [self.uv, "--quiet", *arguments],
            env=os.environ | self.variables,
            capture_output=True,
            text=True,
        )
        assert not done.returncode, done.stderr
        return done.stdout


def outside(**more):
    """Return the variables of this process without those that lead back to the sources."""
    ours = {"PYTHONPATH", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in ours} | more


@pytest.fixture(scope="session")
def environment(tmp_path_factory, wheel):
    return Environment(tmp_path_factory.mktemp("installed") / "venv", wheel)


@pytest.fixture(scope="session")
def public_environment(wheel):
    """An environment that every user may read, if there is a Python that every user may run."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin") or sys.executable
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        environment = Environment(Path(folder) / "venv", wheel, python=python)
        shutil.copy(JOBS, environment.folder)
        yield environment


@pytest.fixture
def environment_of_sdist(tmp_path, sdist):
    """Install the sdist, as where no wheel is taken, with variables that choose the compiler."""
    package = Path(shutil.copy(sdist, tmp_path))  # uv keeps what it built from a path
    return lambda **variables: Environment(tmp_path / "venv", package, **variables)


@pytest.fixture
def environment_of_folder(tmp_path):
    """Install the sources in a folder, in which the package stays, with all that tests need."""

    def install(folder):
        group = f"{folder / 'pyproject.toml'}:reproduction"
        options = ("--group", group, "--editable")
        return Environment(tmp_path / "venv", folder, "test", options=options)

    return install

import subprocess
import sys
from importlib.metadata import version

import modeclust
from modeclust import _core


def shown(capsys):
    modeclust.show_versions()
    lines = capsys.readouterr().out.splitlines()
    return dict(line.strip().split(": ", 1) for line in lines if ": " in line)


def test_what_runs_and_what_is_installed(capsys):
    found = shown(capsys)
    assert found["version"] == modeclust.__version__
    assert found["simd"] == _core.simd()
    assert found["available"].split(", ") == _core.available_simd()
    assert found["compiler"].startswith(("GCC ", "clang "))
    assert found["nanobind"].count(".") == 2
    assert found["python"].startswith(sys.version.split()[0])
    for name in ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "matplotlib"):
        assert found[name] == version(name)


def test_what_is_missing_is_not_installed(capsys, monkeypatch):
    monkeypatch.setattr("modeclust.versions._OPTIONAL", ("no-such-package",))
    assert shown(capsys)["no-such-package"] == "not installed"


def test_nothing_is_imported_for_it():
    code = """
import sys
import modeclust
modeclust.show_versions()
assert not {"sklearn", "scipy", "matplotlib", "polars", "dask"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_every_extra_is_listed(capsys):
    """What users may install besides is on the list."""
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    developers = {"all", "bench", "dev", "docs", "release", "test"}
    names = set()
    for extra, requirements in project["optional-dependencies"].items():
        if extra not in developers:
            names |= {name.partition(">=")[0].partition("[")[0] for name in requirements}
    assert names - {"modeclust"} <= shown(capsys).keys()

import re
import tomllib

import pytest
from release import ROOT, hindrances

import modeclust

FILES = {
    "src/modeclust/__init__.py": '__version__ = "1.2.0"\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\ndate-released: 2030-01-31\n",
    "recipe/recipe.yaml": 'schema_version: 1\n\ncontext:\n  version: "1.2.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2030-01-31)\n\n## 1.1.0 (2029-12-31)\n",
}


def written(folder, changed):
    for name, text in {**FILES, **changed}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_release(tmp_path):
    assert list(hindrances("v1.2.0", written(tmp_path, {}))) == []


@pytest.mark.parametrize(
    ("tag", "file", "old", "new", "said"),
    [
        ("v1.2.1", "CITATION.cff", "", "", "the tag is v1.2.1, the version 1.2.0"),
        ("1.2.0", "CITATION.cff", "", "", "the tag is 1.2.0, the version 1.2.0"),
        (
            "v1.2.0",
            "CITATION.cff",
            "\nversion: 1.2.0",
            "\nversion: 1.1.0",
            "has version 1.1.0, not",
        ),
        ("v1.2.0", "recipe/recipe.yaml", "1.2.0", "1.1.0", "recipe.yaml has version 1.1.0, not"),
        ("v1.2.0", "CITATION.cff", "2030-01-31", "2030-01-30", "on 2030-01-30, by CHANGELOG"),
        ("v1.2.0", "CITATION.cff", "date-released: 2030-01-31\n", "", "released on None"),
        ("v1.2.0", "CHANGELOG.md", "(2030-01-31)", "(unreleased)", "not with a version and its"),
        ("v1.2.0", "CHANGELOG.md", "## 1.2.0 (2030-01-31)\n", "", "begins with 1.1.0, not"),
    ],
)
def test_what_is_in_the_way(tag, file, old, new, said, tmp_path):
    [found] = hindrances(tag, written(tmp_path, {file: FILES[file].replace(old, new)}))
    assert said in found


def test_the_files_of_this_version_agree():
    """All that `hindrances` asks for, but for the date of the release, which may not be known."""
    found = list(hindrances(f"v{modeclust.__version__}"))
    assert all("(unreleased)" in hindrance for hindrance in found), found
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
    assert first == modeclust.__version__


def test_the_lowest_python_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lowest = project["project"]["requires-python"].removeprefix(">=")
    listed = re.findall(r"Python :: (3\.\d+)", " ".join(project["project"]["classifiers"]))
    assert min(listed, key=lambda name: int(name[2:])) == lowest
    assert project["tool"]["ruff"]["target-version"] == f"py{lowest.replace('.', '')}"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"LOWEST_PYTHON ?= {lowest}\n" in makefile
    assert f"sys.version_info >= ({lowest.replace('.', ', ')}) or" in makefile


def test_what_builds_the_core_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    group = set(project["dependency-groups"]["build"])
    assert set(project["build-system"]["requires"]) < group
    cmake = re.search(
        r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert f"cmake>={cmake[1]}" in group
    assert project["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"

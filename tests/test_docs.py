"""What the documentation shows runs, and its links lead somewhere. `make docs` runs these."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_iris

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "gallery" not in page.parts)

pytestmark = pytest.mark.docs


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def of_pages_with(language):
    pages = [page for page in PAGES if blocks(page, language)]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table that the pages cluster."""
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    flowers.to_csv(tmp_path / "flowers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@of_pages_with("python")
def test_the_python_of_a_page_runs(page, folder):
    mpl.use("Agg")
    namespace = {}
    for block in blocks(page, "python"):
        exec(block, namespace)
    plt.close("all")


@of_pages_with("sh")
def test_the_commands_of_a_page_run(page, folder):
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            command = shlex.split(line, comments=True)
            if command[:1] == ["modeclust"]:
                subprocess.run(
                    [sys.executable, "-m", *command],
                    env={**os.environ, "BROWSER": "true"},  # `true` opens the pages
                    check=True,
                    capture_output=True,
                )

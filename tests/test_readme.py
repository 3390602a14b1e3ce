import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
from sklearn.datasets import load_iris

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_python_block_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 2
    namespace = {}
    for block in blocks:
        exec(block, namespace)
    mpl.pyplot.close("all")
    assert namespace["model"].cluster_centers_.shape == (10, 64)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.html", "digits.npz"]


def test_every_command_of_the_readme_runs(tmp_path):
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    flowers.to_csv(tmp_path / "flowers.csv", index=False)
    [block] = re.findall(r"```sh\n(modeclust .*?)```", README, flags=re.DOTALL)
    for line in block.splitlines():
        command = shlex.split(line, comments=True)
        subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env={**os.environ, "BROWSER": "true"},  # `true` opens the pages
            check=True,
            capture_output=True,
        )
    assert (tmp_path / "flowers.modes" / "report.html").exists()
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 151


@pytest.mark.parametrize("file", re.findall(r"\]\((?!http)(.*?)\)", README))
def test_every_file_that_the_readme_shows_or_links_is_there(file):
    assert (ROOT / file).stat().st_size > 500

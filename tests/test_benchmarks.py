"""The benchmarks that the pages name run, in a small size."""

import json
import shlex
import subprocess
import sys

import pytest
from pages import PAGES, ROOT, commands_in_text, shell_lines

SCRIPT = "python benchmarks/run.py --only "


def names_in_pages():
    commands = [line for page in PAGES for line in (*shell_lines(page), *commands_in_text(page))]
    return {
        name
        for command in commands
        if command.startswith(SCRIPT)
        for name in shlex.split(command.removeprefix(SCRIPT), comments=True)
    }


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_benchmarks_that_the_pages_name_run(tmp_path):
    names = names_in_pages()
    assert len(names) > 2
    script = ROOT / "benchmarks" / "run.py"
    options = ["--only", *sorted(names), "--quick", "--repeats", "1", "--out", tmp_path]
    subprocess.run([sys.executable, script, *options], check=True)
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["quick"]
    assert results["repeats"] == 1
    assert results["failed"] == []
    without_reference = any("authors" in line for line in results["left_out"])
    assert names - results.keys() == ({"laplacian-authors"} if without_reference else set())
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    for known in results["laplacian-quality"]["sets"]:
        assert known["data"]["title"] in page
    for run in results["scale"]["runs"]:
        assert f"{run['n_rows']:,}" in page

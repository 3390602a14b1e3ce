import json
import re

import pytest
from pages import README as PAGE
from pages import ROOT, blocks, lines_to_run, run

README = PAGE.read_text(encoding="utf-8")


def test_every_python_block_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block, _ in blocks(PAGE, "python"):
        exec(block, namespace)
    assert namespace["model"].cluster_centers_.shape == (10, 64)
    assert [path.name for path in tmp_path.iterdir()] == ["digits.html"]


def test_every_command_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in lines_to_run(PAGE):
        run(line)
    assert (tmp_path / "iris.modes" / "report.html").exists()


@pytest.mark.parametrize("file", re.findall(r"\]\((?!http)(.*?)\)", README))
def test_every_file_that_the_readme_shows_or_links_is_there(file):
    assert (ROOT / file).is_dir() or (ROOT / file).stat().st_size > 500


def results(page):
    return json.loads((ROOT / "docs" / page / "results.json").read_text(encoding="utf-8"))


def test_the_times_in_the_readme_are_those_of_the_benchmarks_page():
    shown = re.findall(r"K = \d+ \| ([\d.]+) \| ([\d.]+) \|$", README, re.MULTILINE)
    measured = [
        tuple(
            f"{workload[part]['contestants']['modeclust']['ratio']['median']:.2f}"
            for part in ("iteration", "kmeans")
        )
        for workload in results("benchmarks")["workloads"].values()
    ]
    assert shown == measured


def test_the_counts_of_claims_in_the_readme_are_those_of_the_papers_page():
    sentence = r"of (\d+), (\d+) were reproduced, (\d+) in part\s+and (\d+) not"
    shown = [int(number) for number in re.search(sentence, README).groups()]
    verdicts = list(results("paper")["verdicts"].values())
    assert shown == [sum(verdicts), *verdicts]

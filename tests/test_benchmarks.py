"""The benchmarks that the pages name run, in a small size."""

import json
import os
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


def run_beside_benchmarks(code):
    # In a new process, because the modules there set the threads of their process.
    env = {**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")}
    return subprocess.check_output([sys.executable, "-c", code], env=env, text=True).split()


def test_purity_near_modes_by_hand():
    code = """
import defaults_quality, numpy as np
defaults_quality.N_NEAREST = 3
X = np.array([0, 1, 2, 3, 9, 10, 11.0])[:, None]
y, labels = np.array([0, 0, 1, 1, 1, 1, 0]), np.array([0, 0, 0, 0, 2, 2, 2])
print(defaults_quality.purity_of_nearest(X, y, labels, np.array([[0.0], [5.0], [10.0]])))
print(defaults_quality.purity_of_nearest(X, y, labels, np.array([[3.0], [5.0], [10.0]])))
"""
    # In both clusters 2 of the 3 nearest rows have the same class; cluster 1 has no rows.
    assert run_beside_benchmarks(code) == [str(2 / 3)] * 2


def test_a_set_of_the_battery_by_hand():
    code = """
import defaults_quality, numpy as np
from sklearn.cluster import KMeans
X = np.array([0, 0.1, 5, 5.1, 9, 9.1])[:, None]
make = lambda k, seed: KMeans(k, n_init=10, random_state=seed)
print(defaults_quality.best_score(X, np.array([[1, 2, 1, 2, 1, 2]]), make, 0) < 0.1)
print(defaults_quality.best_score(X, np.array([[1, 2, 1, 2, 1, 2], [1, 1, 2, 2, 3, 0]]), make, 0))
"""
    # The second partition has three clusters, and is found but for the row of noise.
    assert run_beside_benchmarks(code) == ["True", "1.0"]


def test_numbers_of_clusters_by_hand():
    code = """
import choosing_k, numpy as np
X = np.repeat([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]], 40, axis=0)
X += np.random.default_rng(0).normal(size=X.shape)
print(*(way(X, 0)[0] for way in choosing_k.WAYS.values()))
print(choosing_k.best_index([np.array([1, 1, 2, 0])], np.array([5, 5, 7, 7])))
centers = choosing_k.draw_centers(17, 2, 4.0, np.random.RandomState(0))
print(choosing_k.pdist(centers).min() >= 4)
"""
    assert run_beside_benchmarks(code) == ["3"] * 5 + ["1.0", "True"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_benchmarks_that_the_pages_name_run(tmp_path):
    names = names_in_pages() | {"laplacian-quality"}
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
    for part in ("laplacian-quality", "defaults-quality", "defaults-outliers", "defaults-time"):
        for known in results[part]["sets"]:
            assert known["data"]["title"] in page
    for kind in results["choosing-k"]["kinds"]:
        assert kind in page
    for run in results["scale"]["runs"]:
        assert f"{run['n_rows']:,}" in page
    subprocess.run(
        [sys.executable, script, "--only", "k-medoids", *options[-5:], "--add"], check=True
    )
    added = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert added["others"].keys() == results["others"].keys() | {"k-medoids"}
    assert added["choosing-k"] == results["choosing-k"]

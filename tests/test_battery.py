"""The battery: its scores and tables by hand, and a small run."""

import json
import subprocess
import sys

import pytest
from pages import ROOT
from test_benchmarks import run_beside_benchmarks

BENCHMARKS = ROOT / "benchmarks"


def test_the_score_of_several_partitions_by_hand():
    code = """
import battery, battery_sets, numpy as np
rows = battery_sets.Rows(np.zeros((4, 1)), np.array([[1, 2, 1, 2], [1, 1, 2, 0]]))
print(*rows.cluster_counts)
print(battery.best_score(rows, {2: np.array([0, 0, 1, 0])}))
print(battery.best_score(rows, {2: np.array([0, 0, 0, 0])}))
"""
    # The second partition is found but for the row of noise; one cluster finds neither.
    assert run_beside_benchmarks(code) == ["2", "2", "1.0", "0.0"]


def test_the_best_setting_counts_and_empty_clusters_are_told():
    code = """
import battery, battery_sets, numpy as np, warnings
def found(X, k, seed):
    warnings.warn("by hand", FutureWarning)
    return np.array([0, 0, 1, 1])
none = lambda X, k, seed: np.zeros(4)
rows = battery_sets.Rows(np.zeros((4, 1)), np.array([[1, 1, 2, 2]]))
run = battery._run(battery.Algorithm((none, found)), rows, 0)
print(run["adjusted_rand"], run["empty"], *run["warnings"])
"""
    assert run_beside_benchmarks(code) == ["1.0", "1", "FutureWarning"]


def test_algorithms_are_sorted_by_their_mean():
    code = """
import battery_page
def known(**scores):
    own = {name: {"adjusted_rand": {"mean": score}} for name, score in scores.items()}
    return {"algorithms": own, "published": {"ITM": 0.5}}
columns = battery_page.score_columns([known(a=0.2, b=1.0, c=1.0), known(a=0.4, b=0.0)])
print(*columns, sep=";")
"""
    # "c" did not run on the second set.
    assert " ".join(run_beside_benchmarks(code)) == "b;ITM, published;a"


def test_made_sets_have_the_same_rows_for_the_same_draw():
    code = """
import battery_sets, numpy as np
sets = [s for s in battery_sets.all_sets(True) if s.group == battery_sets.MADE]
for known in sets:
    one, same, other = known.load(1), known.load(1), known.load(2)
    labels = np.unique(one.partitions)
    print(len(one.X), np.array_equal(one.X, same.X), np.array_equal(one.X, other.X))
    print(np.array_equal(labels, 1 + np.arange(one.cluster_counts[0])))
"""
    found = run_beside_benchmarks(code)
    assert found == ["200", "True", "False", "True"] * (len(found) // 4)
    assert len(found) == 4 * 8


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_battery_runs(tmp_path):
    command = [sys.executable, BENCHMARKS / "battery.py", "--quick", "--out", tmp_path]
    subprocess.run([*command, "--only", "made", "tables", "growth"], check=True)
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert results["quick"]
    for known in results["sets"]:
        assert f"| {known['name']} |" in page
        assert known["algorithms"]["LaplacianKModes"]["empty"] == 0
    (growth,) = results["growth"]
    assert sum(growth["stages"].values()) < growth["seconds"]
    assert (tmp_path / "others.png").stat().st_size > 0
    # The documentation shows the same, with pictures for light and dark pages.
    folder = tmp_path / "battery"
    script = BENCHMARKS / "battery_page.py"
    subprocess.run([sys.executable, script, tmp_path / "results.json", folder], check=True)
    assert "/measured/battery/others-dark.svg" in (folder / "page.inc").read_text(encoding="utf-8")
    assert {file.name for file in folder.glob("*.svg")} == {"others-light.svg", "others-dark.svg"}

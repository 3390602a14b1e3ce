"""The comparison with other clusterers runs, in a small size."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_comparison_runs(tmp_path):
    command = [sys.executable, BENCHMARKS / "comparison.py", "--quick", "--repeats", "1"]
    subprocess.run([*command, "--out", tmp_path], check=True)
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert [part["n_clusters"] for part in results["sets"]] == [10, 2, 4]
    for part in results["sets"]:
        assert f"## {part['title']}" in page
        for name, own in part["contestants"].items():
            assert page.count(f"| {name} |") == 3
            assert own["best"]["adjusted_rand"] >= own["adjusted_rand"]["values"][0]
        assert part["contestants"]["scikit-learn KMeans"]["ratio"]["values"] == [1.0]
        assert part["contestants"]["modeclust KModes"]["n_clusters"]["mean"] == part["n_clusters"]

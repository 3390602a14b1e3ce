"""Test the examples in docs/extending.md."""

import importlib.util
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from same import assert_same
from sklearn.datasets import make_blobs

from modeclust.data.memory import MemoryDataset

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "extending.md"
EXAMPLES = ROOT / "docs" / "extending"
PATCH = ["git", "apply", str(EXAMPLES / "triweight.patch")]
NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="left out: needs git")
N_ROWS = 16_000  # two chunks of the table
CLUSTERS = 4

# Leave out plugins of this Python that are not needed; one of them warns under xdist.
QUIET = ("-p", "no:cacheprovider", "-p", "no:benchmark")


@pytest.fixture(scope="module")
def load_example():
    """Load an example by the name of its module."""

    def load(name):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def datasets(load_example):
    """The same rows in memory and in a table, some of them twice."""
    X, _ = make_blobs(N_ROWS, 3, centers=CLUSTERS, cluster_std=1.0, random_state=0)
    X[1::7] = X[::7]
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE points (a REAL, b REAL, c REAL)")
    connection.executemany("INSERT INTO points VALUES (?, ?, ?)", X.tolist())
    table = load_example("table_dataset").TableDataset(
        connection, "points", ["a", "b", "c"], n_clusters=CLUSTERS
    )
    with MemoryDataset(X, n_clusters=CLUSTERS, n_jobs=2) as memory:
        yield memory, table
    connection.close()


@pytest.mark.docs
@pytest.mark.parametrize("scaled", [False, True])
def test_rows_of_a_table_give_the_same_modes(datasets, load_example, scaled):
    memory, table = datasets
    if scaled:
        scale = np.random.default_rng(0).uniform(0.5, 2.0, size=N_ROWS)
        assert table.set_relative_scale(scale) == memory.set_relative_scale(scale)
    cluster = load_example("table_dataset").cluster
    bandwidths = np.geomspace(8.0, 2.0, 3)
    both = (cluster(dataset, CLUSTERS, bandwidths) for dataset in datasets)
    for found, expected in zip(*both, strict=True):
        assert found.n_iter == expected.n_iter
        np.testing.assert_allclose(found.centers, expected.centers, rtol=1e-12)
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_array_equal(found.nearest, expected.nearest)
    np.testing.assert_array_equal(table.labels(), memory.labels())
    some = np.array([4000, 2, 77])
    np.testing.assert_array_equal(table.labels_at(some), memory.labels_at(some))
    assert_same(table.take(some), memory.take(some))


@pytest.mark.docs
def test_rows_of_a_table_are_drawn_alike(datasets):
    memory, table = datasets
    for n_rows in (10, 2 * N_ROWS):
        drawn, expected = (
            dataset.sample(n_rows, np.random.RandomState(3)) for dataset in (table, memory)
        )
        np.testing.assert_array_equal(drawn.X, expected.X)
    assert_same(table.distinct(), memory.distinct())


@pytest.mark.docs
def test_a_new_pass_runs_on_every_dataset(datasets, load_example):
    memory, _ = datasets
    for dataset in datasets:
        found = dataset.run(load_example("range_pass").RangePass())
        np.testing.assert_array_equal(found.smallest, memory.X.min(axis=0))
        np.testing.assert_array_equal(found.largest, memory.X.max(axis=0))


def test_the_page_names_every_file_that_knows_a_kernel():
    page = PAGE.read_text()
    package = ROOT / "src" / "modeclust"
    sources = [file for file in package.rglob("*") if file.suffix in (".py", ".hpp", ".cpp")]
    files = {
        file.relative_to(package).as_posix()
        for file in sources
        if re.search(r"\bcauchy\b", file.read_text())
    }
    assert "core/leaf_weights.hpp" in files
    assert not [file for file in files if f"`{file}`" not in page]


@NEEDS_GIT
def test_the_patch_applies():
    subprocess.run([*PATCH, "--check"], cwd=ROOT, check=True)


@NEEDS_GIT
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_patch_adds_a_kernel_that_the_tests_cover(tmp_path):
    sources, installed = tmp_path / "sources", tmp_path / "installed"
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for name in ("src", "tests", "cmake"):
        shutil.copytree(ROOT / name, sources / name, ignore=ignored)
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    subprocess.run(PATCH, cwd=sources, check=True)
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, f"--target={installed}", "."], cwd=sources, check=True)
    tests = [
        "tests/test_kernels.py",
        "tests/cli/test_options.py::test_options_have_the_names_of_the_library",
        "tests/core/test_assign.py::test_mode_passes_agree_with_a_plain_loop",
        "tests/core/test_density.py::test_sums_agree_with_the_formulas",
        "tests/core/test_density.py::test_leaves_out_of_reach_change_nothing",
        "tests/core/test_measures.py::test_soft_sums",
        "tests/data/test_mode_pass.py::test_one_pass_agrees_with_the_reference",
        "tests/estimators/test_invariants.py::test_the_objective_never_falls_at_a_fixed_bandwidth",
        "tests/plotting/test_density.py::test_the_area_of_a_density_is_the_weight_of_its_cluster",
        "tests/reporting/test_charts.py::test_the_density_of_one_feature_peaks_at_the_mode",
        "tests/solvers/test_mean_shift.py::test_modes_and_partition_of_plain_mean_shift",
        "tests/solvers/test_streaming.py",
    ]
    # This leaves out the editable install of the library: Python reads .pth files in its own
    # site-packages only.
    paths = [str(installed), *(path for path in sys.path if path.endswith("site-packages"))]
    run = subprocess.run(
        [sys._base_executable, "-m", "pytest", *QUIET, "-v", *tests],
        cwd=sources,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
    assert "test_by_hand_at_one_quarter[triweight" in run.stdout
    assert "test_the_weight_is_the_slope_of_the_values[0.1-triweight" in run.stdout

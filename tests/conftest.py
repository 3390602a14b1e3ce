import os
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import OPTIONS, find_browser
from hypothesis import settings

ROOT = Path(__file__).parents[1]

if "MODECLUST_DATA" not in os.environ and (ROOT.parent / "shared" / "data").is_dir():
    os.environ["MODECLUST_DATA"] = str(ROOT.parent / "shared" / "data")

os.environ["MPLBACKEND"] = "agg"  # before matplotlib is imported, here and in other processes

# No test measures time, and the first example may import much.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_runtest_setup(item):
    if os.name != "posix" and item.get_closest_marker("posix"):
        pytest.skip("left out: needs POSIX signals, limits and links")


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures of a test."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def authors_result():
    """Return a function that loads a result of the authors' program."""
    data = os.environ.get("MODECLUST_DATA")
    folder = Path(data).parent / "reference" if data else None
    if folder is None or not folder.is_dir():
        pytest.skip("left out: needs the authors' results, in `reference` beside MODECLUST_DATA")

    def load(name):
        with np.load(folder / f"{name}.npz") as file:
            return dict(file)

    return load


@pytest.fixture(scope="module")
def chromium():
    """A browser. Without one, tests of pages are skipped; in CI they fail."""
    path = find_browser()
    if path is None:
        reason = "left out: the tests of the page need Chromium (python tests/browser.py)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def dask_cluster():
    """Two worker processes with one thread each. A killed worker is restarted."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster

"""Fits in threads, in processes and after a fork, all finish and agree."""

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from fits import X, centers
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV

from modeclust import KModes


@pytest.fixture(scope="module")
def expected():
    return centers()


def test_in_threads(expected):
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(centers, [1, 2, 3, None] * 4)) == {expected}


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_in_processes(expected, method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert set(pool.map(centers, [1, 2, None], timeout=300)) == {expected}


def test_in_joblib_processes(expected):
    assert set(Parallel(n_jobs=2)(delayed(centers)(n) for n in (1, 2, None))) == {expected}


def test_in_a_grid_search_with_processes():
    grid = {"bandwidth": [0.5, 1.0], "n_clusters": [4, 5]}
    model = KModes(n_bandwidths=3, n_init=2, random_state=0)
    serial = GridSearchCV(model, grid, cv=2).fit(X)
    parallel = GridSearchCV(model, grid, cv=2, n_jobs=2).fit(X)
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(parallel.cv_results_[name], serial.cv_results_[name])


def test_a_second_process_loads_what_the_first_compiled():
    code = """
import numpy as np
from modeclust import KModes
from modeclust.rows import mean_step, mode_step, segment_step
KModes(2, random_state=0).fit(np.arange(40.0).reshape(20, 2) ** 2)
for function in (mode_step._sweep, mean_step._sweep, segment_step._add_densities):
    hits = sum(function.stats.cache_hits.values())
    misses = sum(function.stats.cache_misses.values())
    print(hits, misses)
"""
    for _ in range(2):
        run = [sys.executable, "-W", "error", "-c", code]
        output = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert output.split() == ["1", "0"] * 3


@pytest.mark.posix
def test_an_interrupt_ends_a_fit_and_not_the_process():
    code = """
import signal
from sklearn.datasets import load_digits
from modeclust import KModes

X = load_digits().data
endless = KModes(10, n_init=10**9, random_state=0)
follow = KModes(10, n_init=1, n_bandwidths=10**4, bandwidth=1e-3, random_state=0)
KModes(10, n_init=1, n_bandwidths=2).fit(X)

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
for turn in range(20):
    signal.setitimer(signal.ITIMER_REAL, 0.2 + turn * 0.003)
    try:
        (endless if turn % 2 else follow).fit(X)
    except KeyboardInterrupt:
        print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["interrupted"] * 20

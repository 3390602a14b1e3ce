"""Fits in threads, in processes and after a fork, all finish and agree."""

import multiprocessing
import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from fits import ESTIMATORS, X, bits, bits_of_threads, centers, save_and_load
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV

from modeclust import KModes


@pytest.fixture(scope="module")
def expected():
    return centers()


def test_in_threads(expected):
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(centers, [1, 2, 3, None] * 4)) == {expected}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fifty_fits_at_once(name):
    with ThreadPoolExecutor(50) as pool:
        found = set(pool.map(bits, [name] * 50, [1, 2, 3, None, -1] * 10))
    assert found == {bits(name, 1)}


FORKS = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


@FORKS
@pytest.mark.parametrize("name", ESTIMATORS)
def test_in_a_fork_after_a_fit(name):
    expected = bits(name)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert set(pool.map(bits, [name] * 3, [1, 2, None], timeout=200)) == {expected}


@FORKS
def test_in_a_fork_while_another_thread_fits():
    context = multiprocessing.get_context("fork")
    with ThreadPoolExecutor(1) as pool:
        fits = [pool.submit(bits, "KModes", 2) for _ in range(20)]
        processes = [context.Process(target=bits, args=("KModes", 2)) for _ in range(5)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(100)
            process.kill()
        assert [process.exitcode for process in processes] == [0] * 5
        assert {fit.result() for fit in fits} == {bits("KModes")}


@FORKS
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_in_processes(expected, method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert set(pool.map(centers, [1, 2, None], timeout=300)) == {expected}


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_in_nested_joblib(backend):
    found = Parallel(2, backend=backend)(delayed(bits_of_threads)("KModes") for _ in range(3))
    assert found == [{bits("KModes", 1)}] * 3


def test_in_the_threads_of_dask():
    dask = pytest.importorskip("dask")
    tasks = [dask.delayed(bits)(name, n_jobs) for name in ESTIMATORS for n_jobs in (1, 2, None)]
    found = dask.compute(*tasks, scheduler="threads", num_workers=8)
    assert list(found) == [bits(name, 1) for name in ESTIMATORS for _ in range(3)]


@pytest.mark.slow
def test_in_the_threads_of_a_dask_worker():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            1, threads_per_worker=4, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        tasks = client.map(bits, list(ESTIMATORS) * 4, [1, 2, None, -1] * 3, pure=False)
        assert client.gather(tasks) == [bits(name, 1) for name in ESTIMATORS] * 4


def test_processes_that_save_to_one_file(tmp_path):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(save_and_load, [tmp_path / "model.npz"] * 2, [50, 50], timeout=200))
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_in_joblib_processes(expected):
    assert set(Parallel(n_jobs=2)(delayed(centers)(n) for n in (1, 2, None))) == {expected}


def test_in_a_grid_search_with_processes():
    grid = {"bandwidth": [0.5, 1.0], "n_clusters": [4, 5]}
    model = KModes(n_bandwidths=3, n_init=2, random_state=0)
    serial = GridSearchCV(model, grid, cv=2).fit(X)
    parallel = GridSearchCV(model, grid, cv=2, n_jobs=2).fit(X)
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(parallel.cv_results_[name], serial.cv_results_[name])


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="left out: this Python has a GIL"
)
def test_a_python_without_gil_stays_without():
    code = """
import sys
from fits import ESTIMATORS, bits
for name in ESTIMATORS:
    bits(name, 2)
print(sys._is_gil_enabled())
"""
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(run, env=variables, check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


@pytest.mark.posix
def test_an_interrupt_ends_a_fit_and_not_the_process(monkeypatch):
    code = """
import signal, threading
from sklearn.datasets import load_digits
from modeclust import KModes, LaplacianKModes, MeanShift

X = load_digits().data
endless = [
    KModes(10, n_init=1, n_bandwidths=10**4, bandwidth=1e-3, random_state=0),
    KModes(10, n_init=10**9, random_state=0),
    LaplacianKModes(10, init="k-means++", n_init=10**9, random_state=0),
    MeanShift(bandwidth=10.0, tol=1e-300, max_iter=10**9),
]
KModes(10, n_init=1, n_bandwidths=2).fit(X)
LaplacianKModes(3, n_init=1, n_bandwidths=2).fit(X[:50])
MeanShift(bandwidth=10.0).fit(X[:50])
n_threads = threading.active_count()

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
for turn in range(20):
    signal.setitimer(signal.ITIMER_REAL, 0.2 + turn * 0.003)
    try:
        endless[turn % 4].fit(X)
    except KeyboardInterrupt:
        print("interrupted")
assert threading.active_count() == n_threads
"""
    # An interrupt inside the tracer of coverage would leave its lock taken.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    run = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(run, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["interrupted"] * 20

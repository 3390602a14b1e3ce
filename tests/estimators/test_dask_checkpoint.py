"""Fits of Dask collections that are interrupted, and go on to the same bits."""

import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from chunks import in_chunks
from interruption import assert_same_fit, interrupts
from same import assert_same
from scipy import sparse
from sklearn.datasets import make_blobs

from modeclust import KModes
from modeclust.exceptions import CheckpointError
from modeclust.io.checkpoint import describe_checkpoint
from modeclust.solvers import bandwidth

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

X, _ = make_blobs(300, 3, centers=4, cluster_std=3.0, random_state=0)
WEIGHT = np.arange(300) % 4 / 2.0
SCALE = 0.5 + np.arange(300) % 3
QUICK = {"n_clusters": 4, "n_bandwidths": 2, "n_init": 2, "path_iter": 2, "random_state": 0}
chunked = partial(in_chunks, size=130)

# Rows, parameters, and what else `fit` takes.
FITS = {
    "plain": (X, {"bandwidth": 2.0}, {}),
    "columns": (X, {}, {"sample_weight": WEIGHT, "sample_scale": da.from_array(SCALE, chunks=70)}),
    "CSR": (sparse.csr_array(np.where(X > 0, X, 0.0)), {"random_state": None}, {}),
    "float32, offset": ((X + 1e5).astype(np.float32), {}, {}),
    "K-means": (X, {"bandwidth": np.inf}, {}),
    "few, adaptive": (X[:50], {"adaptive": True, "random_state": None}, {}),
    "adaptive": (X, {"adaptive": True}, {}),
    "adaptive, no seed": (X, {"adaptive": True, "random_state": None}, {"sample_weight": WEIGHT}),
    "adaptive, generator": (X, {"adaptive": True, "random_state": "a generator"}, {}),
}


def fit(name, seed=7, **changes):
    """Return a fitted model; where it draws without a seed of its own, draw from this one."""
    rows, parameters, columns = FITS[name]
    model = KModes(**QUICK | parameters | changes)
    np.random.seed(seed)
    if model.random_state == "a generator":
        model.random_state = np.random.RandomState(seed)
    return model.fit(chunked(rows), **columns)


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Let rules for the bandwidth draw some rows, which they otherwise do from 5,000 on."""
    monkeypatch.setitem(bandwidth.choose_bandwidth.__kwdefaults__, "n_samples", 99)


@pytest.fixture(autouse=True)
def one_thread():
    """Spare the time of threads, which change no bit."""
    with dask.config.set(scheduler="synchronous"):
        yield


interrupt = interrupts(fit)


SLOW = {"plain", "CSR", "float32, offset", "K-means", "few, adaptive"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in FITS]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_interrupted_anywhere_resumes_with_the_same_bits(name, writes, tmp_path):
    file, whole = tmp_path / "c", fit(name)
    n_writes = 2 + 1 + len(whole.path_)  # restarts, the bandwidth, states
    for after in range(1, n_writes + 1):
        interrupt(writes, after, file, name)
        resumed = fit(name, seed=after, checkpoint=file)
        assert_same_fit(resumed, whole)
        assert_same(resumed.random_state, whole.random_state)  # as if nothing had been
        assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_scales_of_a_checkpoint_are_not_recomputed(writes, tmp_path, monkeypatch):
    interrupt(writes, 4, tmp_path / "c", "adaptive")
    monkeypatch.setattr(bandwidth, "neighbor_distances", None)
    fit("adaptive", checkpoint=tmp_path / "c")


def test_the_file_does_not_grow_with_the_rows(writes, tmp_path):
    sizes = []
    for rows in (X, np.tile(X, (20, 1))):
        with writes.interrupting(after=4):
            KModes(**QUICK, adaptive=True, checkpoint=tmp_path / "c").fit(in_chunks(rows, 3000))
        sizes.append((tmp_path / "c").stat().st_size)
        (tmp_path / "c").unlink()
    assert sizes[1] < sizes[0] + 100


IRREGULAR = (1, 2) * 50 + (150,)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X, r"the location of X is Dask chunks \(2 of 130, 1 of 40\) there and memory here\. "),
        (in_chunks(X, 100), r"1 of 40\) there and Dask chunks \(3 of 100\) here\. "),
        (chunked(X).rechunk((IRREGULAR, 3)), r"Dask chunks \(101 of 1 to 150, of digest \w+\) h"),
        (chunked(X + 1e-9), r"fit: the values of X differ\. "),
        (chunked(sparse.csr_array(X)), "X is dense there and sparse here"),
        (chunked(X[1:]), r"the shape of X is \(300, 3\) there and \(299, 3\) here"),
    ],
    ids=["memory", "chunks", "many chunks", "values", "sparse", "shape"],
)
def test_other_data_and_chunks_are_refused_by_name(rows, message, writes, tmp_path):
    file = tmp_path / "c"
    interrupt(writes, 4, file)
    content = file.read_bytes()
    with pytest.raises(CheckpointError, match=message):
        KModes(**QUICK | {"bandwidth": 2.0, "checkpoint": file}).fit(rows)
    assert file.read_bytes() == content


@pytest.mark.parametrize("name", ["sample_weight", "sample_scale"])
def test_other_columns_are_refused_by_name(name, writes, tmp_path):
    interrupt(writes, 4, tmp_path / "c", "columns")
    rows, parameters, columns = FITS["columns"]
    model = KModes(**QUICK | parameters, checkpoint=tmp_path / "c")
    with pytest.raises(CheckpointError, match=f"fit: the values of {name} differ"):
        model.fit(chunked(rows), **columns | {name: 2 * columns[name]})


def test_a_checkpoint_of_rows_in_memory_is_refused_for_chunks(writes, tmp_path):
    model = KModes(**QUICK | {"bandwidth": 2.0, "checkpoint": tmp_path / "c"})
    with writes.interrupting(after=4):
        model.fit(X)
    with pytest.raises(CheckpointError, match=r"is memory there and Dask chunks \(2 of 130, 1 of"):
        model.fit(chunked(X))


@pytest.mark.posix
def test_a_signal_leaves_a_checkpoint_that_can_be_resumed(tmp_path):
    file = tmp_path / "c"
    np.save(tmp_path / "X.npy", X)
    code = """
import sys
import dask.array as da
import numpy as np
from modeclust import KModes
rows = da.from_array(np.load(sys.argv[1]), chunks=(130, -1))
options = {"n_bandwidths": int(sys.argv[3]), "n_init": 2, "path_iter": 2, "random_state": 0}
KModes(4, bandwidth=2.0, checkpoint=sys.argv[2], **options).fit(rows)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "X.npy"), str(file), "100"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not file.exists():
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.npy", "c"]
    assert describe_checkpoint(file).endswith("done")
    options = QUICK | {"bandwidth": 2.0, "n_bandwidths": 100}
    assert_same_fit(
        KModes(**options, checkpoint=file).fit(chunked(X)), KModes(**options).fit(chunked(X))
    )

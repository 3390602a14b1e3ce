"""Passes by actors give the bits of passes by tasks, wherever the chunks are and whatever fails."""

import gc
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from modeclust import KModes
from modeclust.data.dask import dataset as dask_dataset
from modeclust.data.dask.actors import ChunkActors, Subtotals
from modeclust.data.dask.tasks import merge, merged, on_workers
from modeclust.data.mode_pass import ModePass
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_rows
from modeclust.kernels import GAUSSIAN

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, _ = make_blobs(4000, 3, centers=5, random_state=0)
MODEL = KModes(5, n_init=2, n_bandwidths=4, bandwidth=1.0, random_state=0)


class Sum:
    """A partial of which the last bits tell in which order it was merged."""

    def __init__(self, value):
        self.value = value

    def merge(self, other):
        self.value += other.value


@pytest.fixture
def client(dask_cluster):
    with distributed.Client(dask_cluster) as client:
        yield client


@given(owners=st.lists(st.integers(0, 4), min_size=1, max_size=150), seed=st.integers(0, 99))
def test_partial_sums_of_any_workers_in_any_order_have_the_same_bits(owners, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=len(owners)) * 10.0 ** rng.integers(-9, 9, len(owners))
    whole = merge(*map(Sum, values))
    subtotals = Subtotals(len(owners), {})
    for owner in rng.permutation(5):
        has = [number for number in range(len(owners)) if owners[number] == owner]
        subtotals.merge(Subtotals(len(owners), {number: Sum(values[number]) for number in has}))
    assert subtotals.total().value == whole.value


@pytest.mark.parametrize("n_chunks", [1, 2, 7, 8, 9, 30, 65, 130])
def test_tasks_merge_the_same_pairs(n_chunks):
    values = np.random.default_rng(n_chunks).normal(size=n_chunks)
    found = merged([on_workers(Sum, value) for value in values])
    assert found.value == merge(*map(Sum, values)).value


def test_neighbours_send_few_subtotals():
    for first in range(0, 900, 23):
        some = Subtotals(1000, {first + n: Sum(1.0) for n in range(100)})
        assert len(some._nodes) <= 12


def test_chunks_stay_on_their_workers_or_neighbours_share_one(client):
    lazy = da.from_array(X, chunks=(250, 3))
    workers = list(client.scheduler_info()["workers"])
    assert check_rows(lazy, chunked=True).workers == [workers[0]] * 8 + [workers[1]] * 8
    kept = lazy.persist()
    distributed.wait(kept)
    holders = client.who_has(kept)
    found = check_rows(kept, chunked=True)
    assert found.workers == [holders[part.key][0] for part in found.parts]


def test_actors_return_the_results_of_tasks_in_few_bytes(client, monkeypatch):
    rows = da.from_array(X, chunks=(150, 3))
    answers = []
    original = ChunkActors.run

    def weighed(self, job):
        answers.append((job[0], original(self, job)))
        return answers[-1][1]

    monkeypatch.setattr(ChunkActors, "run", weighed)
    found = MODEL.fit(rows).path_
    sizes = {len(pickle.dumps(sums)) for pass_, sums in answers if isinstance(pass_, ModePass)}
    assert len(answers) > 20
    assert max(sizes) < 8 * 5 * (3 + 8) + 1000  # K (D + a few) numbers, not one for each chunk

    monkeypatch.setattr(dask_dataset, "MAX_FAILURES", 0)  # no actors are started
    answers.clear()
    assert MODEL.fit(rows).path_.centers.tobytes() == found.centers.tobytes()
    assert not answers


@pytest.mark.posix
@pytest.mark.parametrize("delay", [0.0, pytest.param(0.02, marks=pytest.mark.slow)])
def test_a_fit_survives_a_worker_killed_in_a_pass(client, monkeypatch, caplog, delay):
    caplog.set_level("INFO", "modeclust")
    rows = da.from_array(X, chunks=(150, 3))
    whole = MODEL.fit(rows).path_.centers.tobytes()
    original, calls = ChunkActors.run, []

    def fatal(self, job):
        calls.append(job)
        if len(calls) == 12:
            victim = next(iter(client.run(os.getpid).values()))
            threading.Timer(delay, os.kill, (victim, signal.SIGKILL)).start()
        return original(self, job)

    monkeypatch.setattr(ChunkActors, "run", fatal)
    assert MODEL.fit(rows).path_.centers.tobytes() == whole
    assert len(calls) > 20  # actors were started again
    assert "the pass runs as tasks" in caplog.text


def test_two_fits_at_once(client):
    rows = da.from_array(X, chunks=(500, 3))
    whole = MODEL.fit(rows).path_.centers.tobytes()
    found = []

    def fit():
        found.append(KModes(**MODEL.get_params()).fit(rows).path_.centers.tobytes())

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [whole] * 3


@pytest.fixture
def no_collector():
    """Leave cycles of objects uncollected."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_no_actor_and_no_chunk_is_left_after_a_fit(client):
    rows = check_rows(da.from_array(X, chunks=(500, 3)), chunked=True)
    pass_ = ModePass(X[:5], GAUSSIAN, 1.0)
    with dask_dataset.DaskDataset(rows, Rescaling(), n_clusters=5) as opened:
        first, second = opened.run(pass_), opened.run(pass_)
        assert len(present(client)) == len(
            [chunks for chunks in client.has_what().values() if chunks]
        )
    assert first.totals.tobytes() == second.totals.tobytes()
    deadline = time.monotonic() + 30
    while present(client) or any(client.has_what().values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def present(client):
    """Return the actors of all workers."""
    found = client.run(lambda dask_worker: list(dask_worker.state.actors))
    return [actor for actors in found.values() for actor in actors]

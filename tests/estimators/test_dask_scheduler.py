"""A scheduler that is gone: a clear error, and a checkpoint to go on from."""

import subprocess
import sys
from contextlib import contextmanager

import pytest
from sklearn.datasets import make_blobs

from modeclust import KModes
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.io.checkpoint import describe_checkpoint

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, _ = make_blobs(2000, 3, centers=4, random_state=0)
OPTIONS = {"n_clusters": 4, "n_init": 2, "n_bandwidths": 6, "bandwidth": 1.0, "random_state": 0}


@contextmanager
def started(folder):
    """Yield the process of a scheduler that has one worker, and a client is open."""
    file = folder / "scheduler.json"

    def start(kind, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
        command += ["--no-dashboard", "--scheduler-file", str(file)]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    scheduler = start("scheduler", "--port", "0")
    worker = start("worker", "--nthreads", "1", "--no-nanny", "--memory-limit", "0")
    client = None
    try:
        client = distributed.Client(scheduler_file=str(file), timeout="60s")
        client.wait_for_workers(1, timeout=60)
        yield scheduler
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
        if client is not None:
            client.close(timeout=1)


def test_a_lost_scheduler_is_a_connection_error(tmp_path, monkeypatch):
    rows = da.from_array(X, chunks=(500, 3))
    whole = KModes(**OPTIONS).fit(rows).path_
    file = tmp_path / "checkpoint"
    writes, original = [], Checkpoint.write

    with started(tmp_path) as scheduler:

        def fatal(self, progress):
            original(self, progress)
            writes.append(len(progress.record.states))
            if writes[-1] == 4:
                scheduler.kill()
                scheduler.wait()

        monkeypatch.setattr(Checkpoint, "write", fatal)
        with pytest.raises(ConnectionError, match=r"scheduler at tcp://.* was lost"):
            KModes(**OPTIONS, checkpoint=file).fit(rows)
        assert writes[-1] == 4

    monkeypatch.setattr(Checkpoint, "write", original)
    assert describe_checkpoint(file) == "3 of 6 bandwidths done"
    found = KModes(**OPTIONS, checkpoint=file).fit(rows).path_
    assert found.centers.tobytes() == whole.centers.tobytes()
    assert not file.exists()

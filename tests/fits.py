"""Fits that other processes import, and fits in processes that are killed."""

import os
import random
import signal
import sys
import time
from pathlib import Path

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes, MeanShift, load

X, _ = make_blobs(40_000, 3, centers=5, random_state=0)
OPTIONS = {"bandwidth": 0.5, "n_bandwidths": 20, "path_iter": 3, "n_init": 20, "random_state": 0}

QUICK = {"bandwidth": 1.0, "n_bandwidths": 3, "n_init": 2, "random_state": 0}
ESTIMATORS = {
    "KModes": KModes(5, **QUICK),
    "MeanShift": MeanShift(bandwidth=1.0, random_state=0),
    "LaplacianKModes": LaplacianKModes(5, **QUICK),
}


def bits(name, n_jobs=None):
    """Return the bits of the centers and labels of an estimator."""
    model = clone(ESTIMATORS[name]).set_params(n_jobs=n_jobs).fit(X[:300])
    return model.cluster_centers_.tobytes() + model.labels_.tobytes()


def bits_of_threads(name):
    """Return the set of bits that fits in several threads of this process give."""
    return set(Parallel(2, backend="threading")(delayed(bits)(name, n) for n in (1, 2, None)))


def save_and_load(path, times):
    """Save models to a file that other processes write too, and load it."""
    models = [KModes(k, **QUICK).fit(X[:300]) for k in (2, 5)]
    for turn in range(times):
        models[turn % 2].save(path)
        assert len(load(path).cluster_centers_) in (2, 5)


def centers(n_jobs=2):
    """Return the bits of the centers of a fit with `n_jobs` threads."""
    model = KModes(5, bandwidth=1.0, n_bandwidths=3, n_init=2, n_jobs=n_jobs, random_state=0)
    return model.fit(X).cluster_centers_.tobytes()


def fit_in_a_copy(folder, name, may_continue):
    """Fit in a fork of this process until it may not continue; return whether it finished."""
    pid = os.fork()
    if pid == 0:
        file = folder / "checkpoint"
        KModes(5, **OPTIONS, checkpoint=file).fit(X[:4000]).save(folder / name)
        os._exit(0)
    begun = time.monotonic()
    ended = 0
    while not ended and may_continue(time.monotonic() - begun):
        time.sleep(0.0005)
        ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL)
    return status == 0


def kill_ten_times(folder):
    """Save a model of an uninterrupted fit, and a model of a fit that was killed ten times."""
    KModes(5, **OPTIONS, n_jobs=1).fit(X[:4000])  # imports all modules
    begun = time.monotonic()
    assert fit_in_a_copy(folder, "whole.npz", lambda _: True)
    length = time.monotonic() - begun
    # Kill the fit once when there is certainly a checkpoint.
    checkpoint = folder / "checkpoint"
    assert not fit_in_a_copy(folder, "0.npz", lambda _: not checkpoint.exists())
    n_killed, moments = 0, random.Random(0)
    while n_killed < 10:
        moment = moments.uniform(0, length / 2)
        name = f"{n_killed}.npz"
        n_killed += not fit_in_a_copy(folder, name, lambda passed, moment=moment: passed < moment)
    assert fit_in_a_copy(folder, "10.npz", lambda _: True)


if __name__ == "__main__":
    kill_ten_times(Path(sys.argv[1]))

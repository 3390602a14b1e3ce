"""Fits on a Dask cluster, compared with fits in memory and with dask-ml, for growing data."""

import pickle
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import environment  # noqa: F401  before modules that read its variables
import numpy as np
from effort import Effort
from peers import DASK, DASK_ML, is_installed
from quality import assign_rows
from timing import Run, compare, interleave, seconds, summary

from modeclust import KModes
from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.mode_pass import ModePass

N_WORKERS = 2  # and the number of threads in memory
MEMORY, CLUSTER = f"in memory, {N_WORKERS} threads", f"Dask, {N_WORKERS} processes"
MEANS_MEMORY, MEANS_CLUSTER = "K-means in memory", "K-means on Dask"


class Blobs(NamedTuple):
    """Rows around random centers. Every process can make any chunk itself."""

    n_rows: int
    n_features: int
    n_clusters: int
    chunk_rows: int

    def chunk(self, number: int) -> Any:
        """Return the rows of one chunk."""
        rng = np.random.default_rng([1, number])
        n_rows = min(self.chunk_rows, self.n_rows - number * self.chunk_rows)
        rows = rng.standard_normal((n_rows, self.n_features), dtype=np.float32) * 3
        return rows + self.centers()[rng.integers(self.n_clusters, size=n_rows)]

    def centers(self) -> Any:
        """Return the centers, all equally likely."""
        rng = np.random.default_rng(0)
        return rng.normal(scale=10, size=(self.n_clusters, self.n_features)).astype(np.float32)

    def in_memory(self) -> Any:
        """Return all rows."""
        return np.concatenate([self.chunk(number) for number in range(self.n_chunks)])

    def in_chunks(self) -> Any:
        """Return a Dask array that the workers keep."""
        import dask.array as da
        from dask import delayed
        from distributed import wait

        parts = [
            da.from_delayed(
                delayed(self.chunk)(number),
                (min(self.chunk_rows, self.n_rows - first), self.n_features),
                np.float32,
            )
            for number, first in enumerate(range(0, self.n_rows, self.chunk_rows))
        ]
        rows = da.concatenate(parts).persist()
        wait(rows)
        return rows

    @property
    def n_chunks(self) -> int:
        """The number of chunks."""
        return -(-self.n_rows // self.chunk_rows)

    def describe(self) -> str:
        """Return the shape in words."""
        return (
            f"blobs {self.n_rows:,} x {self.n_features} float32 in {self.n_chunks} chunks, "
            f"K={self.n_clusters}"
        )


class Passes:
    """The times of passes over chunks, and the bytes that K-modes passes return."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.bytes_back: list[int] = []
        self.whole = 0.0  # seconds of the whole fit

    @contextmanager
    def counted(self):
        """Count the passes within the context."""
        original = DaskDataset.run

        def run(rows, pass_):
            took, found = seconds(lambda: original(rows, pass_))
            self.seconds.append(took)
            if isinstance(pass_, ModePass):
                self.bytes_back.append(len(pickle.dumps(found)))
            return found

        with patch.object(DaskDataset, "run", run):
            yield self


@contextmanager
def cluster():
    """Open a cluster of worker processes with one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as workers,
        Client(workers) as client,
    ):
        yield client


def measure_chunks(effort: Effort):
    """Compare fits in memory with fits on two processes, and K-means with that of dask-ml."""
    if not is_installed(DASK):
        return None
    size = 100_000 if effort.quick else 2_000_000
    blobs = Blobs(size, 32, 50, size // 8)
    X = blobs.in_memory()
    start = X[np.random.default_rng(0).choice(size, 50, replace=False)].astype(np.float64)
    passes = Passes()
    with cluster():
        chunks = blobs.in_chunks()
        contestants = {MEMORY: _modes(X), CLUSTER: _modes(chunks)}
        small = blobs._replace(n_rows=8_000, chunk_rows=1_000)
        few = {name: _modes(rows) for name, rows in _both(small)}
        interleave(few, 1)  # imports all modules in each process
        runs = interleave(contestants, effort.long_repeats)
        means = {MEANS_MEMORY: _means(X, start), MEANS_CLUSTER: _means(chunks, start)}
        if is_installed(DASK_ML):
            means[DASK_ML] = _their_means(chunks, start)
        mean_runs = interleave(means, effort.long_repeats)
        with passes.counted():
            contestants[CLUSTER](0)
    farthest = np.abs(runs[CLUSTER][0].centers - runs[MEMORY][0].centers).max()
    inertias = {
        name: float(assign_rows(X, own[-1].centers)[1].sum()) for name, own in mean_runs.items()
    }
    compared = compare(mean_runs, MEANS_MEMORY)
    for name, own in compared.items():
        own["inertia"] = inertias[name] / inertias[MEANS_MEMORY]
    return {
        "data": blobs.describe(),
        "run": "KModes(50, n_init=1, bandwidth=6.0)",
        "contestants": compare(runs, MEMORY),
        "farthest": float(farthest),
        "n_passes": len(passes.seconds),
        "pass_seconds": _without_values(passes.seconds),
        "bytes_back": _without_values(passes.bytes_back),
        "means": compared,
    }


def _without_values(values):
    """Return the summary of hundreds of values."""
    found = summary(values)
    del found["values"]
    return found


def _both(blobs):
    return (MEMORY, blobs.in_memory()), (CLUSTER, blobs.in_chunks())


def _model(**options):
    return KModes(50, n_init=1, random_state=0, n_jobs=N_WORKERS, **options)


def _modes(rows):
    def fit(_repeat):
        model = _model(bandwidth=6.0)
        total, _ = seconds(lambda: model.fit(rows))
        return Run(total, model.n_iter_, model.cluster_centers_)

    return fit


def _means(rows, start):
    def fit(_repeat):
        options = {"bandwidth": np.inf, "max_iter": 20, "tol": 0, "n_jobs": N_WORKERS}
        model = KModes(len(start), init=start, **options)
        total, _ = seconds(lambda: model.fit(rows))
        return Run(total, model.n_iter_, model.cluster_centers_)

    return fit


def _their_means(rows, start):
    from dask_ml.cluster import KMeans

    def fit(_repeat):
        model = KMeans(len(start), init=start, max_iter=20, tol=0)
        total, _ = seconds(lambda: model.fit(rows))
        return Run(total, model.n_iter_, model.cluster_centers_)

    return fit


def measure_scale(effort: Effort):
    """Predict the times of fits of many rows from a fit of few rows, and compare.

    In this model, each pass takes a fixed time, to reach the workers and to merge, and a time per
    row. The whole fit takes another time per row, for the few passes that take longer: the first
    ones, without bounds, and the last one, for the densities between modes.
    """
    if not is_installed(DASK):
        return None
    sizes = (20_000, 50_000) if effort.quick else (1_000_000, 10_000_000)
    few, *many = (sizes[0] // 10, *sizes)
    found: dict[str, Any] = {"n_workers": N_WORKERS, "n_features": 100, "n_clusters": 50}
    with cluster():
        _fit_counted(_wide(few))  # imports all modules in each process
        wait_alone = _fit_counted(_wide(1_000))
        base = _fit_counted(_wide(few))
        latency, usual = (float(np.median(p.seconds)) for p in (wait_alone, base))
        each = (usual - latency) / few
        once = (sum(base.seconds) - len(base.seconds) * usual) / few
        found |= {"rows": few, "latency": latency, "pass_per_row": each, "once_per_row": once}
        found["runs"] = []
        for n_rows in many:
            passes = _fit_counted(_wide(n_rows))
            n_passes = len(passes.seconds)
            found["runs"].append(
                {
                    "n_rows": n_rows,
                    "n_passes": n_passes,
                    "predicted": n_passes * (latency + each * n_rows) + once * n_rows,
                    "seconds": sum(passes.seconds),
                    "whole_fit": passes.whole,
                    "bytes_back": _without_values(passes.bytes_back),
                }
            )
    return found


def _wide(n_rows):
    return Blobs(n_rows, 100, 50, min(100_000, -(-n_rows // 4)))


def _fit_counted(blobs):
    rows, passes = blobs.in_chunks(), Passes()
    with passes.counted():
        passes.whole, _ = seconds(lambda: _model(bandwidth=15.0).fit(rows))
    return passes

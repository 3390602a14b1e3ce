"""The time that bounds save, by the numbers of features and clusters."""

from dataclasses import replace
from itertools import product
from statistics import mean
from typing import Any

import numpy as np
from effort import Effort
from paths import WatchedRows
from timing import Run, compare, interleave, seconds
from workloads import blobs

from modeclust.data.dataset import pass_assigns
from modeclust.data.mean_pass import MeanPass
from modeclust.data.memory import MemoryDataset
from modeclust.kernels import GAUSSIAN
from modeclust.solvers.kmeans import solve_kmeans
from modeclust.solvers.kmodes import State, automatic_start, follow_path, schedule
from modeclust.solvers.options import SolverOptions

NONE, BOUNDS = "none", "bounds"
FEATURES, CLUSTERS = (1, 2, 16, 64, 784), (2, 10, 64, 256, 1024)
KMEANS_ITER = 20
N_BANDWIDTHS, PATH_ITER, NARROWED = 10, 5, 4  # the path ends at a quarter of its start


class RowsWithoutBounds(MemoryDataset):
    """Rows without bounds: each pass that assigns searches the nearest center of every row."""

    def __init__(self, X, *, n_clusters):
        super().__init__(X, n_clusters=n_clusters)
        self._n_clusters = n_clusters
        self._means: Any = None  # the sums of the last K-means pass

    def run(self, pass_):
        if not pass_assigns(pass_):
            return super().run(pass_)
        before = self.rows.labels
        self.rows = MemoryDataset(self.X, n_clusters=self._n_clusters).rows
        if not isinstance(pass_, MeanPass):
            found = super().run(pass_)
        else:
            found = total = super().run(replace(pass_, after=None))
            if pass_.after is not None:
                changes = {
                    name: getattr(total, name) - getattr(self._means, name)
                    for name in ("mass", "totals", "counts")
                }
                found = replace(total, **changes)
            self._means = total
        return replace(found, changed=np.count_nonzero(self.rows.labels != before))


DATASETS = {NONE: RowsWithoutBounds, BOUNDS: MemoryDataset}


def measure_bounds(effort: Effort):
    """Return the times of K-means and of a path, with and without bounds."""
    clusters = CLUSTERS[:3] if effort.quick else CLUSTERS
    return [_measure_cell(*cell, effort) for cell in product(FEATURES, clusters)]


def _measure_cell(n_features, n_clusters, effort: Effort):
    n_rows = (2_000 if effort.quick else 50_000) if n_features < 100 else 16 * n_clusters + 4_000
    X = blobs(n_rows, n_features, n_clusters, std=4)
    searched: dict[tuple[str, str], float] = {}

    def contestant(part, kind):
        def run(_repeat):
            watched = WatchedRows(DATASETS[kind](X, n_clusters=n_clusters))
            total, n_iter = seconds(lambda: work[part](watched))
            searched[part, kind] = mean(watched.searched) / n_rows
            return Run(total, n_iter)

        return run

    start = X[:n_clusters].astype(np.float64)
    means = _kmeans(X, start)
    rows = MemoryDataset(X, n_clusters=n_clusters)
    widest = automatic_start(rows, means.centers, SolverOptions(GAUSSIAN), target=0.0)
    work = {
        "K-means": lambda rows: (
            solve_kmeans(rows, start, max_iter=KMEANS_ITER, tolerance=0.0).n_iter
        ),
        "path": lambda rows: _walk(rows, means, widest),
    }
    parts = {}
    for part in work:
        contestants = {kind: contestant(part, kind) for kind in DATASETS}
        interleave(contestants, 1)
        parts[part] = {
            "contestants": compare(interleave(contestants, effort.repeats), NONE),
            "searched": {kind: searched[part, kind] for kind in DATASETS},
        }
    return {"shape": [*X.shape, n_clusters]} | parts


def _kmeans(X, start) -> State:
    with MemoryDataset(X, n_clusters=len(start)) as rows:
        return solve_kmeans(rows, start, max_iter=KMEANS_ITER, tolerance=0.0)


def _walk(rows, means: State, widest) -> int:
    bandwidths = schedule(widest, widest / NARROWED, N_BANDWIDTHS)
    options = SolverOptions(GAUSSIAN, PATH_ITER, PATH_ITER)
    states = follow_path(rows, means.centers, bandwidths, options)
    return sum(state.n_iter for state in states)

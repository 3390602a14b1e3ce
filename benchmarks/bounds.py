"""What bounds spare: none, Hamerly's, and groups of centroids, over features and clusters."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from statistics import mean
from unittest.mock import patch

import numpy as np
from effort import Effort
from paths import WatchedRows
from timing import Run, compare, interleave, seconds
from workloads import blobs

from modeclust.algorithms.homotopy import automatic_start, follow, schedule
from modeclust.algorithms.solve import State, solve_kmeans
from modeclust.data import bounds
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import FEWEST_FOR_PRODUCTS
from modeclust.kernels import GAUSSIAN

NONE, HAMERLY, GROUPS = "none", "Hamerly's", "groups"
FEATURES, CLUSTERS = (1, 2, 16, 64, 784), (2, 10, 64, 256, 1024)
FEWEST_GROUPED = 16  # the least K that makes two groups
KMEANS_ITER = 20
N_BANDWIDTHS, PATH_ITER, NARROWED = 10, 5, 4  # the path ends at a quarter of its start


def measure_bounds(effort: Effort):
    """Return the times of K-means and of a path with each kind of bounds."""
    clusters = CLUSTERS[:3] if effort.quick else CLUSTERS
    return [_measure_cell(*cell, effort) for cell in product(FEATURES, clusters)]


def _measure_cell(n_features, n_clusters, effort: Effort):
    n_rows = (2_000 if effort.quick else 50_000) if n_features < 100 else 16 * n_clusters + 4_000
    X = blobs(n_rows, n_features, n_clusters, std=4)
    kinds = [NONE, HAMERLY]
    if n_features >= FEWEST_FOR_PRODUCTS and n_clusters >= FEWEST_GROUPED:
        kinds.append(GROUPS)
    searched: dict[tuple[str, str], float] = {}

    def contestant(part, kind):
        def run(_repeat):
            with MemoryDataset(X, n_clusters=n_clusters) as rows, _only(kind):
                watched = WatchedRows(rows)
                total, n_iter = seconds(lambda: work[part](watched))
            searched[part, kind] = mean(watched.searched) / n_rows
            return Run(total, n_iter)

        return run

    start = X[:n_clusters].astype(np.float64)
    means = _kmeans(X, start)
    with MemoryDataset(X, n_clusters=n_clusters) as rows:
        widest = automatic_start(rows, means, GAUSSIAN, target=0.0)
    work = {
        "K-means": lambda rows: (
            solve_kmeans(rows, start, max_iter=KMEANS_ITER, tolerance=0.0).n_iter
        ),
        "path": lambda rows: _walk(rows, means, widest),
    }
    parts = {}
    for part in work:
        contestants = {kind: contestant(part, kind) for kind in kinds}
        interleave(contestants, 1)
        parts[part] = {
            "contestants": compare(interleave(contestants, effort.repeats), NONE),
            "searched": {kind: searched[part, kind] for kind in kinds},
        }
    grouped = bounds.group_size(X, n_clusters, n_features) > 0
    return {"shape": [*X.shape, n_clusters], "chosen": GROUPS if grouped else HAMERLY} | parts


def _kmeans(X, start) -> State:
    with MemoryDataset(X, n_clusters=len(start)) as rows:
        return solve_kmeans(rows, start, max_iter=KMEANS_ITER, tolerance=0.0)


def _walk(rows, means: State, widest) -> int:
    states = follow(
        rows,
        means.centroids,
        schedule(widest, widest / NARROWED, N_BANDWIDTHS),
        kernel=GAUSSIAN,
        path_iter=PATH_ITER,
        max_iter=PATH_ITER,
        mean_shift_iter=1,
        tol=1e-4,
    )
    return sum(state.n_iter for state in states)


@contextmanager
def _only(kind) -> Iterator[None]:
    """Have the library use one kind of bounds, whatever it would choose."""
    fewest = {NONE: np.inf, HAMERLY: np.inf, GROUPS: FEWEST_GROUPED}[kind]
    with (
        patch.multiple(bounds, FEWEST_FOR_GROUPS=fewest, FEWEST_NUMBERS=0, GROUP_MEMORY=np.inf),
        patch.object(bounds.Bounds, "carry", _carry_none if kind == NONE else bounds.Bounds.carry),
    ):
        yield


def _carry_none(self, state, X):
    state.anchor = self._centroids
    state.forget_bounds(len(self._centroids))
    return False

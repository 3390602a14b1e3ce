"""Starting centers that far rows cannot spoil.

K-means gives a far outlier a center of its own, because that lowers the inertia most. At a finite
bandwidth, a row adds at most 1 to the objective of K-modes, so that center does more good
elsewhere. It cannot get there by small steps. So centers are added where rows are badly served, and
as many are removed where they are missed least, as in breathing K-means (Fritzke, 2020,
arXiv:2006.15666).
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.distance_pass import KernelValuePass, OwnDistancePass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import to_unit_length
from modeclust.data.sample import Sample
from modeclust.kernels import GAUSSIAN
from modeclust.solvers.kmeans import lower_inertia, mean_variance, solve_kmeans
from modeclust.solvers.kmodes import (
    SMALLEST_BANDWIDTH,
    Centers,
    State,
    assign,
    inverse_square,
    solve_on_path,
)
from modeclust.solvers.options import SolverOptions

# The bandwidth of the search, in radii. Below this, small clusters that are far from the others
# count as outliers.
WIDTH = 3.0
# The objective must rise by more than this share of it for a change to be accepted.
LEAST_RISE = 1e-4
MAX_ROUNDS = 10
# The search ends after this many changes in a row that were not accepted. With one, it missed a
# center on outliers in 4 of 240 fits of iris; with two, in none.
MAX_REJECTED = 2
# If the radius falls below this share of the last one, the search is repeated with it.
SHRUNK = 0.9
MAX_REPEATS = 8
# A center that is added starts this share of the way from an old center to a row.
SPLIT = 0.01
# Iterations before a change is judged.
FEW = SolverOptions(GAUSSIAN, max_iter=3, tol=0.0)
# At most this many distances of rows to centers are kept in memory.
MAX_DISTANCES = 20_000_000
# K-means runs on a sample, of which the best is improved.
N_SAMPLE_RUNS = 3


class Start(NamedTuple):
    """Where a path starts."""

    centers: Centers
    radius: float  # the median distance of the rows to their centers


def robust_start(pool: Sample, means: Centers, rng: np.random.RandomState, n_threads: int) -> Start:
    """Return centers to start from: those of K-means, unless moving some raises the objective.

    `pool` is a sample of the rows, without copies. The bandwidth of the objective is three times
    the radius.
    """
    search = Breathing(pool, len(means), rng, n_threads)
    centers, radius = means, search.radius(means)
    n_accepted = 0
    for _ in range(MAX_REPEATS):
        found, accepted = search.run(centers, WIDTH * radius, MAX_REJECTED)
        n_accepted += accepted
        before, shrunk = radius, search.radius(found)
        centers = found
        if not shrunk < SHRUNK * before:
            break
        radius = shrunk
    if not n_accepted:
        centers = means
    return Start(centers, search.radius(centers))


def median_radius(distances: npt.NDArray[np.float64], weight: npt.NDArray[np.float64]) -> float:
    """Return the weighted median of the distances of rows to their centers.

    If it is 0, the smallest positive distance; 1 if there is none.
    """
    order = np.argsort(distances, kind="stable")
    below = np.cumsum(weight[order])
    median = distances[order[np.searchsorted(below, below[-1] / 2)]]
    if not median > SMALLEST_BANDWIDTH:
        median = distances.min(initial=np.inf, where=distances > SMALLEST_BANDWIDTH)
    return float(median) if np.isfinite(median) else 1.0


def improved_seeds(
    pool: Sample,
    seeds: Iterator[Centers],
    n_clusters: int,
    options: SolverOptions,
    rng: np.random.RandomState,
    n_threads: int,
) -> Iterator[Centers]:
    """Yield the best of a few K-means runs on a sample, with some centers moved if that is better.

    One run over all rows from there has about the inertia of the best of ten, in less time.
    """
    dataset = MemoryDataset(
        pool.rows(), weight=pool.weight, n_clusters=n_clusters, n_threads=n_threads
    )
    tolerance = options.tol * mean_variance(dataset)
    while True:
        best = None
        for centers in islice(seeds, N_SAMPLE_RUNS):
            run = solve_kmeans(dataset, centers, max_iter=options.max_iter, tolerance=tolerance)
            best = lower_inertia(best, run)
        assert best is not None
        yield Breathing(pool, n_clusters, rng, n_threads).run(best.centers, np.inf)[0]


class Breathing:
    """Moves centers to where they raise the objective most, on a sample of the rows."""

    def __init__(
        self, pool: Sample, n_clusters: int, rng: np.random.RandomState, n_threads: int
    ) -> None:
        n_rows = max(MAX_DISTANCES // (2 * n_clusters), 2 * n_clusters)
        step = -(-len(pool.weight) // n_rows)
        self._weight = pool.weight[::step].copy()
        self._rng = rng
        self._dataset = MemoryDataset(
            pool.rows(step), weight=self._weight, n_clusters=2 * n_clusters, n_threads=n_threads
        )

    def run(self, centers: Centers, bandwidth: float, max_rejected: int = 1) -> tuple[Centers, int]:
        """Return better centers, and how many changes were accepted."""
        state, _ = solve_on_path(self._dataset, centers, bandwidth, FEW)
        n_accepted = n_rejected = 0
        while n_accepted < MAX_ROUNDS and n_rejected < max_rejected:
            more = np.concatenate([state.centers, self._split(state)])
            larger, _ = solve_on_path(self._dataset, more, bandwidth, FEW)
            kept = self._best(larger.centers, bandwidth, len(centers))
            changed, _ = solve_on_path(self._dataset, larger.centers[kept], bandwidth, FEW)
            if _has_improved(state, changed):
                state, n_accepted, n_rejected = changed, n_accepted + 1, 0
            else:
                n_rejected += 1
        return state.centers, n_accepted

    def radius(self, centers: Centers) -> float:
        """Return the median distance of the rows to their nearest centers."""
        assign(self._dataset, centers)
        return median_radius(np.sqrt(self._own_distances(centers)), self._weight)

    def _own_distances(self, centers: Centers) -> npt.NDArray[np.float64]:
        return self._dataset.run(OwnDistancePass(centers)).squared

    def _split(self, state: State) -> Centers:
        """Return new centers next to those of rows that are far from theirs."""
        squared = self._own_distances(state.centers)
        if np.isfinite(state.bandwidth):
            squared = -np.expm1(-0.5 * inverse_square(state.bandwidth) * squared)
        chances = self._weight * squared
        n_drawn = min(len(state.centers), len(chances))
        # The rows with the largest u^(1/p) are a sample with the chances p, without replacement
        # (Efraimidis & Spirakis, 2006).
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            keys = np.log(self._rng.uniform(size=len(chances))) / (chances / chances.max())
        drawn = np.argsort(-np.nan_to_num(keys), kind="stable")[:n_drawn]
        own = state.centers[self._dataset.labels_at(drawn)]
        new = np.asarray(own + SPLIT * (self._dataset.take(drawn).dense() - own))
        return to_unit_length(new) if self._dataset.unit_length else new

    def _best(self, centers: Centers, bandwidth: float, n_kept: int) -> npt.NDArray[np.int64]:
        """Return which centers are left if those are removed that the rows miss least."""
        values = np.empty((len(self._weight), len(centers)))
        if np.isfinite(bandwidth):
            pass_ = KernelValuePass(centers, GAUSSIAN, inverse_square(bandwidth), values)
            self._dataset.run(pass_)
            losses = np.negative(values, out=values)
        else:
            distances = self._dataset.distances(centers)
            losses = np.multiply(np.square(distances), self._weight[:, None], out=values)
        return _core.prune_centers(losses, np.ones(len(losses)), n_kept)


def _has_improved(before: State, after: State) -> bool:
    if np.isinf(before.bandwidth):
        return after.inertia < (1 - LEAST_RISE) * before.inertia
    return after.objective > (1 + LEAST_RISE) * before.objective

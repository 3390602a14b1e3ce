"""K-means: seeding, one run, and restarts."""

import copy
from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust._core import center_moves
from modeclust.data.dataset import Dataset
from modeclust.data.mean_pass import FarthestPass, MeanPass, MeanSums
from modeclust.data.mode_pass import ModeSums
from modeclust.data.reading import core_rows
from modeclust.data.sample import Sample
from modeclust.solvers.kmodes import Centers, State, assign, state_of

# Seeds are drawn from at most this many rows, or this many per cluster if that is more: a random
# sample if there are more rows. K-means itself runs on all rows.
ROWS_FOR_SEEDS = 4096
ROWS_FOR_SEEDS_PER_CLUSTER = 50
# The sums of a cluster are recomputed if its mass has shrunk below this share of the largest mass
# it has had: most of their digits have cancelled.
CANCELLED = 1e-3
# All sums are recomputed if the relative error of a mean exceeds this.
DRIFTED = 1e-6
# Rows that differ from their mean by less than this share of its norm may all be equal.
NO_SPREAD = 1e-12


def distinct_rows(dataset: Dataset, n_clusters: int, rng: np.random.RandomState) -> Sample:
    """Return distinct rows to draw seeds from: of a sample, or all if that has too few."""
    wanted = max(ROWS_FOR_SEEDS, ROWS_FOR_SEEDS_PER_CLUSTER * n_clusters)
    pool = dataset.sample(wanted, rng).distinct(in_place=True)
    if len(pool.weight) < n_clusters and wanted < dataset.n_rows:
        pool = dataset.distinct()
    return pool


def check_distinct(pool: Sample, n_clusters: int) -> None:
    """Raise an error if there are fewer distinct rows than clusters."""
    if len(pool.weight) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of distinct rows of X with a "
            f"positive weight, {len(pool.weight)}; lower n_clusters."
        )


def draw_seeds(
    pool: Sample,
    n_clusters: int,
    init: str,
    rng: np.random.RandomState,
    n_threads: int = 1,
) -> Iterator[Centers]:
    """Yield initial centers for each restart, by "k-means++" or "random".

    If there are fewer distinct rows than clusters, some are there more than once.
    """
    chances = pool.weight / pool.weight.sum()
    rows = core_rows(pool.X, n_threads=n_threads)
    if len(chances) < n_clusters:
        yield from repeat(np.resize(pool.dense(), (n_clusters, pool.X.shape[1])))
    while True:
        if init == "random":
            yield pool.dense(rng.choice(len(chances), n_clusters, replace=False, p=chances))
        else:
            yield _draw_far_apart(pool, rows, chances, n_clusters, rng)


def _draw_far_apart(
    pool: Sample,
    rows: _core.Rows,
    chances: npt.NDArray[np.float64],
    n_clusters: int,
    rng: np.random.RandomState,
) -> Centers:
    """Draw rows that are far apart, by greedy k-means++ (Arthur & Vassilvitskii, 2007).

    The first row is drawn by weight. For each of the others, a few candidates are drawn by weight
    times squared distance to the nearest row chosen so far. The candidate that lowers the sum of
    these products most is chosen. Random numbers are used in the same order as in scikit-learn, so
    the same rows are drawn.
    """
    n_candidates = 2 + int(np.log(n_clusters))
    seeds = pool.dense([rng.choice(len(chances), p=chances)]).repeat(n_clusters, axis=0)
    distances = np.empty((len(chances), 1))
    _core.distances(rows, seeds[:1], distances)
    nearest = np.square(distances, out=distances)[:, 0]
    squares, products = np.empty((2, len(chances), n_candidates))
    for k in range(1, n_clusters):
        total = (chances * nearest).cumsum()
        drawn = total.searchsorted(rng.uniform(size=n_candidates) * total[-1])
        candidates = pool.X[np.minimum(drawn, len(total) - 1)]
        if not isinstance(candidates, np.ndarray):
            candidates = candidates.toarray()
        candidates = np.asarray(candidates, dtype=np.float64)
        _core.distances(rows, candidates, squares)
        np.square(squares, out=squares)
        np.minimum(squares, nearest[:, None], out=squares)
        # A matrix product would use BLAS, whose threads keep spinning and slow down later passes.
        np.multiply(squares, chances[:, None], out=products)
        best = np.add.reduce(products, axis=0).argmin()
        seeds[k] = candidates[best]
        nearest = squares[:, best].copy()
    return seeds


def restart_kmeans(
    dataset: Dataset, seeds: Iterable[Centers], *, max_iter: int, tol: float
) -> Iterator[State]:
    """Yield the state that K-means reaches from each of the `seeds`."""
    tolerance = tol * mean_variance(dataset)
    for centers in seeds:
        yield solve_kmeans(dataset, centers, max_iter=max_iter, tolerance=tolerance)


def lower_inertia(best: State | None, run: State) -> State:
    """Return the better of two K-means runs.

    The first one is kept if the difference may be a rounding error.
    """
    return run if best is None or run.inertia < (1 - 1e-9) * best.inertia else best


def solve_kmeans(dataset: Dataset, centers: Centers, *, max_iter: int, tolerance: float) -> State:
    """Run Lloyd's K-means from `centers`, with the stopping rule of scikit-learn.

    Stops if no label changes, if the sum of the squared moves of all centers is at most
    `tolerance`, or after `max_iter` iterations. A cluster without weight takes the row that is
    farthest from its center.
    """
    n_iter, residual, converged = 0, np.inf, False
    means = RunningMeans(dataset, centers)
    while n_iter < max_iter and not converged:
        sums, refilled = means.sums, False
        if 0.0 in sums.mass:
            sums, refilled = _refill_empty(dataset, centers, sums)
        n_iter += 1
        # Labels that an earlier run left do not count in the first iteration.
        settled = n_iter > 1 and means.changed == 0 and not refilled
        residual = 0.0
        if not settled:
            moved = sums.moved(centers)
            residual, squares, _ = center_moves(centers, moved, n_threads=sums.n_threads)
            settled = squares <= tolerance
            means.assign(moved)
            centers = moved
        converged = settled and not means.renew_if_drifted()
    exact = means.exact if converged else assign(dataset, centers)
    return state_of(np.inf, centers, exact, n_iter, residual, converged)


class RunningMeans:
    """The sums of K-means, updated by the changes of each pass."""

    exact: ModeSums  # at the last centers; set by `renew_if_drifted`

    def __init__(self, dataset: Dataset, centers: Centers) -> None:
        self._dataset = dataset
        self._centers = centers
        self.sums = dataset.run(MeanPass(centers))
        self.changed = dataset.n_rows
        self._n_rows = self.sums.counts.sum()
        self._largest_mass = self.sums.mass.copy()

    def assign(self, centers: Centers) -> None:
        """Assign all rows to new centers."""
        change = self._dataset.run(MeanPass(centers, after=self._centers))
        self.changed = change.changed
        self._centers = centers
        sums = self.sums
        sums.merge(change)
        if 0 in sums.counts:
            empty = sums.counts == 0
            sums.mass[empty] = 0.0
            sums.totals[empty] = 0.0
        np.maximum(self._largest_mass, sums.mass, out=self._largest_mass)
        # If most rows left a cluster, its sums are mostly rounding errors. If a dataset lost the
        # labels of some rows, it has added those rows twice.
        cancelled = (sums.mass < CANCELLED * self._largest_mass) & (sums.counts != 0)
        if True in cancelled or sums.counts.sum() != self._n_rows:
            self._renew()

    def renew_if_drifted(self) -> bool:
        """Recompute the sums if rounding errors have accumulated; return whether they had.

        This happens if a row with huge coordinates joins a cluster and leaves it again.
        """
        self.exact = assign(self._dataset, self._centers)
        exact = self.exact.moved(self._centers)
        *_, agrees = center_moves(exact, self.sums.moved(self._centers), rounding=DRIFTED)
        if not agrees:
            self._renew()
            self.changed = self._dataset.n_rows
        return not agrees

    def _renew(self) -> None:
        self.sums = self._dataset.run(MeanPass(self._centers))
        self._largest_mass = self.sums.mass.copy()


def _refill_empty(dataset: Dataset, centers: Centers, sums: MeanSums) -> tuple[MeanSums, bool]:
    """Return sums in which the rows farthest from their centers are moved to empty clusters.

    Also return whether there are such rows: those that are at their centers stay.
    """
    empty = np.flatnonzero(sums.mass == 0)
    farthest = dataset.run(FarthestPass(centers, len(empty)))
    if not farthest.distances.max(initial=0.0) > 0:
        return sums, False
    sums = copy.deepcopy(sums)
    donors = dataset.labels_at(farthest.indices)
    points = dataset.take(farthest.indices).dense()
    for k, donor, x, weight in zip(empty, donors, points, farthest.weights, strict=False):
        sums.mass[k] = weight
        sums.totals[k] = weight * x
        sums.mass[donor] -= weight
        sums.totals[donor] -= weight * x
        if sums.mass[donor] <= 1e-9 * weight:  # a rounding error
            sums.mass[donor] = 0.0
    return sums, True


def mean_variance(dataset: Dataset) -> float:
    """Return the weighted variance of the rows, averaged over the features."""
    origin = np.zeros((1, dataset.n_features))
    mean = assign(dataset, origin).moved(origin)
    sums = assign(dataset, mean)
    inertia = sums.inertia
    if inertia <= sums.mass[0] * (NO_SPREAD * np.linalg.norm(mean)) ** 2:
        # Equal rows differ from their mean by its rounding error, but not from each other.
        row = dataset.sample(1, np.random.RandomState(0)).dense()
        inertia = min(inertia, assign(dataset, row).inertia)
    return float(inertia / sums.mass[0] / dataset.n_features)

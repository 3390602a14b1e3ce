"""K-modes at one bandwidth, and K-means, which is K-modes at an infinite one."""

import copy
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from modeclust._core import center_moves
from modeclust.data.dataset import Dataset
from modeclust.data.farthest_pass import FarthestPass
from modeclust.data.mean_pass import MeanPass, MeanSums
from modeclust.data.mode_pass import ModePass, ModeSums
from modeclust.kernels import GAUSSIAN
from modeclust.solvers.relaxation import Relaxation

Centers = npt.NDArray[np.float64]

# Below this, in units in which the rows are about 1, t would not be finite.
SMALLEST_BANDWIDTH = 1e-120
# A move this small beside the centroid is the rounding of its coordinates.
ROUNDING = 1e-15
# The sums of a cluster that shrank to less than this share are recomputed, since most of their
# digits have cancelled.
CANCELLED = 1e-3
# The sums of all clusters are recomputed if a mean is off by this share of its coordinates.
DRIFTED = 1e-6
# Rows that differ from their mean by less, beside its length, may all be equal.
NO_SPREAD = 1e-12


class State(NamedTuple):
    """Centroids at one bandwidth, and what the pass that ended there measured."""

    bandwidth: float
    centroids: Centers
    objective: float  # L / sum of weights
    inertia: float
    counts: npt.NDArray[np.int64]
    nearest: npt.NDArray[np.int64]  # the row nearest each centroid in its cluster
    unsupported: npt.NDArray[np.bool_]  # clusters with rows, but none in the support
    n_iter: int
    residual: float  # the longest mode step of the last iteration
    converged: bool
    # Of soft clusterings; the labels of others are kept by the rows.
    labels: npt.NDArray[np.int32] | None = None
    memberships: npt.NDArray[np.float64] | None = None  # (N, K)
    history: tuple[float, ...] = ()  # L after each iteration
    # Of hard clusterings: the weights of the mode step, as in `ModeSums`. Not of a state that was
    # measured on the way to another bandwidth.
    mass: npt.NDArray[np.float64] | None = None
    reference: npt.NDArray[np.float64] | None = None


class SupportsModePasses(Protocol):
    """What `solve` needs of a dataset."""

    def run(self, pass_: ModePass, /) -> ModeSums:
        """Run a pass over all rows, and return its merged result."""


def inverse_square(bandwidth: float) -> float:
    """Return 1 / bandwidth^2, which is 0 for an infinite bandwidth."""
    return float(max(bandwidth, SMALLEST_BANDWIDTH) ** -2.0)


def solve(
    dataset: SupportsModePasses,
    centroids: Centers,
    bandwidth: float,
    *,
    kernel: int,
    max_iter: int,
    mean_shift_iter: int = 1,
    tol: float = 1e-4,
) -> State:
    """Alternate assignment and `mean_shift_iter` mode steps until nothing moves.

    Stops when no label changes and no mode step is longer than `tol` bandwidths, or after
    `max_iter` iterations. Single mode steps that creep are made longer (`Relaxation`). The
    state returned is that of one last assignment: its labels, counts and objective belong to
    its centroids.
    """
    state, _ = solve_towards_next(
        dataset,
        centroids,
        bandwidth,
        None,
        kernel=kernel,
        max_iter=max_iter,
        mean_shift_iter=mean_shift_iter,
        tol=tol,
    )
    return state


def solve_towards_next(
    dataset: SupportsModePasses,
    centroids: Centers,
    bandwidth: float,
    initial_sums: ModeSums | None,
    *,
    kernel: int,
    max_iter: int,
    mean_shift_iter: int,
    tol: float,
    next_bandwidth: float | None = None,
) -> tuple[State, ModeSums | None]:
    """Do the same as `solve` on a path to `next_bandwidth`, with fewer passes.

    If `max_iter` ends the iteration, the last pass runs at the next bandwidth, and measures the
    objective at this one too. Its sums are returned: pass them as `initial_sums` at the next
    bandwidth.
    """
    n_iter, residual, converged = 0, np.inf, False
    scale = inverse_square(bandwidth)
    relaxation = Relaxation()
    sums = initial_sums or dataset.run(ModePass(centroids, kernel, scale))
    while n_iter < max_iter:
        moved = sums.moved(centroids)
        for _ in range(mean_shift_iter - 1):
            moved = dataset.run(ModePass(moved, kernel, scale, reassign=False)).moved(moved)
        n_iter += 1
        residual, _, still = center_moves(centroids, moved, tol * bandwidth, ROUNDING)
        converged = still and sums.changed == 0
        if converged:
            break
        centroids = relaxation.next(centroids, moved) if mean_shift_iter == 1 else moved
        if n_iter == max_iter and next_bandwidth is not None:
            pass_ = ModePass(
                centroids, kernel, inverse_square(next_bandwidth), inverse_squared_previous=scale
            )
            next_sums = dataset.run(pass_)
            # Another pass at the next bandwidth would change no label.
            return (
                _state(
                    bandwidth, centroids, next_sums, n_iter, residual, converged, at_previous=True
                ),
                replace(next_sums, changed=0),
            )
        sums = dataset.run(ModePass(centroids, kernel, scale))
    return _state(bandwidth, centroids, sums, n_iter, residual, converged), None


def solve_kmeans(dataset: Dataset, centroids: Centers, *, max_iter: int, tolerance: float) -> State:
    """Run Lloyd's K-means from `centroids`, by scikit-learn's rules.

    It stops when no label changes, when the squared moves of all centroids sum to at most
    `tolerance`, or after `max_iter` iterations. A cluster with no weight takes the row
    farthest from its centroid.
    """
    n_iter, residual, converged = 0, np.inf, False
    means = RunningMeans(dataset, centroids)
    while n_iter < max_iter and not converged:
        sums, refilled = _refill_empty(dataset, centroids, means.sums)
        n_iter += 1
        # The labels of the first pass are new, whatever run left the old ones.
        still = n_iter > 1 and means.changed == 0 and not refilled
        residual = 0.0
        if not still:
            moved = sums.moved(centroids)
            residual, squares, _ = center_moves(centroids, moved)
            still = squares <= tolerance
            means.assign(moved)
            centroids = moved
        converged = still and not means.renew_if_drifted()
    exact = means.exact if converged else assign(dataset, centroids)
    return _state(np.inf, centroids, exact, n_iter, residual, converged)


class RunningMeans:
    """The sums of K-means, updated by the changes of each pass."""

    exact: ModeSums  # at the last centroids, by `renew_if_drifted`

    def __init__(self, dataset: Dataset, centroids: Centers) -> None:
        self._dataset = dataset
        self._centroids = centroids
        self.sums = dataset.run(MeanPass(centroids))
        self.changed = dataset.n_rows
        self._n_rows = self.sums.counts.sum()
        self._largest = self.sums.mass.copy()

    def assign(self, centroids: Centers) -> None:
        """Assign all rows to new centroids."""
        change = self._dataset.run(MeanPass(centroids, after=self._centroids))
        self.changed = change.changed
        self._centroids = centroids
        self.sums.merge(change)
        empty = self.sums.counts == 0
        self.sums.mass[empty] = 0.0
        self.sums.totals[empty] = 0.0
        self._largest = np.maximum(self._largest, self.sums.mass)
        # Rounding errors remain where most rows left a cluster; and a dataset that lost the
        # labels of some rows has added those rows twice.
        cancelled = np.any(self.sums.mass < CANCELLED * self._largest, where=~empty)
        if cancelled or self.sums.counts.sum() != self._n_rows:
            self._renew()

    def renew_if_drifted(self) -> bool:
        """Take the sums anew if rounding took them away from the rows; return if it did.

        A row with huge coordinates that came and went leaves its rounding in a cluster.
        """
        self.exact = assign(self._dataset, self._centroids)
        exact = self.exact.moved(self._centroids)
        *_, agrees = center_moves(exact, self.sums.moved(self._centroids), rounding=DRIFTED)
        if not agrees:
            self._renew()
            self.changed = self._dataset.n_rows
        return not agrees

    def _renew(self) -> None:
        self.sums = self._dataset.run(MeanPass(self._centroids))
        self._largest = self.sums.mass.copy()


def evaluate(dataset: Dataset, state: State, centroids: Centers, kernel: int) -> State:
    """Return `state` with other centroids, and what a pass at its bandwidth measures there."""
    sums = dataset.run(ModePass(centroids, kernel, inverse_square(state.bandwidth)))
    return restate(state, centroids, sums)


def restate(state: State, centroids: Centers, sums: ModeSums) -> State:
    """Return `state` with other centroids, and with what was measured there."""
    return _state(state.bandwidth, centroids, sums, state.n_iter, state.residual, state.converged)


def assign(dataset: Dataset, centroids: Centers) -> ModeSums:
    """Give each row the label of its nearest centroid, and return the sums of K-means."""
    # Every kernel pulls by 1 at t = 0, so that any of them will do.
    return dataset.run(ModePass(centroids, GAUSSIAN, inverse_squared_bandwidth=0.0))


def largest_move(before: Centers, after: Centers) -> float:
    """Return how far the centroid that moved farthest moved."""
    return center_moves(before, after)[0]


def spread(dataset: Dataset) -> float:
    """Return the weighted variance of the rows, averaged over the features."""
    origin = np.zeros((1, dataset.n_features))
    mean = assign(dataset, origin).moved(origin)
    sums = assign(dataset, mean)
    inertia = sums.inertia
    if inertia <= sums.mass[0] * (NO_SPREAD * np.linalg.norm(mean)) ** 2:
        # Equal rows differ from their mean by its rounding, and from each other by nothing.
        row = dataset.sample(1, np.random.RandomState(0)).dense()
        inertia = min(inertia, assign(dataset, row).inertia)
    return float(inertia / sums.mass[0] / dataset.n_features)


def _refill_empty(dataset: Dataset, centroids: Centers, sums: MeanSums) -> tuple[MeanSums, bool]:
    """Return sums in which the rows farthest from their centroids refill empty clusters."""
    empty = np.flatnonzero(sums.mass == 0)
    if len(empty) == 0:
        return sums, False
    sums = copy.deepcopy(sums)
    farthest = dataset.run(FarthestPass(centroids, len(empty)))
    donors = dataset.labels_at(farthest.indices)
    points = dataset.take(farthest.indices).dense()
    for k, donor, x, pull in zip(empty, donors, points, farthest.weights, strict=False):
        sums.mass[k] = pull
        sums.totals[k] = pull * x
        sums.mass[donor] -= pull
        sums.totals[donor] -= pull * x
        if sums.mass[donor] <= 1e-9 * pull:  # rounding is all that is left
            sums.mass[donor] = 0.0
    return sums, True


def _state(
    bandwidth: float,
    centroids: Centers,
    sums: ModeSums,
    n_iter: int,
    residual: float,
    converged: bool,
    *,
    at_previous: bool = False,
) -> State:
    """Return the state that a pass measured, at its own bandwidth or at the previous one."""
    reached = sums.reached_at_previous if at_previous else sums.mass > 0
    return State(
        bandwidth=bandwidth,
        centroids=centroids,
        objective=sums.mean_objective(at_previous=at_previous),
        inertia=sums.inertia,
        counts=sums.counts,
        nearest=sums.nearest,
        unsupported=~reached & (sums.nearest >= 0),
        n_iter=n_iter,
        residual=residual,
        converged=converged,
        mass=None if at_previous else sums.mass,
        reference=None if at_previous else sums.reference,
    )

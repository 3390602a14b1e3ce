"""K-modes at one bandwidth, and along a path of decreasing bandwidths."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from modeclust._core import center_moves
from modeclust.data.dataset import Dataset
from modeclust.data.mode_pass import ModePass, ModeSums, to_unit_length
from modeclust.kernels import GAUSSIAN
from modeclust.solvers.options import SolverOptions

Centers = npt.NDArray[np.float64]

# Below this bandwidth, t would overflow; the coordinates of the rows are about 1.
SMALLEST_BANDWIDTH = 1e-120
LARGEST_BANDWIDTH = 1.7e308
# Moves below this share of the largest coordinate of a center count as rounding errors.
MOVE_ROUNDING = 1e-15
# The path starts where no mode step moves a center farther than this share of a cluster's radius.
SMALL_MOVE = 0.05
# Number of plain mode steps at one bandwidth before steps are lengthened. Most bandwidths need
# fewer steps than this.
PLAIN_STEPS = 10
# Maximum factor by which a step is lengthened. With factors up to 2, the objective never decreases.
MAX_STEP_FACTOR = 1.95
# Steps whose squared length is smaller than this count as no steps.
SMALLEST_SQUARE = 1e-300


class State(NamedTuple):
    """The centers at one bandwidth, and the results of the pass that ended there."""

    bandwidth: float
    centers: Centers
    objective: float  # L / sum of weights
    inertia: float
    counts: npt.NDArray[np.int64]
    nearest: npt.NDArray[np.int64]  # the row nearest to each center in its cluster
    unsupported: npt.NDArray[np.bool_]  # clusters with rows, but none in the kernel's support
    n_iter: int
    residual: float  # the longest mode step of the last iteration
    converged: bool
    stage: int = 1  # 0 for K-means, 1 while labels change, 2 where they are frozen
    # (K,) the rows that the last mode step averaged; None for soft clusterings
    rows_averaged: npt.NDArray[np.float64] | None = None
    cluster_bandwidths: npt.NDArray[np.float64] | None = None  # (K,); None if all are `bandwidth`
    frozen: npt.NDArray[np.bool_] | None = None  # (K,) clusters whose modes stay; None if no one
    # Only for soft clusterings. The dataset keeps the labels of hard clusterings.
    labels: npt.NDArray[np.int32] | None = None
    memberships: npt.NDArray[np.float64] | None = None  # (N, K)
    history: tuple[float, ...] = ()  # L after each iteration
    # Only for hard clusterings: the weights of the mode step, as in `ModeSums`. None if the last
    # pass ran at the next bandwidth.
    mass: npt.NDArray[np.float64] | None = None
    reference: npt.NDArray[np.float64] | None = None


class SupportsModePasses(Protocol):
    """The part of a dataset that `solve` needs."""

    def run(self, pass_: ModePass, /) -> ModeSums:
        """Run a pass over all rows, and return its merged result."""


def inverse_square(bandwidth: float) -> float:
    """Return 1 / bandwidth^2, which is 0 for an infinite bandwidth."""
    return float(max(bandwidth, SMALLEST_BANDWIDTH) ** -2.0)


def assign(dataset: Dataset, centers: Centers) -> ModeSums:
    """Assign each row to its nearest center, and return the sums of a K-means step."""
    # At an infinite bandwidth t is 0, where every kernel has the weight 1.
    return dataset.run(ModePass(centers, GAUSSIAN, inverse_squared_bandwidth=0.0))


def follow_path(
    dataset: Dataset,
    centers: Centers,
    bandwidths: npt.NDArray[np.float64],
    options: SolverOptions,
) -> Iterator[State]:
    """Yield the state at each of the decreasing `bandwidths`, each started from the last one.

    There are at most `options.path_iter` iterations at each bandwidth, and `options.max_iter` at
    the last one.
    """
    sums = None
    for bandwidth, next_bandwidth in zip_longest(bandwidths, bandwidths[1:]):
        state, sums = solve_on_path(
            dataset, centers, float(bandwidth), options, sums, next_bandwidth
        )
        centers = state.centers
        yield state if options.reassign else state._replace(stage=2)


def solve(
    dataset: SupportsModePasses, centers: Centers, bandwidth: float, options: SolverOptions
) -> State:
    """Alternate between assignment and mode steps at one bandwidth.

    The stopping rule is that of `solve_on_path`, with at most `options.max_iter` iterations.
    """
    return solve_on_path(dataset, centers, bandwidth, options)[0]


def solve_on_path(
    dataset: SupportsModePasses,
    centers: Centers,
    bandwidth: float,
    options: SolverOptions,
    initial_sums: ModeSums | None = None,
    next_bandwidth: float | None = None,
) -> tuple[State, ModeSums | None]:
    """Alternate between assignment and mode steps at one bandwidth of a path.

    Stops if no label changes and no mode step is longer than `tol` bandwidths, or after `path_iter`
    iterations (`max_iter` at the last bandwidth). If there is one mode step between two
    assignments, slow steps are lengthened (`Relaxation`). The last pass is an assignment: labels,
    counts and objective belong to the returned centers.

    If `path_iter` ends the loop, this last pass runs at the next bandwidth, and computes the
    objective at this one too. This saves one pass at each bandwidth. Its sums are returned: pass
    them as `initial_sums` at the next bandwidth.
    """
    kernel, mean_shift_iter, reassign = options.kernel, options.mean_shift_iter, options.reassign
    max_iter = options.max_iter if next_bandwidth is None else options.path_iter
    n_iter, residual, converged = 0, np.inf, False
    scale = inverse_square(bandwidth)
    relaxation = Relaxation()
    sums = initial_sums or dataset.run(ModePass(centers, kernel, scale, reassign))
    while n_iter < max_iter:
        moved = sums.moved(centers)
        for _ in range(mean_shift_iter - 1):
            moved = dataset.run(ModePass(moved, kernel, scale, reassign=False)).moved(moved)
        n_iter += 1
        residual, _, settled = center_moves(
            centers, moved, options.tol * bandwidth, MOVE_ROUNDING, sums.n_threads
        )
        converged = settled and (sums.changed == 0 or not options.stable_labels)
        if converged:
            break
        is_slow = n_iter >= PLAIN_STEPS and mean_shift_iter == 1
        centers = relaxation.next(centers, moved) if is_slow else moved
        if is_slow and sums.unit_length:
            centers = to_unit_length(centers)
        if n_iter == max_iter and next_bandwidth is not None:
            next_scale = inverse_square(next_bandwidth)
            pass_ = ModePass(centers, kernel, next_scale, reassign, inverse_squared_previous=scale)
            rows_averaged = sums.rows_averaged()
            sums = dataset.run(pass_)
            state = state_of(bandwidth, centers, sums, n_iter, residual, converged, rows_averaged)
            # Another pass at the next bandwidth would change no label.
            return state, replace(sums, changed=0)
        sums = dataset.run(ModePass(centers, kernel, scale, reassign))
    return state_of(bandwidth, centers, sums, n_iter, residual, converged), None


class Relaxation:
    """Lengthens the mode steps of each center, depending on the rate at which they shrink.

    A convex profile lies above its tangent. Hence, at fixed labels, the objective lies above a
    function of the center c that is equal to it at the current center and is, up to a constant,
    -|c - m|^2, where m is the point to which the mode step moves the center. So no point that is at
    most as far from m as the current center lowers the objective: a step of up to twice the length
    is as safe as the plain one. This holds on the sphere too, after division by the length: among
    points of length 1, those nearer to m are those at a smaller angle to it.
    """

    def __init__(self) -> None:
        self._previous_step: Centers | None = None
        self._factors: float | Centers = 1.0  # (K, 1)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget the other centers: the next steps are those of the kept ones."""
        if self._previous_step is not None:
            self._previous_step = self._previous_step[kept]
        if not isinstance(self._factors, float):
            self._factors = self._factors[kept]

    def next(self, centers: Centers, moved: Centers) -> Centers:
        """Return the centers after a step to `moved`, or farther in the same direction."""
        step, before = moved - centers, self._previous_step
        if before is not None:
            lengths = np.add.reduce(before * before, axis=1, keepdims=True)
            along = np.add.reduce(before * step, axis=1, keepdims=True)
            # Plain steps would shrink by the factor `rate`. The sum of all remaining plain steps
            # would be 1 / (1 - rate) times the first of them.
            rate = 1.0 - (1.0 - along / np.maximum(lengths, SMALLEST_SQUARE)) / self._factors
            rate = np.minimum(np.maximum(rate, 0.0), 1.0 - 1.0 / MAX_STEP_FACTOR)
            self._factors = 1.0 / (1.0 - rate)
        self._previous_step = step
        relaxed: Centers = centers + self._factors * step
        return relaxed


def schedule(start: float, target: float, n_bandwidths: int) -> npt.NDArray[np.float64]:
    """Return geometrically decreasing bandwidths, both ends included.

    >>> schedule(8.0, 1.0, 4)
    array([8., 4., 2., 1.])
    >>> schedule(8.0, 1.0, 1)
    array([1.])
    """
    return np.geomspace(start, target, n_bandwidths) if n_bandwidths > 1 else np.array([target])


def automatic_start(
    dataset: Dataset, means: Centers, options: SolverOptions, target: float
) -> float:
    """Return a bandwidth at which the centers of K-means hardly move.

    It is the first of r, sqrt(2) r, 2 r, ... at which one mode step moves each center to within
    r / 20 of the result of a K-means step, where r is the root mean square distance of the rows to
    their centers. It is at least twice the target.
    """
    sums = dataset.run(ModePass(means, options.kernel, 0.0, options.reassign))
    after_means_step = sums.moved(means)
    radius = float(np.sqrt(sums.inertia / sums.mass.sum()))
    bandwidth = radius
    while bandwidth > 0:
        pass_ = ModePass(means, options.kernel, inverse_square(bandwidth), reassign=False)
        moved = dataset.run(pass_).moved(means)
        if largest_move(after_means_step, moved) <= SMALL_MOVE * radius:
            break
        bandwidth *= np.sqrt(2)
    return max(bandwidth, min(2 * target, LARGEST_BANDWIDTH))


def largest_move(before: Centers, after: Centers) -> float:
    """Return the largest distance between a center before and after."""
    return center_moves(before, after)[0]


def evaluate(dataset: Dataset, state: State, centers: Centers, kernel: int) -> State:
    """Return `state` with other centers, and the results of a pass at its bandwidth."""
    sums = dataset.run(ModePass(centers, kernel, inverse_square(state.bandwidth)))
    return restate(state, centers, sums)


def restate(state: State, centers: Centers, sums: ModeSums) -> State:
    """Return `state` with other centers, and the results of a pass there."""
    return state_of(state.bandwidth, centers, sums, state.n_iter, state.residual, state.converged)


def state_of(
    bandwidth: float,
    centers: Centers,
    sums: ModeSums,
    n_iter: int,
    residual: float,
    converged: bool,
    at_previous: npt.NDArray[np.float64] | None = None,
) -> State:
    """Return the state from the sums of a pass, at its own bandwidth or at the previous one.

    For the previous bandwidth, `at_previous` has the rows averaged there.
    """
    is_previous = at_previous is not None
    reached = sums.reached_at_previous if is_previous else sums.mass > 0
    return State(
        bandwidth=bandwidth,
        centers=centers,
        objective=sums.mean_objective(at_previous=is_previous),
        inertia=sums.inertia,
        counts=sums.counts,
        nearest=sums.nearest,
        unsupported=~reached & (sums.nearest >= 0),
        n_iter=n_iter,
        residual=residual,
        converged=converged,
        stage=int(np.isfinite(bandwidth)),
        rows_averaged=sums.rows_averaged() if at_previous is None else at_previous,
        mass=None if is_previous else sums.mass,
        reference=None if is_previous else sums.reference,
    )

"""From the best of several K-means runs down to the target bandwidth."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from modeclust.data.dataset import Dataset
from modeclust.data.mode_pass import ModePass
from modeclust.solvers.solve import (
    Centers,
    State,
    assign,
    inverse_square,
    largest_move,
    solve_kmeans,
    solve_towards_next,
    spread,
)

# A move of the centroids below this share of a cluster's radius counts as nearly still.
NEARLY_STILL = 0.05
LARGEST_START = 1.7e308


def restart_kmeans(
    dataset: Dataset, seeds: Iterable[Centers], *, max_iter: int, tol: float
) -> Iterator[State]:
    """Yield the state that K-means reaches from each of the `seeds`."""
    tolerance = tol * spread(dataset)
    for centroids in seeds:
        yield solve_kmeans(dataset, centroids, max_iter=max_iter, tolerance=tolerance)


def follow(
    dataset: Dataset,
    centroids: Centers,
    bandwidths: npt.NDArray[np.float64],
    *,
    kernel: int,
    path_iter: int,
    max_iter: int,
    mean_shift_iter: int,
    tol: float,
) -> Iterator[State]:
    """Yield the state at each of the decreasing `bandwidths`, each started from the last.

    At most `path_iter` iterations on the way, and `max_iter` at the last bandwidth.
    """
    initial_sums = None
    for bandwidth, next_bandwidth in zip_longest(bandwidths, bandwidths[1:]):
        state, initial_sums = solve_towards_next(
            dataset,
            centroids,
            float(bandwidth),
            initial_sums,
            kernel=kernel,
            max_iter=max_iter if next_bandwidth is None else path_iter,
            mean_shift_iter=mean_shift_iter,
            tol=tol,
            next_bandwidth=next_bandwidth,
        )
        centroids = state.centroids
        yield state


def schedule(start: float, target: float, n_bandwidths: int) -> npt.NDArray[np.float64]:
    """Return geometrically decreasing bandwidths, both ends included.

    >>> schedule(8.0, 1.0, 4)
    array([8., 4., 2., 1.])
    >>> schedule(8.0, 1.0, 1)
    array([1.])
    """
    return np.geomspace(start, target, n_bandwidths) if n_bandwidths > 1 else np.array([target])


def automatic_start(dataset: Dataset, means: State, kernel: int, target: float) -> float:
    """Return a bandwidth at which the K-means centroids are still nearly still.

    The first of r, sqrt(2) r, 2 r, ... at which one mode step takes no centroid farther than
    a twentieth of r from where a K-means step takes it, with r the root mean square distance
    of the rows to their centroids; and at least twice the target.
    """
    sums = assign(dataset, means.centroids)
    still = sums.moved(means.centroids)
    radius = float(np.sqrt(sums.inertia / sums.mass.sum()))
    bandwidth = radius
    while bandwidth > 0:
        pass_ = ModePass(means.centroids, kernel, inverse_square(bandwidth), reassign=False)
        if largest_move(still, dataset.run(pass_).moved(means.centroids)) <= NEARLY_STILL * radius:
            break
        bandwidth *= np.sqrt(2)
    return max(bandwidth, min(2 * target, LARGEST_START))

"""K-modes from K-means to the target bandwidth, in one run or in parts."""

import math
from typing import Any, NamedTuple

import numpy as np
from timing import Run, seconds

from modeclust import KModes, estimate_bandwidth, kmodes_path
from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.kmodes import follow_path
from modeclust.solvers.options import SolverOptions

PATH_ITER = 10
STRETCH = 10  # bandwidths in one stretch, if the path is divided among repeats
MOST_PARTS = 5


class Course(NamedTuple):
    """The start and the bandwidths of a path."""

    means: Any
    bandwidths: Any


class Scouting(NamedTuple):
    """The result of one run along a course that is not timed."""

    centers: list[Any]  # at the end of each bandwidth
    n_iter: int
    searched: float  # share of rows whose nearest center was searched, over all passes
    seconds: float


def plan_course(X, n_clusters, n_bandwidths) -> Course:
    """Return the course of a fit with bandwidth="knn", which starts automatically."""
    means = KModes(n_clusters, bandwidth=np.inf, n_init=1, random_state=0).fit(X).cluster_centers_
    target = estimate_bandwidth(X, random_state=0)
    options = {"n_bandwidths": 2, "path_iter": 1, "max_iter": 1, "store_labels": False}
    path = KModes(n_clusters, bandwidth=target, init=means, **options).fit(X).path_
    return Course(path.centers[0], np.geomspace(path.bandwidths[1], target, n_bandwidths))


def scout(X, course: Course) -> Scouting:
    """Follow the course once; return the centers and the share of rows that were searched."""
    with MemoryDataset(X, n_clusters=len(course.means)) as rows:
        watched = WatchedRows(rows)
        options = SolverOptions(KERNELS["gaussian"], PATH_ITER, PATH_ITER)
        start = course.means.astype(np.float64)
        states = follow_path(watched, start, course.bandwidths, options)
        total, states = seconds(lambda: list(states))
    return Scouting(
        centers=[state.centers for state in states],
        n_iter=sum(state.n_iter for state in states),
        searched=float(np.mean(watched.searched)) / X.shape[0],
        seconds=total,
    )


def time_courses(X, courses: list[Course], path_iter=PATH_ITER) -> Run:
    """Return the mean time of one iteration along some courses."""
    timed = [_follow(X, course, path_iter) for course in courses]
    n_iter = sum(n for _, n in timed)
    return Run(sum(total for total, _ in timed) / n_iter, n_iter)


def count_parts(seconds, longest) -> int:
    """Return the number of parts into which a path is divided, given its time in seconds."""
    return min(max(1, math.ceil(seconds / longest)), MOST_PARTS)


def split_course(course: Course, centers, n_parts, part) -> list[Course]:
    """Return every `n_parts`-th stretch of the course, starting with number `part`.

    Each stretch starts from the centers at the end of the previous one. All parts together are
    the course.
    """
    if n_parts == 1:
        return [course]
    starts = range(part * STRETCH, len(course.bandwidths), n_parts * STRETCH)
    return [
        Course(centers[i - 1] if i else course.means, course.bandwidths[i : i + STRETCH])
        for i in starts
    ]


def _follow(X, course, path_iter):
    total, path = seconds(
        lambda: kmodes_path(
            X,
            len(course.means),
            bandwidths=course.bandwidths,
            init=course.means,
            path_iter=path_iter,
            max_iter=path_iter,
            store_labels=False,
        )
    )
    return total, int(path.n_iter.sum())


class WatchedRows:
    """Rows that record how many of them each pass searched."""

    def __init__(self, rows):
        self._rows = rows
        self.searched = []

    def __getattr__(self, name):
        return getattr(self._rows, name)

    def run(self, pass_):
        sums = self._rows.run(pass_)
        if hasattr(sums, "searched"):
            self.searched.append(sums.searched)
        return sums

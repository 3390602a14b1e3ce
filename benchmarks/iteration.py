"""One iteration of K-modes, compared with one of K-means and with only reading the rows."""

from bare_read import bare_reader
from effort import Effort
from paths import (
    STRETCH,
    Course,
    count_parts,
    plan_course,
    scout,
    split_course,
    time_courses,
)
from peers import LLOYD, OURS, kmeans_peers
from timing import Run, compare, interleave, ratios, seconds
from workloads import Data, dense_rows

OPENING = "opening"
BARE_READ = "bare read"


def measure_iteration(data: Data, effort: Effort):
    """Return the time of one iteration of each contestant, and its ratio to Lloyd's."""
    X, n_clusters = data.X, data.n_clusters
    course = plan_course(X, n_clusters, effort.n_bandwidths)
    scouting = scout(X, course)
    n_parts = count_parts(scouting.seconds, effort.longest_path)
    peers = kmeans_peers(X)
    for fit in peers.values():
        fit(data.small(), dense_rows(X, n_clusters), 2, 0.0)  # imports its modules

    def ours(repeat):
        return time_courses(X, split_course(course, scouting.centers, n_parts, repeat % n_parts))

    contestants = {name: peer_timer(fit, X, n_clusters, effort) for name, fit in peers.items()}
    contestants[OURS] = ours
    contestants[OPENING] = lambda _: time_courses(
        X, [Course(course.means, course.bandwidths[:1])], 1
    )
    contestants[BARE_READ] = bare_reader(X)
    runs = interleave(contestants, effort.repeats)
    return {
        "run": _describe(course, n_parts),
        "contestants": compare(runs, LLOYD),
        "over_bare_read": ratios(runs[OURS], runs[BARE_READ]),
        "pooled_ratio": _pooled(runs[OURS]) / _pooled(runs[LLOYD]),
        "searched_share": scouting.searched,
        "path_iterations": scouting.n_iter,
    }


def peer_timer(fit, X, n_clusters, effort: Effort):
    """Return a contestant that times one iteration of K-means, started from the first rows.

    The time is the difference of a fit with several iterations and a fit with one, divided by the
    number of further iterations. Short fits are repeated.
    """
    start = dense_rows(X, n_clusters)

    def time_iteration(_repeat):
        spent, difference, n_iter = 0.0, 0.0, 0
        fit(X, start, 1, 0.0)  # warm-up: after another library, threads are asleep
        while spent < effort.shortest_timing:
            few, first = seconds(lambda: fit(X, start, 1, 0.0))
            many, last = seconds(lambda: fit(X, start, 1 + effort.lloyd_iterations, 0.0))
            if last.n_iter == first.n_iter:
                raise RuntimeError("K-means converged in its first iteration.")
            spent += few + many
            difference += many - few
            n_iter += last.n_iter - first.n_iter
        return Run(difference / n_iter, last.n_iter - first.n_iter)

    return time_iteration


def _pooled(runs: list[Run]):
    """Return the mean time of an iteration over all runs."""
    return sum(run.seconds * run.n_iter for run in runs) / sum(run.n_iter for run in runs)


def _describe(course: Course, n_parts):
    bandwidths = course.bandwidths
    path = f"{len(bandwidths)} bandwidths from {bandwidths[0]:.4g} to {bandwidths[-1]:.4g}"
    if n_parts == 1:
        return f"the whole path of {path} in each repeat"
    return (
        f"1 in {n_parts} of the stretches of {STRETCH} of the {path}, others in each repeat; "
        f"{n_parts} repeats are the whole path"
    )

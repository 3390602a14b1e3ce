"""The time of an iteration for growing numbers of rows, clusters and features."""

from itertools import pairwise
from typing import NamedTuple

from effort import Effort
from iteration import peer_timer
from paths import plan_course, time_courses
from peers import LLOYD, OURS, kmeans_peers
from timing import interleave, ratios, summary
from workloads import blobs

N_BANDWIDTHS = 20
PATH_ITER = 5
STD = 4


class Curve(NamedTuple):
    """Shapes of data in which one number grows."""

    axis: str
    rows: tuple[int, ...]
    features: tuple[int, ...]
    clusters: tuple[int, ...]

    def shapes(self, quick):
        """Return (rows, features, clusters) along the curve; constant numbers are repeated."""
        scale = 32 if quick else 1
        length = max(len(self.rows), len(self.features), len(self.clusters))
        columns = [column * (length // len(column)) for column in self[1:]]
        return [(n // scale, d, k) for n, d, k in zip(*columns, strict=True) if k * 20 < n // scale]

    def grown(self, shape):
        """Return the number that grows."""
        return shape[("rows", "features", "clusters").index(self.axis)]


CURVES = {
    f"growth-{curve.axis}": curve
    for curve in (
        Curve("rows", (62_500, 125_000, 250_000, 500_000, 1_000_000), (16,), (64,)),
        Curve("clusters", (200_000,), (16,), (16, 64, 256, 1024)),
        Curve("features", (50_000,), (2, 16, 64, 256, 784), (20,)),
    )
}


def measure_growth(curve: Curve, effort: Effort):
    """Return the time of an iteration at each size, and by which factor it grows."""
    shapes = curve.shapes(effort.quick)
    contestants = {}
    for shape in shapes:
        contestants |= _contestants(shape, effort)
    runs = interleave(contestants, effort.repeats)
    return {
        "axis": curve.axis,
        "run": f"blobs, cluster_std={STD}; path of {N_BANDWIDTHS} bandwidths, at most {PATH_ITER} "
        "iterations each",
        "points": [
            {
                "shape": shape,
                "size": curve.grown(shape),
                "seconds": {
                    name: summary(run.seconds for run in runs[name, shape])
                    for name in (OURS, LLOYD)
                },
                "ratio": ratios(runs[OURS, shape], runs[LLOYD, shape]),
            }
            for shape in shapes
        ],
        "factors": [
            {
                "from": curve.grown(small),
                "to": curve.grown(large),
                "factor": {
                    name: ratios(runs[name, large], runs[name, small]) for name in (OURS, LLOYD)
                },
            }
            for small, large in _steps(curve, shapes)
        ],
    }


def _steps(curve, shapes):
    """Return the pairs of sizes to compare: neighbours, and K = 16 with 256."""
    pairs = list(pairwise(shapes))
    if curve.axis == "clusters":
        pairs += [(a, b) for a in shapes for b in shapes if (a[2], b[2]) == (16, 256)]
    return pairs


def _contestants(shape, effort):
    X = blobs(*shape, STD)
    n_clusters = shape[2]
    lloyd = kmeans_peers(X)[LLOYD]
    course = plan_course(X, n_clusters, N_BANDWIDTHS)
    return {
        (OURS, shape): lambda _: time_courses(X, [course], PATH_ITER),
        (LLOYD, shape): peer_timer(lloyd, X, n_clusters, effort),
    }

"""Sections 2 and 3: the cost of an iteration, and its growth with N, K and D.

An iteration of K-means or K-modes takes O(KND), and one of mean-shift from every row O(N²D).
K-medoids tests all pairs of rows in each cluster. Times are processor times of one thread: other
programs on the machine disturb them less than the elapsed time.
"""

import gc
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from threadpoolctl import threadpool_limits

from modeclust import KModes, MeanShift, estimate_bandwidth, kmodes_path
from modeclust.datasets import load_dataset
from modeclust.plotting.palette import COLORS
from reproduction.findings import CONFIDENCE, Findings, Measure, Picture, Table

Key = TypeVar("Key", bound=Hashable)
Doubles = npt.NDArray[np.float64]

KMEANS, KMODES, SHIFT, MEDOIDS = "K-means", "K-modes", "mean-shift", "K-medoids"
USE_PAIRS = (SHIFT, MEDOIDS)  # methods that go over all pairs of rows
SHORT = {KMEANS: "kmeans", KMODES: "kmodes", SHIFT: "mean-shift", MEDOIDS: "medoids"}
STYLES: dict[str, dict[str, Any]] = {
    KMEANS: {"color": COLORS[2], "marker": "s", "ls": "--"},
    KMODES: {"color": COLORS[0], "marker": "o", "ls": "-"},
    SHIFT: {"color": COLORS[1], "marker": "^", "ls": "-."},
    MEDOIDS: {"color": COLORS[4], "marker": "D", "ls": ":"},
}
AXES = {"N": "rows", "K": "clusters", "D": "features"}
# The exponents that the paper gives.
CLAIMED = [
    *((axis, method) for axis in AXES for method in (KMEANS, KMODES)),
    ("N", SHIFT),
    ("D", SHIFT),
    ("N", MEDOIDS),
]
N_ITER, N_BANDWIDTHS = 20, 4  # of one run of K-modes; K-means has the same number of iterations
MEDOIDS_ITER = 2  # fixed, so that the cost of the distances is shared equally at all sizes
BLOCK = 250  # rows in a block of a mean-shift step
N_RESTARTS, N_PATH = 20, 20  # of K-means; bandwidths of a whole fit


class Shape(NamedTuple):
    """The size of a problem."""

    N: int  # rows
    K: int  # clusters
    D: int  # features


class Sizes(NamedTuple):
    """The sizes at which times are measured. Methods that use pairs of rows have smaller ones."""

    rounds: int = 5
    rows: tuple[int, ...] = (8_000, 16_000, 32_000, 64_000, 128_000)
    rows_for_pairs: tuple[int, ...] = (750, 1_500, 3_000, 6_000)
    others: tuple[int, ...] = (8, 16, 32, 64, 128)  # K or D; the other one is 16
    n: int = 20_000  # rows while K or D grows
    n_for_pairs: int = 2_000
    compared: Shape = Shape(4_000, 10, 16)
    larger: Shape = Shape(20_000, 32, 32)  # the middle of each range

    def shapes(self, axis: str, *, for_pairs: bool) -> list[Shape]:
        """Return the sizes along N, K or D."""
        if axis == "N":
            return [Shape(n, 16, 16) for n in (self.rows_for_pairs if for_pairs else self.rows)]
        base = Shape(self.n_for_pairs if for_pairs else self.n, 16, 16)
        return [base._replace(**{axis: size}) for size in self.others]


QUICK = Sizes(2, (400, 800), (100, 200), (4, 8), 400, 100, Shape(300, 4, 4), Shape(400, 4, 4))


class Growth(NamedTuple):
    """The growth of a time: `at_one` seconds times `size ** exponent`."""

    exponent: Measure
    at_one: float

    def at(self, size: float) -> float:
        """Return the time at a size."""
        return float(self.at_one * size**self.exponent.value)


Curves = dict[tuple[str, str], dict[int, list[float]]]  # seconds by (axis, method) and size
Growths = dict[tuple[str, str], Growth]


def reproduce(*, quick: bool = False) -> Findings:
    """Measure the exponents of growth, and the ratios between the times of methods."""
    sizes = QUICK if quick else Sizes()
    with stable_timing(), warnings.catch_warnings():
        # Runs stop after a fixed number of iterations.
        warnings.simplefilter("ignore", ConvergenceWarning)
        curves = {
            (axis, method): time_growth(method, axis, sizes) for axis in AXES for method in METHODS
        }
        growths = {key: fit_growth(curve) for key, curve in curves.items()}
        ratios = compare_iterations(sizes) | compare_fits(sizes)
    exponents = {
        f"{SHORT[method]}-{AXES[axis]}": growths[axis, method].exponent for axis, method in CLAIMED
    }
    return Findings(exponents | ratios, [_draw(curves, growths, sizes)], [_table(curves, growths)])


# One run of each method: it takes rows, K and a bandwidth, and returns its number of iterations.


def run_kmeans(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Run Lloyd's K-means from the first rows."""
    model = KMeans(n_clusters, init=X[:n_clusters], n_init=1, tol=0, max_iter=N_ITER)
    return int(model.fit(X).n_iter_)


def run_kmodes(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Run K-modes from the first rows along a few bandwidths."""
    n_each = N_ITER // N_BANDWIDTHS
    path = kmodes_path(
        X,
        n_clusters,
        bandwidths=np.geomspace(4 * bandwidth, bandwidth, N_BANDWIDTHS),
        init=X[:n_clusters],
        path_iter=n_each,
        max_iter=n_each,
        tol=0,
        n_jobs=1,
        store_labels=False,
    )
    return int(path.n_iter.sum())


def run_mean_shift(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Take one mean-shift step from every row."""
    shift_points(X, X, bandwidth)
    return 1


def shift_points(X: Doubles, points: Doubles, bandwidth: float) -> Doubles:
    """Return each point after one step of eq. (3)."""
    moved = np.empty_like(points)
    for start in range(0, len(points), BLOCK):
        block = slice(start, start + BLOCK)
        weights = euclidean_distances(points[block], X, squared=True)
        weights *= -0.5 / bandwidth**2
        np.exp(weights, out=weights)
        moved[block] = weights @ X / weights.sum(axis=1, keepdims=True)
    return moved


def run_kmedoids(X: Doubles, n_clusters: int, bandwidth: float) -> int:
    """Run K-medoids that alternates between labels and medoids, as K-means does."""
    import kmedoids

    distances = euclidean_distances(X)
    found = kmedoids.alternating(distances, np.arange(n_clusters), max_iter=MEDOIDS_ITER)
    return int(found.n_iter)


METHODS: dict[str, Callable[[Doubles, int, float], int]] = {
    KMEANS: run_kmeans,
    KMODES: run_kmodes,
    SHIFT: run_mean_shift,
    MEDOIDS: run_kmedoids,
}


@contextmanager
def stable_timing() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread and disable the garbage collector, as timeit does."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with threadpool_limits(1):
            yield
    finally:
        if was_enabled:
            gc.enable()


def time_per_iteration(run: Callable[[], int]) -> float:
    """Return the processor time of a run, divided by the number of iterations it returns."""
    start = time.process_time()
    n_iterations = run()
    return (time.process_time() - start) / n_iterations


def interleave(timers: Mapping[Key, Callable[[], float]], n_rounds: int) -> dict[Key, list[float]]:
    """Return the seconds that each timer measures, with one call of each timer per round.

    A first round loads modules and allocates memory. It does not count.
    """
    seconds: dict[Key, list[float]] = {key: [] for key in timers}
    for i in range(n_rounds + 1):
        for key, timer in timers.items():
            spent = timer()
            if i:
                seconds[key].append(spent)
    return seconds


def fit_growth(seconds: dict[int, list[float]]) -> Growth:
    """Fit the exponent of growth by least squares of log time on log size."""
    sizes = np.concatenate([np.full(len(own), size) for size, own in seconds.items()])
    times = np.concatenate(list(seconds.values()))
    line = stats.linregress(np.log(sizes), np.log(times))
    half_width = stats.t.ppf((1 + CONFIDENCE) / 2, len(sizes) - 2) * line.stderr
    exponent = Measure(
        float(line.slope),
        float(line.slope - half_width),
        float(line.slope + half_width),
        len(next(iter(seconds.values()))),
    )
    return Growth(exponent, float(np.exp(line.intercept)))


def ratio(seconds: list[float], base: list[float]) -> Measure:
    """Return the mean ratio of two times, round by round."""
    return Measure.mean_of(a / b for a, b in zip(seconds, base, strict=True))


def draw_rows(shape: Shape) -> Doubles:
    """Return overlapping blobs, one for each cluster."""
    X: Doubles = make_blobs(shape.N, shape.D, centers=shape.K, cluster_std=4, random_state=0)[0]
    return X


def time_growth(method: str, axis: str, sizes: Sizes) -> dict[int, list[float]]:
    """Return the times of an iteration at each size along an axis."""
    timers = {}
    for shape in sizes.shapes(axis, for_pairs=method in USE_PAIRS):
        X = draw_rows(shape)
        run = partial(METHODS[method], X, shape.K, estimate_bandwidth(X, random_state=0))
        timers[getattr(shape, axis)] = partial(time_per_iteration, run)
    return interleave(timers, sizes.rounds)


def compare_iterations(sizes: Sizes) -> dict[str, Measure]:
    """Compare an iteration of each method with an iteration of K-modes."""
    small = time_iterations(list(METHODS), sizes.compared, sizes.rounds)
    large = time_iterations([KMEANS, KMODES], sizes.larger, sizes.rounds)
    return {
        "kmodes-to-kmeans": ratio(small[KMODES], small[KMEANS]),
        "kmodes-to-kmeans-larger": ratio(large[KMODES], large[KMEANS]),
        "mean-shift-to-kmodes": ratio(small[SHIFT], small[KMODES]),
        "medoids-to-kmodes": ratio(small[MEDOIDS], small[KMODES]),
    }


def time_iterations(methods: list[str], shape: Shape, n_rounds: int) -> dict[str, list[float]]:
    """Return the times of an iteration of several methods on the same rows."""
    X = draw_rows(shape)
    bandwidth = estimate_bandwidth(X, random_state=0)
    runs = {name: partial(METHODS[name], X, shape.K, bandwidth) for name in methods}
    timers = {name: partial(time_per_iteration, run) for name, run in runs.items()}
    return interleave(timers, n_rounds)


def compare_fits(sizes: Sizes) -> dict[str, Measure]:
    """Compare whole fits: mean-shift with K-modes, and the path with K-means."""
    shape = sizes.compared
    X, digits = draw_rows(shape), load_dataset("digits").X
    digits = digits[: 100 * shape.K]
    bandwidth = estimate_bandwidth(X, random_state=0)
    options: dict[str, Any] = {"n_init": N_RESTARTS, "random_state": 0}
    path = KModes(10, bandwidth="knn", n_bandwidths=N_PATH, **options).fit(digits).path_
    fits: dict[str, Callable[[], Any]] = {
        "shift": lambda: MeanShift(bandwidth, n_jobs=1).fit(X),
        "modes": lambda: KModes(shape.K, bandwidth=bandwidth, n_jobs=1, **options).fit(X),
        "means": lambda: KMeans(10, **options).fit(digits),
        "path": lambda: kmodes_path(
            digits, 10, bandwidths=path.bandwidths[1:], init=path.centers[0], n_jobs=1
        ),
    }
    timers = {name: partial(time_per_iteration, partial(_once, fit)) for name, fit in fits.items()}
    seconds = interleave(timers, sizes.rounds)
    return {
        "mean-shift-fit-to-kmodes-fit": ratio(seconds["shift"], seconds["modes"]),
        "homotopy": ratio(seconds["path"], seconds["means"]),
    }


def _once(fit: Callable[[], Any]) -> int:
    fit()
    return 1


def _draw(curves: Curves, growths: Growths, sizes: Sizes) -> Picture:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained", sharey=True)
    for ax, (axis, title) in zip(axes, AXES.items(), strict=True):
        for method, style in STYLES.items():
            curve, growth = curves[axis, method], growths[axis, method]
            grown = np.array(list(curve))
            ax.plot(grown, [np.median(s) for s in curve.values()], **{**style, "ls": ""}, ms=5)
            ax.plot(
                grown,
                [growth.at(size) for size in grown],
                color=style["color"],
                ls=style["ls"],
                label=f"{method}, {growth.exponent.value:.2f}",
            )
        ax.set(xscale="log", yscale="log", xlabel=f"{title} {axis}")
        ax.legend(title="exponent", frameon=False, fontsize="small", loc="upper right")
        if axis != "N":
            ax.set_xticks(sizes.others, [f"{size}" for size in sizes.others])
            ax.minorticks_off()
    axes[0].set_ylim(top=axes[0].get_ylim()[1] * 8)  # space for the legends
    axes[0].set_ylabel("processor seconds per iteration")
    caption = (
        "Time per iteration: medians, and lines fitted to all times. K and D are 16 where they do "
        f"not grow. While K or D grows, N is {sizes.n:,} for K-means and K-modes, and "
        f"{sizes.n_for_pairs:,} for mean-shift and K-medoids, which go over all pairs of rows."
    )
    return Picture(figure, caption)


def _table(curves: Curves, growths: Growths) -> Table:
    rows = []
    for method in METHODS:
        cells = []
        for axis in AXES:
            exponent = growths[axis, method].exponent
            cells.append(f"{exponent.value:.2f} ({exponent.low:.2f} to {exponent.high:.2f})")
        largest = max(curves["N", method])
        spent = np.median(curves["N", method][largest]) * 1e3
        rows.append([method, *cells, f"{spent:.3g} ms at {largest:,} rows"])
    return Table(
        "Exponents of growth with their 95% intervals, and time per iteration for K = D = 16.",
        ["", "N", "K", "D", "time per iteration"],
        rows,
    )

"""Sections 2 and 3: what an iteration costs, and how that grows with N, K and D.

K-means and K-modes take O(KND), mean-shift from every row O(N²D), and K-medoids tests all pairs of
points in each cluster.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from modeclust import KModes, MeanShift, estimate_bandwidth, kmodes_path
from modeclust.datasets import load_dataset
from modeclust.paper.findings import Findings, Grid, Measure, Picture
from modeclust.paper.iterations import IN_PAIRS, KMEANS, KMODES, MEDOIDS, METHODS, SHIFT
from modeclust.paper.timing import (
    Growth,
    fit_growth,
    per_iteration,
    ratio,
    take_turns,
    undisturbed,
)
from modeclust.plotting.palette import COLORS

LOOKS: dict[str, dict[str, Any]] = {
    KMEANS: {"color": COLORS[2], "marker": "s", "ls": "--"},
    KMODES: {"color": COLORS[0], "marker": "o", "ls": "-"},
    SHIFT: {"color": COLORS[1], "marker": "^", "ls": "-."},
    MEDOIDS: {"color": COLORS[4], "marker": "D", "ls": ":"},
}
RESTARTS, N_PATH = 20, 20  # of K-means; bandwidths
Doubles = npt.NDArray[np.float64]


AXES = {"N": "rows", "K": "clusters", "D": "features"}
SHORT = {KMEANS: "kmeans", KMODES: "kmodes", SHIFT: "mean-shift", MEDOIDS: "medoids"}
# Of what else mean-shift and K-medoids take, the paper says nothing.
CLAIMED = [
    *((axis, method) for axis in AXES for method in (KMEANS, KMODES)),
    ("N", SHIFT),
    ("D", SHIFT),
    ("N", MEDOIDS),
]


class Shape(NamedTuple):
    """The size of a problem."""

    N: int  # rows
    K: int  # clusters
    D: int  # features


class Sizes(NamedTuple):
    """At which sizes times are taken, by methods that take all pairs of rows and by others."""

    turns: int = 5
    rows: tuple[int, ...] = (8_000, 16_000, 32_000, 64_000, 128_000)
    rows_in_pairs: tuple[int, ...] = (750, 1_500, 3_000, 6_000)
    others: tuple[int, ...] = (8, 16, 32, 64, 128)  # K or D, the other being 16
    n: int = 20_000  # while K or D grows
    n_in_pairs: int = 2_000
    compared: Shape = Shape(4_000, 10, 16)
    larger: Shape = Shape(20_000, 32, 32)  # the middle of each range

    def shapes(self, axis: str, *, in_pairs: bool) -> list[Shape]:
        """Return the sizes along one of N, K and D."""
        if axis == "N":
            return [Shape(n, 16, 16) for n in (self.rows_in_pairs if in_pairs else self.rows)]
        base = Shape(self.n_in_pairs if in_pairs else self.n, 16, 16)
        return [base._replace(**{axis: size}) for size in self.others]


QUICK = Sizes(2, (400, 800), (100, 200), (4, 8), 400, 100, Shape(300, 4, 4), Shape(400, 4, 4))
Curves = dict[tuple[str, str], dict[int, list[float]]]  # by axis and method: seconds by size


def reproduce(*, quick: bool = False) -> Findings:
    """Return the exponents of growth, and how many times as long each takes as another."""
    sizes = QUICK if quick else Sizes()
    with undisturbed(), warnings.catch_warnings():
        # Runs are stopped after so many iterations.
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


def draw_rows(shape: Shape) -> Doubles:
    """Return blobs that overlap, as many as clusters are to be found."""
    X: Doubles = make_blobs(shape.N, shape.D, centers=shape.K, cluster_std=4, random_state=0)[0]
    return X


def time_growth(method: str, axis: str, sizes: Sizes) -> dict[int, list[float]]:
    """Return the times of an iteration along an axis, all sizes in turn."""
    contestants = {}
    for shape in sizes.shapes(axis, in_pairs=method in IN_PAIRS):
        X = draw_rows(shape)
        run = partial(METHODS[method], X, shape.K, estimate_bandwidth(X, random_state=0))
        contestants[getattr(shape, axis)] = partial(per_iteration, run)
    return take_turns(contestants, sizes.turns)


def compare_iterations(sizes: Sizes) -> dict[str, Measure]:
    """Return how an iteration of each method compares with one of K-modes."""
    few = time_iterations(list(METHODS), sizes.compared, sizes.turns)
    many = time_iterations([KMEANS, KMODES], sizes.larger, sizes.turns)
    return {
        "kmodes-to-kmeans": ratio(few[KMODES], few[KMEANS]),
        "kmodes-to-kmeans-larger": ratio(many[KMODES], many[KMEANS]),
        "mean-shift-to-kmodes": ratio(few[SHIFT], few[KMODES]),
        "medoids-to-kmodes": ratio(few[MEDOIDS], few[KMODES]),
    }


def time_iterations(methods: list[str], shape: Shape, n_turns: int) -> dict[str, list[float]]:
    """Return the times of an iteration of some methods on the same rows."""
    X = draw_rows(shape)
    bandwidth = estimate_bandwidth(X, random_state=0)
    runs = {name: partial(METHODS[name], X, shape.K, bandwidth) for name in methods}
    return take_turns({name: partial(per_iteration, run) for name, run in runs.items()}, n_turns)


def compare_fits(sizes: Sizes) -> dict[str, Measure]:
    """Return how whole fits compare: mean-shift with K-modes, and the path with K-means."""
    shape = sizes.compared
    X, digits = draw_rows(shape), load_dataset("digits").X
    digits = digits[: 100 * shape.K]
    bandwidth = estimate_bandwidth(X, random_state=0)
    options: dict[str, Any] = {"n_init": RESTARTS, "random_state": 0}
    path = KModes(10, n_bandwidths=N_PATH, **options).fit(digits).path_
    fits: dict[str, Callable[[], Any]] = {
        "shift": lambda: MeanShift(bandwidth, n_jobs=1).fit(X),
        "modes": lambda: KModes(shape.K, bandwidth=bandwidth, n_jobs=1, **options).fit(X),
        "means": lambda: KMeans(10, **options).fit(digits),
        "path": lambda: kmodes_path(
            digits, 10, bandwidths=path.bandwidths[1:], init=path.centers[0], n_jobs=1
        ),
    }
    contestants = {name: partial(per_iteration, partial(_once, fit)) for name, fit in fits.items()}
    seconds = take_turns(contestants, sizes.turns)
    return {
        "mean-shift-fit-to-kmodes-fit": ratio(seconds["shift"], seconds["modes"]),
        "homotopy": ratio(seconds["path"], seconds["means"]),
    }


def _once(fit: Callable[[], Any]) -> int:
    fit()
    return 1


def _draw(curves: Curves, growths: dict[tuple[str, str], Growth], sizes: Sizes) -> Picture:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained", sharey=True)
    for ax, (axis, title) in zip(axes, AXES.items(), strict=True):
        for method, looks in LOOKS.items():
            curve, growth = curves[axis, method], growths[axis, method]
            grown = np.array(list(curve))
            ax.plot(grown, [np.median(s) for s in curve.values()], **{**looks, "ls": ""}, ms=5)
            ax.plot(
                grown,
                [growth.at(size) for size in grown],
                color=looks["color"],
                ls=looks["ls"],
                label=f"{method}, {growth.exponent.value:.2f}",
            )
        ax.set(xscale="log", yscale="log", xlabel=f"{title} {axis}")
        ax.legend(title="exponent", frameon=False, fontsize="small", loc="upper right")
        if axis != "N":
            ax.set_xticks(sizes.others, [f"{size}" for size in sizes.others])
            ax.minorticks_off()
    axes[0].set_ylim(top=axes[0].get_ylim()[1] * 8)  # room for the legends
    axes[0].set_ylabel("seconds of one core, for an iteration")
    caption = (
        "The time of an iteration: medians, and the lines fitted to all times. K and D are 16 "
        f"where they do not grow, and N is then {sizes.n:,} for K-means and K-modes, and "
        f"{sizes.n_in_pairs:,} for mean-shift and K-medoids, which take all pairs of rows."
    )
    return Picture(figure, caption)


def _table(curves: Curves, growths: dict[tuple[str, str], Growth]) -> Grid:
    rows = []
    for method in METHODS:
        cells = []
        for axis in AXES:
            exponent = growths[axis, method].exponent
            cells.append(f"{exponent.value:.2f} ({exponent.low:.2f} to {exponent.high:.2f})")
        largest = max(curves["N", method])
        spent = np.median(curves["N", method][largest]) * 1e3
        rows.append([method, *cells, f"{spent:.3g} ms at {largest:,} rows"])
    return Grid(
        "Exponents of growth with their 95% intervals, and the time of an iteration, K = D = 16.",
        ["", "N", "K", "D", "an iteration"],
        rows,
    )

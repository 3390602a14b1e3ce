"""Section 6: landmarks on a manifold, and spectral clustering with K-modes in place of K-means.

The centroids of K-means lie off a curved manifold, and off the sphere that the rows of a spectral
embedding lie on. Those of K-modes lie nearer to both.
"""

from typing import Any, NamedTuple

import numpy as np

from modeclust.paper.findings import Findings, Grid, Measure, Picture
from modeclust.paper.spectral import NAMES, Pair, cluster_spectrally
from modeclust.paper.swiss_roll import MULTIPLES, Landmarks, place_landmarks, spiral
from modeclust.plotting.palette import COLORS

FEW, MANY, NOISE = 20, 50, 0.5
TICKS = (8, 4, 2, 1, 0.5, 0.25, 0.1)
MEANS, MODES = "K-means", "K-modes"
LOOKS: dict[str, dict[str, Any]] = {
    MEANS: {"color": COLORS[2], "marker": "s"},
    MODES: {"color": COLORS[0], "marker": "o"},
}


class Sizes(NamedTuple):
    """How large the runs are."""

    seeds: int = 10
    roll: int = 2000
    n_init: int = 20
    toy: int = 600
    digits: int = 1000


QUICK = Sizes(2, 400, 2, 150, 200)
Rolls = dict[str, list[Landmarks]]
Pairs = dict[str, list[Pair]]


def reproduce(*, quick: bool = False) -> Findings:
    """Return how near to a manifold, and how good in spectral clustering, K-modes is."""
    sizes = QUICK if quick else Sizes()
    rolls = {
        name: [
            place_landmarks(sizes.roll, n_landmarks, noise, seed, sizes.n_init)
            for seed in range(sizes.seeds)
        ]
        for name, n_landmarks, noise in (
            ("few", FEW, 0.0),
            ("many", MANY, 0.0),
            ("noisy", MANY, NOISE),
        )
    }
    pairs = {
        name: [
            cluster_spectrally(name, sizes.digits if name == "digits" else sizes.toy, seed)
            for seed in range(sizes.seeds)
        ]
        for name in NAMES
    }
    return Findings(
        _measure_rolls(rolls) | _measure_pairs(pairs),
        [_draw_rolls(rolls), _draw_pairs(pairs)],
        [_table_of_rolls(rolls), _table_of_pairs(pairs)],
    )


def _measure_rolls(rolls: Rolls) -> dict[str, Measure]:
    return {
        "few-landmarks": Measure.mean_of(run.mode_to_mean for run in rolls["few"]),
        "many-landmarks": Measure.mean_of(run.mode_to_mean for run in rolls["many"]),
        "small-bandwidth": Measure.mean_of(run.far[-1] / run.far[0] for run in rolls["many"]),
        "noise-averaged-out": Measure.mean_of(
            run.far[run.chosen] / run.exemplars_far for run in rolls["noisy"]
        ),
    }


def _measure_pairs(pairs: Pairs) -> dict[str, Measure]:
    measures = {}
    for name, runs in pairs.items():
        ratios = (run.off_sphere[1] / run.off_sphere[0] for run in runs)
        gains = (run.agreement[1] - run.agreement[0] for run in runs)
        measures[f"sphere-{name}"] = Measure.mean_of(ratios)
        measures[f"spectral-{name}"] = Measure.mean_of(gains)
    return measures


def _draw_rolls(rolls: Rolls) -> Picture:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(11, 5.2), layout="constrained", width_ratios=(0.8, 1)
    )
    _draw_section(axes[0], rolls["few"][0])
    _draw_distances(axes[1], rolls)
    caption = (
        f"Left, the section of the roll, with {FEW} landmarks: means lie inside the bends of the "
        "roll, modes nearer to it. Right, how far landmarks are from the roll as the bandwidth "
        "falls to the right, with the 95% interval over runs. Without noise, the smaller the "
        "bandwidth, the nearer. With noise, an intermediate bandwidth is best, and the modes are "
        "then nearer than rows."
    )
    return Picture(figure, caption)


def _draw_section(ax: Any, run: Landmarks) -> None:
    ax.plot(*spiral(1000).T, color="0.75", lw=1, zorder=1, label="the roll")
    means, modes = run.path.centers[0], run.path.centers[run.chosen]
    for name, centers in ((MEANS, means), (MODES, modes)):
        ax.plot(*centers[:, [0, 2]].T, linestyle="", ms=6, mec="white", label=name, **LOOKS[name])
    ax.set(xlabel="x", ylabel="z", aspect="equal", title=f"{FEW} landmarks")
    ax.legend(loc="upper left", frameon=False)
    ax.margins(y=0.12)


def _draw_distances(ax: Any, rolls: Rolls) -> None:
    for name, title, style in (("many", "no noise", "-"), ("noisy", "noise", "--")):
        runs = rolls[name]
        measures = [Measure.mean_of(run.far[i] for run in runs) for i in range(len(runs[0].far))]
        means, modes = measures[0], measures[1:]
        color = LOOKS[MODES]["color"]
        ax.plot(MULTIPLES, [m.value for m in modes], style, color=color, label=f"{MODES}, {title}")
        low, high = np.array([(m.low, m.high) for m in modes]).T
        ax.fill_between(MULTIPLES, np.maximum(low, 1e-4), high, color=color, alpha=0.2, lw=0)
        ax.axhline(
            means.value, color=LOOKS[MEANS]["color"], ls=style, lw=1, label=f"{MEANS}, {title}"
        )
    rows = np.mean([run.exemplars_far for run in rolls["noisy"]])
    ax.axhline(rows, color="0.35", ls=":", label="rows nearest to the means, noise")
    ax.axvline(1.0, color="0.85", lw=1, zorder=0)
    ax.set(xscale="log", yscale="log", title=f"{MANY} landmarks")
    ax.set(xlabel="bandwidth, over the estimated one", ylabel="mean distance to the roll")
    ax.invert_xaxis()
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.minorticks_off()
    ax.legend(loc="lower left", frameon=False)


def _draw_pairs(pairs: Pairs) -> Picture:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    norms = {
        name: [[np.linalg.norm(run.centers[i], axis=1) for run in runs] for i in (0, 1)]
        for name, runs in pairs.items()
    }
    agreement = {
        name: [[[run.agreement[i]] for run in runs] for i in (0, 1)] for name, runs in pairs.items()
    }
    _draw_beside(axes[0], norms, "norm of the centroids")
    axes[0].axhline(1.0, color="0.6", lw=1, zorder=0)
    _draw_beside(axes[1], agreement, "adjusted Rand index")
    axes[1].set_ylim(top=1.03)
    axes[1].legend(loc="lower left", frameon=False)
    caption = (
        "Spectral clustering. Left, the norm of each centroid of each run: rows lie on the sphere "
        "of radius 1, and modes nearer to it than means. Right, the agreement with the classes: "
        "a line joins the two of one run."
    )
    return Picture(figure, caption)


def _draw_beside(ax: Any, values: dict[str, list[list[Any]]], title: str) -> None:
    """Draw means and modes of each data set beside each other, and join those of one run."""
    for i, both in enumerate(values.values()):
        places = (i - 0.18, i + 0.18)
        for means, modes in zip(*both, strict=True):
            ax.plot(places, [np.mean(means), np.mean(modes)], color="0.8", lw=1, zorder=1)
        for name, place, runs in zip((MEANS, MODES), places, both, strict=True):
            points = np.concatenate(runs)
            ax.plot(
                np.full(len(points), place),
                points,
                linestyle="",
                ms=5,
                alpha=0.6,
                mec="none",
                label=None if i else name,
                **LOOKS[name],
            )
    ax.set(ylabel=title, xlim=(-0.5, len(values) - 0.5))
    ax.set_xticks(range(len(values)), list(values))


def _table_of_rolls(rolls: Rolls) -> Grid:
    rows = []
    titles = (f"{FEW} landmarks", f"{MANY} landmarks", f"{MANY} landmarks, noise {NOISE}")
    for title, runs in zip(titles, rolls.values(), strict=True):
        columns = [
            [run.far[0] for run in runs],
            [run.far[run.chosen] for run in runs],
            [run.far[-1] for run in runs],
            [run.exemplars_far for run in runs],
            [run.rows_far for run in runs],
        ]
        rows.append([title, *(f"{np.mean(column):.3f}" for column in columns)])
    return Grid(
        "Mean distance to the Swiss roll, whose sheets are about 6.3 apart.",
        ["", MEANS, MODES, "K-modes, a tenth of the bandwidth", "nearest rows", "all rows"],
        rows,
    )


def _table_of_pairs(pairs: Pairs) -> Grid:
    rows = []
    for name, runs in pairs.items():
        agreement = np.mean([run.agreement for run in runs], axis=0)
        off = np.mean([run.off_sphere for run in runs], axis=0)
        rows.append([name, *(f"{a:.3f}" for a in agreement), *(f"{o:.2g}" for o in off)])
    return Grid(
        "Spectral clustering: the adjusted Rand index, and how far centroids are from the sphere.",
        ["", f"index, {MEANS}", f"index, {MODES}", f"off, {MEANS}", f"off, {MODES}"],
        rows,
    )

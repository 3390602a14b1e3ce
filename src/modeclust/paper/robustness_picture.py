"""One small picture for each claim on robustness."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modeclust.paper.findings import Picture
from modeclust.paper.robustness_data import Doubles
from modeclust.paper.robustness_trials import Trials
from modeclust.plotting.palette import LINES, color

MEANS, MODES = color(2), color(0)


def draw_all(trials: Trials, decade: Doubles) -> Picture:
    """Return nine panels: a dot is a run, and a bar the mean of them."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 3, figsize=(11, 9.6), layout="constrained")
    places = iter(axes.flat)
    few, many = trials.few, next(iter(trials.many.values()))
    _draw_cover(next(places), trials)
    _draw_strips(
        next(places),
        "5% of outliers, mean-shift",
        "modes of the density",
        {
            "without": [r.without for r in trials.spurious],
            "with": [r.with_them for r in trials.spurious],
        },
        colors=(color(3), color(3)),
    )
    _draw_strips(
        next(places),
        "K = 4 of 6 Gaussians",
        "lowest density / highest",
        {"means": [r.means for r in few], "modes": [r.modes for r in few]},
    )
    _draw_strips(
        next(places),
        "K = 7 of 4 Gaussians",
        "between two in one (sd)",
        {"means": [r.between_means for r in many], "modes": [r.between_modes for r in many]},
    )
    _draw_strips(
        next(places),
        "K = 7 of 4 Gaussians, redundant_clusters",
        "share of pairs named",
        {"in one": [r.found for r in many], "in two": [r.false for r in many]},
        colors=(MODES, MODES),
    )
    rand = {name: [run.rand for run in runs] for name, runs in trials.decades.items()}
    n_modes = {name: [run.n_modes for run in runs] for name, runs in trials.decades.items()}
    _draw_sweep(next(places), "K-modes", "adjusted Rand index", decade, rand)
    _draw_sweep(next(places), "Mean-shift", "modes of the density", decade, n_modes, log=True)
    _draw_starts(next(places), trials.starts)
    _draw_strips(
        next(places),
        "K = 1",
        "share of other modes lower",
        {name: [r.lower for r in runs if r.n_modes > 1] for name, runs in trials.one.items()},
        colors=(MODES, MODES),
    )
    caption = (
        "Outliers, a wrong K, a wrong bandwidth, a direct start, and K = 1. A dot or a thin line "
        "is a run on other random data; a bar or a thick line is the mean. Distances are in "
        "standard deviations of a Gaussian, or of all rows for the box; bandwidths over "
        "the estimated one."
    )
    return Picture(figure, caption)


def _draw_cover(ax: Any, trials: Trials) -> None:
    """Draw how often each Gaussian keeps a centroid, by how far outliers are."""
    places = range(len(trials.outliers))
    boxes = trials.outliers.values()
    means = [np.mean([run.means_cover for run in runs]) for runs in boxes]
    modes = [np.mean([run.modes_cover for run in runs]) for runs in boxes]
    ax.plot(places, means, "o--", color=MEANS, label="means")
    ax.plot(places, modes, "s-", color=MODES, label="modes")
    ax.set_xticks(places, [f"{box} sd" for box in trials.outliers])
    ax.set(xlabel="side of the box of outliers", ylabel="share of runs", ylim=(-0.04, 1.04))
    ax.legend(frameon=False, fontsize="small")
    _dress(ax, "5% of outliers: each Gaussian has a centroid")


def _draw_strips(
    ax: Any,
    title: str,
    label: str,
    runs: Mapping[str, Sequence[float]],
    colors: tuple[str, str] = (MEANS, MODES),
) -> None:
    """Draw the runs of each name as dots side by side, with a bar at their mean."""
    for i, (values, own, marker) in enumerate(zip(runs.values(), colors, "os", strict=True)):
        beside = i + np.linspace(-0.25, 0.25, len(values))
        ax.plot(beside, values, marker, color=own, markersize=4, alpha=0.7, linestyle="none")
        if values:
            ax.hlines(np.mean(values), i - 0.35, i + 0.35, color="black", linewidth=2)
    ax.set_xticks(range(len(runs)), list(runs))
    ax.set(xlim=(-0.6, len(runs) - 0.4), ylabel=label)
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    _dress(ax, title)


def _draw_sweep(
    ax: Any,
    title: str,
    label: str,
    decade: Doubles,
    runs: Mapping[str, Sequence[Any]],
    *,
    log: bool = False,
) -> None:
    """Draw a number over bandwidths, for each kind of data."""
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    for i, (name, own) in enumerate(runs.items()):
        curves = np.array(own)
        style = {"color": color((0, 6)[i]), "linestyle": LINES[i]}
        ax.plot(decade, curves.T, linewidth=0.5, alpha=0.4, **style)
        ax.plot(decade, curves.mean(axis=0), linewidth=2.5, label=name, **style)
    ax.set(xscale="log", xlabel="bandwidth / estimated", ylabel=label)
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    else:
        ax.set_ylim(0, 1.02)
    ax.xaxis.set_major_locator(FixedLocator([0.2, 0.5, 1, 2]))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.legend(frameon=False, fontsize="small")
    _dress(ax, title)


def _draw_starts(ax: Any, starts: Mapping[str, Sequence[tuple[int, int]]]) -> None:
    """Draw how often homotopy ends higher than, as high as, or lower than a direct start."""
    bars = [
        (f"{name},\nfrom {start}", np.array(signs)[:, i])
        for name, signs in starts.items()
        for i, start in enumerate(("K-means", "random rows"))
    ]
    places = np.arange(len(bars))
    left = np.zeros(len(bars))
    for sign, word, own, hatch in (
        (1, "higher", MODES, ""),
        (0, "same", "#e4e7ea", ""),
        (-1, "lower", MEANS, "//"),
    ):
        widths = np.array([np.mean(signs == sign) for _, signs in bars])
        ax.barh(places, widths, 0.7, left, color=own, hatch=hatch, edgecolor="white", label=word)
        left += widths
    ax.set_yticks(places, [name for name, _ in bars], fontsize="x-small")
    ax.invert_yaxis()
    ax.set(xlabel="share of runs", xlim=(0, 1))
    ax.legend(
        frameon=False,
        fontsize="small",
        ncols=3,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.98),
        borderaxespad=0,
        columnspacing=1,
        handlelength=1.2,
    )
    _dress(ax, "Objective, homotopy against direct", pad=20)


def _dress(ax: Any, title: str, pad: float = 6) -> None:
    ax.set_title(title, fontsize="medium", pad=pad)
    ax.spines[["top", "right"]].set_visible(False)

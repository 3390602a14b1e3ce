"""Sections 2 to 4: outliers, a wrong K, a wrong bandwidth, a direct start, and K = 1.

`robustness_trials` runs the algorithms on random data. This script measures and draws the results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modeclust.plotting.palette import LINES, color
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.robustness_trials import (
    BOXES,
    DECADE,
    FACTORS,
    GAUSSIAN_ROWS,
    Decade,
    Trials,
    run_trials,
)

N_RUNS = 20
MEANS, MODES, DEFAULT = color(2), color(0), color(6)


def reproduce(*, quick: bool = False) -> Findings:
    """Measure how each claim holds over random data."""
    trials = run_trials(2, shrink=5) if quick else run_trials(N_RUNS)
    measures = _measure_clusters(trials) | _measure_bandwidths(trials) | _measure_starts(trials)
    return Findings(measures, [_draw(trials)], [_table_of_starts(trials), _table_of_runs(trials)])


def _measure_clusters(trials: Trials) -> dict[str, Measure]:
    few, many = trials.few, trials.many[FACTORS[0]]
    outliers, far = trials.outliers[BOXES[0]], trials.outliers[BOXES[-1]]
    return {
        "outliers-shift-means": Measure.mean_of(not run.means_cover for run in outliers),
        "outliers-spare-modes": Measure.mean_of(run.modes_cover for run in outliers),
        "outliers-move-modes-less": Measure.mean_of(
            run.move_of_modes < run.move_of_means for run in outliers
        ),
        "outliers-make-spurious-modes": Measure.mean_of(
            run.with_outliers - run.without for run in trials.mode_counts
        ),
        "far-outliers-shift-means": Measure.mean_of(not run.means_cover for run in far),
        "far-outliers-spare-modes": Measure.mean_of(run.default_covers for run in far),
        "far-outliers-at-a-set-bandwidth": Measure.mean_of(run.modes_cover for run in far),
        "few-means-in-low-density": Measure.mean_of(run.means for run in few),
        "few-modes-inside": Measure.mean_of(run.modes for run in few),
        "many-means-apart": Measure.mean_of(run.nearest_means for run in many),
        "many-modes-meet": Measure.mean_of(trials.single[GAUSSIAN_ROWS[0]]),
        "redundancy-found": Measure.mean_of(run.found for run in many),
        "redundancy-no-false-alarm": Measure.mean_of(run.false for run in many),
    }


def _measure_bandwidths(trials: Trials) -> dict[str, Measure]:
    short = {"six Gaussians": "blobs", "digits": "digits"}
    return {
        f"{prefix}decade-{short[name]}": Measure.mean_of(ratio(run) for run in runs)
        for prefix, ratio in (("", Decade.rand_ratio), ("mean-shift-", Decade.modes_ratio))
        for name, runs in trials.decades.items()
    }


def _measure_starts(trials: Trials) -> dict[str, Measure]:
    signs = np.concatenate(list(trials.starts.values()))
    measures = {
        f"homotopy-from-{start}": Measure.mean_of((own[own != 0] > 0).astype(float))
        for start, own in zip(("means", "rows"), signs.T, strict=True)
    }
    for claim, name in (("gaussians", "six Gaussians"), ("digits", "digits")):
        # A single mode of the density has no rank.
        lower = [run.lower for run in trials.one[name] if run.n_modes > 1]
        measures[f"one-mode-is-major-{claim}"] = Measure.mean_of(lower)
    return measures


def _table_of_starts(trials: Trials) -> Table:
    def count(signs: Any) -> str:
        return f"{np.sum(signs > 0)} / {np.sum(signs == 0)} / {np.sum(signs < 0)}"

    return Table(
        "Number of runs in which the path ends with a higher / the same / a lower objective than a "
        "direct start at the target bandwidth.",
        ["data", "both from K-means", "both from random rows"],
        [[name, *map(count, np.array(signs).T)] for name, signs in trials.starts.items()],
    )


def _table_of_runs(trials: Trials) -> Table:
    values: dict[str, list[float]] = {
        "outliers, mean-shift: modes without": [run.without for run in trials.mode_counts],
        "outliers, mean-shift: modes with": [run.with_outliers for run in trials.mode_counts],
        "K too small: lowest density of means": [run.means for run in trials.few],
        "K too small: lowest density of modes": [run.modes for run in trials.few],
    }
    for data, one in trials.one.items():
        values[f"K = 1: modes of the density, {data}"] = [run.n_modes for run in one]
    for box, outliers in trials.outliers.items():
        name = f"outliers in a box of {box} sd"
        values[f"{name}: move of the means"] = [run.move_of_means for run in outliers]
        values[f"{name}: move of the modes"] = [run.move_of_modes for run in outliers]
        values[f"{name}: move of the modes, KModes(K)"] = [run.move_of_default for run in outliers]
    for factor, many in trials.many.items():
        name = f"K too large, {factor:g} times the estimated bandwidth"
        values[f"{name}: between means in one Gaussian"] = [run.between_means for run in many]
        values[f"{name}: between modes in one Gaussian"] = [run.between_modes for run in many]
        values[f"{name}: share of redundant pairs found"] = [run.found for run in many]
    for n_rows in sorted(trials.single):
        name = f"a single Gaussian of {n_rows:,} rows: between modes / between means"
        values[name] = trials.single[n_rows]
    for data, decade in trials.decades.items():
        name = f"adjusted Rand index, {data}"
        at = int(np.abs(np.log(DECADE)).argmin())
        values[f"{name}: {DECADE[at]:.2g} of the estimated bandwidth"] = [
            run.rand[at] for run in decade
        ]
        values[f"{name}: KModes(K)"] = [run.default_rand for run in decade]
    return Table(
        "Quartiles over the runs. Distances are in standard deviations (sd) of a Gaussian, and "
        "densities are relative to the highest density at a row. KModes(K) is the library as it "
        "comes; the other modes are at a set bandwidth.",
        ["", "runs", "minimum", "25%", "median", "75%", "maximum"],
        [
            [
                name,
                str(len(own)),
                *(f"{q:.3g}" for q in np.quantile(own, [0, 0.25, 0.5, 0.75, 1])),
            ]
            for name, own in values.items()
        ],
    )


def _draw(trials: Trials) -> Picture:
    """Draw nine panels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 3, figsize=(11, 9.6), layout="constrained")
    panels = iter(axes.flat)
    few, many = trials.few, trials.many[FACTORS[0]]
    _draw_cover(next(panels), trials)
    _draw_strips(
        next(panels),
        "5% of outliers, mean-shift",
        "modes of the density",
        {
            "without": [r.without for r in trials.mode_counts],
            "with": [r.with_outliers for r in trials.mode_counts],
        },
        colors=(color(3), color(3)),
    )
    _draw_strips(
        next(panels),
        "K = 4 of 6 Gaussians",
        "lowest density / highest",
        {"means": [r.means for r in few], "modes": [r.modes for r in few]},
    )
    _draw_strips(
        next(panels),
        "K = 7 of 4 Gaussians",
        "between two in one (sd)",
        {"means": [r.between_means for r in many], "modes": [r.between_modes for r in many]},
    )
    _draw_strips(
        next(panels),
        "K = 7 of 4 Gaussians, redundant_clusters",
        "share of pairs found",
        {"in one": [r.found for r in many], "in two": [r.false for r in many]},
        colors=(MODES, MODES),
    )
    rand = {name: [run.rand for run in runs] for name, runs in trials.decades.items()}
    n_modes = {name: [run.n_modes for run in runs] for name, runs in trials.decades.items()}
    _draw_curves(next(panels), "K-modes", "adjusted Rand index", rand)
    _draw_curves(next(panels), "Mean-shift", "modes of the density", n_modes, log=True)
    _draw_starts(next(panels), trials.starts)
    _draw_strips(
        next(panels),
        "K = 1",
        "share of other modes lower",
        {name: [r.lower for r in runs if r.n_modes > 1] for name, runs in trials.one.items()},
        colors=(MODES, MODES),
    )
    caption = (
        "Outliers, a wrong K, a wrong bandwidth, a direct start, and K = 1. A dot or a thin line "
        "is a run on random data; a bar or a thick line is the mean of the runs. Distances are in "
        "standard deviations of a Gaussian, and the box of outliers in standard deviations of all "
        "rows. Bandwidths are relative to the estimated one. KModes(K) is the library as it comes; "
        "the other modes are at a set bandwidth."
    )
    return Picture(figure, caption)


def _draw_cover(ax: Any, trials: Trials) -> None:
    """Draw the share of runs in which each Gaussian has a center, over the width of the box."""
    positions = range(len(trials.outliers))
    boxes = trials.outliers.values()
    means = [np.mean([run.means_cover for run in runs]) for runs in boxes]
    modes = [np.mean([run.modes_cover for run in runs]) for runs in boxes]
    default = [np.mean([run.default_covers for run in runs]) for runs in boxes]
    ax.plot(positions, means, "o--", color=MEANS, label="means")
    ax.plot(positions, modes, "s-", color=MODES, label="modes")
    ax.plot(positions, default, "^:", color=DEFAULT, label="modes of KModes(K)")
    ax.set_xticks(positions, [f"{box} sd" for box in trials.outliers])
    ax.set(xlabel="width of the box of outliers", ylabel="share of runs", ylim=(-0.04, 1.04))
    _add_legend_above(ax)
    _finish(ax, "5% of outliers: each Gaussian has a center", pad=20)


def _draw_strips(
    ax: Any,
    title: str,
    label: str,
    runs: Mapping[str, Sequence[float]],
    colors: tuple[str, str] = (MEANS, MODES),
) -> None:
    """Draw two groups of runs as dots side by side, with a bar at each mean."""
    for i, (values, own, marker) in enumerate(zip(runs.values(), colors, "os", strict=True)):
        spread = i + np.linspace(-0.25, 0.25, len(values))
        ax.plot(spread, values, marker, color=own, markersize=4, alpha=0.7, linestyle="none")
        if values:
            ax.hlines(np.mean(values), i - 0.35, i + 0.35, color="black", linewidth=2)
    ax.set_xticks(range(len(runs)), list(runs))
    ax.set(xlim=(-0.6, len(runs) - 0.4), ylabel=label)
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    _finish(ax, title)


def _draw_curves(
    ax: Any, title: str, label: str, runs: Mapping[str, Sequence[Any]], *, log: bool = False
) -> None:
    """Draw a number over the decade of bandwidths for each data set."""
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    for i, (name, own) in enumerate(runs.items()):
        curves = np.array(own)
        style = {"color": color((0, 6)[i]), "linestyle": LINES[i]}
        ax.plot(DECADE, curves.T, linewidth=0.5, alpha=0.4, **style)
        ax.plot(DECADE, curves.mean(axis=0), linewidth=2.5, label=name, **style)
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
    _finish(ax, title)


def _draw_starts(ax: Any, starts: Mapping[str, Sequence[tuple[int, int]]]) -> None:
    """Draw how often the path ends with a higher, the same or a lower objective."""
    bars = [
        (f"{name},\nfrom {start}", np.array(signs)[:, i])
        for name, signs in starts.items()
        for i, start in enumerate(("K-means", "random rows"))
    ]
    positions = np.arange(len(bars))
    left = np.zeros(len(bars))
    for sign, word, own, hatch in (
        (1, "higher", MODES, ""),
        (0, "same", "#e4e7ea", ""),
        (-1, "lower", MEANS, "//"),
    ):
        widths = np.array([np.mean(signs == sign) for _, signs in bars])
        style = {"color": own, "hatch": hatch, "edgecolor": "white"}
        ax.barh(positions, widths, 0.7, left, label=word, **style)
        left += widths
    ax.set_yticks(positions, [name for name, _ in bars], fontsize="x-small")
    ax.invert_yaxis()
    ax.set(xlabel="share of runs", xlim=(0, 1))
    _add_legend_above(ax)
    _finish(ax, "Objective, path against direct start", pad=20)


def _add_legend_above(ax: Any) -> None:
    """Add a legend in one line between the axes and their title, where it covers nothing."""
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


def _finish(ax: Any, title: str, pad: float = 6) -> None:
    ax.set_title(title, fontsize="medium", pad=pad)
    ax.spines[["top", "right"]].set_visible(False)

"""Sections 2 to 4: outliers, a wrong K, a wrong bandwidth, a direct start, and K = 1."""

import numpy as np

from modeclust.paper.findings import Findings, Grid, Measure
from modeclust.paper.robustness_picture import draw_all
from modeclust.paper.robustness_trials import BOXES, DECADE, NARROWER, Decade, Trials, run_all

N_RUNS = 20


def reproduce(*, quick: bool = False) -> Findings:
    """Return how each of the claims holds over random data."""
    trials = run_all(2, shrink=5) if quick else run_all(N_RUNS)
    measures = {
        **_of_clusters(trials),
        **_of_bandwidths(trials),
        **_of_starts(trials),
    }
    return Findings(measures, [draw_all(trials, DECADE)], _tables(trials))


def _of_clusters(trials: Trials) -> dict[str, Measure]:
    few, many = trials.few, trials.many[NARROWER[0]]
    outliers, far = trials.outliers[BOXES[0]], trials.outliers[BOXES[-1]]
    return {
        "outliers-shift-means": Measure.mean_of(not run.means_cover for run in outliers),
        "outliers-spare-modes": Measure.mean_of(run.modes_cover for run in outliers),
        "outliers-move-modes-less": Measure.mean_of(
            run.move_of_modes < run.move_of_means for run in outliers
        ),
        "outliers-make-spurious-modes": Measure.mean_of(
            run.with_them - run.without for run in trials.spurious
        ),
        "far-outliers-shift-means": Measure.mean_of(not run.means_cover for run in far),
        "far-outliers-spare-modes": Measure.mean_of(run.modes_cover for run in far),
        "few-means-in-low-density": Measure.mean_of(run.means for run in few),
        "few-modes-inside": Measure.mean_of(run.modes for run in few),
        "many-means-apart": Measure.mean_of(run.nearest_means for run in many),
        "many-modes-meet": Measure.mean_of(run.between_modes / run.between_means for run in many),
        "redundancy-found": Measure.mean_of(run.found for run in many),
        "redundancy-no-false-alarm": Measure.mean_of(run.false for run in many),
    }


def _of_bandwidths(trials: Trials) -> dict[str, Measure]:
    short = {"six Gaussians": "blobs", "digits": "digits"}
    measures = {}
    for prefix, ratio in (("", Decade.kept), ("mean-shift-", Decade.spread)):
        for name, runs in trials.decades.items():
            claim = f"{prefix}decade-{short[name]}"
            measures[claim] = Measure.mean_of(ratio(run) for run in runs)
    return measures


def _of_starts(trials: Trials) -> dict[str, Measure]:
    signs = np.concatenate(list(trials.starts.values()))
    measures = {
        f"homotopy-from-{start}": Measure.mean_of((own[own != 0] > 0).astype(float))
        for start, own in zip(("means", "rows"), signs.T, strict=True)
    }
    for claim, name in (("gaussians", "six Gaussians"), ("digits", "digits")):
        # Where the density has one mode, none is higher or lower.
        lower = [run.lower for run in trials.one[name] if run.n_modes > 1]
        measures[f"one-mode-is-major-{claim}"] = Measure.mean_of(lower)
    return measures


def _tables(trials: Trials) -> list[Grid]:
    starts = [
        [
            name,
            *(
                f"{np.sum(own > 0)} / {np.sum(own == 0)} / {np.sum(own < 0)}"
                for own in np.array(signs).T
            ),
        ]
        for name, signs in trials.starts.items()
    ]
    quartiles: dict[str, list[float]] = {
        "outliers, mean-shift: modes without": [run.without for run in trials.spurious],
        "outliers, mean-shift: modes with": [run.with_them for run in trials.spurious],
        "K too small: lowest density of means": [run.means for run in trials.few],
        "K too small: lowest density of modes": [run.modes for run in trials.few],
        **{
            f"K = 1: modes of the density, {name}": [run.n_modes for run in runs]
            for name, runs in trials.one.items()
        },
    }
    quartiles |= _by_setting(trials)
    rows = [
        [
            name,
            str(len(values)),
            *(f"{q:.3g}" for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])),
        ]
        for name, values in quartiles.items()
    ]
    return [
        Grid(
            "Runs in which homotopy ends with a higher / the same / a lower objective than a "
            "direct start at the target bandwidth.",
            ["data", "both from K-means", "both from random rows"],
            starts,
        ),
        Grid(
            "What was measured, over the runs. Distances are in standard deviations (sd) of a "
            "Gaussian, densities over the highest at any row.",
            ["", "runs", "least", "quarter", "median", "three quarters", "most"],
            rows,
        ),
    ]


def _by_setting(trials: Trials) -> dict[str, list[float]]:
    """Return the runs by how far outliers are, and by how small the bandwidth is."""
    rows: dict[str, list[float]] = {}
    for box, outliers in trials.outliers.items():
        name = f"outliers in a box of {box} sd"
        rows[f"{name}: move of the means"] = [run.move_of_means for run in outliers]
        rows[f"{name}: move of the modes"] = [run.move_of_modes for run in outliers]
    for share, many in trials.many.items():
        name = f"K too large, bandwidth {share:g} of the estimated"
        rows[f"{name}: between means in one Gaussian"] = [run.between_means for run in many]
        rows[f"{name}: between modes in one Gaussian"] = [run.between_modes for run in many]
        rows[f"{name}: share of redundant pairs named"] = [run.found for run in many]
    return rows

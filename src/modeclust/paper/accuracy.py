"""Table 1: how well clusters agree with classes, on COIL-20, MNIST and TDT2.

Each run is a K-means, the best of 20, and K-modes from there: to the automatic bandwidth with the
defaults of the library, and on to a fifth of it. The seeds are those of K-means++, which ends lower
than random rows do. As both have the same start, their differences are paired. MNIST is sampled
anew for each run; the other two are whole. On TDT2 mean-shift climbs from some of the rows only,
and the others join the nearest of these: from all of them it takes several minutes.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from modeclust import KModes, MeanShift, kmodes_path
from modeclust.paper.claims import claims_of
from modeclust.paper.findings import Findings, Grid, Measure, Picture
from modeclust.paper.sources import Source, load_source
from modeclust.plotting.palette import color, line

Doubles = npt.NDArray[np.float64]

N_INIT = 20
FURTHER = 5  # the smallest bandwidth is the automatic one over this
N_FURTHER = 20
INDICES = ("ARI", "NMI")


class Plan(NamedTuple):
    """How a data set is used."""

    name: str
    title: str
    n_runs: int
    n_each: int | None = None  # rows of each class; None is all
    n_mean_shifts: int = 1  # samples on which mean-shift is run too
    seeds: Any = "all"  # of mean-shift


PLANS = {
    "coil": Plan("coil20", "COIL-20", 20),
    "mnist": Plan("mnist", "MNIST", 10, 200, n_mean_shifts=3),
    "tdt2": Plan("tdt2", "TDT2", 5, seeds=1000),
}


class Run(NamedTuple):
    """The agreement with the classes along one path, in percent."""

    bandwidths: Doubles  # over the automatic one; inf first
    scores: Doubles  # (S, 2)
    at_target: int  # the step of the automatic bandwidth

    @property
    def kmeans(self) -> Doubles:
        """Both indices of K-means."""
        first: Doubles = self.scores[0]
        return first

    @property
    def kmodes(self) -> Doubles:
        """Both indices at the automatic bandwidth."""
        here: Doubles = self.scores[self.at_target]
        return here

    @property
    def best(self) -> Doubles:
        """The best of each index over all bandwidths."""
        best: Doubles = self.scores.max(axis=0)
        return best


class Shifted(NamedTuple):
    """What mean-shift found."""

    n_modes: int
    share: float  # of the rows, in the largest cluster
    scores: Doubles  # (2,)
    bandwidth: float


def reproduce(*, quick: bool = False) -> Findings:
    """Return both indices for K-means, K-modes and mean-shift, and their differences."""
    measures: dict[str, Measure] = {}
    runs: dict[str, list[Run]] = {}
    shifts: dict[str, list[Shifted]] = {}
    stand_ins: dict[str, str] = {}
    for key, plan in PLANS.items():
        source = load_source(plan.name, fetch=not quick)
        if source.stand_in:
            stand_ins[key] = source.stand_in
        n_runs = 2 if quick else plan.n_runs
        runs[key], shifts[key] = [], []
        for seed, sample in enumerate(_samples(source, plan, n_runs, quick=quick)):
            runs[key].append(follow(sample, seed, n_init=2 if quick else N_INIT))
            if seed < plan.n_mean_shifts:
                shifts[key].append(shift(sample, plan.seeds))
        measures |= _measures(key, runs[key], shifts[key])
    return Findings(
        measures,
        [Picture(_draw(runs), CAPTION)],
        [_table(runs, shifts), _modes_table(shifts)],
        stand_ins,
    )


def _samples(source: Source, plan: Plan, n_runs: int, *, quick: bool) -> Iterator[Source]:
    n_each = 6 if quick else plan.n_each
    if quick:
        source = _of_few_features(source)
    for seed in range(n_runs):
        yield source if n_each is None else source.draw(n_each, seed)


def _of_few_features(source: Source, most: int = 500) -> Source:
    """Return the features that most rows have."""
    n_rows = np.asarray((source.X != 0).sum(axis=0)).ravel()
    return source._replace(X=source.X[:, np.argsort(-n_rows, kind="stable")[:most]])


def follow(data: Source, seed: int, n_init: int = N_INIT) -> Run:
    """Return the agreement along K-modes' path, from K-means to a fifth of the bandwidth."""
    model = KModes(data.n_classes, n_init=n_init, random_state=seed, store_labels=True).fit(data.X)
    further = kmodes_path(
        data.X,
        data.n_classes,
        bandwidths=np.geomspace(model.bandwidth_, model.bandwidth_ / FURTHER, N_FURTHER + 1)[1:],
        init=model.cluster_centers_,
    )
    bandwidths = np.concatenate([model.path_.bandwidths, further.bandwidths]) / model.bandwidth_
    points = (*model.path_, *further)
    scores = np.array([agreement(data.y, point.labels) for point in points])
    return Run(bandwidths, scores, len(model.path_) - 1)


def agreement(classes: Any, labels: Any) -> tuple[float, float]:
    """Return the adjusted Rand index and the normalised mutual information, in percent."""
    return (
        100 * adjusted_rand_score(classes, labels),
        100 * normalized_mutual_info_score(classes, labels),
    )


def shift(data: Source, seeds: Any = "all") -> Shifted:
    """Return what mean-shift finds with as many modes as there are classes, or one or two more."""
    for n_modes in range(data.n_classes, data.n_classes + 3):
        try:
            model = MeanShift(n_clusters=n_modes, seeds=seeds, random_state=0).fit(data.X)
        except ValueError:  # no bandwidth has just so many
            continue
        scores = np.array(agreement(data.y, model.labels_))
        share = model.counts_.max() / model.counts_.sum()
        return Shifted(n_modes, float(share), scores, float(model.bandwidth_))
    return Shifted(0, np.nan, np.full(len(INDICES), np.nan), np.nan)


def _measures(key: str, runs: list[Run], shifts: list[Shifted]) -> dict[str, Measure]:
    measures: dict[str, Measure] = {}
    for i, index in enumerate(INDICES):
        name = index.lower()
        measures |= {
            f"{key}-kmeans-{name}": Measure.mean_of(run.kmeans[i] for run in runs),
            f"{key}-kmodes-{name}": Measure.mean_of(run.kmodes[i] for run in runs),
            f"{key}-gain-{name}": Measure.mean_of(run.kmodes[i] - run.kmeans[i] for run in runs),
            f"{key}-best-{name}": Measure.mean_of(run.best[i] - run.kmeans[i] for run in runs),
            f"{key}-mean-shift-{name}": Measure.mean_of(found.scores[i] for found in shifts),
        }
    return measures


def _table(runs: dict[str, list[Run]], shifts: dict[str, list[Shifted]]) -> Grid:
    rows = []
    for key, own in runs.items():
        for i, index in enumerate(INDICES):
            ours = [
                [run.kmeans[i] for run in own],
                [run.kmodes[i] for run in own],
                [run.best[i] for run in own],
                [found.scores[i] for found in shifts[key]],
            ]
            printed = zip(_of_the_paper(key, index), ours, strict=True)
            cells = (f"{paper} → {_spread(values)}" for paper, values in printed)
            rows.append([f"{PLANS[key].title}, {index}", *cells])
    return Grid(
        "Agreement with the classes in percent: the paper's figure, and the mean of ours ± the "
        "standard deviation over the runs.",
        ["paper → ours", "K-means", "K-modes, automatic", "K-modes, best", "mean-shift"],
        rows,
    )


def _of_the_paper(key: str, index: str) -> list[str]:
    """Return the figures of a row as they are printed."""
    kmeans, kmodes, best_gain, mean_shift = (
        claims_of("accuracy")[f"{key}-{what}-{index.lower()}"].paper
        for what in ("kmeans", "kmodes", "best", "mean-shift")
    )
    best = round(float(kmeans) + float(best_gain), 1)
    return [str(kmeans), str(kmodes), str(best), str(mean_shift).partition(":")[0]]


def _modes_table(shifts: dict[str, list[Shifted]]) -> Grid:
    rows = [
        [
            PLANS[key].title,
            "all rows" if PLANS[key].seeds == "all" else f"{PLANS[key].seeds:,} rows",
            f"{s.bandwidth:.4g}",
            str(s.n_modes),
            f"{s.share:.1%}",
        ]
        for key, found in shifts.items()
        for s in found
    ]
    columns = ["data", "climbs from", "bandwidth", "modes", "rows of the largest"]
    return Grid(
        "Mean-shift, with as many modes as there are classes, or one or two more.", columns, rows
    )


def _spread(values: list[float]) -> str:
    if np.isnan(values).any():
        return "none"
    mean = f"{np.mean(values):.1f}"
    return f"{mean} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else mean


CAPTION = (
    "How much better than K-means the clusters agree with the classes as the bandwidth falls: the "
    "mean over the runs, with its 95% interval. 1 is the automatic bandwidth."
)


def _draw(runs: dict[str, list[Run]]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(runs), figsize=(11, 3.8), layout="constrained")
    for ax, (key, own) in zip(axes, runs.items(), strict=True):
        # Where a path starts depends a little on the run.
        bandwidths = np.exp(np.mean([np.log(run.bandwidths[1:]) for run in own], axis=0))
        for i, index in enumerate(INDICES):
            gains = np.array([run.scores[1:, i] - run.kmeans[i] for run in own])
            steps = [Measure.mean_of(gain) for gain in gains.T]
            looks: dict[str, Any] = {"color": color(2 * i), "ls": line(10 * i)}
            ax.plot(bandwidths, [step.value for step in steps], label=index, **looks)
            low, high = [step.low for step in steps], [step.high for step in steps]
            ax.fill_between(bandwidths, low, high, color=looks["color"], alpha=0.15, lw=0)
        ax.axhline(0, color="black", lw=0.8)
        ax.axvline(1, color="black", lw=0.8, ls=":")
        ax.set(xscale="log", title=f"{PLANS[key].title} ({len(own)} runs)")
        ax.set_xlabel("bandwidth, over the automatic one")
        ax.set_xticks([10, 5, 2, 1, 0.5, 0.2], ["10", "5", "2", "1", "0.5", "0.2"], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_xlim(bandwidths[0], bandwidths[-1])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("gain over K-means (points)")
    axes[0].legend(frameon=False, loc="lower left")
    return figure

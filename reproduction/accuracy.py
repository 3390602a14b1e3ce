"""Table 1: the agreement of clusters with classes, on COIL-20, MNIST and TDT2.

A run takes the best of 20 K-means, and follows the path of K-modes from there: to the estimated
bandwidth, then to a fifth of it. K-means and K-modes of a run have the same start, so their
differences are paired. `KModes(K)` as it comes is fitted beside them. MNIST is a new sample in each
run; the other two data sets are used whole. On TDT2, mean-shift starts from 1,000 rows, and the
other rows get the label of the nearest of these: from all rows it would take several minutes.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust import KModes, MeanShift, kmodes_path
from modeclust.plotting.palette import color, line
from reproduction.claims import claims_of
from reproduction.default_fit import N_NEIGHBORS, DefaultFit, agreement, fit_default, purity_near
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.sources import Source, load_source

Doubles = npt.NDArray[np.float64]

N_INIT = 20
FURTHER = 5  # the smallest bandwidth is the estimated one divided by this
N_FURTHER = 20
INDICES = ("ARI", "NMI")


class Plan(NamedTuple):
    """The use of a data set."""

    name: str
    title: str
    n_runs: int
    n_each: int | None = None  # rows of each class; None means all
    n_mean_shifts: int = 1  # samples on which mean-shift runs too
    seeds: Any = "all"  # rows from which mean-shift starts


PLANS = {
    "coil": Plan("coil20", "COIL-20", 20),
    "mnist": Plan("mnist", "MNIST", 10, 200, n_mean_shifts=3),
    "tdt2": Plan("tdt2", "TDT2", 5, seeds=1000),
}


class Run(NamedTuple):
    """The agreement with the classes along one path, in percent."""

    bandwidths: Doubles  # divided by the estimated one; inf first
    scores: Doubles  # (S, 2)
    at_target: int  # the step of the estimated bandwidth
    purities: tuple[float, float]  # near the centers of K-means and of K-modes at that bandwidth
    default: DefaultFit

    @property
    def kmeans(self) -> Doubles:
        """Return both indices of K-means."""
        scores: Doubles = self.scores[0]
        return scores

    @property
    def kmodes(self) -> Doubles:
        """Return both indices of K-modes at the estimated bandwidth."""
        scores: Doubles = self.scores[self.at_target]
        return scores

    @property
    def best(self) -> Doubles:
        """Return the best value of each index over all bandwidths."""
        scores: Doubles = self.scores.max(axis=0)
        return scores


class MeanShiftRun(NamedTuple):
    """The result of mean-shift."""

    n_modes: int
    share: float  # of rows in the largest cluster
    scores: Doubles  # (2,)
    bandwidth: float


def reproduce(*, quick: bool = False) -> Findings:
    """Measure both indices for K-means, K-modes and mean-shift."""
    measures: dict[str, Measure] = {}
    runs: dict[str, list[Run]] = {}
    shifts: dict[str, list[MeanShiftRun]] = {}
    stand_ins: dict[str, str] = {}
    for key, plan in PLANS.items():
        source = load_source(plan.name, fetch=not quick)
        if source.stand_in:
            stand_ins[key] = source.stand_in
        n_runs = 2 if quick else plan.n_runs
        runs[key], shifts[key] = [], []
        for seed, sample in enumerate(_samples(source, plan, n_runs, quick=quick)):
            runs[key].append(run_kmodes(sample, seed, n_init=2 if quick else N_INIT))
            if seed < plan.n_mean_shifts:
                shifts[key].append(run_mean_shift(sample, plan.seeds))
        measures |= _measures(key, runs[key], shifts[key])
    return Findings(
        measures,
        [Picture(_draw(runs), CAPTION)],
        [_table(runs, shifts), _table_of_purity(runs), _table_of_modes(shifts)],
        stand_ins,
    )


def _samples(source: Source, plan: Plan, n_runs: int, *, quick: bool) -> Iterator[Source]:
    n_each = 6 if quick else plan.n_each
    if quick:
        source = _keep_frequent_features(source)
    for seed in range(n_runs):
        yield source if n_each is None else source.draw(n_each, seed)


def _keep_frequent_features(source: Source, n_features: int = 500) -> Source:
    """Return the features that are not zero in the most rows."""
    n_rows = np.asarray((source.X != 0).sum(axis=0)).ravel()
    return source._replace(X=source.X[:, np.argsort(-n_rows, kind="stable")[:n_features]])


def run_kmodes(data: Source, seed: int, n_init: int = N_INIT) -> Run:
    """Return the agreement along the path, from K-means to a fifth of the estimated bandwidth."""
    model = KModes(
        data.n_classes, bandwidth="knn", n_init=n_init, random_state=seed, store_labels=True
    ).fit(data.X)
    further = kmodes_path(
        data.X,
        data.n_classes,
        bandwidths=np.geomspace(model.bandwidth_, model.bandwidth_ / FURTHER, N_FURTHER + 1)[1:],
        init=model.cluster_centers_,
    )
    bandwidths = np.concatenate([model.path_.bandwidths, further.bandwidths]) / model.bandwidth_
    points = (*model.path_, *further)
    scores = np.array([agreement(data.y, point.labels) for point in points])
    kmeans, kmodes = (
        purity_near(data.X, data.y, point.labels, point.centers)
        for point in (model.path_[0], model.path_[-1])
    )
    default = fit_default(data.X, data.y, data.n_classes, seed)
    return Run(bandwidths, scores, len(model.path_) - 1, (kmeans, kmodes), default)


def run_mean_shift(data: Source, seeds: Any = "all") -> MeanShiftRun:
    """Run mean-shift with one mode for each class, or one or two modes more."""
    for n_modes in range(data.n_classes, data.n_classes + 3):
        try:
            model = MeanShift(n_clusters=n_modes, seeds=seeds, random_state=0).fit(data.X)
        except ValueError:  # no bandwidth has this number of modes
            continue
        scores = np.array(agreement(data.y, model.labels_))
        share = model.counts_.max() / model.counts_.sum()
        return MeanShiftRun(n_modes, float(share), scores, float(model.bandwidth_))
    return MeanShiftRun(0, np.nan, np.full(len(INDICES), np.nan), np.nan)


def _measures(key: str, runs: list[Run], shifts: list[MeanShiftRun]) -> dict[str, Measure]:
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


def _table(runs: dict[str, list[Run]], shifts: dict[str, list[MeanShiftRun]]) -> Table:
    rows = []
    for key, own in runs.items():
        for i, index in enumerate(INDICES):
            ours = [
                [run.kmeans[i] for run in own],
                [run.kmodes[i] for run in own],
                [run.best[i] for run in own],
                [found.scores[i] for found in shifts[key]],
            ]
            both = zip(_numbers_of_the_paper(key, index), ours, strict=True)
            cells = (f"{paper} → {_spread(values)}" for paper, values in both)
            default = _spread([run.default.scores[i] for run in own])
            rows.append([f"{PLANS[key].title}, {index}", *cells, default])
    return Table(
        "Agreement with the classes in percent: the paper's number, and the mean of our runs ± "
        "their standard deviation. The last column is KModes(K) as it comes, which the paper does "
        "not have.",
        [
            "paper → ours",
            "K-means",
            "K-modes, estimated",
            "K-modes, best",
            "mean-shift",
            "KModes(K)",
        ],
        rows,
    )


def _table_of_purity(runs: dict[str, list[Run]]) -> Table:
    rows = []
    for key, own in runs.items():
        purities = np.array([[*run.purities, run.default.purity] for run in own])
        averaged = [float(np.median(run.default.model.rows_averaged_)) for run in own]
        cells = (_spread((100 * values).tolist()) for values in purities.T)
        rows.append([PLANS[key].title, *cells, f"{np.mean(averaged):.1f}"])
    return Table(
        f"Share of the most common class among the {N_NEIGHBORS} rows of a cluster nearest to its "
        "center, in percent. For KModes(K) as it comes, the centers are modes_; the last column "
        "is the median number of rows that they average.",
        ["", "K-means", "K-modes, estimated", "KModes(K)", "rows averaged"],
        rows,
    )


def _numbers_of_the_paper(key: str, index: str) -> list[str]:
    """Return the numbers of a row of the paper's table."""
    kmeans, kmodes, best_gain, mean_shift = (
        claims_of("accuracy")[f"{key}-{what}-{index.lower()}"].paper
        for what in ("kmeans", "kmodes", "best", "mean-shift")
    )
    best = round(float(kmeans) + float(best_gain), 1)
    return [str(kmeans), str(kmodes), str(best), str(mean_shift).partition(":")[0]]


def _table_of_modes(shifts: dict[str, list[MeanShiftRun]]) -> Table:
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
    return Table(
        "Mean-shift with one mode for each class, or one or two modes more.",
        ["data", "starts from", "bandwidth", "modes", "rows in the largest cluster"],
        rows,
    )


def _spread(values: list[float]) -> str:
    if np.isnan(values).any():
        return "none"
    mean = f"{np.mean(values):.1f}"
    return f"{mean} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else mean


CAPTION = (
    "Gain of K-modes over K-means in agreement with the classes as the bandwidth decreases: mean "
    "over the runs with its 95% interval. 1 is the estimated bandwidth."
)


def _draw(runs: dict[str, list[Run]]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(runs), figsize=(11, 3.8), layout="constrained")
    for ax, (key, own) in zip(axes, runs.items(), strict=True):
        # The first bandwidth of the path differs slightly between runs.
        bandwidths = np.exp(np.mean([np.log(run.bandwidths[1:]) for run in own], axis=0))
        for i, index in enumerate(INDICES):
            gains = np.array([run.scores[1:, i] - run.kmeans[i] for run in own])
            steps = [Measure.mean_of(gain) for gain in gains.T]
            style: dict[str, Any] = {"color": color(2 * i), "ls": line(10 * i)}
            ax.plot(bandwidths, [step.value for step in steps], label=index, **style)
            low, high = [step.low for step in steps], [step.high for step in steps]
            ax.fill_between(bandwidths, low, high, color=style["color"], alpha=0.15, lw=0)
        ax.axhline(0, color="black", lw=0.8)
        ax.axvline(1, color="black", lw=0.8, ls=":")
        ax.set(xscale="log", title=f"{PLANS[key].title} ({len(own)} runs)")
        ax.set_xlabel("bandwidth / estimated bandwidth")
        ax.set_xticks([10, 5, 2, 1, 0.5, 0.2], ["10", "5", "2", "1", "0.5", "0.2"], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_xlim(bandwidths[0], bandwidths[-1])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("gain over K-means (points)")
    axes[0].legend(frameon=False, loc="lower left")
    return figure

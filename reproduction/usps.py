"""Fig. 5: handwritten digits.

K-means averages digits of several classes and styles. K-modes finds valid digits, each typical of
its neighbours. Mean-shift with the same number of modes has one huge cluster and a few outliers.
`KModes(K)` as it comes is shown beside the bandwidths of the paper.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from modeclust import MeanShift, ModeTree, kmodes_path, modes_by_bandwidth
from modeclust.plotting import ModesDisplay
from modeclust.plotting.exemplars import nearest_in_cluster
from modeclust.plotting.palette import color
from modeclust.solvers.redundancy import SIGNIFICANT
from reproduction.default_fit import N_NEIGHBORS, fit_default, purity_near
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.sources import Source, load_source
from reproduction.sweeps import Schedule
from reproduction.typicality import densities_at, distances_to_rows, greyness

Doubles = npt.NDArray[np.float64]
ImageShape = tuple[int, int] | None

N_CLUSTERS = 10
FIRST, LAST = 10.0, 1.0  # bandwidths
PAPERS_BANDWIDTH = 1.8369  # of mean-shift with ten modes; the search starts there
MANY_MODES = 100
ISOLATION = 10  # an outlier is far from its 10th neighbour


class Size(NamedTuple):
    """The size of a run."""

    n_each: int  # images of each digit
    n_bandwidths: int
    n_init: int
    n_samples: int
    n_trees: int  # samples for which the modes are counted over bandwidths
    tree_bandwidths: Doubles


FULL = Size(100, 100, 20, 10, 3, np.geomspace(1, 4, 60))
QUICK = Size(12, 5, 1, 2, 1, np.geomspace(1, 4, 5))


class Removal(NamedTuple):
    """The effect on a mode if its nearest mode is removed."""

    removed: int
    kept: int
    center: npt.NDArray[Any]  # the mode that is kept, after the second fit
    taken: float  # share of the rows of the removed mode that it takes over
    moved: float  # its move, divided by its median distance to the others


class Sample:
    """Random images, others held out, and the clusters of both algorithms."""

    def __init__(self, source: Source, size: Size, seed: int) -> None:
        both = source.draw(2 * size.n_each, seed)
        self.X, self.held_out, self.y, _ = train_test_split(
            both.X, both.y, train_size=0.5, stratify=both.y, random_state=seed
        )
        schedule = Schedule(FIRST, LAST, size.n_bandwidths)
        self.model = schedule.fit(self.X, N_CLUSTERS, seed=seed, n_init=size.n_init)
        self.means: Any = self.model.path_.centers[0]
        self.modes: Any = self.model.cluster_centers_
        self.default = fit_default(self.X, self.y, N_CLUSTERS, seed)

    @cached_property
    def mean_shift(self) -> MeanShift | None:
        """Mean-shift with ten modes, or None if no bandwidth has ten."""
        search = MeanShift(PAPERS_BANDWIDTH, n_clusters=N_CLUSTERS, random_state=0)
        try:
            return search.fit(self.X)
        except ValueError:
            return None

    def purity(self, step: int) -> float:
        """Return the purity of the neighbours of the centers at a step of the path."""
        point = self.model.path_[step]
        return purity_near(self.X, self.y, point.labels, point.centers)

    def rand(self, step: int) -> float:
        """Return the adjusted Rand index at a step of the path."""
        return float(adjusted_rand_score(self.y, self.model.path_[step].labels))

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The two nearest modes, the one with the higher density first."""
        i, j = nearest_pair(self.modes)
        at_i, at_j = densities_at(self.X, self.modes[[i, j]], LAST)
        return (i, j) if at_i >= at_j else (j, i)

    @property
    def is_redundant(self) -> bool:
        """Whether the density has no significant dip between the two nearest modes."""
        return bool(self.model.dip_significance_[self.pair] < SIGNIFICANT)

    @cached_property
    def without_lower(self) -> Removal:
        """K = 9 without the lower mode of the pair."""
        return self._remove(self.pair[1], self.pair[0])

    @cached_property
    def without_higher(self) -> Removal:
        """K = 9 without the higher mode of the pair."""
        return self._remove(*self.pair)

    def _remove(self, removed: int, kept: int) -> Removal:
        stay = np.delete(np.arange(N_CLUSTERS), removed)
        init = self.modes[stay]
        again = kmodes_path(self.X, len(stay), bandwidths=[LAST], init=init, store_labels=True)[-1]
        index = int(np.flatnonzero(stay == kept)[0])
        labels = np.asarray(again.labels)[self.model.labels_ == removed]
        others = np.delete(self.modes, [kept, removed], axis=0)
        median = np.median(np.linalg.norm(others - self.modes[kept], axis=1))
        move = np.linalg.norm(again.centers[index] - self.modes[kept])
        taken = float(np.mean(labels == index))
        return Removal(removed, kept, again.centers[index], taken, float(move / median))


def reproduce(*, quick: bool = False) -> Findings:
    """Measure how pure, sharp and redundant the centers of the three algorithms are."""
    size = QUICK if quick else FULL
    source = load_source("usps", fetch=not quick)
    samples = [Sample(source, size, seed) for seed in range(size.n_samples)]
    trees = [
        modes_by_bandwidth(sample.X, size.tree_bandwidths, random_state=0)
        for sample in samples[: size.n_trees]
    ]
    steps = np.unique([0, *np.linspace(1, size.n_bandwidths, 21).astype(int)]).tolist()
    bandwidths = samples[0].model.path_.bandwidths[steps]
    purities = np.array([[sample.purity(step) for step in steps] for sample in samples])
    shape = source.image_shape
    with_pair = next((s for s in samples if s.is_redundant), samples[0])
    return Findings(
        _measure_centers(samples) | _measure_pairs(samples) | _measure_mean_shift(samples, trees),
        [
            *_draw_centers(samples, shape),
            _draw_pair(with_pair, shape),
            _draw_sweeps(bandwidths, purities, trees),
        ],
        [_table(samples)],
        {"": source.stand_in} if source.stand_in else {},
    )


def nearest_pair(centers: Doubles) -> tuple[int, int]:
    """Return the two centers with the smallest distance between them."""
    distances = squareform(pdist(centers))
    np.fill_diagonal(distances, np.inf)
    i, j = np.unravel_index(distances.argmin(), distances.shape)
    return int(i), int(j)


def closeness(centers: Doubles) -> float:
    """Return the smallest distance between two centers, divided by the median distance."""
    distances = pdist(centers)
    return float(distances.min() / np.median(distances))


def isolation(X: Doubles, points: Doubles) -> float:
    """Return the share of rows with a nearer 10th neighbour than a point, averaged over points."""
    # One neighbour more: the nearest neighbour of a row, or of a mode at a row, is the row itself.
    search = NearestNeighbors(n_neighbors=ISOLATION + 1).fit(X)
    of_rows, of_points = (search.kneighbors(own)[0][:, -1] for own in (X, points))
    return float((of_rows[None] < of_points[:, None]).mean())


def interval_ratio(tree: ModeTree, many: int) -> float:
    """Return the smallest bandwidth with one mode, divided by the largest with `many` or more.

    It is NaN if there is no such bandwidth.
    """
    one, more = tree.bandwidths[tree.n_modes == 1], tree.bandwidths[tree.n_modes >= many]
    return float(one.min() / more.max()) if len(one) and len(more) else float("nan")


def _measure_centers(samples: list[Sample]) -> dict[str, Measure]:
    pure = np.array([[sample.purity(0), sample.purity(-1)] for sample in samples])
    grey = np.array([[greyness(s.means), greyness(s.modes), greyness(s.X)] for s in samples])
    near = [
        distances_to_rows(s.held_out, s.modes).mean()
        / distances_to_rows(s.held_out, s.means).mean()
        for s in samples
    ]
    return {
        "neighbours-of-means-are-mixed": Measure.mean_of(pure[:, 0]),
        "neighbours-of-modes-are-of-one-class": Measure.mean_of(pure[:, 1]),
        "modes-purer-than-means": Measure.mean_of(pure[:, 1] - pure[:, 0]),
        "means-are-blurred": Measure.mean_of(grey[:, 0] / grey[:, 2]),
        "modes-are-sharp": Measure.mean_of(grey[:, 1] / grey[:, 2]),
        "modes-nearer-to-data": Measure.mean_of(near),
        "modes-average-out-noise": Measure.mean_of(map(_mode_to_exemplar, samples)),
    }


def _mode_to_exemplar(sample: Sample) -> float:
    """Return the distance of modes to held-out images, divided by the distance of exemplars."""
    exemplars = sample.model.exemplar_indices_
    nonempty = exemplars >= 0
    points = sample.modes[nonempty], sample.X[exemplars[nonempty]]
    modes, rows = (distances_to_rows(sample.held_out, own, N_NEIGHBORS).mean() for own in points)
    return float(modes / rows)


def _measure_pairs(samples: list[Sample]) -> dict[str, Measure]:
    removals = [sample.without_lower for sample in samples if sample.is_redundant]
    return {
        "two-modes-alike": Measure.mean_of(closeness(sample.modes) for sample in samples),
        "no-two-means-alike": Measure.mean_of(closeness(sample.means) for sample in samples),
        "redundancy-is-found": Measure.mean_of(float(sample.is_redundant) for sample in samples),
        "nine-take-over-the-rows": Measure.mean_of(removal.taken for removal in removals),
        "nine-keep-the-mode": Measure.mean_of(removal.moved for removal in removals),
    }


def _measure_mean_shift(samples: list[Sample], trees: list[ModeTree]) -> dict[str, Measure]:
    fits = [(sample, sample.mean_shift) for sample in samples if sample.mean_shift is not None]
    return {
        "mean-shift-bandwidth": Measure.mean_of(fit.bandwidth_ for _, fit in fits),
        "mean-shift-largest-cluster": Measure.mean_of(
            fit.counts_.max() / len(s.X) for s, fit in fits
        ),
        "mean-shift-second-cluster": Measure.mean_of(
            float(np.sort(fit.counts_)[-2]) for _, fit in fits
        ),
        "mean-shift-largest-is-a-one": Measure.mean_of(_share_of_ones(s, fit) for s, fit in fits),
        "mean-shift-finds-outliers": Measure.mean_of(_isolation(s, fit) for s, fit in fits),
        "mean-shift-narrow-interval": Measure.mean_of(
            interval_ratio(tree, MANY_MODES) for tree in trees
        ),
    }


def _share_of_ones(sample: Sample, fit: MeanShift) -> float:
    """Return the share of ones among the neighbours of the mode of the largest cluster."""
    nearest = nearest_in_cluster(sample.X, fit.labels_, fit.cluster_centers_, N_NEIGHBORS)
    rows = nearest[fit.counts_.argmax()]
    return float(np.mean(sample.y[rows[rows >= 0]] == 1))


def _isolation(sample: Sample, fit: MeanShift) -> float:
    """Return the isolation of all modes but that of the largest cluster."""
    return isolation(sample.X, np.delete(fit.cluster_centers_, fit.counts_.argmax(), axis=0))


def _table(samples: list[Sample]) -> Table:
    columns = [
        "sample",
        "K-means: purity",
        "K-modes: purity",
        "KModes(K): purity",
        "adjusted Rand index of all three",
        "redundant pair",
        "without the lower: rows taken over, move",
        "without the higher",
        "mean-shift: bandwidth",
        "mean-shift: rows in each cluster",
    ]
    purities = [(s.purity(0), s.purity(-1), s.default.purity) for s in samples]
    indices = [(s.rand(0), s.rand(-1), s.default.scores[0] / 100) for s in samples]
    rows = []
    for i, sample in enumerate(samples):
        removals = (sample.without_lower, sample.without_higher) if sample.is_redundant else ()
        fit = sample.mean_shift
        rows.append(
            [
                str(i),
                *(f"{share:.3f}" for share in purities[i]),
                ", ".join(f"{index:.3f}" for index in indices[i]),
                f"{sample.pair[0]} and {sample.pair[1]}" if removals else "none",
                *([f"{r.taken:.1%}, {r.moved:.3f}" for r in removals] or ["", ""]),
                "none" if fit is None else f"{fit.bandwidth_:.4f}",
                "" if fit is None else ", ".join(map(str, np.sort(fit.counts_)[::-1])),
            ]
        )
    shares = (f"{share:.3f}" for share in np.mean(purities, axis=0))
    rand = ", ".join(f"{index:.3f}" for index in np.mean(indices, axis=0))
    rows.append(["mean", *shares, rand, "", "", "", "", ""])
    caption = (
        "Each random sample. One mode of the redundant pair is removed, and K-modes runs again "
        "with K = 9: the share of its rows that the other mode takes over, and the move of the "
        "other mode, divided by its median distance to the rest. Mean-shift has ten modes. K-modes "
        "ends at a bandwidth of 1, and KModes(K) is the library as it comes."
    )
    return Table(caption, columns, rows)


def _draw_centers(samples: Sequence[Sample], shape: ImageShape) -> list[Picture]:
    """Draw the centers of K-means, K-modes and mean-shift with their neighbours."""
    first = samples[0]
    pictures = []
    for step, bandwidth, name in ((0, np.inf, "K-means"), (-1, None, "K-modes")):
        display = _draw_neighbors(first.model, first, shape, bandwidth)
        caption = (
            f"{name}: each center, the images nearest to it in its cluster, and their classes. On "
            f"average, {first.purity(step):.0%} of these images are of the most common class."
        )
        pictures.append(Picture(display.figure_, caption))
    pictures.append(_draw_default(first, shape))
    for sample in samples:
        if (fit := sample.mean_shift) is not None:
            display = _draw_neighbors(fit, sample, shape, None)
            display.title_.set_text(f"Mean-shift: {display.title_.get_text().lower()}")
            share = fit.counts_.max() / len(sample.X)
            caption = f"Mean-shift with ten modes: one cluster has {share:.1%} of the rows."
            pictures.append(Picture(display.figure_, caption))
            break
    return pictures


def _draw_default(sample: Sample, shape: ImageShape) -> Picture:
    """Draw the modes of the default with their neighbours."""
    model, _, share = sample.default
    display = _draw_neighbors(model, sample, shape, None)
    display.title_.set_text("KModes(K) as it comes: a bandwidth for each cluster")
    averaged = np.sort(model.rows_averaged_)
    caption = (
        "KModes(K) as it comes, with a bandwidth for each cluster: each mode averages "
        f"{averaged[0]:.0f} to {averaged[-1]:.0f} images. On average, {share:.0%} of the images "
        "nearest to it are of the most common class."
    )
    return Picture(display.figure_, caption)


def _draw_neighbors(
    model: Any, sample: Sample, shape: ImageShape, bandwidth: float | None
) -> ModesDisplay:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(11, 5.4), layout="constrained")
    return ModesDisplay.from_estimator(
        model,
        sample.X,
        sample.y,
        bandwidth=bandwidth,
        n_exemplars=N_NEIGHBORS,
        image_shape=shape,
        ax=ax,
    )


def _draw_pair(sample: Sample, shape: ImageShape) -> Picture:
    """Draw the two nearest modes, and the one that is kept after the other is removed."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(6.6, 2.6), layout="constrained")
    removed, kept, center, taken, moved = sample.without_lower
    images = {
        f"cluster {removed},\nremoved": (removed, sample.modes[removed]),
        f"cluster {kept},\nkept": (kept, sample.modes[kept]),
        f"cluster {kept},\nK = 9": (kept, center),
    }
    for ax, (title, (cluster, image)) in zip(axes, images.items(), strict=True):
        ax.imshow(image.reshape(shape), "gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize="medium")
        ax.spines[:].set(color=color(cluster), linewidth=2.5)
    caption = (
        "The two nearest modes. If the left one is removed, with K = 9, the other takes over "
        f"{taken:.0%} of its rows, and moves by {moved:.0%} of its median distance to the rest."
    )
    return Picture(figure, caption)


def _draw_sweeps(bandwidths: Doubles, purities: Doubles, trees: Sequence[ModeTree]) -> Picture:
    """Draw the purity of K-modes and the number of modes of mean-shift over bandwidths."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    finite = np.isfinite(bandwidths)
    left.plot(bandwidths[finite], purities[:, finite].T, color=color(3), linewidth=0.8)
    left.plot(
        bandwidths[finite],
        purities[:, finite].mean(axis=0),
        color=color(0),
        linewidth=2.5,
        label="K-modes, mean of the samples",
    )
    left.axhline(purities[:, ~finite].mean(), color=color(2), linestyle="--", label="K-means, mean")
    left.set(ylabel="purity of the neighbours", title="K-modes: classes of the neighbours")
    for i, tree in enumerate(trees):
        style = {"color": color(i), "linestyle": ["-", "--", ":"][i % 3]}
        right.plot(tree.bandwidths, tree.n_modes, label=f"sample {i}", **style)
    right.set(yscale="log", ylabel="modes", title="Mean-shift: number of modes")
    for ax, ticks in ((left, (1, 2, 3, 5, 10)), (right, (1, 1.5, 2, 3, 4))):
        ax.set(xscale="log", xlabel="bandwidth")
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
    right.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    left.invert_xaxis()
    caption = (
        "Left, the share of the most common class among the neighbours as the bandwidth decreases, "
        "with a thin line for each sample. Right, the number of modes of the density of all rows."
    )
    return Picture(figure, caption)

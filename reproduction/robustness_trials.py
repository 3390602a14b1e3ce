"""Trials on random data: outliers, a wrong K, a wrong bandwidth, two kinds of start, K = 1."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes, MeanShift, estimate_bandwidth, kmodes_path, modes_by_bandwidth
from modeclust.datasets import load_dataset
from reproduction.default_fit import fit_default
from reproduction.typicality import densities_at

Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]

# Centers of Gaussians with unit variance.
TRIANGLE = 4.0 * np.array([[0, 0], [2, 0], [1, np.sqrt(3)]])
SQUARE = 8.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
OUTLIER_SHARE = 0.05
BOXES = (10, 20, 40)  # widths of the box of outliers, in standard deviations of the data
TOO_MANY = 7  # clusters for the four Gaussians of SQUARE
PIECES = (2, 3, 4, 5)  # clusters for a single Gaussian
GAUSSIAN_ROWS = (1000, 300, 3000)  # of a single Gaussian; the claim is about the first
FACTORS = (1.0, 0.5, 0.2)  # bandwidths with too many clusters, divided by the estimated one
DECADE = np.geomspace(2, 0.2, 7)  # divided by the estimated bandwidth; the paper stops at 0.2
STARTS = (("six Gaussians", 6), ("six Gaussians", 10), ("digits", 10))
TIE = 1e-6  # relative difference up to which two objectives are equal


class Outliers(NamedTuple):
    """The effect of outliers on centers."""

    move_of_means: float
    move_of_modes: float
    means_cover: bool  # whether each Gaussian has a mean near its center
    modes_cover: bool
    move_of_default: float  # the modes of `KModes(K)` as it comes
    default_covers: bool


class ModeCounts(NamedTuple):
    """The number of modes of the density without and with outliers."""

    without: int
    with_outliers: int


class LowestDensity(NamedTuple):
    """The lowest density at a center, divided by the highest density at a row."""

    means: float
    modes: float


class Redundancy(NamedTuple):
    """Clusters that split a Gaussian."""

    nearest_means: float  # smallest distance between means in one Gaussian
    between_means: float  # mean distance in one Gaussian
    between_modes: float
    found: float  # share of pairs in one Gaussian that are called redundant
    false: float  # share of pairs in different Gaussians that are called redundant


class Decade(NamedTuple):
    """The results over a decade of bandwidths."""

    rand: Doubles  # adjusted Rand index of K-modes
    n_modes: npt.NDArray[np.int64]  # of mean-shift
    default_rand: float  # adjusted Rand index of `KModes(K)` as it comes

    def rand_ratio(self) -> float:
        """Return the lowest Rand index, divided by the highest."""
        return float(self.rand.min() / self.rand.max())

    def modes_ratio(self) -> float:
        """Return the largest number of modes, divided by the smallest."""
        return float(self.n_modes.max() / self.n_modes.min())


class Rank(NamedTuple):
    """The rank of the mode for K = 1 among all modes of the density."""

    lower: float  # share of the other modes that have a lower density
    n_modes: int


class Trials(NamedTuple):
    """All trials."""

    outliers: dict[int, list[Outliers]]  # by the width of the box
    mode_counts: list[ModeCounts]
    few: list[LowestDensity]
    many: dict[float, list[Redundancy]]  # by the bandwidth divided by the estimated one
    single: dict[int, list[float]]  # by the number of rows: between modes / between means
    decades: dict[str, list[Decade]]  # by data set
    starts: dict[str, list[tuple[int, int]]]  # by data set: 1, 0, -1 from K-means and from rows
    one: dict[str, list[Rank]]  # by data set


def run_trials(n_runs: int, shrink: int = 1) -> Trials:
    """Run all trials on `n_runs` random data sets. The large ones are `shrink` times smaller."""
    seeds = range(n_runs)
    return Trials(
        outliers={box: [add_outliers(seed, box) for seed in seeds] for box in BOXES},
        mode_counts=[count_modes_with_outliers(seed) for seed in seeds],
        few=[fit_few_clusters(seed) for seed in seeds],
        many={factor: [fit_many_clusters(seed, factor) for seed in seeds] for factor in FACTORS},
        single={
            n_rows: [split_one_gaussian(seed, n_rows // shrink) for seed in seeds]
            for n_rows in GAUSSIAN_ROWS
        },
        decades={
            name: [fit_decade(draw(seed, shrink), seed) for seed in seeds[: (n_runs + 1) // 2]]
            for name, draw in DATA.items()
        },
        starts={
            f"{name}, K = {n_clusters}": [
                compare_starts(DATA[name](seed, shrink)[0], n_clusters, seed) for seed in seeds
            ]
            for name, n_clusters in STARTS
        },
        one={
            "six Gaussians": [rank_in_unequal_gaussians(seed) for seed in seeds],
            "digits": [rank_in_images_of(digit) for digit in range(min(10, n_runs))],
        },
    )


def draw_gaussians(seed: int, centers: Doubles, n_each: int) -> tuple[Doubles, Labels]:
    """Return rows of Gaussians with unit variance, and the Gaussian of each row."""
    X, y = make_blobs([n_each] * len(centers), centers=centers, random_state=seed)
    return X, y


def draw_blobs(seed: int, shrink: int = 1) -> tuple[Doubles, Labels]:
    """Return rows of six Gaussians of equal size in five dimensions."""
    return _draw_six(seed, np.full(6, 100 // shrink))


def draw_unequal_blobs(seed: int) -> tuple[Doubles, Labels]:
    """Return rows of six Gaussians of random sizes in five dimensions."""
    shares = np.random.RandomState(seed).dirichlet(np.ones(6))
    return _draw_six(seed, np.maximum(np.round(600 * shares), 1))


def _draw_six(seed: int, sizes: npt.NDArray[Any]) -> tuple[Doubles, Labels]:
    centers = np.random.RandomState(seed).uniform(-10, 10, (6, 5))
    X, y = make_blobs(sizes.astype(int).tolist(), centers=centers, random_state=seed)
    return X, y


def draw_digits(seed: int, shrink: int = 1) -> tuple[Doubles, Labels]:
    """Return random images of each digit."""
    data = load_dataset("digits")
    rng = np.random.RandomState(seed)
    rows = [rng.choice(np.flatnonzero(data.y == k), 50 // shrink, replace=False) for k in range(10)]
    chosen = np.concatenate(rows)
    return data.X[chosen], data.y[chosen]


DATA: dict[str, Callable[[int, int], tuple[Doubles, Labels]]] = {
    "six Gaussians": draw_blobs,
    "digits": draw_digits,
}


def draw_with_outliers(seed: int, box: int) -> tuple[Doubles, Doubles]:
    """Return rows of three Gaussians, and the same rows with 5% of outliers in a box."""
    X, _ = draw_gaussians(seed, TRIANGLE, 190)
    n_outliers = round(OUTLIER_SHARE * len(X) / (1 - OUTLIER_SHARE))
    offsets = box * X.std() * np.random.RandomState(seed).uniform(-0.5, 0.5, (n_outliers, 2))
    return X, np.concatenate([X, X.mean(axis=0) + offsets])


def add_outliers(seed: int, box: int) -> Outliers:
    """Fit three Gaussians without and with outliers: at the same bandwidth, and by default."""
    X, dirty = draw_with_outliers(seed, box)
    model = KModes(len(TRIANGLE), bandwidth=estimate_bandwidth(X), n_init=10, random_state=seed)
    before, after = model.fit(X).path_.centers, model.fit(dirty).path_.centers
    default = KModes(len(TRIANGLE), random_state=seed)
    clean_modes, modes = default.fit(X).modes_, default.fit(dirty).modes_
    return Outliers(
        farthest(before[0], after[0]),
        farthest(before[-1], after[-1]),
        farthest(TRIANGLE, after[0]) <= 1,
        farthest(TRIANGLE, after[-1]) <= 1,
        farthest(clean_modes, modes),
        farthest(TRIANGLE, modes) <= 1,
    )


def count_modes_with_outliers(seed: int) -> ModeCounts:
    """Count the modes of mean-shift without and with outliers, at the same bandwidth."""
    X, dirty = draw_with_outliers(seed, BOXES[0])
    search = MeanShift(estimate_bandwidth(X), random_state=0)
    return ModeCounts(search.fit(X).n_clusters_, search.fit(dirty).n_clusters_)


def farthest(points: npt.NDArray[Any], centers: npt.NDArray[Any]) -> float:
    """Return the largest distance of a point to its nearest center."""
    return float(cdist(points, centers).min(axis=1).max())


def fit_few_clusters(seed: int) -> LowestDensity:
    """Fit four clusters to six Gaussians."""
    X, _ = draw_blobs(seed)
    model = KModes(4, bandwidth="knn", n_init=10, random_state=seed).fit(X)
    points = X, model.path_.centers[0], model.cluster_centers_
    rows, means, modes = (densities_at(X, own, model.bandwidth_) for own in points)
    return LowestDensity(float(means.min() / rows.max()), float(modes.min() / rows.max()))


def fit_many_clusters(seed: int, factor: float) -> Redundancy:
    """Fit seven clusters to four Gaussians, at a multiple of the estimated bandwidth."""
    X, _ = draw_gaussians(seed, SQUARE, 150)
    bandwidth = factor * estimate_bandwidth(X)
    model = KModes(TOO_MANY, bandwidth=bandwidth, n_init=10, random_state=seed).fit(X)
    means, modes = model.path_.centers[0], model.cluster_centers_
    i, j = np.triu_indices(TOO_MANY, 1)
    of_means, of_modes = (cdist(own, SQUARE).argmin(axis=1) for own in (means, modes))
    together = of_modes[i] == of_modes[j]
    pairs = model.redundant_clusters()
    named = np.array([pair in pairs for pair in zip(i.tolist(), j.tolist(), strict=True)])
    between_means = np.linalg.norm(means[i] - means[j], axis=1)[of_means[i] == of_means[j]]
    between_modes = np.linalg.norm(modes[i] - modes[j], axis=1)[together]
    return Redundancy(
        float(between_means.min()),
        float(between_means.mean()),
        float(between_modes.mean()),
        float(named[together].mean()),
        float(named[~together].mean()),
    )


def split_one_gaussian(seed: int, n_rows: int) -> float:
    """Return how far apart the modes of pieces of a Gaussian are, divided by the same of means."""
    X, _ = draw_gaussians(seed, np.zeros((1, 2)), n_rows)
    ratios = []
    for n_clusters in PIECES:
        path = KModes(n_clusters, bandwidth="knn", n_init=10, random_state=seed).fit(X).path_
        ratios.append(pdist(path.centers[-1]).mean() / pdist(path.centers[0]).mean())
    return float(np.mean(ratios))


def fit_decade(data: tuple[Doubles, Labels], seed: int) -> Decade:
    """Fit K-modes and mean-shift over a decade of bandwidths, and K-modes by default."""
    X, y = data
    bandwidths = estimate_bandwidth(X) * DECADE
    n_clusters = len(np.unique(y))
    models = [
        KModes(n_clusters, bandwidth=b, n_init=10, random_state=seed).fit(X) for b in bandwidths
    ]
    rand = np.array([adjusted_rand_score(y, model.labels_) for model in models])
    n_modes = modes_by_bandwidth(X, bandwidths, random_state=0).n_modes[::-1]
    return Decade(rand, n_modes, fit_default(X, y, n_clusters, seed).scores[0] / 100)


def compare_starts(X: Doubles, n_clusters: int, seed: int) -> tuple[int, int]:
    """Compare the path with a direct start, from K-means and from random rows.

    1 means a higher objective at the end of the path, 0 a tie, and -1 a lower objective.
    """
    path = KModes(n_clusters, bandwidth="knn", n_init=10, random_state=seed).fit(X).path_
    finite = path.bandwidths[1:]
    rows = X[np.random.RandomState(seed).choice(len(X), n_clusters, replace=False)]
    from_rows = kmodes_path(X, n_clusters, bandwidths=finite, init=rows)
    direct = [
        kmodes_path(X, n_clusters, bandwidths=finite[-1:], init=init)
        for init in (path.centers[0], rows)
    ]
    ends = [run.objectives[-1] for run in (path, from_rows, *direct)]
    return sign(ends[0], ends[2]), sign(ends[1], ends[3])


def sign(ours: float, theirs: float) -> int:
    """Return 1, 0 or -1 if our number is larger, equal or smaller."""
    return int(np.sign(ours - theirs)) if abs(ours - theirs) > TIE * abs(theirs) else 0


def rank_in_unequal_gaussians(seed: int) -> Rank:
    """Rank the mode for K = 1 in six Gaussians of random sizes."""
    X, _ = draw_unequal_blobs(seed)
    return rank_single_mode(X, estimate_bandwidth(X))


def rank_in_images_of(digit: int) -> Rank:
    """Rank the mode for K = 1 in images of one digit."""
    data = load_dataset("digits")
    X = data.X[data.y == digit]
    return rank_single_mode(X, estimate_bandwidth(X) / 3)  # small enough for many modes


def rank_single_mode(X: Doubles, bandwidth: float) -> Rank:
    """Rank the mode of K-modes for K = 1 among the modes of mean-shift."""
    model = KModes(1, bandwidth=bandwidth, n_init=10, random_state=0).fit(X)
    density = MeanShift(bandwidth, random_state=0).fit(X).density_
    ours = densities_at(X, model.cluster_centers_, bandwidth)[0]
    return Rank(share_lower(density, ours), len(density))


def share_lower(densities: Doubles, ours: float) -> float:
    """Return the share of lower densities, without the density nearest to ours."""
    others = np.delete(densities, np.abs(densities - ours).argmin())
    return float(np.mean(others < ours)) if len(others) else float("nan")

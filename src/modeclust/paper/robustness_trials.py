"""Runs on random data: outliers, a wrong K, a wrong bandwidth, two ways to start, K = 1."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes, MeanShift, estimate_bandwidth, kmodes_path, modes_by_bandwidth
from modeclust.datasets import load_dataset
from modeclust.paper.robustness_data import (
    CENTERS,
    DATA,
    Doubles,
    Labels,
    draw_blobs,
    draw_gaussians,
    draw_unequal_blobs,
    draw_with_outliers,
)
from modeclust.paper.typicality import densities_at

STARTS = (("six Gaussians", 6), ("six Gaussians", 10), ("digits", 10))
BOXES = (10, 20, 40)  # sides of the box of outliers, in standard deviations of the data
SQUARE = 8.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
TOO_MANY = 7  # clusters for the four Gaussians of SQUARE
NARROWER = (1.0, 0.5, 0.2)  # times the estimated bandwidth
DECADE = np.geomspace(2, 0.2, 7)  # times the estimated bandwidth; the paper goes to a fifth
SAME = 1e-6  # objectives no farther apart are a tie


class Outliers(NamedTuple):
    """How far outliers move centroids, and whether they leave each Gaussian one."""

    move_of_means: float
    move_of_modes: float
    means_cover: bool  # each Gaussian has one near its centre
    modes_cover: bool


class Spurious(NamedTuple):
    """How many modes the density has without outliers, and with them."""

    without: int
    with_them: int


class Redundancy(NamedTuple):
    """What becomes of clusters that split a Gaussian."""

    nearest_means: float  # the smallest distance in one Gaussian
    between_means: float  # the mean distance in one Gaussian
    between_modes: float
    found: float  # share of pairs in one Gaussian
    false: float  # share of pairs in different ones


class Decade(NamedTuple):
    """What a decade of bandwidths changes."""

    rand: Doubles  # adjusted Rand index of K-modes
    n_modes: npt.NDArray[np.int64]  # of mean-shift

    def kept(self) -> float:
        """Return the lowest Rand index over the highest."""
        return float(self.rand.min() / self.rand.max())

    def spread(self) -> float:
        """Return the largest number of modes over the smallest."""
        return float(self.n_modes.max() / self.n_modes.min())


class Lowest(NamedTuple):
    """The lowest density of centroids, over the highest of rows."""

    means: float
    modes: float


class Rank(NamedTuple):
    """Where the mode of K = 1 stands among those of the density."""

    lower: float  # share of the others that are lower
    n_modes: int


class Trials(NamedTuple):
    """All runs of each kind, by the name of the data where there are several."""

    outliers: dict[int, list[Outliers]]  # by the side of the box
    spurious: list[Spurious]
    few: list[Lowest]
    many: dict[float, list[Redundancy]]  # by the bandwidth over the estimated one
    decades: dict[str, list[Decade]]
    starts: dict[str, list[tuple[int, int]]]  # 1, 0, -1: from K-means, from random rows
    one: dict[str, list[Rank]]


def run_all(n_runs: int, shrink: int = 1) -> Trials:
    """Return what is found in so many random data sets, of which the large ones may shrink."""
    seeds = range(n_runs)
    return Trials(
        outliers={box: [with_outliers(seed, box) for seed in seeds] for box in BOXES},
        spurious=[modes_with_outliers(seed) for seed in seeds],
        few=[with_few_clusters(seed) for seed in seeds],
        many={share: [with_many_clusters(seed, share) for seed in seeds] for share in NARROWER},
        decades={
            name: [over_a_decade(draw(seed, shrink), seed) for seed in seeds[: (n_runs + 1) // 2]]
            for name, draw in DATA.items()
        },
        starts={
            f"{name}, K = {n_clusters}": [
                against_direct(DATA[name](seed, shrink)[0], n_clusters, seed) for seed in seeds
            ]
            for name, n_clusters in STARTS
        },
        one={
            "six Gaussians": [in_unequal_gaussians(seed) for seed in seeds],
            "digits": [in_images_of(digit) for digit in range(min(10, n_runs))],
        },
    )


def with_outliers(seed: int, box: int) -> Outliers:
    """Return what outliers do to the centroids of three Gaussians, at one bandwidth."""
    X, dirty = draw_with_outliers(seed, box)
    model = KModes(len(CENTERS), bandwidth=estimate_bandwidth(X), random_state=seed)
    before, after = model.fit(X).path_.centers, model.fit(dirty).path_.centers
    return Outliers(
        farthest(before[0], after[0]),
        farthest(before[-1], after[-1]),
        farthest(CENTERS, after[0]) <= 1,
        farthest(CENTERS, after[-1]) <= 1,
    )


def modes_with_outliers(seed: int) -> Spurious:
    """Return how many modes of mean-shift outliers make, at one bandwidth."""
    X, dirty = draw_with_outliers(seed, BOXES[0])
    search = MeanShift(estimate_bandwidth(X), random_state=0)
    return Spurious(search.fit(X).n_clusters_, search.fit(dirty).n_clusters_)


def farthest(places: Doubles, centers: Doubles) -> float:
    """Return the largest distance of a place to the centroid nearest to it."""
    return float(cdist(places, centers).min(axis=1).max())


def with_few_clusters(seed: int) -> Lowest:
    """Return how dense the emptiest of four centroids is in six Gaussians."""
    X, _ = draw_blobs(seed)
    model = KModes(4, random_state=seed).fit(X)
    places = X, model.path_.centers[0], model.cluster_centers_
    rows, means, modes = (densities_at(X, own, model.bandwidth_) for own in places)
    return Lowest(float(means.min() / rows.max()), float(modes.min() / rows.max()))


def with_many_clusters(seed: int, share: float) -> Redundancy:
    """Return how seven clusters share four Gaussians, at a share of the estimated bandwidth."""
    X, _ = draw_gaussians(seed, SQUARE, 150)
    bandwidth = share * estimate_bandwidth(X)
    model = KModes(TOO_MANY, bandwidth=bandwidth, random_state=seed).fit(X)
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


def over_a_decade(rows: tuple[Doubles, Labels], seed: int) -> Decade:
    """Return clusters of K-modes and modes of mean-shift over a decade of bandwidths."""
    X, y = rows
    bandwidths = estimate_bandwidth(X) * DECADE
    n_clusters = len(np.unique(y))
    models = [KModes(n_clusters, bandwidth=b, random_state=seed).fit(X) for b in bandwidths]
    rand = np.array([adjusted_rand_score(y, model.labels_) for model in models])
    return Decade(rand, modes_by_bandwidth(X, bandwidths, random_state=0).n_modes[::-1])


def against_direct(X: Doubles, n_clusters: int, seed: int) -> tuple[int, int]:
    """Return how homotopy compares with a direct start, from K-means and from random rows.

    1 is a higher objective, 0 a tie, -1 a lower one.
    """
    path = KModes(n_clusters, random_state=seed).fit(X).path_
    finite = path.bandwidths[1:]
    rows = X[np.random.RandomState(seed).choice(len(X), n_clusters, replace=False)]
    followed = kmodes_path(X, n_clusters, bandwidths=finite, init=rows)
    direct = [
        kmodes_path(X, n_clusters, bandwidths=finite[-1:], init=init)
        for init in (path.centers[0], rows)
    ]
    ends = [run.objectives[-1] for run in (path, followed, *direct)]
    return sign(ends[0], ends[2]), sign(ends[1], ends[3])


def sign(ours: float, theirs: float) -> int:
    """Return 1, 0 or -1 for a number that is larger, the same or smaller."""
    return int(np.sign(ours - theirs)) if abs(ours - theirs) > SAME * abs(theirs) else 0


def in_unequal_gaussians(seed: int) -> Rank:
    """Return how high the mode of K = 1 is in six Gaussians, of which some are small."""
    X, _ = draw_unequal_blobs(seed)
    return with_one_cluster(X, estimate_bandwidth(X))


def in_images_of(digit: int) -> Rank:
    """Return how high the mode of K = 1 is in images of one digit."""
    data = load_dataset("digits")
    X = data.X[data.y == digit]
    return with_one_cluster(X, estimate_bandwidth(X) / 3)  # where the density has many modes


def with_one_cluster(X: Doubles, bandwidth: float) -> Rank:
    """Return how many other modes of the density are lower than that of K-modes."""
    model = KModes(1, bandwidth=bandwidth, random_state=0).fit(X)
    density = MeanShift(bandwidth, random_state=0).fit(X).density_
    ours = densities_at(X, model.cluster_centers_, bandwidth)[0]
    return Rank(share_lower(density, ours), len(density))


def share_lower(densities: Doubles, ours: float) -> float:
    """Return the share of modes lower than ours, without the one that ours is."""
    others = np.delete(densities, np.abs(densities - ours).argmin())
    return float(np.mean(others < ours)) if len(others) else float("nan")

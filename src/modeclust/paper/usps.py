"""Fig. 5: handwritten digits.

K-means averages digits of several classes and styles. K-modes finds valid digits, each typical
of its neighbours. Mean-shift with as many modes has one giant cluster and a few outliers.
"""

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.neighbors import NearestNeighbors

from modeclust import MeanShift, ModeTree, modes_by_bandwidth
from modeclust.paper.findings import Findings, Grid, Measure
from modeclust.paper.sources import load_source
from modeclust.paper.typicality import distances_to_rows, greyness
from modeclust.paper.usps_pictures import draw_pair, draw_panels, draw_sweeps
from modeclust.paper.usps_sample import N_NEIGHBORS, Doubles, Sample, Size
from modeclust.plotting.exemplars import nearest_in_cluster

MANY_MODES = 100
ISOLATION = 10  # an outlier is far from its 10th neighbour

FULL = Size(100, 100, 20, 10, 3, np.geomspace(1, 4, 60))
QUICK = Size(12, 5, 1, 2, 1, np.geomspace(1, 4, 5))


def reproduce(*, quick: bool = False) -> Findings:
    """Return how pure, sharp and redundant the centroids of the three algorithms are."""
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
    drawn = next((s for s in samples if s.is_redundant), samples[0])
    return Findings(
        {**_of_centroids(samples), **_of_pairs(samples), **_of_mean_shift(samples, trees)},
        [
            *draw_panels(samples, shape),
            draw_pair(drawn, shape),
            draw_sweeps(bandwidths, purities, trees),
        ],
        [_table(samples)],
        {"": source.stand_in} if source.stand_in else {},
    )


def likeness(centers: Doubles) -> float:
    """Return the smallest distance between two centroids, over the median."""
    apart = pdist(centers)
    return float(apart.min() / np.median(apart))


def isolation(X: Doubles, places: Doubles) -> float:
    """Return the share of rows with nearer neighbours than a place has, mean over places."""
    # One more, since each row is its own nearest neighbour, and a lone mode is at its row.
    search = NearestNeighbors(n_neighbors=ISOLATION + 1).fit(X)
    rows, lone = (search.kneighbors(points)[0][:, -1] for points in (X, places))
    return float((rows[None] < lone[:, None]).mean())


def interval_ratio(tree: ModeTree, many: int) -> float:
    """Return the smallest bandwidth with one mode over the largest with many; NaN if unseen."""
    one, more = tree.bandwidths[tree.n_modes == 1], tree.bandwidths[tree.n_modes >= many]
    return float(one.min() / more.max()) if len(one) and len(more) else float("nan")


def _of_centroids(samples: list[Sample]) -> dict[str, Measure]:
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
        "modes-average-out-noise": Measure.mean_of(_noise_left(sample) for sample in samples),
    }


def _noise_left(sample: Sample) -> float:
    """Return how far the modes are from images held out, over how far the nearest rows are."""
    exemplars = sample.model.exemplar_indices_
    full = exemplars >= 0
    places = sample.modes[full], sample.X[exemplars[full]]
    modes, rows = (distances_to_rows(sample.held_out, own, N_NEIGHBORS).mean() for own in places)
    return float(modes / rows)


def _of_pairs(samples: list[Sample]) -> dict[str, Measure]:
    removals = [sample.without_lower for sample in samples if sample.is_redundant]
    return {
        "two-modes-alike": Measure.mean_of(likeness(sample.modes) for sample in samples),
        "no-two-means-alike": Measure.mean_of(likeness(sample.means) for sample in samples),
        "redundancy-is-found": Measure.mean_of(float(sample.is_redundant) for sample in samples),
        "nine-take-over-the-rows": Measure.mean_of(removal.taken for removal in removals),
        "nine-keep-the-centroid": Measure.mean_of(removal.moved for removal in removals),
    }


def _of_mean_shift(samples: list[Sample], trees: list[ModeTree]) -> dict[str, Measure]:
    found = [(sample, sample.gms) for sample in samples if sample.gms is not None]
    return {
        "mean-shift-bandwidth": Measure.mean_of(gms.bandwidth_ for _, gms in found),
        "mean-shift-giant": Measure.mean_of(gms.counts_.max() / len(s.X) for s, gms in found),
        "mean-shift-crumbs": Measure.mean_of(float(np.sort(gms.counts_)[-2]) for _, gms in found),
        "mean-shift-giant-is-a-one": Measure.mean_of(_share_of_ones(s, gms) for s, gms in found),
        "mean-shift-finds-outliers": Measure.mean_of(_outlying(s, gms) for s, gms in found),
        "mean-shift-narrow-interval": Measure.mean_of(
            interval_ratio(tree, MANY_MODES) for tree in trees
        ),
    }


def _share_of_ones(sample: Sample, gms: MeanShift) -> float:
    nearest = nearest_in_cluster(sample.X, gms.labels_, gms.cluster_centers_, N_NEIGHBORS)
    rows = nearest[gms.counts_.argmax()]
    return float(np.mean(sample.y[rows[rows >= 0]] == 1))


def _outlying(sample: Sample, gms: MeanShift) -> float:
    return isolation(sample.X, np.delete(gms.cluster_centers_, gms.counts_.argmax(), axis=0))


def _table(samples: list[Sample]) -> Grid:
    """Return what is found in each sample."""
    columns = [
        "sample",
        "K-means: purity",
        "K-modes: purity",
        "two alike",
        "without the lower: rows taken over, move",
        "without the higher",
        "mean-shift: bandwidth",
        "its rows in each cluster",
    ]
    rows = [
        [
            str(i),
            f"{sample.purity(0):.3f}",
            f"{sample.purity(-1):.3f}",
            f"{sample.pair[0]} and {sample.pair[1]}" if sample.is_redundant else "none",
            *(
                f"{removal.taken:.1%}, {removal.moved:.3f}" if sample.is_redundant else ""
                for removal in (sample.without_lower, sample.without_higher)
            ),
            "none" if sample.gms is None else f"{sample.gms.bandwidth_:.4f}",
            "" if sample.gms is None else ", ".join(map(str, np.sort(sample.gms.counts_)[::-1])),
        ]
        for i, sample in enumerate(samples)
    ]
    caption = (
        "Each random sample. Of two modes alike, one is removed and K-modes runs on with K = 9: "
        "the share of its rows that the other takes over, and the move of the other over its "
        "median distance to the rest. Mean-shift: where there are ten modes."
    )
    return Grid(caption, columns, rows)

"""Compare modeclust with other clustering libraries, on data with known classes.

    python benchmarks/comparison.py [--repeats 3] [--quick] [--out DIR]

writes results.json and results.md to out/comparison.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import environment  # before modules that read its variables
import numpy as np
from comparison_page import to_markdown
from outside_load import OutsideLoad
from peers import is_installed, missing_peers
from sklearn.cluster import HDBSCAN, KMeans, MeanShift
from sklearn.cluster import estimate_bandwidth as their_bandwidth
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import (
    adjusted_rand_score,
    euclidean_distances,
    normalized_mutual_info_score,
)
from sklearn.neighbors import NearestNeighbors
from timing import Run, compare, interleave, seconds, summaries

import modeclust
from modeclust import KModes, LaplacianKModes, estimate_bandwidth

KMEANS = "scikit-learn KMeans"
OUTLIER = -1  # the class of outliers
N_NEIGHBORS = 10
FRACTIONS = (1 / 2, 1 / 3, 1 / 5)  # of the "knn" bandwidth


class Known(NamedTuple):
    """Rows with known classes."""

    title: str
    source: str
    X: Any
    y: Any

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.y[self.y != OUTLIER]))


class Found(NamedTuple):
    """Labels, -1 for rows in no cluster, and a representative of each cluster."""

    labels: Any
    representatives: Any


Fit = Callable[[Any, int, int], Found]  # takes rows, K and a seed


class Contestant(NamedTuple):
    """A clusterer with defaults, and with other values of its most important parameter."""

    fit: Fit
    others: dict[str, Fit]


def data_sets(quick) -> list[Known]:
    """Return digits with outliers, two moons, and blobs of different densities."""
    rng = np.random.RandomState(0)
    X, y = load_digits(return_X_y=True)
    n_rows, n_outliers = (200, 10) if quick else (600, 30)
    digits = np.concatenate([X[:n_rows] / 16, rng.random_sample((n_outliers, 64))])
    classes = np.concatenate([y[:n_rows], np.full(n_outliers, OUTLIER)])
    moons = make_moons(200 if quick else 1_000, noise=0.08, random_state=0)
    sizes = [n // 4 if quick else n for n in (100, 200, 300, 400)]
    stds, centers = [0.3, 0.6, 1.2, 2.4], [[0, 0], [4, 1], [1, 6], [10, 8]]
    blobs = make_blobs(sizes, centers=centers, cluster_std=stds, random_state=0)
    return [
        Known(
            "Digits with outliers",
            f"{n_rows:,} digits of scikit-learn, 64 pixels from 0 to 1, and {n_outliers} rows of "
            "noise, uniform in the unit cube",
            digits,
            classes,
        ),
        Known("Two moons", f"make_moons({len(moons[0])}, noise=0.08)", *moons),
        Known(
            "Blobs of different densities",
            f"{len(blobs[0]):,} rows in 4 Gaussian blobs, each twice as wide as the one before",
            *blobs,
        ),
    ]


def contestants() -> dict[str, Contestant]:
    """Return the clusterers that are installed, K-means first."""
    found = {
        KMEANS: Contestant(
            _centers(lambda X, k, seed: KMeans(k, n_init=10, random_state=seed)), {}
        ),
        "scikit-learn MeanShift": Contestant(
            _centers(lambda X, k, seed: MeanShift()),
            {
                f"quantile={q}": _centers(
                    lambda X, k, seed, q=q: MeanShift(bandwidth=their_bandwidth(X, quantile=q))
                )
                for q in (0.05, 0.1, 0.2, 0.5)
            },
        ),
        "scikit-learn HDBSCAN": Contestant(
            _hdbscan(5), {f"min_cluster_size={n}": _hdbscan(n) for n in (10, 20, 50, 100)}
        ),
        "kmedoids FasterPAM": Contestant(_medoids, {}),
        "faiss Kmeans": Contestant(_faiss, {}),
        "dask-ml KMeans": Contestant(_dask_means, {}),
        "modeclust KModes": Contestant(
            _kmodes(1.0),
            {f'bandwidth="knn" x {f:.2g}': _kmodes(f) for f in FRACTIONS},
        ),
        "modeclust LaplacianKModes": Contestant(_laplacian(1.0, 1.0), _laplacian_others()),
        'the same, solver="bound" (SLK\'s)': Contestant(
            _laplacian(1.0, 1.0, solver="bound"), _laplacian_others(solver="bound")
        ),
        "modeclust MeanShift": Contestant(
            _centers(lambda X, k, seed: modeclust.MeanShift()),
            {"n_clusters=K": _centers(lambda X, k, seed: modeclust.MeanShift(n_clusters=k))},
        ),
    }
    needs = {"kmedoids FasterPAM": "kmedoids", "faiss Kmeans": "faiss", "dask-ml KMeans": "dask-ml"}
    return {n: own for n, own in found.items() if n not in needs or is_installed(needs[n])}


def _centers(make) -> Fit:
    """Return a fit of an estimator whose representatives are its `cluster_centers_`."""

    def fit(X, n_clusters, seed):
        model = make(X, n_clusters, seed).fit(X)
        return Found(model.labels_, model.cluster_centers_)

    return fit


def _kmodes(fraction) -> Fit:
    """Return a fit of the algorithm of the paper, at a fraction of the bandwidth "knn"."""
    return _centers(
        lambda X, k, seed: KModes(k, bandwidth=f"{fraction}*knn", n_init=10, random_state=seed)
    )


def _hdbscan(min_cluster_size) -> Fit:
    def fit(X, n_clusters, seed):
        model = HDBSCAN(min_cluster_size, store_centers="medoid", copy=True).fit(X)
        return Found(model.labels_, model.medoids_)

    return fit


def _medoids(X, n_clusters, seed):
    from kmedoids import fasterpam

    found = fasterpam(euclidean_distances(X), n_clusters, random_state=seed)
    return Found(found.labels.astype(np.int64), X[found.medoids])


def _faiss(X, n_clusters, seed):
    import faiss

    model = faiss.Kmeans(X.shape[1], n_clusters, seed=seed)
    rows = X.astype(np.float32)
    model.train(rows)
    return Found(model.index.search(rows, 1)[1].ravel(), model.centroids)


def _dask_means(X, n_clusters, seed):
    import dask.array as da
    from dask_ml.cluster import KMeans as DaskKMeans

    rows = da.from_array(X, chunks=(-(-len(X) // environment.THREADS), X.shape[1]))
    model = DaskKMeans(n_clusters, random_state=seed).fit(rows)
    return Found(model.labels_.compute(), model.cluster_centers_)


def _laplacian(smoothing, fraction, **options) -> Fit:
    def make(X, k, seed):
        bandwidth = fraction * estimate_bandwidth(X)
        # As in the paper: a start from K-means, and affinities by a kernel.
        paper = {"solver": "gradient", "init": "k-means++", "n_init": 10, "affinity": "heat"}
        return LaplacianKModes(
            k,
            smoothing=smoothing,
            bandwidth=bandwidth,
            n_neighbors=5,
            random_state=seed,
            **(paper | options),
        )

    return _centers(make)


def _laplacian_others(**options) -> dict[str, Fit]:
    return {
        f'smoothing={s:g}, bandwidth="knn" x {f:.2g}': _laplacian(s, f, **options)
        for s in (0.3, 1.0, 3.0)
        for f in (1, 1 / 3)
        if (s, f) != (1.0, 1)
    }


def measure(known: Known, repeats) -> dict[str, Any]:
    """Return the times of all contestants on one set, and the quality of their results."""
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in contestants()}

    def timed(name, fit):
        def run(seed):
            total, found = seconds(lambda: fit(known.X, known.n_clusters, seed))
            scores[name].append(score(known, found))
            return Run(total)

        return run

    fits = {name: timed(name, own.fit) for name, own in contestants().items()}
    interleave(fits, 1)  # imports all modules
    for own in scores.values():
        own.clear()
    compared = compare(interleave(fits, repeats), KMEANS)
    return {
        "title": known.title,
        "source": known.source,
        "n_clusters": known.n_clusters,
        "contestants": {
            name: own | summaries(scores[name]) | {"best": _best(known, name, scores[name])}
            for name, own in compared.items()
        },
    }


def score(known: Known, found: Found) -> dict[str, float]:
    """Return how well labels match classes, and how typical the representatives are.

    "distance" is the mean distance of a representative to its nearest rows, divided by the median
    of this distance over the rows. "purity" is the share of the most frequent class among these
    rows. Outliers are left out, except to count clusters that are mostly outliers.
    """
    inside = known.y != OUTLIER
    X, y, labels = known.X[inside], known.y[inside], found.labels[inside]
    clusters = np.unique(found.labels[found.labels >= 0])
    shares = [np.mean(~inside[found.labels == k]) for k in clusters]
    search = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X)
    among_rows = search.kneighbors(X, N_NEIGHBORS + 1)[0].sum(axis=1) / N_NEIGHBORS
    distances, neighbors = search.kneighbors(found.representatives)
    steps = distances.mean(axis=1) / np.median(among_rows)
    classes = y[neighbors]
    pure = [np.unique(own, return_counts=True)[1].max() / N_NEIGHBORS for own in classes]
    return {
        "n_clusters": len(clusters),
        "n_of_outliers": int(np.sum(np.array(shares) > 0.5)),
        "left_out": float(np.mean(labels < 0)),
        "adjusted_rand": float(adjusted_rand_score(y, labels)),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "distance": float(steps.mean()),
        "farthest": float(steps.max()),
        "purity": float(np.mean(pure)),
    }


def _best(known: Known, name, scores):
    """Return the best adjusted Rand index over the values of the main parameter."""
    best = {"setting": "default", "adjusted_rand": scores[0]["adjusted_rand"]}
    for setting, fit in contestants()[name].others.items():
        try:
            found = score(known, fit(known.X, known.n_clusters, 0))
        except ValueError:  # no bandwidth has K modes
            continue
        if found["adjusted_rand"] > best["adjusted_rand"]:
            best = {"setting": setting, "adjusted_rand": found["adjusted_rand"]}
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3, help="turns, each with another seed")
    parser.add_argument("--quick", action="store_true", help="small data, as a quick check")
    parser.add_argument("--out", type=Path, default=Path("out/comparison"), metavar="DIR")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    load = OutsideLoad()
    sets = []
    for known in data_sets(arguments.quick):
        took, found = seconds(lambda known=known: measure(known, arguments.repeats))
        sets.append(found)
        print(f"{known.title}: {took:.0f} s", flush=True)
    results = {
        "environment": environment.describe_environment(),
        "repeats": arguments.repeats,
        "quick": arguments.quick,
        "left_out": missing_peers(),
        "outside_cores": load.cores(),
        "sets": sets,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (arguments.out / "results.md").write_text(to_markdown(results), encoding="utf-8")
    print(arguments.out / "results.md")


if __name__ == "__main__":
    main()

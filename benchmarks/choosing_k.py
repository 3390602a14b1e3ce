"""Whether the number of clusters is found, beside other ways to choose it.

Made sets have a known K: blobs whose centers are at least 4 standard deviations apart, blobs with
random centers, which may overlap, and single clusters of four kinds.
"""

from collections import defaultdict
from itertools import product
from statistics import fmean

import numpy as np
from effort import Effort
from environment import data_folder
from scipy.spatial.distance import pdist
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

from modeclust import suggest_clusters

OURS = "suggest_clusters"
DIMENSIONS, COUNTS = (2, 5, 20, 50), (1, 2, 3, 5, 8, 12, 17)
SINGLE = ("normal", "uniform", "exponential", "t3")
MAX_CLUSTERS, APART = 20, 4.0
ROWS = (300, 1000)
N_DRAWS = 2
QUICK_SETS = 4


def by_silhouette(X, seed):
    fits = [KMeans(k, random_state=seed).fit_predict(X) for k in range(2, MAX_CLUSTERS + 1)]
    best = max(fits, key=lambda labels: silhouette_score(X, labels))
    return len(np.unique(best)), best


def by_gap(X, seed, n_references=5):
    """Return the K of the gap statistic (Tibshirani, Walther & Hastie, 2001)."""
    rng = np.random.default_rng(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    references = [rng.uniform(low, high, X.shape) for _ in range(n_references)]
    counts = range(1, MAX_CLUSTERS + 1)
    fits = [KMeans(k, random_state=seed).fit(X) for k in counts]
    logs = np.array(
        [[np.log(KMeans(k, random_state=seed).fit(Z).inertia_) for Z in references] for k in counts]
    )
    gaps = logs.mean(axis=1) - np.log([fit.inertia_ for fit in fits])
    errors = logs.std(axis=1) * np.sqrt(1 + 1 / n_references)
    enough = np.flatnonzero(gaps[:-1] >= gaps[1:] - errors[1:])
    best = int(enough[0]) if len(enough) else len(gaps) - 1
    return best + 1, fits[best].labels_


def by_bic(X, seed):
    counts = [k for k in range(1, MAX_CLUSTERS + 1) if k < len(X)]
    kinds = ("full", "diag") if X.shape[1] <= 5 else ("diag",)  # else there are too few rows
    fits = [
        GaussianMixture(k, covariance_type=kind, random_state=seed).fit(X)
        for k, kind in product(counts, kinds)
    ]
    best = min(fits, key=lambda fit: fit.bic(X))
    return best.n_components, best.predict(X)


def by_hdbscan(X, seed):
    labels = HDBSCAN(min_cluster_size=max(5, len(X) // 50), copy=True).fit_predict(X)
    return max(int(labels.max()) + 1, 1), labels


def by_us(X, seed):
    found = suggest_clusters(X, random_state=seed)
    return found.n_clusters, found.labels, found.is_sure


WAYS = {
    OURS: by_us,
    "silhouette": by_silhouette,
    "gap statistic": by_gap,
    "BIC of GaussianMixture": by_bic,
    "HDBSCAN": by_hdbscan,
}


def measure_choosing(effort: Effort):
    """Return how often each way finds K, its adjusted Rand index, and how often ours is sure."""
    tally = defaultdict(list)
    for kind, X, partitions in sets(effort):
        for name, way in WAYS.items():
            n_clusters, labels, *sure = way(X, seed=0)
            tally[kind, name].append(
                {
                    "right": n_clusters in [int(y.max()) for y in partitions],
                    "adjusted_rand": best_index(partitions, labels),
                    "sure": bool(sure and sure[0]),
                }
            )
    kinds = list(dict.fromkeys(kind for kind, _ in tally))
    return {
        "kinds": {
            kind: {
                "n_sets": len(tally[kind, OURS]),
                "ways": {name: _summary(tally[kind, name]) for name in WAYS},
            }
            for kind in kinds
        }
    }


def _summary(found):
    sure = [one["right"] for one in found if one["sure"]]
    return {
        "right": fmean(one["right"] for one in found),
        "adjusted_rand": fmean(one["adjusted_rand"] for one in found),
        "n_sure": len(sure),
        "n_sure_and_right": sum(sure),
    }


def best_index(partitions, labels):
    """Return the best index over the reference partitions; 0 in them is noise."""
    return max(float(adjusted_rand_score(y[y > 0], labels[y > 0])) for y in partitions)


def sets(effort: Effort):
    """Yield kinds, rows and reference partitions, which begin with 1."""
    made = list(product(DIMENSIONS, COUNTS, range(N_DRAWS)))
    # The step of a quick run goes through all dimensions and several counts.
    for n_features, n_clusters, seed in made[:: len(made) // QUICK_SETS + 1 if effort.quick else 1]:
        rng = np.random.RandomState(1000 * seed + 20 * n_features + n_clusters)
        n_rows = max(int(rng.choice(ROWS)), 30 * n_clusters)
        if n_clusters > 1:
            for kind, apart in (("blobs, apart", APART), ("blobs, anywhere", 0.0)):
                centers = draw_centers(n_clusters, n_features, apart, rng)
                X, y = make_blobs(n_rows, centers=centers, random_state=rng)
                yield kind, X, [y + 1]
        else:
            for kind in SINGLE:
                yield "one cluster", draw_single(kind, (n_rows, n_features), rng), [np.ones(n_rows)]
    if (folder := data_folder("battery")) is not None:
        for file in sorted(folder.glob("*.npz"))[: QUICK_SETS if effort.quick else None]:
            with np.load(file) as arrays:
                X, partitions = arrays["X"].astype(np.float64), np.atleast_2d(arrays["labels"])
            yield "battery", X[:, np.ptp(X, axis=0) > 0], list(partitions)


def draw_centers(n_clusters, n_features, apart, rng):
    """Return centers in a box of 20, which grows until all are this far apart."""
    size = 10.0
    while True:
        centers = rng.uniform(-size, size, (n_clusters, n_features))
        if pdist(centers).min() >= apart:
            return centers
        size *= 1.02


def draw_single(kind, shape, rng):
    return rng.standard_t(3, shape) if kind == "t3" else getattr(rng, kind)(size=shape)

"""What the defaults of KModes find: typical modes, and labels at least as good as those of K-means.

The battery is a folder of small sets with one or more reference partitions.
"""

from statistics import fmean, median

import numpy as np
from effort import Effort
from environment import data_folder
from labelled import Known, is_available, load_known
from laplacian import KMEANS
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, euclidean_distances
from timing import summaries

from modeclust import KModes

KNN, DEFAULT = 'KModes(bandwidth="knn")', "KModes()"
ESTIMATORS = {  # take K and the seed
    KMEANS: lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    KNN: lambda k, seed: KModes(k, bandwidth="knn", random_state=seed),
    DEFAULT: lambda k, seed: KModes(k, random_state=seed),
}
SETS = ("digits", "iris", "wine", "breast cancer", "USPS", "MNIST", "COIL20", "TDT2")
N_NEAREST = 20
QUICK_BATTERY = 3


def measure_defaults(effort: Effort):
    """Return the purity of modes and the agreement of labels with classes, for each set."""
    found = {
        "seeds": effort.n_seeds,
        "sets": [_measure(name, effort) for name in SETS if is_available(name)],
    }
    if (folder := data_folder("battery")) is not None:
        files = sorted(folder.glob("*.npz"))[: QUICK_BATTERY if effort.quick else None]
        found["battery"] = _measure_battery(files, effort.n_seeds)
    return found


def missing_battery() -> list[str]:
    """Return a note if the battery is not available."""
    if data_folder("battery") is not None:
        return []
    return ["The folder `battery` is not in MODECLUST_DATA and left out of the defaults."]


def _measure(name, effort):
    scores = {estimator: [] for estimator in ESTIMATORS}
    for seed in range(effort.n_seeds):
        known = load_known(name, seed, effort.quick)
        for estimator, make in ESTIMATORS.items():
            model = make(known.data.n_clusters, seed).fit(known.X)
            scores[estimator].append(_score(model, known))
    contestants = {estimator: summaries(own) for estimator, own in scores.items()}
    return {"data": known.data.describe(), "name": name, "contestants": contestants}


def _score(model, known: Known):
    sizes = np.bincount(model.labels_, minlength=model.n_clusters)
    representatives = getattr(model, "modes_", model.cluster_centers_)
    return {
        "purity": purity_of_nearest(known.X, known.y, model.labels_, representatives),
        "adjusted_rand": float(adjusted_rand_score(known.y, model.labels_)),
        "rows_averaged": median(getattr(model, "rows_averaged_", sizes).tolist()),
    }


def purity_of_nearest(X, y, labels, representatives):
    """Return the share of the commonest class among the nearest rows, the mean over clusters."""
    shares = []
    for k in np.unique(labels):
        own = np.flatnonzero(labels == k)
        distances = euclidean_distances(X[own], representatives[[k]].astype(X.dtype)).ravel()
        nearest = own[np.argsort(distances, kind="stable")[:N_NEAREST]]
        shares.append(np.bincount(y[nearest]).max() / len(nearest))
    return fmean(shares)


def _measure_battery(files, n_seeds):
    """Return the score of each set for each seed, and the mean over all sets."""
    sets = {}
    for file in files:
        with np.load(file) as arrays:
            X, partitions = arrays["X"].astype(np.float64), arrays["labels"]
        X = X[:, np.ptp(X, axis=0) > 0]
        sets[file.stem] = {
            name: [best_score(X, partitions, ESTIMATORS[name], seed) for seed in range(n_seeds)]
            for name in (KMEANS, DEFAULT)
        }
    turns = [
        {name: fmean(own[name][seed] for own in sets.values()) for name in (KMEANS, DEFAULT)}
        for seed in range(n_seeds)
    ]
    return {"sets": sets, "adjusted_rand": summaries(turns)}


def best_score(X, partitions, make, seed):
    """Return the best score over the reference partitions; 0 in them is noise."""
    scores = []
    for partition in np.atleast_2d(partitions):
        labels = make(int(partition.max()), seed).fit(X).labels_
        is_known = partition > 0
        scores.append(float(adjusted_rand_score(partition[is_known], labels[is_known])))
    return max(scores)

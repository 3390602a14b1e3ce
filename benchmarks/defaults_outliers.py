"""What outliers do to the clusters of the other rows, and whether a small far cluster is kept."""

from itertools import product
from statistics import fmean

import numpy as np
from defaults_quality import DEFAULT, ESTIMATORS
from effort import Effort
from labelled import is_available, load_known
from laplacian import KMEANS
from sklearn.metrics import adjusted_rand_score
from timing import summaries

NAMES = (KMEANS, DEFAULT)
SETS = ("digits", "iris", "wine", "USPS", "MNIST", "blobs-2", "blobs-10", "blobs-50")
STAND_INS = {"USPS": "breast cancer", "MNIST": "blobs-5"}
SHARES, BOXES = (0.01, 0.05), (10, 100)
CLEAN = "without"
FAR_DISTANCES = (20, 50, 100)
FAR_ROWS, NEAR_ROWS, NEAR_DISTANCE = 12, 300, 6


def measure_outliers(effort: Effort):
    """Return the agreement of the clean rows' labels with classes, without and with outliers."""
    names = [name if is_available(name) else STAND_INS[name] for name in SETS]
    return {
        "seeds": effort.n_seeds,
        "sets": [_measure(name, effort) for name in names],
        "far_cluster": {
            str(distance): {
                name: [_keeps_far_cluster(name, distance, seed) for seed in range(effort.n_seeds)]
                for name in NAMES
            }
            for distance in FAR_DISTANCES
        },
    }


def cases() -> list[str]:
    """Return the names of all kinds of outliers."""
    return [_case(share, box) for share, box in product(SHARES, BOXES)]


def _case(share, box):
    return f"{share:.0%} in {box} times the spread"


def _measure(name, effort):
    scores = {estimator: [] for estimator in NAMES}
    for seed in range(effort.n_seeds):
        known = load_known(name, seed, effort.quick)
        rng = np.random.default_rng(seed)
        inputs = {CLEAN: known.X} | {
            _case(share, box): np.concatenate([known.X, draw_outliers(known.X, share, box, rng)])
            for share, box in product(SHARES, BOXES)
        }
        for estimator in NAMES:
            fits = {
                case: ESTIMATORS[estimator](known.data.n_clusters, seed).fit(X).labels_
                for case, X in inputs.items()
            }
            found = {
                case: float(adjusted_rand_score(known.y, labels[: len(known.y)]))
                for case, labels in fits.items()
            }
            found["mean"] = fmean(found[case] for case in cases())
            found["worst"] = min(found[case] for case in cases())
            scores[estimator].append(found)
    contestants = {estimator: summaries(own) for estimator, own in scores.items()}
    return {"data": known.data.describe(), "name": name, "contestants": contestants}


def draw_outliers(X, share, box, rng):
    """Return rows uniform in a box around the mean: `box` standard deviations to each side."""
    shape = max(1, round(share * len(X))), X.shape[1]
    return X.mean(axis=0) + box * X.std(axis=0) * rng.uniform(-1, 1, shape)


def _keeps_far_cluster(estimator, distance, seed):
    """Return whether a small cluster, far from three large ones, has a label of its own."""
    angles = 2 * np.pi * np.arange(3) / 3
    near = NEAR_DISTANCE * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    centers = np.concatenate([near.repeat(NEAR_ROWS, axis=0), [[distance, 0.0]] * FAR_ROWS])
    X = centers + np.random.default_rng(seed).normal(size=centers.shape)
    labels = ESTIMATORS[estimator](4, seed).fit(X).labels_
    far = labels[-FAR_ROWS:]
    return bool(len(set(far.tolist())) == 1 and np.sum(labels == far[0]) == FAR_ROWS)

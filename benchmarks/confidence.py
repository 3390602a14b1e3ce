"""How well outlier scores find known noise, and how well entropy finds unsure rows."""

from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from effort import Effort
from labelled import is_available, load_known
from scipy.optimize import linear_sum_assignment
from scipy.stats import entropy
from sklearn.cluster import HDBSCAN
from sklearn.datasets import (
    load_digits,
    load_sample_images,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from timing import summaries

from modeclust import KModes

NOISE_SHARE = 0.02
N_ROWS = 1_000
N_RESAMPLES = 6
OURS = "KModes"
LARGEST_STD = 2.0
PHOTO_SCALES = (2, 4, 8)


class Noisy(NamedTuple):
    """Rows, of which the last ones are noise."""

    X: Any
    n_noise: int
    n_clusters: int

    @property
    def is_noise(self):
        return np.arange(len(self.X)) >= len(self.X) - self.n_noise


def measure_confidence(effort: Effort):
    """Return areas under ROC curves for known noise, and for rows on which fits disagree."""
    seeds = range(effort.n_seeds)
    return {
        "seeds": effort.n_seeds,
        "noise_share": NOISE_SHARE,
        "resamples": N_RESAMPLES,
        "outliers": [
            {
                "name": name,
                "scores": _by_contestant(
                    {who: [_area(make(seed), who, seed) for seed in seeds] for who in SCORERS}
                ),
            }
            for name, make in NOISY_SETS.items()
        ],
        "entropy": [
            {
                "name": name,
                "scores": _by_contestant(
                    {OURS: [disagreement_area(*load(seed, effort.quick), seed) for seed in seeds]}
                ),
            }
            for name, load in overlapping_sets().items()
        ],
    }


def _by_contestant(areas):
    turns = zip(*areas.values(), strict=True)
    return summaries([dict(zip(areas, turn, strict=True)) for turn in turns])


def mean_area(part, who):
    """Return the mean area of a contestant over all sets."""
    return fmean(known["scores"][who]["mean"] for known in part)


# Outlier scores.


def _area(noisy: Noisy, who, seed):
    return float(roc_auc_score(noisy.is_noise, SCORERS[who](noisy, seed)))


def hdbscan_scores(noisy: Noisy, seed):
    """Return 1 - the probability of HDBSCAN, which is 1 for its noise."""
    return 1 - HDBSCAN(min_cluster_size=15, copy=True).fit(noisy.X).probabilities_


SCORERS = {
    OURS: lambda noisy, seed: (
        KModes(noisy.n_clusters, random_state=seed).fit(noisy.X).outlier_scores_
    ),
    "LocalOutlierFactor": lambda noisy, seed: (
        -LocalOutlierFactor().fit(noisy.X).negative_outlier_factor_
    ),
    "IsolationForest": lambda noisy, seed: (
        -IsolationForest(random_state=seed).fit(noisy.X).score_samples(noisy.X)
    ),
    "HDBSCAN": hdbscan_scores,
}


def _with_noise(X, noise, n_clusters):
    return Noisy(np.concatenate([X, noise]), len(noise), n_clusters)


def _box(X, rng, size=1.2):
    """Return noise that is uniform in the box of the rows, a bit enlarged."""
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, size * (high - low) / 2
    return rng.uniform(middle - half, middle + half, (round(NOISE_SHARE * len(X)), X.shape[1]))


def _blobs(seed, n_features, n_clusters):
    """Return rows, the centers and widths of their clusters, and a generator."""
    rng = np.random.default_rng(seed)
    std = rng.uniform(LARGEST_STD / 4, LARGEST_STD, n_clusters)
    X, _, centers = make_blobs(
        N_ROWS,
        n_features,
        centers=n_clusters,
        cluster_std=std,
        random_state=seed,
        return_centers=True,
    )
    return X, centers, std, rng


def box_noise(n_features, n_clusters):
    """Return a function that makes round clusters of different widths, and noise in a box."""

    def make(seed):
        X, _, _, rng = _blobs(seed, n_features, n_clusters)
        return _with_noise(X, _box(X, rng), n_clusters)

    return make


def wide_noise(n_features, n_clusters):
    """Return a function that makes round clusters, and noise three times as wide around them."""

    def make(seed):
        X, centers, std, rng = _blobs(seed, n_features, n_clusters)
        own = rng.integers(0, n_clusters, round(NOISE_SHARE * len(X)))
        away = rng.normal(size=(len(own), n_features)) * 3 * std[own, None]
        return _with_noise(X, centers[own] + away, n_clusters)

    return make


def shape_noise(shape, n_clusters, **options):
    """Return a function that makes clusters of another shape, and noise in a box."""

    def make(seed):
        X, _ = shape(N_ROWS, random_state=seed, **options)
        return _with_noise(X, _box(X, np.random.default_rng(seed)), n_clusters)

    return make


def digits_and_photos(seed):
    """Return handwritten digits, and pieces of two photos."""
    rng = np.random.default_rng(seed)
    X = load_digits().data / 16
    photos = [image.mean(axis=2) for image in load_sample_images().images]
    pieces = [_piece(photos[rng.integers(2)], rng) for _ in range(round(NOISE_SHARE * len(X)))]
    return _with_noise(X, np.array(pieces), 10)


def _piece(photo, rng, size=8):
    scale = rng.choice(PHOTO_SCALES)
    row, column = (rng.integers(0, length - size * scale) for length in photo.shape)
    part = photo[row : row + size * scale, column : column + size * scale]
    small = part.reshape(size, scale, size, scale).mean(axis=(1, 3)).ravel()
    return (small - small.min()) / max(np.ptp(small), 1e-9)


def digits_and_scrambled(seed):
    """Return handwritten digits, and some with their pixels in another order."""
    rng = np.random.default_rng(seed)
    X = load_digits().data / 16
    chosen = X[rng.choice(len(X), round(NOISE_SHARE * len(X)), replace=False)]
    return _with_noise(X, rng.permuted(chosen, axis=1), 10)


def digits_and_zeros(seed):
    """Return the digits from 1 to 9, and a few zeros."""
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    others, zeros = X[y > 0] / 16, X[y == 0] / 16
    n_noise = round(NOISE_SHARE * len(others))
    return _with_noise(others, zeros[rng.choice(len(zeros), n_noise, replace=False)], 9)


NOISY_SETS = {
    "blobs, 2 features, 4 clusters": box_noise(2, 4),
    "blobs, 2 features, 10 clusters": box_noise(2, 10),
    "blobs, 6 features": box_noise(6, 5),
    "blobs, 25 features": box_noise(25, 6),
    "blobs and wide noise, 2 features": wide_noise(2, 5),
    "blobs and wide noise, 15 features": wide_noise(15, 5),
    "moons (K = 10)": shape_noise(make_moons, 10, noise=0.06),
    "circles (K = 12)": shape_noise(make_circles, 12, noise=0.04, factor=0.5),
    "digits and pieces of photos": digits_and_photos,
    "digits and scrambled ones": digits_and_scrambled,
    "digits 1 to 9 and some zeros": digits_and_zeros,
}


# The entropy of predict_proba.


# Features, clusters and standard deviation of clusters that touch each other.
TOUCHING = ((2, 5, 2.0), (5, 4, 4.0), (10, 6, 6.0), (20, 8, 8.0))


def overlapping_sets():
    """Return functions that make rows and a number of clusters, by name."""
    known = ("iris", "wine", "breast cancer", "digits", "USPS", "MNIST")
    sets = {name: partial(_known, name) for name in known if is_available(name)}
    for n_features, n_clusters, std in TOUCHING:
        make = partial(_touching, n_features, n_clusters, std)
        sets[f"blobs that touch, {n_features} features"] = make
    return sets


def _known(name, seed, quick):
    known = load_known(name, seed, quick)
    return known.X, known.data.n_clusters


def _touching(n_features, n_clusters, std, seed, quick):
    n_rows = N_ROWS // 5 if quick else N_ROWS
    X, _ = make_blobs(n_rows, n_features, centers=n_clusters, cluster_std=std, random_state=seed)
    return X, n_clusters


def disagreement_area(X, n_clusters, seed):
    """Return how well the entropy of `predict_proba` finds rows on which two fits disagree.

    It is the mean area under the ROC curve over all pairs of `N_RESAMPLES` bootstrap fits.
    """
    model = KModes(n_clusters, random_state=seed).fit(X)
    rng = np.random.default_rng(seed)
    fits = []
    for number in range(N_RESAMPLES):
        drawn = rng.integers(0, len(X), len(X))
        fit = KModes(n_clusters, random_state=number).fit(X[drawn])
        fits.append(matched(fit.predict(X), model.labels_, n_clusters))
    unsure = entropy(model.predict_proba(X), axis=1)
    differ = [one != other for i, one in enumerate(fits) for other in fits[:i]]
    areas = [roc_auc_score(rows, unsure) for rows in differ if 0 < rows.sum() < len(rows)]
    return float(np.mean(areas)) if areas else 1.0


def matched(labels, reference, n_clusters):
    """Return labels with the numbers of the clusters of `reference` that they agree with most."""
    table = np.zeros((n_clusters, n_clusters))
    np.add.at(table, (labels, reference), 1)
    return linear_sum_assignment(-table)[1][labels]

"""How well outlier scores find known noise, and how well entropy finds unsure rows."""

from functools import partial
from statistics import fmean

import numpy as np
from effort import Effort
from labelled import is_available, load_known
from noisy_sets import N_ROWS, NOISY_SETS, Noisy
from scipy.optimize import linear_sum_assignment
from scipy.stats import entropy
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from timing import summaries
from unseen_noisy_sets import UNSEEN_SETS

from modeclust import KModes

N_RESAMPLES = 6
OURS = "KModes"


def measure_confidence(effort: Effort):
    """Return areas under ROC curves for known noise, and for rows on which fits disagree."""
    seeds = range(effort.n_seeds)
    return {
        "seeds": effort.n_seeds,
        "resamples": N_RESAMPLES,
        "outliers": _areas(NOISY_SETS, seeds),
        "unseen_outliers": _areas(UNSEEN_SETS, seeds),
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


def _areas(sets, seeds):
    return [
        {
            "name": name,
            "scores": _by_contestant(
                {who: [_area(make(seed), who, seed) for seed in seeds] for who in SCORERS}
            ),
        }
        for name, make in sets.items()
    ]


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

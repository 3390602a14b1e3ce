"""Measures of how typical of the data a center is."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

Doubles = npt.NDArray[np.float64]


def densities_at(X: Any, points: npt.NDArray[Any], bandwidth: float) -> Doubles:
    """Return the Gaussian kernel density of the rows at points: the mean kernel value, at most 1.

    It is not normalized: the density at a point where all rows lie is 1.
    """
    squares = pairwise_distances(points, X, metric="sqeuclidean")
    values: Doubles = np.exp(-0.5 * squares / bandwidth**2).mean(axis=1)
    return values


def distances_to_rows(X: Any, points: npt.NDArray[Any], n_neighbors: int = 1) -> Doubles:
    """Return the mean distance of each point to its nearest rows."""
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    distances: Doubles = search.kneighbors(points)[0].mean(axis=1)
    return distances


def density_ranks(X: Any, points: npt.NDArray[Any], bandwidth: float) -> Doubles:
    """Return for each point the share of rows at which the density is lower.

    The density at a row leaves out the row itself, because a point has no kernel of its own.
    """
    n_rows = len(X)
    of_others = (n_rows * densities_at(X, X, bandwidth) - 1) / (n_rows - 1)
    at_rows = np.maximum(of_others, 0)  # rounding can make the density of an isolated row negative
    ranks: Doubles = np.searchsorted(np.sort(at_rows), densities_at(X, points, bandwidth)) / n_rows
    return ranks


def purity(y: npt.NDArray[Any], neighbors: npt.NDArray[np.intp]) -> float:
    """Return the share of the most common class among neighbours, averaged over the clusters.

    `neighbors` has a line of row indices for each cluster, padded with -1. A cluster without
    neighbours is ignored.
    """
    classes = [y[rows[rows >= 0]] for rows in neighbors]
    shares = [np.unique(own, return_counts=True)[1].max() / len(own) for own in classes if len(own)]
    return float(np.mean(shares))


def greyness(images: Doubles) -> float:
    """Return 4 p (1 - p), averaged over the pixels p: 0 for black and white, 1 for medium grey."""
    return float((4 * images * (1 - images)).mean())

"""How typical of data a centroid is."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from modeclust.path import Floats

Doubles = npt.NDArray[np.float64]


def densities_at(X: Any, places: Floats, bandwidth: float) -> Doubles:
    """Return the gaussian density of all rows at places: the mean kernel value, at most 1."""
    squares = pairwise_distances(places, X, metric="sqeuclidean")
    values: Doubles = np.exp(-0.5 * squares / bandwidth**2).mean(axis=1)
    return values


def distances_to_rows(X: Any, places: Doubles, n_neighbors: int = 1) -> Doubles:
    """Return how far each place is from the rows nearest to it, on average."""
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    distances: Doubles = search.kneighbors(places)[0].mean(axis=1)
    return distances


def density_ranks(X: Any, places: Doubles, bandwidth: float) -> Doubles:
    """Return for each place the share of rows that lie where the density is lower.

    The density at a row is that of the others, since a place has no kernel of its own.
    """
    n_rows = len(X)
    of_others = (n_rows * densities_at(X, X, bandwidth) - 1) / (n_rows - 1)
    at_rows = np.maximum(of_others, 0)  # rounding leaves a row far from all others below 0
    ranks: Doubles = np.searchsorted(np.sort(at_rows), densities_at(X, places, bandwidth)) / n_rows
    return ranks


def purity(y: npt.NDArray[Any], neighbors: npt.NDArray[np.intp]) -> float:
    """Return the share of the commonest class among neighbours, mean over the clusters.

    `neighbors` has a line of rows for each cluster, with -1 for none; one of no rows is left out.
    """
    classes = [y[rows[rows >= 0]] for rows in neighbors]
    shares = [np.unique(own, return_counts=True)[1].max() / len(own) for own in classes if len(own)]
    return float(np.mean(shares))


def greyness(images: Doubles) -> float:
    """Return how grey images are: 0 if all pixels are 0 or 1, and 1 if all are halfway."""
    return float((4 * images * (1 - images)).mean())

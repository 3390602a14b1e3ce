"""How typical of data a centroid is."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

Doubles = npt.NDArray[np.float64]


def densities_at(X: Any, places: Doubles, bandwidth: float) -> Doubles:
    """Return the gaussian density of all rows at places: the mean kernel value, at most 1."""
    squares = pairwise_distances(places, X, metric="sqeuclidean")
    values: Doubles = np.exp(-0.5 * squares / bandwidth**2).mean(axis=1)
    return values


def distances_to_rows(X: Any, places: Doubles) -> Doubles:
    """Return how far each place is from the row nearest to it."""
    distances: Doubles = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(places)[0][:, 0]
    return distances

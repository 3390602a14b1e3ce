"""The neighbour graph: which rows are near, and how much so."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Doubles = npt.NDArray[np.float64]


def neighbor_graph(
    distances: Doubles, neighbors: npt.NDArray[np.integer[Any]], scales: Doubles | float | None
) -> sparse.csr_array:
    """Return the symmetric affinities W of rows and their neighbours, (N, N) without a diagonal.

    Distances and indices of each row's nearest other rows come from `nearest_rows`.

    Two rows are joined where either is among the neighbours of the other, by
    w = exp(-|x_i - x_j|^2 / (2 s_i s_j)) with scales s, or by 1 where these are None.
    """
    n_rows, n_neighbors = neighbors.shape
    if scales is None:
        weights = np.ones_like(distances)
    else:
        own = np.broadcast_to(scales, n_rows)
        products = own[:, None] * own[neighbors]
        weights = np.exp(-0.5 * np.square(distances) / products)
    first = np.repeat(np.arange(n_rows), n_neighbors)
    shape = (n_rows, n_rows)
    directed = sparse.csr_array((weights.ravel(), (first, neighbors.ravel())), shape=shape)
    graph = sparse.csr_array(directed.maximum(directed.T))
    graph.sort_indices()
    return graph

"""The neighbour graph: which rows are near, and how much so."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Doubles = npt.NDArray[np.float64]

# Of squared distances in scales, beyond which all rows are equally far.
FARTHEST = 1e300


def neighbor_graph(
    distances: Doubles, neighbors: npt.NDArray[np.integer[Any]], scales: Doubles | float | None
) -> sparse.csr_array:
    """Return the symmetric affinities W of rows and their neighbours, (N, N) without a diagonal.

    `distances` and `neighbors`, their indices, are those of each row's nearest other rows; an
    index of -1 stands for none.

    Two rows are joined where either is among the neighbours of the other, by
    w = exp(-|x_i - x_j|^2 / (2 s_i s_j)) with scales s, or by 1 where these are None. Rows too far
    for any affinity are not joined.
    """
    n_rows, n_neighbors = neighbors.shape
    own = None if scales is None else np.broadcast_to(scales, n_rows)
    others = None if own is None else own[neighbors]
    weights = np.exp(log_affinities(distances, None if own is None else own[:, None], others))
    first = np.repeat(np.arange(n_rows), n_neighbors)
    joined = (weights > 0).ravel() & (neighbors >= 0).ravel()
    pairs = (first[joined], neighbors.ravel()[joined])
    directed = sparse.csr_array((weights.ravel()[joined], pairs), shape=(n_rows, n_rows))
    graph = sparse.csr_array(directed.maximum(directed.T))
    graph.sort_indices()
    return graph


def log_affinities(distances: Doubles, own: Any, others: Any) -> Doubles:
    """Return -d^2 / (2 s_i s_j), or 0 where there are no scales; equal rows are as near as can be.

    It is finite, also at a scale of 0, which a row has that all its neighbours are equal to.
    """
    if own is None:
        return np.zeros_like(distances)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        squares = np.square(distances / np.sqrt(own) / np.sqrt(others))
    squares[distances == 0.0] = 0.0
    return np.asarray(-0.5 * np.minimum(np.nan_to_num(squares, nan=FARTHEST), FARTHEST))

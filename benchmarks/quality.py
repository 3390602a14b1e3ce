"""The quality of a clustering, computed in the same way for all from the centers."""

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

BLOCK_ENTRIES = 4_000_000


def assign_rows(X, centers):
    """Return the nearest center of each row and the squared distance to it, in float64."""
    centers = np.asarray(centers, dtype=np.float64)
    size = max(1, BLOCK_ENTRIES // X.shape[1])
    labels, squares = [], []
    for first in range(0, X.shape[0], size):
        block = X[first : first + size]
        block = block.toarray() if sparse.issparse(block) else block.astype(np.float64)
        nearest = pairwise_distances_argmin(block, centers)
        labels.append(nearest)
        squares.append(np.square(block - centers[nearest]).sum(axis=1))
    return np.concatenate(labels), np.concatenate(squares)


def inertia(X, centers):
    """Return the sum of the squared distances to the nearest center."""
    return float(assign_rows(X, centers)[1].sum())

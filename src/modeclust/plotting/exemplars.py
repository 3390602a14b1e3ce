"""The rows that stand nearest to each centroid, within its cluster."""

from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Rescaling
from modeclust.path import Path
from modeclust.solvers.kmodes import assign

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

BLOCK_NUMBERS = 2**22


def nearest_in_cluster(X: Any, labels: npt.ArrayLike, centers: Any, n_neighbors: int) -> Indices:
    """Return the rows nearest to each centroid in its own cluster, the nearest first.

    The answer has shape (n_clusters, n_neighbors), filled with -1 where a cluster has fewer rows.
    """
    labels = np.asarray(labels)
    return nearest_by(own_distances(X, labels, centers), labels, len(centers), n_neighbors)


def nearest_by(
    distances: Doubles,
    labels: npt.NDArray[np.integer[Any]],
    n_clusters: int,
    n_neighbors: int,
) -> Indices:
    """Return the rows of least distance in each cluster, as `nearest_in_cluster` does."""
    nearest = np.full((n_clusters, n_neighbors), -1, dtype=np.intp)
    for k in range(n_clusters):
        own = np.flatnonzero(labels == k)
        first = own[np.argsort(distances[own], kind="stable")[:n_neighbors]]
        nearest[k, : len(first)] = first
    return nearest


def labels_of_weight(
    labels: npt.NDArray[np.integer[Any]], weight: Doubles | None
) -> npt.NDArray[np.integer[Any]]:
    """Return labels with -1 for rows of weight 0, which are as good as missing."""
    return labels if weight is None else np.where(weight > 0, labels, -1)


def own_distances(X: Any, labels: npt.ArrayLike, centers: Any) -> Doubles:
    """Return the distance of each row to the centroid of its cluster."""
    labels = np.asarray(labels)
    centers = np.asarray(centers, dtype=np.float64)
    n_rows, n_features = X.shape
    step = max(1, BLOCK_NUMBERS // max(n_features, len(centers)))
    distances = np.empty(n_rows)
    for first in range(0, n_rows, step):
        block, own = X[first : first + step], labels[first : first + step]
        distances[first : first + step] = _own_distances(block, own, centers)
    return distances


def _own_distances(block: Any, own: npt.NDArray[np.integer[Any]], centers: Doubles) -> Doubles:
    if is_sparse(block):
        cross = (block @ centers.T)[np.arange(len(own)), own]
        norms = np.einsum("ij,ij->i", centers, centers)
        own_norms = np.asarray(block.multiply(block).sum(axis=1)).ravel()
        squares: Doubles = np.maximum(own_norms - 2 * cross + norms[own], 0)
        return np.sqrt(squares)
    return lengths(np.asarray(block, dtype=np.float64) - centers[own])


def lengths(vectors: Doubles) -> Doubles:
    """Return the length of each vector, also of those whose squares overflow or vanish."""
    largest = float(np.max(np.abs(vectors), initial=0.0))
    if largest == 0.0:
        return np.zeros(len(vectors))
    scaled: Doubles = largest * np.linalg.norm(vectors / largest, axis=1)
    return scaled


def labels_along(X: Any, path: Path) -> npt.NDArray[np.integer[Any]]:
    """Return the label of each row at each bandwidth, those kept or else found anew."""
    if path.labels is not None:
        return path.labels
    return np.stack([labels_at(X, path, step) for step in range(len(path))])


def labels_at(X: Any, path: Path, step: int) -> npt.NDArray[np.integer[Any]]:
    """Return the label of each row at one bandwidth, that kept or else found anew."""
    if path.labels is not None:
        kept: npt.NDArray[np.integer[Any]] = path.labels[step]
        return kept
    rescaling = Rescaling.of(X)
    centers = path.centers[step].astype(np.float64)
    with MemoryDataset(rescaling.to_internal(X), n_clusters=len(centers)) as dataset:
        assign(dataset, rescaling.to_internal(centers))
        return dataset.labels()

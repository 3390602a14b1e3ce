"""Rows to show: the exemplars of each cluster, which are nearest to its mode, or a sample."""

from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles
from modeclust.data.rescaling import Rescaling

Indices = npt.NDArray[np.intp]
Labels = npt.NDArray[np.integer[Any]]

MAX_POINTS = 5_000  # rows drawn as points
MIN_CLUSTER_POINTS = 10


def nearest_in_cluster(X: Any, labels: npt.ArrayLike, centers: Any, n_neighbors: int) -> Indices:
    """Return the rows of each cluster that are nearest to its center, the nearest first.

    The result has shape (n_clusters, n_neighbors). It is padded with -1 for clusters with fewer
    rows. Rows with the label -1 are left out.
    """
    labels = np.asarray(labels)
    distances = own_distances(X, np.maximum(labels, 0), centers)
    return nearest_by_distance(distances, labels, len(centers), n_neighbors)


def nearest_by_distance(
    distances: Doubles, labels: Labels, n_clusters: int, n_neighbors: int
) -> Indices:
    """Return the rows of each cluster with the smallest distances, as `nearest_in_cluster`."""
    nearest = np.full((n_clusters, n_neighbors), -1, dtype=np.intp)
    for k in range(n_clusters):
        own = np.flatnonzero(labels == k)
        first = own[np.argsort(distances[own], kind="stable")[:n_neighbors]]
        nearest[k, : len(first)] = first
    return nearest


def without_zero_weights(labels: Labels, weight: Doubles | None) -> Labels:
    """Return labels with -1 for rows of weight 0, which cannot be exemplars."""
    return labels if weight is None else np.where(weight > 0, labels, -1)


def own_distances(X: Any, labels: npt.ArrayLike, centers: Any) -> Doubles:
    """Return the distance of each row to the center of its cluster."""
    centers = np.asarray(centers, dtype=np.float64)
    rescaling = Rescaling.of(X)
    with MemoryDataset(rescaling.to_internal(X)) as dataset:
        squares = _core.own_distances(
            dataset.rows, rescaling.to_internal(centers), np.asarray(labels, dtype=np.int32)
        )
    return np.sqrt(squares) * rescaling.scale


def lengths(vectors: Doubles) -> Doubles:
    """Return the length of each vector, without overflow or underflow of squares."""
    largest = float(np.max(np.abs(vectors), initial=0.0))
    if largest == 0.0:
        return np.zeros(len(vectors))
    return np.asarray(largest * np.linalg.norm(vectors / largest, axis=1))


def sample_by_cluster(labels: Labels, n_clusters: int, size: int = MAX_POINTS) -> Indices:
    """Return all rows, or about `size` random rows if there are more, in ascending order.

    Each cluster gets its share of the sample, and at least `MIN_CLUSTER_POINTS` rows, so that
    small clusters are visible.
    """
    if len(labels) <= size:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters)) * size / len(labels)
    shares = np.diff(np.round(ends).astype(int), prepend=0)
    chosen = []
    for k, share in enumerate(np.maximum(shares, MIN_CLUSTER_POINTS)):
        own = np.flatnonzero(labels == k)
        chosen.append(rng.choice(own, min(share, len(own)), replace=False))
    return np.sort(np.concatenate(chosen))

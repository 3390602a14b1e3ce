"""Which rows are drawn where there are too many."""

from typing import Any

import numpy as np
import numpy.typing as npt

MOST_POINTS = 5_000
FEWEST_OF_A_CLUSTER = 10


def sample_by_cluster(
    labels: npt.NDArray[np.integer[Any]], n_clusters: int, size: int = MOST_POINTS
) -> npt.NDArray[np.intp]:
    """Return the rows to draw, in their order: all, or about `size` of them at random.

    Each cluster has its share, and no fewer than ten rows, so that small ones are seen.
    """
    if len(labels) <= size:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters)) * size / len(labels)
    shares = np.diff(np.round(ends).astype(int), prepend=0)
    chosen = []
    for k, share in enumerate(np.maximum(shares, FEWEST_OF_A_CLUSTER)):
        own = np.flatnonzero(labels == k)
        chosen.append(rng.choice(own, min(share, len(own)), replace=False))
    return np.sort(np.concatenate(chosen))

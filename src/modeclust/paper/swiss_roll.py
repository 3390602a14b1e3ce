"""Landmarks on the Swiss roll, and how far they are from it."""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree
from sklearn.datasets import make_swiss_roll

from modeclust import estimate_bandwidth, kmodes_path
from modeclust.path import Path
from modeclust.plotting.exemplars import nearest_in_cluster

Doubles = npt.NDArray[np.float64]

# What scikit-learn draws from: x = t cos t, z = t sin t, and y up to the height.
TURNS, HEIGHT = (1.5 * np.pi, 4.5 * np.pi), 21.0
N_SPIRAL = 100_000  # about 0.001 apart
# Multiples of the estimated bandwidth, which is one of them.
MULTIPLES = np.concatenate([np.geomspace(8, 1, 13), np.geomspace(1, 0.1, 13)[1:]])


class Landmarks(NamedTuple):
    """Landmarks of one roll, and how far each kind is from the roll on average."""

    path: Path  # K-means, then the multiples of the estimated bandwidth
    far: Doubles  # (S,) the centroids at each bandwidth of the path
    exemplars_far: float  # the rows nearest to the centroids of K-means, within the clusters
    rows_far: float  # all rows

    @property
    def chosen(self) -> int:
        """Return where in the path the estimated bandwidth is."""
        return 1 + int(np.flatnonzero(MULTIPLES == 1.0)[0])

    @property
    def mode_to_mean(self) -> float:
        """Return how far modes are, over how far means are."""
        return float(self.far[self.chosen] / self.far[0])


def spiral(n_points: int = N_SPIRAL) -> Doubles:
    """Return points along the section of the roll, as (x, z)."""
    t = np.linspace(*TURNS, n_points)
    return np.column_stack([t * np.cos(t), t * np.sin(t)])


@cache
def _spiral_tree() -> KDTree:
    return KDTree(spiral())


def distances_to_roll(places: Doubles) -> Doubles:
    """Return how far each place (x, y, z) is from the nearest point of the roll."""
    across = _spiral_tree().query(places[:, [0, 2]])[0]
    above = places[:, 1] - np.clip(places[:, 1], 0.0, HEIGHT)
    distances: Doubles = np.hypot(across, above)
    return distances


def place_landmarks(
    n_rows: int, n_landmarks: int, noise: float, seed: int, n_init: int = 20
) -> Landmarks:
    """Draw a roll, and place landmarks on it by K-means and K-modes."""
    X = make_swiss_roll(n_rows, noise=noise, random_state=seed)[0]
    path = kmodes_path(
        X,
        n_landmarks,
        bandwidths=[np.inf, *(MULTIPLES * estimate_bandwidth(X, random_state=seed))],
        n_init=n_init,
        path_iter=50,
        random_state=seed,
        store_labels=True,
    )
    off = distances_to_roll(X)
    return Landmarks(
        path,
        np.array([distances_to_roll(centers).mean() for centers in path.centers]),
        float(off[nearest_rows_within(X, path)].mean()),
        float(off.mean()),
    )


def nearest_rows_within(X: Doubles, path: Path) -> npt.NDArray[np.intp]:
    """Return the row nearest to each centroid of K-means, of those in its cluster."""
    means = path[0]
    assert means.labels is not None
    return nearest_in_cluster(X, means.labels, means.centers, 1)[:, 0]

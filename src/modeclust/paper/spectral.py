"""Spectral clustering after Ng, Jordan and Weiss, with K-means or K-modes as the last step."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.preprocessing import normalize

from modeclust import KModes, estimate_bandwidth
from modeclust.datasets import load_dataset
from modeclust.path import Floats

Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]
NAMES = ("moons", "circles", "digits")
NOISE = 0.1


class Pair(NamedTuple):
    """Means and modes of one embedding, their agreement with classes and how far off the sphere."""

    centers: tuple[Floats, Floats]
    agreement: tuple[float, float]  # adjusted Rand index
    off_sphere: tuple[float, float]  # |1 - norm|, the mean over the centroids


def draw_rows(name: str, n_rows: int, seed: int) -> tuple[Doubles, Labels]:
    """Return rows of a data set, drawn by the seed, and their classes."""
    if name == "moons":
        X, y = make_moons(n_rows, noise=NOISE, random_state=seed)
    elif name == "circles":
        X, y = make_circles(n_rows, noise=NOISE, factor=0.4, random_state=seed)
    else:
        digits = load_dataset("digits")
        chosen = np.random.RandomState(seed).permutation(len(digits.y))[:n_rows]
        X, y = digits.X[chosen], digits.y[chosen]
    return X, y


def embed_spectrally(X: Doubles, n_components: int, bandwidth: float) -> Doubles:
    """Return rows of unit length, of the leading eigenvectors of D^-1/2 A D^-1/2.

    A is the gaussian affinity of each two rows, and 0 of a row with itself; D its row sums.
    """
    affinity = np.exp(-0.5 * pairwise_distances(X, metric="sqeuclidean") / bandwidth**2)
    np.fill_diagonal(affinity, 0.0)
    scale = 1.0 / np.sqrt(affinity.sum(axis=1))
    n = len(X)
    vectors = eigh(scale[:, None] * affinity * scale, subset_by_index=[n - n_components, n - 1])[1]
    rows: Doubles = normalize(vectors)
    return rows


def cluster_spectrally(name: str, n_rows: int, seed: int) -> Pair:
    """Cluster one embedding by K-means and, from there, by K-modes."""
    X, y = draw_rows(name, n_rows, seed)
    n_clusters = len(np.unique(y))
    embedding = embed_spectrally(X, n_clusters, estimate_bandwidth(X, random_state=seed))
    model = KModes(n_clusters, n_init=20, random_state=seed, store_labels=True).fit(embedding)
    path = model.path_
    means, modes = path[0], path[-1]
    return Pair(
        (means.centers, modes.centers),
        (adjusted_rand_score(y, means.labels), adjusted_rand_score(y, modes.labels)),
        (off_sphere(means.centers), off_sphere(modes.centers)),
    )


def off_sphere(centers: Floats) -> float:
    """Return how far centroids are from the sphere of radius 1 on average."""
    return float(np.abs(1.0 - np.linalg.norm(centers, axis=1)).mean())

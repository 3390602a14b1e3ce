"""Random data to try robustness on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_blobs

from modeclust.datasets import load_dataset

Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]

CENTERS = 4.0 * np.array([[0, 0], [2, 0], [1, np.sqrt(3)]])  # of Gaussians of unit spread
OUTLIER_SHARE = 0.05


def draw_gaussians(seed: int, centers: Doubles, n_each: int) -> tuple[Doubles, Labels]:
    """Return rows of Gaussians of unit spread, and which of them each is of."""
    X, y = make_blobs([n_each] * len(centers), centers=centers, random_state=seed)
    return X, y


def draw_blobs(seed: int, shrink: int = 1) -> tuple[Doubles, Labels]:
    """Return rows of six Gaussians at random places in five dimensions."""
    return _draw_six(seed, np.full(6, 100 // shrink))


def draw_unequal_blobs(seed: int) -> tuple[Doubles, Labels]:
    """Return rows of six Gaussians of any sizes at random places in five dimensions."""
    shares = np.random.RandomState(seed).dirichlet(np.ones(6))
    return _draw_six(seed, np.maximum(np.round(600 * shares), 1))


def _draw_six(seed: int, sizes: npt.NDArray[Any]) -> tuple[Doubles, Labels]:
    centers = np.random.RandomState(seed).uniform(-10, 10, (6, 5))
    X, y = make_blobs(sizes.astype(int).tolist(), centers=centers, random_state=seed)
    return X, y


def draw_digits(seed: int, shrink: int = 1) -> tuple[Doubles, Labels]:
    """Return images of each digit at random."""
    data = load_dataset("digits")
    rng = np.random.RandomState(seed)
    rows = [rng.choice(np.flatnonzero(data.y == k), 50 // shrink, replace=False) for k in range(10)]
    chosen = np.concatenate(rows)
    return data.X[chosen], data.y[chosen]


def draw_with_outliers(seed: int, box: int) -> tuple[Doubles, Doubles]:
    """Return three Gaussians, and the same with 5% of outliers in a box around them."""
    X, _ = draw_gaussians(seed, CENTERS, 190)
    n_outliers = round(OUTLIER_SHARE * len(X) / (1 - OUTLIER_SHARE))
    away = box * X.std() * np.random.RandomState(seed).uniform(-0.5, 0.5, (n_outliers, 2))
    return X, np.concatenate([X, X.mean(axis=0) + away])


DATA: dict[str, Callable[[int, int], tuple[Doubles, Labels]]] = {
    "six Gaussians": draw_blobs,
    "digits": draw_digits,
}

"""A pass that finds the rows farthest from their own centroids."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from modeclust import _core


@dataclass
class Farthest:
    """The rows farthest from their centroids, farthest first."""

    n_wanted: int
    indices: npt.NDArray[np.int64]
    distances: npt.NDArray[np.float64]  # squared
    weights: npt.NDArray[np.float64]  # the weight of each in a K-means step

    def merge(self, other: "Farthest") -> None:
        """Keep the farthest of both; the earlier row wins a tie."""
        distances = np.concatenate([self.distances, other.distances])
        order = np.argsort(-distances, kind="stable")[: self.n_wanted]
        self.indices = np.concatenate([self.indices, other.indices])[order]
        self.distances = distances[order]
        self.weights = np.concatenate([self.weights, other.weights])[order]


@dataclass(frozen=True)
class FarthestPass:
    """Find the `n_wanted` rows of positive weight farthest from their centroids."""

    centroids: npt.NDArray[np.float64]  # (K, D)
    n_wanted: int

    def run(self, rows: _core.Rows) -> Farthest:
        """Return the farthest of some rows, by the labels that they have."""
        if not rows.has_labels:
            raise RuntimeError("The rows have no labels yet: a pass that assigns must come first.")
        distances = _core.own_distances(rows, self.centroids, rows.labels)
        weights = rows.row_weights()
        present = np.flatnonzero(weights)
        order = np.argsort(-distances[present], kind="stable")[: self.n_wanted]
        found = present[order]
        return Farthest(self.n_wanted, rows.first_row + found, distances[found], weights[found])

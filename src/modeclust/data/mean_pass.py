"""The K-means pass, which reads only rows whose label may have changed."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from modeclust import _core


@dataclass
class MeanSums:
    """The sums of the rows of each cluster, or how they changed since the last pass."""

    mass: npt.NDArray[np.float64]  # (K,) sum of weights
    totals: npt.NDArray[np.float64]  # (K, D) sum of weight x
    counts: npt.NDArray[np.int64]  # (K,) rows with this label and a positive weight
    changed: int = 0  # rows whose label changed
    searched: int = 0  # rows whose nearest center had to be searched
    read: int = 0  # rows that were read
    unit_length: bool = False  # whether rows and centers have length 1 (metric "cosine")
    n_threads: int = 1  # for what is computed from the sums

    @classmethod
    def zeros(cls, n_clusters: int, n_features: int) -> Self:
        """Return the sums of no rows."""
        return cls(
            mass=np.zeros(n_clusters),
            totals=np.zeros((n_clusters, n_features)),
            counts=np.zeros(n_clusters, dtype=np.int64),
        )

    def merge(self, other: Self) -> None:
        """Add the sums of other rows, or changes of these sums."""
        self.mass += other.mass
        self.totals += other.totals
        self.counts += other.counts
        self.changed += other.changed
        self.searched += other.searched
        self.read += other.read
        self.unit_length |= other.unit_length

    def moved(self, centers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the means of the clusters, as in `ModeSums.moved`."""
        return _core.means(self.totals, self.mass, centers, self.unit_length, self.n_threads)


@dataclass(frozen=True)
class MeanPass:
    """Assign each row to its nearest center, and sum the changes.

    If the last pass over a row had the centers `after`, the row is added to its new cluster and
    subtracted from its old one if its label changes. All other rows are added.
    """

    centers: npt.NDArray[np.float64]  # (K, D)
    after: npt.NDArray[np.float64] | None = None
    assigns: ClassVar[bool] = True

    def run(self, rows: _core.Rows) -> MeanSums:
        """Run the pass over some rows, and update their labels."""
        return MeanSums(*rows.mean_pass(self.centers, self.after), n_threads=rows.n_threads)


@dataclass
class Farthest:
    """The rows farthest from their centers, farthest first."""

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
    """Find the `n_wanted` rows of positive weight farthest from their centers."""

    centers: npt.NDArray[np.float64]  # (K, D)
    n_wanted: int

    def run(self, rows: _core.Rows) -> Farthest:
        """Return the farthest of some rows, by their current labels."""
        if not rows.has_labels:
            raise RuntimeError("The rows have no labels yet: a pass that assigns must come first.")
        distances = _core.own_distances(rows, self.centers, rows.labels)
        weights = rows.row_weights()
        present = np.flatnonzero(weights)
        order = np.argsort(-distances[present], kind="stable")[: self.n_wanted]
        found = present[order]
        return Farthest(self.n_wanted, rows.first_row + found, distances[found], weights[found])

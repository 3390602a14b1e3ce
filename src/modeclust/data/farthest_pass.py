"""A pass that finds the rows farthest from their own centroids."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from modeclust.data.blocks import Block
from modeclust.data.centroid_pass import CentroidPass
from modeclust.data.reading import fill_own_distances


@dataclass
class Farthest:
    """The rows farthest from their centroids, farthest first."""

    n_wanted: int
    indices: npt.NDArray[np.int64]
    distances: npt.NDArray[np.float64]  # squared
    pulls: npt.NDArray[np.float64]  # the weight of each in a K-means step

    def merge(self, other: "Farthest") -> None:
        """Keep the farthest of both; the earlier row wins a tie."""
        distances = np.concatenate([self.distances, other.distances])
        order = np.argsort(-distances, kind="stable")[: self.n_wanted]
        self.indices = np.concatenate([self.indices, other.indices])[order]
        self.distances = distances[order]
        self.pulls = np.concatenate([self.pulls, other.pulls])[order]


@dataclass(frozen=True)
class FarthestPass(CentroidPass):
    """Find the `n_wanted` rows of positive weight farthest from their centroids."""

    n_wanted: int

    def start(self) -> Farthest:
        """Return the farthest of no rows."""
        return Farthest(self.n_wanted, np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    def add(self, block: Block, farthest: Farthest) -> None:
        """Add one block's rows."""
        distances = np.empty(len(block.labels))
        every = np.arange(len(distances))
        layout = self._layouts.suiting(block.X, n_searched=0)
        fill_own_distances(block.X, 0, every, layout.rows, layout.norms, block.labels, distances)
        pulls = np.ones(len(block.labels))
        if block.weight.size:
            pulls *= block.weight
        if block.inverse_squared_scale.size:
            pulls *= block.inverse_squared_scale
        present = np.flatnonzero(pulls)
        farthest.merge(
            Farthest(self.n_wanted, block.start + present, distances[present], pulls[present])
        )

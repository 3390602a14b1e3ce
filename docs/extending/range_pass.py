"""A pass that finds the least and the largest number of each feature."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Ranges:
    """The least and the largest numbers of some rows."""

    least: np.ndarray  # (D,)
    most: np.ndarray  # (D,)

    def merge(self, other):
        """Add the ranges of the rows that follow."""
        self.least = np.minimum(self.least, other.least)
        self.most = np.maximum(self.most, other.most)


@dataclass(frozen=True)
class RangePass:
    """Find the ranges of the features of dense rows."""

    n_features: int

    def start(self):
        """Return the ranges of no rows."""
        return Ranges(np.full(self.n_features, np.inf), np.full(self.n_features, -np.inf))

    def add(self, block, ranges):
        """Add the rows of a block."""
        ranges.merge(Ranges(block.X.min(axis=0), block.X.max(axis=0)))

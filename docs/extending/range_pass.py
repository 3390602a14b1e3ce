"""A pass that finds the least and the largest number of each feature."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Ranges:
    """What the pass leaves of some rows."""

    least: np.ndarray  # (D,)
    most: np.ndarray  # (D,)

    def merge(self, other):
        """Add what was left of the rows that come next."""
        self.least = np.minimum(self.least, other.least)
        self.most = np.maximum(self.most, other.most)


@dataclass(frozen=True)
class RangePass:
    """Find the ranges of dense rows of so many features."""

    n_features: int

    def start(self):
        """Return the ranges of no rows."""
        return Ranges(np.full(self.n_features, np.inf), np.full(self.n_features, -np.inf))

    def add(self, block, ranges):
        """Add the rows of a block."""
        ranges.merge(Ranges(block.X.min(axis=0), block.X.max(axis=0)))

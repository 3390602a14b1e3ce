"""A pass that finds the smallest and the largest value of each feature."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Ranges:
    """The smallest and the largest value of each feature in some rows."""

    smallest: np.ndarray  # (D,)
    largest: np.ndarray  # (D,)

    def merge(self, other):
        """Add the ranges of the rows that follow."""
        self.smallest = np.minimum(self.smallest, other.smallest)
        self.largest = np.maximum(self.largest, other.largest)


class RangePass:
    """Find the range of each feature."""

    def run(self, rows):
        """Return the ranges of some rows."""
        ranges = Ranges(*np.empty((2, rows.n_features)))
        for j, axis in enumerate(np.eye(rows.n_features)):
            values = rows.keys(axis)  # product of each row with a unit vector: its feature j
            ranges.smallest[j] = values.min()
            ranges.largest[j] = values.max()
        return ranges

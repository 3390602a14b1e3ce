"""What is typical of each cluster in a column: statistics with the weights of the mode step.

The mode of a cluster is the mean of its rows, weighted by the kernel around the mode. The same
weights give a mean, a range or shares of any column, whether it was clustered on or not.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from modeclust import _core
from modeclust.data.reading import Doubles
from modeclust.kernels import KERNELS
from modeclust.plotting.exemplars import Labels
from modeclust.reporting.columns import Column

LOW, HIGH = 0.1, 0.9  # ends of a range
# This share of the rows is cut off at either end of a column before it is compared, and at least
# one row: one absurd value must not decide what is usual.
CUT_SHARE, FEWEST_TO_CUT = 0.01, 5
# Categories with a smaller share than this, in the cluster and in all rows, tell nothing.
SMALLEST_SHARE = 0.1


def kernel_weights(
    kernel: str,
    distances: Doubles,
    labels: Labels,
    bandwidths: Doubles,
    weight: Doubles | None = None,
    scale: Doubles | None = None,
) -> Doubles:
    """Return the weight of each row in the mode of its cluster; 0 for noise.

    `distances` are those of the rows to these modes. The largest weight of a cluster is about 1. If
    a kernel reaches no row, the nearest rows have the weight 1.
    """
    scale = np.ones(len(labels)) if scale is None else scale
    weight = np.ones(len(labels)) if weight is None else weight
    counted = (labels >= 0) & (weight > 0)
    own, widths = labels[counted], bandwidths[labels[counted]] * scale[counted]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.nan_to_num((distances[counted] / widths) ** 2, nan=0.0, posinf=np.finfo(float).max)
    nearest, largest = np.full(len(bandwidths), np.inf), np.zeros(len(bandwidths))
    np.minimum.at(nearest, own, t)
    values = _core.relative_weights(KERNELS[kernel], t, nearest[own])
    np.maximum.at(largest, own, values)
    values = np.where(largest[own] > 0, values, t == nearest[own])
    weights = np.zeros(len(labels))
    weights[counted] = values * weight[counted] / scale[counted] ** 2
    return weights


class Weights(NamedTuple):
    """The rows of each cluster with their weights in its mode."""

    labels: Labels  # (N,), -1 for rows that do not count
    values: Doubles  # (N,)
    n_clusters: int

    @classmethod
    def of(cls, labels: Labels, values: Doubles, n_clusters: int) -> "Weights":
        """Return the weights; rows of weight 0 do not count."""
        # The labels of a path are small integers, whose products would overflow.
        return cls(np.where(values > 0, labels, -1).astype(np.intp), values, n_clusters)

    def rows_averaged(self, weight: Doubles | None) -> Doubles:
        """Return how many rows each mode averages."""
        sums = self.sums(np.ones(len(self.labels)))
        own = np.ones(len(self.labels)) if weight is None else np.where(weight > 0, weight, 1.0)
        squares = self.sums(self.values / own)
        return np.divide(sums**2, squares, out=np.zeros_like(sums), where=squares > 0)

    def sums(self, values: Doubles) -> Doubles:
        """Return the weighted sum of the values of each cluster."""
        own = self.labels >= 0
        weighted = self.values[own] * values[own]
        return np.bincount(self.labels[own], weighted, self.n_clusters).astype(np.float64)

    def means(self, values: Doubles) -> Doubles:
        """Return the weighted mean of each cluster without missing values; NaN if all are."""
        known = ~np.isnan(values)
        return _divide(self.sums(np.where(known, values, 0.0)), self.sums(known.astype(float)))

    def shares(self, column: Column) -> Doubles:
        """Return the share of each category in each cluster, of shape (n_clusters, n_levels)."""
        own = (self.labels >= 0) & ~column.is_missing
        n_levels = len(column.levels)
        places = self.labels[own] * n_levels + column.values[own].astype(np.intp)
        size = self.n_clusters * n_levels
        table = np.bincount(places, self.values[own], size).reshape(-1, n_levels).astype(np.float64)
        return _divide(table, table.sum(axis=1, keepdims=True))

    def quantiles(self, values: Doubles, shares: tuple[float, ...]) -> Doubles:
        """Return weighted quantiles of each cluster, of shape (n_clusters, n_shares).

        A quantile is the smallest value such that the weights up to it have at least this share.
        """
        kept = np.flatnonzero((self.labels >= 0) & ~np.isnan(values))
        order = kept[np.lexsort((values[kept], self.labels[kept]))]
        ends = np.searchsorted(self.labels[order], np.arange(self.n_clusters + 1))
        found = np.full((self.n_clusters, len(shares)), np.nan)
        for k in range(self.n_clusters):
            rows = order[ends[k] : ends[k + 1]]
            if len(rows):
                total = np.cumsum(self.values[rows])
                wanted = np.array(shares) * total[-1] * (1 - 1e-12)
                found[k] = values[rows[np.searchsorted(total, wanted)]]
        return found


def _divide(sums: Doubles, weights: Doubles) -> Doubles:
    empty = np.full(np.broadcast_shapes(sums.shape, weights.shape), np.nan)
    return np.asarray(np.divide(sums, weights, out=empty, where=weights > 0))


class AllRows:
    """What is usual of a column in all rows: what each cluster is compared with.

    Numbers and dates are winsorised: values below the 1% and above the 99% quantile are replaced by
    these quantiles, and at least the smallest and the largest value. Their mean and standard
    deviation are the `center` and the `spread`. If no two values are left that differ, as in a
    column of almost only zeros, what is compared is whether a value is below (-1) or above (1) that
    one. Columns of only 0 and 1 have no outliers and stay as they are. For categories, `center` has
    their shares, and `spread` the standard deviation of being in one.
    """

    def __init__(self, column: Column, weight: Doubles | None) -> None:
        everything = np.zeros(len(column.values), dtype=np.intp)
        values = np.ones(len(everything)) if weight is None else weight
        self.column = column
        self._rows = Weights.of(everything, values, 1)
        self.limits = (-np.inf, np.inf)
        self.usual: float | None = None  # the one value that is left after winsorising
        if column.kind in ("number", "date") and not column.is_binary:
            self._winsorise()
        self.center = self.positions(self._rows)[0]
        if column.kind == "category":
            self.spread = np.sqrt(self.center * (1 - self.center))
        else:
            deviations = np.abs(self._compared(column.values) - self.center[0])
            # Squares of very large or small numbers overflow or underflow.
            largest = float(np.nanmax(deviations, initial=0.0)) or 1.0
            self.spread = largest * np.sqrt(self._rows.means((deviations / largest) ** 2))

    def _winsorise(self) -> None:
        rows = np.flatnonzero((self._rows.labels >= 0) & ~self.column.is_missing)
        order = rows[np.argsort(self.column.values[rows], kind="stable")]
        values, weights = self.column.values[order], self._rows.values[order]
        if len(values) < FEWEST_TO_CUT:
            return
        cut = CUT_SHARE * weights.sum() * (1 + 1e-12)
        low = max(int(np.searchsorted(np.cumsum(weights), cut, side="right")), 1)
        high = max(int(np.searchsorted(np.cumsum(weights[::-1]), cut, side="right")), 1)
        first, last = values[low], values[len(values) - 1 - high]
        if first < last:
            self.limits = (float(first), float(last))
        elif values[0] < values[-1]:
            self.usual = float(np.median(values))

    def _compared(self, values: Doubles) -> Doubles:
        """Return numbers as they are compared: winsorised, or how they differ from the usual."""
        if self.usual is not None:
            return np.asarray(np.sign(values - self.usual))
        return np.asarray(np.clip(values, *self.limits))

    @cached_property
    def value(self) -> float:
        """The usual value: a mean of numbers, the middle of dates, the commonest category."""
        if self.column.kind == "category":
            return float(np.argmax(self.center))
        if self.column.kind == "date":
            return float(self._rows.quantiles(self.column.values, (0.5,))[0, 0])
        return float(self.center[0]) if self.usual is None else self.usual

    @cached_property
    def range(self) -> Doubles:
        """The 10% and the 90% quantile."""
        return np.asarray(self._rows.quantiles(self.column.values, (LOW, HIGH))[0])

    def positions(self, weights: Weights) -> Doubles:
        """Return what is compared of each cluster, of shape (n_clusters, n_levels or 1)."""
        if self.column.kind == "category":
            return weights.shares(self.column)
        return weights.means(self._compared(self.column.values))[:, None]

    def effects(self, positions: Doubles, others: Doubles) -> Doubles:
        """Return the differences between positions, in spreads."""
        difference = positions - others
        zeros = np.zeros_like(difference)
        return np.asarray(np.divide(difference, self.spread, out=zeros, where=self.spread > 0))

    def effect(self, position: Doubles, other: Doubles, level: int) -> float:
        """Return the difference between two positions in one level, in spreads."""
        return float(self.effects(position[None], other[None])[0, level])

    def telling_level(self, position: Doubles, other: Doubles) -> int:
        """Return the level in which a cluster differs most from another position."""
        if len(position) == 1:
            return 0
        if len(position) == 2:  # both differ equally: say which one is more frequent
            return int(np.argmax(position - other))
        effects = np.abs(self.effects(position[None], other[None])[0])
        return int(np.argmax(np.where(np.maximum(position, other) >= SMALLEST_SHARE, effects, -1)))


class Typical:
    """The typical values of a column in each cluster."""

    def __init__(self, column: Column, weights: Weights) -> None:
        self.column, self._weights = column, weights

    @cached_property
    def shares(self) -> Doubles:
        """The share of each category; of True for booleans."""
        if self.column.kind == "category":
            return self._weights.shares(self.column)
        return self._weights.means(self.column.values)[:, None]

    @cached_property
    def values(self) -> Doubles:
        """The typical value of each cluster, as in `Column.values`; NaN if all are missing."""
        if self.column.kind == "category":
            known = ~np.isnan(self.shares[:, 0])
            commonest = np.argmax(np.nan_to_num(self.shares, nan=-1.0), axis=1)
            return np.where(known, commonest, np.nan)
        if self.column.kind == "date":
            return self._weights.quantiles(self.column.values, (0.5,))[:, 0]
        return self._weights.means(self.column.values)

    @cached_property
    def ranges(self) -> Doubles:
        """The 10% and the 90% quantile of each cluster."""
        return self._weights.quantiles(self.column.values, (LOW, HIGH))

    @cached_property
    def missing(self) -> Doubles:
        """The share of the weight of each cluster whose values are missing."""
        return self._weights.means(self.column.is_missing.astype(float))

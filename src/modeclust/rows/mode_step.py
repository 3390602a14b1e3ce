"""One pass over the rows: assign, weigh, sum (eq. 3 and section 2 of the paper)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled
from modeclust.kernels import has_compact_support, profile, relative_pull
from modeclust.rows.blocks import Block
from modeclust.rows.reading import (
    CentroidLayouts,
    Centroids,
    add_row,
    finish_shift,
    nearest_centroid,
    row_count,
    squared_distance,
)


@dataclass
class ModeSums:
    """What one pass leaves of the rows, per cluster; the sums of two blocks merge exactly.

    The weight of a row is q g(t) / s^2 / g(reference), where the reference is the
    smallest t of its cluster so far: at no bandwidth do all weights underflow.
    """

    kernel: int
    reference: npt.NDArray[np.float64]  # (K,) smallest t met; inf with no row
    mass: npt.NDArray[np.float64]  # (K,) sum of weights
    shift: npt.NDArray[np.float64]  # (K, D) sum of weight (x - c)
    counts: npt.NDArray[np.int64]  # (K,) rows with this label, whatever their weight
    nearest: npt.NDArray[np.int64]  # (K,) the row nearest the centroid, -1 with none
    nearest_distance: npt.NDArray[np.float64]  # (K,) its squared distance
    objective: float = 0.0  # sum of q G(t)
    inertia: float = 0.0  # sum of q |x - c|^2 / s^2
    weight: float = 0.0  # sum of q
    changed: int = 0  # rows whose label changed

    @classmethod
    def zeros(cls, kernel: int, n_clusters: int, n_features: int) -> Self:
        """Return the sums of no rows."""
        return cls(
            kernel=kernel,
            reference=np.full(n_clusters, np.inf),
            mass=np.zeros(n_clusters),
            shift=np.zeros((n_clusters, n_features)),
            counts=np.zeros(n_clusters, dtype=np.int64),
            nearest=np.full(n_clusters, -1, dtype=np.int64),
            nearest_distance=np.full(n_clusters, np.inf),
        )

    def merge(self, other: Self) -> None:
        """Add the sums of rows that come after these."""
        _merge_references(
            self.kernel,
            self.reference,
            self.mass,
            self.shift,
            other.reference,
            other.mass,
            other.shift,
        )
        self.counts += other.counts
        closer = other.nearest_distance < self.nearest_distance
        self.nearest[closer] = other.nearest[closer]
        self.nearest_distance[closer] = other.nearest_distance[closer]
        self.objective += other.objective
        self.inertia += other.inertia
        self.weight += other.weight
        self.changed += other.changed

    def moved(self, centroids: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the centroids after the mode step; one with no weight stays."""
        moved = centroids.copy()
        pulled = self.mass > 0
        moved[pulled] += self.shift[pulled] / self.mass[pulled, None]
        return moved


@dataclass(frozen=True)
class ModeStep:
    """Assign each row to its nearest centroid, or keep its label, and sum its pull."""

    centroids: npt.NDArray[np.float64]  # (K, D)
    kernel: int
    inverse_squared_bandwidth: float  # 0 is an infinite bandwidth: K-means
    reassign: bool = True

    def start(self) -> ModeSums:
        """Return the sums of no rows."""
        return ModeSums.zeros(self.kernel, *self.centroids.shape)

    def add(self, block: Block, sums: ModeSums) -> None:
        """Add one block's rows to `sums` and write their labels."""
        totals = _sweep(
            block.X,
            block.start,
            block.weight,
            block.inverse_squared_scale,
            self._layouts.suiting(block.X),
            self.kernel,
            self.inverse_squared_bandwidth,
            self.reassign,
            block.labels,
            sums.reference,
            sums.mass,
            sums.shift,
            sums.counts,
            sums.nearest,
            sums.nearest_distance,
        )
        sums.objective += totals[0]
        sums.inertia += totals[1]
        sums.weight += totals[2]
        sums.changed += totals[3]

    @cached_property
    def _layouts(self) -> CentroidLayouts:
        return CentroidLayouts(self.centroids)


@compiled
def _sweep(
    X: Any,  # IN
    start: int,
    weight: Any,  # (n,), or empty for 1
    inverse_squared_scale: Any,  # (n,), or empty for 1
    centroids: Centroids,
    kernel: int,
    inverse_squared_bandwidth: float,
    reassign: bool,
    labels: Any,  # IN/OUT from here on
    reference: Any,
    mass: Any,
    shift: Any,
    counts: Any,
    nearest: Any,
    nearest_distance: Any,
) -> Any:
    """Add one block to its sums; return its objective, inertia, weight and changed labels."""
    scores = np.empty(mass.size)
    referenced = not has_compact_support(kernel)
    objective = 0.0
    inertia = 0.0
    total_weight = 0.0
    changed = 0
    for i in range(row_count(X)):
        if reassign:
            k, distance = nearest_centroid(X, i, centroids, scores)
            if labels[i] != k:
                labels[i] = k
                changed += 1
        else:
            k = labels[i]
            distance = squared_distance(X, i, centroids, k)

        counts[k] += 1
        q = weight[i] if weight.size > 0 else 1.0
        if q == 0.0:
            continue
        if distance < nearest_distance[k]:
            nearest_distance[k] = distance
            nearest[k] = start + i

        precision = inverse_squared_scale[i] if inverse_squared_scale.size > 0 else 1.0
        t = distance * precision * inverse_squared_bandwidth
        if not referenced:
            reference[k] = 0.0
        elif t < reference[k]:
            if mass[k] > 0.0:
                rescale = relative_pull(kernel, reference[k], t)
                mass[k] *= rescale
                for j in range(shift.shape[1]):
                    shift[k, j] *= rescale
            reference[k] = t
        pull = q * precision * relative_pull(kernel, t, reference[k])
        if pull > 0.0:
            mass[k] += pull
            add_row(X, i, pull, centroids, k, shift)
        objective += q * profile(kernel, t)
        inertia += q * precision * distance
        total_weight += q
    finish_shift(X, mass, centroids, shift)
    return objective, inertia, total_weight, changed


@compiled
def _merge_references(
    kernel: int,
    reference: Any,  # IN/OUT
    mass: Any,
    shift: Any,
    other_reference: Any,  # IN
    other_mass: Any,
    other_shift: Any,
) -> None:
    """Add sums taken at other references, at the smaller reference of each cluster."""
    for k in range(mass.size):
        if other_reference[k] == np.inf:
            continue
        if reference[k] == np.inf:
            reference[k] = other_reference[k]
        common = min(reference[k], other_reference[k])
        ours = relative_pull(kernel, reference[k], common)
        theirs = relative_pull(kernel, other_reference[k], common)
        reference[k] = common
        mass[k] = ours * mass[k] + theirs * other_mass[k]
        for j in range(shift.shape[1]):
            shift[k, j] = ours * shift[k, j] + theirs * other_shift[k, j]

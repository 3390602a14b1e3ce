"""Passes over the rows of a neighbour graph, which smooth memberships.

The graph W is a dataset like any other: a symmetric CSR matrix, one row for each row of the
data. All arrays are (N, K), and each block writes its own part of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled, compiled_in_order
from modeclust.data.blocks import Block
from modeclust.data.reading import row_count
from modeclust.data.soft_pass import Nothing

Doubles = npt.NDArray[np.float64]


@dataclass
class Energy:
    """A sum over rows."""

    value: float = 0.0

    def merge(self, other: "Energy") -> None:
        """Add that of other rows."""
        self.value += other.value


@dataclass(frozen=True)
class ProjectPass:
    """One accelerated step down the energy, projected on the simplex.

    From Y = Z + momentum (Z - Z_before), row by row,
    Z_next = Proj(Y - rate (2 smoothing (D Y - W Y) - g)). W Y is known from W Z and W Z_before.
    """

    memberships: Doubles  # Z
    before: Doubles  # Z_before
    products: Doubles  # W Z
    products_before: Doubles  # W Z_before
    kernel_values: Doubles  # g
    degrees: Doubles  # (N,)
    smoothing: float
    rate: float
    momentum: float
    following: Doubles  # Z_next, OUT

    def start(self) -> Nothing:
        """Return nothing."""
        return Nothing()

    def add(self, block: Block, nothing: Nothing) -> None:
        """Write one block's part."""
        rows = block.rows
        _descend(
            self.memberships[rows],
            self.before[rows],
            self.products[rows],
            self.products_before[rows],
            self.kernel_values[rows],
            self.degrees[rows],
            self.smoothing,
            self.rate,
            self.momentum,
            self.following[rows],
        )


@dataclass(frozen=True)
class LaplacianPass:
    """Write W Z, and return smoothing tr(Z' L Z) - sum z g."""

    memberships: Doubles
    kernel_values: Doubles
    smoothing: float
    products: Doubles  # W Z, OUT

    def start(self) -> Energy:
        """Return the energy of no rows."""
        return Energy()

    def add(self, block: Block, energy: Energy) -> None:
        """Write one block's part, and add its energy."""
        energy.value += _multiply(
            block.X,
            self.memberships,
            self.memberships[block.rows],
            self.kernel_values[block.rows],
            self.smoothing,
            self.products[block.rows],
        )


@dataclass(frozen=True)
class BoundPass:
    """Write softmax(g + smoothing W Z), and return the energy of Z that this lowers.

    It is sum z log z - sum g z - smoothing / 2 sum_nm w_nm z_n . z_m. A damping m makes the step
    shorter: softmax((g + smoothing W Z + m log Z) / (1 + m)). From smoothing times the largest
    degree on, it lowers the energy for certain, as W + m then has no negative eigenvalue.
    """

    memberships: Doubles
    kernel_values: Doubles
    smoothing: float
    damping: float
    following: Doubles  # OUT

    def start(self) -> Energy:
        """Return the energy of no rows."""
        return Energy()

    def add(self, block: Block, energy: Energy) -> None:
        """Write one block's part, and add its energy."""
        energy.value += _soften(
            block.X,
            self.memberships,
            self.memberships[block.rows],
            self.kernel_values[block.rows],
            self.smoothing,
            self.damping,
            self.following[block.rows],
        )


@compiled
def _descend(
    memberships: Any,  # IN
    before: Any,
    products: Any,
    products_before: Any,
    kernel_values: Any,
    degrees: Any,
    smoothing: float,
    rate: float,
    momentum: float,
    following: Any,  # OUT
) -> None:
    for i in range(following.shape[0]):
        for k in range(following.shape[1]):
            y = memberships[i, k] + momentum * (memberships[i, k] - before[i, k])
            wy = products[i, k] + momentum * (products[i, k] - products_before[i, k])
            slope = 2.0 * smoothing * (degrees[i] * y - wy) - kernel_values[i, k]
            following[i, k] = y - rate * slope
        project(following[i])


@compiled_in_order
def project(row: Any) -> None:
    """Bring a row to the nearest point of the simplex (exact: Michelot's rounds end).

    Of the coordinates still in play, those at or below their mean excess can only be 0; so can
    all that are lower than the highest by 1.
    """
    highest = row[0]
    for k in range(row.size):
        highest = max(highest, row[k])
    level, active = -1.0, row.size + 1
    while True:
        total, left = 0.0, 0
        for k in range(row.size):
            if row[k] - highest > level:
                total += row[k] - highest
                left += 1
        if left >= active:  # rounding may bring one back
            break
        level, active = (total - 1.0) / left, left
    for k in range(row.size):
        row[k] = max(row[k] - highest - level, 0.0)


@compiled
def project_rows(rows: Any) -> None:
    """Bring each row to the nearest point of the simplex."""
    for i in range(rows.shape[0]):
        project(rows[i])


@compiled
def _multiply(
    W: Any,  # IN
    every: Any,  # (N, K)
    memberships: Any,  # (n, K), of the block's rows
    kernel_values: Any,
    smoothing: float,
    products: Any,  # OUT
) -> float:
    energy = 0.0
    for i in range(row_count(W)):
        row, z = products[i], memberships[i]
        row[:] = 0.0
        # By differences: z (d z - W z) would be the small rest of large numbers.
        roughness = 0.0
        for p in range(W.indptr[i], W.indptr[i + 1]):
            w, other = W.data[p], every[W.indices[p]]
            for k in range(row.size):
                row[k] += w * other[k]
                difference = z[k] - other[k]
                roughness += w * difference * difference
        energy += 0.5 * smoothing * roughness
        for k in range(row.size):
            energy -= z[k] * kernel_values[i, k]
    return energy


@compiled
def _soften(
    W: Any,  # IN
    every: Any,
    memberships: Any,
    kernel_values: Any,
    smoothing: float,
    damping: float,
    following: Any,  # OUT
) -> float:
    energy = 0.0
    for i in range(row_count(W)):
        row = following[i]
        _neighbors(W, i, every, row)
        highest = -np.inf
        for k in range(row.size):
            z, pull = memberships[i, k], kernel_values[i, k] + smoothing * row[k]
            if z > 0.0:
                log = np.log(z)
                energy += z * (log - kernel_values[i, k] - 0.5 * smoothing * row[k])
                pull += damping * log
            elif damping > 0.0:
                pull = -np.inf
            row[k] = pull / (1.0 + damping)
            highest = max(highest, row[k])
        total = 0.0
        for k in range(row.size):
            row[k] = np.exp(row[k] - highest)
            total += row[k]
        for k in range(row.size):
            row[k] /= total
    return energy


@compiled
def _neighbors(W: Any, i: int, every: Any, out: Any) -> None:
    """Write the sum of w_ij z_j over the neighbours of a row."""
    out[:] = 0.0
    for p in range(W.indptr[i], W.indptr[i + 1]):
        w = W.data[p]
        z = every[W.indices[p]]
        for k in range(out.size):
            out[k] += w * z[k]

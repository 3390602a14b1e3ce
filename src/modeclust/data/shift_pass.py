"""One pass of mean-shift: every point against every row that its kernel reaches."""

from dataclasses import dataclass
from functools import cached_property
from threading import local
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled, compiled_inline
from modeclust.data.blocks import Block
from modeclust.data.reading import FEWEST_FOR_PRODUCTS, Csr, Floats
from modeclust.data.summing import RISE, means, merge_references, refer
from modeclust.exponential import exp_of_minus_half
from modeclust.kernels import (
    CAUCHY,
    GAUSSIAN,
    has_compact_support,
    profile,
    relative_pull,
)

Vector = npt.NDArray[np.float64]

# Rows are taken so many at a time, and short rows are passed over together where the box
# around them is out of reach of all points of a tile.
LEAF, POINTS = 128, 32
# Long rows, which go through matrix products: rows and points of one product.
LONG_LEAF, LONG_POINTS = 512, 256
# Of sparse rows, so many points at a time: few enough that the numbers of common features, one
# for each point, stay in the cache. Many rows at a time, as the sums after them are dense.
SPARSE_POINTS, SPARSE_LEAF = 32, 2**14
# By products, a squared distance is off by about 1e-16 of the squared norms: they are used where
# that is below 1e-8 of the squared bandwidth.
LARGEST_NORM = 1e8


@dataclass
class ShiftSums:
    """The sums of the kernel weights at each point; the sums of two blocks merge exactly."""

    kernel: int
    reference: Vector  # (M,) about the smallest t met; inf with no row
    mass: Vector  # (M,) sum of weights, relative to the reference
    totals: npt.NDArray[np.float64]  # (M, D) sum of weight x
    density: Vector  # (M,) sum of q G(t)
    smallest: Vector  # (M,) the smallest t of a row with weight; inf with none

    @classmethod
    def zeros(cls, kernel: int, n_points: int, n_features: int) -> Self:
        """Return the sums of no rows."""
        return cls(
            kernel,
            np.full(n_points, np.inf),
            np.zeros(n_points),
            np.zeros((n_points, n_features)),
            np.zeros(n_points),
            np.full(n_points, np.inf),
        )

    def merge(self, other: Self) -> None:
        """Add the sums of rows that come after these."""
        merge_references(
            self.kernel,
            self.reference,
            self.mass,
            self.totals,
            other.reference,
            other.mass,
            other.totals,
        )
        self.density += other.density
        np.minimum(self.smallest, other.smallest, out=self.smallest)

    def moved(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the points after the shift; one that no row reaches stays."""
        return means(self.totals, self.mass, points)


@dataclass(frozen=True)
class ShiftPass:
    """Sum the kernel weights of all rows at each of the points.

    `reach` (M,) is an upper bound on the smallest t at each point, inf where none is known. Rows
    whose t is above it by `negligible` or more are left out, whole leaves of them unread.
    """

    points: npt.NDArray[np.float64]  # (M, D)
    kernel: int
    inverse_squared_bandwidth: float
    reach: Vector
    negligible: float
    largest_norm: float  # of the rows, squared

    def start(self) -> ShiftSums:
        """Return the sums of no rows."""
        return ShiftSums.zeros(self.kernel, *self.points.shape)

    def add(self, block: Block, sums: ShiftSums) -> None:
        """Add the pull of one block's rows."""
        if isinstance(block.X, Csr):
            self._add_sparse(block.X, block, sums)
            return
        if self._suits_products:
            self._add_by_products(block.X, block, sums)
            return
        _add_by_differences(
            block.X,
            block.weight,
            block.inverse_squared_scale,
            self.points,
            *self._boxes,
            self._limits,
            self.kernel,
            self.inverse_squared_bandwidth,
            self.negligible,
            _desk(LEAF, self.points.shape[1]),
            sums.reference,
            sums.mass,
            sums.totals,
            sums.density,
            sums.smallest,
        )

    @property
    def _suits_products(self) -> bool:
        largest = max(self.largest_norm, float(self._norms.max()))
        exact = largest * self.inverse_squared_bandwidth < LARGEST_NORM
        return self.points.shape[1] >= FEWEST_FOR_PRODUCTS and exact

    @cached_property
    def _boxes(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The lowest and highest coordinates of each tile of points."""
        firsts = np.arange(0, len(self.points), POINTS)
        lowest = np.minimum.reduceat(self.points, firsts, axis=0)
        highest = np.maximum.reduceat(self.points, firsts, axis=0)
        return lowest, highest

    @cached_property
    def _limits(self) -> Vector:
        """The t beyond which no row matters to each point."""
        if self.kernel == CAUCHY:
            return np.full(len(self.points), np.inf)
        if has_compact_support(self.kernel):
            return np.ones(len(self.points))
        return self.reach + self.negligible

    @cached_property
    def _norms(self) -> Vector:
        norms: Vector = np.einsum("md,md->m", self.points, self.points)
        return norms

    def _add_by_products(self, X: Floats, block: Block, sums: ShiftSums) -> None:
        desk = _desk(LONG_LEAF, 0)
        for first in range(0, len(X), LONG_LEAF):
            rows = slice(first, first + LONG_LEAF)
            leaf = X[rows].astype(np.float64)
            norms = np.einsum("id,id->i", leaf, leaf)
            for begin in range(0, len(self.points), LONG_POINTS):
                some = slice(begin, begin + LONG_POINTS)
                pulls = self.points[some] @ leaf.T
                self._weigh(pulls, norms, block, rows, some, desk, sums)
                sums.totals[some] += pulls @ leaf

    def _add_sparse(self, X: Csr, block: Block, sums: ShiftSums) -> None:
        """Add the pull of sparse rows: each number of a row meets that of all points at once."""
        n_rows = len(X.indptr) - 1
        desk = _desk(min(n_rows, SPARSE_LEAF), 0)
        for first in range(0, n_rows, SPARSE_LEAF):
            rows = slice(first, min(first + SPARSE_LEAF, n_rows))
            leaf = X._replace(indptr=X.indptr[first : rows.stop + 1])
            norms = _sparse_norms(leaf.data, leaf.indptr)
            for begin in range(0, len(self.points), SPARSE_POINTS):
                some = slice(begin, begin + SPARSE_POINTS)
                columns = self._columns[begin // SPARSE_POINTS]
                products = np.empty((len(norms), columns.shape[1]))
                _multiply_sparse(*leaf, columns, products)
                pulls = np.ascontiguousarray(products.T)
                self._weigh(pulls, norms, block, rows, some, desk, sums)
                products[...] = pulls.T
                _add_sparse_totals(*leaf, products, sums.totals[some])

    @cached_property
    def _columns(self) -> list[npt.NDArray[np.float64]]:
        """The points by features, (D, m), in parts."""
        begins = range(0, len(self.points), SPARSE_POINTS)
        return [np.ascontiguousarray(self.points[i : i + SPARSE_POINTS].T) for i in begins]

    def _weigh(
        self,
        products: npt.NDArray[np.float64],
        norms: Vector,
        block: Block,
        rows: slice,
        some: slice,
        desk: "Desk",
        sums: ShiftSums,
    ) -> None:
        """Turn products of points with rows into kernel weights."""
        _weigh_products(
            products,
            self._norms[some],
            norms,
            block.weight[rows],
            block.inverse_squared_scale[rows],
            self.kernel,
            self.inverse_squared_bandwidth,
            self.negligible,
            desk,
            sums.reference[some],
            sums.mass[some],
            sums.totals[some],
            sums.density[some],
            sums.smallest[some],
        )


class Desk(NamedTuple):
    """Room for the work on one point and one leaf of rows."""

    columns: npt.NDArray[np.float64]  # (D, n) the rows of the leaf
    low: Vector  # (D,) the box around them
    high: Vector
    t: Vector  # (n,)
    pulls: Vector  # (n,)
    q: Vector  # (n,) weights
    precision: Vector  # (n,) 1 / s^2
    bits: npt.NDArray[np.int64]  # (n,)
    bits_as_floats: Vector  # the same memory


_desks = local()


def _desk(n: int, n_features: int) -> Desk:
    """Return this thread's desk, made anew where its shape is new."""
    if getattr(_desks, "key", None) != (n, n_features):
        _desks.key = (n, n_features)
        bits = np.empty(n, dtype=np.int64)
        _desks.desk = Desk(
            columns=np.empty((n_features, n)),
            low=np.empty(n_features),
            high=np.empty(n_features),
            t=np.empty(n),
            pulls=np.empty(n),
            q=np.empty(n),
            precision=np.empty(n),
            bits=bits,
            bits_as_floats=bits.view(np.float64),
        )
    desk: Desk = _desks.desk
    return desk


@compiled
def _add_by_differences(
    X: Any,  # IN: (n, D)
    weight: Any,
    inverse_squared_scale: Any,
    points: Any,
    lowest: Any,
    highest: Any,
    limits: Any,
    kernel: int,
    inverse_squared_bandwidth: float,
    negligible: float,
    desk: Desk,
    reference: Any,  # IN/OUT from here on
    mass: Any,
    totals: Any,
    density: Any,
    smallest: Any,
) -> None:
    """Add the pull of short rows, leaf by leaf."""
    columns, t, q, precision, pulls = desk.columns, desk.t, desk.q, desk.precision, desk.pulls
    low, high, bits, bits_as_floats = desk.low, desk.high, desk.bits, desk.bits_as_floats
    n_features = X.shape[1]
    for first in range(0, X.shape[0], t.size):
        n = min(t.size, X.shape[0] - first)
        _lay_out(X, first, n, desk)
        least = _take_weights(first, n, weight, inverse_squared_scale, q, precision)
        factor = least * inverse_squared_bandwidth
        for tile in range(lowest.shape[0]):
            begin, end = tile * POINTS, min((tile + 1) * POINTS, points.shape[0])
            gap = _squared_gap(low, high, lowest[tile], highest[tile])
            if gap * factor >= limits[begin:end].max():
                continue
            for p in range(begin, end):
                if _squared_gap(low, high, points[p], points[p]) * factor >= limits[p]:
                    continue
                for m in range(n):
                    t[m] = 0.0
                for j in range(n_features):
                    here = points[p, j]
                    for m in range(n):
                        difference = columns[j, m] - here
                        t[m] += difference * difference
                pulled = _weigh(
                    n,
                    p,
                    kernel,
                    inverse_squared_bandwidth,
                    negligible,
                    t,
                    q,
                    precision,
                    bits,
                    bits_as_floats,
                    pulls,
                    reference,
                    mass,
                    totals,
                    density,
                    smallest,
                )
                if not pulled:
                    continue
                for j in range(n_features):
                    total = 0.0
                    for m in range(n):
                        total += pulls[m] * columns[j, m]
                    totals[p, j] += total


@compiled
def _lay_out(X: Any, first: int, n: int, desk: Desk) -> None:
    """Write a leaf's rows as columns, and the box around them."""
    columns, low, high = desk.columns, desk.low, desk.high
    low[:] = np.inf
    high[:] = -np.inf
    for m in range(n):
        for j in range(X.shape[1]):
            value = X[first + m, j]
            columns[j, m] = value
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)


@compiled
def _take_weights(
    first: int, n: int, weight: Any, inverse_squared_scale: Any, q: Any, precision: Any
) -> float:
    """Write the weights of a leaf's rows; return the least 1 / s^2."""
    least = np.inf
    for m in range(n):
        q[m] = weight[first + m] if weight.size > 0 else 1.0
        precision[m] = inverse_squared_scale[first + m] if inverse_squared_scale.size > 0 else 1.0
        least = min(least, precision[m])
    return least


@compiled
def _squared_gap(low: Any, high: Any, lowest: Any, highest: Any) -> float:
    """Return the squared distance between two boxes."""
    total = 0.0
    for j in range(low.size):
        gap = max(0.0, max(low[j] - highest[j], lowest[j] - high[j]))
        total += gap * gap
    return total


@compiled
def _sparse_norms(data: Any, indptr: Any) -> Any:
    """Return the squared norms of CSR rows."""
    norms = np.zeros(indptr.size - 1)
    for i in range(norms.size):
        for e in range(indptr[i], indptr[i + 1]):
            value = np.float64(data[e])
            norms[i] += value * value
    return norms


@compiled
def _multiply_sparse(
    data: Any,  # IN: CSR rows
    indices: Any,
    indptr: Any,
    columns: Any,  # IN: (D, m)
    products: Any,  # OUT: (n, m)
) -> None:
    """Multiply each row with each point."""
    m = columns.shape[1]
    for i in range(products.shape[0]):
        own = products[i]
        own[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            value, column = np.float64(data[e]), columns[indices[e]]
            for p in range(m):
                own[p] += value * column[p]


@compiled
def _add_sparse_totals(
    data: Any,  # IN: CSR rows
    indices: Any,
    indptr: Any,
    pulls: Any,  # IN: (n, m)
    totals: Any,  # IN/OUT: (m, D)
) -> None:
    """Add the rows, as each point is pulled by them."""
    m, n_features = totals.shape
    sums = np.zeros((n_features, m))
    for i in range(pulls.shape[0]):
        own = pulls[i]
        for e in range(indptr[i], indptr[i + 1]):
            value, column = np.float64(data[e]), sums[indices[e]]
            for p in range(m):
                column[p] += value * own[p]
    for first in range(0, n_features, 64):  # by tiles, as the two lie across each other in memory
        last = min(first + 64, n_features)
        for p in range(m):
            for j in range(first, last):
                totals[p, j] += sums[j, p]


@compiled
def _weigh_products(
    products: Any,  # IN/OUT: (M, n) point . row; the pulls
    point_norms: Any,
    row_norms: Any,
    weight: Any,
    inverse_squared_scale: Any,
    kernel: int,
    inverse_squared_bandwidth: float,
    negligible: float,
    desk: Desk,
    reference: Any,
    mass: Any,
    totals: Any,
    density: Any,
    smallest: Any,
) -> None:
    """Turn products into pulls, and add these to the sums."""
    n = row_norms.size
    t, q, precision, pulls = desk.t, desk.q, desk.precision, desk.pulls
    bits, bits_as_floats = desk.bits, desk.bits_as_floats
    _take_weights(0, n, weight, inverse_squared_scale, q, precision)
    for p in range(point_norms.size):
        for m in range(n):
            t[m] = max(point_norms[p] + row_norms[m] - 2.0 * products[p, m], 0.0)
        _weigh(
            n,
            p,
            kernel,
            inverse_squared_bandwidth,
            negligible,
            t,
            q,
            precision,
            bits,
            bits_as_floats,
            pulls,
            reference,
            mass,
            totals,
            density,
            smallest,
        )
        for m in range(n):
            products[p, m] = pulls[m]


@compiled_inline
def _weigh(
    n: int,
    p: int,
    kernel: int,
    inverse_squared_bandwidth: float,
    negligible: float,
    t: Any,  # IN: squared distances
    q: Any,
    precision: Any,
    bits: Any,
    bits_as_floats: Any,
    pulls: Any,  # OUT
    reference: Any,  # IN/OUT
    mass: Any,
    totals: Any,
    density: Any,
    smallest: Any,
) -> bool:
    """Write the pulls of a leaf's rows at point p; return whether there are any.

    What was summed at the point before is brought to a reference that is near enough.
    """
    least = np.inf
    for m in range(n):
        t[m] *= precision[m] * inverse_squared_bandwidth
        if t[m] < least and q[m] > 0.0:
            least = t[m]
    smallest[p] = min(smallest[p], least)
    if least == np.inf or (has_compact_support(kernel) and least >= 1.0):
        pulls[:n] = 0.0
        return False
    if least < (reference[p] - RISE if mass[p] > 0.0 else reference[p]):
        refer(kernel, least, p, reference, mass, totals)
    base = reference[p]
    height = profile(kernel, base)
    if kernel == GAUSSIAN:
        for m in range(n):
            t[m] = min(max(t[m] - base, -RISE), negligible)
        exp_of_minus_half(t, n, bits, bits_as_floats, pulls)
        value = total = 0.0
        for m in range(n):
            pull = q[m] * pulls[m] if t[m] < negligible else 0.0
            value += pull
            pulls[m] = pull * precision[m]
            total += pulls[m]
        density[p] += value * height
    else:
        total = value = 0.0
        for m in range(n):
            value += q[m] * profile(kernel, t[m])
            pull = relative_pull(kernel, t[m], base) if q[m] > 0.0 else 0.0
            pulls[m] = q[m] * precision[m] * pull
            total += pulls[m]
        density[p] += value
    mass[p] += total
    return True

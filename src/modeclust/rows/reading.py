"""How one row is read, dense or sparse; nothing else differs between the two.

Each function here is a declaration with two bodies, and compiled code that calls it
gets the body for the rows it was given: a 2-D array, or a `Csr`. A row's distance is
computed by differences, never by |x|^2 - 2 x.c + |c|^2, which loses the digits that
small bandwidths and large offsets need.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload
from scipy import sparse

from modeclust.compiled import FAST_MATH, compiled_in_order

Floats = npt.NDArray[np.floating[Any]]

# Distances that differ by less are a tie: rounding differs between dense and CSR rows.
NEARER = 1.0 - 1e-12


class Csr(NamedTuple):
    """Rows of a CSR matrix in canonical form, as compiled code takes them."""

    data: Floats
    indices: npt.NDArray[np.integer[Any]]
    indptr: npt.NDArray[np.integer[Any]]  # absolute places in data and indices


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a scipy matrix or array, which is then CSR."""
    return bool(sparse.issparse(X))


def compiled_form(X: Any, rows: slice = slice(None), dtype: Any = None) -> Floats | Csr:
    """Return some rows of an ndarray or a CSR matrix as compiled code takes them.

    All are read-only, so that there is one compiled variant for every source of rows.
    """
    if is_sparse(X):
        first, last, _ = rows.indices(X.shape[0])
        indptr = X.indptr[first : last + 1]
        return Csr(_read_only(X.data), _read_only(X.indices), _read_only(indptr))
    dense: Floats = _read_only(np.ascontiguousarray(X[rows], dtype=dtype))
    return dense


def _read_only(array: Any) -> Any:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


class Centroids(NamedTuple):
    """Centroids in the layouts that reading rows needs."""

    rows: npt.NDArray[np.float64]  # (K, D)
    columns: npt.NDArray[np.float64]  # (D, K) for CSR rows, else empty
    norms: npt.NDArray[np.float64]  # (K,) squared norms


class CentroidLayouts:
    """The same centroids for dense and for CSR rows, each laid out when first needed."""

    def __init__(self, centroids: npt.NDArray[np.float64]) -> None:
        self._rows = np.ascontiguousarray(centroids, dtype=np.float64)
        self._norms = np.einsum("kd,kd->k", self._rows, self._rows)

    def suiting(self, X: Floats | Csr) -> Centroids:
        """Return the layout that reading `X` needs."""
        return self._for_csr if isinstance(X, Csr) else self._for_dense

    @cached_property
    def _for_dense(self) -> Centroids:
        return Centroids(self._rows, np.empty((0, 0)), self._norms)

    @cached_property
    def _for_csr(self) -> Centroids:
        return Centroids(self._rows, np.ascontiguousarray(self._rows.T), self._norms)


def row_count(X: Any) -> int:
    """Return the number of rows of a block."""
    raise NotImplementedError


def squared_distance(X: Any, i: int, centroids: Centroids, k: int) -> float:
    """Return |x_i - c_k|^2."""
    raise NotImplementedError


def nearest_centroid(X: Any, i: int, centroids: Centroids, scores: Any) -> Any:
    """Return (k, |x_i - c_k|^2) of the nearest centroid, the lowest k on a tie.

    `scores` (K,) is room for work.
    """
    raise NotImplementedError


def dot_difference(
    X: Any, i: int, centroids: Centroids, k: int, direction: Any, base: float
) -> float:
    """Return (x_i - c_k) . direction, given base = c_k . direction."""
    raise NotImplementedError


def add_row(X: Any, i: int, weight: float, centroids: Centroids, k: int, shift: Any) -> None:
    """Add weight (x_i - c_k) to shift[k], but for what `finish_shift` still takes off."""
    raise NotImplementedError


def finish_shift(X: Any, mass: Any, centroids: Centroids, shift: Any) -> None:
    """Take off the part of `add_row` that is the same for every row of a cluster."""
    raise NotImplementedError


def row_key(X: Any, i: int, directions: Any) -> float:
    """Return x_i . directions, with the same bits for dense and sparse rows."""
    raise NotImplementedError


@overload(row_count)
def _row_count(X):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        return lambda X: X.shape[0]
    return lambda X: X.indptr.size - 1


@overload(squared_distance, jit_options={"fastmath": FAST_MATH})
def _squared_distance(X, i, centroids, k):  # type: ignore[no-untyped-def]
    def dense(X, i, centroids, k):  # type: ignore[no-untyped-def]
        total = 0.0
        for j in range(X.shape[1]):
            difference = X[i, j] - centroids.rows[k, j]
            total += difference * difference
        return total

    def csr(X, i, centroids, k):  # type: ignore[no-untyped-def]
        first, last = X.indptr[i], X.indptr[i + 1]
        total = 0.0
        covered = 0.0
        for p in range(first, last):
            c = centroids.rows[k, X.indices[p]]
            difference = X.data[p] - c
            total += difference * difference
            covered += c * c
        rest = centroids.norms[k] - covered
        if rest < 1e-2 * centroids.norms[k]:
            # Too few digits are left of the difference: walk the gaps instead.
            rest = 0.0
            j = 0
            for p in range(first, last):
                for gap in range(j, X.indices[p]):
                    rest += centroids.rows[k, gap] * centroids.rows[k, gap]
                j = X.indices[p] + 1
            for gap in range(j, centroids.rows.shape[1]):
                rest += centroids.rows[k, gap] * centroids.rows[k, gap]
        return total + rest

    return dense if isinstance(X, types.Array) else csr


@overload(nearest_centroid, jit_options={"fastmath": FAST_MATH})
def _nearest_centroid(X, i, centroids, scores):  # type: ignore[no-untyped-def]
    def dense(X, i, centroids, scores):  # type: ignore[no-untyped-def]
        best = 0
        best_distance = squared_distance(X, i, centroids, 0)
        for k in range(1, scores.size):
            distance = squared_distance(X, i, centroids, k)
            if distance < NEARER * best_distance:
                best = k
                best_distance = distance
        return best, best_distance

    def csr(X, i, centroids, scores):  # type: ignore[no-untyped-def]
        norm = 0.0
        largest = 0.0
        for k in range(scores.size):
            scores[k] = centroids.norms[k]
            largest = max(largest, scores[k])
        for p in range(X.indptr[i], X.indptr[i + 1]):
            x = X.data[p]
            norm += x * x
            column = centroids.columns[X.indices[p]]
            for k in range(scores.size):
                scores[k] -= 2.0 * x * column[k]
        # Scores choose who can be nearest; differences decide.
        margin = scores.min() + 1e-10 * (norm + largest)
        best = -1
        best_distance = np.inf
        for k in range(scores.size):
            if scores[k] <= margin:
                distance = squared_distance(X, i, centroids, k)
                if distance < NEARER * best_distance:
                    best = k
                    best_distance = distance
        return best, best_distance

    return dense if isinstance(X, types.Array) else csr


@overload(dot_difference, jit_options={"fastmath": FAST_MATH})
def _dot_difference(X, i, centroids, k, direction, base):  # type: ignore[no-untyped-def]
    def dense(X, i, centroids, k, direction, base):  # type: ignore[no-untyped-def]
        total = 0.0
        for j in range(X.shape[1]):
            total += (X[i, j] - centroids.rows[k, j]) * direction[j]
        return total

    def csr(X, i, centroids, k, direction, base):  # type: ignore[no-untyped-def]
        total = -base
        for p in range(X.indptr[i], X.indptr[i + 1]):
            total += X.data[p] * direction[X.indices[p]]
        return total

    return dense if isinstance(X, types.Array) else csr


@overload(add_row, jit_options={"fastmath": FAST_MATH})
def _add_row(X, i, weight, centroids, k, shift):  # type: ignore[no-untyped-def]
    def dense(X, i, weight, centroids, k, shift):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            shift[k, j] += weight * (X[i, j] - centroids.rows[k, j])

    def csr(X, i, weight, centroids, k, shift):  # type: ignore[no-untyped-def]
        for p in range(X.indptr[i], X.indptr[i + 1]):
            shift[k, X.indices[p]] += weight * X.data[p]

    return dense if isinstance(X, types.Array) else csr


@overload(finish_shift)
def _finish_shift(X, mass, centroids, shift):  # type: ignore[no-untyped-def]
    def dense(X, mass, centroids, shift):  # type: ignore[no-untyped-def]
        pass

    def csr(X, mass, centroids, shift):  # type: ignore[no-untyped-def]
        for k in range(mass.size):
            for j in range(shift.shape[1]):
                shift[k, j] -= mass[k] * centroids.rows[k, j]

    return dense if isinstance(X, types.Array) else csr


@overload(row_key)
def _row_key(X, i, directions):  # type: ignore[no-untyped-def]
    def dense(X, i, directions):  # type: ignore[no-untyped-def]
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * directions[j]
        return total

    def csr(X, i, directions):  # type: ignore[no-untyped-def]
        total = 0.0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            total += X.data[p] * directions[X.indices[p]]
        return total

    return dense if isinstance(X, types.Array) else csr


@compiled_in_order
def row_keys(X: Any, directions: Any) -> Any:
    """Return each row's key."""
    keys = np.empty(row_count(X))
    for i in range(keys.size):
        keys[i] = row_key(X, i, directions)
    return keys

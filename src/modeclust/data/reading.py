"""How one row is read, dense or sparse; nothing else differs between the two.

Each function here is a declaration with two bodies, and compiled code that calls it
gets the body for the rows it was given: a 2-D array, or a `Csr`. A row's distance is
computed by differences, never by |x|^2 - 2 x.c + |c|^2, which loses the digits that
small bandwidths and large offsets need.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload
from scipy import sparse

from modeclust.compiled import FAST_MATH, compiled, compiled_in_order, unsigned

Floats = npt.NDArray[np.floating[Any]]

# Called for every row: the call would cost more than the work on a short row.
INLINED: Any = {"fastmath": FAST_MATH, "forceinline": True}

# With fewer features than this, rows are searched by differences rather than products.
FEWEST_FOR_PRODUCTS = 24


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
    """Centroids in the layouts that reading and searching rows needs."""

    rows: npt.NDArray[np.float64]  # (K, D)
    columns: Floats  # (D, K), for short dense rows in their own dtype and for sparse, or empty
    rounded: Floats  # (K, D), for long dense rows in their own dtype, or empty
    norms: npt.NDArray[np.float64]  # (K,) squared norms


class CentroidLayouts:
    """The same centroids for every kind of rows, each laid out when first needed."""

    def __init__(self, centroids: npt.NDArray[np.float64]) -> None:
        self._rows = np.ascontiguousarray(centroids, dtype=np.float64)
        self._norms = np.einsum("kd,kd->k", self._rows, self._rows)
        self._by_kind: dict[tuple[np.dtype[Any] | None, bool], Centroids] = {}

    def suiting(self, X: Floats | Csr, n_searched: int | None = None) -> Centroids:
        """Return the layout that suits reading `X` and searching about so many of its rows."""
        kind: tuple[np.dtype[Any] | None, bool]
        if isinstance(X, Csr):
            # To lay out columns takes as long as to search this many rows without.
            few = self._rows.shape[1] * (len(X.indptr) - 1) / (X.indptr[-1] - X.indptr[0] + 1)
            kind = (None, n_searched is None or n_searched > few)
        else:
            kind = (X.dtype, self._rows.shape[1] < FEWEST_FOR_PRODUCTS)
        if kind not in self._by_kind:
            self._by_kind[kind] = self._lay_out(*kind)
        return self._by_kind[kind]

    def _lay_out(self, dense_dtype: np.dtype[Any] | None, by_columns: bool) -> Centroids:
        columns = rounded = np.empty((0, 0), dense_dtype or np.float64)
        if by_columns or dense_dtype is not None:
            with np.errstate(over="ignore"):  # the search sees to it
                rounded = self._rows.astype(columns.dtype, copy=False)
        if by_columns:
            columns, rounded = np.ascontiguousarray(rounded.T), columns
        return Centroids(self._rows, columns, rounded, self._norms)


def row_count(X: Any) -> int:
    """Return the number of rows of a block."""
    raise NotImplementedError


def squared_distance(X: Any, i: int, centroids: Any, norms: Any, k: int) -> float:
    """Return |x_i - c_k|^2, given the centroids (K, D) and their squared norms."""
    raise NotImplementedError


def dot_difference(
    X: Any, i: int, centroids: Centroids, k: int, direction: Any, base: float
) -> float:
    """Return (x_i - c_k) . direction, given base = c_k . direction."""
    raise NotImplementedError


def add_row(X: Any, i: int, weight: float, totals: Any, k: int) -> None:
    """Add weight x_i to totals[k]."""
    raise NotImplementedError


def row_key(X: Any, i: int, directions: Any) -> float:
    """Return x_i . directions, with the same bits for dense and sparse rows."""
    raise NotImplementedError


@overload(row_count)
def _row_count(X):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        return lambda X: X.shape[0]
    return lambda X: X.indptr.size - 1


@overload(squared_distance, jit_options=INLINED)
def _squared_distance(X, i, centroids, norms, k):  # type: ignore[no-untyped-def]
    def dense(X, i, centroids, norms, k):  # type: ignore[no-untyped-def]
        total = 0.0
        for j in range(X.shape[1]):
            difference = X[i, j] - centroids[k, j]
            total += difference * difference
        return total

    def csr(X, i, centroids, norms, k):  # type: ignore[no-untyped-def]
        data, indices = X.data, X.indices
        first, last = X.indptr[i], X.indptr[i + 1]
        total = 0.0
        covered = 0.0
        for p in range(first, last):
            c = centroids[k, indices[p]]
            difference = data[p] - c
            total += difference * difference
            covered += c * c
        rest = norms[k] - covered
        if rest < 1e-2 * norms[k]:
            # Too few digits are left of the difference: walk the gaps instead.
            rest = 0.0
            j = 0
            for p in range(first, last):
                for gap in range(j, indices[p]):
                    rest += centroids[k, gap] * centroids[k, gap]
                j = indices[p] + 1
            for gap in range(j, centroids.shape[1]):
                rest += centroids[k, gap] * centroids[k, gap]
        return total + rest

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


@overload(add_row, jit_options=INLINED)
def _add_row(X, i, weight, totals, k):  # type: ignore[no-untyped-def]
    def dense(X, i, weight, totals, k):  # type: ignore[no-untyped-def]
        for j in range(X.shape[1]):
            totals[k, j] += weight * X[i, j]

    def csr(X, i, weight, totals, k):  # type: ignore[no-untyped-def]
        data, indices = X.data, X.indices
        for p in range(X.indptr[i], X.indptr[i + 1]):
            totals[k, indices[p]] += weight * data[p]

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


@compiled
def fill_own_distances(
    X: Any, first: int, places: Any, centroids: Any, norms: Any, labels: Any, out: Any
) -> None:
    """Write |x - c|^2 of some rows, each to its own centroid, by their places after `first`.

    The only place where it is computed for a pass, so that a row has the same bits however
    it came to its label.
    """
    for m in range(places.size):
        i = first + places[m]
        out[places[m]] = squared_distance(X, i, centroids, norms, unsigned(labels[i]))


@compiled_in_order
def row_keys(X: Any, directions: Any) -> Any:
    """Return each row's key."""
    keys = np.empty(row_count(X))
    for i in range(keys.size):
        keys[i] = row_key(X, i, directions)
    return keys

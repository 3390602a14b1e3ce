"""The search for the nearest centroid, and bounds that spare most rows the search.

A row's label is its nearest centroid by differences, the lowest on a tie. That is what every
way of searching here gives, to the row: cheap scores only choose which centroids can be
nearest, with a margin for their rounding, and differences decide.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload

from modeclust.compiled import FAST_MATH, compiled
from modeclust.rows.reading import Centroids, squared_distance

# Squared distances that differ by less, relatively, are a tie.
NEARER = 1.0 - 1e-12
# What bounds are lowered by, relatively, so that rounding never makes them too high.
SAFE = 1.0 - 1e-9
# Products for the gaps between centroids are worth it up to this many multiplications.
MOST_FOR_GAPS = 2**27


def search_rows(
    X: Any,
    rows: Any,
    n_rows: int,
    centroids: Centroids,
    products: Any,
    scores: Any,
    labels: Any,
    seconds: Any,
) -> None:
    """Find the nearest centroid of the first `n_rows` of the `rows` of a block.

    Writes labels[i] of each row i, and to the m-th place of `seconds` a lower bound on the
    distance to every other centroid. `products` (rows, K) and `scores` (K,) are room for work.
    """
    raise NotImplementedError


@overload(search_rows, jit_options={"fastmath": FAST_MATH})
def _search_rows(X, rows, n_rows, centroids, products, scores, labels, seconds):  # type: ignore[no-untyped-def]
    def dense(X, rows, n_rows, centroids, products, scores, labels, seconds):  # type: ignore[no-untyped-def]
        if centroids.rounded.size == 0:
            for m in range(n_rows):
                labels[rows[m]], seconds[m] = _search_differences(
                    X, rows[m], centroids.columns, scores
                )
            return
        _fill_products(X, rows, n_rows, centroids.rounded, products)
        largest = np.sqrt(centroids.norms.max())
        rounding = 4.0 * (X.shape[1] + 8) * _unit_roundoff(X)
        for m in range(n_rows):
            labels[rows[m]], seconds[m] = _settle(
                X, rows[m], centroids.rows, centroids.norms, products[m], rounding, largest
            )

    def csr(X, rows, n_rows, centroids, products, scores, labels, seconds):  # type: ignore[no-untyped-def]
        largest = np.sqrt(centroids.norms.max())
        for m in range(n_rows):
            i = rows[m]
            scores[:] = 0.0
            for p in range(X.indptr[i], X.indptr[i + 1]):
                x = X.data[p]
                column = centroids.columns[X.indices[p]]
                for k in range(scores.size):
                    scores[k] += x * column[k]
            rounding = 4.0 * (X.indptr[i + 1] - X.indptr[i] + 8) * 1.2e-16
            labels[i], seconds[m] = _settle(
                X, i, centroids.rows, centroids.norms, scores, rounding, largest
            )

    return dense if isinstance(X, types.Array) else csr


@compiled
def _fill_products(X: Any, rows: Any, n_rows: int, centroids: Any, products: Any) -> None:
    """Write x . c to products (rows, K), four centroids at a time for all rows.

    Nearly as fast as a matrix product of BLAS for many rows and faster for few, and the rows
    need not be gathered.
    """
    zero = products.dtype.type(0)  # the sums are in the rows' own precision
    n_clusters = centroids.shape[0]
    whole = n_clusters - n_clusters % 4
    for k in range(0, whole, 4):
        first, second = centroids[k], centroids[k + 1]
        third, fourth = centroids[k + 2], centroids[k + 3]
        for m in range(n_rows):
            x = X[rows[m]]
            a = b = c = d = zero
            for j in range(x.size):
                a += x[j] * first[j]
                b += x[j] * second[j]
                c += x[j] * third[j]
                d += x[j] * fourth[j]
            products[m, k] = a
            products[m, k + 1] = b
            products[m, k + 2] = c
            products[m, k + 3] = d
    for k in range(whole, n_clusters):
        first = centroids[k]
        for m in range(n_rows):
            x = X[rows[m]]
            a = zero
            for j in range(x.size):
                a += x[j] * first[j]
            products[m, k] = a


def _unit_roundoff(X: Any) -> float:
    raise NotImplementedError


@overload(_unit_roundoff)
def _unit_roundoff_of(X):  # type: ignore[no-untyped-def]
    unit = float(np.finfo(str(X.dtype)).eps) / 2
    return lambda X: unit


@compiled
def _search_differences(X: Any, i: int, columns: Any, squared: Any) -> Any:
    """Return the nearest centroid, and a lower bound on the distance to every other."""
    squared[:] = 0.0
    for j in range(X.shape[1]):
        x = X[i, j]
        for k in range(squared.size):
            difference = x - columns[j, k]
            squared[k] += difference * difference
    best = 0
    second = np.inf
    for k in range(1, squared.size):
        if squared[k] < NEARER * squared[best]:
            second = squared[best]
            best = k
        elif squared[k] < second:
            second = squared[k]
    return best, np.sqrt(second) * SAFE


@compiled
def _settle(
    X: Any,
    i: int,
    centroids: Any,
    norms: Any,
    products: Any,
    rounding: float,
    largest: float,
) -> Any:
    """Return the same as `_search_differences`, from products x.c that were rounded.

    |x - c|^2 = |x|^2 + (|c|^2 - 2 x.c): the bracket is the score. A product is off by at most
    its length times the unit roundoff times |x| |c|; `rounding` is twice that, for the
    score, and `largest` the greatest |c|.
    """
    best = 0
    lowest = np.inf
    overflown = False
    for k in range(products.size):
        score = norms[k] - 2.0 * products[k]
        overflown |= not abs(score) < np.inf
        if score < lowest:
            best = k
            lowest = score
    nearest = squared_distance(X, i, centroids, norms, best)
    # |x| <= |x - c| + |c|
    margin = rounding * (np.sqrt(nearest) + largest) * largest
    limit = np.inf if overflown else lowest + 2.0 * margin
    second = np.inf
    contested = overflown
    for k in range(products.size):
        if k != best:
            score = norms[k] - 2.0 * products[k]
            second = min(second, score)
            contested |= score <= limit
    if contested:
        nearest = np.inf
        for k in range(products.size):
            if overflown or norms[k] - 2.0 * products[k] <= limit:
                distance = squared_distance(X, i, centroids, norms, k)
                if distance < NEARER * nearest:
                    best = k
                    nearest = distance
        return best, np.sqrt(nearest) * SAFE
    return best, np.sqrt(max(nearest + second - limit, 0.0)) * SAFE


def half_gaps(centroids: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return half the distance of each centroid to its nearest other one, or less.

    Where that would cost more than it spares, 0.
    """
    n_clusters, n_features = centroids.shape
    if n_clusters == 1 or n_clusters**2 * n_features > MOST_FOR_GAPS:
        return np.zeros(n_clusters)
    norms = np.einsum("kd,kd->k", centroids, centroids)
    squared = norms[:, None] + norms - 2.0 * centroids @ centroids.T
    np.fill_diagonal(squared, np.inf)
    rounding = 1e-15 * n_features * norms.max()
    gaps = np.sqrt(np.maximum(squared.min(axis=1) - rounding, 0.0))
    return np.asarray(0.5 * SAFE * gaps)


def moves_of_others(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return for each centroid how far any other one moved at most."""
    moves = np.linalg.norm(after - before, axis=1) / SAFE
    if len(moves) == 1:
        return np.zeros(1)
    fastest = np.argmax(moves)
    most = np.full(len(moves), moves[fastest])
    most[fastest] = np.delete(moves, fastest).max()
    return most

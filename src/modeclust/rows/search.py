"""The search for the nearest centroid.

A row's label is its nearest centroid by differences, the lowest on a tie. That is what every
way of searching here gives, to the row: cheap scores only choose which centroids can be
nearest, with a margin for their rounding, and differences decide.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from modeclust.compiled import FAST_MATH, compiled
from modeclust.rows.bounds import SAFE
from modeclust.rows.reading import Centroids, fill_own_distances, squared_distance
from modeclust.rows.room import Room

# Squared distances that differ by less, relatively, are a tie.
NEARER = 1.0 - 1e-12
LARGEST_BOUND = 1e38


@compiled
def search_pending(
    X: Any,
    first: int,
    n_pending: int,
    centroids: Centroids,
    room: Room,
    labels: Any,
    lower: Any,
    slack: Any,
) -> None:
    """Give a tile's pending rows their nearest centroid, own distance and lower bound.

    `room.before` keeps the labels that they had.
    """
    pending, before, seconds = room.pending, room.before, room.seconds
    batch = room.products.shape[0]
    for m in range(n_pending):
        before[m] = labels[pending[m]]
    for begin in range(0, n_pending, batch):
        end = min(begin + batch, n_pending)
        search_rows(
            X,
            pending[begin:end],
            first,
            centroids,
            room.products,
            room.scores,
            labels,
            room.distances,
            seconds,
        )
        for m in range(begin, end):
            i = pending[m]
            # Kept with the slack of today, in single precision, rounded down, never infinite.
            bound = (seconds[m - begin] + slack[labels[i]]) * (1.0 - 1.2e-7)
            lower[i] = min(bound, LARGEST_BOUND)


def search_rows(
    X: Any,
    rows: Any,
    first: int,
    centroids: Centroids,
    products: Any,
    scores: Any,
    labels: Any,
    distances: Any,
    seconds: Any,
) -> None:
    """Find the nearest centroid of some `rows` of a block.

    Writes labels[i] and distances[i - first] of each row i, and to the m-th place of
    `seconds` a lower bound on the distance of the m-th row to every other centroid.
    `products` (rows, K) and `scores` (K,) are room for work.
    """
    raise NotImplementedError


@overload(search_rows, jit_options={"fastmath": FAST_MATH})
def _search_rows(X, rows, first, centroids, products, scores, labels, distances, seconds):  # type: ignore[no-untyped-def]
    def dense(X, rows, first, centroids, products, scores, labels, distances, seconds):  # type: ignore[no-untyped-def]
        if centroids.rounded.size == 0:
            for m in range(rows.size):
                i = rows[m]
                labels[i], seconds[m] = _search_differences(X, i, centroids.columns, scores)
                _fill_own_distance(X, i, first, centroids, labels, distances)
            return
        _fill_products(X, rows, centroids.rounded, products)
        largest = np.sqrt(centroids.norms.max())
        rounding = 4.0 * (X.shape[1] + 8) * _unit_roundoff(X)
        for m in range(rows.size):
            seconds[m] = _settle(
                X, rows[m], first, centroids, products[m], rounding, largest, labels, distances
            )

    def csr(X, rows, first, centroids, products, scores, labels, distances, seconds):  # type: ignore[no-untyped-def]
        data, indices, columns = X.data, X.indices, centroids.columns
        largest = np.sqrt(centroids.norms.max())
        for m in range(rows.size):
            i = rows[m]
            scores[:] = 0.0
            for p in range(X.indptr[i], X.indptr[i + 1]):
                x = data[p]
                column = columns[indices[p]]
                for k in range(scores.size):
                    scores[k] += x * column[k]
            rounding = 4.0 * (X.indptr[i + 1] - X.indptr[i] + 8) * 1.2e-16
            seconds[m] = _settle(
                X, i, first, centroids, scores, rounding, largest, labels, distances
            )

    return dense if isinstance(X, types.Array) else csr


@compiled
def _fill_own_distance(
    X: Any, i: int, first: int, centroids: Centroids, labels: Any, distances: Any
) -> float:
    own = distances[i - first : i - first + 1]
    fill_own_distances(X, i, i + 1, centroids.rows, centroids.norms, labels, own)
    return float(own[0])


@compiled
def _fill_products(X: Any, rows: Any, centroids: Any, products: Any) -> None:
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
        for m in range(rows.size):
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
        for m in range(rows.size):
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
    first: int,
    centroids: Centroids,
    products: Any,
    rounding: float,
    largest: float,
    labels: Any,
    distances: Any,
) -> Any:
    """Do the same as `_search_differences`, from products x.c that were rounded.

    |x - c|^2 = |x|^2 + (|c|^2 - 2 x.c): the bracket is the score. A product is off by at most
    its length times the unit roundoff times |x| |c|; `rounding` is twice that, for the
    score, and `largest` the greatest |c|. Writes the row's label and own distance, and
    returns the bound.
    """
    norms = centroids.norms
    best = 0
    lowest = second = np.inf
    overflown = False
    for k in range(products.size):
        score = norms[k] - 2.0 * products[k]
        overflown |= not abs(score) < np.inf
        if score < lowest:
            second = lowest
            best = k
            lowest = score
        elif score < second:
            second = score
    labels[i] = best
    nearest = _fill_own_distance(X, i, first, centroids, labels, distances)
    # |x| <= |x - c| + |c|
    margin = rounding * (np.sqrt(nearest) + largest) * largest
    limit = lowest + 2.0 * margin
    if second > limit and not overflown:
        return np.sqrt(max(nearest + second - limit, 0.0)) * SAFE
    nearest = np.inf
    for k in range(products.size):
        if overflown or norms[k] - 2.0 * products[k] <= limit:
            distance = squared_distance(X, i, centroids.rows, norms, k)
            if distance < NEARER * nearest:
                best = k
                nearest = distance
    labels[i] = best
    return np.sqrt(_fill_own_distance(X, i, first, centroids, labels, distances)) * SAFE

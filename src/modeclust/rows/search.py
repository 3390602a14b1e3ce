"""The search for the nearest centroid.

A row's label is its nearest centroid by differences, the lowest on a tie. That is what every
way of searching here gives, to the row: cheap scores only choose which centroids can be
nearest, with a margin for their rounding, and differences decide.

Rows are given by their places in a tile that begins at row `first` of a block. Functions that
work on one row at a time are few: to call one, with its arrays, costs as much as a short row.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from modeclust.compiled import FAST_MATH, compiled
from modeclust.rows.bounds import SAFE
from modeclust.rows.reading import (
    FEWEST_FOR_PRODUCTS,
    Centroids,
    fill_own_distances,
    squared_distance,
)
from modeclust.rows.room import Room

# Squared distances that differ by less, relatively, are a tie.
TIE = 1e-12
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
    pending, before, scores = room.pending, room.before, room.scores
    batch = scores.shape[0]
    for m in range(n_pending):
        before[m] = labels[first + pending[m]]
    for begin in range(0, n_pending, batch):
        rows = pending[begin : min(begin + batch, n_pending)]
        rounding = fill_scores(X, first, rows, centroids, scores)
        _rank(scores, room.score_bits, rows.size, room.best, room.lowest, room.second, room.finite)
        for m in range(rows.size):
            labels[first + rows[m]] = room.best[m]
        fill_own_distances(X, first, rows, centroids.rows, centroids.norms, labels, room.distances)
        _settle(X, first, rows, centroids, rounding, room, labels, lower, slack)


def fill_scores(X: Any, first: int, rows: Any, centroids: Centroids, scores: Any) -> float:
    """Write |x - c|^2, or that less |x|^2, of some rows and all centroids to scores (rows, K).

    Returns how much a score may be off by, as a multiple of (|x - c| + |c|)^2.
    """
    raise NotImplementedError


@overload(fill_scores, jit_options={"fastmath": FAST_MATH})
def _fill_scores(X, first, rows, centroids, scores):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        unit_roundoff = float(np.finfo(str(X.dtype)).eps) / 2

        def dense(X, first, rows, centroids, scores):  # type: ignore[no-untyped-def]
            if X.shape[1] < FEWEST_FOR_PRODUCTS:
                _fill_squared_distances(X, first, rows, centroids.columns, scores)
            else:
                _fill_products(X, first, rows, centroids.rounded, scores)
                _complete_products(rows.size, centroids.norms, scores)
            return 4.0 * (X.shape[1] + 8) * unit_roundoff

        return dense

    def csr(X, first, rows, centroids, scores):  # type: ignore[no-untyped-def]
        data, indices, indptr, columns = X.data, X.indices, X.indptr, centroids.columns
        longest = 0
        for m in range(rows.size):
            i = first + rows[m]
            longest = max(longest, indptr[i + 1] - indptr[i])
            for k in range(scores.shape[1]):
                scores[m, k] = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                x = data[p]
                j = indices[p]
                for k in range(scores.shape[1]):
                    scores[m, k] += x * columns[j, k]
        _complete_products(rows.size, centroids.norms, scores)
        return 4.0 * (longest + 8) * 1.2e-16

    return csr


@compiled
def _fill_squared_distances(X: Any, first: int, rows: Any, columns: Any, scores: Any) -> None:
    """Write |x - c|^2 for short rows, four features at a time, many centroids at once."""
    single = X.shape[1] % 4
    for m in range(rows.size):
        i = first + rows[m]
        for k in range(scores.shape[1]):
            scores[m, k] = 0.0
        for j in range(single):
            a = X[i, j]
            for k in range(scores.shape[1]):
                d = a - columns[j, k]
                scores[m, k] += d * d
        for j in range(single, X.shape[1], 4):
            a, b, c, d = X[i, j], X[i, j + 1], X[i, j + 2], X[i, j + 3]
            for k in range(scores.shape[1]):
                p, q = a - columns[j, k], b - columns[j + 1, k]
                r, s = c - columns[j + 2, k], d - columns[j + 3, k]
                scores[m, k] += (p * p + q * q) + (r * r + s * s)


@compiled
def _fill_products(X: Any, first: int, rows: Any, centroids: Any, products: Any) -> None:
    """Write x . c for long rows, four centroids at a time for all rows.

    Nearly as fast as a matrix product of BLAS for many rows and faster for few, and the rows
    need not be gathered.
    """
    zero = products.dtype.type(0)  # the sums are in the rows' own precision
    n_clusters = centroids.shape[0]
    whole = n_clusters - n_clusters % 4
    for k in range(0, whole, 4):
        one, two = centroids[k], centroids[k + 1]
        three, four = centroids[k + 2], centroids[k + 3]
        for m in range(rows.size):
            x = X[first + rows[m]]
            a = b = c = d = zero
            for j in range(x.size):
                a += x[j] * one[j]
                b += x[j] * two[j]
                c += x[j] * three[j]
                d += x[j] * four[j]
            products[m, k] = a
            products[m, k + 1] = b
            products[m, k + 2] = c
            products[m, k + 3] = d
    for k in range(whole, n_clusters):
        one = centroids[k]
        for m in range(rows.size):
            x = X[first + rows[m]]
            a = zero
            for j in range(x.size):
                a += x[j] * one[j]
            products[m, k] = a


@compiled
def _complete_products(n: int, norms: Any, scores: Any) -> None:
    """Make |c|^2 - 2 x.c, which is |x - c|^2 less |x|^2, of x.c."""
    for m in range(n):
        for k in range(norms.size):
            scores[m, k] = norms[k] - 2.0 * scores[m, k]


@compiled
def _rank(scores: Any, bits: Any, n: int, best: Any, lowest: Any, second: Any, finite: Any) -> None:
    """Write for each row the place of its lowest score, it, the second, and if all are finite.

    The bits of floats, as integers, are in the order of the floats once those of negative
    ones are flipped; and the least of integers is found many at a time.
    """
    shift = 8 * bits.itemsize - 1
    flip = (1 << shift) - 1
    n_clusters = bits.shape[1]
    for m in range(n):
        least, greatest = flip, -flip
        for k in range(n_clusters):
            rank = bits[m, k] ^ ((bits[m, k] >> shift) & flip)
            least = min(least, rank)
            greatest = max(greatest, rank)
        place = n_clusters
        for k in range(n_clusters):
            rank = bits[m, k] ^ ((bits[m, k] >> shift) & flip)
            place = min(place, k if rank == least else n_clusters)
        following = flip
        for k in range(n_clusters):
            rank = bits[m, k] ^ ((bits[m, k] >> shift) & flip)
            following = min(following, rank if k != place else flip)
        best[m] = place
        lowest[m] = scores[m, place]
        # The place of the lowest serves to see integers as floats.
        kept = bits[m, place]
        bits[m, place] = greatest ^ ((greatest >> shift) & flip)
        finite[m] = abs(lowest[m]) < np.inf and abs(scores[m, place]) < np.inf
        bits[m, place] = following ^ ((following >> shift) & flip)
        second[m] = scores[m, place] if n_clusters > 1 else np.inf
        bits[m, place] = kept


@compiled
def _settle(
    X: Any,
    first: int,
    rows: Any,
    centroids: Centroids,
    rounding: float,
    room: Room,
    labels: Any,
    lower: Any,
    slack: Any,
) -> None:
    """Keep the lowest score's centroid where it is lowest by enough, else decide; and bound."""
    centers, norms = centroids.rows, centroids.norms
    scores, lowest, second = room.scores, room.lowest, room.second
    distances, finite = room.distances, room.finite
    largest = np.sqrt(norms.max())
    for m in range(rows.size):
        i = first + rows[m]
        nearest = distances[rows[m]]
        margin = 2.0 * (rounding * (np.sqrt(nearest) + largest) ** 2 + TIE * nearest)
        bound = nearest + (second[m] - lowest[m]) - margin
        if not finite[m] or second[m] <= lowest[m] + margin:
            limit = lowest[m] + margin if finite[m] else np.inf
            labels[i] = _nearest_by_differences(X, i, centers, norms, scores[m], limit)
            fill_own_distances(X, first, rows[m : m + 1], centers, norms, labels, distances)
            bound = distances[rows[m]]
        # Kept with the slack of today, in single precision, rounded down, never infinite.
        bound = (np.sqrt(max(bound, 0.0)) * SAFE + slack[labels[i]]) * (1.0 - 1.2e-7)
        lower[i] = min(bound, LARGEST_BOUND)


@compiled
def _nearest_by_differences(
    X: Any, i: int, centers: Any, norms: Any, scores: Any, limit: float
) -> int:
    """Return the nearest of the centroids with scores up to `limit`, or of all for infinity."""
    best = 0
    nearest = np.inf
    for k in range(scores.size):
        if limit == np.inf or scores[k] <= limit:
            distance = squared_distance(X, i, centers, norms, k)
            if distance < (1.0 - TIE) * nearest:
                best = k
                nearest = distance
    return best

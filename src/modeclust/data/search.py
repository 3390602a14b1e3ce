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

from modeclust.compiled import compiled, compiled_inline, unsigned
from modeclust.data.blocks import Groups
from modeclust.data.bounds import SAFE, rounded_down
from modeclust.data.reading import (
    FEWEST_FOR_PRODUCTS,
    INLINED,
    Centroids,
    fill_own_distances,
    squared_distance,
)
from modeclust.data.room import Room

# Squared distances that differ by less, relatively, are a tie.
TIE = 1e-12


@compiled_inline
def search_pending(
    X: Any,
    first: int,
    n_pending: int,
    known: bool,
    centroids: Centroids,
    groups: Groups,
    room: Room,
    labels: Any,
    lower: Any,
    slack: Any,
) -> None:
    """Give a tile's pending rows their nearest centroid, own distance and lower bound.

    `known` says whether there are bounds and own distances. `room.before` keeps the labels
    that the rows had.
    """
    pending, before, scores, distances = room.pending, room.before, room.scores, room.distances
    batch = scores.shape[0]
    for m in range(n_pending):
        before[m] = labels[first + pending[m]]
    for begin in range(0, n_pending, batch):
        rows = pending[begin : min(begin + batch, n_pending)]
        if groups.slack.size > 0:
            _find_groups(first, rows, known, groups, distances, room.own_before, room.open)
        rounding = fill_scores(X, first, rows, known, centroids, groups, room, labels)
        _rank(rows.size, scores, room.score_bits, room.best, room.lowest, room.second)
        for m in range(rows.size):
            labels[first + rows[m]] = room.best[m]
        fill_own_distances(X, first, rows, centroids.rows, centroids.norms, labels, distances)
        _settle(X, first, rows, centroids, rounding, room, labels, lower, slack)
        if groups.slack.size > 0:
            _renew_groups(
                first,
                rows,
                groups,
                scores,
                room.margins,
                room.open,
                room.own_before,
                before[begin:],
                labels,
                lower,
                slack,
            )


def fill_scores(
    X: Any,
    first: int,
    rows: Any,
    known: bool,
    centroids: Centroids,
    groups: Groups,
    room: Room,
    labels: Any,
) -> float:
    """Write about |x - c|^2 of some rows to room.scores (rows, K).

    Centroids of groups that are not open to a row are far, but for its own. Returns how
    much a score may be off by, as a multiple of (|x - c| + |c|)^2.
    """
    raise NotImplementedError


@overload(fill_scores, jit_options=INLINED)
def _fill_scores(X, first, rows, known, centroids, groups, room, labels):  # type: ignore[no-untyped-def]
    if isinstance(X, types.Array):
        unit_roundoff = float(np.finfo(str(X.dtype)).eps) / 2

        def dense(X, first, rows, known, centroids, groups, room, labels):  # type: ignore[no-untyped-def]
            scores = room.scores
            if X.shape[1] < FEWEST_FOR_PRODUCTS:
                _fill_squared_distances(X, first, rows, centroids.columns, scores)
            else:
                if known and groups.slack.size > 0:
                    _fill_group_products(
                        X, first, rows, centroids.rounded, groups, room.open, room.subset, scores
                    )
                else:
                    _fill_products(
                        X,
                        first,
                        rows,
                        room.every[: rows.size],
                        room.clusters,
                        centroids.rounded,
                        scores,
                    )
                _complete_products(X, first, rows, centroids.norms, scores)
                if known and groups.slack.size > 0:
                    _close_groups(first, rows, groups, room.open, room.own_before, labels, scores)
            return 4.0 * (X.shape[1] + 8) * unit_roundoff

        return dense

    def csr(X, first, rows, known, centroids, groups, room, labels):  # type: ignore[no-untyped-def]
        longest = _fill_sparse_products(
            X, first, rows, centroids.rows, centroids.columns, centroids.norms, room.scores
        )
        return 4.0 * (longest + 8) * 1.2e-16

    return csr


@compiled_inline
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
def _fill_products(
    X: Any, first: int, rows: Any, subset: Any, members: Any, centroids: Any, scores: Any
) -> None:
    """Write x . c for a subset of the long rows and some centroids, four of them at a time.

    Nearly as fast as a matrix product of BLAS for many rows and faster for few, and the rows
    need not be gathered.
    """
    zero = scores.dtype.type(0)  # the sums are in the rows' own precision
    whole = members.size - members.size % 4
    for e in range(0, whole, 4):
        k, q, r, t = members[e], members[e + 1], members[e + 2], members[e + 3]
        one, two, three, four = centroids[k], centroids[q], centroids[r], centroids[t]
        for s in range(subset.size):
            m = subset[s]
            x = X[first + rows[m]]
            a = b = c = d = zero
            for j in range(x.size):
                a += x[j] * one[j]
                b += x[j] * two[j]
                c += x[j] * three[j]
                d += x[j] * four[j]
            scores[m, k] = a
            scores[m, q] = b
            scores[m, r] = c
            scores[m, t] = d
    for e in range(whole, members.size):
        k = members[e]
        one = centroids[k]
        for s in range(subset.size):
            m = subset[s]
            x = X[first + rows[m]]
            a = zero
            for j in range(x.size):
                a += x[j] * one[j]
            scores[m, k] = a


@compiled
def _fill_group_products(
    X: Any,
    first: int,
    rows: Any,
    centroids: Any,
    groups: Groups,
    is_open: Any,
    subset: Any,
    scores: Any,
) -> None:
    """Do the same for the groups that are open to each row."""
    members, edges = groups.members, groups.edges
    for g in range(edges.size - 1):
        n = 0
        for m in range(rows.size):
            if is_open[m, g]:
                subset[n] = m
                n += 1
        of_group = members[edges[g] : edges[g + 1]]
        _fill_products(X, first, rows, subset[:n], of_group, centroids, scores)


@compiled
def _fill_sparse_products(
    X: Any, first: int, rows: Any, centroids: Any, columns: Any, norms: Any, scores: Any
) -> int:
    """Write |x - c|^2 for sparse rows by products; return how long the longest row is.

    By columns of the centroids where they are laid out, else four centroids at a time.
    """
    data, indices, indptr = X.data, X.indices, X.indptr
    n_clusters = norms.size
    single = n_clusters % 4 if columns.size == 0 else 0
    longest = 0
    for m in range(rows.size):
        begin, end = indptr[first + rows[m]], indptr[first + rows[m] + 1]
        longest = max(longest, end - begin)
        for k in range(n_clusters):
            scores[m, k] = 0.0
        squared_norm = 0.0
        for p in range(begin, end):
            x, j = np.float64(data[p]), unsigned(indices[p])
            squared_norm += x * x
            for k in range(columns.shape[1]):
                scores[m, k] += x * columns[j, k]
            for k in range(single):
                scores[m, k] += x * centroids[k, j]
        if columns.size == 0:
            for k in range(single, n_clusters, 4):
                a = b = c = d = 0.0
                for p in range(begin, end):
                    x, j = data[p], unsigned(indices[p])
                    a += x * centroids[k, j]
                    b += x * centroids[k + 1, j]
                    c += x * centroids[k + 2, j]
                    d += x * centroids[k + 3, j]
                scores[m, k] = a
                scores[m, k + 1] = b
                scores[m, k + 2] = c
                scores[m, k + 3] = d
        _complete_row(m, squared_norm, norms, scores)
    return longest


@compiled_inline
def _complete_products(X: Any, first: int, rows: Any, norms: Any, scores: Any) -> None:
    """Make |x - c|^2 of x . c."""
    for m in range(rows.size):
        x = X[first + rows[m]]
        squared_norm = scores.dtype.type(0)
        for j in range(x.size):
            squared_norm += x[j] * x[j]
        _complete_row(m, squared_norm, norms, scores)


@compiled_inline
def _complete_row(m: int, squared_norm: float, norms: Any, scores: Any) -> None:
    """Make |x|^2 + |c|^2 - 2 x.c of the m-th row's x.c, and no less than 0."""
    for k in range(norms.size):
        score = squared_norm + norms[k] - 2.0 * scores[m, k]
        scores[m, k] = score if score > 0.0 else 0.0


@compiled
def _find_groups(
    first: int,
    rows: Any,
    known: bool,
    groups: Groups,
    distances: Any,
    own_before: Any,
    is_open: Any,
) -> None:
    """Find the groups that may have a centroid nearer than the own, of each row."""
    lower, slack = groups.lower, groups.slack
    for m in range(rows.size):
        own = distances[rows[m]] if known else np.inf
        own_before[m] = own
        for g in range(slack.size):
            bound = lower[first + rows[m], g] - slack[g]
            is_open[m, g] = not known or bound <= 0.0 or own >= bound * bound * SAFE


@compiled
def _close_groups(
    first: int, rows: Any, groups: Groups, is_open: Any, own_before: Any, labels: Any, scores: Any
) -> None:
    """Make the scores of groups that are not open the farthest, but for the own centroid."""
    of, members, edges = groups.of, groups.members, groups.edges
    # The score of a centroid that is known not to be the nearest.
    farthest = scores.dtype.type(3e38 if scores.itemsize == 4 else 1e307)
    for m in range(rows.size):
        for g in range(edges.size - 1):
            if not is_open[m, g]:
                for e in range(edges[g], edges[g + 1]):
                    scores[m, members[e]] = farthest
        own = labels[first + rows[m]]
        if not is_open[m, of[own]]:
            scores[m, own] = min(own_before[m], farthest)


@compiled
def _renew_groups(
    first: int,
    rows: Any,
    groups: Groups,
    scores: Any,
    margins: Any,
    is_open: Any,
    own_before: Any,
    before: Any,
    labels: Any,
    lower: Any,
    slack: Any,
) -> None:
    """Renew the bounds on groups that were open, and see to it that `lower` heeds the others."""
    of, members, edges = groups.of, groups.members, groups.edges
    group_lower, group_slack = groups.lower, groups.slack
    for m in range(rows.size):
        i = first + rows[m]
        here, there = labels[i], before[m]
        for g in range(group_slack.size):
            if is_open[m, g]:
                least = np.inf
                for e in range(edges[g], edges[g + 1]):
                    if members[e] != here and scores[m, members[e]] < least:
                        least = scores[m, members[e]]
                # Not so where scores are too large to be relied on.
                bound = np.sqrt(max(least - margins[m], 0.0)) if margins[m] < np.inf else 0.0
                group_lower[i, g] = rounded_down(bound * SAFE + group_slack[g])
            else:
                bound = group_lower[i, g] - group_slack[g]
                if here != there and of[there] == g:
                    # Its centroid of before is one of the others now.
                    bound = min(bound, np.sqrt(own_before[m]) * SAFE)
                    group_lower[i, g] = rounded_down(bound + group_slack[g])
                lower[i] = min(lower[i], rounded_down(bound + slack[here]))


@compiled
def _rank(n: int, scores: Any, bits: Any, best: Any, lowest: Any, second: Any) -> None:
    """Write for each row the place of its lowest score, that score, and the second lowest.

    `bits` is the memory of the scores seen as integers. They are in the same order, since no
    score is negative, and the least of integers is found many at a time.
    """
    n_clusters = bits.shape[1]
    largest = bits.dtype.type((1 << (8 * bits.itemsize - 1)) - 1)
    for m in range(n):
        least = largest
        for k in range(n_clusters):
            least = bits[m, k] if bits[m, k] < least else least
        place = 0
        while bits[m, place] != least:
            place += 1
        following = largest
        for k in range(place):
            following = bits[m, k] if bits[m, k] < following else following
        for k in range(place + 1, n_clusters):
            following = bits[m, k] if bits[m, k] < following else following
        best[m] = place
        lowest[m] = scores[m, place]
        bits[m, place] = following  # for a moment, to see it as a float
        second[m] = scores[m, place] if n_clusters > 1 else np.inf
        bits[m, place] = least


@compiled_inline
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
    distances, margins = room.distances, room.margins
    largest = np.sqrt(norms.max())
    # Between these, no square of a score's dtype overflows or loses digits.
    smallest, greatest = (1e-15, 1e18) if scores.itemsize == 4 else (1e-140, 1e150)
    for m in range(rows.size):
        i = first + rows[m]
        nearest = distances[rows[m]]
        reach = np.sqrt(nearest) + largest  # at least |x|
        margin = 2.0 * (rounding * reach**2 + TIE * nearest)
        reliable = smallest < reach < greatest
        margins[m] = margin if reliable else np.inf
        bound = nearest + (second[m] - lowest[m]) - margin
        if not second[m] > lowest[m] + margin or not reliable:
            limit = lowest[m] + margin if reliable else np.inf
            labels[i] = _nearest_by_differences(X, i, centers, norms, scores[m], limit)
            fill_own_distances(X, first, rows[m : m + 1], centers, norms, labels, distances)
            bound = distances[rows[m]]
        # Kept with the slack of today.
        lower[i] = rounded_down(np.sqrt(max(bound, 0.0)) * SAFE + slack[labels[i]])


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

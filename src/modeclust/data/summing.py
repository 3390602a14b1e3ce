"""Weighted sums of the rows of each cluster.

A cluster's rows are added in their order, so that its sums have the same bits whatever was
known of the rows before.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload

from modeclust.compiled import FAST_MATH, compiled, unsigned
from modeclust.data.reading import FEWEST_FOR_PRODUCTS, add_row
from modeclust.kernels import has_compact_support, relative_pull

# Sums stay at a reference until a row is nearer by more than this, which is cheaper than to
# bring them to each new smallest t.
RISE = 64.0


def means(
    totals: npt.NDArray[np.float64],
    mass: npt.NDArray[np.float64],
    otherwise: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return totals / mass, and the rows of `otherwise` where there is no mass."""
    pulled = mass > 0
    found: npt.NDArray[np.float64] = totals / np.where(pulled, mass, 1.0)[:, None]
    found[~pulled] = otherwise[~pulled]
    return found


def add_tile(
    X: Any,
    first: int,
    n: int,
    labels: Any,
    pulls: Any,
    order: Any,
    ends: Any,
    mass: Any,
    totals: Any,
) -> None:
    """Add `n` rows from `first` on to the sums of their clusters, each times its pull.

    `order` (n,) and `ends` (K + 1,) are room for work.
    """
    raise NotImplementedError


@overload(add_tile, jit_options={"fastmath": FAST_MATH})
def _add_tile(X, first, n, labels, pulls, order, ends, mass, totals):  # type: ignore[no-untyped-def]
    def dense(X, first, n, labels, pulls, order, ends, mass, totals):  # type: ignore[no-untyped-def]
        if X.shape[1] == 2 and _most_pull(pulls, n):
            _add_pairs(X, first, n, labels, pulls, mass, totals)
            return
        if X.shape[1] < FEWEST_FOR_PRODUCTS:
            _add_row_by_row(X, first, n, labels, pulls, mass, totals)
            return
        _sort_by_cluster(first, n, labels, pulls, order, ends)
        begin = 0
        for k in range(mass.size):
            _add_long_rows(X, first, order[begin : ends[k]], pulls, k, mass, totals)
            begin = ends[k]

    def csr(X, first, n, labels, pulls, order, ends, mass, totals):  # type: ignore[no-untyped-def]
        _add_row_by_row(X, first, n, labels, pulls, mass, totals)

    return dense if isinstance(X, types.Array) else csr


@compiled
def _add_row_by_row(
    X: Any, first: int, n: int, labels: Any, pulls: Any, mass: Any, totals: Any
) -> None:
    for m in range(n):
        pull = pulls[m]
        if pull > 0.0:
            k = unsigned(labels[first + m])
            mass[k] += pull
            add_row(X, first + m, pull, totals, k)


@compiled
def _most_pull(pulls: Any, n: int) -> bool:
    """Return whether so many rows pull that to ask each of them would cost more than it spares."""
    n_pulling = 0
    for m in range(n):
        n_pulling += pulls[m] > 0.0
    return 8 * n_pulling > n


@compiled
def _add_pairs(X: Any, first: int, n: int, labels: Any, pulls: Any, mass: Any, totals: Any) -> None:
    """Add rows of two features: a loop over features would cost more than the sums."""
    for m in range(n):
        pull = pulls[m]
        k = unsigned(labels[first + m])
        mass[k] += pull
        totals[k, 0] += pull * X[first + m, 0]
        totals[k, 1] += pull * X[first + m, 1]


@compiled
def _sort_by_cluster(first: int, n: int, labels: Any, pulls: Any, order: Any, ends: Any) -> None:
    """Write the rows that pull to `order`, by cluster, and where each cluster's end."""
    ends[:] = 0
    for m in range(n):
        if pulls[m] > 0.0:
            ends[labels[first + m] + 1] += 1
    for k in range(1, ends.size):
        ends[k] += ends[k - 1]
    for m in range(n):
        if pulls[m] > 0.0:
            k = labels[first + m]
            order[ends[k]] = m
            ends[k] += 1


@compiled
def _add_long_rows(
    X: Any, first: int, order: Any, pulls: Any, k: int, mass: Any, totals: Any
) -> None:
    """Add rows to one cluster, four at a time: the sums are fetched and stored once for all."""
    total = totals[k]
    whole = order.size - order.size % 4
    for m in range(0, whole, 4):
        p, q, r, s = pulls[order[m]], pulls[order[m + 1]], pulls[order[m + 2]], pulls[order[m + 3]]
        x, y = X[first + order[m]], X[first + order[m + 1]]
        z, u = X[first + order[m + 2]], X[first + order[m + 3]]
        mass[k] += (p + q) + (r + s)
        for j in range(total.size):
            total[j] += (p * x[j] + q * y[j]) + (r * z[j] + s * u[j])
    for m in range(whole, order.size):
        p = pulls[order[m]]
        x = X[first + order[m]]
        mass[k] += p
        for j in range(total.size):
            total[j] += p * x[j]


@compiled
def refer(kernel: int, t: float, k: int, reference: Any, mass: Any, totals: Any) -> None:
    """Make `t` the reference of cluster k, and bring its sums to it."""
    if has_compact_support(kernel):
        t = 0.0
    if mass[k] > 0.0:
        rescale = relative_pull(kernel, reference[k], t)
        mass[k] *= rescale
        for j in range(totals.shape[1]):
            totals[k, j] *= rescale
    reference[k] = t


@compiled
def merge_references(
    kernel: int,
    reference: Any,  # IN/OUT
    mass: Any,
    totals: Any,
    other_reference: Any,  # IN
    other_mass: Any,
    other_totals: Any,
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
        for j in range(totals.shape[1]):
            totals[k, j] = ours * totals[k, j] + theirs * other_totals[k, j]

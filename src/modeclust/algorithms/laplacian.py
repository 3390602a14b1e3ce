"""Laplacian K-modes: memberships that are smooth over a graph, and the modes that they pull.

Lowers E(Z, C) = smoothing tr(Z' L Z) - sum q z G over memberships Z, rows of which are in the
simplex, and centroids C, in turn (Wang & Carreira-Perpiñán 2014); or, by the solver "bound",
the energy with an entropy in place of the simplex, whose step is parallel over rows (Ziko, Granger
& Ben Ayed 2018).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import eigsh

from modeclust.algorithms.solve import Centers, inverse_square, largest_move
from modeclust.rows.graph_step import BoundStep, LaplacianStep, ProjectStep
from modeclust.rows.memory import MemoryRows
from modeclust.rows.protocols import Rows
from modeclust.rows.soft_step import HeightStep, SoftStep

Doubles = npt.NDArray[np.float64]

MOST_MODE_STEPS = 100  # for one set of memberships
MOST_SMOOTHINGS = 1000  # for one set of centroids
ENERGY_TOLERANCE = 1e-6
FEWEST_FOR_LANCZOS = 100


@dataclass(frozen=True)
class Graph:
    """Affinities, open to passes."""

    rows: MemoryRows  # of W
    degrees: Doubles  # (N,)
    rate: float  # 1 / (2 lambda_max(L))

    @classmethod
    def of(cls, rows: MemoryRows) -> "Graph":
        """Return the graph of symmetric affinities that are open."""
        degrees = np.asarray(rows.X.sum(axis=1), dtype=np.float64).ravel()
        return cls(rows, degrees, 0.5 / _largest_eigenvalue(rows.X, degrees))


def _largest_eigenvalue(W: Any, degrees: Doubles) -> float:
    """Return that of L = D - W, or 1 of a graph without edges."""
    if not np.any(degrees > 0):
        return 1.0
    if len(degrees) < FEWEST_FOR_LANCZOS:
        return float(np.linalg.eigvalsh(np.diag(degrees) - W.toarray())[-1])
    laplacian = sparse.diags_array(degrees) - W
    start = np.random.RandomState(0).uniform(-1, 1, len(degrees))
    (largest,) = eigsh(laplacian, 1, v0=start, tol=1e-3, return_eigenvectors=False)
    return float(largest)


class SoftState(NamedTuple):
    """A soft clustering at one bandwidth."""

    bandwidth: float
    centroids: Centers
    memberships: Doubles  # (N, K)
    energies: tuple[float, ...]  # after each iteration, never rising
    inertia: float
    n_iter: int
    residual: float  # the largest move of a centroid in the last iteration
    converged: bool


@dataclass(frozen=True)
class Smoother:
    """How memberships are found for given centroids."""

    graph: Graph
    smoothing: float

    def solve(self, memberships: Doubles, heights: Doubles) -> tuple[Doubles, float]:
        """Return better memberships and their energy."""
        raise NotImplementedError


class GradientSmoother(Smoother):
    """Accelerated projected gradient, whose momentum starts anew when the energy rises."""

    def solve(self, memberships: Doubles, heights: Doubles) -> tuple[Doubles, float]:
        """Return the memberships of least energy, to a tolerance, and their energy."""
        graph, rate = self.graph, self.graph.rate / self.smoothing
        now, before, following = memberships.copy(), memberships.copy(), np.empty_like(memberships)
        products, products_before = np.empty_like(now), np.empty_like(now)
        products_next = np.empty_like(now)
        energy = self._multiply(now, heights, products)
        products_before[:] = products
        pace, momentum = 1.0, 0.0
        for _ in range(MOST_SMOOTHINGS):
            step = ProjectStep(
                now,
                before,
                products,
                products_before,
                heights,
                graph.degrees,
                self.smoothing,
                rate,
                momentum,
                following,
            )
            graph.rows.reduce(step)
            lower = self._multiply(following, heights, products_next)
            if lower > energy and momentum > 0.0:
                pace, momentum = 1.0, 0.0
                continue
            change = energy - lower
            if lower <= energy:
                before, now, following = now, following, before
                products_before, products, products_next = products, products_next, products_before
                energy = lower
            if change <= ENERGY_TOLERANCE * abs(energy):
                break
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
            pace, momentum = faster, (pace - 1.0) / faster
        return now, energy

    def _multiply(self, memberships: Doubles, heights: Doubles, products: Doubles) -> float:
        step = LaplacianStep(memberships, heights, self.graph.degrees, self.smoothing, products)
        return self.graph.rows.reduce(step).value


class BoundSmoother(Smoother):
    """The softmax update, which bounds the energy from above at each step."""

    def solve(self, memberships: Doubles, heights: Doubles) -> tuple[Doubles, float]:
        """Return memberships at which the update stands still, to a tolerance."""
        now, following = memberships.copy(), np.empty_like(memberships)
        energy = np.inf
        for _ in range(MOST_SMOOTHINGS):
            lower = self.graph.rows.reduce(BoundStep(now, heights, self.smoothing, following)).value
            if energy - lower <= ENERGY_TOLERANCE * abs(lower):
                return now, lower
            energy = lower
            now, following = following, now
        lower = self.graph.rows.reduce(BoundStep(now, heights, self.smoothing, following)).value
        return now, lower


SOLVERS: dict[str, Any] = {"gradient": GradientSmoother, "bound": BoundSmoother}


def follow_soft(
    rows: Rows,
    smoother: Smoother,
    centroids: Centers,
    memberships: Doubles,
    bandwidths: npt.NDArray[np.float64],
    *,
    kernel: int,
    max_iter: int,
    tol: float,
) -> Iterator[SoftState]:
    """Yield the state at each of the decreasing `bandwidths`, each started from the last."""
    for bandwidth in bandwidths:
        state = solve_soft(
            rows,
            smoother,
            centroids,
            memberships,
            float(bandwidth),
            kernel=kernel,
            max_iter=max_iter,
            tol=tol,
        )
        centroids, memberships = state.centroids, state.memberships
        yield state


def solve_soft(
    rows: Rows,
    smoother: Smoother,
    centroids: Centers,
    memberships: Doubles,
    bandwidth: float,
    *,
    kernel: int,
    max_iter: int,
    tol: float,
) -> SoftState:
    """Move centroids and smooth memberships in turn, until no centroid moves `tol` bandwidths."""
    inverse = inverse_square(bandwidth)
    heights = np.empty_like(memberships)
    energies: list[float] = []
    residual, inertia = np.inf, np.nan
    for _ in range(max_iter):
        start = centroids
        for _ in range(MOST_MODE_STEPS):
            sums = rows.reduce(SoftStep(centroids, memberships, kernel, inverse))
            moved, inertia = sums.moved(centroids), sums.inertia
            move = largest_move(centroids, moved)
            centroids = moved
            if move <= tol * bandwidth:
                break
        rows.reduce(HeightStep(centroids, kernel, inverse, heights))
        memberships, energy = smoother.solve(memberships, heights)
        energies.append(energy)
        residual = largest_move(start, centroids)
        if residual <= tol * bandwidth:
            break
    return SoftState(
        bandwidth,
        centroids,
        memberships,
        tuple(energies),
        inertia,
        len(energies),
        residual,
        residual <= tol * bandwidth,
    )

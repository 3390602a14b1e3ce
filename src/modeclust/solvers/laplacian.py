"""Laplacian K-modes: memberships that are smooth over a graph, and their modes.

The solver "gradient" minimises E(Z, C) = smoothing tr(Z' L Z) - sum q z G over memberships Z, whose
rows are in the simplex, and centers C, in turn (Wang & Carreira-Perpiñán 2014). The solver "bound"
minimises an energy with an entropy, whose steps need no projection and are parallel over rows
(Ziko, Granger & Ben Ayed 2018).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import eigsh

from modeclust import _core
from modeclust.data.dataset import Dataset
from modeclust.data.distance_pass import KernelValuePass
from modeclust.data.memory import MemoryDataset, thread_count
from modeclust.data.mode_pass import ModePass
from modeclust.data.reading import Doubles
from modeclust.data.soft_pass import SoftPass
from modeclust.solvers.kmodes import Centers, State, inverse_square, largest_move
from modeclust.solvers.options import SolverOptions

Rows = npt.NDArray[np.int64]  # indices of rows

MAX_MODE_STEPS = 100  # for one set of memberships
MAX_SMOOTHINGS = 1000  # for one set of centers
# Relative tolerance of one smoothing. The authors use 1e-6 and stop before convergence. From the
# same starts, this value gives the results closest to theirs.
ENERGY_TOLERANCE = 8.5e-7
MIN_ROWS_FOR_LANCZOS = 100

# With the automatic smoothing, the smoothing times the mean degree of a row is this. Results are
# the same from 20 to 100 for "bound"; at 5, neighbours no longer hold a cluster together.
BOUND_DEGREE, GRADIENT_DEGREE = 50.0, 10.0
# For "gradient" from linkage, the energy of the graph at the start is at most this share of the sum
# over kernels. Otherwise a cluster costs more than its mode gains, and it vanishes.
MAX_ENERGY = 0.1
# For "gradient" from K-means, the energy of the graph at the start is SMOOTH_ENERGY times the sum
# of the weights. If the clusters cut less than this share of the affinities, LEAST_CUT is used.
SMOOTH_ENERGY, LEAST_CUT = 0.15, 0.01


@dataclass(frozen=True)
class Graph:
    """A graph of affinities W."""

    W: Any  # (N, N) symmetric, CSR
    core: _core.Graph  # the same, for passes over its rows
    degrees: Doubles  # (N,)
    isolated: npt.NDArray[np.int64]  # rows without edges

    @classmethod
    def of(cls, W: Any, n_jobs: int | None = None) -> "Graph":
        """Return the graph of symmetric affinities in CSR form."""
        degrees = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
        core = _core.Graph(
            np.asarray(W.data, np.float64),
            np.asarray(W.indices, np.int32),
            W.indptr,
            n_threads=thread_count(n_jobs),
        )
        return cls(W, core, degrees, np.flatnonzero(degrees == 0))

    @cached_property
    def rate(self) -> float:
        """The step size times the smoothing: 1 / (2 lambda_max(L))."""
        return 0.5 / _largest_eigenvalue(self.W, self.degrees)


def _largest_eigenvalue(W: Any, degrees: Doubles) -> float:
    """Return the largest eigenvalue of L = D - W, or 1 for a graph without edges."""
    if not np.any(degrees > 0):
        return 1.0
    if len(degrees) < MIN_ROWS_FOR_LANCZOS:
        return float(np.linalg.eigvalsh(np.diag(degrees) - W.toarray())[-1])
    laplacian = sparse.diags_array(degrees) - W
    start = np.random.RandomState(0).uniform(-1, 1, len(degrees))
    (largest,) = eigsh(laplacian, 1, v0=start, tol=1e-3, return_eigenvectors=False)
    return float(largest)


@dataclass(frozen=True)
class Smoother:
    """Finds the memberships for given centers."""

    graph: Graph
    smoothing: float

    # The share of each initial membership that is spread evenly over all clusters.
    start_share: ClassVar[float] = 0.0

    @classmethod
    def first_memberships(cls, labels: npt.NDArray[np.integer[Any]], n_clusters: int) -> Doubles:
        """Return the initial memberships of rows with labels."""
        others = cls.start_share / n_clusters
        return (1.0 - cls.start_share) * one_hot(labels, n_clusters) + others

    @classmethod
    def automatic(
        cls, graph: Graph, memberships: Doubles, weight: float, kernel_sum: float | None
    ) -> float:
        """Return the automatic smoothing for the initial memberships.

        `weight` is the sum of the weights of the rows, and `kernel_sum` that of their kernel values
        at the initial centers; None if the initial clusters ignore the graph, as K-means does.
        """
        raise NotImplementedError

    def start(self, dataset: Dataset, centers: Centers, memberships: Doubles) -> Doubles:
        """Return the memberships from which `solve` starts."""
        return memberships

    def solve(
        self, memberships: Doubles, kernel_values: Doubles, fixed: Rows | None = None
    ) -> tuple[Doubles, float]:
        """Return memberships of lower energy, and the energy. Those of `fixed` rows stay."""
        raise NotImplementedError

    def energy(self, memberships: Doubles, kernel_values: Doubles) -> float:
        """Return the energy, which `solve` minimises."""
        raise NotImplementedError


class GradientSmoother(Smoother):
    """Accelerated projected gradient; the momentum is reset if the energy rises."""

    @classmethod
    def automatic(
        cls, graph: Graph, memberships: Doubles, weight: float, kernel_sum: float | None
    ) -> float:
        """Return a smoothing at which clusters of the graph survive, and others do not."""
        cut = cls(graph, 1.0).energy(memberships, np.zeros_like(memberships))
        if kernel_sum is None:
            cut = max(cut, LEAST_CUT * float(graph.degrees.sum()))
            return SMOOTH_ENERGY * weight / cut if cut > 0 else 1.0
        smoothing = _per_degree(graph, GRADIENT_DEGREE)
        limit = MAX_ENERGY * kernel_sum / cut if cut > 0 else np.inf
        return min(smoothing, limit) if limit > 0 else smoothing

    def start(self, dataset: Dataset, centers: Centers, memberships: Doubles) -> Doubles:
        """Return the memberships, with rows without edges in their nearest clusters.

        This is the optimum for these rows. Far from all centers the kernel underflows, and a
        gradient step would not find it.
        """
        isolated = self.graph.isolated
        if len(isolated) == 0:
            return memberships
        memberships = memberships.copy()
        memberships[isolated] = one_hot(_nearest(dataset, isolated, centers), len(centers))
        return memberships

    def solve(
        self, memberships: Doubles, kernel_values: Doubles, fixed: Rows | None = None
    ) -> tuple[Doubles, float]:
        """Return the memberships of lowest energy, up to a tolerance, and the energy."""
        graph, rate = self.graph, self.graph.rate / self.smoothing
        now, before, following = memberships.copy(), memberships.copy(), np.empty_like(memberships)
        products, products_before = np.empty_like(now), np.empty_like(now)
        products_next = np.empty_like(now)
        energy = self._multiply(now, kernel_values, products)
        products_before[:] = products
        pace, momentum = 1.0, 0.0
        for _ in range(MAX_SMOOTHINGS):
            graph.core.descend(
                memberships=now,
                before=before,
                products=products,
                products_before=products_before,
                kernel_values=kernel_values,
                degrees=graph.degrees,
                smoothing=self.smoothing,
                rate=rate,
                momentum=momentum,
                out=following,
            )
            if fixed is not None:
                following[fixed] = now[fixed]
            lower = self._multiply(following, kernel_values, products_next)
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

    def energy(self, memberships: Doubles, kernel_values: Doubles) -> float:
        """Return smoothing tr(Z' L Z) - sum z g."""
        return self._multiply(memberships, kernel_values, np.empty_like(memberships))

    def _multiply(self, memberships: Doubles, kernel_values: Doubles, products: Doubles) -> float:
        return self.graph.core.multiply(
            memberships, kernel_values, smoothing=self.smoothing, out=products
        )


class BoundSmoother(Smoother):
    """The softmax update, which minimises an upper bound on the energy."""

    start_share = 1e-3  # memberships of 0 would not change in a damped step

    @classmethod
    def automatic(
        cls, graph: Graph, memberships: Doubles, weight: float, kernel_sum: float | None
    ) -> float:
        """Return the smoothing at which the neighbours outweigh the entropy, whose weight is 1."""
        return _per_degree(graph, BOUND_DEGREE)

    def solve(
        self, memberships: Doubles, kernel_values: Doubles, fixed: Rows | None = None
    ) -> tuple[Doubles, float]:
        """Return memberships that the update does not change, up to a tolerance.

        A step can raise the energy if neighbouring rows swap clusters. This step is then replaced
        by a damped one, and all later steps are damped too.
        """
        now = memberships.copy()
        before, following = np.empty_like(now), np.empty_like(now)
        energy, damping = np.inf, 0.0
        for _ in range(MAX_SMOOTHINGS):
            lower = self._update(now, kernel_values, damping, following, fixed)
            if lower > energy:
                if damping > 0.0:  # a rounding error
                    break
                damping = self.smoothing * float(self.graph.degrees.max())
                self._update(before, kernel_values, damping, now, fixed)
                continue
            if energy - lower <= ENERGY_TOLERANCE * abs(lower):
                return now, lower
            energy = lower
            before, now, following = now, following, before
        return before, energy

    def energy(self, memberships: Doubles, kernel_values: Doubles) -> float:
        """Return sum z log z - sum z g - smoothing / 2 sum_nm w_nm z_n . z_m."""
        return self._update(memberships, kernel_values, 0.0, np.empty_like(memberships))

    def _update(
        self,
        memberships: Doubles,
        kernel_values: Doubles,
        damping: float,
        following: Doubles,
        fixed: Rows | None = None,
    ) -> float:
        energy = self.graph.core.soften(
            memberships, kernel_values, smoothing=self.smoothing, damping=damping, out=following
        )
        if fixed is not None:
            following[fixed] = memberships[fixed]
        return energy


def _per_degree(graph: Graph, smoothing: float) -> float:
    """Return a smoothing divided by the mean degree; 1 for a graph without edges."""
    degree = float(graph.degrees.mean())
    return smoothing / degree if degree > 0 else 1.0


SOLVERS: dict[str, Any] = {"gradient": GradientSmoother, "bound": BoundSmoother}


def follow_soft_path(
    dataset: MemoryDataset,
    smoother: Smoother,
    centers: Centers,
    memberships: Doubles,
    bandwidths: npt.NDArray[np.float64],
    options: SolverOptions,
) -> Iterator[State]:
    """Yield the state at each of the decreasing `bandwidths`, each started from the last one.

    There are at most `options.path_iter` iterations at each bandwidth, and `options.max_iter` at
    the last one.
    """
    on_path = replace(options, max_iter=options.path_iter)
    for number, bandwidth in enumerate(bandwidths, start=1):
        limits = options if number == len(bandwidths) else on_path
        state = solve_soft(dataset, smoother, centers, memberships, float(bandwidth), limits)
        assert state.memberships is not None
        centers, memberships = state.centers, state.memberships
        yield state


def solve_soft(
    dataset: MemoryDataset,
    smoother: Smoother,
    centers: Centers,
    memberships: Doubles,
    bandwidth: float,
    options: SolverOptions,
) -> State:
    """Solve the problem at one bandwidth, such that no cluster loses all its rows.

    If one does, the problem is solved again from the same start, and the rows of that cluster keep
    their memberships.
    """
    initial = hard_labels(dataset, centers, memberships)
    sizes = np.bincount(initial, minlength=len(centers))
    fixed = None
    while True:
        state = _alternate(dataset, smoother, centers, memberships, bandwidth, options, fixed)
        lost = (state.counts == 0) & (sizes > 0)
        if not lost.any():
            return state
        of_lost = np.flatnonzero(lost[initial])
        fixed = of_lost if fixed is None else np.union1d(fixed, of_lost)


def _alternate(
    dataset: MemoryDataset,
    smoother: Smoother,
    centers: Centers,
    memberships: Doubles,
    bandwidth: float,
    options: SolverOptions,
    fixed: Rows | None,
) -> State:
    """Alternate between moving centers and smoothing memberships, until centers hardly move.

    Stops if no center moves farther than `tol` bandwidths, or after `max_iter` iterations. L of the
    state is the negative energy.
    """
    kernel, tol = options.kernel, options.tol
    inverse = inverse_square(bandwidth)
    kernel_values = np.empty_like(memberships)
    history: list[float] = []
    residual = np.inf
    while len(history) < options.max_iter and residual > tol * bandwidth:
        start = centers
        for _ in range(MAX_MODE_STEPS):
            moved = dataset.run(SoftPass(centers, memberships, kernel, inverse)).moved(centers)
            move = largest_move(centers, moved)
            centers = moved
            if move <= tol * bandwidth:
                break
        dataset.run(KernelValuePass(centers, kernel, inverse, kernel_values))
        started = smoother.start(dataset, centers, memberships)
        if fixed is not None:
            started[fixed] = memberships[fixed]
        memberships, energy = smoother.solve(started, kernel_values, fixed)
        history.append(-energy)
        residual = largest_move(start, centers)
    labels = hard_labels(dataset, centers, memberships)
    dataset.rows.set_labels(labels, len(centers))
    sums = dataset.run(ModePass(centers, kernel, inverse, reassign=False))
    return State(
        bandwidth=bandwidth,
        centers=centers,
        objective=history[-1] / sums.weight,
        inertia=sums.inertia,
        counts=sums.counts,
        nearest=sums.nearest,
        unsupported=(sums.mass <= 0) & (sums.nearest >= 0),
        n_iter=len(history),
        residual=residual,
        converged=residual <= tol * bandwidth,
        rows_averaged=sums.rows_averaged(),
        labels=labels,
        memberships=memberships,
        history=tuple(history),
    )


def one_hot(labels: npt.NDArray[np.integer[Any]], n_clusters: int) -> Doubles:
    """Return the memberships of rows that are in one cluster each."""
    return np.asarray(np.eye(n_clusters)[labels])


def hard_labels(dataset: Dataset, centers: Centers, memberships: Doubles) -> npt.NDArray[np.int32]:
    """Return the cluster with the largest membership of each row; the nearest if several tie."""
    labels: npt.NDArray[np.int32] = memberships.argmax(axis=1).astype(np.int32)
    most = memberships == memberships.max(axis=1, keepdims=True)
    tied = np.flatnonzero(most.sum(axis=1) > 1)
    if len(tied):
        labels[tied] = _nearest(dataset, tied, centers, among=most[tied])
    return labels


def _nearest(
    dataset: Dataset, indices: npt.NDArray[np.int64], centers: Centers, among: Any = True
) -> npt.NDArray[np.intp]:
    """Return the nearest center of some rows, among the centers where `among` is True."""
    with MemoryDataset(dataset.take(indices).rows(), n_jobs=1) as some:
        distances = np.nan_to_num(some.distances(centers))  # overflows count as the largest number
    return np.asarray(np.where(among, distances, np.inf).argmin(axis=1))

"""Types of the compiled module, whose C++ source is in `core`."""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.int32]

def simd() -> str:
    """Return the instruction set in use."""

def available_simd() -> list[str]:
    """Return the instruction sets that this machine can run, the fastest last."""

def compiler() -> str:
    """Return the name and version of the compiler that built this module."""

def nanobind_version() -> str:
    """Return the version of nanobind that this module was built with."""

def means(
    totals: Doubles,
    mass: Doubles,
    otherwise: Doubles,
    unit_length: bool = False,
    n_threads: int = 1,
) -> Doubles:
    """Return totals / mass (K, D), with the rows of `otherwise` where the mass is 0.

    With `unit_length`, return the totals divided by their lengths, with the rows of `otherwise`
    where they cancel.
    """

def center_moves(
    before: Doubles,
    after: Doubles,
    tolerance: float = 0.0,
    rounding: float = 0.0,
    n_threads: int = 1,
) -> tuple[float, float, bool]:
    """Return the largest move of a center, the sum of squared moves, and whether all are small.

    A move is small if it is at most `tolerance`, or at most `rounding` times the largest
    coordinate of the center before the move.
    """

def each_move(
    before: Doubles, after: Doubles, tolerances: Doubles, rounding: float, n_threads: int = 1
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return how far each center moves, and whether this is small, as in `center_moves`."""

def merge_mode_sums(
    kernel: int,
    reference: Doubles,
    mass: Doubles,
    mass_squared: Doubles,
    totals: Doubles,
    other_reference: Doubles,
    other_mass: Doubles,
    other_mass_squared: Doubles,
    other_totals: Doubles,
) -> None:
    """Add other sums in place; the result has the smaller reference of each cluster."""

class KeptLabels:
    """The labels and bounds of some rows, without the rows."""

class Rows:
    """Rows in memory, dense or CSR, with their weights, labels and bounds.

    The precision of a row is 1 / s^2, where s is its local scale. Rows are multiplied by their
    factors, 1 / |x|, as they are read; without factors, they are read as they are.
    """

    negligible: float  # rows whose t is this far above the smallest t of their cluster do not count

    @overload
    def __init__(
        self,
        X: NDArray[Any],
        *,
        weight: Doubles | None = None,
        precision: Doubles | None = None,
        factors: Doubles | None = None,
        offset: Doubles | None = None,
        scale: float = 1.0,
        swapped: bool = False,
        n_clusters: int = 1,
        n_threads: int = 1,
        first_row: int = 0,
    ) -> None: ...
    @overload
    def __init__(
        self,
        data: NDArray[np.floating[Any]],
        indices: NDArray[np.integer[Any]],
        indptr: NDArray[np.integer[Any]],
        n_features: int,
        *,
        weight: Doubles | None = None,
        precision: Doubles | None = None,
        factors: Doubles | None = None,
        n_clusters: int = 1,
        n_threads: int = 1,
        first_row: int = 0,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def labels(self) -> Labels:
        """The labels of the last pass that assigned labels, or -1 before the first; read-only."""

    @property
    def has_precision(self) -> bool:
        """Whether rows have local scales."""

    @property
    def has_labels(self) -> bool: ...
    def set_labels(self, labels: Labels, n_clusters: int) -> None:
        """Set labels from 0 to n_clusters - 1, for passes that keep them."""

    def detach_labels(self) -> KeptLabels:
        """Remove and return the labels and bounds, so that the rows need not be kept."""

    def attach_labels(self, kept: KeptLabels) -> None:
        """Set labels and bounds of the same rows, which may have been read again."""

    @property
    def first_row(self) -> int:
        """Index of the first of these rows in the whole dataset."""

    @property
    def n_threads(self) -> int:
        """Number of threads of a pass."""

    @property
    def unit_length(self) -> bool:
        """Whether rows have factors, which bring them to length 1."""

    def inverse_lengths(self) -> Doubles:
        """Return 1 / |x| of each row; infinity if that overflows."""

    def column_limits(self) -> tuple[Doubles, Doubles]:
        """Return the minimum and the maximum of each column of dense rows without NaN."""

    def row_weights(self) -> Doubles:
        """Return the weight of each row in a K-means step: q / s^2."""

    def set_precision(self, precision: Doubles | None) -> None:
        """Set 1 / s^2 of each row."""

    def mode_pass(
        self,
        centers: Doubles,
        kernel: int,
        inverse_squared_bandwidth: float,
        reassign: bool = True,
        also_at: float = -1.0,
        cluster_factors: Doubles | None = None,
        squared: Doubles | None = None,
    ) -> tuple[
        Doubles,
        Doubles,
        Doubles,
        Doubles,
        Integers,
        Integers,
        Doubles,
        NDArray[np.bool_],
        float,
        float,
        float,
        float,
        int,
        int,
        bool,
    ]:
        """Return the fields of `ModeSums` after `kernel`.

        `also_at` is 1 / bandwidth^2 of the previous bandwidth; -1 if there is none.
        `cluster_factors` (K,) multiply 1 / bandwidth^2 in each cluster. If one is negative, the
        rows of the cluster are left out; labels must be kept then, without `squared`. `squared`
        (N,) gets the squared distances of the rows to their own centers.
        """

    def mean_pass(
        self, centers: Doubles, after: Doubles | None = None
    ) -> tuple[Doubles, Doubles, Integers, int, int, int, bool]:
        """Return the fields of `MeanSums`."""

    def keys(self, directions: Doubles) -> Doubles:
        """Return the product of each row with `directions`."""

    def digest(self) -> tuple[bytes, bytes, bytes]:
        """Return digests of the rows, of their weights and of their precisions."""

def distances(rows: Rows, centers: Doubles, out: NDArray[np.floating[Any]]) -> None:
    """Write the distance of each row to each center to `out` (N, K)."""

def own_distances(rows: Rows, centers: Doubles, labels: Labels) -> Doubles:
    """Return the squared distance of each row to its own center."""

def nearest_rows(
    rows: Rows, n_nearest: int, queries: Rows | None = None
) -> tuple[Doubles, Integers]:
    """Return the distances and indices of the rows nearest to each query, (Q, n_nearest).

    Without queries, they are the other rows nearest to each row. On a tie, the lower index comes
    first.
    """

def kernel_values(
    rows: Rows, centers: Doubles, *, kernel: int, inverse_squared_bandwidth: float, out: Doubles
) -> None:
    """Write q G(t) of each row at each center to `out` (N, K)."""

class SoftSums:
    """The result of `soft_sums`, with the fields of `ModeSums`."""

    @property
    def reference(self) -> Doubles: ...
    @property
    def mass(self) -> Doubles: ...
    @property
    def totals(self) -> Doubles: ...
    @property
    def counts(self) -> Integers: ...
    @property
    def nearest(self) -> Integers: ...
    @property
    def nearest_distance(self) -> Doubles: ...
    @property
    def objective(self) -> float: ...
    @property
    def inertia(self) -> float: ...
    @property
    def weight(self) -> float: ...

def soft_sums(
    rows: Rows,
    centers: Doubles,
    memberships: Doubles,
    *,
    kernel: int,
    inverse_squared_bandwidth: float,
) -> SoftSums:
    """Return the sums of a mode pass with soft memberships."""

def segment_densities(
    rows: Rows,
    labels: Labels,
    centers: Doubles,
    pairs: Integers,
    fractions: Doubles,
    *,
    kernel: int,
    inverse_squared_bandwidth: float,
    step: int = 1,
) -> Doubles:
    """Return the densities (P, G) at points between pairs of centers, of every `step`-th row."""

class ShiftSums:
    """The sums of mean-shift at some points."""

    @property
    def reference(self) -> Doubles: ...
    @property
    def mass(self) -> Doubles: ...
    @property
    def totals(self) -> Doubles: ...
    @property
    def density(self) -> Doubles: ...
    @property
    def smallest(self) -> Doubles: ...

class DensityRows:
    """Rows in a tree, for sums over all rows near a point."""

    def __init__(self, rows: Rows) -> None: ...
    @property
    def order(self) -> Integers: ...
    @property
    def largest_norm(self) -> float: ...
    def shift_sums(
        self,
        points: Doubles,
        *,
        kernel: int,
        inverse_squared_bandwidth: float,
        nearest: Doubles | None = None,
        negligible: float = 600.0,
    ) -> ShiftSums:
        """Sum the kernel weights of all rows at each point."""

class Graph:
    """A symmetric matrix of affinities (N, N) in CSR form."""

    def __init__(
        self,
        data: Doubles,
        indices: NDArray[np.int32],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        *,
        n_threads: int = 1,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def descend(
        self,
        *,
        memberships: Doubles,
        before: Doubles,
        products: Doubles,
        products_before: Doubles,
        kernel_values: Doubles,
        degrees: Doubles,
        smoothing: float,
        rate: float,
        momentum: float,
        out: Doubles,
    ) -> None:
        """Write an accelerated gradient step, projected onto the simplex, to `out`."""

    def multiply(
        self, memberships: Doubles, kernel_values: Doubles, *, smoothing: float, out: Doubles
    ) -> float:
        """Write W Z to `out`; return smoothing tr(Z' L Z) - sum z g."""

    def soften(
        self,
        memberships: Doubles,
        kernel_values: Doubles,
        *,
        smoothing: float,
        damping: float,
        out: Doubles,
    ) -> float:
        """Write softmax(g + smoothing W Z) to `out`; return the energy of Z."""

def project_rows(rows: Doubles) -> None:
    """Project each row onto the simplex, in place."""

def distance_histogram(
    rows: Rows, squared: Doubles, labels: Labels, n_clusters: int, unit: float
) -> Doubles:
    """Add up rows by cluster and squared distance in units.

    Returns (K, bins, 3): the sums of q p, q p^2 and q p e, with the sample weight q, the precision
    p, and e the squared distance times p.
    """

def bandwidths_for_rows(kernel: int, histogram: Doubles, unit: float, wanted: Doubles) -> Doubles:
    """Return the bandwidth at which each cluster averages the wanted number of rows (K,).

    It is infinite for a cluster that does not have more rows than that.
    """

def relative_weights(kernel: int, squared: Doubles, reference: Doubles) -> Doubles:
    """Return g(t) / g(reference) of each squared distance t in bandwidths.

    g is the weight in a mode step. The reference of kernels with compact support counts as 0.
    """

def prune_centers(losses: Doubles, weight: Doubles, n_kept: int) -> Integers:
    """Return the `n_kept` centers that are left if the others are removed one by one.

    `losses` (N, M) has the loss of each row at each center. Each time, the center is removed whose
    rows lose least if they go to their best other center.
    """

def dip(values: Doubles, weight: Doubles) -> float:
    """Return Hartigan's dip of values with weights > 0."""

def separations(
    squares: Doubles,
    centers: Doubles,
    weight: Doubles,
    labels: Labels,
    pairs: Integers,
    n_threads: int,
) -> Doubles:
    """Return sqrt(n) times the dip between the two clusters of each pair (P,).

    `squares` (N, K) has the squared distances of the rows to all centers.
    """

def pair_values(
    squares: Doubles, centers: Doubles, weight: Doubles, labels: Labels, i: int, j: int
) -> Doubles:
    """Return the values, ascending, whose dip separates two clusters, and their weights (2, n)."""

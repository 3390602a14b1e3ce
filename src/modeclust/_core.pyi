from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

class Rows:
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...

class ShiftSums:
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
    def __init__(self, rows: Rows) -> None: ...
    @property
    def order(self) -> npt.NDArray[np.int64]: ...
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
    ) -> ShiftSums: ...

class SoftSums:
    @property
    def reference(self) -> Doubles: ...
    @property
    def mass(self) -> Doubles: ...
    @property
    def totals(self) -> Doubles: ...
    @property
    def counts(self) -> npt.NDArray[np.int64]: ...
    @property
    def nearest(self) -> npt.NDArray[np.int64]: ...
    @property
    def nearest_distance(self) -> Doubles: ...
    @property
    def objective(self) -> float: ...
    @property
    def inertia(self) -> float: ...
    @property
    def weight(self) -> float: ...

def distances(rows: Rows, centers: Doubles, out: npt.NDArray[np.floating[Any]]) -> None: ...
def kernel_values(
    rows: Rows, centers: Doubles, *, kernel: int, inverse_squared_bandwidth: float, out: Doubles
) -> None: ...
def own_distances(rows: Rows, centers: Doubles, labels: npt.NDArray[np.int32]) -> Doubles: ...
def soft_sums(
    rows: Rows,
    centers: Doubles,
    memberships: Doubles,
    *,
    kernel: int,
    inverse_squared_bandwidth: float,
) -> SoftSums: ...
def segment_densities(
    rows: Rows,
    labels: npt.NDArray[np.int32],
    centers: Doubles,
    pairs: npt.NDArray[np.int64],
    fractions: Doubles,
    *,
    kernel: int,
    inverse_squared_bandwidth: float,
) -> Doubles: ...

class Graph:
    def __init__(
        self,
        data: Doubles,
        indices: npt.NDArray[np.int32],
        indptr: npt.NDArray[np.int32] | npt.NDArray[np.int64],
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
    ) -> None: ...
    def multiply(
        self, memberships: Doubles, kernel_values: Doubles, *, smoothing: float, out: Doubles
    ) -> float: ...
    def soften(
        self,
        memberships: Doubles,
        kernel_values: Doubles,
        *,
        smoothing: float,
        damping: float,
        out: Doubles,
    ) -> float: ...

def project_rows(rows: Doubles) -> None: ...

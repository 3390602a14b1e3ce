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

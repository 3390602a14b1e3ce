"""Passes over rows, compiled from the C++ files in `core`."""

from typing import overload

import numpy as np
from numpy.typing import NDArray

def simd() -> str:
    """Return the instruction set in use."""

def available_simd() -> list[str]:
    """Return the instruction sets that this machine can run, the fastest last."""

def compiler() -> str:
    """Return the name and version of the compiler that built this module."""

def nanobind_version() -> str:
    """Return the version of nanobind that this module was built with."""

class Rows:
    """Rows in memory, dense or CSR, with their weights."""

    @overload
    def __init__(
        self,
        X: NDArray[np.generic],
        *,
        weight: NDArray[np.float64] | None = None,
        precision: NDArray[np.float64] | None = None,
        offset: NDArray[np.float64] | None = None,
        scale: float = 1.0,
        n_clusters: int = 1,
        n_threads: int = 1,
        first_row: int = 0,
    ) -> None: ...
    @overload
    def __init__(
        self,
        data: NDArray[np.floating],
        indices: NDArray[np.integer],
        indptr: NDArray[np.integer],
        n_features: int,
        *,
        weight: NDArray[np.float64] | None = None,
        precision: NDArray[np.float64] | None = None,
        n_clusters: int = 1,
        n_threads: int = 1,
        first_row: int = 0,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def set_precision(self, precision: NDArray[np.float64] | None) -> None: ...
    def keys(self, directions: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def digest(self) -> bytes: ...

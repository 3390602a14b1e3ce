"""The kernel density of checked data."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modeclust import _core
from modeclust.data.memory import MemoryDataset, weight_spread
from modeclust.data.reading import Doubles, in_memory
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_n_jobs
from modeclust.estimators.saving import are_rows
from modeclust.io.model_file import is_array
from modeclust.kernels import KERNELS
from modeclust.solvers.mean_shift import Density

# Distances of sparse rows are computed from dot products. The error of a squared distance is about
# 1e-16 times the squared norms, and must be below 1e-8 times the squared bandwidth.
LARGEST_NORM = 1e8
# Limits of internal bandwidths: for rescaled rows, their squares neither overflow nor underflow.
LIMITS = 1e-100, 1e100


class OpenKernelDensity(NamedTuple):
    """A kernel density of rescaled rows, ready for mean-shift."""

    # Local scales are divided by their mean, and the bandwidth is multiplied by it.
    density: Density
    X: Any  # the rows
    weight: Doubles | None
    rescaling: Rescaling
    mean_scale: float

    def bandwidth_to_original(self, bandwidth: float) -> float:
        """Return an internal bandwidth in the user's units."""
        return bandwidth / self.mean_scale * self.rescaling.scale


@dataclass(frozen=True)
class KernelDensity:
    """The rows of a density, with their weights and scales."""

    X: Any
    weight: Doubles | None
    scale: Doubles | None

    def __post_init__(self) -> None:
        is_right = are_rows(self.X, None, None)
        for values in (self.weight, self.scale):
            if values is not None and is_right:
                is_right = is_array(values, "f", self.X.shape[0]) and bool((values >= 0).all())
                is_right = is_right and bool(np.isfinite(values).all())
        if not is_right or (self.scale is not None and not (self.scale > 0).all()):
            raise ValueError("a kernel density must have finite rows, weights >= 0 and scales > 0")

    @classmethod
    def of(
        cls, X: Any, weight: Doubles | None, scale: Doubles | None, metric: str
    ) -> "KernelDensity":
        """Return the density of checked rows, which are copied into memory with their columns."""
        weight, scale = (None if column is None else column.copy() for column in (weight, scale))
        return cls(in_memory(X, metric, copy=True), weight, scale)

    def open(
        self, kernel: str, metric: str, bandwidth: float, n_jobs: int | None
    ) -> OpenKernelDensity:
        """Open the density at a bandwidth in the user's units."""
        check_n_jobs(n_jobs)
        rescaling = Rescaling.of(self.X, metric=metric)
        inner = self.bandwidth_to_internal(bandwidth, rescaling)
        dataset = MemoryDataset(
            rescaling.to_internal(self.X),
            weight=self.weight,
            scale=None if self.scale is None else self.scale / self.mean_scale,
            n_jobs=n_jobs,
        )
        rows = _core.DensityRows(dataset.rows)
        if dataset.is_sparse and rows.largest_norm > LARGEST_NORM * inner * inner:
            raise ValueError(
                f"bandwidth={bandwidth:.6g} is too small for sparse rows of length "
                f"{np.sqrt(rows.largest_norm) * rescaling.scale:.6g}; pass dense rows."
            )
        scales = dataset.inverse_squared_scale
        density = Density(
            rows,
            dataset.n_rows,
            KERNELS[kernel],
            float(inner),
            weight=dataset.total_weight,
            precision=float(scales.max()) if scales.size else 1.0,
            spread=weight_spread(dataset.weight, scales),
            unit_length=metric == "cosine",
        )
        return OpenKernelDensity(density, dataset.X, self.weight, rescaling, self.mean_scale)

    @property
    def mean_scale(self) -> float:
        """The weighted mean of the local scales."""
        return 1.0 if self.scale is None else float(np.average(self.scale, weights=self.weight))

    def bandwidth_to_internal(self, bandwidth: Any, rescaling: Rescaling) -> Any:
        """Return the user's bandwidths in internal units."""
        return rescaling.bandwidth_to_internal(bandwidth, self.mean_scale, limits=LIMITS)

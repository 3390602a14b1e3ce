"""Soft assignments of new rows, from the neighbours and modes of a Laplacian K-modes fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from modeclust import _core
from modeclust.data.distance_pass import KernelValuePass
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles, Indices
from modeclust.data.rescaling import Rescaling
from modeclust.estimators.saving import are_rows
from modeclust.io.model_file import is_array
from modeclust.kernels import KERNELS
from modeclust.solvers.density_graph import (
    CONTRAST,
    LEAST_AFFINITY,
    relative_squares,
    scale_number,
)
from modeclust.solvers.kmodes import Centers, inverse_square
from modeclust.solvers.neighbors import (
    MAX_SQUARED_DISTANCE,
    log_affinities,
    nearest_rows,
)

# If the log of kernel values over affinities exceeds this, only the modes count.
MAX_LOG_RATIO = 30.0
# The mean of normalised degrees is at most 1, but for rounding.
MAX_MEAN_DEGREE = 1 + 1e-6


@dataclass(frozen=True)
class Neighborhood:
    """The rows of a fit, and the affinities of new rows to their nearest ones."""

    X: Any
    n_neighbors: int
    scale: float | Doubles | None  # s of all rows, or of each; None if all affinities are 1
    # "heat", or the affinities of a `DensityGraph`: "contrasted" or "normalised"
    kind: str = "heat"
    # Of the rows before they were normalised, and their mean afterwards.
    degrees: Doubles | None = None
    mean_degree: float = 1.0

    def __post_init__(self) -> None:
        scale, degrees = self.scale, self.degrees
        is_right = are_rows(self.X, None, None) and type(self.n_neighbors) is int
        is_right = is_right and self.n_neighbors > 0
        if scale is not None:
            is_scale = isinstance(scale, float) or is_array(scale, "f", self.X.shape[0])
            is_right = is_right and is_scale and bool(np.all(np.asarray(scale) >= 0))
        is_right = is_right and self.kind in ("heat", "contrasted", "normalised")
        if is_right and self.kind != "heat":
            is_right = is_array(scale, "f", self.X.shape[0]) and bool(np.all(np.asarray(scale) > 0))
        if is_right and self.kind == "normalised":
            is_right = is_array(degrees, "f", self.X.shape[0])
            is_right = is_right and bool(np.all(np.asarray(degrees) > 0))
            is_right = is_right and type(self.mean_degree) is float
            is_right = is_right and 0 < self.mean_degree <= MAX_MEAN_DEGREE
        if not is_right:
            raise ValueError(
                "a neighborhood must have finite rows, a number of neighbors > 0, scales >= 0, "
                "degrees > 0 and a mean degree of at most 1"
            )

    def affinities(
        self, X: Any, rescaling: Rescaling, n_jobs: int | None
    ) -> tuple[sparse.csr_array, Doubles]:
        """Return affinities of new internal rows to the known ones, and the logs of their sums.

        The affinities of a row are divided by their sum, which may underflow far from all known
        rows.
        """
        n_known = self.X.shape[0]
        k = min(self.n_neighbors, n_known)
        known = rescaling.to_internal(self.X)
        distances, neighbors = nearest_rows(known, X, k, n_jobs)
        logs = self._log_affinities(distances, neighbors, rescaling.scale)
        sums = logsumexp(logs, axis=1)
        weights = np.exp(logs - sums[:, None])
        if self.kind == "normalised":  # a new row counts as one of the mean degree
            sums = np.full(len(weights), np.log(self.mean_degree))
        ends = np.arange(0, weights.size + 1, k)
        shape = (len(weights), n_known)
        return sparse.csr_array((weights.ravel(), neighbors.ravel(), ends), shape=shape), sums

    def _log_affinities(self, distances: Doubles, neighbors: Indices, unit: float) -> Doubles:
        """Return the logs of the affinities of new rows to their neighbours."""
        if self.kind == "heat":
            own: Any = None
            others: Any = None
            if isinstance(self.scale, np.ndarray):
                own, others = distances.max(axis=1)[:, None], self.scale[neighbors] / unit
            elif self.scale is not None:
                own = others = self.scale / unit
            return log_affinities(distances, own, others)
        scales = np.asarray(self.scale) / unit
        nearest = np.sort(distances, axis=1)[:, scale_number(distances.shape[1]) - 1]
        own = np.maximum(nearest, scales.min())[:, None]
        q = relative_squares(distances, own, scales[neighbors], float(scales.mean()))
        if self.kind == "contrasted":
            return np.maximum(-CONTRAST * q, np.log(LEAST_AFFINITY))
        return np.asarray(-np.log(q) - 0.5 * np.log(np.asarray(self.degrees)[neighbors]))


def gradient_assignments(
    log_values: Doubles, mean: Doubles, log_sums: Doubles, smoothing: float
) -> Doubles:
    """Return the assignments of new rows that solve the problem of "gradient", row by row.

    `log_values` are the logs of the kernel values at the modes, `mean` the mean assignments of the
    neighbours, and `log_sums` the logs of the sums of the affinities. Logs are compared because,
    far from all rows and modes, the values underflow.
    """
    log_total = logsumexp(log_values, axis=1)
    reached = np.isfinite(log_total)  # for other rows, only the neighbours count
    shares = np.exp(log_values[reached] - log_total[reached, None])
    log_ratio = log_total - log_sums - np.log(2 * smoothing)
    ratio = np.exp(np.minimum(log_ratio[reached], MAX_LOG_RATIO))
    mean[reached] += ratio[:, None] * shares
    _core.project_rows(mean)
    return mean


def bound_assignments(
    log_values: Doubles, mean: Doubles, log_sums: Doubles, smoothing: float
) -> Doubles:
    """Return the assignments of new rows that solve the problem of "bound", row by row."""
    weights = smoothing * np.exp(log_sums)
    return np.asarray(softmax(np.exp(log_values) + weights[:, None] * mean, axis=1))


def log_kernel_values(
    dataset: MemoryDataset, centers: Centers, kernel: str, bandwidth: float
) -> Doubles:
    """Return the log of the kernel value of each row at each center."""
    if kernel == "gaussian":
        with np.errstate(over="ignore"):
            squares = np.square(dataset.distances(centers).astype(np.float64) / bandwidth)
        return np.asarray(-0.5 * np.minimum(squares, MAX_SQUARED_DISTANCE))
    values = np.empty((dataset.n_rows, len(centers)))
    dataset.run(KernelValuePass(centers, KERNELS[kernel], inverse_square(bandwidth), values))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))

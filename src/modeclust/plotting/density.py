"""Histograms of one feature, and kernel densities of the clusters on a line or a plane."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.reading import Doubles
from modeclust.kernels import KERNELS

Bandwidth = float | Doubles  # of all clusters, or of each

# Integral of G(u^2) over u.
AREAS = {
    "gaussian": np.sqrt(2 * np.pi),
    "epanechnikov": 4 / 3,
    "biweight": 16 / 15,
    "cauchy": np.pi,
}
# With more than MAX_ROWS rows, densities are computed from a random sample of about MAX_ROWS rows,
# with at least MIN_CLUSTER_ROWS from each cluster.
MAX_ROWS, MIN_CLUSTER_ROWS = 10_000, 1_000

GRID_SIZE = 120  # points along each side of a plane
BLOCK_ROWS = 2**13  # rows whose kernel values are held in memory at a time

# Share of the rows that a histogram leaves out on each side, where the tails are long.
TAIL_SHARE = 0.005
MIN_BINS, MAX_BINS = 30, 120


def histogram_limits(values: npt.NDArray[Any], centers: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the limits of an axis that shows all `centers`, and all values except long tails."""
    low, high = float(values.min()), float(values.max())
    inner_low, inner_high = np.quantile(values, [TAIL_SHARE, 1 - TAIL_SHARE])
    if high - low > 2 * (inner_high - inner_low) > 0:
        low, high = float(inner_low), float(inner_high)
    low, high = min(low, float(centers.min())), max(high, float(centers.max()))
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def histogram_edges(values: npt.NDArray[Any], low: float, high: float) -> Doubles:
    """Return the edges of bins of equal width; integer values lie in the middle of a bin."""
    n_bins = np.clip(2 * np.sqrt(len(values)), MIN_BINS, MAX_BINS)
    width = (high - low) / n_bins
    if np.array_equal(values, np.round(values)) and np.abs(values).max() < 2**40:
        width = max(np.ceil(width), 1.0)
        low = np.floor(low) - 0.5
    return np.asarray(low + width * np.arange(np.ceil((high - low) / width) + 1))


class ClusterDensity(NamedTuple):
    """Kernel density of each cluster, for rows of one or two features.

    The density of a cluster at x is the sum of q G(|x - x_n|^2 / (bandwidth s)^2) over its rows
    x_n, divided by the sum of all weights. The mode of the cluster maximises it. A bandwidth is
    one number, or one for each cluster.
    """

    X: Doubles  # (N, D)
    weight: Doubles  # (N,), q
    scale: Doubles  # (N,), s
    kernel: str

    @classmethod
    def of(cls, X: Any, kernel: str, weight: Any = None, scale: Any = None) -> "ClusterDensity":
        """Return the density of rows `X`; weights and local scales are 1 by default."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        ones = np.ones(len(rows))
        weight, scale = (ones if c is None else np.asarray(c, np.float64) for c in (weight, scale))
        return cls(rows, weight, scale, kernel)

    def evaluate(
        self, points: Doubles, labels: npt.ArrayLike, n_clusters: int, bandwidth: Bandwidth
    ) -> Doubles:
        """Return the density of each cluster at each point, of shape (n_clusters, n_points)."""
        labels = np.asarray(labels)
        bandwidths = np.broadcast_to(bandwidth, n_clusters)
        points = np.ascontiguousarray(points, dtype=np.float64)
        values = np.zeros((n_clusters, len(points)))
        rng = np.random.default_rng(0)
        for k in range(n_clusters):
            own = np.flatnonzero(labels == k)
            weight_factor = 1.0
            size = max(MAX_ROWS * len(own) // len(labels), MIN_CLUSTER_ROWS)
            if len(labels) > MAX_ROWS and len(own) > size:
                weight_factor = len(own) / size
                own = np.sort(rng.choice(own, size, replace=False))
            rows = _core.Rows(
                self.X[own] / bandwidths[k],
                weight=weight_factor * self.weight[own],
                precision=self.scale[own] ** -2.0,
            )
            sums = _core.DensityRows(rows).shift_sums(
                points / bandwidths[k], kernel=KERNELS[self.kernel], inverse_squared_bandwidth=1.0
            )
            values[k] = sums.density
        return np.asarray(values / self.weight.sum())

    def on_plane(
        self, labels: npt.ArrayLike, centers: Doubles, bandwidth: Bandwidth
    ) -> tuple[list[Doubles], Doubles]:
        """Return the coordinates of a grid along both axes, and the density of each cluster on it.

        The grid covers the rows and the `centers`, of shape (..., n_clusters, 2). The densities
        have shape (n_clusters, n_y, n_x).
        """
        extremes = np.vstack([self.X.min(axis=0), self.X.max(axis=0), *centers.reshape(-1, 2)])
        low, high = extremes.min(axis=0), extremes.max(axis=0)
        # Where all rows are equal, wide enough not to vanish by rounding.
        alone = np.maximum(2 * np.max(bandwidth), 1e-9 * np.abs(low))
        margin = np.where(high > low, 0.06 * (high - low), alone)
        x, y = np.linspace(low - margin, high + margin, GRID_SIZE).T
        n_clusters = centers.shape[-2]
        if self.kernel == "gaussian":
            return [x, y], self._gaussian_on_grid(x, y, labels, n_clusters, bandwidth)
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        values = self.evaluate(points, labels, n_clusters, bandwidth)
        return [x, y], values.reshape(n_clusters, GRID_SIZE, GRID_SIZE)

    def _gaussian_on_grid(
        self, x: Doubles, y: Doubles, labels: npt.ArrayLike, n_clusters: int, bandwidth: Bandwidth
    ) -> Doubles:
        """Return densities on a grid by matrix products, since exp(-a - b) = exp(-a) exp(-b)."""
        labels = np.asarray(labels)
        bandwidths = np.broadcast_to(bandwidth, n_clusters)
        values = np.zeros((n_clusters, len(y), len(x)))
        for k in range(n_clusters):
            own = np.flatnonzero(labels == k)
            for rows in np.split(own, range(BLOCK_ROWS, len(own), BLOCK_ROWS)):
                widths = bandwidths[k] * self.scale[rows]
                x_values = np.exp(-0.5 * ((x[:, None] - self.X[rows, 0]) / widths) ** 2)
                y_values = np.exp(-0.5 * ((y[:, None] - self.X[rows, 1]) / widths) ** 2)
                values[k] += (self.weight[rows] * y_values) @ x_values.T
        return np.asarray(values / self.weight.sum())

    def on_line(
        self, labels: npt.ArrayLike, centers: Doubles, bandwidth: Bandwidth
    ) -> tuple[list[Doubles], Doubles]:
        """Return coordinates, with the `centers` among them, and the density of each cluster.

        The area under the density of a cluster is the weight of the cluster.
        """
        low, high = histogram_limits(self.X[:, 0], centers)
        n_points = int(np.clip(6 * (high - low) / np.min(bandwidth), 500, 5_000))
        x = np.union1d(np.linspace(low, high, n_points), centers)
        return [x], self.with_area_of_weights(x, labels, centers.shape[-2], bandwidth)

    def with_area_of_weights(
        self, x: Doubles, labels: npt.ArrayLike, n_clusters: int, bandwidth: Bandwidth
    ) -> Doubles:
        """Return the density of each cluster at `x`, scaled so that its area is its weight."""
        values = self.evaluate(x[:, None], labels, n_clusters, bandwidth)
        row_areas = AREAS[self.kernel] * self.weight * self.scale
        areas = bandwidth * np.bincount(labels, row_areas, n_clusters) / self.weight.sum()
        weights = np.bincount(labels, self.weight, n_clusters)
        return np.asarray(values * (weights / np.where(areas > 0, areas, 1))[:, None])

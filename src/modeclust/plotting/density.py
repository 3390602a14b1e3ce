"""The kernel density of each cluster, at places to be drawn."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.kernels import KERNELS
from modeclust.plotting.histogram import limits

Doubles = npt.NDArray[np.float64]

# The integral of G(u^2) over u.
AREAS = {
    "gaussian": np.sqrt(2 * np.pi),
    "epanechnikov": 4 / 3,
    "biweight": 16 / 15,
    "cauchy": np.pi,
}
# Of more rows than this, densities are drawn from a random sample: of each cluster its share of
# so many, and no fewer than the second number.
MOST_ROWS, FEWEST_ROWS = 10_000, 1_000

GRID = 120  # places along each side of a plane
BLOCK = 2**13  # rows whose kernels are held at a time


class Ground(NamedTuple):
    """Rows of few features, with weights and local scales, whose density is drawn."""

    X: Doubles  # (N, D)
    weight: Doubles  # (N,)
    scale: Doubles  # (N,)
    kernel: str

    @classmethod
    def of(cls, X: Any, kernel: str, weight: Any = None, scale: Any = None) -> "Ground":
        """Return rows with their weights and scales, 1 where none are given."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        ones = np.ones(len(rows))
        return cls(
            rows,
            ones if weight is None else np.asarray(weight, dtype=np.float64),
            ones if scale is None else np.asarray(scale, dtype=np.float64),
            kernel,
        )

    def on_plane(
        self, labels: npt.ArrayLike, centers: Doubles, bandwidth: float
    ) -> tuple[list[Doubles], Doubles]:
        """Return coordinates along both axes, and the density of each cluster on their grid.

        The grid holds the rows and the `centers`, of shape (..., n_clusters, 2). The densities
        have shape (n_clusters, n_y, n_x).
        """
        ends = np.vstack([self.X.min(axis=0), self.X.max(axis=0), *centers.reshape(-1, 2)])
        low, high = ends.min(axis=0), ends.max(axis=0)
        margin = np.where(high > low, 0.06 * (high - low), 2 * bandwidth)
        x, y = np.linspace(low - margin, high + margin, GRID).T
        n_clusters = centers.shape[-2]
        if self.kernel == "gaussian":
            return [x, y], self._gaussian_grid(x, y, labels, n_clusters, bandwidth)
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        values = self.densities(places, labels, n_clusters, bandwidth)
        return [x, y], values.reshape(n_clusters, GRID, GRID)

    def _gaussian_grid(
        self, x: Doubles, y: Doubles, labels: npt.ArrayLike, n_clusters: int, bandwidth: float
    ) -> Doubles:
        """Return densities on a grid as products of matrices: exp(-a - b) = exp(-a) exp(-b)."""
        labels = np.asarray(labels)
        values = np.zeros((n_clusters, len(y), len(x)))
        for k in range(n_clusters):
            own = np.flatnonzero(labels == k)
            for first in range(0, len(own), BLOCK):
                rows = own[first : first + BLOCK]
                width = bandwidth * self.scale[rows]
                across = np.exp(-0.5 * ((x[:, None] - self.X[rows, 0]) / width) ** 2)
                along = np.exp(-0.5 * ((y[:, None] - self.X[rows, 1]) / width) ** 2)
                values[k] += (self.weight[rows] * along) @ across.T
        total: Doubles = values / self.weight.sum()
        return total

    def on_line(
        self, labels: npt.ArrayLike, centers: Doubles, bandwidth: float
    ) -> tuple[list[Doubles], Doubles]:
        """Return coordinates, the `centers` among them, and the density of each cluster there.

        The area below each is the weight of the cluster.
        """
        low, high = limits(self.X[:, 0], centers)
        n_places = int(np.clip(6 * (high - low) / bandwidth, 500, 5_000))
        x = np.union1d(np.linspace(low, high, n_places), centers)
        return [x], self.weights_along(x, labels, centers.shape[-2], bandwidth)

    def weights_along(
        self, x: Doubles, labels: npt.ArrayLike, n_clusters: int, bandwidth: float
    ) -> Doubles:
        """Return the density of each cluster along a line, with its weight as the area below."""
        values = self.densities(x[:, None], labels, n_clusters, bandwidth)
        widths = bandwidth * AREAS[self.kernel] * self.weight * self.scale
        areas = np.bincount(labels, widths, n_clusters) / self.weight.sum()
        weights = np.bincount(labels, self.weight, n_clusters)
        scaled: Doubles = values * (weights / np.where(areas > 0, areas, 1))[:, None]
        return scaled

    def densities(
        self, places: Doubles, labels: npt.ArrayLike, n_clusters: int, bandwidth: float
    ) -> Doubles:
        """Return the density of each cluster at each place, of shape (n_clusters, n_places).

        It is the sum of q G(|x - x_n|^2 / (bandwidth s)^2) over the rows of the cluster, over the
        sum of all weights: what the mode of the cluster maximises.
        """
        labels = np.asarray(labels)
        places = np.ascontiguousarray(places, dtype=np.float64)
        values = np.zeros((n_clusters, len(places)))
        rng = np.random.default_rng(0)
        for k in range(n_clusters):
            own = np.flatnonzero(labels == k)
            share = 1.0
            size = max(MOST_ROWS * len(own) // len(labels), FEWEST_ROWS)
            if len(labels) > MOST_ROWS and len(own) > size:
                share = len(own) / size
                own = np.sort(rng.choice(own, size, replace=False))
            rows = _core.Rows(
                self.X[own] / bandwidth,
                weight=share * self.weight[own],
                precision=self.scale[own] ** -2.0,
            )
            sums = _core.DensityRows(rows).shift_sums(
                places / bandwidth, kernel=KERNELS[self.kernel], inverse_squared_bandwidth=1.0
            )
            values[k] = sums.density
        total: Doubles = values / self.weight.sum()
        return total

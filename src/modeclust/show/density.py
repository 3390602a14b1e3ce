"""The kernel density of each cluster, at places to be drawn."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.compiled import compiled
from modeclust.kernels import KERNELS, profile

Doubles = npt.NDArray[np.float64]

# The integral of G(u^2) over u.
AREAS = {
    "gaussian": np.sqrt(2 * np.pi),
    "epanechnikov": 4 / 3,
    "biweight": 16 / 15,
    "cauchy": np.pi,
}
# Beyond this many rows a cluster's density is drawn from a random sample of them.
MOST_ROWS = 20_000


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
            if len(own) > MOST_ROWS:
                share = len(own) / MOST_ROWS
                own = np.sort(rng.choice(own, MOST_ROWS, replace=False))
            _add_density(
                self.X[own],
                share * self.weight[own],
                1.0 / (bandwidth * self.scale[own]) ** 2,
                KERNELS[self.kernel],
                places,
                values[k],
            )
        total: Doubles = values / self.weight.sum()
        return total

    def counts(
        self,
        places: Doubles,
        labels: npt.ArrayLike,
        n_clusters: int,
        bandwidth: float,
        width: float,
    ) -> Doubles:
        """Return densities of one feature as the number of rows in bins of a width.

        The area under all of them is that of a histogram of the rows with such bins.
        """
        area = AREAS[self.kernel] * bandwidth * np.average(self.scale, weights=self.weight)
        densities = self.densities(places[:, None], labels, n_clusters, bandwidth)
        counts: Doubles = densities * (len(self.X) * width / area)
        return counts


@compiled
def _add_density(
    X: Doubles,  # IN
    weight: Doubles,
    inverse_square: Doubles,
    kernel: int,
    places: Doubles,
    values: Doubles,  # OUT
) -> None:
    for i in range(len(places)):
        total = 0.0
        for n in range(len(X)):
            t = 0.0
            for d in range(X.shape[1]):
                away = places[i, d] - X[n, d]
                t += away * away
            total += weight[n] * profile(kernel, t * inverse_square[n])
        values[i] += total

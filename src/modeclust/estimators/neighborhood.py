"""The rows of a fit, among which new rows find their neighbours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from modeclust.data.rescaling import Rescaling
from modeclust.solvers.graph import log_affinities
from modeclust.solvers.neighbors import distances_to_neighbors, nearest_rows
from modeclust.validation import Doubles


@dataclass(frozen=True)
class Neighborhood:
    """Known rows, and how strongly a new one is joined to those nearest to it."""

    X: Any
    n_neighbors: int
    scale: float | Doubles | None  # s of all rows, or of each; None where all affinities are 1

    def affinities(
        self, X: Any, rescaling: Rescaling, n_jobs: int | None
    ) -> tuple[sparse.csr_array, Doubles]:
        """Return affinities of new rows to known ones, both in `units`, and their sums' logarithms.

        The affinities of a row are over their sum, which may vanish far from all known rows.
        """
        n_known = self.X.shape[0]
        k = min(self.n_neighbors, n_known)
        known = rescaling.to_internal(self.X)
        _, neighbors = nearest_rows(known, [X], k, n_jobs)
        with np.errstate(over="ignore"):
            distances = distances_to_neighbors(X, known, neighbors)
        own: Any = None
        others: Any = None
        if isinstance(self.scale, np.ndarray):
            own, others = distances.max(axis=1)[:, None], self.scale[neighbors] / rescaling.scale
        elif self.scale is not None:
            own = others = self.scale / rescaling.scale
        logs = log_affinities(distances, own, others)
        sums = logsumexp(logs, axis=1)
        weights = np.exp(logs - sums[:, None])
        ends = np.arange(0, weights.size + 1, k)
        shape = (len(weights), n_known)
        return sparse.csr_array((weights.ravel(), neighbors.ravel(), ends), shape=shape), sums

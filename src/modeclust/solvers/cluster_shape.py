"""Clusters that touch, by their shape.

Where two clusters overlap, there is no gap between them. But others that stand alone show what one
cluster looks like, and together the two are wider. So the rows are explained by a mixture of normal
clusters that are round and of one width, as many as have the least BIC. It counts only if at least
one of them stands alone, and if the rows fit: no cluster has a covariance of its own.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2

from modeclust import _core
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles
from modeclust.data.sample import Sample
from modeclust.solvers.density_peaks import Labels
from modeclust.solvers.kmeans import draw_seeds, mean_variance, solve_kmeans
from modeclust.solvers.kmodes import Centers

# In more dimensions, there are too few rows for a covariance.
MOST_FEATURES = 5
# The mixture starts with this many clusters for each one with a gap around it, but with no more
# than one for this many rows.
CLUSTERS_PER_GAP, ROWS_PER_CLUSTER = 3, 10
# Rows fit unless the test of covariances has a smaller p-value. With few rows for each cluster, the
# test makes it too small.
LEAST_P = 1e-5
# Steps of expectation-maximization for each number of clusters, and at the end; it ends before if a
# step adds less than this to the log-likelihood per row.
N_STEPS, N_LAST_STEPS = 100, 500
TOLERANCE, LAST_TOLERANCE = 1e-4, 1e-8


def count_by_shape(
    sample: Sample,
    labels: Labels,
    max_clusters: int,
    rng: np.random.RandomState,
    n_threads: int = 1,
) -> Centers | None:
    """Return the centers of all clusters if some touch; None if the rows do not look like that.

    `labels` are of clusters that have gaps between them, and may be several that touch.
    """
    n_apart = int(labels.max()) + 1
    n_rows, n_features = sample.weight.sum(), sample.X.shape[1]
    most = min(CLUSTERS_PER_GAP * n_apart, max_clusters, int(n_rows / ROWS_PER_CLUSTER))
    if n_features > MOST_FEATURES or not 1 < n_apart < most:
        return None
    rows = MixedRows(sample, most, n_threads)
    mixture = rows.best_mixture(next(draw_seeds(sample, most, "k-means++", rng, n_threads)))
    if mixture is None or len(mixture.centers) <= n_apart:
        return None
    fits = rows.p_value(mixture) >= LEAST_P and rows.any_alone(mixture, labels)
    return mixture.centers if fits else None


class Mixture(NamedTuple):
    """Normal clusters that are round and of one width."""

    centers: Centers
    shares: Doubles  # of the rows
    variance: float  # in each direction

    def merged(self) -> "Mixture":
        """Return a mixture in which the pair that adds least to the variance is one cluster."""
        centers, shares = self.centers.copy(), self.shares.copy()
        added = np.square(centers[:, None] - centers).sum(axis=2)
        added *= shares[:, None] * shares / (shares[:, None] + shares)
        np.fill_diagonal(added, np.inf)
        i, j = np.unravel_index(added.argmin(), added.shape)
        centers[i] = np.average(centers[[i, j]], axis=0, weights=shares[[i, j]])
        shares[i] += shares[j]
        return Mixture(np.delete(centers, j, axis=0), np.delete(shares, j), self.variance)


class MixedRows:
    """Rows that are explained by mixtures."""

    def __init__(self, sample: Sample, n_clusters: int, n_threads: int) -> None:
        self.weight = sample.weight
        self.n_rows = sample.weight.sum()
        self.X = sample.dense()
        self.n_features = self.X.shape[1]
        self._dataset = MemoryDataset(
            self.X, weight=sample.weight, n_clusters=n_clusters, n_threads=n_threads
        )
        self._variance = mean_variance(self._dataset)

    def best_mixture(self, seeds: Centers) -> Mixture | None:
        """Return the mixture of the least BIC, from this many clusters down to one."""
        start = solve_kmeans(self._dataset, seeds, max_iter=100, tolerance=1e-4 * self._variance)
        n_clusters = len(start.centers)
        squares = self._squares(start.centers).min(axis=1)
        variance = self.weight @ squares / (self.n_rows * self.n_features)
        mixture = Mixture(start.centers, np.full(n_clusters, 1 / n_clusters), variance)
        best, least = None, np.inf
        while True:
            if not mixture.variance > 1e-12 * self._variance:
                return None
            mixture, likelihood = self._fit(mixture, N_STEPS, TOLERANCE)
            n_parameters = len(mixture.centers) * (self.n_features + 1)
            bic = n_parameters * np.log(self.n_rows) - 2 * likelihood
            if bic < least:
                best, least = mixture, bic
            if len(mixture.centers) == 1:
                return best and self._fit(best, N_LAST_STEPS, LAST_TOLERANCE)[0]
            mixture = mixture.merged()

    def p_value(self, mixture: Mixture) -> float:
        """Return the p-value of the test that no cluster has a covariance of its own.

        It is the score test: the derivatives of the log-likelihood of the rows by the parameters
        and by the covariances must have a mean of 0, up to chance.
        """
        joint = self._log_joint(mixture)
        shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))[:, :, None]
        z = (self.X[:, None] - mixture.centers) / np.sqrt(mixture.variance)
        i, j = np.triu_indices(self.n_features)
        by_share = shares / mixture.shares[:, None] - 1
        by_covariance = shares * (z[:, :, i] * z[:, :, j] - (i == j))
        scores = np.concatenate([by_share, shares * z, by_covariance], axis=2)
        scores = scores.reshape(len(self.X), -1)
        total = self.weight @ scores
        covariance = (self.weight[:, None] * scores).T @ scores
        statistic = total @ np.linalg.lstsq(covariance, total, rcond=1e-10)[0]
        return float(chi2.sf(statistic, by_covariance[0].size - 1))

    def any_alone(self, mixture: Mixture, labels: Labels) -> bool:
        """Return whether one of these clusters is a single cluster of the mixture."""
        nearest = self._log_joint(mixture).argmax(axis=1)
        shared = np.zeros((len(mixture.centers), labels.max() + 1))
        np.add.at(shared, (nearest, labels), self.weight)
        return bool(np.any(np.bincount(shared.argmax(axis=1)) == 1))

    def _squares(self, centers: Centers) -> Doubles:
        squares = np.empty((len(self.X), len(centers)))
        _core.distances(self._dataset.rows, centers, squares)
        return np.square(squares, out=squares)

    def _log_joint(self, mixture: Mixture) -> Doubles:
        return np.log(mixture.shares) - self._squares(mixture.centers) / (2 * mixture.variance)

    def _fit(self, mixture: Mixture, n_steps: int, tolerance: float) -> tuple[Mixture, float]:
        """Return the mixture after expectation-maximization, and the log-likelihood before it."""
        last = -np.inf
        for _ in range(n_steps):
            centers, shares, variance = mixture
            squares = self._squares(centers)
            joint = np.log(shares) - squares / (2 * variance)
            highest = joint.max(axis=1, keepdims=True)
            parts = np.exp(joint - highest)
            total = parts.sum(axis=1, keepdims=True)
            likelihood = self.weight @ (highest + np.log(total))[:, 0]
            likelihood -= 0.5 * self.n_rows * self.n_features * np.log(2 * np.pi * variance)
            if likelihood - last < tolerance * self.n_rows:
                break
            last = likelihood
            parts *= self.weight[:, None] / total
            counts = np.maximum(parts.sum(axis=0), 1e-300)
            moved = np.einsum("nk,nd->kd", parts, self.X) / counts[:, None]
            spread = np.vdot(parts, squares) - counts @ np.square(moved - centers).sum(axis=1)
            mixture = Mixture(moved, counts / self.n_rows, spread / (self.n_rows * self.n_features))
            if not mixture.variance > 0:
                break
        return mixture, last

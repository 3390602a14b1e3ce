"""A dataset that reads a table of SQLite; one block is in memory at a time."""

from itertools import islice

import numpy as np
from modeclust.data.blocks import Block, BlockState, block_edges, rows_per_block
from sklearn.utils.random import sample_without_replacement

from modeclust.algorithms.homotopy import follow, restart_kmeans
from modeclust.algorithms.seeding import distinct_rows, draw_seeds
from modeclust.data.memory import negligible_excess
from modeclust.data.sample import Sample
from modeclust.kernels import KERNELS

ONES = np.empty(0)  # an empty array of weights or scales stands for 1


class TableDataset:
    """The rows of a table whose rowids count from 1."""

    dtype = np.dtype(np.float64)
    is_sparse = False
    weight = ONES

    def __init__(self, connection, table, columns, *, n_clusters):
        self._connection = connection
        self._query = f"SELECT {', '.join(columns)} FROM {table} WHERE rowid"
        (self.n_rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        self.n_features = len(columns)
        self._precision = ONES  # 1 / s^2 of each row
        self._labels = np.full(self.n_rows, -1, dtype=np.int32)
        size = rows_per_block(self.n_rows, self.n_features, n_clusters)
        self._states = {  # labels and bounds of each block
            (first, last): BlockState.of(self._labels[first:last])
            for first, last in block_edges(self.n_rows, size)
        }

    def _read(self, first, last):
        found = self._connection.execute(f"{self._query} > ? AND rowid <= ?", (first, last))
        return np.array(found.fetchall(), dtype=np.float64)

    @property
    def total_weight(self):
        """The sum of the weights."""
        return float(self.n_rows)

    def set_relative_scale(self, scale):
        """Set the local scales, divided by their mean, and return that mean."""
        mean = float(scale.mean())
        self._precision = (scale / mean) ** -2.0
        return mean

    def run(self, pass_):
        """Run a pass over all rows."""
        total = None
        negligible = negligible_excess(ONES, self._precision)
        for (first, last), state in self._states.items():
            partial_sums = pass_.start()
            X, precision = self._read(first, last), self._precision[first:last]
            pass_.add(Block(first, X, ONES, precision, state, negligible), partial_sums)
            if total is None:
                total = partial_sums
            else:
                total.merge(partial_sums)
        return total

    def labels(self):
        """Return each row's label."""
        return self._labels.copy()

    def labels_at(self, indices):
        """Return the labels of some rows."""
        return self._labels[indices]

    def take(self, indices):
        """Return some rows."""
        rows = [self._read(i, i + 1)[0] for i in indices.tolist()]
        return Sample(np.array(rows), np.ones(len(rows)))

    def sample(self, n_rows, rng):
        """Return rows drawn at random, or all if there are fewer."""
        drawn = sample_without_replacement(self.n_rows, min(n_rows, self.n_rows), random_state=rng)
        return self.take(np.sort(drawn))

    def distinct(self):
        """Return one row for each distinct row."""
        parts = [self._of_block(*edges).distinct() for edges in self._states]
        return Sample(*map(np.concatenate, zip(*parts, strict=True))).distinct()

    def _of_block(self, first, last):
        return Sample(self._read(first, last), np.ones(last - first))


def cluster(dataset, n_clusters, bandwidths):
    """Return K-means and the modes at each bandwidth; the same for any dataset."""
    rng = np.random.RandomState(0)
    seeds = draw_seeds(distinct_rows(dataset, n_clusters, rng), n_clusters, "k-means++", rng)
    runs = restart_kmeans(dataset, islice(seeds, 3), max_iter=300, tol=1e-4)
    means = min(runs, key=lambda run: run.inertia)
    options = {"path_iter": 10, "max_iter": 300, "mean_shift_iter": 1, "tol": 1e-4}
    kernel = KERNELS["gaussian"]
    return [means, *follow(dataset, means.centroids, bandwidths, kernel=kernel, **options)]

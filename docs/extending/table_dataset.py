"""A home for the rows of a table in SQLite, of which one block is in memory at a time."""

from itertools import islice

import numpy as np
from sklearn.utils.random import sample_without_replacement

from modeclust.algorithms.homotopy import follow, restart_kmeans
from modeclust.algorithms.seeding import distinct_rows, draw_seeds
from modeclust.data.blocks import Block, BlockState, block_edges, rows_per_block
from modeclust.data.sample import Sample
from modeclust.kernels import KERNELS

ONES = np.empty(0)  # no weights and no scales stand for 1


class TableRows:
    """The rows of a table whose rowids count from 1."""

    def __init__(self, connection, table, columns, *, n_clusters):
        self._connection = connection
        self._query = f"SELECT {', '.join(columns)} FROM {table} WHERE rowid"
        (self.n_rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        self.n_features = len(columns)
        self._labels = np.full(self.n_rows, -1, dtype=np.int32)
        size = rows_per_block(self.n_rows, self.n_features, n_clusters)
        self._states = {  # what passes remember of each block
            (first, last): BlockState.of(self._labels[first:last])
            for first, last in block_edges(self.n_rows, size)
        }

    def _read(self, first, last):
        found = self._connection.execute(f"{self._query} > ? AND rowid <= ?", (first, last))
        return np.array(found.fetchall(), dtype=np.float64)

    def reduce(self, step):
        """Do one pass over the rows."""
        total = None
        for (first, last), state in self._states.items():
            partials = step.start()
            step.add(Block(first, self._read(first, last), ONES, ONES, state), partials)
            if total is None:
                total = partials
            else:
                total.merge(partials)
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


def cluster(rows, n_clusters, bandwidths):
    """Return K-means and the modes at each bandwidth; in any home of rows the same."""
    rng = np.random.RandomState(0)
    seeds = draw_seeds(distinct_rows(rows, n_clusters, rng), n_clusters, "k-means++", rng)
    runs = restart_kmeans(rows, islice(seeds, 3), max_iter=300, tol=1e-4)
    means = min(runs, key=lambda run: run.inertia)
    options = {"path_iter": 10, "max_iter": 300, "mean_shift_iter": 1, "tol": 1e-4}
    kernel = KERNELS["gaussian"]
    return [means, *follow(rows, means.centroids, bandwidths, kernel=kernel, **options)]

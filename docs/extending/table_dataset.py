"""A dataset that reads a SQLite table, with one chunk of rows in memory at a time."""

from itertools import islice

import numpy as np
from sklearn.utils.random import sample_without_replacement

from modeclust.data.memory import MemoryDataset
from modeclust.data.sample import Sample
from modeclust.kernels import GAUSSIAN
from modeclust.solvers.kmeans import distinct_rows, draw_seeds, restart_kmeans
from modeclust.solvers.kmodes import follow_path
from modeclust.solvers.options import SolverOptions


class TableDataset:
    """The rows of a table whose rowids are 1, 2, ..., n_rows."""

    def __init__(self, connection, table, columns, *, n_clusters, chunk_rows=10_000):
        self._connection = connection
        self._query = f"SELECT {', '.join(columns)} FROM {table} WHERE rowid"
        (self.n_rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        self.n_features = len(columns)
        self._n_clusters = n_clusters
        self._chunk_rows = chunk_rows
        self._scale = None  # the local scales of all rows
        self._kept_labels = {}  # index of the first row of a chunk: the labels of the chunk

    def _read(self, first, last):
        """Return the rows from index `first` to `last - 1`."""
        found = self._connection.execute(f"{self._query} > ? AND rowid <= ?", (first, last))
        return np.array(found.fetchall(), dtype=np.float64)

    def _chunks(self):
        """Yield one chunk after another, with its labels; keep the labels but not the rows."""
        for first in range(0, self.n_rows, self._chunk_rows):
            last = min(first + self._chunk_rows, self.n_rows)
            chunk = MemoryDataset(
                self._read(first, last),
                scale=None if self._scale is None else self._scale[first:last],
                n_clusters=self._n_clusters,
                first_row=first,
            )
            if first in self._kept_labels:
                chunk.rows.attach_labels(self._kept_labels.pop(first))
            yield chunk
            self._kept_labels[first] = chunk.rows.detach_labels()

    def set_relative_scale(self, scale):
        """Set the local scales, divided by their mean; return that mean."""
        mean = float(scale.mean())
        self._scale = scale / mean
        return mean

    def run(self, pass_):
        """Run a pass over all rows, and return its merged result."""
        total, *others = (chunk.run(pass_) for chunk in self._chunks())
        for partial_sums in others:
            total.merge(partial_sums)
        return total

    def labels(self):
        """Return the label of each row by the last pass that assigned labels."""
        return np.concatenate([chunk.labels() for chunk in self._chunks()])

    def labels_at(self, indices):
        """Return the labels of the rows at `indices`."""
        return self.labels()[indices]

    def take(self, indices):
        """Return the rows at `indices` with their weights."""
        rows = [self._read(i, i + 1)[0] for i in indices.tolist()]
        return Sample(np.array(rows), np.ones(len(rows)))

    def sample(self, n_rows, rng):
        """Return `n_rows` rows, drawn without replacement, or all if there are fewer."""
        drawn = sample_without_replacement(self.n_rows, min(n_rows, self.n_rows), random_state=rng)
        return self.take(np.sort(drawn))

    def distinct(self):
        """Return each distinct row once, with the number of its copies as its weight."""
        parts = [chunk.distinct() for chunk in self._chunks()]
        X = np.concatenate([part.X for part in parts])
        return Sample(X, np.concatenate([part.weight for part in parts])).distinct()


def cluster(dataset, n_clusters, bandwidths):
    """Return the result of K-means, then the modes at each bandwidth."""
    rng = np.random.RandomState(0)
    seeds = draw_seeds(distinct_rows(dataset, n_clusters, rng), n_clusters, "k-means++", rng)
    options = SolverOptions(GAUSSIAN)
    runs = restart_kmeans(dataset, islice(seeds, 3), max_iter=options.max_iter, tol=options.tol)
    means = min(runs, key=lambda run: run.inertia)
    return [means, *follow_path(dataset, means.centers, bandwidths, options)]

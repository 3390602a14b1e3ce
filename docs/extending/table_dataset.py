"""A dataset that reads a table of SQLite; one chunk of rows is in memory at a time."""

from itertools import islice

import numpy as np
from sklearn.utils.random import sample_without_replacement

from modeclust.data.dataset import pass_assigns
from modeclust.data.mean_pass import MeanPass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.sample import Sample
from modeclust.kernels import GAUSSIAN
from modeclust.solvers.kmeans import distinct_rows, draw_seeds, restart_kmeans
from modeclust.solvers.kmodes import follow_path
from modeclust.solvers.options import SolverOptions


class TableDataset:
    """The rows of a table whose rowids count from 1."""

    dtype = np.dtype(np.float64)
    is_sparse = False
    location = "a table of SQLite"
    stores_labels = True

    def __init__(self, connection, table, columns, *, n_clusters, chunk_rows=10_000):
        self._connection = connection
        self._query = f"SELECT {', '.join(columns)} FROM {table} WHERE rowid"
        (self.n_rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        self.n_features = len(columns)
        self._n_clusters = n_clusters
        self._chunk_rows = chunk_rows
        self._scale = None  # the local scales
        self._centers = None  # the labels are those of the nearest of these

    def _read(self, first, last):
        found = self._connection.execute(f"{self._query} > ? AND rowid <= ?", (first, last))
        return np.array(found.fetchall(), dtype=np.float64)

    def _chunks(self, restore=None):
        """Yield the rows in chunks, after a pass that gives them their labels again."""
        for first in range(0, self.n_rows, self._chunk_rows):
            last = min(first + self._chunk_rows, self.n_rows)
            chunk = MemoryDataset(
                self._read(first, last),
                scale=None if self._scale is None else self._scale[first:last],
                n_clusters=self._n_clusters,
                first_row=first,
            )
            if restore is not None:
                chunk.run(restore)
            yield chunk

    def _last_assignment(self, for_means=False):
        """Return a pass that assigns the rows as the last one did, or None before the first."""
        if self._centers is None:
            return None
        return MeanPass(self._centers) if for_means else ModePass(self._centers, GAUSSIAN, 0.0)

    @property
    def total_weight(self):
        """The sum of the sample weights."""
        return float(self.n_rows)

    def set_relative_scale(self, scale):
        """Set the local scales, divided by their mean, and return that mean."""
        mean = float(scale.mean())
        self._scale = scale / mean
        return mean

    def run(self, pass_):
        """Run a pass over all rows, and return its merged result."""
        restore = self._last_assignment(for_means=isinstance(pass_, MeanPass))
        total, *others = (chunk.run(pass_) for chunk in self._chunks(restore))
        for partial_sums in others:
            total.merge(partial_sums)
        if pass_assigns(pass_):
            self._centers = pass_.centers.copy()
        return total

    def labels(self):
        """Return the label of each row by the last pass that assigned labels."""
        chunks = self._chunks(self._last_assignment())
        return np.concatenate([chunk.labels() for chunk in chunks])

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
        return Sample(*map(np.concatenate, zip(*parts, strict=True))).distinct()


def cluster(dataset, n_clusters, bandwidths):
    """Return K-means and the modes at each bandwidth; the same for any dataset."""
    rng = np.random.RandomState(0)
    seeds = draw_seeds(distinct_rows(dataset, n_clusters, rng), n_clusters, "k-means++", rng)
    options = SolverOptions(GAUSSIAN)
    runs = restart_kmeans(dataset, islice(seeds, 3), max_iter=options.max_iter, tol=options.tol)
    means = min(runs, key=lambda run: run.inertia)
    return [means, *follow_path(dataset, means.centers, bandwidths, options)]

"""How many clusters there are, by tests of different kinds.

*Peaks* and *dips* look for gaps between clusters, the former in the density, the latter between
clusters of K-means; see `density_peaks` and `cluster_dips`. *Shape* counts clusters that touch,
where they all look like the ones that stand alone; see `cluster_shape`.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from modeclust.cluster_suggestion import MANY_DIMENSIONS, ClusterSuggestion
from modeclust.data.dataset import Dataset
from modeclust.data.mode_pass import to_unit_length
from modeclust.data.sample import Sample
from modeclust.solvers.cluster_dips import SIGNIFICANT_DIP, Dips, count_by_dips
from modeclust.solvers.cluster_shape import count_by_shape
from modeclust.solvers.density_peaks import Labels, Peaks, count_peaks, largest_first
from modeclust.solvers.kmodes import Centers, assign
from modeclust.solvers.neighbors import nearest_rows

# Of more rows than this, the tests see a random sample.
MAX_ROWS = 5_000
# The tests find no clusters of fewer than about ten rows. So if there are fewer different rows than
# this, they can only find one cluster, and the answer is not sure. A single one is one cluster.
FEWEST_ROWS = 20


class Tests(NamedTuple):
    """The rows that the tests have seen, and their results."""

    sample: Sample
    peaks: Peaks
    dips: Dips
    by_shape: Centers | None  # if some touch: the centers of all clusters
    n_threads: int = 1

    @property
    def by_peaks(self) -> bool:
        """Whether the clusters with gaps between them are those by the peaks, not by the dips."""
        return self.peaks.dimension < MANY_DIMENSIONS

    def labels_by_gaps(self) -> Labels:
        """Return the labels of clusters that have gaps between them."""
        if self.by_peaks:
            return self.peaks.labels
        nearest = nearest_rows(self.dips.centers, self.sample.X, 1, self.n_threads)[1]
        return nearest[:, 0].astype(np.int32)

    def suggestion(self, max_clusters: int, labels: Labels | None = None) -> ClusterSuggestion:
        """Return the answer and the evidence for it."""
        peaks, dips = self.peaks, self.dips
        n_by_gaps = peaks.n_clusters if self.by_peaks else dips.n_clusters
        n_by_shape = None if self.by_shape is None else len(self.by_shape)
        found = ClusterSuggestion(
            n_clusters=n_by_shape or n_by_gaps,
            is_sure=False,
            n_by_peaks=peaks.n_clusters,
            n_by_dips=dips.n_clusters,
            labels=labels,
            dimension=peaks.dimension,
            peak_heights=peaks.heights,
            peak_threshold=peaks.threshold,
            dip_counts=dips.counts,
            dips=dips.least_dips,
            dip_threshold=SIGNIFICANT_DIP,
            merged_values=dips.merged_values[0],
            merged_weights=dips.merged_values[1],
            kept_values=dips.kept_values[0],
            kept_weights=dips.kept_values[1],
            max_clusters=max_clusters,
            n_rows=len(self.sample.weight),
            n_by_shape=n_by_shape,
        )
        agree = n_by_shape is None and peaks.n_clusters == dips.n_clusters < max_clusters
        too_few = 1 < found.n_rows < FEWEST_ROWS
        return replace(found, is_sure=not (found.has_other_peaks or too_few) and agree)

    def label(self, dataset: Dataset) -> Labels:
        """Return the label of each row of a dataset, by the test that gave the answer.

        By the peaks, clusters may have any shape, and it is that of the nearest row of the sample.
        Otherwise, it is that of the nearest center.
        """
        if self.by_peaks and self.by_shape is None:
            every = np.arange(dataset.n_rows)
            parts = dataset.read_parts(every)
            found = [nearest_rows(self.sample.X, X, 1, self.n_threads)[1] for X in parts]
            nearest = np.concatenate(found)[:, 0]
            return largest_first(self.peaks.labels[nearest])
        centers = self.dips.centers if self.by_shape is None else self.by_shape
        assign(dataset, to_unit_length(centers, centers) if dataset.unit_length else centers)
        return largest_first(dataset.labels())


def run_tests(
    dataset: Dataset, max_clusters: int, rng: np.random.RandomState, n_threads: int = 1
) -> Tests:
    """Run the tests on the rows of positive weight, or on a sample of them."""
    sample = read_sample(dataset, rng)
    peaks = count_peaks(sample, max_clusters, n_threads)
    dips = count_by_dips(sample, max_clusters, rng, n_threads)
    tests = Tests(sample, peaks, dips, None, n_threads)
    by_shape = count_by_shape(sample, tests.labels_by_gaps(), max_clusters, rng, n_threads)
    return tests._replace(by_shape=by_shape)


def read_sample(dataset: Dataset, rng: np.random.RandomState) -> Sample:
    """Return distinct rows with weights that say how many rows they count as.

    An integer weight is a number of copies. Copies add weight, but no evidence: if every row is
    there twice, no test may be surer. So the sum of all weights becomes (sum w)^2 / sum w^2: the
    number of distinct rows if all have the same weight, and fewer if some have most of it.
    """
    drawn = dataset.sample(MAX_ROWS, rng)
    X, weight, _ = Sample(drawn.X.astype(np.float64), drawn.weight).distinct(in_place=True)
    weight = weight / weight.max()
    return Sample(X, weight * (weight.sum() / np.square(weight).sum()))

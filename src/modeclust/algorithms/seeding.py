"""Where K-means starts: centroids drawn from the rows."""

from collections.abc import Iterator

import numpy as np
from sklearn.cluster import kmeans_plusplus

from modeclust.algorithms.solve import Centers
from modeclust.data.dataset import Dataset
from modeclust.data.sample import Sample

# Seeds are drawn from all rows up to this many, or from this many for each cluster, and
# from a random sample above. K-means then runs on all rows.
ROWS_FOR_SEEDS = 4096
ROWS_FOR_SEEDS_PER_CLUSTER = 50


def distinct_rows(dataset: Dataset, n_clusters: int, rng: np.random.RandomState) -> Sample:
    """Return distinct rows to draw seeds from: at least `n_clusters`, or an error."""
    wanted = max(ROWS_FOR_SEEDS, ROWS_FOR_SEEDS_PER_CLUSTER * n_clusters)
    pool = dataset.sample(wanted, rng).distinct(in_place=True)
    if len(pool.weight) < n_clusters and wanted < dataset.n_rows:
        pool = dataset.distinct()
    if len(pool.weight) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of distinct rows of X with a "
            f"positive weight, {len(pool.weight)}; lower n_clusters."
        )
    return pool


def draw_seeds(
    pool: Sample, n_clusters: int, init: str, rng: np.random.RandomState
) -> Iterator[Centers]:
    """Yield centroids for one restart after another, by "k-means++" or at "random"."""
    while True:
        if init == "random":
            chances = pool.weight / pool.weight.sum()
            chosen = rng.choice(len(chances), n_clusters, replace=False, p=chances)
            seeds = pool.X[chosen]
        else:
            seeds, _ = kmeans_plusplus(
                pool.X, n_clusters, sample_weight=pool.weight, random_state=rng
            )
        yield Sample(seeds, pool.weight).dense()

"""Where K-means starts: centroids drawn from the rows."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.dataset import Dataset
from modeclust.data.memory import thread_count
from modeclust.data.reading import core_rows
from modeclust.data.sample import Sample
from modeclust.solvers.solve import Centers

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
    pool: Sample,
    n_clusters: int,
    init: str,
    rng: np.random.RandomState,
    n_jobs: int | None = None,
) -> Iterator[Centers]:
    """Yield centroids for one restart after another, by "k-means++" or at "random"."""
    chances = pool.weight / pool.weight.sum()
    rows = core_rows(pool.X, n_threads=thread_count(n_jobs))
    while True:
        if init == "random":
            chosen = rng.choice(len(chances), n_clusters, replace=False, p=chances)
        else:
            chosen = _draw_spread(pool, rows, chances, n_clusters, rng)
        yield pool.take(chosen).dense()


def _draw_spread(
    pool: Sample,
    rows: _core.Rows,
    chances: npt.NDArray[np.float64],
    n_clusters: int,
    rng: np.random.RandomState,
) -> npt.NDArray[np.int64]:
    """Draw rows far from each other: greedy k-means++ (Arthur & Vassilvitskii, 2007).

    The first is drawn by weight. Each of the others is the best of a few candidates, which are
    drawn by weight times squared distance to the rows chosen so far: that which lowers the sum of
    these most. Random numbers are used as in scikit-learn, so that it draws the same rows.
    """
    n_candidates = 2 + int(np.log(n_clusters))
    chosen = np.empty(n_clusters, dtype=np.int64)
    chosen[0] = rng.choice(len(chances), p=chances)
    nearest = _squared_distances(pool, rows, chosen[:1])[:, 0]
    for k in range(1, n_clusters):
        total = np.cumsum(chances * nearest)
        drawn = np.searchsorted(total, rng.uniform(size=n_candidates) * total[-1])
        candidates = np.minimum(drawn, len(total) - 1)
        squared = _squared_distances(pool, rows, candidates)
        np.minimum(squared, nearest[:, None], out=squared)
        # Not a product of BLAS: its threads spin on, and take the cores from the passes to come.
        best = np.argmin(np.einsum("n,nk->k", chances, squared))
        chosen[k] = candidates[best]
        nearest = squared[:, best]
    return chosen


def _squared_distances(
    pool: Sample, rows: _core.Rows, chosen: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the squared distances of all rows to some of them."""
    distances = np.empty((len(pool.weight), len(chosen)))
    _core.distances(rows, pool.take(chosen).dense(), distances)
    return np.square(distances, out=distances)

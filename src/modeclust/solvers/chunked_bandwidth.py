"""The bandwidth rules over rows in chunks: the same rules, from the same sampled rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from modeclust.data.dask.chunk import Chunk
from modeclust.data.dask.chunks import Column, computed, merged, on_workers, persisted, sent
from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.sample import Sample
from modeclust.solvers.bandwidth import (
    LIKELIHOOD_ROWS,
    N_SAMPLES,
    SAME,
    bandwidth_of_distinct,
    choose_bandwidth,
    likelihood_bandwidth,
    normal_bandwidth,
    pool_distances,
)
from modeclust.solvers.neighbors import distances_to_neighbors, nearest_rows

Doubles = npt.NDArray[np.float64]


def choose_chunked_bandwidth(
    dataset: DaskDataset,
    rule: str | float,
    *,
    local: bool,
    n_neighbors: int = 10,
    n_samples: int = N_SAMPLES,
    random_state: Any = None,
) -> tuple[float, Column | None]:
    """Return the bandwidth by a rule, or as given, and the local scales if wanted."""
    rng = check_random_state(random_state)
    if dataset.n_rows <= n_samples and (isinstance(rule, str) or local):
        every = dataset.gather()
        bandwidth, scales = choose_bandwidth(
            every.X,
            None if dataset.weight is None else every.weight,
            rule,
            local=local,
            n_neighbors=n_neighbors,
            n_samples=n_samples,
            random_state=rng,
            n_jobs=1,
        )
        return bandwidth, None if scales is None else Column.of(dataset.split(scales))
    column = _local_scales(dataset, n_neighbors, n_samples, rng) if local else None
    bandwidth = (
        _global(dataset, rule, n_neighbors, n_samples, rng) if isinstance(rule, str) else rule
    )
    return bandwidth, column


def _global(
    dataset: DaskDataset, rule: str, n_neighbors: int, n_samples: int, rng: np.random.RandomState
) -> float:
    if rule == "knn":
        bandwidth = _mean_distance(dataset, dataset.sample(n_samples, rng), n_neighbors)
    elif rule == "likelihood":
        n_present = (
            dataset.n_rows if dataset.weight is None else int(dataset.weight.n_positive.sum())
        )
        sample = dataset.sample(min(n_samples, LIKELIHOOD_ROWS), rng)
        bandwidth = likelihood_bandwidth(sample, n_present)
    else:
        bandwidth = normal_bandwidth(dataset, dataset.n_counted, rule)
    if bandwidth > 0:
        return bandwidth
    return bandwidth_of_distinct(
        dataset.distinct(), n_neighbors=n_neighbors, n_samples=n_samples, rng=rng, n_jobs=1
    )


@dataclass
class Nearest:
    """The nearest rows of some queries, the nearest first, and how often each counts."""

    distances: Doubles  # (n, k)
    times: Doubles  # (n, k)
    n_kept: int

    def merge(self, other: "Nearest") -> None:
        """Add what other rows are near."""
        distances = np.hstack([self.distances, other.distances])
        times = np.hstack([self.times, other.times])
        order = np.argsort(distances, axis=1, kind="stable")[:, : self.n_kept]
        self.distances = np.take_along_axis(distances, order, axis=1)
        self.times = np.take_along_axis(times, order, axis=1)


def _mean_distance(dataset: DaskDataset, queries: Sample, n_neighbors: int) -> float:
    """Return the mean distance of rows to their neighbours among all."""
    are_whole = dataset.weight is None or dataset.weight.is_whole
    shared_queries = sent(queries.X)
    nearest = merged(
        [
            dataset.task(n, _nearest, shared_queries, n_neighbors + 1, are_whole)
            for n in dataset.occupied
        ]
    )
    # A row is its own first neighbour, which does not count.
    wanted = min(n_neighbors, dataset.n_counted - 1) + 1
    place = np.argmax(np.cumsum(nearest.times, axis=1) >= wanted, axis=1)
    distances = nearest.distances[np.arange(len(place)), place]
    return float(np.average(distances, weights=queries.weight))


def _nearest(chunk: Chunk, queries: Any, n_wanted: int, are_whole: bool) -> Nearest:
    X, weight = chunk.present()
    if not len(weight):
        nothing = np.empty((queries.shape[0], 0))
        return Nearest(nothing, nothing, n_wanted)
    k = min(n_wanted, len(weight))
    _, neighbors = nearest_rows(X, [queries], k, n_jobs=1)
    distances = distances_to_neighbors(queries, X, neighbors)
    times = weight[neighbors] if are_whole else np.ones(neighbors.shape)
    return Nearest(distances, times, n_wanted)


def _local_scales(
    dataset: DaskDataset, n_neighbors: int, n_samples: int, rng: np.random.RandomState
) -> Column:
    """Return each row's distance to its neighbour in a sample, over the mean one."""
    drawn = dataset.draw(n_samples, rng)
    pool = dataset.take_present(drawn)
    are_whole = dataset.weight is None or dataset.weight.is_whole
    times = pool.weight if are_whole else np.ones(len(pool.weight))
    shared_pool = sent(Sample(pool.X, times))
    nobody = np.empty(0, dtype=np.int64)
    # Kept in memory: they are used several times, and take long to compute.
    distances = persisted(
        [
            dataset.task(n, _pool_distances, drawn.get(n, nobody), shared_pool, n_neighbors)
            for n in range(dataset.n_chunks)
        ]
    )
    least = min(computed(*(on_workers(_least_positive, part) for part in distances)))
    if np.isinf(least):
        return Column.of(dataset.split(np.ones(dataset.n_rows)))
    raised = Column.of([on_workers(_raised, part, least) for part in distances])
    mean = dataset.mean(raised)
    return Column.of([on_workers(_scales, part, least, mean) for part in distances])


def _pool_distances(
    chunk: Chunk, drawn: npt.NDArray[np.int64], pool: Sample, n_neighbors: int
) -> Doubles:
    """Return the distance of each row to its neighbour in the pool; -1 for rows of weight 0."""
    out = np.full(chunk.X.shape[0], -1.0)
    present = slice(None) if chunk.weight is None else chunk.weight > 0
    X, weight = chunk.present()
    if len(weight):
        itself = np.zeros(len(weight), bool)
        itself[drawn] = True
        every = np.arange(len(weight))
        out[present] = pool_distances(X, every, itself, pool.X, pool.weight, n_neighbors, 1)
    return out


def _least_positive(distances: Doubles) -> float:
    return float(np.min(distances, initial=np.inf, where=distances > SAME))


def _raised(distances: Doubles, least: float) -> Doubles:
    return np.maximum(distances, least)


def _scales(distances: Doubles, least: float, mean: float) -> Doubles:
    return np.where(distances < 0, 1.0, np.maximum(distances, least) / mean)

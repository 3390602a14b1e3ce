"""The dataset for checked rows: in memory, or in the chunks of a Dask collection."""

from typing import Any

from modeclust.data.dask.chunks import Chunks
from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.memory import MemoryDataset, thread_count
from modeclust.data.rescaling import Rescaling


def rescaling_for(X: Any, n_jobs: int | None) -> Rescaling:
    """Return the rescaling for checked rows."""
    return X.rescaling if isinstance(X, Chunks) else Rescaling.of(X, thread_count(n_jobs))


def open_dataset(
    X: Any,
    rescaling: Rescaling,
    *,
    weight: Any,
    n_clusters: int,
    n_jobs: int | None,
    scale: Any = None,
) -> MemoryDataset | DaskDataset:
    """Return the dataset of checked rows; use it as a context manager."""
    if isinstance(X, Chunks):
        return DaskDataset(X, rescaling, weight=weight, scale=scale, n_clusters=n_clusters)
    return MemoryDataset(
        rescaling.to_internal(X), weight=weight, scale=scale, n_clusters=n_clusters, n_jobs=n_jobs
    )

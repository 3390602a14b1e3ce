"""Where checked rows are gone over: in this process, or in the chunks of a Dask collection."""

from typing import Any

from modeclust.data.dask.chunks import Chunks
from modeclust.data.dask.dataset import DaskRows
from modeclust.data.memory import MemoryRows
from modeclust.data.rescaling import Units


def units_of(X: Any) -> Units:
    """Return the units that suit checked rows."""
    return X.units if isinstance(X, Chunks) else Units.of(X)


def home_of(
    X: Any,
    units: Units,
    *,
    weight: Any,
    n_clusters: int,
    n_jobs: int | None,
    scale: Any = None,
) -> MemoryRows | DaskRows:
    """Return the home of checked rows, to be opened."""
    if isinstance(X, Chunks):
        return DaskRows(X, units, weight=weight, scale=scale, n_clusters=n_clusters)
    return MemoryRows(
        units.inward(X), weight=weight, scale=scale, n_clusters=n_clusters, n_jobs=n_jobs
    )

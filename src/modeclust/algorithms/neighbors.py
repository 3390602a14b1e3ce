"""Nearest neighbours, by scikit-learn."""

import os
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

PROCESS = os.getpid()


def nearest_rows(
    X: Any, queries: Iterable[Any], n_neighbors: int, n_jobs: int | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return distances and indices of the rows of `X` nearest to each query.

    Queries come in parts; None stands for all rows of `X`, each not its own neighbour.
    """
    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X)
    # A team of OpenMP threads does not survive a fork: the child would wait for it forever.
    forked = os.getpid() != PROCESS
    with threadpool_limits(1, user_api="openmp") if forked else nullcontext():
        parts = [search.kneighbors(part) for part in queries]
    distances, indices = map(np.concatenate, zip(*parts, strict=True))
    return distances, indices

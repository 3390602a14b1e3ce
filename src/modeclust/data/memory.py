"""A dataset in the memory of this machine, or mapped into it from a file."""

import os
from typing import Any, Self, TypeVar

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from modeclust import _core
from modeclust.data.dataset import P, Pass
from modeclust.data.reading import Floats, core_rows, is_sparse, working_dtype
from modeclust.data.rescaling import RescaledRows
from modeclust.data.sample import Sample, equal_rows, row_keys

T = TypeVar("T")

NOTHING = np.empty(0)


class MemoryDataset:
    """The rows of an ndarray, a CSR matrix or a memory-mapped file.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), or CSR matrix in canonical form
        Finite numbers. Float32 and float64 in C order are read in place. Anything else is
        converted block by block.
    weight : ndarray of shape (n_rows,), optional
        Sample weights q >= 0; 1 by default.
    scale : ndarray of shape (n_rows,), optional
        Local scales s > 0; 1 by default. `set_scale` gives them later.
    n_clusters : int, default=1
        Number of centroids of the passes; it determines the block size.
    n_jobs : int, optional
        Number of threads, as `thread_count` understands it.
    first_row : int, default=0
        Index of the first row, if these rows are a part of a larger dataset.
    rows : modeclust._core.Rows, optional
        The rows of an earlier dataset with the same data, with their labels and bounds.
    """

    def __init__(
        self,
        X: Any,
        *,
        weight: npt.NDArray[np.float64] | None = None,
        scale: npt.NDArray[np.float64] | None = None,
        n_clusters: int = 1,
        n_jobs: int | None = None,
        first_row: int = 0,
        rows: _core.Rows | None = None,
    ) -> None:
        self.is_sparse = is_sparse(X)
        self.dtype = working_dtype(X.dtype)
        self.X = X
        self.n_rows, self.n_features = X.shape
        self.weight = NOTHING if weight is None else weight
        source, rescaled = X, {}
        if isinstance(X, RescaledRows):
            rescaled = {"offset": X.rescaling.offset, "scale": X.rescaling.scale}
            source = X.mapped
        self.rows = rows or core_rows(
            source,
            **rescaled,
            weight=None if weight is None else np.ascontiguousarray(weight, np.float64),
            n_clusters=n_clusters,
            n_threads=thread_count(n_jobs),
            first_row=first_row,
        )
        self.set_scale(scale)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Do nothing: the threads of the core are shared by all datasets."""

    @property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.weight.sum()) if self.weight.size else float(self.n_rows)

    def set_scale(self, scale: npt.NDArray[np.float64] | None) -> None:
        """Set the local scales; None stands for 1."""
        self.inverse_squared_scale = NOTHING if scale is None else 1.0 / np.square(scale)
        self.rows.set_precision(None if scale is None else self.inverse_squared_scale)
        self.rows.negligible = negligible_excess(self.weight, self.inverse_squared_scale)

    def set_relative_scale(self, scale: npt.NDArray[np.float64]) -> float:
        """Set the local scales, divided by their weighted mean, and return that mean."""
        mean = float(np.average(scale, weights=self.weight if self.weight.size else None))
        self.set_scale(scale / mean)
        return mean

    def run(self, pass_: Pass[P]) -> P:
        """Run a pass over all rows, and return its merged result."""
        return pass_.run(self.rows)

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the label of each row by the last pass that assigned labels."""
        return self.rows.labels.copy()

    def labels_at(self, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the labels of the rows at `indices`."""
        return self.rows.labels[indices]

    def take(self, indices: npt.NDArray[np.int64]) -> Sample:
        """Return the rows at `indices` with their weights."""
        weight = self.weight[indices] if self.weight.size else np.ones(len(indices))
        X = self.X[indices]
        return Sample(X if self.is_sparse else np.asarray(X, dtype=self.dtype), weight)

    def sample(self, n_rows: int, rng: np.random.RandomState) -> Sample:
        """Return `n_rows` rows of positive weight, drawn without replacement, or all if fewer."""
        present = self._present()
        if n_rows < len(present):
            # Takes memory only for the rows that are drawn.
            drawn = sample_without_replacement(len(present), n_rows, random_state=rng)
            present = present[np.sort(drawn)]
        return self.take(present)

    def distinct(self) -> Sample:
        """Return each distinct row once, with the total weight of its copies.

        It reads all rows but copies few. Use it where a sample has too few distinct rows.
        """
        keys = row_keys(self.rows)
        present = self._present()
        _, first, kind = np.unique(keys[present], return_index=True, return_inverse=True)
        # A few rows may share the key of another row without being equal to it.
        others = [
            present[rows][~equal_rows(self.X[present[rows]], self.X[present[first[kind[rows]]]])]
            for rows in np.array_split(np.arange(len(present)), -(-len(present) // 4096))
        ]
        other = np.concatenate(others)
        same = np.isin(present, other, invert=True)
        weight = self.weight[present] if self.weight.size else np.ones(len(present))
        totals = np.bincount(kind[same], weights=weight[same], minlength=len(first))
        indices = np.concatenate([present[first], other])
        weights = np.concatenate([totals, self.take(other).weight])
        return Sample(self.take(indices).X, weights).distinct()

    def _present(self) -> npt.NDArray[np.int64]:
        """Return the indices of the rows of positive weight; others count as missing."""
        return np.flatnonzero(self.weight) if self.weight.size else np.arange(self.n_rows)

    def distances(self, centroids: npt.NDArray[np.float64]) -> Floats:
        """Return the distance of each row to each centroid, (n_rows, K)."""
        out = np.empty((self.n_rows, len(centroids)), dtype=self.dtype)
        _core.distances(self.rows, np.ascontiguousarray(centroids, dtype=np.float64), out)
        if np.isinf(out.max(initial=0.0)):
            far = np.flatnonzero(np.isinf(out).any(axis=1))
            with np.errstate(over="ignore"):
                out[far] = _far_distances(self.take(far).dense(), centroids)
        return out


def negligible_excess(
    weight: npt.NDArray[np.float64], inverse_squared_scale: npt.NDArray[np.float64]
) -> float:
    """Return how far t must be above the smallest t for a row to be negligible.

    At 100, a gaussian weight is exp(-50) of the largest: a million such rows do not change the
    last bit of the sum. Unequal sample weights and scales raise the limit, up to 600, beyond which
    `exp` underflows.
    """
    return min(100.0 + weight_spread(weight, inverse_squared_scale), 600.0)


def weight_spread(
    weight: npt.NDArray[np.float64], inverse_squared_scale: npt.NDArray[np.float64]
) -> float:
    """Return the largest difference of t that sample weights and scales can compensate."""
    spread = 0.0
    for factors in (weight, inverse_squared_scale):
        positive = factors[factors > 0]
        if positive.size:
            spread += float(np.log(positive.max()) - np.log(positive.min()))
    return 2.0 * spread


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    None means every core, or ``OMP_NUM_THREADS`` where it is set, as for scikit-learn's
    `KMeans`; this keeps nested parallelism (a grid search in processes) from taking more
    than its share. -1 means every core, -2 all but one.
    """
    if n_jobs is None:
        # OpenMP takes a list, one number for each level of nesting.
        wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        return int(wanted) if wanted.isdecimal() and int(wanted) > 0 else int(joblib.cpu_count())
    return int(joblib.effective_n_jobs(n_jobs))


def _far_distances(
    rows: npt.NDArray[np.float64], centroids: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return distances whose squares overflow."""
    unit = np.abs(rows).max(axis=1, keepdims=True)
    near = rows / unit
    columns = [np.linalg.norm(near - centroid / unit, axis=1) for centroid in centroids]
    distances: npt.NDArray[np.float64] = np.stack(columns, axis=1) * unit
    return distances

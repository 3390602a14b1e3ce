"""The path: the clustering at every bandwidth, from K-means to the target."""

import operator
import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from numbers import Real
from typing import Any, Literal, NamedTuple, overload

import narwhals as nw
import numpy as np
import numpy.typing as npt

from modeclust.io.model_file import is_array

Floats = npt.NDArray[np.floating[Any]]
Backend = Literal["polars", "pandas", "dict"]


class PathPoint(NamedTuple):
    """The clustering at one bandwidth of a path, a named tuple.

    Parameters
    ----------
    bandwidth : float
        The bandwidth.
    centers : ndarray of shape (K, D)
        The modes.
    objective, inertia : float
        The objectives of K-modes and of K-means; see `modeclust.Path`.
    counts : ndarray of shape (K,)
        Number of rows in each cluster.
    n_iter : int
        Number of iterations.
    labels : ndarray of shape (N,) or None
        The label of each row, if labels are stored.
    stage : int
        0 for the initial clusters, 1 where labels are found at a bandwidth, 2 where labels are
        frozen.
    cluster_bandwidths : ndarray of shape (K,)
        The bandwidth of each cluster.
    rows_averaged : ndarray of shape (K,) or None
        How many rows each mode averages; see `modeclust.Path`.
    """

    bandwidth: float
    centers: Floats
    objective: float
    inertia: float
    counts: npt.NDArray[np.int64]
    n_iter: int
    labels: npt.NDArray[np.integer[Any]] | None
    stage: int
    cluster_bandwidths: npt.NDArray[np.float64]
    rows_averaged: npt.NDArray[np.float64] | None

    def __repr__(self) -> str:
        return (
            f"PathPoint(bandwidth={self.bandwidth:.6g}, objective={self.objective:.6g}, "
            f"inertia={self.inertia:.6g}, n_iter={self.n_iter}, counts={self.counts.tolist()})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Clusterings at decreasing bandwidths, each started from the previous one.

    ``len(path)`` is the number of bandwidths S. ``path[i]`` is a `path.PathPoint`, and iteration
    yields them in order. ``path[i:j]`` is a `Path` of some of the bandwidths.

    Attributes
    ----------
    bandwidths : ndarray of shape (S,)
        The bandwidths, from large to small. The first is infinite if the path begins with K-means
        or linkage. If clusters have their own bandwidths, the median of the finite ones.
    centers : ndarray of shape (S, K, D)
        The modes.
    objectives : ndarray of shape (S,)
        L divided by the sum of the weights: 1 at an infinite bandwidth, and between 0 and 1, except
        for `LaplacianKModes`.
    inertias : ndarray of shape (S,)
        Sum of ``q |x - c|^2 / s^2``, with weights q and local scales s, which K-means minimises.
    counts : ndarray of shape (S, K)
        Number of rows in each cluster.
    n_iter : ndarray of shape (S,)
        Number of iterations.
    labels : ndarray of shape (S, N) or None
        The label of each row, if labels are stored.
    feature_names : sequence of str or None
        Names of the D features, used by `to_frame`.
    stage : ndarray of shape (S,)
        0 for the initial clusters and their means, 1 where labels are found at a bandwidth, and 2
        where labels are frozen and only modes move.
    cluster_bandwidths : ndarray of shape (S, K)
        The bandwidth of each cluster. They differ only in stage 2.
    rows_averaged : ndarray of shape (S, K) or None
        How many rows each mode averages: (sum w)^2 / sum w^2, with the weights w of the last mode
        step. An integer sample weight counts as repeated rows.
    start : {"K-means", "linkage"}
        How the initial clusters were found.

    Examples
    --------
    >>> import numpy as np
    >>> from modeclust import kmodes_path
    >>> X = np.array([[0.0], [1.0], [1.1], [1.2], [10.0], [11.0]])
    >>> path = kmodes_path(X, 2, bandwidths=[np.inf, 2.0, 1.0, 0.5], init=X[[0, 4]])
    >>> len(path)
    4
    >>> path.at(0.5).centers.round(2).ravel()
    array([ 1.06, 10.5 ])
    """

    bandwidths: npt.NDArray[np.float64]
    centers: Floats
    objectives: npt.NDArray[np.float64]
    inertias: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    n_iter: npt.NDArray[np.int64]
    labels: npt.NDArray[np.integer[Any]] | None = None
    feature_names: Sequence[str] | None = None
    # By default, one bandwidth for all clusters, and labels that are not frozen.
    stage: npt.NDArray[np.int64] = None  # type: ignore[assignment]
    cluster_bandwidths: npt.NDArray[np.float64] = None  # type: ignore[assignment]
    rows_averaged: npt.NDArray[np.float64] | None = None
    start: str = "K-means"

    def __post_init__(self) -> None:
        if self.stage is None:
            object.__setattr__(self, "stage", np.isfinite(self.bandwidths).astype(np.int64))
        if self.cluster_bandwidths is None:
            n_clusters = self.counts.shape[-1]
            object.__setattr__(
                self, "cluster_bandwidths", np.repeat(self.bandwidths[:, None], n_clusters, axis=1)
            )
        n, centers, labels = len(self.bandwidths), self.centers, self.labels
        averaged = self.rows_averaged
        is_right = is_array(self.bandwidths, "f", None) and is_array(centers, "f", n, None, None)
        if is_right:
            _, n_clusters, n_features = centers.shape
            is_right = (
                is_array(self.objectives, "f", n)
                and is_array(self.inertias, "f", n)
                and is_array(self.counts, "iu", n, n_clusters)
                and is_array(self.n_iter, "iu", n)
                and is_array(self.stage, "iu", n)
                and is_array(self.cluster_bandwidths, "f", n, n_clusters)
                and (averaged is None or is_array(averaged, "f", n, n_clusters))
                and (labels is None or is_array(labels, "iu", n, None))
                and (self.feature_names is None or len(self.feature_names) == n_features)
                and self.start in ("K-means", "linkage")
            )
        if not is_right:
            raise ValueError(
                "the arrays of a path must be numbers for the same bandwidths, clusters and "
                "features, with the shapes documented in `Path`"
            )

    def __len__(self) -> int:
        return len(self.bandwidths)

    @overload
    def __getitem__(self, index: int) -> PathPoint: ...

    @overload
    def __getitem__(self, index: slice) -> "Path": ...

    def __getitem__(self, index: int | slice) -> "PathPoint | Path":
        if isinstance(index, slice):
            return self._part(index)
        index = operator.index(index)
        return PathPoint(
            bandwidth=float(self.bandwidths[index]),
            centers=self.centers[index],
            objective=float(self.objectives[index]),
            inertia=float(self.inertias[index]),
            counts=self.counts[index],
            n_iter=int(self.n_iter[index]),
            labels=None if self.labels is None else self.labels[index],
            stage=int(self.stage[index]),
            cluster_bandwidths=self.cluster_bandwidths[index],
            rows_averaged=None if self.rows_averaged is None else self.rows_averaged[index],
        )

    def _part(self, indices: slice) -> "Path":
        chosen = range(len(self))[indices]
        if chosen.step < 0 or len(chosen) == 0:
            raise ValueError(
                f"a slice of a path must have at least one of its {len(self)} bandwidths, in their "
                f"order, got {indices!r}."
            )
        return self._take(np.arange(len(self))[indices])

    def _take(self, indices: Any) -> "Path":
        """Return the path at some of its points.

        Parameters
        ----------
        indices : array-like of int
            The points, in the order of the path.

        Returns
        -------
        Path
            These points.
        """
        arrays: dict[str, Any] = {
            name: None if array is None else array[indices]
            for name, array in vars(self).items()
            if name not in ("feature_names", "start")
        }
        return replace(self, **arrays)

    def __iter__(self) -> Iterator[PathPoint]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        _, n_clusters, n_features = self.centers.shape
        return (
            f"Path({len(self)} bandwidths from {self.bandwidths[0]:.4g} to "
            f"{self.bandwidths[-1]:.4g}, {n_clusters} clusters, {n_features} features)"
        )

    def at(self, bandwidth: float) -> PathPoint:
        """Return the point of the path whose bandwidth is nearest to `bandwidth`.

        The nearest is the one with the ratio nearest to 1. A bandwidth beyond the ends of the path
        is an error.

        Parameters
        ----------
        bandwidth : float
            A positive number, or ``np.inf`` for the initial clusters.

        Returns
        -------
        PathPoint
            The clustering at this bandwidth.
        """
        if not (isinstance(bandwidth, Real) and bandwidth > 0):
            raise ValueError(f"bandwidth must be a number > 0, got {bandwidth!r}.")
        largest, smallest = self.bandwidths.max(), self.bandwidths.min()
        if not smallest * (1 - 1e-9) <= bandwidth <= largest * (1 + 1e-9):
            raise ValueError(
                f"bandwidth={bandwidth!r} is not on the path, which goes from {largest:.6g} to "
                f"{smallest:.6g}; fit a path that includes it."
            )
        if np.isinf(bandwidth):
            return self[0]
        ratios = np.abs(np.log(self.bandwidths) - np.log(bandwidth))
        return self[int(np.argmin(ratios))]

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the path as a table with one row for each bandwidth and cluster.

        Its columns are `step`, `stage`, `bandwidth` (of the cluster), `objective`, `inertia`,
        `n_iter`, `cluster`, `count`, `rows_averaged`, and one for each feature of the mode.

        Parameters
        ----------
        backend : {"polars", "pandas", "dict"}, optional
            The type of the result. By default, a frame of polars or pandas, whichever is imported
            or else installed, and a dict of arrays if neither is.

        Returns
        -------
        polars.DataFrame, pandas.DataFrame or dict of ndarray
            The table.
        """
        n_steps, n_clusters, n_features = self.centers.shape
        names = self.feature_names
        if names is None:
            names = [f"x{j}" for j in range(n_features)]
        columns: dict[str, Any] = {
            "step": np.repeat(np.arange(n_steps), n_clusters),
            "stage": np.repeat(self.stage, n_clusters),
            "bandwidth": self.cluster_bandwidths.ravel(),
            "objective": np.repeat(self.objectives, n_clusters),
            "inertia": np.repeat(self.inertias, n_clusters),
            "n_iter": np.repeat(self.n_iter, n_clusters),
            "cluster": np.tile(np.arange(n_clusters), n_steps),
            "count": self.counts.ravel(),
        }
        if self.rows_averaged is not None:
            columns["rows_averaged"] = self.rows_averaged.ravel()
        coordinates = self.centers.reshape(n_steps * n_clusters, n_features)
        for name, values in zip(names, coordinates.T, strict=True):
            columns[unused_column(str(name), columns)] = values
        return make_frame(columns, backend)


def make_frame(columns: dict[str, Any], backend: Backend | None = None) -> Any:
    """Return columns as a polars or pandas frame, or unchanged for "dict".

    By default, the library that is imported; if none is, the one that is installed, or "dict".
    """
    if backend is None:
        names: tuple[Backend, ...] = ("polars", "pandas")
        loaded = [name for name in names if name in sys.modules]
        installed = loaded or [name for name in names if find_spec(name) is not None]
        backend = installed[0] if installed else "dict"
    if backend == "dict":
        return columns
    if backend not in ("polars", "pandas"):
        raise ValueError(f"backend must be 'polars', 'pandas' or 'dict', got {backend!r}.")
    return nw.from_dict(columns, backend=backend).to_native()


def unused_column(name: str, columns: Container[str]) -> str:
    """Return `name`, with underscores appended until no column has this name."""
    while name in columns:
        name += "_"
    return name

"""The data of the benchmark, which are made or read when they are needed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from environment import data_file
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

QUICK_ROWS = 5_000
MNIST_SHAPE = (60_000, 784)
TDT2_SHAPE, TDT2_DENSITY = (9_394, 36_771), 0.00354


@dataclass(frozen=True)
class Workload:
    """A dataset by name, and its number of clusters."""

    name: str
    n_clusters: int
    make: Callable[[bool], tuple[Any, str]]  # takes `quick`; returns the rows and a description
    whole_fit: bool = False

    def load(self, quick: bool) -> "Data":
        """Make or read the data."""
        X, source = self.make(quick)
        return Data(self.name, X, min(self.n_clusters, X.shape[0] // 50), source)


@dataclass(frozen=True)
class Data:
    """A workload in memory."""

    name: str
    X: Any
    n_clusters: int
    source: str

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in arrays_of(self.X))

    @property
    def title(self) -> str:
        kind = self.name.split("-")[0]
        n_rows, n_features = self.X.shape
        dtype = " float64" if self.X.dtype == np.float64 else ""
        layout = " CSR" if sparse.issparse(self.X) else ""
        return f"{kind} {n_rows:,} x {n_features:,}{dtype}{layout}, K={self.n_clusters}"

    def small(self) -> Any:
        """Return a few rows for a warm-up."""
        return self.X[: max(1_000, 5 * self.n_clusters)]

    def describe(self) -> dict[str, Any]:
        """Return a description of the data for the results."""
        return {
            "title": self.title,
            "source": self.source,
            "shape": list(self.X.shape),
            "n_clusters": self.n_clusters,
            "dtype": str(self.X.dtype),
            "layout": "CSR" if sparse.issparse(self.X) else "dense",
            "bytes": self.n_bytes,
        }


def arrays_of(X):
    """Return the arrays that hold dense or CSR rows."""
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


def dense_rows(X, n_rows):
    """Return the first rows, dense or CSR, as an array."""
    return X[:n_rows].toarray() if sparse.issparse(X) else X[:n_rows]


def blobs(n_rows, n_features, n_clusters, std):
    """Return float32 rows of Gaussian blobs, one for each cluster."""
    X, _ = make_blobs(n_rows, n_features, centers=n_clusters, cluster_std=std, random_state=0)
    return X.astype(np.float32)


def _blobs(n_rows, n_features, n_clusters, std, quick):
    n_rows = QUICK_ROWS if quick else n_rows
    source = f"make_blobs, centers={n_clusters}, cluster_std={std}, random_state=0"
    return blobs(n_rows, n_features, n_clusters, std), source


def _uniform(n_rows, n_features, quick):
    n_rows = QUICK_ROWS if quick else n_rows
    X = np.random.default_rng(0).random((n_rows, n_features), dtype=np.float32)
    return X, "uniform in the unit cube, seed 0"


def _mnist(dtype, quick):
    stride = 20 if quick else 1
    if (path := data_file("mnist.npz")) is None:
        X = _image_like(MNIST_SHAPE[0] // stride, MNIST_SHAPE[1])
        return X.astype(dtype), "stand-in of MNIST's shape: clipped low-rank mixture, seed 0"
    with np.load(path) as file:
        X = file["X"][::stride].astype(dtype)
    X /= 255
    return X, "MNIST training digits over 255" + _every(stride)


def _tdt2(quick):
    stride = 8 if quick else 1
    if (path := data_file("tdt2.npz")) is None:
        shape = (TDT2_SHAPE[0] // stride, TDT2_SHAPE[1])
        X = sparse.random(*shape, TDT2_DENSITY, format="csr", random_state=0)
        return _canonical(normalize(X)), "stand-in of TDT2's shape and density: random, seed 0"
    X, _ = read_tdt2(path)
    return X[::stride], "TDT2, (1 + log tf) log(N / df), unit rows" + _every(stride)


def read_tdt2(path):
    """Return TDT2 with weighted terms and unit rows, and the topics."""
    with np.load(path) as file:
        parts = (file["data"].astype(np.float64), file["indices"], file["indptr"])
        counts = sparse.csr_matrix(parts, shape=tuple(file["shape"]))
        return _canonical(_weigh_terms(counts)), file["y"]


def _every(stride):
    return "" if stride == 1 else f", every {stride}th row"


def _image_like(n_rows, n_features, n_classes=10, rank=20):
    """Return rows in [0, 1] with many zeros, as in images of digits."""
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=n_rows)
    X = rng.normal(0, 0.1, (n_rows, n_features)).astype(np.float32)
    for k in range(n_classes):
        own = np.flatnonzero(labels == k)
        mean = rng.normal(-0.3, 0.6, n_features)
        directions = rng.normal(0, 0.1, (rank, n_features))
        X[own] += mean + rng.normal(size=(len(own), rank)) @ directions
    return np.clip(X, 0, 1, out=X)


def _weigh_terms(counts):
    """Return (1 + log tf) log(N / df) with rows of length 1."""
    document_counts = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log(counts.shape[0] / np.maximum(document_counts, 1))
    weighted = counts.copy()
    weighted.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    return normalize(weighted)


def _canonical(X):
    X = sparse.csr_matrix(X)
    X.sum_duplicates()
    return X


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("MNIST-10", 10, partial(_mnist, np.float32), whole_fit=True),
        Workload("MNIST-100", 100, partial(_mnist, np.float32)),
        Workload("MNIST-float64", 10, partial(_mnist, np.float64)),
        Workload("blobs-16", 64, partial(_blobs, 500_000, 16, 64, 4), whole_fit=True),
        Workload("blobs-2", 20, partial(_blobs, 1_000_000, 2, 20, 2)),
        Workload("blobs-64", 256, partial(_blobs, 100_000, 64, 256, 4)),
        Workload("uniform", 50, partial(_uniform, 200_000, 16)),
        Workload("TDT2", 30, _tdt2),
    )
}

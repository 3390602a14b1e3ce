"""The modes of clusters that any algorithm has found."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from modeclust._sklearn import validate_params
from modeclust.data.memory import MemoryDataset, thread_count
from modeclust.data.mode_pass import ModePass
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import check_n_jobs, check_rows, check_scales, check_weights
from modeclust.estimators.parameters import BANDWIDTH, CONSTRAINTS, ROWS_PER_MODE
from modeclust.estimators.problem import Problem
from modeclust.exceptions import EmptySupportWarning, _warn_user
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import choose_bandwidth
from modeclust.solvers.cluster_modes import Labelled, follow_modes
from modeclust.solvers.kmodes import Centers, State, automatic_start, follow_path, schedule
from modeclust.solvers.options import SolverOptions

NOISE = -1
MISSING = ("nan", "None", "<NA>", "NaT")  # values that are no labels, unless they are text
# With one bandwidth for all clusters, the modes are followed over this many bandwidths.
N_BANDWIDTHS = 20


class ClusterModes(NamedTuple):
    """The modes of given clusters, a named tuple.

    Parameters
    ----------
    labels : ndarray of shape (K,)
        The labels of the clusters, ascending.
    modes : ndarray of shape (K, D)
        The mode of each cluster: its representative.
    exemplar_indices : ndarray of shape (K,)
        The exemplar of each cluster: its row nearest to the mode.
    bandwidths : ndarray of shape (K,)
        The bandwidth of each mode. Infinite if the mode is the mean.
    rows_averaged : ndarray of shape (K,)
        How many rows each mode averages, as in the attribute `rows_averaged_` of `KModes`.
    counts : ndarray of shape (K,)
        Number of rows in each cluster.
    """

    labels: npt.NDArray[Any]
    modes: npt.NDArray[np.floating[Any]]
    exemplar_indices: npt.NDArray[np.int64]
    bandwidths: npt.NDArray[np.float64]
    rows_averaged: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]


@validate_params(
    {
        **{name: CONSTRAINTS[name] for name in ("kernel", "metric", "random_state", "n_jobs")},
        "bandwidth": BANDWIDTH,
        "rows_per_mode": ROWS_PER_MODE,
    },
    prefer_skip_nested_validation=True,
)
def cluster_modes(
    X: Any,
    labels: Any,
    *,
    bandwidth: float | str = "auto",
    rows_per_mode: float | str = "auto",
    kernel: str = "gaussian",
    metric: str = "euclidean",
    sample_weight: Any = None,
    sample_scale: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ClusterModes:
    """Find the modes of given clusters, which any algorithm may have found.

    The labels stay as they are. The mode of each cluster is followed from its mean to a peak of the
    density of its own rows, as in the second stage of `KModes`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,)
        The cluster of each row: whole numbers or strings. -1 is noise: such rows are left out.
    bandwidth : "auto", float or {"knn", "silverman", "scott", "likelihood"}, default="auto"
        "auto" gives each cluster a bandwidth of its own, at which its mode averages `rows_per_mode`
        rows. A number is the bandwidth of all modes. A rule estimates this number from the rows
        that are not noise, and can have a factor: "knn/3" or "0.4*knn".
    rows_per_mode : float or "auto", default="auto"
        How many rows a mode averages with ``bandwidth="auto"``, as in `KModes`.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric, as in `KModes`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights q >= 0 of the rows. A cluster whose weights are all 0 is left out.
    sample_scale : array-like of shape (n_samples,), default=None
        Scales s > 0 that multiply the bandwidth at each row.
    random_state : int, RandomState instance or None, default=None
        Determines the rows that are sampled to estimate a bandwidth by a rule.
    n_jobs : int, default=None
        Number of threads, as in `KModes`.

    Returns
    -------
    ClusterModes
        The labels of the clusters, their modes, exemplars and bandwidths.

    See Also
    --------
    KModes : Finds clusters and their modes.

    Examples
    --------
    >>> from sklearn.cluster import HDBSCAN
    >>> from sklearn.datasets import load_iris
    >>> from modeclust import cluster_modes
    >>> X = load_iris().data
    >>> found = cluster_modes(X, HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X))
    >>> found.labels
    array([0, 1])
    >>> found.modes.round(1)
    array([[5.1, 3.5, 1.4, 0.2],
           [6.2, 2.9, 4.6, 1.5]])
    """
    check_n_jobs(n_jobs)
    X = check_rows(X)
    codes, names = check_labels(labels, X.shape[0])
    weight = check_weights(sample_weight, X)
    weight = np.ones(len(codes)) if weight is None else weight.copy()
    weight[codes < 0] = 0.0
    codes, names = _with_weight(codes, names, weight)
    n_threads = thread_count(n_jobs)
    rescaling = Rescaling.of(X, n_threads, metric)
    options = SolverOptions(KERNELS[kernel], reassign=False)
    with MemoryDataset(
        rescaling.rows(X, n_threads), weight=weight, n_clusters=len(names), n_threads=n_threads
    ) as dataset:
        problem = Problem(X, dataset, rescaling, options, len(names), n_threads)
        problem.set_scale(check_scales(sample_scale, X))
        dataset.rows.set_labels(np.maximum(codes, 0), len(names))
        start = np.zeros((len(names), dataset.n_features))
        if metric == "cosine":  # rows that cancel have no mean: the mode starts at one of them
            present = np.flatnonzero(weight)
            start = dataset.take(present[np.unique(codes[present], return_index=True)[1]]).dense()
        means = dataset.run(ModePass(start, options.kernel, 0.0, reassign=False)).moved(start)
        if bandwidth == "auto":
            wanted = None if isinstance(rows_per_mode, str) else rows_per_mode
            count = problem.count_per_weight
            given = Labelled(means, np.inf, options.kernel, wanted, count)
            *_, last = follow_modes(dataset, given, [])
        else:
            target, _ = choose_bandwidth(
                dataset, bandwidth, local=False, unit=rescaling.scale, random_state=random_state
            )
            last = _follow_to(problem, means, target)
    bandwidths = last.cluster_bandwidths
    if bandwidths is None:
        bandwidths = np.full(len(names), last.bandwidth)
    return ClusterModes(
        names,
        rescaling.to_original(last.centers).astype(dataset.dtype),
        last.nearest,
        problem.bandwidth_to_original(bandwidths),
        np.asarray(last.rows_averaged) * problem.count_per_weight,
        np.bincount(codes[codes >= 0], minlength=len(names)),
    )


def check_labels(labels: Any, n_rows: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the number of the cluster of each row, -1 for noise, and the labels by number."""
    labels = to_labels(labels)
    if len(labels) != n_rows:
        raise ValueError(
            f"labels must have one entry for each of the {n_rows} rows of X, got {len(labels)}."
        )
    if labels.dtype.kind not in "biuUOT":
        raise ValueError(f"labels must be integers or strings, got {labels.dtype}.")
    try:
        names, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"labels must be integers or strings of one type: {error}.") from None
    codes = codes.astype(np.int32)
    is_noise = np.array([name == NOISE for name in names.tolist()])
    if is_noise.all():
        raise ValueError("labels must have a cluster, got -1, noise, for every row.")
    return np.where(is_noise[codes], -1, codes).astype(np.int32), names


def to_labels(labels: Any) -> npt.NDArray[Any]:
    """Return labels as an array; floats that are all whole numbers become integers."""
    found: npt.NDArray[Any] = column_or_1d(labels, warn=False)
    if found.dtype.kind in ("f", "O"):
        n_missing = sum(str(v) in MISSING for v in found.tolist() if not isinstance(v, str))
        if n_missing:
            raise ValueError(
                f"labels must not have NaN or missing values, got {n_missing:,}; the label of "
                "noise is -1."
            )
    if found.dtype.kind == "f" and np.isfinite(found).all() and (found == np.round(found)).all():
        return found.astype(np.int64)
    return found


def _with_weight(
    codes: npt.NDArray[np.int32], names: npt.NDArray[Any], weight: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Leave out noise and clusters without weight, and number the others anew."""
    kept = np.unique(codes[weight > 0])
    if not len(kept):
        raise ValueError("labels must have a cluster of rows with a positive weight, got none.")
    numbers = np.full(len(names), -1, dtype=np.int32)
    numbers[kept] = np.arange(len(kept))
    return np.where(codes < 0, -1, numbers[codes]), names[kept]


def _follow_to(problem: Problem, means: Centers, target: float) -> State:
    """Return the modes at one bandwidth for all clusters, followed from the means."""
    bandwidth = float(problem.bandwidth_to_internal(target))
    if np.isinf(bandwidth):
        bandwidths = np.array([bandwidth])
    else:
        start = automatic_start(problem.dataset, means, problem.options, bandwidth)
        bandwidths = schedule(start, bandwidth, N_BANDWIDTHS)
    *_, last = follow_path(problem.dataset, means, bandwidths, problem.options)
    if True in last.unsupported:
        _warn_user(
            f"At bandwidth {target:.6g}, the kernel reaches no row of some clusters, whose modes "
            "did not move. Use a larger bandwidth or kernel='gaussian'.",
            EmptySupportWarning,
        )
    return last

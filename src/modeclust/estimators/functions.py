"""Public functions: `kmodes_path`, `estimate_bandwidth` and `modes_by_bandwidth`."""

from itertools import islice
from numbers import Integral
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import check_random_state

from modeclust._sklearn import (
    Interval,
    StrOptions,
    get_feature_names,
    validate_params,
    with_column_names,
)
from modeclust.data.memory import MemoryDataset
from modeclust.data.reading import Doubles
from modeclust.data.rescaling import Rescaling
from modeclust.data.validation import (
    check_bandwidths,
    check_finite_bandwidths,
    check_n_jobs,
    check_rows,
    check_scales,
    check_weights,
)
from modeclust.estimators.kernel_density import KernelDensity, OpenKernelDensity
from modeclust.estimators.mean_shift import MeanShift, Search, warn_not_converged
from modeclust.estimators.parameters import CONSTRAINTS, COUNT, n_kmeans_runs
from modeclust.estimators.problem import CheckedInput, Problem, Record
from modeclust.kernels import KERNELS
from modeclust.mode_tree import ModeTree, TreeLevel
from modeclust.path import Path
from modeclust.solvers.bandwidth import N_SAMPLES, RULES, average, choose_bandwidth
from modeclust.solvers.kmeans import lower_inertia, restart_kmeans
from modeclust.solvers.mean_shift import ModesAtBandwidth, merge_modes
from modeclust.solvers.options import SolverOptions


@validate_params({**CONSTRAINTS, "bandwidths": ["array-like"]}, prefer_skip_nested_validation=True)
def kmodes_path(
    X: Any,
    n_clusters: int = 8,
    *,
    bandwidths: Any,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    init: Any = "k-means++",
    n_init: int | str = 10,
    path_iter: int = 10,
    max_iter: int = 300,
    mean_shift_iter: int = 1,
    tol: float = 1e-4,
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    sample_scale: Any = None,
    store_labels: bool | str = "auto",
) -> Path:
    """Run K-modes over any decreasing bandwidths.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_clusters : int, default=8
        The number of clusters K.
    bandwidths : array-like of shape (S,)
        Positive and decreasing. If the first is ``np.inf``, the path starts with the best of
        `n_init` K-means runs. Otherwise it starts from `init`.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric, as in `KModes`.
    init : {"k-means++", "random"}, callable or array-like, default="k-means++"
        The initial centers, as in `KModes`.
    n_init : int or "auto", default=10
        Number of K-means runs, as in `KModes`.
    path_iter : int, default=10
        Maximum number of iterations at each bandwidth but the last. One iteration is one assignment
        and `mean_shift_iter` mode steps.
    max_iter : int, default=300
        Maximum number of iterations at the last bandwidth, and of each K-means run.
    mean_shift_iter : int, default=1
        Number of mode steps between two assignments.
    tol : float, default=1e-4
        The tolerance, as in `KModes`.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds of K-means.
    n_jobs : int, default=None
        Number of threads, as in `KModes`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights q >= 0 of the rows.
    sample_scale : array-like of shape (n_samples,), default=None
        Scales s > 0 that multiply the bandwidth at each row.
    store_labels : bool or "auto", default="auto"
        Whether the path stores the labels at every bandwidth. "auto" stores up to ten million.

    Returns
    -------
    Path
        The clustering at each bandwidth.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from modeclust import kmodes_path
    >>> X, _ = make_moons(500, noise=0.1, random_state=0)
    >>> kmodes_path(X, 2, bandwidths=[np.inf, *np.geomspace(1, 0.4, 10)], random_state=0)
    Path(11 bandwidths from inf to 0.4, 2 clusters, 2 features)
    """
    names = get_feature_names(with_column_names(X))
    X = check_rows(X, min_rows=2)
    bandwidths = check_bandwidths(bandwidths)
    scale = check_scales(sample_scale, X)
    checked = CheckedInput(X, check_weights(sample_weight, X), scale)
    options = SolverOptions(KERNELS[kernel], path_iter, max_iter, mean_shift_iter, tol)
    rng = check_random_state(random_state)
    with Problem.open(
        checked,
        options,
        n_clusters=n_clusters,
        init=init,
        metric=metric,
        n_jobs=n_jobs,
        rng=rng,
    ) as problem:
        bandwidths = problem.bandwidth_to_internal(bandwidths)
        record = Record.begin(problem, store_labels, len(bandwidths))
        seeds = problem.seeds(init, rng, improved=n_init == "auto")
        if np.isinf(bandwidths[0]):
            best = None
            restarts = islice(seeds, n_kmeans_runs(n_init, init))
            for run in restart_kmeans(problem.dataset, restarts, max_iter=max_iter, tol=tol):
                best = lower_inertia(best, run)
            assert best is not None
            record.add_means(best)
            centers, bandwidths = best.centers, bandwidths[1:]
        else:
            centers = next(seeds)
        for state in problem.follow_path(centers, bandwidths):
            record.add(state)
        record.round_labelled()
    record.warn()
    return record.path(names)


@overload
def estimate_bandwidth(
    X: Any,
    rule: str = ...,
    n_neighbors: int = ...,
    local: Literal[False] = ...,
    n_samples: int = ...,
    *,
    statistic: str = ...,
    metric: str = ...,
    sample_weight: Any = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> float: ...


@overload
def estimate_bandwidth(
    X: Any,
    rule: str = ...,
    n_neighbors: int = ...,
    *,
    local: Literal[True],
    n_samples: int = ...,
    statistic: str = ...,
    metric: str = ...,
    sample_weight: Any = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Doubles: ...


@overload
def estimate_bandwidth(
    X: Any,
    rule: str = ...,
    n_neighbors: int = ...,
    local: bool = ...,
    n_samples: int = ...,
    *,
    statistic: str = ...,
    metric: str = ...,
    sample_weight: Any = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> float | Doubles: ...


@validate_params(
    {
        "rule": [StrOptions(set(RULES))],
        "n_neighbors": [COUNT],
        "local": ["boolean"],
        "n_samples": [Interval(Integral, 2, None, closed="left")],
        "statistic": [StrOptions({"mean", "median"})],
        "metric": CONSTRAINTS["metric"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    },
    prefer_skip_nested_validation=True,
)
def estimate_bandwidth(
    X: Any,
    rule: str = "knn",
    n_neighbors: int = 10,
    local: bool = False,
    n_samples: int = N_SAMPLES,
    *,
    statistic: str = "mean",
    metric: str = "euclidean",
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float | Doubles:
    """Estimate a bandwidth from the data.

    - "knn": the mean, or median, distance of a row to its `n_neighbors`-th nearest other row.
    - "scott": s N^(-1/(D+4)), where s^2 is the variance averaged over the features.
    - "silverman": s (4 / ((D+2) N))^(1/(D+4)).
    - "likelihood": the bandwidth of the gaussian kernel density with the highest leave-one-out
      likelihood, which is computed on at most 2,000 rows. With many more rows in many dimensions,
      it depends on the sample.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    rule : {"knn", "silverman", "scott", "likelihood"}, default="knn"
        The rule.
    n_neighbors : int, default=10
        The neighbour whose distance "knn" and `local` use. If there are fewer other rows, the
        farthest of them.
    local : bool, default=False
        Whether to return one bandwidth for each row: the result of the rule times the distance of
        the row to its neighbour, divided by the mean, or median, of these distances.
    n_samples : int, default=5000
        With more rows than this, a random sample of this size is used. "knn" averages distances
        in the sample, and corrects them by the exact distances of some of its rows, at least a
        40th. With `local`, the scales of the rows come from their neighbours in a sample.
    statistic : {"mean", "median"}, default="mean"
        How "knn" averages the distances of the rows. The farther an outlier is, the more it
        increases the mean: take the median if there may be outliers. Take the mean if thin regions
        should count: a region with few of the rows hardly changes the median, however thin it is.
        The other rules do not average distances: with them, "median" is an error.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric, as in `KModes`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. Integer weights are equivalent to repeated rows. Other weights only
        change the averages. Rows of weight 0 are left out.
    random_state : int, RandomState instance or None, default=None
        Determines the rows that are sampled.
    n_jobs : int, default=None
        Number of threads of the neighbour search, as in `KModes`.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        The bandwidth, which is positive; 1.0 if all rows are equal. With `local`, one for each row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from modeclust import estimate_bandwidth
    >>> X = load_iris().data
    >>> round(estimate_bandwidth(X), 3)
    0.558
    >>> estimate_bandwidth(X, local=True).shape
    (150,)

    Outliers hardly change the median:

    >>> import numpy as np
    >>> spoiled = np.concatenate([X, [[1000, 0, 0, 0], [0, 1000, 0, 0]]])
    >>> round(estimate_bandwidth(spoiled), 3)
    13.636
    >>> [round(estimate_bandwidth(rows, statistic="median"), 3) for rows in (X, spoiled)]
    [0.52, 0.52]
    """
    check_n_jobs(n_jobs)
    if statistic == "median" and rule != "knn":
        raise ValueError(
            f"statistic='median' needs rule='knn', got rule={rule!r}, which does not average "
            "distances; leave out `statistic`."
        )
    X = check_rows(X, min_rows=2)
    weight = check_weights(sample_weight, X)
    rescaling = Rescaling.of(X, metric=metric)
    with MemoryDataset(rescaling.rows(X), weight=weight, n_jobs=n_jobs) as dataset:
        bandwidth, scales = choose_bandwidth(
            dataset,
            rule,
            local=local,
            unit=rescaling.scale,
            n_neighbors=n_neighbors,
            n_samples=n_samples,
            statistic=statistic,
            random_state=random_state,
        )
    if scales is None:
        return bandwidth
    if statistic == "median":  # the scales are relative to their mean
        present = np.ones(len(scales)) if weight is None else weight
        bandwidth /= average(scales, present, statistic)
    return np.asarray(bandwidth * scales)


@validate_params(
    {
        name: MeanShift._parameter_constraints[name]
        for name in (
            "kernel",
            "metric",
            "max_iter",
            "tol",
            "merge_radius",
            "random_state",
            "n_jobs",
        )
    },
    prefer_skip_nested_validation=True,
)
def modes_by_bandwidth(
    X: Any,
    bandwidths: Any,
    *,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    sample_weight: Any = None,
    sample_scale: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-5,
    merge_radius: float = 0.1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ModeTree:
    """Follow the modes of a kernel density as its bandwidth increases.

    At the smallest bandwidth, trajectories start from every row. At each larger bandwidth, they
    start from the modes at the previous one. So each mode moves to a mode of the next level, and
    modes that move to the same one are merged. A mode that first appears at a larger bandwidth is
    not found; with the gaussian kernel in one dimension there are none.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    bandwidths : array-like of shape (n_bandwidths,)
        Positive numbers, in any order.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel, as in `MeanShift`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric, as in `KModes`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights q >= 0 of the rows.
    sample_scale : array-like of shape (n_samples,), default=None
        Scales s > 0 that multiply the bandwidth at each row.
    max_iter : int, default=1000
        Maximum number of steps of a trajectory.
    tol : float, default=1e-5
        A trajectory ends when its step is shorter than `tol` bandwidths.
    merge_radius : float, default=0.1
        Trajectories that end within `merge_radius` bandwidths of a denser mode are merged into it.
    random_state : int, RandomState instance or None, default=None
        Determines the random steps that distinguish modes from saddle points.
    n_jobs : int, default=None
        Number of threads, as in `MeanShift`.

    Returns
    -------
    ModeTree
        The modes at each bandwidth, the smallest first, with their counts and merges.

    Examples
    --------
    >>> import numpy as np
    >>> from modeclust import modes_by_bandwidth
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> modes_by_bandwidth(X, [0.1, 1.0, 10.0]).n_modes
    array([4, 2, 1])
    """
    check_n_jobs(n_jobs)
    X = check_rows(X, min_rows=2)
    increasing = check_finite_bandwidths(bandwidths)
    kernel_density = KernelDensity.of(
        X, check_weights(sample_weight, X), check_scales(sample_scale, X), metric
    )
    model = MeanShift(
        kernel=kernel,
        metric=metric,
        max_iter=max_iter,
        tol=tol,
        merge_radius=merge_radius,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    opened = kernel_density.open(kernel, metric, float(increasing[0]), n_jobs)
    density = opened.density
    wider = kernel_density.bandwidth_to_internal(increasing[1:], opened.rescaling)
    search = Search(model, opened)
    levels = [ModesAtBandwidth(density.bandwidth, search.at(density.bandwidth))]
    labels = search.row_labels(levels[0].modes)
    for bandwidth in wider:
        levels.append(merge_modes(density, levels[-1], float(bandwidth), search.limits, search.rng))
    if not all(level.modes.converged for level in levels):
        warn_not_converged(max_iter)
    return _tree(levels, labels, opened, kernel_density.X.dtype)


def _tree(
    levels: list[ModesAtBandwidth], labels: Any, opened: OpenKernelDensity, dtype: Any
) -> ModeTree:
    """Return the levels in the user's units, with the number of rows of each mode."""
    counts = np.bincount(labels, minlength=len(levels[0].modes.points))
    found = []
    for i, level in enumerate(levels):
        modes = level.modes
        if i > 0:
            counts = np.bincount(modes.labels, weights=counts, minlength=len(modes.points))
        found.append(
            TreeLevel(
                bandwidth=opened.bandwidth_to_original(level.bandwidth),
                modes=np.asarray(opened.rescaling.to_original(modes.points), dtype=dtype),
                density=modes.density,
                counts=counts.astype(np.int64),
                parents=levels[i + 1].modes.labels if i + 1 < len(levels) else None,
            )
        )
    return ModeTree(tuple(found), labels)

"""K-modes over any bandwidths, as a function."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _get_feature_names

from modeclust.estimators.decorators import validate_params
from modeclust.estimators.problem import Problem, Record, best_so_far
from modeclust.path import Path
from modeclust.validation import (
    CONSTRAINTS,
    check_bandwidths,
    check_rows,
    check_scales,
    check_weights,
)


@validate_params(
    {
        **CONSTRAINTS,
        "bandwidths": ["array-like"],
    },
    prefer_skip_nested_validation=True,
)
def kmodes_path(
    X: Any,
    n_clusters: int = 8,
    *,
    bandwidths: Any,
    kernel: str = "gaussian",
    init: Any = "k-means++",
    n_init: int = 10,
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
    """Follow K-modes over any decreasing bandwidths.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_clusters : int, default=8
        The number of clusters K.
    bandwidths : array-like of shape (S,)
        Positive and decreasing. With ``np.inf`` first, the path starts with the best of
        `n_init` K-means runs; without it, from `init` as it is.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel.
    init : {"k-means++", "random"}, callable or array-like, default="k-means++"
        The first centroids, as in `KModes`.
    n_init : int, default=10
        Number of K-means runs.
    path_iter : int, default=10
        Most iterations at each bandwidth but the last. One iteration is one assignment and
        `mean_shift_iter` mode steps.
    max_iter : int, default=300
        Most iterations at the last bandwidth, and of each K-means run.
    mean_shift_iter : int, default=1
        Mode steps between two assignments.
    tol : float, default=1e-4
        As in `KModes`.
    random_state : int, RandomState instance or None, default=None
        Determines the seeds.
    n_jobs : int, default=None
        Number of threads, as in `KModes`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights q >= 0 of the rows.
    sample_scale : array-like of shape (n_samples,), default=None
        Scales s > 0 that multiply the bandwidth at each row.
    store_labels : bool or "auto", default="auto"
        Whether the path keeps the labels at every bandwidth; "auto" does up to ten million.

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
    names = _get_feature_names(X)
    X = check_rows(X, min_rows=2)
    bandwidths = check_bandwidths(bandwidths)
    scale = check_scales(sample_scale, X)
    rng = check_random_state(random_state)
    with Problem.opened(
        X,
        n_clusters=n_clusters,
        init=init,
        kernel=kernel,
        weight=check_weights(sample_weight, X),
        n_jobs=n_jobs,
        rng=rng,
        path_iter=path_iter,
        max_iter=max_iter,
        mean_shift_iter=mean_shift_iter,
        tol=tol,
    ) as problem:
        problem.set_scale(scale)
        bandwidths = problem.bandwidth_to_internal(bandwidths)
        record = Record.begin(problem, n_clusters, store_labels, len(bandwidths))
        seeds = problem.seeds(init, n_clusters, rng)
        if np.isinf(bandwidths[0]):
            *_, means = best_so_far(problem.kmeans(seeds, n_init))
            record.add_means(means)
            centroids, bandwidths = means.centroids, bandwidths[1:]
        else:
            centroids = next(seeds)
        for state in problem.follow(centroids, bandwidths):
            record.add(state)
        record.round_last()
    record.warn(stacklevel=4)
    return record.path(names)

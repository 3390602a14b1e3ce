"""The modes of a density over bandwidths, as a function."""

from typing import Any

import numpy as np

from modeclust.estimators.decorators import validate_params
from modeclust.estimators.kernel_density import KernelDensity, OpenKernelDensity
from modeclust.estimators.mean_shift import MeanShift, Search, warn_of_unfinished
from modeclust.mode_tree import ModeTree, TreeLevel
from modeclust.solvers.mean_shift import Modes, ModesAtBandwidth, merge_modes
from modeclust.validation import (
    check_finite_bandwidths,
    check_n_jobs,
    check_rows,
    check_scales,
    check_weights,
)

CONSTRAINTS = MeanShift._parameter_constraints


@validate_params(
    {
        name: CONSTRAINTS[name]
        for name in ("kernel", "max_iter", "tol", "merge_radius", "random_state", "n_jobs")
    },
    prefer_skip_nested_validation=True,
)
def modes_by_bandwidth(
    X: Any,
    bandwidths: Any,
    *,
    kernel: str = "gaussian",
    sample_weight: Any = None,
    sample_scale: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-5,
    merge_radius: float = 0.1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ModeTree:
    """Follow the modes of a kernel density as its bandwidth grows.

    At the smallest bandwidth, trajectories start from every row; at each larger one, from the modes
    of the last. So each mode becomes one of the next level, and those that become the same have
    merged. A mode that first appears at a larger bandwidth, which in one dimension with the
    gaussian kernel none does, is not seen.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    bandwidths : array-like of shape (n_bandwidths,)
        Positive numbers, in any order.
    kernel : {"gaussian", "epanechnikov", "biweight", "cauchy"}, default="gaussian"
        The kernel, as in `MeanShift`.
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
        Determines the nudges that tell modes from saddles.
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
        X, check_weights(sample_weight, X), check_scales(sample_scale, X)
    )
    model = MeanShift(
        kernel=kernel,
        max_iter=max_iter,
        tol=tol,
        merge_radius=merge_radius,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    opened = kernel_density.open(kernel, float(increasing[0]), n_jobs)
    density = opened.density
    wider = kernel_density.bandwidth_to_internal(increasing[1:], opened.rescaling)
    search = Search(model, opened)
    levels = [ModesAtBandwidth(density.bandwidth, search.at(density.bandwidth))]
    labels = search.row_labels(levels[0].modes)
    for bandwidth in wider:
        levels.append(merge_modes(density, levels[-1], float(bandwidth), search.limits, search.rng))
    if not all(level.modes.converged for level in levels):
        warn_of_unfinished(max_iter, stacklevel=4)
    return _tree(levels, labels, opened, kernel_density.X.dtype)


def _tree(
    levels: list[ModesAtBandwidth], labels: Any, opened: OpenKernelDensity, dtype: Any
) -> ModeTree:
    """Return the levels in the user's units, with the number of rows of each mode."""
    counts = np.bincount(labels, minlength=len(levels[0].modes.points))
    found = []
    for i, level in enumerate(levels):
        modes: Modes = level.modes
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

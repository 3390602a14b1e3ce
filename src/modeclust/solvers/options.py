"""The settings of the solvers, in one object."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SolverOptions:
    """The kernel, the limits on iterations and the tolerance of a K-modes fit.

    `KModes` documents them. One iteration is one assignment and `mean_shift_iter` mode steps.
    """

    kernel: int  # a number of `modeclust.kernels`
    path_iter: int = 10  # maximum number of iterations at each intermediate bandwidth
    max_iter: int = 300  # the same at the last bandwidth, and for each K-means run
    mean_shift_iter: int = 1
    tol: float = 1e-4
    reassign: bool = True  # whether rows get new labels along the path
    stable_labels: bool = True  # whether a fit goes on while labels change

"""Kernels: names outside, integer codes in compiled code, profiles and pulls.

A kernel is given by its profile G(t) at the squared distance t in bandwidths, with
G(0) = 1. Its pull g(t) = -G'(t), scaled so that g(0) = 1, is the weight of a point in a
mode step. All profiles are convex and non-increasing, so that no step lowers the
objective.

============== ================= ===================
name           G(t)              g(t)
============== ================= ===================
gaussian       exp(-t/2)         exp(-t/2)
epanechnikov   max(0, 1-t)       1 where t < 1
biweight       max(0, 1-t)^2     max(0, 1-t)
cauchy         1/(1+t)           1/(1+t)^2
============== ================= ===================
"""

import math

from modeclust.compiled import compiled

GAUSSIAN, EPANECHNIKOV, BIWEIGHT, CAUCHY = range(4)

# Integers, since functions passed as arguments would miss numba's disk cache.
KERNELS = {
    "gaussian": GAUSSIAN,
    "epanechnikov": EPANECHNIKOV,
    "biweight": BIWEIGHT,
    "cauchy": CAUCHY,
}


@compiled
def profile(kernel: int, t: float) -> float:
    """Return G(t)."""
    if kernel == GAUSSIAN:
        return math.exp(-0.5 * t)
    if kernel == CAUCHY:
        return 1.0 / (1.0 + t)
    if t >= 1.0:
        return 0.0
    if kernel == EPANECHNIKOV:
        return 1.0 - t
    return (1.0 - t) * (1.0 - t)


@compiled
def relative_pull(kernel: int, t: float, reference: float) -> float:
    """Return g(t) / g(reference), which does not underflow near the reference.

    Compact kernels have no use for a reference: theirs is always 0, where g is 1.
    Hence ``relative_pull(kernel, old, new)`` moves sums from one reference to another
    for every kernel.
    """
    if kernel == GAUSSIAN:
        return math.exp(-0.5 * (t - reference))
    if kernel == CAUCHY:
        ratio = (1.0 + reference) / (1.0 + t)
        return ratio * ratio
    if t >= 1.0:
        return 0.0
    if kernel == EPANECHNIKOV:
        return 1.0
    return 1.0 - t


@compiled
def has_compact_support(kernel: int) -> bool:
    """Return whether points at t >= 1 have no pull at all."""
    return kernel in (EPANECHNIKOV, BIWEIGHT)

"""The search for a bandwidth at which the density has a given number of modes."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from modeclust.solvers.mean_shift import Modes, ModesAtBandwidth

# Factor between the bandwidths at which modes are counted.
WIDER = 1.2
NARROWEST = 1e-6
# The search starts at a bandwidth with an estimated FEW to MANY times the wanted number of modes.
# If there is none, it starts where bandwidths with more and with fewer modes differ by less than
# the factor NARROW_ENOUGH.
FEW, MANY, NARROW_ENOUGH = 2, 8, 1.005
# If this bandwidth is too large, it is divided by this factor.
FINER = 1.01
# The smallest bandwidth that is tried, as a share of the first.
SMALLEST = 1e-12


class NoBandwidthError(Exception):
    """No bandwidth gives the wanted number of modes.

    Its `args` are the nearest bandwidths with more and with fewer modes, each with the number.
    """


def find_bandwidth(
    n_modes: int,
    start: float,
    search: Callable[[float], Modes],
    merge_modes_at: Callable[[ModesAtBandwidth, float], ModesAtBandwidth],
    estimate_count: Callable[[float], float] | None = None,
) -> ModesAtBandwidth:
    """Find a bandwidth with `n_modes` modes, and return it with its modes.

    `search` finds the modes at a bandwidth from all seeds. `merge_modes_at` is faster: it ascends
    from the modes at a smaller bandwidth, so that the number of modes never grows.
    `estimate_count` estimates the number of modes from some of the seeds, to choose the start.
    """
    narrower = 2.0
    if estimate_count is not None:
        start, narrower = _start_with_about(n_modes, start, estimate_count), FINER
    low = _modes_with_at_least(n_modes, start, narrower, search)
    high = None
    while True:
        n_low = len(low.modes.points)
        if n_low == n_modes:
            return low
        if high is not None and high.bandwidth < low.bandwidth * (1.0 + NARROWEST):
            raise NoBandwidthError((low.bandwidth, n_low), (high.bandwidth, len(high.modes.points)))
        bandwidth = low.bandwidth * WIDER if high is None else sqrt(low.bandwidth * high.bandwidth)
        found = merge_modes_at(low, bandwidth)
        n_found = len(found.modes.points)
        if n_found == n_modes:
            # From all seeds there may be modes that do not exist at smaller bandwidths.
            found = ModesAtBandwidth(bandwidth, search(bandwidth))
            n_found = len(found.modes.points)
        if n_found >= n_modes:
            low = found
        else:
            high = found


def _start_with_about(
    n_modes: int, start: float, estimate_count: Callable[[float], float]
) -> float:
    """Return a bandwidth with an estimated number of modes somewhat above `n_modes`.

    In many dimensions there is a narrow range of bandwidths below which nearly every row is a mode.
    There, a search from all seeds takes long.
    """
    low, high, n_low = start, np.inf, estimate_count(start)
    if n_low >= n_modes:
        return start
    while n_low < FEW * n_modes:
        low, high = low / 2.0, low
        if low < SMALLEST * start:
            return start
        n_low = estimate_count(low)
    while n_low > MANY * n_modes and low * NARROW_ENOUGH < high < np.inf:
        middle = sqrt(low * high)
        n_middle = estimate_count(middle)
        if n_middle < FEW * n_modes:
            high = middle
        else:
            low, n_low = middle, n_middle
    return low


def estimated_count(modes: Modes, n_seeds: int) -> float:
    """Estimate the number of modes that `n_seeds` seeds reach, from the modes of some of them.

    Modes that only one seed reached are assumed to be equally frequent among all seeds.
    """
    alone = int(np.sum(np.bincount(modes.labels) == 1))
    return float(len(modes.points) - alone + alone * n_seeds / len(modes.labels))


def _modes_with_at_least(
    n_modes: int, start: float, narrower: float, search: Callable[[float], Modes]
) -> ModesAtBandwidth:
    """Return the modes at `start`, or at a smaller bandwidth with at least `n_modes`.

    The bandwidth is first divided by `narrower`. This divisor is squared after each step, up to 2.
    """
    bandwidth = start
    first = found = ModesAtBandwidth(bandwidth, search(bandwidth))
    while len(found.modes.points) < n_modes:
        bandwidth /= narrower
        narrower = min(narrower**2, 2.0)
        if bandwidth < SMALLEST * start:
            raise NoBandwidthError(
                (found.bandwidth, len(found.modes.points)), (start, len(first.modes.points))
            )
        found = ModesAtBandwidth(bandwidth, search(bandwidth))
    return found

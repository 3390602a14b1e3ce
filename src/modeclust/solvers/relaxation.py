"""Longer mode steps where plain ones creep.

A convex profile lies above its tangent, so that at fixed labels the objective lies above a
function of the centroid c that touches it where the centroid is now and is, up to a
constant, -|c - m|^2 with m the place where the mode step would take it. Hence no place that
is at most as far from m as the centroid is lowers the objective: a step of up to twice the
length is as safe as the plain one.
"""

import numpy as np
import numpy.typing as npt

# Plain steps at one bandwidth before any is made longer: most bandwidths need no more.
PLAIN_STEPS = 10
LONGEST = 1.95


class Relaxation:
    """Lengthens the mode steps of each centroid by how much they shrink from one to the next."""

    def __init__(self) -> None:
        self._n_steps = 0
        self._before: npt.NDArray[np.float64] | None = None
        self._factors: npt.NDArray[np.float64] | None = None

    def next(
        self, centroids: npt.NDArray[np.float64], moved: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return where to go instead of `moved`."""
        self._n_steps += 1
        if self._n_steps < PLAIN_STEPS:
            return moved
        step = moved - centroids
        factors = np.ones(len(step))
        if self._before is not None and self._factors is not None:
            lengths = np.einsum("kd,kd->k", self._before, self._before)
            along = np.einsum("kd,kd->k", self._before, step)
            shrunk = np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0)
            # A plain step from there would have been this multiple of the one before, and the
            # sum of all that were to follow 1 / (1 - rate) times the first.
            rate = 1.0 - (1.0 - shrunk) / self._factors
            factors = 1.0 / (1.0 - np.clip(rate, 0.0, 1.0 - 1.0 / LONGEST))
        self._before, self._factors = step, factors
        relaxed: npt.NDArray[np.float64] = centroids + factors[:, None] * step
        return relaxed

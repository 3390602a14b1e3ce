r"""K-modes of a stream: batches come and go, and what stays of them is one sum for each cluster.

A profile G is convex, and so lies above its tangents. With the label of a row and the centroid
b as they were when it was read, and w = q g(|x - b|^2 / (sigma s)^2) / s^2 its weight there,

    q G(|x - c|^2 / (sigma s)^2)  >=  a constant - w |x - c|^2 (up to one factor for all rows)

for every c, with equality at b. Such parabolas of many rows add up to one for each cluster,
which the sums of a mode step, of w and of w x, describe in full; nothing else need be kept.

A batch is fitted together with this past: what is maximised is L of the batch plus the
parabolas of all rows before, faded. That is K-modes in which the sums of the past take part in
every mode step, as one more block of rows with weights that stay, and hence `solve` is all there
is to it: no iteration lowers the value. Then the batch becomes parabolas too, at the centroids
found. The past was seen from where the centroids were at the time, and fading is what makes that
go away.

This is stochastic majorisation-minimisation (Mairal, 2013), of which on-line EM (Cappé &
Moulines, 2009) and on-line K-means, here that of an infinite bandwidth, are other cases.
"""

import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from modeclust.algorithms.solve import Centers, State, inverse_square, restate, solve
from modeclust.data.dataset import Dataset
from modeclust.data.mode_pass import ModePass, ModeSums

# A past of n rows is multiplied by (n / (n + m))^FADING when m more come. What is left of the
# error with which a stream began after n rows is n^(-(1 + FADING) (1 - r)), where r < 1 is by how
# much a mode step shrinks it: without fading this is slow where clusters are wide beside the
# bandwidth. For it, the rows count as (1 + 2 FADING) / (1 + FADING)^2 = 5/9 of them.
FADING = 2.0
# A cluster without a row for so long that its sums fall below this has none: their quotient
# would soon be rounding.
GONE = 1e-250


@dataclass(frozen=True, eq=False)
class Past:
    """The sums of all rows seen, faded; see `ModeSums` for what mass and reference are."""

    centers: Centers  # (K, D) the sum of weight x over the mass; the centroid where that is 0
    mass: npt.NDArray[np.float64]  # (K,)
    reference: npt.NDArray[np.float64]  # (K,)
    weight: float  # sum of q, of all rows and not faded
    scale: float = 1.0  # the local scale that counts as 1 in these sums

    def faded(self, weight: float, half_life: float) -> Self:
        """Return what is left of the past when rows of this weight come after it."""
        by_length = (self.weight / (self.weight + weight)) ** FADING
        mass = self.mass * min(by_length, 2.0 ** (-weight / half_life))
        mass[mass < GONE] = 0.0
        return replace(self, mass=mass, reference=np.where(mass > 0, self.reference, np.inf))

    def sums(self, kernel: int) -> ModeSums:
        """Return the sums as a pass leaves them."""
        sums = ModeSums.zeros(kernel, *self.centers.shape)
        sums.reference[:] = self.reference
        sums.mass[:] = self.mass
        sums.totals[:] = self.mass[:, None] * self.centers
        return sums


class Joined:
    """Rows, and sums of others that come before them in each mode step."""

    def __init__(self, past: ModeSums, rows: Dataset) -> None:
        self._past = past
        self._rows = rows

    def run(self, pass_: ModePass) -> ModeSums:
        """Do one pass over the rows, and return the sums of all."""
        sums = copy.deepcopy(self._past)
        sums.merge(self._rows.run(pass_))
        return sums


def absorb(
    rows: Dataset,
    weight: float,
    past: Past,
    bandwidth: float,
    *,
    kernel: int,
    half_life: float,
    max_iter: int,
    mean_shift_iter: int,
    tol: float,
) -> tuple[State, Past]:
    """Fit the rows of a batch, of this weight in all, together with the past.

    Returns the state that a pass over the batch alone measures at the centroids found, and the
    past of which the batch is part.
    """
    sums = past.faded(weight, half_life).sums(kernel)
    state = solve(
        Joined(sums, rows),
        past.centers,
        bandwidth,
        kernel=kernel,
        max_iter=max_iter,
        mean_shift_iter=mean_shift_iter,
        tol=tol,
    )
    batch = rows.run(ModePass(state.centroids, kernel, inverse_square(bandwidth)))
    sums.merge(batch)
    onward = replace(
        past,
        centers=sums.moved(state.centroids),
        mass=sums.mass,
        reference=sums.reference,
        weight=past.weight + weight,
    )
    return restate(state, state.centroids, batch), onward

"""The seam between algorithms and data: what a home of rows offers, what a pass needs.

No algorithm mentions threads, files or clusters, and no home of rows mentions an
algorithm: a step is all that passes between them.
"""

from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from modeclust.data.blocks import Block
from modeclust.data.sample import Sample


class Partials(Protocol):
    """What a pass leaves of some rows. Merging is associative."""

    def merge(self, other: Self, /) -> None:
        """Add what was left of the rows that come next."""


P = TypeVar("P", bound=Partials)


class Step(Protocol[P]):
    """What one pass over the rows does with a block. It must not depend on its home.

    One that gives rows the labels of their nearest centroids has these as `centroids`, and says
    so by a true `assigns`: homes that may lose labels find them again from there.
    """

    def start(self) -> P:
        """Return what a pass over no rows leaves."""

    def add(self, block: Block, partials: P, /) -> None:
        """Add one block to `partials`."""


def step_assigns(step: Any) -> bool:
    """Return whether a step gives the rows the labels of its nearest centroids."""
    return bool(getattr(step, "assigns", False))


class Rows(Protocol):
    """The data, wherever they live, as the algorithms see them."""

    n_rows: int
    n_features: int

    def reduce(self, step: Step[P]) -> P:
        """Do one pass over the rows."""

    def labels(self) -> npt.NDArray[np.int32]:
        """Return each row's label by the last pass that assigned."""

    def labels_at(self, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the labels of some rows."""

    def take(self, indices: npt.NDArray[np.int64]) -> Sample:
        """Return some rows."""

    def sample(self, n_rows: int, rng: np.random.RandomState) -> Sample:
        """Return rows drawn at random."""

    def distinct(self) -> Sample:
        """Return one row for each distinct row."""

"""The base of passes that compare rows with centroids."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from modeclust.data.bounds import Bounds
from modeclust.data.reading import CentroidLayouts


@dataclass(frozen=True)
class CentroidPass:
    """A pass with centroids; bounds and layouts derived from them are computed once."""

    centroids: npt.NDArray[np.float64]  # (K, D)

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.centroids)

    @cached_property
    def _layouts(self) -> CentroidLayouts:
        return CentroidLayouts(self.centroids)

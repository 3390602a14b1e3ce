"""What every step that measures rows against centroids works out from them, once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from modeclust.data.bounds import Bounds
from modeclust.data.reading import CentroidLayouts


@dataclass(frozen=True)
class CentroidPass:
    """A step with centroids; what is derived from them is made when first needed."""

    centroids: npt.NDArray[np.float64]  # (K, D)

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.centroids)

    @cached_property
    def _layouts(self) -> CentroidLayouts:
        return CentroidLayouts(self.centroids)

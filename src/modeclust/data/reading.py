"""What kind of rows there are."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.floating[Any]]


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a scipy matrix or array, which is then CSR."""
    return bool(sparse.issparse(X))

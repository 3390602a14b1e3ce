"""An order of rows in which neighbours are near each other."""

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Floats


def spatial_order(X: Floats, leaf: int) -> npt.NDArray[np.intp]:
    """Return an order in which runs of about `leaf` rows lie in small boxes.

    By halving at the median of the widest feature, as in a k-d tree.
    """
    done: list[npt.NDArray[np.intp]] = []
    waiting = [np.arange(len(X))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= leaf:
            done.append(rows)
            continue
        here = X[rows]
        widest = np.argmax(here.max(axis=0) - here.min(axis=0))
        # Whole leaves, so that those of a pass are the same.
        middle = leaf * max(1, round(len(rows) / leaf / 2))
        order = np.argpartition(here[:, widest], middle - 1)
        waiting += [rows[order[middle:]], rows[order[:middle]]]
    return np.concatenate(done)

"""The warnings of the library, which can be filtered by class, and its errors."""

import os
import sys
import warnings
from pathlib import Path


class EmptyClusterWarning(UserWarning):
    """A cluster lost all its rows along the path, and kept its mode."""


class EmptySupportWarning(UserWarning):
    """A kernel with compact support reaches no row of a cluster, and its mode does not move."""


class CenterLengthWarning(UserWarning):
    """Sparse rows of length 1 have centers of very different lengths; use metric="cosine"."""


class UnsureClusterCountWarning(UserWarning):
    """The tests behind ``n_clusters="auto"`` do not agree on how many clusters there are."""


class ColumnScaleWarning(UserWarning):
    """One column of a table varies far more than the others, and dominates the distances."""


class IdColumnWarning(UserWarning):
    """A column of a table looks like an id, and is clustered like the others."""


class UnknownCategoriesWarning(UserWarning):
    """A column of categories has only values that the table of the fit did not have."""


class SingleRowWarning(UserWarning):
    """A cluster has only one row, where clusters have ten or more on average."""


class WideBandwidthWarning(UserWarning):
    """At this bandwidth, nearly all clusters look redundant, so it cannot tell which ones are."""


class ApproximateNeighborsWarning(UserWarning):
    """There are many rows, and their neighbours were found approximately."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written or removed. The fit continues."""


class ModelFileError(ValueError):
    """A file is not a model, is damaged, or was written by a newer version."""


class CheckpointError(ValueError):
    """A file is not a checkpoint, is damaged, or belongs to another fit."""


def _warn_user(message: str, category: type[Warning]) -> None:
    """Warn, with the first caller outside of modeclust and scikit-learn as the source."""
    internal = (str(Path(__file__).parent) + os.sep, f"{os.sep}sklearn{os.sep}")
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and any(
        folder in frame.f_back.f_code.co_filename for folder in internal
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)

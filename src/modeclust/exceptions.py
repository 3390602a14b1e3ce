"""Warnings of the library, to be filtered by their class, and its errors."""


class EmptyClusterWarning(UserWarning):
    """A cluster lost all its points on the path, and kept its centroid."""


class EmptySupportWarning(UserWarning):
    """A compact kernel reaches no point of a cluster, and its centroid stays in place."""


class ApproximateNeighborsWarning(UserWarning):
    """Neighbours were not found exactly, for being many."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written or removed; the fit goes on."""


class ScaledModelWarning(UserWarning):
    """A model was loaded that takes scaled rows, and its `scaling_` is what scales them."""


class ModelFileError(ValueError):
    """A file is not a model, or is a damaged one, or one of a newer version."""


class CheckpointError(ValueError):
    """A file is not a checkpoint, or is a damaged one, or that of another fit."""

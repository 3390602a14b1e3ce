"""K-modes clustering: exactly K clusters, each with a mode of its own density."""

from modeclust.estimators.bandwidth import estimate_bandwidth
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.kmodes_path import kmodes_path
from modeclust.estimators.mean_shift import MeanShift
from modeclust.estimators.modes_by_bandwidth import modes_by_bandwidth
from modeclust.mode_tree import ModeTree
from modeclust.path import Path

__all__ = [
    "KModes",
    "MeanShift",
    "ModeTree",
    "Path",
    "estimate_bandwidth",
    "kmodes_path",
    "modes_by_bandwidth",
]
__version__ = "0.1.0.dev0"

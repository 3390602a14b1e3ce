"""K-modes clustering: exactly K clusters, each with a mode of its own density."""

from modeclust.estimators.bandwidth import estimate_bandwidth
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.kmodes_path import kmodes_path
from modeclust.path import Path

__all__ = ["KModes", "Path", "estimate_bandwidth", "kmodes_path"]
__version__ = "0.1.0.dev0"

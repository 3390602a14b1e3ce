"""K-modes clustering: exactly K clusters, each with a mode of its own density."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeclust import plotting as plotting
    from modeclust.cluster_suggestion import ClusterSuggestion
    from modeclust.estimators.cluster_modes import cluster_modes
    from modeclust.estimators.functions import estimate_bandwidth, kmodes_path, modes_by_bandwidth
    from modeclust.estimators.kmodes import KModes
    from modeclust.estimators.laplacian_kmodes import LaplacianKModes
    from modeclust.estimators.mean_shift import MeanShift
    from modeclust.estimators.saving import load, save
    from modeclust.estimators.suggest_clusters import suggest_clusters
    from modeclust.mode_tree import ModeTree
    from modeclust.path import Path
    from modeclust.preparation.table import TablePreparation
    from modeclust.reporting.report import report
    from modeclust.versions import show_versions

__all__ = [
    "ClusterSuggestion",
    "KModes",
    "LaplacianKModes",
    "MeanShift",
    "ModeTree",
    "Path",
    "TablePreparation",
    "cluster_modes",
    "estimate_bandwidth",
    "kmodes_path",
    "load",
    "modes_by_bandwidth",
    "report",
    "save",
    "show_versions",
    "suggest_clusters",
]
__version__ = "0.2.0"

# Imported when first used, so that the command line can answer at once.
_MODULES = {
    "ClusterSuggestion": "cluster_suggestion",
    "KModes": "estimators.kmodes",
    "LaplacianKModes": "estimators.laplacian_kmodes",
    "MeanShift": "estimators.mean_shift",
    "ModeTree": "mode_tree",
    "Path": "path",
    "TablePreparation": "preparation.table",
    "cluster_modes": "estimators.cluster_modes",
    "estimate_bandwidth": "estimators.functions",
    "kmodes_path": "estimators.functions",
    "load": "estimators.saving",
    "modes_by_bandwidth": "estimators.functions",
    "report": "reporting.report",
    "save": "estimators.saving",
    "show_versions": "versions",
    "suggest_clusters": "estimators.suggest_clusters",
}


def __getattr__(name: str) -> Any:
    if name == "plotting":
        return import_module(f"{__name__}.plotting")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "plotting"} - {"Any", "TYPE_CHECKING", "import_module"})

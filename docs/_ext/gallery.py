"""The order of the gallery, and how strict its examples are run."""

import warnings
from pathlib import Path

ORDER = (
    "digits",
    "customers",
    "how_many_clusters",
    "outliers",
    "unsure_rows",
    "documents",
    "any_clustering",
    "moons_and_spirals",
    "colours",
    "landmarks",
    "spectral",
    "degrees",
    "measurements",
    "too_many_clusters",
    "grid_search",
    "dask_cluster",
)

_before = []


def place(file):
    """Return what an example is sorted by: first those that show what the library is for."""
    name = Path(file).stem
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def hold_warnings_to_be_errors(gallery_conf, file, when):
    """Make a warning in an example fail the build, and only there."""
    if when == "before":
        _before.append(warnings.filters[:])
        warnings.simplefilter("error")
        # `plt.show()` belongs in a script; here its figures are collected.
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
    else:
        warnings.filters[:] = _before.pop()

"""Threads and data of all benchmarks. Import this module first.

OpenMP reads its variables when it is loaded. Child processes inherit them.
"""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
PACKAGES = (
    "modeclust",
    "scikit-learn",
    "scikit-learn-intelex",
    "faiss-cpu",
    "kmedoids",
    "genieclust",
    "dask",
    "distributed",
    "dask-ml",
    "numpy",
    "scipy",
)

# scikit-learn and modeclust both use this number of threads.
os.environ["OMP_NUM_THREADS"] = str(THREADS)

_beside = ROOT.parent / "shared" / "data"
if "MODECLUST_DATA" not in os.environ and _beside.is_dir():
    os.environ["MODECLUST_DATA"] = str(_beside)


def data_file(name):
    """Return the path of a data file, or None if it is not available."""
    folder = os.environ.get("MODECLUST_DATA")
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_file() else None


def data_folder(name):
    """Return the path of a folder of data, or None if it is not available."""
    folder = os.environ.get("MODECLUST_DATA")
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_dir() else None


def describe_environment():
    """Return the date, the machine and the versions of a run."""
    from modeclust import _core  # after the variables are set

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "threads": THREADS,
        "python": platform.python_version(),
        "simd": _core.simd(),
        "compiler": _core.compiler().strip(),
        "packages": {name: _version_of(name) for name in PACKAGES},
    }


def _version_of(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None

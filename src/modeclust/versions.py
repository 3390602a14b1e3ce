"""The installed versions, for bug reports."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from modeclust import __version__, _core

_REQUIRED = ("narwhals", "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
_OPTIONAL = (
    "matplotlib",
    "typer",
    "rich",
    "polars",
    "pandas",
    "pyarrow",
    "faiss-cpu",
    "dask",
    "distributed",
    "zarr",
    "h5py",
)


def show_versions() -> None:
    """Print the versions of modeclust and its dependencies, and which compiled code is used.

    Add the output to a bug report.

    Examples
    --------
    >>> from modeclust import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    <BLANKLINE>
    System:
           python: ...
    """
    sections = {
        "System": {
            "python": sys.version.replace("\n", " "),
            "executable": sys.executable,
            "machine": platform.platform(),
        },
        "modeclust": {
            "version": __version__,
            "simd": _core.simd(),
            "available": ", ".join(_core.available_simd()),
            "compiler": _core.compiler().strip(),
            "nanobind": _core.nanobind_version(),
        },
        "Python packages": {name: _installed(name) for name in _REQUIRED},
        "Optional packages": {name: _installed(name) for name in _OPTIONAL},
    }
    for title, entries in sections.items():
        print(f"\n{title}:")
        for name, value in entries.items():
            print(f"{name:>13}: {value}")


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"

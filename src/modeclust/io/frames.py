"""Tables for users, in the library that they use."""

import sys
from importlib.util import find_spec
from typing import Any


def to_frame(columns: dict[str, Any], backend: str | None = None) -> Any:
    """Return columns as a polars or pandas frame, or as they are for "dict".

    By default a frame of the library that is in use or else installed, and a dict where
    neither is.
    """
    backend = backend or _installed_backend()
    if backend == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    if backend == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    if backend == "dict":
        return columns
    raise ValueError(f"backend must be 'polars', 'pandas' or 'dict', got {backend!r}.")


def unused_column(name: str, columns: dict[str, Any]) -> str:
    """Return a name, with underscores behind it as long as a column has it already."""
    while name in columns:
        name += "_"
    return name


def _installed_backend() -> str:
    for name in ("polars", "pandas"):
        if name in sys.modules:
            return name
    for name in ("polars", "pandas"):
        if find_spec(name) is not None:
            return name
    return "dict"

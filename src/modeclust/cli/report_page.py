"""The page of `fit`, `explore` and `report`: all columns of a file, in their units."""

from typing import Any

import numpy as np

from modeclust.cli.readers.table import Table
from modeclust.data.reading import is_dask
from modeclust.preparation.table import TablePreparation


def page_of(
    clustering: Any, X: Any, table: Table, original: Any, *, preparation: Any = None, **options: Any
) -> Any:
    """Return the report of the rows `X`, with all columns of the file that they come from.

    `original` are the features in the units of the file. A prepared table has them in its frame.
    """
    from modeclust.reporting.page import Report
    from modeclust.reporting.summarize import summarize

    if isinstance(preparation, TablePreparation):
        data, options["preparation"] = table.frame, preparation
        options["feature_names"] = preparation.get_feature_names_out().tolist()
    elif original is None:
        data, options["feature_names"] = table.frame, table.columns
    elif is_dask(original) or table.frame is None:
        data = original
        options["feature_names"] = table.columns
    else:
        options["feature_names"] = table.columns
        data = _with_features(table, original)
    ids = None if table.ids is None else next(iter(table.ids.values()))
    return Report(
        summarize(
            clustering,
            data,
            X=X,
            y=table.labels,
            row_names=ids,
            title=table.title,
            sample_weight=table.weight,
            **options,
        )
    )


def _with_features(table: Table, original: Any) -> Any:
    """Return the frame of a file in which the features are the numbers that were read."""
    import polars as pl

    dense = original.toarray() if hasattr(original, "toarray") else original
    features = [
        pl.Series(name, column)
        for name, column in zip(table.columns, np.asarray(dense).T, strict=True)
        if not table.frame.schema[name].is_integer()
    ]
    return table.frame.with_columns(features)

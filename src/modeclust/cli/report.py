"""What `report` does: a page about a saved model, or about labels of any tool."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeclust.cli.fit import parse_image, read_data
from modeclust.cli.options import BUILT_IN, check_name
from modeclust.cli.readers.columns import FrameColumns, is_numeric
from modeclust.cli.readers.csv_files import DETECT, CsvFormat
from modeclust.cli.readers.files import TableError, listed
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.parquet_files import ParquetScan
from modeclust.cli.readers.table import open_file
from modeclust.cli.report_page import page_of
from modeclust.cli.saved_model import open_model, options_for, read_rows
from modeclust.io.atomic import StrPath
from modeclust.io.model_file import is_document

# Names of a column of labels, the most usual first.
LABELS = ("label", "labels", "cluster", "clusters")


class ReportOptions(NamedTuple):
    """The options of `report`, as the user typed them."""

    model: Path
    data: str
    columns: Sequence[str] | None
    id_column: str | None
    text_column: str | None
    image: str | None
    stability: int
    csv_format: CsvFormat


def make_page(options: ReportOptions) -> Any:
    """Return the report of a model or of labels."""
    is_model = options.model.is_dir() or is_document(options.model)
    reading = ReadOptions(id_column=options.id_column, csv_format=options.csv_format, stream=False)
    image_shape = parse_image(options.image)
    saved = open_model(options.model) if is_model else None
    if saved is not None:
        if options.columns is not None:
            raise ValueError("--columns applies to labels only: a model knows its columns.")
        reading = options_for(saved, reading)
    frame = read_frame(options.data, reading.csv_format)
    if options.text_column is not None:
        known = [] if frame is None else frame.columns
        if options.text_column not in known:
            has = f"its columns are {listed(known)}" if known else "it has no names of columns"
            raise TableError(
                f"{options.data!r} has no column {options.text_column!r} for --text-column; {has}."
            )
    if saved is not None:
        clustering, table, X = read_rows(saved, options.data, reading)
    else:
        clustering = read_labels(options.model)
        columns = options.columns
        if columns is None and frame is not None:
            columns = numeric_columns(frame, options.id_column)
        table = read_data(options.data, replace(reading, columns=columns))
        X = table.X
    try:
        return page_of(
            clustering,
            X,
            table if frame is None else table._replace(frame=frame),
            table.X,
            preparation=None if saved is None else saved.preparation,
            texts=options.text_column,
            image_shape=table.image_shape if image_shape is None else image_shape,
            stability=options.stability,
        )
    except ValueError as error:
        message = str(error)
        if not message.startswith("X "):
            raise
        raise ValueError(f"{options.data!r}{message[1:]}") from None


def read_labels(path: StrPath) -> Any:
    """Return the labels in a file: its only column, or the one that is named so."""
    source = open_file(Path(path), DETECT)
    names = list(source.names)
    named = [name for wanted in LABELS for name in names if name.lower() == wanted]
    chosen = names[0] if len(names) == 1 else named[0] if named else None
    if chosen is None:
        raise TableError(
            f"{str(path)!r} has no column of labels; name one of its columns {LABELS[0]!r}: "
            f"{listed(names)}."
        )
    columns: Any = source.load([chosen]) if hasattr(source, "load") else source
    labels = np.asarray(columns.column(chosen))
    if labels.dtype.kind == "f" and np.array_equal(labels, np.round(labels)):
        labels = labels.astype(np.int64)
    if all(re.fullmatch(r"-?\d+", str(label)) for label in labels.tolist()):
        labels = labels.astype(np.int64)  # noise is the number -1
    return labels


def read_frame(data: str, csv_format: CsvFormat) -> Any:
    """Return all columns of a file as a frame; None for arrays and built-in datasets."""
    if data in BUILT_IN:
        return None
    check_name(data)
    source: Any = open_file(Path(data), csv_format)
    if isinstance(source, ParquetScan):
        source = source.load(source.names)
    return source.with_decimal_commas() if isinstance(source, FrameColumns) else None


def numeric_columns(frame: Any, id_column: str | None) -> list[str]:
    """Return the columns of numbers without missing values."""
    found = [
        name
        for name, dtype in frame.schema.items()
        if is_numeric(dtype) and name != id_column and not frame[name].null_count()
    ]
    if not found:
        raise TableError(
            "the data has no column of numbers without missing values; choose columns of numbers "
            "with --columns."
        )
    return found

"""What `report` does: a page about a saved model, or about labels of any tool."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from modeclust.cli.fit import parse_image, prepare_frame, read_data
from modeclust.cli.label_file import LabelFile, load
from modeclust.cli.options import BUILT_IN, check_name
from modeclust.cli.readers.columns import FrameColumns
from modeclust.cli.readers.csv_files import CsvFormat
from modeclust.cli.readers.files import TableError, listed
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import Columns, Table, open_file
from modeclust.cli.report_page import page_of
from modeclust.cli.saved_model import open_model, options_for, read_for_model
from modeclust.estimators.cluster_modes import check_labels
from modeclust.io.model_file import is_document
from modeclust.reporting.given import check_few, columns_without

OTHERWISE = "to use fewer columns: --columns NAMES"


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
    reading = ReadOptions(
        id_column=options.id_column, csv_format=options.csv_format, stream=False, can_exclude=False
    )
    image_shape = parse_image(options.image)
    original: Any
    if is_model:
        saved = open_model(options.model)
        if options.columns is not None:
            raise ValueError("--columns applies to labels only: a model knows its columns.")
        reading = options_for(saved, reading)
        frame = _frame_of(options, _open_rows(options.data, reading.csv_format))
        clustering, table, X = read_for_model(saved, options.data, reading)
        original, preparation = table.X, saved.preparation
    else:
        reading = replace(
            reading,
            columns=options.columns,
            csv_format=reading.csv_format._replace(to_prepare=True),
            as_frame=True,
        )
        rows = _open_rows(options.data, reading.csv_format)
        frame = _frame_of(options, rows)
        file = LabelFile.read(options.model)
        table = read_data(options.data, reading)
        clustering, original = file.labels, table.X
        if rows is not None:
            clustering = file.labels_of(rows, options.data, options.id_column)
        check_labels(clustering, (table.frame if table.X is None else table.X).shape[0])
        check_few(clustering)
        table, preparation = _prepare(table, clustering, is_chosen=options.columns is not None)
        X = table.X
    try:
        return page_of(
            clustering,
            X,
            table if frame is None else table._replace(frame=frame),
            original,
            preparation=preparation,
            texts=options.text_column,
            image_shape=table.image_shape if image_shape is None else image_shape,
            stability=options.stability,
        )
    except ValueError as error:
        message = str(error)
        if not message.startswith("X "):
            raise
        raise ValueError(f"{options.data!r}{message[1:]}") from None


def _prepare(table: Table, labels: Any, *, is_chosen: bool) -> tuple[Table, Any]:
    """Return the table with rows as `fit` clusters them, without a column of the labels."""
    if table.X is not None:
        return table, None
    if not is_chosen:
        kept = columns_without(labels, table.frame.select(table.columns))
        table = table._replace(columns=kept)
    return prepare_frame(table, otherwise=OTHERWISE)


def _open_rows(data: str, csv_format: CsvFormat) -> Columns | None:
    """Return all columns of a file; None for built-in datasets."""
    if data in BUILT_IN:
        return None
    check_name(data)
    source = open_file(Path(data), csv_format)
    return load(source, list(source.names))


def _frame_of(options: ReportOptions, rows: Columns | None) -> Any:
    """Return the columns as a frame, or None if they are an array, which has no text."""
    frame = rows.with_decimal_commas() if isinstance(rows, FrameColumns) else None
    if options.text_column is not None:
        known = [] if frame is None else frame.columns
        if options.text_column not in known:
            has = f"its columns are {listed(known)}" if known else "it has no names of columns"
            raise TableError(
                f"{options.data!r} has no column {options.text_column!r} for --text-column; {has}."
            )
    return frame

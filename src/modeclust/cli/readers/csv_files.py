"""CSV and TSV files.

polars reads them. Its errors do not name the line, and it accepts some files that are not tables,
such as UTF-16 text; those cases are checked here.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from modeclust.cli.readers.columns import FrameColumns
from modeclust.cli.readers.files import TableError, ending_of, listed, read_content
from modeclust.cli.readers.number_texts import keep_texts

GZIP_SIGNATURE = b"\x1f\x8b"
SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas"}
UTF16_SIGNATURES = (b"\xff\xfe", b"\xfe\xff")


class CsvFormat(NamedTuple):
    """How to read a CSV file; None means that it is detected."""

    header: bool | None = None
    separator: str | None = None
    decimal_comma: bool | None = None
    # Whether the table is prepared: take another separator if the first line has only that one,
    # and keep text that must not be read as numbers before all columns are known.
    to_prepare: bool = False
    texts: Sequence[str] = ()  # columns that are read as text

    @property
    def options(self) -> list[str]:
        """The command-line options that were passed."""
        is_passed = {
            "--header": self.header is True,
            "--no-header": self.header is False,
            "--separator": self.separator is not None,
            "--decimal-comma": self.decimal_comma is True,
            "--no-decimal-comma": self.decimal_comma is False,
        }
        return [option for option, passed in is_passed.items() if passed]

    def separator_for(self, path: Path) -> str:
        """Return the separator: the option if it was passed, else by the ending of the file."""
        if self.separator is None:
            return "\t" if ending_of(path).startswith(".tsv") else ","
        separator = self.separator.replace("\\t", "\t")  # as typed in a shell
        if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
            raise TableError(
                "--separator must be a single ASCII character other than a quote or a line break, "
                f"e.g. ';', got {self.separator!r}."
            )
        return separator


DETECT = CsvFormat()


def read_csv(path: Path, csv_format: CsvFormat) -> FrameColumns:
    """Read a CSV or TSV file."""
    import polars as pl

    separator = csv_format.separator_for(path)
    content = read_content(path).rstrip(b"\r\n")
    if b"\n" not in content:  # line ends of old Macintosh systems
        content = content.replace(b"\r", b"\n")
    fields = _first_record(content, separator)
    found = _find_separator(fields, separator) if csv_format.separator is None else None
    notices = []
    if found is not None:
        if not csv_format.to_prepare:
            raise TableError(
                f"the fields seem to be separated by {SEPARATORS[found]}; {_remedy(found)}"
            )
        separator, fields = found, _first_record(content, found)
        notices = [f"the fields are separated by {SEPARATORS[found]}"]
    has_header, doubts = _has_header(fields, csv_format)
    notices += doubts
    names, unnamed = [f"x{j}" for j in range(len(fields))], []
    if has_header:
        names = [name.strip() or f"unnamed_{j + 1}" for j, name in enumerate(fields)]
        unnamed = [name for name, field in zip(names, fields, strict=True) if not field.strip()]
    if unnamed:
        notices.append(f"columns without a name are ignored: {', '.join(unnamed)}")
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise TableError(f"column names must be unique, got {listed(repeated)} more than once")
    read = partial(
        pl.read_csv, content, separator=separator, has_header=has_header, new_columns=names
    )
    try:
        frame = read(infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _check_open_quote(content, separator)
        _check_field_counts(content, separator, len(names))
        raise
    if frame.height == 0:
        raise TableError("the file has a header but no rows")

    def read_texts(columns: Iterable[str]) -> Any:
        return read(infer_schema=False).select(columns)

    if csv_format.to_prepare or csv_format.decimal_comma:
        frame = keep_texts(frame, content, read_texts, csv_format.decimal_comma)
    if texts := [name for name in csv_format.texts if name in names]:
        frame = frame.with_columns(read_texts(texts))
    has_commas = bool(csv_format.decimal_comma)
    return FrameColumns(frame, notices, unnamed, is_named=has_header, decimal_comma=has_commas)


def _first_record(content: bytes, separator: str) -> list[str]:
    """Return the fields of the first line, after checking that the content is UTF-8 text."""
    if content.startswith(GZIP_SIGNATURE):
        raise TableError("the file is compressed; add .gz to its name")
    if content.startswith(UTF16_SIGNATURES):
        raise TableError("the text is UTF-16; convert it, e.g. with iconv -f UTF-16 -t UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(
            f"the text is not UTF-8 (byte {error.object[error.start]:#x} at position "
            f"{error.start}); convert it, e.g. with iconv -f WINDOWS-1252 -t UTF-8"
        ) from None
    if "\0" in text:
        raise TableError("the file is binary or UTF-16; expected UTF-8 text")
    records = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        fields = next((record for record in records if record), None)
    except csv.Error:  # the field is too long, as after an open quote
        fields = ["\n"]
    if fields is None:
        raise TableError("the file is empty")
    if any("\n" in field for field in fields):
        _check_open_quote(content, separator)
    return fields


def _find_separator(fields: list[str], separator: str) -> str | None:
    """Return another separator if the first line is one field that contains it."""
    # A quoted name may contain the separator itself.
    others = [other for other in SEPARATORS if other != separator and other in fields[0]]
    return others[0] if len(fields) == 1 and others else None


def _remedy(separator: str) -> str:
    return "rename the file to .tsv" if separator == "\t" else f"pass --separator '{separator}'"


def _has_header(fields: list[str], csv_format: CsvFormat) -> tuple[bool, list[str]]:
    """Return whether the first line has the column names, and a notice if that is in doubt.

    A line of numbers is data, unless it is 0, 1, 2, ..., which pandas writes for columns without
    names. A single 0 is data.
    """
    if csv_format.header is not None:
        return csv_format.header, []
    numbers = [field for field in fields if _is_number(field, bool(csv_format.decimal_comma))]
    if len(numbers) < len(fields):
        if 2 * len(numbers) < len(fields):
            return True, []
        notice = f"the first line has numbers ({numbers[0]}) and was read as column names"
        return True, [f"{notice}; pass --no-header if it is data"]
    if len(fields) > 1 and fields == [str(j) for j in range(len(fields))]:
        notice = "the first line is 0, 1, ... and was read as column names"
        return True, [f"{notice}; pass --no-header if it is data"]
    notice = "the first line has only numbers and was read as data, with columns x0, x1, ..."
    return False, [f"{notice}; pass --header if it has the column names"]


def _is_number(text: str, decimal_comma: bool) -> bool:
    with suppress(ValueError):
        float(text.replace(",", ".") if decimal_comma else text)
        return True
    return False


def _check_open_quote(content: bytes, separator: str) -> None:
    """Raise an error that names the line of a quote that is never closed, if there is one."""
    if content.count(b'"') % 2 == 0:
        return
    records = csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator)
    previous = line = 0  # last lines of the previous and the current record
    with suppress(csv.Error):  # the field is too long
        for _ in records:
            previous, line = line, records.line_num
        line = previous
    raise TableError(f'the quote (") opened on line {line + 1} is never closed')


def _check_field_counts(content: bytes, separator: str, n_fields: int) -> None:
    """Raise an error that names the first line with too many fields, if there is one."""
    records = csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator)
    for record in records:
        if len(record) > n_fields:
            raise TableError(
                f"line {records.line_num} has {len(record)} fields, but the first line has "
                f"{n_fields}"
            )

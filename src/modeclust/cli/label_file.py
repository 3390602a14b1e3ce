"""A file of labels: those of the rows of a data file, found by their ids if it has them."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.cli.printing import tell
from modeclust.cli.readers.csv_files import DETECT
from modeclust.cli.readers.files import TableError, listed, quoted
from modeclust.cli.readers.table import Columns, open_file

# Names of a column of labels, the most usual first.
LABELS = ("label", "labels", "cluster", "clusters")
# Other columns that `fit` and `predict` write.
WRITTEN = re.compile(r"proba_\d+|outlier_score")


class LabelFile(NamedTuple):
    """A file with the label of each row."""

    path: str
    labels: npt.NDArray[Any]
    ids: dict[str, npt.NDArray[Any]]  # its columns that may tell rows apart

    @classmethod
    def read(cls, path: Path) -> "LabelFile":
        """Read a file; the labels are its only column, or the one that is named so."""
        source = open_file(path, DETECT._replace(to_prepare=True))  # ids as in the data
        names = list(source.names)
        named = [name for wanted in LABELS for name in names if name.lower() == wanted]
        chosen = names[0] if len(names) == 1 else named[0] if named else None
        if chosen is None:
            raise TableError(
                f"{str(path)!r} has no column of labels; name one of its columns {LABELS[0]!r}: "
                f"{listed(names)}."
            )
        others = [name for name in names if name != chosen and not WRITTEN.fullmatch(name)]
        columns = load(source, [chosen, *others])
        labels = np.asarray(columns.column(chosen))
        if all(re.fullmatch(r"-?\d+", str(label)) for label in labels.tolist()):
            with suppress(OverflowError):  # such long numbers are names
                labels = labels.astype(np.int64)  # noise is the number -1
        return cls(str(path), labels, _ids(columns, others))

    def labels_of(self, rows: Columns, data: str, id_column: str | None) -> npt.NDArray[Any]:
        """Return the labels of the rows of a data file, in their order.

        Rows are found by a column of both files whose values are distinct, `id_column` first. If
        there is none, both files must have the same order.
        """
        found = _ids(rows, [name for name in self.ids if name in rows.names])
        pairs = {name: _comparable(self.ids[name], ids) for name, ids in found.items()}
        shared = [name for name, pair in pairs.items() if all(map(_are_distinct, pair))]
        if shared:
            name = id_column if id_column in shared else shared[0]
            return self._joined(name, pairs[name], data)
        for name, (own, ids) in pairs.items():
            if not np.array_equal(own, ids) and np.array_equal(np.sort(own), np.sort(ids)):
                raise TableError(
                    f"The rows of {self.path!r} are in another order than those of {data!r}, as "
                    f"the column {quoted(name)} says, whose values repeat; sort them alike, or add "
                    "a column of distinct ids to both."
                )
        return self.labels

    def _joined(self, name: str, pair: Any, data: str) -> npt.NDArray[Any]:
        """Return the labels of the rows, by the ids of the file and those of the rows."""
        own, ids = pair
        for lacking, file, other in (
            (np.setdiff1d(ids, own), self.path, data),
            (np.setdiff1d(own, ids), data, self.path),
        ):
            if len(lacking):
                n_rows = "1 row" if len(lacking) == 1 else f"{len(lacking):,} rows"
                raise TableError(
                    f"{file!r} lacks {n_rows} of {other!r}, by the column {quoted(name)}, e.g. "
                    f"{str(lacking[0])!r}; both must have the same rows."
                )
        if np.array_equal(own, ids):
            return self.labels
        tell("note", f"labels are joined by the column {quoted(name)}")
        order = np.argsort(own, kind="stable")
        joined: npt.NDArray[Any] = self.labels[order[np.searchsorted(own[order], ids)]]
        return joined


def load(source: Any, names: list[str]) -> Columns:
    """Return columns of a file in memory."""
    columns: Columns = source.load(names) if hasattr(source, "load") else source
    return columns


def _ids(columns: Columns, names: list[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of integers or text without missing values."""
    found = {name: np.asarray(columns.column(name)) for name in names}
    return {name: values for name, values in found.items() if values.dtype.kind in "iuU"}


def _comparable(*columns: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Return columns as integers if one is of integers and all can be, or else as text.

    One file may say 0042 where the other has the number 42.
    """
    if any(column.dtype.kind in "iu" for column in columns):
        with suppress(ValueError, OverflowError):
            return tuple(column.astype(np.int64) for column in columns)
    return tuple(column.astype(str) for column in columns)


def _are_distinct(values: npt.NDArray[Any]) -> bool:
    return len(np.unique(values)) == len(values)

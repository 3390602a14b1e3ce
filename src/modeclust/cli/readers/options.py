"""What to read from a data file: the columns and their use."""

import difflib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from modeclust.cli.readers.csv_files import DETECT, CsvFormat
from modeclust.cli.readers.files import TableError, listed
from modeclust.io.atomic import StrPath

MAX_NAMES_TO_SUGGEST_FROM = 10_000


@dataclass(frozen=True)
class ReadOptions:
    """Columns to read from a data file, and how to read it.

    It is an error if a column is repeated or has conflicting uses.
    """

    columns: Sequence[str] | None = None  # features, in this order; None: all that remain
    label_column: str | None = None  # classes
    weight_column: str | None = None  # sample weights
    id_column: str | None = None  # row ids, which are written next to the labels
    exclude: Sequence[str] = ()  # ignored
    optional: Sequence[str] = ()  # other columns, which are read if the data has them
    # Whether to open the data as Dask arrays instead of loading it. By default if its numbers take
    # more than a quarter of memory and the format allows it.
    stream: bool | None = None
    can_stream: bool = True  # if False, data that would be streamed by default is an error
    csv_format: CsvFormat = DETECT
    can_exclude: bool = True  # whether the command has the options --exclude and --label-column
    as_frame: bool = False  # do not read numbers from a frame in memory, which is prepared later

    def __post_init__(self) -> None:
        columns = self.columns or ()
        if repeated := [name for name, count in Counter(columns).items() if count > 1]:
            raise TableError(
                f"--columns must not repeat a column, got {listed(repeated)} more than once."
            )
        if both := [name for name in columns if name in self.others]:
            raise TableError(
                f"Column {listed(both)} cannot be both a feature and a label, weight or id; remove "
                "it from --columns."
            )
        if both := [name for name in self.exclude if name in (*columns, *self.others)]:
            raise TableError(
                f"Column {listed(both)} cannot be both used and excluded; remove it from --exclude."
            )

    @property
    def others(self) -> list[str]:
        """The columns of labels, weights and ids."""
        names = (self.label_column, self.weight_column, self.id_column)
        return [name for name in names if name is not None]

    def choose_features(
        self, names: Sequence[str], features: Sequence[str], path: StrPath
    ) -> list[str]:
        """Return the columns to use as features.

        It is an error if a file with these `names`, of which `features` can be features, does not
        have all columns that were asked for.
        """
        wanted = (*(self.columns or ()), *self.others, *self.exclude)
        known = set(names) if wanted else set()  # there may be millions of names
        if missing := [name for name in wanted if name not in known]:
            # With more names, it takes minutes to find similar ones.
            candidates = names if len(names) <= MAX_NAMES_TO_SUGGEST_FROM else ()
            near = [m for name in missing for m in difflib.get_close_matches(name, candidates, 1)]
            hint = f"did you mean {listed(near)}?" if near else f"its columns are {listed(names)}."
            raise TableError(f"{os.fspath(path)!r} has no column {listed(missing)}; {hint}")
        unused = {*self.others, *self.exclude}
        chosen = self.columns
        if chosen is None:
            chosen = [name for name in features if name not in unused]
        if not chosen:
            raise TableError(f"{os.fspath(path)!r} has no columns left to use as features.")
        return list(chosen)

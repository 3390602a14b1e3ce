"""Columns of tables, in memory and in chunks."""

import numpy as np
import polars as pl
import pytest

from modeclust.cli.readers.columns import FrameColumns, iterate_blocks
from modeclust.cli.readers.files import TableError

da = pytest.importorskip("dask.array")


def test_blocks_of_several_arrays_stay_together():
    rows, numbers = da.ones((10, 2), chunks=(3, 2)), da.arange(10, chunks=3)
    parts = list(iterate_blocks(rows, numbers, None))
    assert [len(part) for part, _, _ in parts] == [3, 3, 3, 1]
    assert np.concatenate([own for _, own, _ in parts]).tolist() == list(range(10))
    assert {nothing for *_, nothing in parts} == {None}


def test_dates_that_python_does_not_have_are_refused():
    days = pl.Series("day", np.array([-53_000_000, 0], dtype=np.int32)).cast(pl.Date)
    columns = FrameColumns(pl.DataFrame([days, pl.Series("x", [1.0, 2.0])]))
    with pytest.raises(TableError, match="'day' cannot be read: year -143140 is out of range"):
        columns.matrix(["x", "day"], "leave it out.")
    with pytest.raises(TableError, match="'day' cannot be read: year -143140 is out of range"):
        columns.column("day")

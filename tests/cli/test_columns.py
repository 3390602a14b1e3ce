import numpy as np
import pytest

from modeclust.cli.columns import in_blocks

da = pytest.importorskip("dask.array")


def test_in_blocks_keeps_what_is_beside():
    rows, numbers = da.ones((10, 2), chunks=(3, 2)), da.arange(10, chunks=3)
    parts = list(in_blocks(rows, numbers, None))
    assert [len(part) for part, _, _ in parts] == [3, 3, 3, 1]
    assert np.concatenate([own for _, own, _ in parts]).tolist() == list(range(10))
    assert {nothing for *_, nothing in parts} == {None}

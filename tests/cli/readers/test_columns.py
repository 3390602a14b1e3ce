import numpy as np
import pytest

from modeclust.cli.readers.columns import iterate_blocks

da = pytest.importorskip("dask.array")


def test_blocks_of_several_arrays_stay_together():
    rows, numbers = da.ones((10, 2), chunks=(3, 2)), da.arange(10, chunks=3)
    parts = list(iterate_blocks(rows, numbers, None))
    assert [len(part) for part, _, _ in parts] == [3, 3, 3, 1]
    assert np.concatenate([own for _, own, _ in parts]).tolist() == list(range(10))
    assert {nothing for *_, nothing in parts} == {None}

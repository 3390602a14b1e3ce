"""Hints about columns of numbers: in warnings of fits, and as sentences."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from modeclust import KModes, LaplacianKModes, MeanShift, TablePreparation
from modeclust.exceptions import ColumnScaleWarning, IdColumnWarning, SingleRowWarning
from modeclust.preparation.hints import are_numbered, compare_scales, find_ids

ROWS = np.random.default_rng(0).random((60, 8))
NAMES = list("abcdefgh")
UNEVEN = ROWS * [1, 1000, 1, 1, 1, 1, 1, 1]
WITH_IDS = np.column_stack([np.arange(1000, 1060), ROWS[:, 1:]])
ID_NAMES = ["customer_id", *NAMES[1:]]


def estimators():
    return [KModes(2, random_state=0), LaplacianKModes(2), MeanShift(bandwidth=1e4)]


@pytest.mark.parametrize(
    ("factors", "hinted"),
    [
        ([1, 1000, 1, 1, 1, 1, 1, 1], "'b' varies"),
        ([1, 50, 1, 1, 1, 1, 1, 1], None),
        ([1e-9, 1, 1, 1, 1, 1, 1, 1], None),  # a few columns may vary little
        ([0, 1, 1, 1, 1, 1, 1, 1], None),
        ([0, 0, 0, 0, 0, 0, 0, 1], None),
    ],
)
def test_one_column_that_varies_far_more_is_named(factors, hinted):
    hint = compare_scales(NAMES, ROWS * factors)
    assert hint is None if hinted is None else hinted in hint


def test_sparse_rows_are_not_judged():
    assert compare_scales(NAMES, sparse.csr_array(UNEVEN)) is None
    assert find_ids(ID_NAMES, sparse.csr_array(WITH_IDS)) == []


def test_ids_have_a_name_and_distinct_numbers():
    assert find_ids(ID_NAMES, WITH_IDS) == ["customer_id"]
    assert find_ids(["measured", *NAMES[1:]], ROWS) == []
    repeated = WITH_IDS.copy()
    repeated[:, 0] //= 20
    assert find_ids(ID_NAMES, repeated) == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["pixel_0_0", "pixel_0_1"], True),
        (["x0", "x1"], True),
        (["0", "1"], True),
        (["age", "income"], False),
        (["a1", "b1"], False),
        (["age"], False),
        (["x", "x1"], False),
    ],
)
def test_numbered_columns_are_not_those_of_a_table(names, expected):
    assert are_numbered(names) == expected


@pytest.mark.parametrize("model", estimators(), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_fit_of_a_frame_warns(library, model):
    def frame(rows, names):
        return pl.DataFrame(rows, names) if library == "polars" else pd.DataFrame(rows, None, names)

    with pytest.warns(ColumnScaleWarning, match=r"^Columns differ in scale: 'b' varies"):
        model.fit(frame(UNEVEN, NAMES))
    with pytest.warns(IdColumnWarning, match=r"^Column 'customer_id' looks like an id\. Ids are"):
        model.fit(frame(WITH_IDS, ID_NAMES))
    two = np.column_stack([WITH_IDS, WITH_IDS[:, 0]])
    with pytest.warns(IdColumnWarning, match=r"^Columns 'customer_id', 'uuid' look like ids\. Ids"):
        model.fit(frame(two, [*ID_NAMES, "uuid"]))


@pytest.mark.parametrize("model", estimators(), ids=lambda model: type(model).__name__)
def test_a_fit_of_numbered_columns_an_array_or_a_prepared_table_does_not(model):
    model.fit(UNEVEN)
    model.fit(pd.DataFrame(UNEVEN).add_prefix("pixel_"))
    prepare = TablePreparation().set_output(transform="pandas")
    model.fit(prepare.fit_transform(pd.DataFrame(UNEVEN, columns=NAMES).assign(id=range(60))))


def test_clusters_of_one_row_are_named():
    start = np.array([[0.5, 0.5], [50.0, 50.0]])
    X = np.vstack([ROWS[:, :2], start[1]])
    with pytest.warns(SingleRowWarning, match=r"^Clusters with only one row: 1 \(row 60\)\. "):
        model = KModes(2, init=start, n_init=1, bandwidth=0.5).fit(X)
    assert model.counts_.tolist() == [60, 1]


def test_clusters_of_one_row_are_not_named_among_small_ones():
    X = np.vstack([ROWS[:8, :2], [[50.0, 50.0]]])
    assert KModes(2, random_state=0).fit(X).counts_.min() == 1


def test_only_a_few_clusters_are_named():
    far = np.eye(7) * 1000 + np.arange(7)
    X = np.vstack([np.tile(ROWS[:, :7], (3, 1)), far])
    start = np.vstack([ROWS[:1, :7], far])
    with pytest.warns(SingleRowWarning, match=r"1 \(row 180\), .* 5 \(row 184\) and 2 more\. Such"):
        KModes(8, init=start, n_init=1, bandwidth=1.0).fit(X)

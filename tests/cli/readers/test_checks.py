"""Checks of the columns and of their values."""

import numpy as np
import polars as pl
import pytest
from data_files import X, read_text
from scipy import sparse

from modeclust.cli.readers.files import TableError
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import read_table
from modeclust.plotting.clustering import check_classes


def test_unknown_columns(tmp_path):
    text = "sepal,petal,kind\n1,2,x\n"
    with pytest.raises(TableError, match="no column 'petl'; did you mean 'petal'"):
        read_text(text, tmp_path, columns=["sepal", "petl"])
    with pytest.raises(
        TableError, match="no column 'zzz'; its columns are 'sepal', 'petal', 'kind'"
    ):
        read_text(text, tmp_path, label_column="zzz")
    with pytest.raises(TableError, match="no columns left"):
        read_text("a\n1\n", tmp_path, label_column="a")


def test_labels_with_missing_values(tmp_path):
    text = "a,kind,n\n1,u,3\n2,,4\n"
    with pytest.raises(TableError, match=r"'kind' of .* 1 missing value, first in row 2 \(counted"):
        read_text(text, tmp_path, columns=["a"], label_column="kind")
    assert read_text(text, tmp_path, columns=["a"], label_column="n").labels.tolist() == [3, 4]


def test_labels_are_converted_to_classes(tmp_path):
    def labels(values):
        pl.DataFrame({"a": [1.0, 2.0], "y": values}).write_parquet(tmp_path / "data.parquet")
        return read_table(tmp_path / "data.parquet", ReadOptions(["a"], label_column="y")).labels

    assert labels([1.0, 2.0]).dtype == np.int64
    assert labels([True, False]).tolist() == [True, False]
    assert labels([[1], [2, 3]]).tolist() == ["[1]", "[2, 3]"]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([1.0, np.nan], r"has 1 missing value, first in row 2 \(counted from 1\); fill it in"),
        ([None, None], r"has 2 missing values, first in row 1 \(counted from 1\); fill them in"),
        ([b"u", None], "has 1 missing value, first in row 2"),
        ([1, None], "has 1 missing value, first in row 2"),
        ([1.0, 0.5], r"not integers, e\.g\. 0\.5, .* bin them first, or .* --label-column"),
        ([1.0, np.inf], r"not integers, e\.g\. inf"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_labels_that_displays_refuse_are_refused(classes, message, stream, tmp_path):
    pl.DataFrame({"a": [1.0, 2.0], "y": classes}).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / "data.parquet", ReadOptions(["a"], label_column="y", stream=stream))
    if np.inf not in classes:
        with pytest.raises(ValueError, match=r"missing|not whole"):
            check_classes(np.array(classes), 2)


def test_a_missing_id_is_reported_with_its_row(tmp_path):
    message = r"'id' of .* has 1 missing value, first in row 2 .* fill it in, .* --id-column"
    with pytest.raises(TableError, match=message):
        read_text("id,a\nr1,1\n,2\n", tmp_path, id_column="id")


def test_missing_dates_are_refused_as_classes(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=np.array(["2020-01-31", "NaT", "2020-02-01"], "M8[D]"))
    with pytest.raises(TableError, match="has 1 missing value, first in row 2"):
        read_table(tmp_path / "data.npz", ReadOptions(label_column="y"))


def test_a_column_with_conflicting_uses(tmp_path):
    text = "a,b,c\n1,2,3\n"
    with pytest.raises(TableError, match="must not repeat a column, got 'a' more than once"):
        read_text(text, tmp_path, columns=["a", "b", "a"])
    for option in ("label_column", "weight_column"):
        with pytest.raises(TableError, match="Column 'b' cannot be both a feature and a label,"):
            read_text(text, tmp_path, columns=["a", "b"], **{option: "b"})


def test_labels_and_weights_of_invalid_types(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=np.array([1j, 2j, 3j]), t=np.array(["u", "v", "w"]))
    with pytest.raises(TableError, match=r"'y' must contain classes .* got complex128"):
        read_table(path, ReadOptions(label_column="y"))
    with pytest.raises(
        TableError, match="'t' contains <U1 instead of numbers; weights must be numbers"
    ):
        read_table(path, ReadOptions(weight_column="t"))
    for column in ("x\n2", "\n2", "inf\n2", "2\n-1"):
        first, second = column.split("\n")
        with pytest.raises(TableError, match=r"--weight-column\.") as caught:
            read_text(f"a,w\n1,{first}\n2,{second}\n", tmp_path, weight_column="w")
        assert "'w'" in str(caught.value)
        assert "--exclude" not in str(caught.value)
    sparse.save_npz(path, sparse.csr_array([[1.0, -1.0], [1.0, 0.0]]))
    with pytest.raises(TableError, match=r"'x1' of .* 1 missing, infinite or negative value, "):
        read_table(path, ReadOptions(["x0"], weight_column="x1"))


def test_an_unknown_column_among_many_gets_no_suggestion(tmp_path):
    np.save(tmp_path / "data.npy", np.zeros((1, 10**5)))
    with pytest.raises(TableError, match=r"no column 'y'; its columns are 'x0', .* and 99990 more"):
        read_table(tmp_path / "data.npy", ReadOptions(label_column="y"))


def test_long_names_are_shortened_in_messages(tmp_path):
    name = 300 * "long"
    for first, options in (("x", {}), ("1", {"label_column": "kind"}), ("", {})):
        with pytest.raises(TableError) as caught:
            read_text(f"{name},b\n{first},2\n1,3\n", tmp_path, **options)
        assert "longlong...'" in str(caught.value)
        assert len(str(caught.value)) < 500 + len(str(tmp_path))

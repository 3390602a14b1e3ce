"""Data files of every format."""

import numpy as np
import polars as pl
import pytest
from data_files import ARRAYS, FRAME, X, read_text, write
from scipy import sparse

from modeclust.cli.readers.files import TableError
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import read_table
from modeclust.cli.writers import WRITERS, write_labels


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_rows(ending, tmp_path):
    path = write(tmp_path / f"data{ending}")
    names = (None, None) if ending in ARRAYS - {".npz"} else ("kind", "w")
    table = read_table(path, ReadOptions(label_column=names[0], weight_column=names[1]))
    assert sparse.issparse(table.X) == ending.startswith(".mtx")
    rows = table.X.toarray() if sparse.issparse(table.X) else table.X
    np.testing.assert_array_equal(rows, X)
    assert table.columns == (["x0", "x1"] if ending in ARRAYS else ["a", "b"])
    assert table.title == path.name
    if names[0]:
        assert table.labels.tolist() == ["u", "v", "u"]
        assert table.weight.tolist() == [1, 2, 3]


@pytest.mark.parametrize("ending", WRITERS)
def test_columns_are_selected_in_the_given_order(ending, tmp_path):
    path = write(tmp_path / f"data{ending}")
    names = ["x1", "x0"] if ending in ARRAYS else ["b", "a"]
    table = read_table(path, ReadOptions(names))
    rows = table.X.toarray() if sparse.issparse(table.X) else table.X
    np.testing.assert_array_equal(rows, X[:, ::-1])


@pytest.mark.parametrize("ending", WRITERS)
def test_labels_are_written_in_every_format(ending, tmp_path):
    path = tmp_path / f"labels{ending}"
    write_labels(path, np.array([0, 2, 1], dtype=np.int32))
    assert list(tmp_path.iterdir()) == [path]
    if ending == ".npz":
        with np.load(path) as file:
            assert file.files == ["label"]
            assert file["label"].tolist() == [0, 2, 1]
        return
    table = read_table(path)
    assert table.columns == (["x0"] if ending in ARRAYS else ["label"])
    np.testing.assert_array_equal(np.ravel(table.X), [0, 2, 1])


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("content", [b"", b"PAR1ARROW1 \x93NUMPY", bytes(range(256)) * 9])
def test_content_that_does_not_match_the_ending(ending, content, tmp_path):
    path = tmp_path / f"data{ending}"
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"data\.") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_truncated_file_gives_a_table_error(ending, tmp_path):
    path = write(tmp_path / f"data{ending}")
    content = path.read_bytes()
    messages = []
    for length in range(1, len(content), max(1, len(content) // 40)):
        path.write_bytes(content[:length])
        try:
            read_table(path)
        except TableError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in message for message in messages)


def test_notes_come_before_errors(tmp_path):
    notes = []
    with pytest.raises(TableError, match="no column 'a'"):
        read_text("1,2\n3,4\n", tmp_path, columns=["a"], note=notes.append)
    assert "read as data" in notes[0]


def test_a_column_can_hold_both_classes_and_ids(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]}).write_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet", ReadOptions(label_column="y", id_column="y"))
    assert table.labels.tolist() == table.ids["y"].tolist() == ["u", "v"]


def test_float32_is_kept_if_all_columns_have_it(tmp_path):
    frame = FRAME.with_columns(pl.col("a", "b").cast(pl.Float32))
    frame.write_parquet(tmp_path / "data.parquet")
    assert read_table(tmp_path / "data.parquet", ReadOptions(["a", "b"])).X.dtype == np.float32
    assert read_table(tmp_path / "data.parquet", ReadOptions(["a", "w"])).X.dtype == np.float64
    np.save(tmp_path / "data.npy", X.astype(np.float32))
    assert read_table(tmp_path / "data.npy").X.dtype == np.float32


def test_booleans_and_dates_in_a_parquet_file(tmp_path):
    path = tmp_path / "data.parquet"
    frame = pl.DataFrame({"a": [1.5, 2.5], "flag": [True, False], "day": ["2020-01-01"] * 2})
    frame.with_columns(pl.col("day").str.to_date()).write_parquet(path)
    assert read_table(path, ReadOptions(["flag"])).X.ravel().tolist() == [1, 0]
    assert read_table(path, ReadOptions(["a"], label_column="day")).labels[0] == "2020-01-01"
    with pytest.raises(TableError, match="Column 'day' contains Date"):
        read_table(path)


def test_columns_are_excluded_by_name(tmp_path):
    text = "id,a,b,kind\nr1,1,2,u\nr2,3,4,v\n"
    table = read_text(text, tmp_path, exclude=["id"], label_column="kind")
    assert table.columns == ["a", "b"]
    assert table.X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TableError, match="no column 'ib'; did you mean 'b'"):
        read_text(text, tmp_path, exclude=["id", "ib"])
    for options in ({"columns": ["a", "b"]}, {"weight_column": "a"}):
        with pytest.raises(TableError, match="Column 'a' cannot be both used and excluded"):
            read_text(text, tmp_path, exclude=["a"], **options)
    with pytest.raises(TableError, match="no columns left"):
        read_text("a,b\n1,2\n", tmp_path, exclude=["a", "b"])


def test_the_frame_has_no_excluded_columns_classes_or_weights(tmp_path):
    frame = pl.DataFrame({"id": ["r1", "r2"], "a": [1.0, 2.0], "y": ["u", "v"], "w": [1.0, 3.0]})
    frame.write_parquet(tmp_path / "data.parquet")
    frame.write_csv(tmp_path / "data.csv")
    for ending in (".parquet", ".csv"):
        for exclude in (["id"], []):
            options = ReadOptions(["a"], "y", "w", exclude=exclude)
            table = read_table(tmp_path / f"data{ending}", options)
            assert "a" in table.frame.columns
            assert not set(table.frame.columns) & {"y", "w", *exclude}


def test_files_that_cannot_be_opened_raise_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path / "folder.csv")
    with pytest.raises(TableError, match=r"must end in one of \.csv"):
        read_table(tmp_path / "data.xlsx")

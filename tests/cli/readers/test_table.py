"""Files of data: every format, and every way to get one wrong."""

import gzip
import io
import zipfile

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from scipy.io import mmwrite

from modeclust.cli.readers.csv_files import CsvFormat
from modeclust.cli.readers.files import TableError, ending_of
from modeclust.cli.readers.table import read_table
from modeclust.cli.writers import WRITERS, write_labels
from modeclust.plotting.fitted import check_classes

X = np.array([[1.0, 2.5], [3.0, 0.0], [5.0, 6.0]])
FRAME = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": ["u", "v", "u"], "w": [1, 2, 3]})
ARRAYS = {".npy", ".npz", ".mtx", ".mtx.gz"}


def write(path):
    """Write the same rows in the format that the ending says."""
    ending = ending_of(path)
    buffer = io.BytesIO()
    if ending.startswith((".csv", ".tsv")):
        FRAME.write_csv(buffer, separator="\t" if "tsv" in ending else ",")
    elif ending == ".parquet":
        FRAME.write_parquet(buffer)
    elif ending in (".feather", ".arrow"):
        FRAME.write_ipc(buffer)
    elif ending == ".ipc":
        FRAME.write_ipc_stream(buffer)
    elif ending == ".npy":
        np.save(buffer, X)
    elif ending == ".npz":
        np.savez(buffer, X=X, kind=np.array(["u", "v", "u"]), w=[1, 2, 3], other=np.zeros(2))
    else:
        mmwrite(buffer, sparse.csr_array(X))
    content = buffer.getvalue()
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_rows(ending, tmp_path):
    path = write(tmp_path / f"data{ending}")
    names = (None, None) if ending in ARRAYS - {".npz"} else ("kind", "w")
    table = read_table(path, label_column=names[0], weight_column=names[1])
    assert sparse.issparse(table.X) == ending.startswith(".mtx")
    rows = table.X.toarray() if sparse.issparse(table.X) else table.X
    np.testing.assert_array_equal(rows, X)
    assert table.columns == (["x0", "x1"] if ending in ARRAYS else ["a", "b"])
    assert table.title == path.name
    if names[0]:
        assert table.labels.tolist() == ["u", "v", "u"]
        assert table.weight.tolist() == [1, 2, 3]


@pytest.mark.parametrize("ending", WRITERS)
def test_columns_are_chosen_and_ordered_by_name(ending, tmp_path):
    path = write(tmp_path / f"data{ending}")
    names = ["x1", "x0"] if ending in ARRAYS else ["b", "a"]
    table = read_table(path, columns=names)
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
def test_a_file_that_is_not_what_its_ending_says(ending, content, tmp_path):
    path = tmp_path / f"data{ending}"
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"data\.") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_damaged_file_gives_no_other_error(ending, tmp_path):
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


def read_text(content, tmp_path, name="data.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("a,b\n", "a header but no rows"),
        (
            "a,b\n1,2\n3,\n,5\n",
            r"'b' of .*data\.csv' has 1 missing or infinite value, first in row 2 .*; fill it in, ",
        ),
        (
            "a,b\n1,2\n3,NA\n4,?\n",
            r"'b' .* 2 missing or infinite values, first in row 2 \(counted from 1\); fill them",
        ),
        ("a,b\n1,2\n3,inf\n", "'b' .* first in row 2"),
        ("a,b\n1,2\n3,nan\n", "'b' .* first in row 2"),
        ("a,b\n1,x\n", r"Column 'b' contains text, e\.g\. 'x'.*--exclude.*--label-column"),
        ("a,b\n1,2020-01-31\n", "Column 'b' contains text"),
        ('a,b\n1,"2,5"\n', r"Column 'b' contains text, e\.g\. '2,5'.* pass --decimal-comma if it"),
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, but the first line has 2"),
        ("a;b\n1;2\n", "separated by semicolons; pass --separator ';'"),
        ("a\tb\n1\t2\n", r"separated by tabs; rename the file to \.tsv"),
        ("a,a,b\n1,2,3\n", "must be unique, got 'a' more than once"),
        ("a,é\n1,2\n".encode("latin1"), "not UTF-8 .*iconv"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16; .*iconv -f UTF-16"),
        ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16"),
        (b"a,b\n1,\x00\n", "binary"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), r"add \.gz to its name"),
        ('a,b\n1,2\n"3,4\n5,6\n', "opened on line 3 is never closed"),
        ('"a,b\n1,2\n3,4\n', "opened on line 1 is never closed"),
        ('"a,b\n' + "1,2\n" * 50_000, "opened on line 1 is never closed"),
    ],
)
def test_texts_that_cannot_be_used(text, message, tmp_path):
    with pytest.raises(TableError, match=message) as caught:
        read_text(text, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,b\n1,2\n3,4\n",
        "a,b\r\n1,2\r\n3,4\r\n",
        '"a","b"\n"1","2"\n3,4\n',
        "a, b\n1, 2\n3, 4\n",
        "a,b\n+1,2.\n3e0,4\n",
        "a,b\n1,2\n3,4",
        "a,b\n1,2\n3,4\n\n\n",
        "a,b\r\n1,2\r\n3,4\r\n\r\n",
        "a,b\r1,2\r3,4\r",
    ],
)
def test_texts_that_just_work(text, tmp_path):
    table = read_text(text, tmp_path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.columns == ["a", "b"]
    assert not table.notices


def test_the_only_column_may_have_a_comma_in_its_name(tmp_path):
    table = read_text('"height, in m"\n1\n2\n', tmp_path)
    assert table.columns == ["height, in m"]
    np.testing.assert_array_equal(table.X, [[1], [2]])


def test_a_value_late_in_the_file_decides_the_type(tmp_path):
    text = "a\n" + "1\n" * 20_000 + "2.5\n"
    assert read_text(text, tmp_path).X[-1, 0] == 2.5


def test_a_file_without_a_header(tmp_path):
    table = read_text("1,2\n3,4\n", tmp_path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.columns == ["x0", "x1"]
    assert "first line has only numbers and was read as data" in table.notices[0]
    assert "--header" in table.notices[0]


def test_a_header_that_counts_the_columns_is_one(tmp_path):
    table = read_text("0,1,2\n3,4,5\n", tmp_path)
    np.testing.assert_array_equal(table.X, [[3, 4, 5]])
    assert table.columns == ["0", "1", "2"]
    assert "--no-header" in table.notices[0]
    for text in ("0\n3\n", "0,2\n3,4\n", "0.0,1.0\n3,4\n", "1,2\n3,4\n"):
        assert read_text(text, tmp_path).X.shape[0] == 2


def test_the_user_knows_whether_there_is_a_header(tmp_path):
    table = read_text("2019,2020\n1,2\n", tmp_path, csv_format=CsvFormat(header=True))
    assert (table.columns, table.X.tolist()) == (["2019", "2020"], [[1, 2]])
    assert not table.notices
    table = read_text("0,1\n3,4\n", tmp_path, csv_format=CsvFormat(header=False))
    assert (table.columns, table.X.tolist()) == (["x0", "x1"], [[0, 1], [3, 4]])
    assert not table.notices
    with pytest.raises(
        TableError, match=r"--no-header applies only to text files .*data\.npy'; remove"
    ):
        read_table(write(tmp_path / "data.npy"), csv_format=CsvFormat(header=False))


@pytest.mark.parametrize(
    ("content", "name", "csv_format"),
    [
        ("a;b\n1;2.5\n", "data.csv", CsvFormat(separator=";")),
        ("a;b\n1;2,5\n", "data.csv", CsvFormat(separator=";", decimal_comma=True)),
        ('a,b\n1,"2,5"\n', "data.csv", CsvFormat(decimal_comma=True)),
        ("a\tb\n1\t 2,5\n", "data.tsv", CsvFormat(decimal_comma=True)),
        ("a\tb\n1\t2.5\n", "data.csv", CsvFormat(separator="\\t")),
        ("a b\n1 2.5\n", "data.csv", CsvFormat(separator=" ")),
        ("a,b\n1,2.5\n", "data.tsv", CsvFormat(separator=",")),
    ],
)
def test_fields_and_numbers_as_the_user_says(content, name, csv_format, tmp_path):
    table = read_text(content, tmp_path, name, csv_format=csv_format)
    assert (table.columns, table.X.tolist()) == (["a", "b"], [[1, 2.5]])


def test_a_first_line_of_numbers_with_commas(tmp_path):
    csv_format = CsvFormat(separator=";", decimal_comma=True)
    assert read_text("1,5;2,5\n3,5;4,5\n", tmp_path, csv_format=csv_format).X.tolist() == [
        [1.5, 2.5],
        [3.5, 4.5],
    ]


@pytest.mark.parametrize("separator", ["", ";;", "é", '"', "\n"])
def test_separators_that_are_none(separator, tmp_path):
    with pytest.raises(TableError, match="--separator must be a single ASCII character"):
        read_text("a;b\n1;2\n", tmp_path, csv_format=CsvFormat(separator=separator))


def test_what_is_told_of_a_file_comes_before_its_errors(tmp_path):
    notes = []
    with pytest.raises(TableError, match="no column 'a'"):
        read_text("1,2\n3,4\n", tmp_path, columns=["a"], note=notes.append)
    assert "read as data" in notes[0]


def test_a_column_without_a_name_is_left_out(tmp_path):
    table = read_text(",a\n0,5\n1,6\n", tmp_path)
    assert table.columns == ["a"]
    assert "unnamed_1" in table.notices[0]


def test_names_of_columns_that_are_not_there(tmp_path):
    text = "sepal,petal,kind\n1,2,x\n"
    with pytest.raises(TableError, match="no column 'petl'; did you mean 'petal'"):
        read_text(text, tmp_path, columns=["sepal", "petl"])
    with pytest.raises(
        TableError, match="no column 'zzz'; its columns are 'sepal', 'petal', 'kind'"
    ):
        read_text(text, tmp_path, label_column="zzz")
    with pytest.raises(TableError, match="no columns left"):
        read_text("a\n1\n", tmp_path, label_column="a")


def test_labels_with_gaps_and_numbers(tmp_path):
    text = "a,kind,n\n1,u,3\n2,,4\n"
    with pytest.raises(TableError, match=r"'kind' of .* 1 missing value, first in row 2 \(counted"):
        read_text(text, tmp_path, columns=["a"], label_column="kind")
    assert read_text(text, tmp_path, columns=["a"], label_column="n").labels.tolist() == [3, 4]


def test_labels_are_classes_whatever_they_were(tmp_path):
    def labels(values):
        pl.DataFrame({"a": [1.0, 2.0], "y": values}).write_parquet(tmp_path / "data.parquet")
        return read_table(tmp_path / "data.parquet", ["a"], label_column="y").labels

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
def test_labels_that_python_refuses_are_refused_here_too(classes, message, stream, tmp_path):
    pl.DataFrame({"a": [1.0, 2.0], "y": classes}).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / "data.parquet", ["a"], label_column="y", stream=stream)
    if np.inf not in classes:
        with pytest.raises(ValueError, match=r"missing|not whole"):
            check_classes(np.array(classes), 2)


def test_an_id_that_is_missing_is_told_by_its_row(tmp_path):
    message = r"'id' of .* has 1 missing value, first in row 2 .* fill it in, .* --id-column"
    with pytest.raises(TableError, match=message):
        read_text("id,a\nr1,1\n,2\n", tmp_path, id_column="id")


def test_a_column_may_be_of_classes_and_of_ids(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]}).write_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet", label_column="y", id_column="y")
    assert table.labels.tolist() == table.ids["y"].tolist() == ["u", "v"]


def test_dates_that_are_missing_are_no_classes(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=np.array(["2020-01-31", "NaT", "2020-02-01"], "M8[D]"))
    with pytest.raises(TableError, match="has 1 missing value, first in row 2"):
        read_table(tmp_path / "data.npz", label_column="y")


def test_very_many_columns(tmp_path):
    names = [f"x{j}" for j in range(30_000)]
    sparse.save_npz(tmp_path / "data.npz", sparse.eye_array(3, 30_000, format="csr"))
    assert read_table(tmp_path / "data.npz", names).X.shape == (3, 30_000)
    assert read_table(tmp_path / "data.npz", names[::-1]).X.nnz == 3


def test_float32_is_kept_where_all_columns_have_it(tmp_path):
    frame = FRAME.with_columns(pl.col("a", "b").cast(pl.Float32))
    frame.write_parquet(tmp_path / "data.parquet")
    assert read_table(tmp_path / "data.parquet", columns=["a", "b"]).X.dtype == np.float32
    assert read_table(tmp_path / "data.parquet", columns=["a", "w"]).X.dtype == np.float64
    np.save(tmp_path / "data.npy", X.astype(np.float32))
    assert read_table(tmp_path / "data.npy").X.dtype == np.float32


def test_columns_of_other_kinds_in_a_parquet_file(tmp_path):
    path = tmp_path / "data.parquet"
    frame = pl.DataFrame({"a": [1.5, 2.5], "flag": [True, False], "day": ["2020-01-01"] * 2})
    frame.with_columns(pl.col("day").str.to_date()).write_parquet(path)
    assert read_table(path, columns=["flag"]).X.ravel().tolist() == [1, 0]
    assert read_table(path, columns=["a"], label_column="day").labels[0] == "2020-01-01"
    with pytest.raises(TableError, match="Column 'day' contains Date"):
        read_table(path)


def test_arrays_that_are_no_table(tmp_path):
    def refused(message, **arrays):
        np.savez(tmp_path / "data.npz", **arrays)
        with pytest.raises(TableError, match=message):
            read_table(tmp_path / "data.npz")

    refused("expected an array named X, or exactly one", a=X, b=X)
    refused("expected an array named X, or exactly one", a=np.zeros(3))
    refused("expected a two-dimensional array of numbers", X=np.zeros((2, 2, 2)))
    refused("expected a two-dimensional array of numbers", X=np.array([["a", "b"]]))
    refused("no rows", X=np.zeros((0, 2)))
    refused("expected an array named X, .* got none")
    refused("array 'x0' has the same name as a column", X=X, x0=np.zeros(3))
    refused("got Python objects", X=X, y=np.array([{}, {}, {}]))
    refused("'x1' of .* first in row 1", X=np.array([[0, np.nan]]))
    np.save(tmp_path / "data.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(TableError, match="expected arrays of numbers or text, got Python objects"):
        read_table(tmp_path / "data.npy")


def test_sparse_npz(tmp_path):
    sparse.save_npz(tmp_path / "data.npz", sparse.csc_array(X))
    table = read_table(tmp_path / "data.npz", weight_column="x0")
    assert table.X.format == "csr"
    np.testing.assert_array_equal(table.X.toarray(), X[:, 1:])
    np.testing.assert_array_equal(table.weight, X[:, 0])
    sparse.save_npz(tmp_path / "data.npz", sparse.csr_array([[0.0, np.inf]]))
    with pytest.raises(TableError, match=r"'x1' of .* first in row 1"):
        read_table(tmp_path / "data.npz")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.bsr_array])
def test_sparse_npz_with_indices_out_of_range(kind, tmp_path):
    path = tmp_path / "data.npz"
    for part, value in (("indptr", 10**6), ("indices", -1000), ("indices", 1000)):
        matrix = kind(np.eye(9))
        getattr(matrix, part)[5] = value
        sparse.save_npz(path, matrix)
        with pytest.raises(TableError, match=r"data\.npz' cannot be read") as caught:
            read_table(path, ["x0"])
        assert "\n" not in str(caught.value)
    matrix = sparse.coo_array(np.eye(9))
    matrix.col[5] = -1000
    sparse.save_npz(path, matrix)
    with pytest.raises(TableError, match="cannot be read"):
        read_table(path)


def test_arrays_of_booleans_are_numbers(tmp_path):
    np.save(tmp_path / "data.npy", X > 2)
    table = read_table(tmp_path / "data.npy")
    assert table.X.dtype == np.float64
    assert table.X.tolist() == [[0, 1], [1, 0], [1, 1]]
    sparse.save_npz(tmp_path / "data.npz", sparse.csr_array(X > 2))
    assert read_table(tmp_path / "data.npz").X.toarray().tolist() == table.X.tolist()
    np.savez(tmp_path / "data.npz", X=X, w=[True, False, True])
    assert read_table(tmp_path / "data.npz", weight_column="w").weight.tolist() == [1, 0, 1]


def test_a_column_has_one_use(tmp_path):
    text = "a,b,c\n1,2,3\n"
    with pytest.raises(TableError, match="must not repeat a column, got 'a' more than once"):
        read_text(text, tmp_path, columns=["a", "b", "a"])
    for option in ("label_column", "weight_column"):
        with pytest.raises(TableError, match="Column 'b' cannot be both a feature and a label,"):
            read_text(text, tmp_path, columns=["a", "b"], **{option: "b"})


def test_columns_are_left_out_by_name(tmp_path):
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


def test_files_with_another_ending_than_theirs(tmp_path):
    def refused(message, name, content):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match=message) as caught:
            read_table(tmp_path / name)
        assert "pickle" not in str(caught.value)

    for name in ("data.npy", "data.npz"):
        refused("cannot be read as .* not the signature of this format", name, b"a,b\n1,2\n")
    npy, npz = write(tmp_path / "a.npy").read_bytes(), write(tmp_path / "a.npz").read_bytes()
    refused(r"seems to be an \.npy file", "data.npz", npy)
    refused(r"seems to be an \.npz file", "data.npy", npz)


def test_labels_and_weights_of_other_kinds(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=np.array([1j, 2j, 3j]), t=np.array(["u", "v", "w"]))
    with pytest.raises(TableError, match=r"'y' must contain classes .* got complex128"):
        read_table(path, label_column="y")
    with pytest.raises(
        TableError, match="'t' contains <U1 instead of numbers; weights must be numbers"
    ):
        read_table(path, weight_column="t")
    for column in ("x\n2", "\n2", "inf\n2", "2\n-1"):
        first, second = column.split("\n")
        with pytest.raises(TableError, match=r"--weight-column\.") as caught:
            read_text(f"a,w\n1,{first}\n2,{second}\n", tmp_path, weight_column="w")
        assert "'w'" in str(caught.value)
        assert "--exclude" not in str(caught.value)
    sparse.save_npz(path, sparse.csr_array([[1.0, -1.0], [1.0, 0.0]]))
    with pytest.raises(TableError, match=r"'x1' of .* 1 missing, infinite or negative value, "):
        read_table(path, ["x0"], weight_column="x1")


def test_mtx_with_rubbish_in_place_of_the_last_end_of_line(tmp_path):
    path = write(tmp_path / "data.mtx")
    path.write_bytes(path.read_bytes()[:-1] + b"\x08")
    np.testing.assert_array_equal(read_table(path).X.toarray(), X)


MTX = "%%MatrixMarket matrix {} real general\n{}\n1 1 1.5\n"


def sparse_npz(shape):
    """Return a small sparse matrix in a file that says that it has another shape."""
    saved, buffer = io.BytesIO(), io.BytesIO()
    sparse.save_npz(saved, sparse.coo_array(np.eye(3)))
    saved.seek(0)
    with np.load(saved) as file:
        np.savez(buffer, **(dict(file) | {"shape": shape}))
    return buffer.getvalue()


def npz_with_header(shape):
    """Return three numbers in a file that says that they are others."""
    member, buffer = io.BytesIO(), io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(member, header)
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X.npy", member.getvalue() + bytes(24))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "data.mtx",
            MTX.format("array", f"{10**9} {10**9}"),
            "declares 10{18} numbers, but the file has 4",
        ),
        ("data.mtx", MTX.format("coordinate", f"2 2 {10**12}"), "declares 10{12} numbers"),
        ("data.mtx", MTX.format("coordinate", f"{10**12} 2 1"), "rows do not fit in memory"),
        ("data.mtx", MTX.format("coordinate", f"2 {10**12} 1"), "at most 16777216 columns, got 10"),
        ("data.mtx", MTX.format("coordinate", "2 2 1")[:-2] + "\0\n", "binary; expected text"),
        ("data.npz", sparse_npz([10**12, 3]), "rows do not fit in memory"),
        ("data.npz", sparse_npz([3, 10**12]), "at most 16777216 columns"),
        ("data.npz", npz_with_header((10**12, 1)), "header says float64 of shape"),
    ],
)
def test_files_that_say_to_hold_more_than_they_do(name, content, message, tmp_path):
    """They take no memory for it. scipy's reader of texts dies of a byte of zero."""
    with pytest.raises(TableError, match=message) as caught:
        read_text(content, tmp_path, name)
    assert "\n" not in str(caught.value)


def test_a_wrong_name_among_very_many_is_told_without_a_suggestion(tmp_path):
    np.save(tmp_path / "data.npy", np.zeros((1, 10**5)))
    with pytest.raises(TableError, match=r"no column 'y'; its columns are 'x0', .* and 99990 more"):
        read_table(tmp_path / "data.npy", label_column="y")


def test_other_errors_of_files_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path / "folder.csv")
    with pytest.raises(TableError, match=r"must end in one of \.csv"):
        read_table(tmp_path / "data.xlsx")


def test_a_header_of_npy_that_is_longer_than_the_file(tmp_path):
    content = b"\x93NUMPY\x02\x00" + b"\xff\xff\xff\x7f" + b"{'descr': '<f8'}"
    (tmp_path / "data.npy").write_bytes(content)
    with pytest.raises(TableError, match="its header is longer than the file"):
        read_table(tmp_path / "data.npy")


def test_a_long_name_is_cut_in_messages(tmp_path):
    name = 300 * "long"
    for first, options in (("x", {}), ("1", {"label_column": "kind"}), ("", {})):
        with pytest.raises(TableError) as caught:
            read_text(f"{name},b\n{first},2\n1,3\n", tmp_path, **options)
        assert "longlong...'" in str(caught.value)
        assert len(str(caught.value)) < 500 + len(str(tmp_path))

"""CSV and TSV files."""

import gzip

import numpy as np
import pytest
from data_files import read_text, write

from modeclust.cli.readers.csv_files import CsvFormat
from modeclust.cli.readers.files import TableError
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import read_table


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
def test_invalid_text(text, message, tmp_path):
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
def test_variants_of_valid_text(text, tmp_path):
    table = read_text(text, tmp_path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.columns == ["a", "b"]
    assert not table.notices


def test_the_name_of_a_single_column_can_contain_a_comma(tmp_path):
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


def test_a_first_line_of_column_numbers_is_a_header(tmp_path):
    table = read_text("0,1,2\n3,4,5\n", tmp_path)
    np.testing.assert_array_equal(table.X, [[3, 4, 5]])
    assert table.columns == ["0", "1", "2"]
    assert "--no-header" in table.notices[0]
    for text in ("0\n3\n", "0,2\n3,4\n", "0.0,1.0\n3,4\n", "1,2\n3,4\n"):
        assert read_text(text, tmp_path).X.shape[0] == 2


def test_a_header_that_is_half_numbers_is_in_doubt(tmp_path):
    table = read_text("2.5,7,pro\n3,4,basic\n", tmp_path, columns=["2.5", "7"])
    assert table.X.shape == (1, 2)
    assert "the first line has numbers (2.5) and was read as column names" in table.notices[0]
    assert read_text("a,b,2019\n1,2,3\n", tmp_path).notices == ()


def test_the_header_option_overrules_the_detection(tmp_path):
    table = read_text("2019,2020\n1,2\n", tmp_path, csv_format=CsvFormat(header=True))
    assert (table.columns, table.X.tolist()) == (["2019", "2020"], [[1, 2]])
    assert not table.notices
    table = read_text("0,1\n3,4\n", tmp_path, csv_format=CsvFormat(header=False))
    assert (table.columns, table.X.tolist()) == (["x0", "x1"], [[0, 1], [3, 4]])
    assert not table.notices
    with pytest.raises(
        TableError, match=r"--no-header applies only to text files .*data\.npy'; remove"
    ):
        read_table(write(tmp_path / "data.npy"), ReadOptions(csv_format=CsvFormat(header=False)))


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
def test_separators_and_decimal_commas(content, name, csv_format, tmp_path):
    table = read_text(content, tmp_path, name, csv_format=csv_format)
    assert (table.columns, table.X.tolist()) == (["a", "b"], [[1, 2.5]])


def test_a_first_line_of_numbers_with_decimal_commas(tmp_path):
    csv_format = CsvFormat(separator=";", decimal_comma=True)
    assert read_text("1,5;2,5\n3,5;4,5\n", tmp_path, csv_format=csv_format).X.tolist() == [
        [1.5, 2.5],
        [3.5, 4.5],
    ]


@pytest.mark.parametrize("separator", ["", ";;", "é", '"', "\n"])
def test_invalid_separators(separator, tmp_path):
    with pytest.raises(TableError, match="--separator must be a single ASCII character"):
        read_text("a;b\n1;2\n", tmp_path, csv_format=CsvFormat(separator=separator))


def test_a_column_without_a_name_is_ignored(tmp_path):
    table = read_text(",a\n0,5\n1,6\n", tmp_path)
    assert table.columns == ["a"]
    assert "unnamed_1" in table.notices[0]

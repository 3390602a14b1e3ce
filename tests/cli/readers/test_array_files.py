"""npy, npz and Matrix Market files."""

import io
import zipfile

import numpy as np
import pytest
from data_files import X, read_text, write
from scipy import sparse

from modeclust.cli.readers.files import TableError
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import read_table


def test_many_columns(tmp_path):
    names = [f"x{j}" for j in range(30_000)]
    sparse.save_npz(tmp_path / "data.npz", sparse.eye_array(3, 30_000, format="csr"))
    assert read_table(tmp_path / "data.npz", ReadOptions(names)).X.shape == (3, 30_000)
    assert read_table(tmp_path / "data.npz", ReadOptions(names[::-1])).X.nnz == 3


def test_arrays_that_are_not_a_table(tmp_path):
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
    table = read_table(tmp_path / "data.npz", ReadOptions(weight_column="x0"))
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
            read_table(path, ReadOptions(["x0"]))
        assert "\n" not in str(caught.value)
    if kind is not sparse.bsr_array:
        matrix = kind(np.eye(9))
        matrix.indptr[5:] = [10**6, 0, 0, 0, 0]  # with no numbers, scipy does not look at it
        sparse.save_npz(path, matrix)
        with pytest.raises(TableError, match="end before they begin"):
            read_table(path)
    matrix = sparse.coo_array(np.eye(9))
    matrix.col[5] = -1000
    sparse.save_npz(path, matrix)
    with pytest.raises(TableError, match="cannot be read"):
        read_table(path)


def test_booleans_are_read_as_numbers(tmp_path):
    np.save(tmp_path / "data.npy", X > 2)
    table = read_table(tmp_path / "data.npy")
    assert table.X.dtype == np.float64
    assert table.X.tolist() == [[0, 1], [1, 0], [1, 1]]
    sparse.save_npz(tmp_path / "data.npz", sparse.csr_array(X > 2))
    assert read_table(tmp_path / "data.npz").X.toarray().tolist() == table.X.tolist()
    np.savez(tmp_path / "data.npz", X=X, w=[True, False, True])
    table = read_table(tmp_path / "data.npz", ReadOptions(weight_column="w"))
    assert table.weight.tolist() == [1, 0, 1]


def test_npy_and_npz_files_with_a_wrong_ending(tmp_path):
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


def test_mtx_without_an_end_of_the_last_line(tmp_path):
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
        ("data.mtx", MTX.format("array", "0 2"), "expected rows and columns, got 0 x 2"),
        ("data.mtx", MTX.format("coordinate", f"2 {10**12} 1"), "at most 4194304 columns, got 10"),
        ("data.mtx", MTX.format("coordinate", "2 2 1")[:-2] + "\0\n", "binary; expected text"),
        ("data.npz", sparse_npz([10**12, 3]), "rows do not fit in memory"),
        ("data.npz", sparse_npz([3, 10**12]), "at most 4194304 columns"),
        ("data.npz", npz_with_header((10**12, 1)), "header says float64 of shape"),
    ],
)
def test_declared_sizes_larger_than_the_file(name, content, message, tmp_path):
    """They take no memory for it. scipy's reader of texts dies of a byte of zero."""
    with pytest.raises(TableError, match=message) as caught:
        read_text(content, tmp_path, name)
    assert "\n" not in str(caught.value)


def test_an_npy_header_longer_than_the_file(tmp_path):
    content = b"\x93NUMPY\x02\x00" + b"\xff\xff\xff\x7f" + b"{'descr': '<f8'}"
    (tmp_path / "data.npy").write_bytes(content)
    with pytest.raises(TableError, match="its header is longer than the file"):
        read_table(tmp_path / "data.npy")

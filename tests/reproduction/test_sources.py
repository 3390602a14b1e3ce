"""The data sets of the paper, and their stand-in."""

from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.utils import Bunch

from reproduction.sources import OPENML, SHAPES, TITLES, Source, load_source, weight_terms


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MODECLUST_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("MODECLUST_DATA", raising=False)


@pytest.fixture
def openml(monkeypatch):
    """Replace OpenML by a function, and record the names of the data sets it is asked for."""
    asked = []

    def answer(function):
        def fetch(name, **options):
            asked.append(name)
            return function()

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        return asked

    return answer


@pytest.mark.parametrize("name", SHAPES)
def test_images_are_read_and_scaled(name, folder):
    height, width = SHAPES[name]
    X = np.zeros((3, height * width), np.uint8)
    X[1] = 255
    X[2] = 51
    np.savez(folder / f"{name}.npz", X=X, y=np.array([2, 0, 1], np.uint8))
    source = load_source(name)
    assert source.X.dtype == np.float64
    first = [0, 1 / 32, 1 / 32] if name == "coil20" else [0, 1, 0.2]  # COIL-20 has length 1
    assert_allclose(source.X[:, 0], first)
    assert source.y.tolist() == [2, 0, 1]
    assert (source.title, source.image_shape) == (TITLES[name], SHAPES[name])
    assert source.stand_in is None
    assert source.n_classes == 3


def test_documents_are_read_and_weighted(folder):
    counts = sparse.csr_matrix([[1, 0, 3], [0, 2, 0]])
    np.savez(
        folder / "tdt2.npz",
        data=counts.data,
        indices=counts.indices,
        indptr=counts.indptr,
        shape=counts.shape,
        y=[0, 1],
    )
    source = load_source("tdt2")
    assert sparse.issparse(source.X)
    assert_allclose(source.X.toarray(), weight_terms(counts).toarray())
    assert_allclose(np.linalg.norm(source.X.toarray(), axis=1), 1)
    assert source.image_shape is None


def test_weights_of_terms_by_hand():
    # Term 0 is in both documents, so log(N / df) = 0. Terms 1 and 2 are in one.
    counts = sparse.csr_matrix(np.array([[5, 1, 3], [2, 0, 0]]))
    weighted = weight_terms(counts).toarray()
    row = np.array([0, 1.0, 1 + np.log(3)])  # each times log 2, which cancels
    assert_allclose(weighted, [row / np.linalg.norm(row), [0, 0, 0]])
    assert counts.data.tolist() == [5, 1, 3, 2]


@pytest.mark.parametrize("content", [b"", b"no npz", "arrays"])
def test_file_with_other_content_is_refused_by_name(content, folder):
    file = folder / "usps.npz"
    if content == "arrays":
        np.savez(file, digits=np.zeros((2, 2)))
    else:
        file.write_bytes(content)
    with pytest.raises(ValueError, match=r"usps\.npz in .* must be an npz file with X and y: "):
        load_source("usps")


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.eye(3), [0, 1, 2], "X must have 256 columns"),
        (np.eye(3, 256), [0, 1], r"y must have shape \(3,\), got \(2,\)"),
        (np.full((3, 256), np.nan), [0, 1, 2], "pixels must be finite"),
        (np.zeros((3, 256)), [0, 1, 2], "not all equal"),
    ],
)
def test_arrays_that_are_not_images_are_refused(X, y, message, folder):
    np.savez(folder / "usps.npz", X=X, y=np.array(y))
    with pytest.raises(ValueError, match=message):
        load_source("usps")


def test_classes_are_numbered_from_0(folder):
    np.savez(folder / "usps.npz", X=np.eye(3, 256), y=np.array([10, 1, 5]))
    assert load_source("usps").y.tolist() == [2, 0, 1]


@pytest.mark.parametrize("name", OPENML)
def test_openml_is_asked_if_there_is_no_file(name, folder, openml):
    shape = (2, np.prod(SHAPES[name]))
    X = np.linspace(-1, 1, np.prod(shape)).reshape(shape)
    asked = openml(lambda: Bunch(data=X, target=np.array(["7", "3"])))
    source = load_source(name)
    assert asked == [OPENML[name]]
    assert (source.X.min(), source.X.max()) == (0, 1)
    assert source.y.tolist() == [1, 0]
    assert source.stand_in is None


@pytest.mark.usefixtures("no_folder")
def test_without_a_network_digits_are_used(openml):
    def fail():
        raise URLError("no network")

    openml(fail)
    source = load_source("mnist")
    assert source.X.shape == (1797, 64)
    assert source.image_shape == (8, 8)
    assert source.stand_in == (
        "MNIST is missing: set MODECLUST_DATA to a folder with mnist.npz; the download from OpenML "
        "failed (URLError). The digits of scikit-learn are used instead."
    )
    assert source.title == "digits instead of MNIST"


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize(("name", "fetch"), [("mnist", False), ("coil20", True), ("tdt2", True)])
def test_openml_is_not_asked_if_not_wanted_or_without_the_data(name, fetch, openml):
    asked = openml(lambda: pytest.fail("asked"))
    source = load_source(name, fetch=fetch)
    assert asked == []
    assert "OpenML" not in source.stand_in
    assert f"a folder with {name}.npz" in source.stand_in


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_draw_takes_the_same_number_of_each_class(make):
    y = np.array([0] * 10 + [1] * 7 + [2] * 2)
    source = Source(make(np.arange(19.0)[:, None]), y, "numbers", None)
    drawn = source.draw(4, seed=0)
    assert np.bincount(drawn.y).tolist() == [4, 4, 2]  # all rows of a class that has fewer
    dense = drawn.X.toarray() if sparse.issparse(drawn.X) else drawn.X
    rows = dense.ravel().astype(int)
    assert len(set(rows)) == 10
    assert y[rows].tolist() == drawn.y.tolist()
    again, other = (source.draw(4, seed=seed).X for seed in (0, 1))
    assert (again != drawn.X).sum() == 0
    assert (other != drawn.X).sum() > 0
    assert drawn.title == "numbers"

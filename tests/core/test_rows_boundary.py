"""What the core takes as rows: every layout and number type, and clear errors for anything else."""

import numpy as np
import pytest
from scipy import sparse

from modeclust import _core
from modeclust._core import Rows

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES = ["float16", "float32", "float64", *INTEGERS, "bool"]
DIRECTIONS = np.array([1.0, -2.0, 0.25, 3.0, 0.5])


def matrix(dtype, rng, shape=(40, 5)):
    """Make rows with the smallest and the largest numbers of an integer type among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    X = rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
    X[0, 0], X[1, 0] = limits.min, limits.max
    return X


def expected_keys(X, directions=DIRECTIONS):
    """Take x . directions one feature after the other, as the core does."""
    total = np.zeros(len(X))
    for j, direction in enumerate(directions):
        total += X[:, j].astype(float) * direction
    return total


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "strided", "transposed", "read-only"])
def test_every_type_and_layout_is_read(dtype, layout, rng):
    X = matrix(dtype, rng)
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "reversed":
        X = X[::-1, ::-1]
    elif layout == "strided":
        X = matrix(dtype, rng, (120, 10))[::3, ::2]
    elif layout == "transposed":
        X = matrix(dtype, rng, (5, 40)).T
    elif layout == "read-only":
        X.flags.writeable = False
    np.testing.assert_array_equal(Rows(X).keys(DIRECTIONS), expected_keys(X))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_floats_are_read(dtype):
    info = np.finfo(dtype)
    values = [0.0, -0.0, info.max, info.min, info.tiny, info.smallest_subnormal, np.inf, -np.inf]
    X = np.array(values, dtype)[:, None]
    keys = Rows(X).keys(np.ones(1))
    np.testing.assert_array_equal(keys, X[:, 0].astype(float))
    assert np.isnan(Rows(np.array([[np.nan]], dtype)).keys(np.ones(1))).all()


def test_memory_maps_and_unaligned_rows_are_read(tmp_path, rng):
    X = matrix("float64", rng)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_array_equal(Rows(mapped).keys(DIRECTIONS), expected_keys(X))
    for dtype in ("float32", "float64", "int16"):
        X = matrix(dtype, rng)
        buffer = np.zeros(X.nbytes + 1, np.uint8)
        unaligned = buffer[1:].view(X.dtype).reshape(X.shape)
        unaligned[:] = X
        assert not unaligned.flags.aligned
        np.testing.assert_array_equal(Rows(unaligned).keys(DIRECTIONS), expected_keys(X))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "uint64"])
def test_swapped_bytes_are_read(dtype, rng):
    X = matrix(dtype, rng)
    rows = Rows(X.byteswap(), swapped=True)
    np.testing.assert_array_equal(rows.keys(DIRECTIONS), expected_keys(X))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_rows", [1, 40, 50_000])
def test_limits_of_columns(dtype, n_rows, rng):
    X = matrix(dtype, rng, (max(n_rows, 2), 5))[-n_rows:]
    lowest, highest = Rows(X, n_threads=3).column_limits()
    np.testing.assert_array_equal(lowest, X.min(axis=0))
    np.testing.assert_array_equal(highest, X.max(axis=0))


def test_csr_rows_have_no_limits_of_columns():
    with pytest.raises(ValueError, match="column_limits is for dense rows"):
        csr().column_limits()


def test_offset_and_scale_are_taken_off(rng):
    X = rng.normal(size=(40, 5))
    offset = rng.normal(size=5)
    keys = Rows(X, offset=offset, scale=4.0).keys(DIRECTIONS)
    np.testing.assert_array_equal(keys, expected_keys((X - offset) / 4.0))
    strided = np.repeat(offset, 2)[::2]
    np.testing.assert_array_equal(Rows(X, offset=strided, scale=4.0).keys(DIRECTIONS), keys)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_rows_in_many_blocks(n_threads, rng):
    X = rng.normal(size=(50_000, 5))
    rows = Rows(X, n_threads=n_threads)
    np.testing.assert_array_equal(rows.keys(DIRECTIONS), expected_keys(X))
    assert rows.digest() == Rows(X).digest()


def test_no_rows_and_one_row():
    rows = Rows(np.empty((0, 5)))
    assert (rows.n_rows, rows.n_features, len(rows.keys(DIRECTIONS))) == (0, 5, 0)
    assert Rows(np.ones((1, 5))).keys(DIRECTIONS) == DIRECTIONS.sum()


def test_rows_stay_as_long_as_they_are_used(rng):
    X = rng.normal(size=(1000, 5))
    expected = expected_keys(X)
    rows = Rows(X)
    del X
    np.testing.assert_array_equal(rows.keys(DIRECTIONS), expected)


def test_digests_tell_rows_apart(rng):
    X = rng.normal(size=(100, 5))
    other = X.copy()
    other[99, 4] = np.nextafter(other[99, 4], np.inf)
    assert Rows(X).digest() == Rows(np.asfortranarray(X)).digest() != Rows(other).digest()


def test_digests_tell_csr_rows_apart(rng):
    X = sparse.random_array((60, 5), density=0.3, format="csr", rng=rng)
    wide = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    narrow = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    digests = [Rows(X.data, *arrays, n_features=5).digest() for arrays in (wide, narrow)]
    moved = X.tocoo()
    moved.coords[1][:] = 4 - moved.coords[1]
    moved = moved.tocsr()
    moved.sort_indices()
    other = Rows(moved.data, moved.indices, moved.indptr, 5).digest()
    assert digests[0] == digests[1] != other


def test_row_weights(rng):
    weight, precision = rng.uniform(0.5, 2.0, (2, 40))
    X = rng.normal(size=(40, 5))
    for q, p in ((None, None), (weight, None), (None, precision), (weight, precision)):
        expected = (np.ones(40) if q is None else q) * (1.0 if p is None else p)
        np.testing.assert_array_equal(Rows(X, weight=q, precision=p).row_weights(), expected)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_inverse_lengths(scale, rng):
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    X[0] = 0.0
    with np.errstate(divide="ignore"):
        expected = 1.0 / np.linalg.norm(X, axis=1) / scale
    C = sparse.csr_array(X * scale)
    np.testing.assert_allclose(Rows(X * scale).inverse_lengths(), expected, rtol=1e-14)
    found = Rows(C.data, C.indices, C.indptr, 5).inverse_lengths()
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_csr_rows_are_read(dtype, index, rng):
    X = sparse.random_array((60, 5), density=0.3, format="csr", dtype=float, rng=rng).astype(dtype)
    X.sort_indices()
    rows = Rows(X.data, X.indices.astype(index), X.indptr.astype(index), 5)
    assert (rows.n_rows, rows.n_features) == (60, 5)
    np.testing.assert_array_equal(rows.keys(DIRECTIONS), expected_keys(X.toarray()))


def test_csr_rows_without_entries():
    rows = Rows(np.empty(0), np.empty(0, np.int32), np.zeros(4, np.int32), 5)
    np.testing.assert_array_equal(rows.keys(DIRECTIONS), np.zeros(3))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.ones(5), ValueError, "X must be a matrix"),
        (np.ones((2, 2, 2)), ValueError, "X must be a matrix"),
        (np.ones((3, 0)), ValueError, "X must have features"),
        (np.ones((3, 2), complex), TypeError, "floats of 16, 32 or 64 bits"),
        (np.array([["a", "b"]]), TypeError, "incompatible"),
        (np.array([[None, 1]], object), TypeError, "incompatible"),
        ([[1.0, 2.0]], TypeError, "incompatible"),
        (None, TypeError, "incompatible"),
    ],
    ids=["vector", "three", "empty", "complex", "text", "object", "list", "none"],
)
def test_what_are_no_rows_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        Rows(X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weight": np.ones(39)}, "weight must have one number for each row"),
        ({"weight": np.ones(41)}, "weight must have one number for each row"),
        ({"precision": np.ones(39)}, "precision must have one number for each row"),
        ({"offset": np.ones(4)}, "offset must have one number for each feature"),
        ({"scale": 0.0}, "scale must be > 0"),
        ({"scale": np.nan}, "scale must be > 0"),
        ({"n_threads": 0}, "n_threads must be >= 1"),
    ],
    ids=str,
)
def test_numbers_that_do_not_fit_the_rows_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Rows(np.ones((40, 5)), **arguments)


@pytest.mark.parametrize("name", ["weight", "precision", "offset"])
@pytest.mark.parametrize("value", [np.ones((5, 1)), "word", 1.0], ids=repr)
def test_vectors_must_be_vectors(name, value):
    with pytest.raises(TypeError, match="incompatible"):
        Rows(np.ones((5, 5)), **{name: value})


def test_directions_and_precision_are_checked():
    rows = Rows(np.ones((40, 5)))
    with pytest.raises(ValueError, match="directions must have one number for each feature"):
        rows.keys(np.ones(4))
    with pytest.raises(ValueError, match="precision must have one number for each row"):
        rows.set_precision(np.ones(4))
    rows.set_precision(np.ones(40))
    rows.set_precision(None)


def csr(**changed):
    """Make CSR rows [[1, 0, 2], [0, 3, 0]] with some of the arrays changed."""
    arrays = {
        "data": np.array([1.0, 2.0, 3.0]),
        "indices": np.array([0, 2, 1], np.int32),
        "indptr": np.array([0, 2, 3], np.int32),
        "n_features": 3,
    }
    return Rows(**(arrays | changed))


ORDER = "ascend within each row and be below n_features"


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"indices": np.array([2, 0, 1], np.int32)}, ValueError, ORDER),
        ({"indices": np.array([0, 0, 1], np.int32)}, ValueError, ORDER),
        ({"indices": np.array([0, 3, 1], np.int32)}, ValueError, ORDER),
        ({"indices": np.array([-1, 2, 1], np.int64)}, ValueError, ORDER),
        ({"indices": np.array([0, 2**40, 1], np.int64)}, ValueError, ORDER),
        ({"indices": np.array([0.0, 2.0, 1.0])}, ValueError, "int32 or int64"),
        ({"indices": np.array([0, 2, 1], np.uint32)}, ValueError, "int32 or int64"),
        ({"indptr": np.array([0, 2, 3], np.int16)}, ValueError, "int32 or int64"),
        ({"indptr": np.array([0, 3, 2], np.int32)}, ValueError, "indptr of CSR rows must ascend"),
        ({"indptr": np.array([-1, 2, 3], np.int32)}, ValueError, "indptr of CSR rows must ascend"),
        ({"indptr": np.array([0, 2, 4], np.int32)}, ValueError, "indptr of CSR rows must ascend"),
        ({"indptr": np.array([0, 2, 2**40])}, ValueError, "indptr of CSR rows must ascend"),
        ({"indptr": np.empty(0, np.int32)}, ValueError, "must have features"),
        ({"n_features": 0}, ValueError, "must have features"),
        ({"n_features": 2**30}, ValueError, "must have features, fewer than"),
        ({"data": np.array([1.0, 2.0])}, ValueError, "indptr of CSR rows must ascend"),
        ({"data": np.array([1, 2, 3])}, ValueError, "float32 or float64"),
        ({"data": np.ones((3, 1))}, ValueError, "contiguous vectors"),
        ({"data": np.ones(6)[::2]}, ValueError, "contiguous vectors"),
        ({"weight": np.ones(3)}, ValueError, "weight must have one number for each row"),
    ],
    ids=lambda value: repr(value) if isinstance(value, dict) else "",
)
def test_csr_rows_that_are_not_canonical_are_refused(changed, error, message):
    csr()
    with pytest.raises(error, match=message):
        csr(**changed)


def unaligned(X):
    """Return a copy of an array in memory that is not aligned."""
    copy = np.zeros(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(X.shape)
    copy[...] = X
    return copy


def test_unaligned_arguments_are_copied(rng):
    X, weight = rng.normal(size=(40, 5)), rng.uniform(0.5, 2.0, 40)
    rows = Rows(X, weight=unaligned(weight))
    np.testing.assert_array_equal(rows.row_weights(), weight)
    np.testing.assert_array_equal(rows.keys(unaligned(DIRECTIONS)), Rows(X).keys(DIRECTIONS))
    rows.set_labels(unaligned(np.arange(40, dtype=np.int32)), 40)
    np.testing.assert_array_equal(rows.labels, np.arange(40))
    C = sparse.csr_array(X)
    parts = [unaligned(part) for part in (C.data, C.indices, C.indptr)]
    np.testing.assert_array_equal(Rows(*parts, n_features=5).keys(DIRECTIONS), expected_keys(X))


@pytest.mark.parametrize(
    "out",
    [
        np.empty((40, 2), np.float32),
        np.empty((40, 2), np.int64),
        np.empty((2, 40)).T,
        np.empty((40, 4))[:, ::2],
        unaligned(np.empty((40, 2))),
        None,
    ],
    ids=["float32", "int64", "transposed", "strided", "unaligned", "none"],
)
def test_an_output_that_would_be_copied_is_refused(out):
    rows, centers = Rows(np.ones((40, 5))), np.ones((2, 5))
    with pytest.raises(TypeError, match="incompatible"):
        _core.project_rows(out)
    with pytest.raises(TypeError, match="incompatible"):
        _core.kernel_values(rows, centers, kernel=0, inverse_squared_bandwidth=1.0, out=out)

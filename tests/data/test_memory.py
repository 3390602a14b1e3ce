import numpy as np
import pytest
from scipy import sparse

from modeclust.data.memory import MemoryDataset, thread_count
from modeclust.data.mode_pass import ModePass


def all_forms(X, tmp_path):
    """Yield the same numbers in every form that memory has."""
    yield "F order", np.asfortranarray(X)
    yield "a view with strides", np.repeat(X, 2, axis=1)[:, ::2]
    yield "CSR matrix", sparse.csr_matrix(X)
    yield "CSR array", sparse.csr_array(X)
    np.save(tmp_path / "rows.npy", X)
    yield "memmap", np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.save(tmp_path / "fortran.npy", np.asfortranarray(X))
    yield "memmap in F order", np.load(tmp_path / "fortran.npy", mmap_mode="r")


def test_every_form_gives_the_same_sums(rng, tmp_path):
    X = np.round(rng.normal(size=(20_000, 4)), 1)
    centers = X[:5] + 0.01
    pass_ = ModePass(centers, 0, 0.5)
    with MemoryDataset(X) as rows:
        expected, labels = rows.run(pass_), rows.labels()
    for name, form in all_forms(X, tmp_path):
        with MemoryDataset(form) as rows:
            found = rows.run(pass_)
            np.testing.assert_array_equal(rows.labels(), labels, err_msg=name)
            np.testing.assert_allclose(
                found.moved(centers), expected.moved(centers), rtol=1e-12, err_msg=name
            )
            np.testing.assert_allclose(
                rows.distances(centers),
                np.linalg.norm(X[:, None] - centers, axis=2),
                rtol=1e-9,
                err_msg=name,
            )


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float16, bool])
def test_a_mapped_file_of_other_numbers_is_converted_by_the_block(rng, tmp_path, dtype):
    X = (rng.random((3000, 6)) * 5).astype(dtype)
    np.save(tmp_path / "rows.npy", X)
    centers = X[:3].astype(float) + rng.random((3, 6))
    pass_ = ModePass(centers, 0, 0.2)
    with MemoryDataset(np.load(tmp_path / "rows.npy", mmap_mode="r")) as rows:
        found = rows.run(pass_)
    with MemoryDataset(X.astype(np.float64)) as rows:
        expected = rows.run(pass_)
    np.testing.assert_array_equal(found.totals, expected.totals)


def test_sample_leaves_out_rows_without_weight():
    X = np.arange(10.0)[:, None]
    with MemoryDataset(X, weight=np.tile([0.0, 2.0], 5)) as rows:
        drawn = rows.sample(100, np.random.RandomState(0))
        assert drawn.X.ravel().tolist() == [1, 3, 5, 7, 9]
        assert drawn.weight.tolist() == [2.0] * 5
        assert set(rows.sample(4, np.random.RandomState(0)).X.ravel()) < {1, 3, 5, 7, 9}
        assert len(rows.sample(4, np.random.RandomState(0)).X) == 4


def test_distinct_rows_of_all():
    X = np.zeros((20_000, 2))
    X[[3, 17_000]] = [1.0, 5.0]
    X[12_345] = [2.0, 2.0]
    weight = np.ones(20_000)
    weight[12_345] = 0
    with MemoryDataset(X, weight=weight) as rows:
        found = rows.distinct()
    order = np.argsort(found.X[:, 0])
    np.testing.assert_array_equal(found.X[order], [[0.0, 0.0], [1.0, 5.0]])
    np.testing.assert_array_equal(found.weight[order], [19_997.0, 2.0])


def test_distinct_rows_with_equal_rounded_keys_are_distinguished():
    X = np.zeros((10_003, 2))
    X[5000:, 0] = 1e10
    X[-3:, 1] = [1e-7, 2e-7, 3e-7]
    for form in (X, sparse.csr_array(X)):
        with MemoryDataset(form) as rows:
            found = rows.distinct()
        assert len(found.weight) == 5
        assert found.weight.sum() == 10_003


def test_thread_count_follows_the_environment(monkeypatch):
    for value in ("3", "3,2", " 3 "):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert thread_count(None) == 3
        assert thread_count(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert thread_count(None) >= 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count(None) == thread_count(-1) >= 1

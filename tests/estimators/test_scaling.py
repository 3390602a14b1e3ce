"""Scaling of columns: rows of every kind, there and back."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from modeclust.estimators.scaling import Scaling

X = np.array([[1.0, 10.0], [3.0, 30.0]])
SCALED = np.array([[0.0, -1.0], [1.0, 1.0]])
SCALING = Scaling(mean=np.array([1.0, 20.0]), scale=np.array([2.0, 10.0]))


def test_rows_of_every_kind_are_scaled_alike():
    for rows in (X, X.tolist(), X.astype(int), sparse.csr_array(X)):
        np.testing.assert_array_equal(SCALING.transform(rows), SCALED)
    assert SCALING.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(SCALING.inverse_transform(SCALED), X)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_frame_stays_one_with_its_names(kind):
    scaled = SCALING.transform(kind({"a": X[:, 0], "b": X[:, 1]}))
    assert isinstance(scaled, kind)
    assert list(scaled.columns) == ["a", "b"]
    np.testing.assert_array_equal(scaled.to_numpy(), SCALED)


def test_dask_collections_stay_lazy():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    scaled = SCALING.transform(da.from_array(X, chunks=(1, 2)))
    assert isinstance(scaled, da.Array)
    np.testing.assert_array_equal(scaled.compute(), SCALED)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=2)
    scaled = SCALING.transform(frame)
    assert list(scaled.columns) == ["a", "b"]
    np.testing.assert_array_equal(scaled.compute().to_numpy(), SCALED)


def test_without_means_sparse_rows_stay_sparse():
    scaling = Scaling(mean=None, scale=SCALING.scale)
    scaled = scaling.transform(sparse.csr_array(X))
    assert scaled.format == "csr"
    np.testing.assert_array_equal(scaled.toarray(), X / SCALING.scale)
    np.testing.assert_array_equal(scaling.transform(X), X / SCALING.scale)
    np.testing.assert_array_equal(scaling.inverse_transform(X / SCALING.scale), X)


@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 3)])
def test_rows_of_another_width_are_refused(shape):
    with pytest.raises(ValueError, match="X must be rows of 2 features"):
        SCALING.transform(np.ones(shape))

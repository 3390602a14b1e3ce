import numpy as np
import pytest
from scipy import sparse

from modeclust.data.rescaling import Rescaling


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_ordinary_data_are_not_copied(rng, dtype):
    X = (rng.random((50, 3)) * 100).astype(dtype)
    rescaling = Rescaling.of(X)
    assert rescaling.is_identity
    assert rescaling.to_internal(X) is X


def test_a_large_offset_is_subtracted_exactly(rng):
    spread = rng.normal(size=(100, 2))
    X = spread + 1e8
    rescaling = Rescaling.of(X)
    assert rescaling.scale == 1.0
    assert np.abs(rescaling.to_internal(X)).max() < 10
    np.testing.assert_array_equal(rescaling.to_original(rescaling.to_internal(X)), X)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_scales_become_one_exactly(rng, scale):
    X = rng.normal(size=(100, 2)) * scale
    rescaling = Rescaling.of(X)
    inner = rescaling.to_internal(X)
    assert 0.5 < np.abs(inner).max() < 4
    np.testing.assert_array_equal(rescaling.to_original(inner), X)


def test_csr_is_scaled_but_never_shifted():
    X = sparse.csr_array(np.array([[0.0, 2e-200], [3e-200, 0.0]]))
    rescaling = Rescaling.of(X)
    assert rescaling.offset is None
    assert rescaling.to_internal(X).nnz == 2
    np.testing.assert_array_equal(
        rescaling.to_original(rescaling.to_internal(X).toarray()), X.toarray()
    )


def test_constant_data_have_a_finite_unit():
    for value in (0.0, 5.0, 1e-200, 1e200):
        rescaling = Rescaling.of(np.full((3, 2), value))
        assert np.isfinite(rescaling.to_internal(np.full((3, 2), value))).all()

"""Compare values bit by bit."""

from dataclasses import fields, is_dataclass

import numpy as np
from scipy import sparse


def assert_same(a, b):
    """Assert that two values have the same type and the same bits."""
    if hasattr(a, "measured"):  # else it depends on whether they were needed before
        a, b = a.measured(), b.measured()
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    elif sparse.issparse(a):
        assert a.shape == b.shape
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(legacy=False), b.get_state(legacy=False))
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif is_dataclass(a):
        for field in fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    else:
        assert repr(a) == repr(b)

"""A base class for scikit-learn callbacks in tests."""

from importlib.util import find_spec

import pytest

HAS_CALLBACKS = find_spec("sklearn.callback") is not None
needs_callbacks = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="scikit-learn has callbacks from 1.9 on"
)


class Callback:
    """A callback that does nothing."""

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        pass

    def teardown(self, estimator, context):
        pass

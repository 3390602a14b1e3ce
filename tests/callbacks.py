"""A callback of scikit-learn, for those of tests to derive from."""

from importlib.util import find_spec

import pytest

needs_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="scikit-learn has callbacks from 1.9 on"
)


class Callback:
    """Does nothing at any moment of a fit."""

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        pass

    def teardown(self, estimator, context):
        pass

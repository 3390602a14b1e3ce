"""A callback of scikit-learn, for those of tests to derive from."""


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

"""Interrupt fits, and compare the results of resumed and uninterrupted fits."""

from contextlib import contextmanager

import pytest
from same import assert_same

FREE = {"checkpoint", "keep_checkpoint", "random_state", "verbose", "n_jobs"}


class Interrupter:
    """Interrupts a fit after a number of calls of a method."""

    def __init__(self, monkeypatch, cls, name):
        self.n_calls, self.stop_after = 0, None
        original = getattr(cls, name)

        def call(*arguments):
            result = original(*arguments)
            self.n_calls += 1
            if self.n_calls == self.stop_after:
                raise KeyboardInterrupt
            return result

        monkeypatch.setattr(cls, name, call)

    def count(self):
        """Count calls from now on, without interrupting."""
        self.n_calls, self.stop_after = 0, None

    @contextmanager
    def interrupting(self, after):
        """Interrupt the code in the context after a number of calls."""
        self.n_calls, self.stop_after = 0, after
        with pytest.raises(KeyboardInterrupt):
            yield
        self.count()


def interrupts(fit):
    """Return a function that interrupts a fit."""

    def interrupt(writes, after, file, name="plain", **changes):
        """Interrupt a fit after it has written its checkpoint `after` times."""
        with writes.interrupting(after):
            fit(name, checkpoint=file, **changes)

    return interrupt


def assert_same_fit(one, other):
    """Assert that two models have the same attributes, except for parameters in `FREE`."""
    assert_same(attributes(one), attributes(other))


def attributes(model):
    """Return all attributes of a fitted model; lazy ones are computed."""
    return {
        name: value.compute() if hasattr(value, "compute") else value
        for name, value in vars(model).items()
        if name not in FREE
    }

"""Fits that are interrupted, and what it means that they went on as if they had not been."""

from contextlib import contextmanager

import pytest
from same import assert_same

FREE = {"checkpoint", "keep_checkpoint", "random_state", "verbose", "n_jobs"}


class Interrupter:
    """Interrupts a fit after so many calls of a method."""

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
        """Count calls from here on, and interrupt none."""
        self.n_calls, self.stop_after = 0, None

    @contextmanager
    def interrupting(self, after):
        """Interrupt what is within after so many calls, and nothing that follows."""
        self.n_calls, self.stop_after = 0, after
        with pytest.raises(KeyboardInterrupt):
            yield
        self.count()


def interrupts(fit):
    """Return what interrupts such a fit."""

    def interrupt(writes, after, file, name="plain", **changes):
        """Leave the checkpoint of a fit that wrote so many times."""
        with writes.interrupting(after):
            fit(name, checkpoint=file, **changes)

    return interrupt


def assert_same_fit(one, other):
    """Assert that two models differ in nothing but where their checkpoints were."""
    assert_same(attributes(one), attributes(other))


def attributes(model):
    """Return all that a fit leaves, computed where it waits to be."""
    return {
        name: value.compute() if hasattr(value, "compute") else value
        for name, value in vars(model).items()
        if name not in FREE
    }

import pytest
from interruption import Interrupter

from modeclust.estimators.checkpoint import Checkpoint


@pytest.fixture
def writes(monkeypatch):
    """What counts the checkpoints that fits write, and can interrupt after one."""
    return Interrupter(monkeypatch, Checkpoint, "write")

"""A folder with data, in which commands run."""

from pathlib import Path

import pytest
from command import FRAME

from modeclust.cli import folder


class Report:
    """A report that is quick to write; reports have tests of their own."""

    def save(self, path):
        Path(path).write_text("{}")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Change to a folder with the file iris.csv, and return it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder, "report", lambda fit, **_: Report())
    FRAME.write_csv("iris.csv")
    return tmp_path

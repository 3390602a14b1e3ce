import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from modeclust.plotting.axes import divide, label_text, open_axes, spread_ticks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("petal length", "petal length"),
        ("a\nb\t c\x00\ud800d", "a b c d"),
        ("$x^2$", r"\$x^2\$"),
        (7, "7"),
        ("", ""),
        ("a" * 50, "a" * 27 + "…"),
    ],
)
def test_labels_are_one_short_line(text, expected):
    assert label_text(text) == expected


@pytest.mark.parametrize("name", ["$x^$", r"$\frac{", "$$", r"\$a$", "50 $ and 60 $", r"\alpha"])
def test_names_are_drawn_as_they_are(name):
    figure, ax = plt.subplots()
    ax.set_title(label_text(name))
    figure.canvas.draw()
    assert not ax.title._preprocess_math(ax.title.get_text())[1]
    assert ax.title._preprocess_math(ax.title.get_text())[0] == name


def test_ticks_are_spread():
    assert spread_ticks([0.0], 5) == [0]
    assert spread_ticks(np.arange(11), 5) == [0, 2, 4, 6, 8, 10]
    assert spread_ticks([0.0, 0.1, 5.0, 9.9, 10.0], 5) == [0, 2, 4]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"PathDisplay .*pip install 'modeclust\[plot\]'"):
        open_axes("PathDisplay")


def test_only_axes_of_a_grid_can_be_divided():
    ax = plt.figure().add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match=r"plt\.subplots"):
        divide(ax, 1, [1], "title")

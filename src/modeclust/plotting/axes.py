"""Axes, titles, labels and ticks, shared by the displays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# Heights of a title and of the note below it, in inches.
TITLE_HEIGHT, NOTE_HEIGHT = 0.22, 0.2


def import_pyplot(caller: str) -> Any:
    """Return `matplotlib.pyplot`, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} requires matplotlib; install it with `pip install 'modeclust[plot]'`."
        ) from error
    return plt


def open_axes(caller: str, ax: Any = None, figsize: tuple[float, float] | None = None) -> Any:
    """Return `ax`, or the axes of a new figure if it is None."""
    plt = import_pyplot(caller)
    if ax is not None:
        if not isinstance(ax, plt.Axes):
            raise TypeError(f"ax must be one of matplotlib's Axes or None, got {ax!r}.")
        return ax
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def divide(
    ax: Any, n_rows: int, widths: Sequence[float], title: str, note: str = ""
) -> tuple[Any, Any]:
    """Replace `ax` by a title, a note and a grid; return the title and the grid.

    `widths` are the relative widths of the columns of the grid.
    """
    position = ax.get_subplotspec()
    if position is None:
        raise ValueError(
            "ax must be one of a grid, so that it can be divided; make it with plt.subplots()."
        )
    ax.set_axis_off()
    head_height = TITLE_HEIGHT + NOTE_HEIGHT * bool(note)
    height = ax.get_window_extent().height / ax.figure.dpi
    outer = position.subgridspec(
        2, 1, height_ratios=[head_height, max(height - head_height, head_height)]
    )
    head_axes = ax.figure.add_subplot(outer[0])
    head_axes.set_axis_off()
    # A long title may be wider than the axes, but must not shrink the grid below it.
    style = {"ha": "center", "va": "top", "in_layout": False}
    title_text = head_axes.text(0.5, 1, title, fontsize="large", **style)
    head_axes.annotate(
        note, (0.5, 1), (0, -19), textcoords="offset points", fontsize="small", **style
    )
    return title_text, outer[1].subgridspec(n_rows, len(widths), width_ratios=widths)


def label_text(name: Any, max_length: int = 28) -> str:
    """Return a name as a label: on one line, shortened, and not read as math by matplotlib."""
    printable = "".join(char if char.isprintable() else " " for char in str(name))
    return cut(" ".join(printable.split()), max_length).replace("$", r"\$")


def cut(text: str, max_length: int) -> str:
    """Return a text of at most this length, cut at its end."""
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def spread_ticks(positions: npt.ArrayLike, max_gaps: int) -> list[int]:
    """Return the indices of the positions that get a tick label.

    `positions` are ascending. The first and the last always get a label. Labels are at least a
    `max_gaps`-th of the axis apart.
    """
    positions = np.asarray(positions, dtype=np.float64)
    min_gap = (positions[-1] - positions[0]) / max_gaps
    chosen = [0]
    for i in range(1, len(positions) - 1):
        gaps = positions[i] - positions[chosen[-1]], positions[-1] - positions[i]
        if min(gaps) >= min_gap:
            chosen.append(i)
    return [*chosen, len(positions) - 1] if len(positions) > 1 else chosen

"""What the displays share on matplotlib's side: axes, their division, and words on them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# The room that a title and a line below it take, in inches.
TITLE, NOTE = 0.22, 0.2


def pyplot_for(caller: str) -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} requires matplotlib; install it with `pip install 'modeclust[plot]'`."
        ) from error
    return plt


def open_axes(caller: str, ax: Any = None, figsize: tuple[float, float] | None = None) -> Any:
    """Return the axes given, or those of a new figure."""
    plt = pyplot_for(caller)
    if ax is not None:
        if not isinstance(ax, plt.Axes):
            raise TypeError(f"ax must be one of matplotlib's Axes or None, got {ax!r}.")
        return ax
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def divide(
    ax: Any, n_rows: int, widths: Sequence[float], title: str, note: str = ""
) -> tuple[Any, Any]:
    """Return the title, and below it a grid of places in the room of `ax`, which is hidden.

    The columns are as wide as `widths` say, in proportion.
    """
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError(
            "ax must be one of a grid, so that it can be divided; make it with plt.subplots()."
        )
    ax.set_axis_off()
    head = TITLE + NOTE * bool(note)
    room = ax.get_window_extent().height / ax.figure.dpi
    outer = place.subgridspec(2, 1, height_ratios=[head, max(room - head, head)])
    above = ax.figure.add_subplot(outer[0])
    above.set_axis_off()
    # In narrow axes a long line may stand out, but must not squeeze what is below.
    looks = {"ha": "center", "va": "top", "in_layout": False}
    written = above.text(0.5, 1, title, fontsize="large", **looks)
    above.annotate(note, (0.5, 1), (0, -19), textcoords="offset points", fontsize="small", **looks)
    return written, outer[1].subgridspec(n_rows, len(widths), width_ratios=widths)


def readable(text: Any, width: int = 28) -> str:
    """Return any text on one line, not too long, and with no sign that matplotlib would read."""
    printable = "".join(sign if sign.isprintable() else " " for sign in str(text))
    line = " ".join(printable.split())
    if len(line) > width:
        line = line[: width - 1].rstrip() + "…"
    return line.replace("$", r"\$")


def darker(color: str, share: float = 0.65) -> tuple[float, ...]:
    """Return a colour nearer to black, for lines over marks of that colour."""
    from matplotlib.colors import to_rgb

    return tuple(share * part for part in to_rgb(color))


def halo(linewidth: float) -> list[Any]:
    """Return a white rim, which keeps lines and letters readable over marks of any colour."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=linewidth, foreground="white")]


def spread_ticks(places: npt.ArrayLike, most: int) -> list[int]:
    """Return indices of ascending places, the first and the last, and none too near the next."""
    places = np.asarray(places, dtype=np.float64)
    apart = (places[-1] - places[0]) / most
    chosen = [0]
    for i in range(1, len(places) - 1):
        if places[i] - places[chosen[-1]] >= apart and places[-1] - places[i] >= apart:
            chosen.append(i)
    return [*chosen, len(places) - 1] if len(places) > 1 else chosen

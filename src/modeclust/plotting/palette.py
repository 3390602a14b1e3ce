"""Colours, symbols and line styles of the clusters, readable with any colour vision."""

from typing import Any

# Petroff's ten colours for any colour vision (arXiv:2107.02270). The greys come last, because rows
# without a cluster are grey.
COLORS = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#832db6",
    "#a96b59",
    "#b9ac70",
    "#e76300",
    "#92dadd",
    "#94a4a2",
    "#717581",
)
# Clusters 0 to 9 have the first symbol, clusters 10 to 19 the second, and so on. The page of a
# report draws the same symbols (`reporting/page/state.js`).
SYMBOLS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")


def color(cluster: int) -> str:
    """Return the colour of a cluster."""
    return COLORS[cluster % len(COLORS)]


def symbol(cluster: int) -> str:
    """Return the symbol of a cluster, as matplotlib names it."""
    return SYMBOLS[cluster // len(COLORS) % len(SYMBOLS)]


def line(cluster: int) -> str:
    """Return the line style of a cluster, as matplotlib names it."""
    return LINES[cluster // len(COLORS) % len(LINES)]


def darker(color: str, factor: float = 0.65) -> tuple[float, ...]:
    """Return a darker shade of a colour, for lines drawn over marks of that colour."""
    from matplotlib.colors import to_rgb

    return tuple(factor * channel for channel in to_rgb(color))


def halo(linewidth: float) -> list[Any]:
    """Return the path effect of a white outline, which keeps lines and text readable."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=linewidth, foreground="white")]

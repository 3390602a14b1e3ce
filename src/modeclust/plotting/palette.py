"""Colours and symbols of clusters, told apart by colour-blind people too."""

# Petroff's cycle of ten, made to be told apart with any colour vision (arXiv:2107.02270).
COLORS = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
# Names that matplotlib has; a second round of the colours comes with the second symbol, and so on.
SYMBOLS = ("o", "s", "^", "D", "v", "P", "X", "*")
# The same by plotly's names.
PLOTLY_SYMBOLS = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "x",
    "star",
)


def color(cluster: int) -> str:
    """Return the colour of a cluster."""
    return COLORS[cluster % len(COLORS)]


def symbol(cluster: int) -> str:
    """Return the symbol of a cluster, by matplotlib's name."""
    return SYMBOLS[cluster // len(COLORS) % len(SYMBOLS)]


LINES = ("-", "--", ":", "-.")


def line(cluster: int) -> str:
    """Return the line style of a cluster: as with symbols, another for each round of colours."""
    return LINES[cluster // len(COLORS) % len(LINES)]

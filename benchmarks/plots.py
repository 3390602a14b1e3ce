"""The results as pictures, for light and dark pages."""

import matplotlib as mpl
from mean_shift import OURS as SHIFT_OURS
from mean_shift import OURS_FLAT as SHIFT_OURS_FLAT
from mean_shift import THEIRS as SHIFT_THEIRS
from peers import ELKAN, FAISS, INTELEX, LLOYD, OURS

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# The colours of Okabe and Ito, which colour-blind readers can distinguish, in shades for both kinds
# of pages; markers differ too. The baseline has the colour of the text.
PAGE, INK, LINES, ORANGE, BLUE, GREEN, PURPLE = range(7)
COLOURS = {
    "light": ("#ffffff", "#1b1f24", "#d8dde3", "#D55E00", "#0072B2", "#00815E", "#B4558F"),
    "dark": ("#14181e", "#e8ecf1", "#444d57", "#F08A3C", "#56B4E9", "#2CC295", "#E39AC4"),
}
LOOKS = {
    OURS: (ORANGE, "o"),
    ELKAN: (BLUE, "s"),
    INTELEX: (GREEN, "^"),
    FAISS: (PURPLE, "D"),
    LLOYD: (INK, "s"),
    SHIFT_OURS: (ORANGE, "o"),
    SHIFT_OURS_FLAT: (BLUE, "^"),
    SHIFT_THEIRS: (INK, "s"),
}
WIDTH = 6.4  # inches; a phone shows it at half its size
AXES = {"rows": "rows N", "clusters": "clusters K", "features": "features D"}


def draw_all(results, page="light"):
    """Yield the name and the figure of each picture that has results."""
    colours = COLOURS[page]
    with mpl.rc_context(style(colours)):
        for name, figure in _figures(results, colours):
            yield name, figure
            plt.close(figure)


def shift_picture(curve):
    """Return the name of the picture of a mean-shift curve."""
    return "mean-shift-" + curve["title"].replace(" = ", "")


def style(colours):
    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    return dict.fromkeys(inked, colours[INK]) | {
        "grid.color": colours[LINES],
        "grid.linewidth": 0.8,
        "axes.axisbelow": True,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": "medium",
        "svg.hashsalt": "modeclust",  # the same bytes each time
    }


def _figures(results, colours):
    for part, our_name in (("iteration", "K-modes"), ("kmeans", "modeclust")):
        if workloads := [w for w in results["workloads"].values() if part in w]:
            yield part, _draw_ratios(workloads, part, our_name, colours)
    for name, curve in results["growth"].items():
        yield name, _draw_growth(curve, colours)
    for curve in results.get("mean-shift-growth", {}).get("curves", ()):
        yield shift_picture(curve), _draw_shift_growth(curve, colours)


def _draw_ratios(workloads, part, our_name, colours):
    """Draw the median ratio of each contestant as a dot, and its range as a line."""
    names = [
        name
        for name in (OURS, ELKAN, INTELEX, FAISS)
        if any(name in w[part]["contestants"] for w in workloads)
    ]
    figure, ax = plt.subplots(figsize=(WIDTH, 1.3 + 0.8 * len(workloads)), layout="constrained")
    ax.axvline(1, color=colours[INK], linewidth=1)
    over_lines = [withStroke(linewidth=4, foreground=colours[PAGE])]
    for y, workload in enumerate(workloads):
        title = ax.text(0, y - 0.29, workload["data"]["title"], path_effects=over_lines)
        title.set_transform(ax.get_yaxis_transform())
        if y:
            ax.axhline(y - 0.5, color=colours[LINES], linewidth=0.8)
    for place, name in enumerate(names):
        _draw_contestant(ax, workloads, part, name, 0.15 * place - 0.1, colours)
    ax.set_ylim(len(workloads) - 0.5, -0.5)
    ax.yaxis.set_visible(False)
    ax.spines["left"].set_visible(False)
    ax.set_xscale("log")
    _label_numbers(ax.xaxis)
    ax.set_xlabel(f"time over {LLOYD}'s (log scale; left of 1 is faster)")
    handles = [
        ax.plot([], [], LOOKS[name][1], color=colours[LOOKS[name][0]], linestyle="-")[0]
        for name in names
    ]
    labels = [our_name, *names[1:]] if names[0] == OURS else names
    figure.legend(handles, labels, loc="outside upper left", ncols=len(names), frameon=False)
    return figure


def _draw_contestant(ax, workloads, part, name, offset, colours):
    colour, marker = LOOKS[name]
    for y, workload in enumerate(workloads):
        if (own := workload[part]["contestants"].get(name)) is None:
            continue
        ratio = own["ratio"]
        ax.plot([ratio["min"], ratio["max"]], [y + offset] * 2, color=colours[colour], linewidth=2)
        ax.plot(ratio["median"], y + offset, marker, color=colours[colour], markersize=6)


def _label_numbers(axis):
    """Label 1, 2 and 5 of each decade with plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
    axis.grid(which="major")


def _draw_growth(curve, colours):
    """Draw the time of an iteration against the size that grows."""
    figure, ax = _curve_axes(_fixed(curve), f"{AXES[curve['axis']]} (log scale)")
    sizes = [point["size"] for point in curve["points"]]
    for name, label in ((OURS, "K-modes"), (LLOYD, LLOYD)):
        times = [point["seconds"][name] for point in curve["points"]]
        _draw_times(ax, sizes, times, 1e3, LOOKS[name], label, colours)
    return _finish_curve(figure, ax, sizes, "ms an iteration (log scale)")


def _draw_shift_growth(curve, colours):
    """Draw the time of mean-shift against the number of rows."""
    figure, ax = _curve_axes(curve["title"], "rows N (log scale)")
    for name in (SHIFT_OURS, SHIFT_OURS_FLAT, SHIFT_THEIRS):
        points = [point for point in curve["points"] if point["name"] == name]
        sizes, times = [p["rows"] for p in points], [p["seconds"] for p in points]
        _draw_times(ax, sizes, times, 1, LOOKS[name], name, colours)
    sizes = sorted({point["rows"] for point in curve["points"]})
    return _finish_curve(figure, ax, sizes, "seconds a fit (log scale)")


def _curve_axes(title, label):
    figure, ax = plt.subplots(figsize=(0.6 * WIDTH, 0.6 * WIDTH), layout="constrained")
    ax.set(xscale="log", yscale="log", xlabel=label, title=title)
    return figure, ax


def _draw_times(ax, sizes, times, unit, look, label, colours):
    """Draw median times against sizes, and their range as a band."""
    colour, marker = colours[look[0]], look[1]
    low, middle, high = ([unit * t[key] for t in times] for key in ("min", "median", "max"))
    ax.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(sizes, middle, marker=marker, color=colour, label=label)


def _finish_curve(figure, ax, sizes, label):
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30, ha="right")
    ax.xaxis.set_minor_formatter(NullFormatter())
    _label_numbers(ax.yaxis)
    ax.set_ylabel(label)
    figure.legend(loc="outside upper left", ncols=1, frameon=False)
    return figure


def _fixed(curve):
    """Return a text of the sizes that are constant along a curve."""
    n_rows, n_features, n_clusters = curve["points"][0]["shape"]
    fixed = {
        "rows": f"N = {n_rows:,}",
        "features": f"D = {n_features}",
        "clusters": f"K = {n_clusters}",
    }
    return ", ".join(text for axis, text in fixed.items() if axis != curve["axis"])

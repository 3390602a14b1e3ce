"""The results as pictures."""

import matplotlib as mpl
from mean_shift import OURS as SHIFT_OURS
from mean_shift import OURS_FLAT as SHIFT_OURS_FLAT
from mean_shift import THEIRS as SHIFT_THEIRS
from peers import ELKAN, FAISS, INTELEX, LLOYD, OURS

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

# The colours of Okabe and Ito, which the colour-blind can tell apart; markers differ too.
LOOKS = {
    OURS: ("#D55E00", "o"),
    ELKAN: ("#0072B2", "s"),
    INTELEX: ("#009E73", "^"),
    FAISS: ("#CC79A7", "D"),
    LLOYD: ("#000000", "s"),
}
AXES = {"rows": "rows N", "clusters": "clusters K", "features": "features D"}


def draw_all(results):
    """Yield the name and the figure of each picture for which there are results."""
    drawings = {
        "iteration.png": lambda: _draw_ratios(
            results, "iteration", "One iteration over one of scikit-learn's Lloyd", "K-modes"
        ),
        "kmeans.png": lambda: _draw_ratios(
            results, "kmeans", "K-means from one start, over scikit-learn's Lloyd", "modeclust"
        ),
        "growth.png": lambda: _draw_growth(results["growth"]),
        "mean_shift.png": lambda: _draw_shift_growth(results["mean-shift-growth"]),
    }
    for name, draw in drawings.items():
        if (figure := draw()) is not None:
            yield name, figure
            plt.close(figure)


def _draw_ratios(results, part, title, our_name):
    """Draw the median ratio of each contestant as a dot, and its range as a line."""
    workloads = [w for w in results["workloads"].values() if part in w]
    if not workloads:
        return None
    names = [
        name
        for name in (OURS, ELKAN, INTELEX, FAISS)
        if any(name in w[part]["contestants"] for w in workloads)
    ]
    figure, ax = plt.subplots(figsize=(8, 1.6 + 0.75 * len(workloads)), layout="constrained")
    for offset, name in enumerate(names):
        label = our_name if name == OURS else name
        _draw_contestant(ax, workloads, part, name, label, 0.16 * (offset - (len(names) - 1) / 2))
    ax.axvline(1, color="black", linewidth=1)
    for y in range(1, len(workloads)):
        ax.axhline(y - 0.5, color="0.85", linewidth=0.8)
    ax.set_yticks(range(len(workloads)), [w["data"]["title"] for w in workloads])
    ax.set_ylim(len(workloads) - 0.5, -0.5)
    ax.set_xscale("log")
    _label_ratios(ax.xaxis)
    ax.set_xlabel("time over scikit-learn's Lloyd (log scale; left of 1 is faster)")
    ax.set_title(title)
    figure.legend(loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def _draw_contestant(ax, workloads, part, name, label, offset):
    color, marker = LOOKS[name]
    for y, workload in enumerate(workloads):
        if (own := workload[part]["contestants"].get(name)) is None:
            continue
        ratio = own["ratio"]
        ax.plot([ratio["min"], ratio["max"]], [y + offset] * 2, color=color, linewidth=2)
        ax.plot(ratio["median"], y + offset, marker, color=color, markersize=6, label=label)
        label = None  # one entry in the legend


def _label_ratios(axis):
    """Label 1, 2 and 5 of each decade by plain numbers."""
    axis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
    axis.grid(which="major", color="0.9", linewidth=0.8)
    axis.axes.set_axisbelow(True)


def _draw_growth(growth):
    """Draw the time of an iteration over each of the sizes."""
    if not growth:
        return None
    figure, axes = plt.subplots(
        1, len(growth), figsize=(4 * len(growth), 4), layout="constrained", squeeze=False
    )
    for ax, curve in zip(axes[0], growth.values(), strict=True):
        _draw_curve(ax, curve)
    axes[0, 0].set_ylabel("milliseconds an iteration (log scale)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle("Growth of an iteration")
    return figure


def _draw_curve(ax, curve):
    sizes = [point["size"] for point in curve["points"]]
    for name, label in ((OURS, "K-modes"), (LLOYD, "scikit-learn Lloyd")):
        color, marker = LOOKS[name]
        times = [point["seconds"][name] for point in curve["points"]]
        low, middle, high = ([1e3 * t[key] for t in times] for key in ("min", "median", "max"))
        ax.fill_between(sizes, low, high, color=color, alpha=0.2, linewidth=0)
        ax.plot(sizes, middle, marker=marker, color=color, label=label)
    ax.set(xscale="log", yscale="log", xlabel=f"{AXES[curve['axis']]} (log scale)")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30)
    ax.xaxis.set_minor_formatter(NullFormatter())
    _label_ratios(ax.yaxis)
    ax.set_title(_fixed(curve))


def _draw_shift_growth(growth):
    """Draw the time of mean-shift over the number of rows."""
    if not growth:
        return None
    looks = {
        SHIFT_OURS: ("#D55E00", "o"),
        SHIFT_OURS_FLAT: ("#0072B2", "^"),
        SHIFT_THEIRS: ("#000000", "s"),
    }
    curves = growth["curves"]
    figure, axes = plt.subplots(
        1, len(curves), figsize=(4 * len(curves), 4), layout="constrained", squeeze=False
    )
    for ax, curve in zip(axes[0], curves, strict=True):
        for name, (color, marker) in looks.items():
            points = [point for point in curve["points"] if point["name"] == name]
            sizes = [point["rows"] for point in points]
            times = [point["seconds"]["median"] for point in points]
            ax.plot(sizes, times, marker=marker, color=color, label=name)
        ax.set(xscale="log", yscale="log", xlabel="rows N (log scale)", title=curve["title"])
        sizes = sorted({point["rows"] for point in curve["points"]})
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30)
        ax.xaxis.set_minor_formatter(NullFormatter())
        _label_ratios(ax.yaxis)
    axes[0, 0].set_ylabel("seconds a fit (log scale)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Mean-shift from every row")
    return figure


def _fixed(curve):
    """Return what stays the same along a curve."""
    n_rows, n_features, n_clusters = curve["points"][0]["shape"]
    fixed = {
        "rows": f"N = {n_rows:,}",
        "features": f"D = {n_features}",
        "clusters": f"K = {n_clusters}",
    }
    return ", ".join(text for axis, text in fixed.items() if axis != curve["axis"])

"""Tables of K-modes next to K-means: iterations, fits, memory, growth and bounds."""

from bounds import BOUNDS
from iteration import BARE_READ, OPENING
from markdown_parts import NOTHING, picture, seconds, section, spread, table
from peers import ELKAN, FAISS, INTELEX, LLOYD, OURS

PEERS = (ELKAN, INTELEX, FAISS)


def iteration_ratios(results):
    """Compare one iteration with one of Lloyd."""
    rows = []
    for title, part in _parts(results, "iteration"):
        own = part["contestants"]
        rows.append(
            [
                title,
                spread(own[OURS]["ratio"]),
                *(spread(own[peer]["ratio"]) if peer in own else NOTHING for peer in PEERS),
                spread(part["over_bare_read"]),
                f"{100 * part['searched_share']:.1f}%",
            ]
        )
    header = ["data", "K-modes", *PEERS, "K-modes / bare read", "rows searched"]
    return section(
        "One iteration, over one of scikit-learn's Lloyd",
        header,
        rows,
        "K-modes: gaussian kernel, from K-means centers and the automatic start to the "
        '"knn" bandwidth, at most 10 iterations each; the time of the path over its iterations. '
        "The others: K-means from the first K rows, 1 + M iterations less 1. Bare read: all "
        "threads sum the numbers of X. Rows searched: those whose nearest center the "
        "bounds left open, of all passes along the path.",
        [picture("iteration", "Times of an iteration over one of scikit-learn's Lloyd")],
    )


def iteration_details(results):
    """List what the comparison of iterations ran."""
    rows = []
    for title, part in _parts(results, "iteration"):
        own = part["contestants"]
        rows.append(
            [
                title,
                part["run"],
                _numbers(own[OURS]["iterations"]),
                _numbers(own[LLOYD]["iterations"]),
                _milliseconds(own[OURS]),
                _milliseconds(own[LLOYD]),
                _milliseconds(own[OPENING]),
                _milliseconds(own[BARE_READ]),
                f"{part['pooled_ratio']:.2f}",
            ]
        )
    header = [
        "data",
        "K-modes ran",
        "iterations",
        "M",
        "K-modes, ms",
        "Lloyd, ms",
        "opening, ms",
        "bare read, ms",
        "ratio over all repeats",
    ]
    return section(
        "What was run for it",
        header,
        rows,
        "Opening: a call of `kmodes_path` with one bandwidth and one iteration; each call counts "
        "its own to the iterations.",
    )


def kmeans(results):
    """Compare K-means from the same start."""
    rows = []
    for title, part in _parts(results, "kmeans"):
        own = part["contestants"]
        rows += [
            [
                title,
                name,
                spread(own[name]["ratio"]),
                seconds(own[name]),
                _numbers(own[name]["iterations"]),
                f"{own[name]['inertia'] / own[LLOYD]['inertia']:.6f}",
            ]
            for name in (OURS, LLOYD, *PEERS)
            if name in own
        ]
    header = ["data", "", "time / Lloyd", "seconds", "iterations", "inertia / Lloyd"]
    return section(
        "K-means from one start",
        header,
        rows,
        "From the same k-means++ centers, tol=1e-4, at most 300 iterations. faiss has no such "
        "rule: it ran as many iterations as scikit-learn. The inertia is computed from the "
        "centers in float64, alike for all.",
        [picture("kmeans", "Times of K-means from one start over scikit-learn's Lloyd")],
    )


def whole_fit(results):
    """Compare whole fits."""
    rows = [
        [
            title,
            part["run"],
            spread(part["contestants"][OURS]["ratio"]),
            seconds(part["contestants"][OURS]),
            seconds(part["contestants"][LLOYD]),
            spread(part["inertia_ratio"], ".5f"),
        ]
        for title, part in _parts(results, "whole_fit")
    ]
    header = ["data", "run", "time / KMeans", "K-modes, s", "KMeans, s", "K-means inertia / KMeans"]
    return section(
        "Whole fit, over scikit-learn's KMeans with as many restarts",
        header,
        rows,
        "At most 3 repeats. K-modes: restarts and the whole path.",
    )


def memory(results):
    """Compare the memory of a fit."""
    rows = [
        [title, _mebibytes(part["bytes_of_X"]), *map(_share, part["libraries"].values())]
        for title, part in _parts(results, "memory")
    ]
    return section(
        "Memory of a fit beyond X, as a share of X",
        ["data", "X", "K-modes", "scikit-learn KMeans"],
        rows,
        "The peak of a new process over what it held with X loaded and after a small fit; "
        "n_init=1. Kept: the centers and labels of the model, along its path where it has one.",
    )


def _share(own):
    return f"{own['share']:.3f} ({_mebibytes(own['extra'])}, {_mebibytes(own['kept'])} kept)"


def _mebibytes(n_bytes):
    return f"{n_bytes / 2**20:.1f} MiB"


def growth(results):
    """Show how the time of an iteration grows with the data."""
    if not results["growth"]:
        return ""
    pictures = (
        picture(name, f"Times of an iteration over the number of {curve['axis']}")
        for name, curve in results["growth"].items()
    )
    texts = ["## Growth", " ".join(pictures)]
    for curve in results["growth"].values():
        axis = curve["axis"]
        rows = [
            [
                " x ".join(f"{n:,}" for n in point["shape"][:2]),
                point["shape"][2],
                *(f"{1e3 * point['seconds'][name]['median']:.3g}" for name in (OURS, LLOYD)),
                spread(point["ratio"]),
            ]
            for point in curve["points"]
        ]
        header = ["data", "K", "K-modes, ms", "Lloyd, ms", "K-modes / Lloyd"]
        note = f"An iteration as the {axis} grow: {curve['run']}."
        texts += [note, table(header, rows)]
        rows = [
            [f"{step['from']:,} to {step['to']:,}"]
            + [spread(step["factor"][name]) for name in (OURS, LLOYD)]
            for step in curve["factors"]
        ]
        texts.append(table([axis, "K-modes takes times", "Lloyd takes times"], rows))
    return "\n\n".join(texts)


def bounds(results):
    """Show how much time the bounds spare."""
    rows = [
        [
            " x ".join(f"{n:,}" for n in cell["shape"][:2]),
            cell["shape"][2],
            *(text for part in ("K-means", "path") for text in _bounds_of(cell[part])),
        ]
        for cell in results["bounds"]
    ]
    header = ["data", "K"]
    for part in ("K-means", "path"):
        header += [part, "searched", "searching at most"]
    return section(
        "What bounds spare",
        header,
        rows,
        "Times over those without bounds, of K-means and of a path on blobs; the share of rows "
        "searched with bounds, and how much of their time that can be at most: what bounds that "
        "settle every row could still spare.",
    )


def _bounds_of(part):
    ratio, searched = part["contestants"][BOUNDS]["ratio"], part["searched"][BOUNDS]
    return [
        spread(ratio),
        f"{searched:.1%}",
        f"{min(1.0, searched / ratio['median']):.0%}",
    ]


def _parts(results, name):
    """Yield the title of each workload that has results for this part, and these results."""
    for workload in results["workloads"].values():
        if name in workload:
            yield workload["data"]["title"], workload[name]


def _numbers(values):
    return str(values[0]) if len(set(values)) == 1 else ", ".join(map(str, values))


def _milliseconds(own):
    return f"{1e3 * own['seconds']['median']:.3g}"

"""The results as Markdown."""

from collections import Counter, defaultdict
from statistics import mean

from bounds import BOUNDS
from iteration import BARE_READ, OPENING
from laplacian import BOUND, GRADIENT, KMEANS
from markdown_parts import mean_and_range, picture, section, spread, table
from peers import ELKAN, FAISS, INTELEX, LLOYD, OURS
from plots import shift_picture
from start import THEIRS
from verdicts import LESS, LEVEL, MORE, VERDICTS, comparisons

PEERS = (ELKAN, INTELEX, FAISS)
SCORES = ["accuracy", "NMI", "adjusted Rand index"]
NOTHING = "-"


def to_markdown(results) -> str:
    """Return all tables that have results. Their pictures are PNG files in the same folder."""
    results = defaultdict(dict, results)  # an older run has fewer parts
    sections = (
        _environment,
        _verdicts,
        _losses,
        _data,
        _iteration,
        _iteration_details,
        _kmeans,
        _whole_fit,
        _memory,
        _growth,
        _others,
        _shift_growth,
        _laplacian_quality,
        _laplacian_bound,
        _laplacian_authors,
        _chunks,
        _chunk_means,
        _scale,
        _bounds,
        _start,
        _problems,
    )
    texts = (make(results) for make in sections)
    return "\n\n".join(text for text in texts if text) + "\n"


def _environment(results):
    environment = results["environment"]
    packages = ", ".join(f"{name} {v}" for name, v in environment["packages"].items() if v)
    quick = " This was a quick run, on small data: it shows that all works, and no more."
    return (
        f"{environment['date']}, {environment['system']}, {environment['cores']} cores, "
        f"{environment['threads']} threads for all, Python {environment['python']}; {packages}.\n\n"
        f"All that is compared ran in turns, {results['repeats']} times where nothing else is "
        "said. A ratio is taken within each turn; given are its median and, in brackets, the "
        "least and the most. Absolute times are this machine's."
        + (quick if results["quick"] else "")
        + _outside(results["outside_cores"])
    )


def _outside(cores):
    """Return a note on the load of other programs, which makes times less accurate."""
    known = {label: n for label, n in cores.items() if n is not None}
    if not known:
        return ""
    most = max(known, key=known.get)
    return (
        f"\n\nMeanwhile other programs used {mean(known.values()):.2f} cores on average, and most, "
        f"{known[most]:.2f}, in {most}."
    )


def _verdicts(results):
    """Count wins and losses for each kind of comparison."""
    totals = Counter()
    counts, rivals = defaultdict(Counter), defaultdict(dict)
    for found in comparisons(results):
        totals[found.verdict] += 1
        counts[found.what][found.verdict] += 1
        rivals[found.what][found.rival] = None  # keeps the order
    rows = [
        [what, ", ".join(rivals[what]), *(own[verdict] for verdict in VERDICTS)]
        for what, own in counts.items()
    ]
    return section(
        "Who took less",
        ["", "beside", *VERDICTS],
        rows,
        f"Of {totals.total()} comparisons of time, memory and quality with other libraries, "
        f"modeclust took less than the other in every turn of {totals[LESS]}, and more in every "
        f"turn of {totals[MORE]}; in {totals[LEVEL]} the turns do not agree, or nothing differs.",
    )


def _losses(results):
    """List all comparisons that modeclust lost."""
    lost = [found for found in comparisons(results) if found.verdict == MORE]
    rows = [
        [found.what, found.data, found.rival, spread(found.ratio, ".3g")]
        for found in sorted(lost, key=lambda found: -found.ratio["median"])
    ]
    return section(
        "Where modeclust loses",
        ["", "data", "beside", "modeclust / the other"],
        rows,
        "Every comparison in which it took more in all turns, the worst first.",
    )


def _data(results):
    rows = [
        [name, w["data"]["title"], w["data"]["dtype"], w["data"]["source"]]
        for name, w in results["workloads"].items()
    ]
    return section("Data", ["name", "data", "type", "source"], rows)


def _iteration(results):
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
        "K-modes: gaussian kernel, from K-means centroids and the automatic start to the "
        '"knn" bandwidth, at most 10 iterations each; the time of the path over its iterations. '
        "The others: K-means from the first K rows, 1 + M iterations less 1. Bare read: all "
        "threads sum the numbers of X. Rows searched: those whose nearest centroid the "
        "bounds left open, of all passes along the path.",
        [picture("iteration", "Times of an iteration over one of scikit-learn's Lloyd")],
    )


def _iteration_details(results):
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


def _kmeans(results):
    rows = []
    for title, part in _parts(results, "kmeans"):
        own = part["contestants"]
        rows += [
            [
                title,
                name,
                spread(own[name]["ratio"]),
                _seconds(own[name]),
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
        "From the same k-means++ centroids, tol=1e-4, at most 300 iterations. faiss has no such "
        "rule: it ran as many iterations as scikit-learn. The inertia is computed from the "
        "centroids in float64, alike for all.",
        [picture("kmeans", "Times of K-means from one start over scikit-learn's Lloyd")],
    )


def _whole_fit(results):
    rows = [
        [
            title,
            part["run"],
            spread(part["contestants"][OURS]["ratio"]),
            _seconds(part["contestants"][OURS]),
            _seconds(part["contestants"][LLOYD]),
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


def _memory(results):
    rows = [
        [title, _mebibytes(part["bytes_of_X"]), *map(_share, part["libraries"].values())]
        for title, part in _parts(results, "memory")
    ]
    return section(
        "Memory of a fit beyond X, as a share of X",
        ["data", "X", "K-modes", "scikit-learn KMeans"],
        rows,
        "The peak of a new process over what it held with X loaded and after a small fit; "
        "n_init=1. Kept: the centroids and labels of the model, along its path where it has one.",
    )


def _share(own):
    return f"{own['share']:.3f} ({_mebibytes(own['extra'])}, {_mebibytes(own['kept'])} kept)"


def _mebibytes(n_bytes):
    return f"{n_bytes / 2**20:.1f} MiB"


def _growth(results):
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


def _others(results):
    rows = [
        [
            part["data"],
            name,
            spread(own["ratio"], ".3g"),
            _seconds(own),
            own["n_clusters"],
            f"{own['adjusted_rand']:.3f}",
            f"{own['mean_distance']:.4f}",
            part["run"],
        ]
        for part in results["others"].values()
        for name, own in part["contestants"].items()
    ]
    header = [
        "data",
        "",
        "time / theirs",
        "seconds",
        "clusters",
        "adjusted Rand index",
        "mean distance to centre",
        "run",
    ]
    return section("Other kinds of clustering", header, rows)


def _shift_growth(results):
    if not (growth := results["mean-shift-growth"]):
        return ""
    rows = [
        [
            curve["title"],
            f"{point['rows']:,}",
            point["name"],
            spread(point["seconds"], ".3g"),
            point["modes"],
            point["iterations"],
        ]
        for curve in growth["curves"]
        for point in curve["points"]
    ]
    n_rows, n_features = growth["memory"]["shape"]
    return section(
        "Mean-shift as the rows grow",
        ["", "rows", "", "seconds", "modes", "iterations"],
        rows,
        f"{growth['run']}. A fit of {n_rows:,} x {n_features} takes "
        f"{growth['memory']['extra'] / 1e6:.0f} MB beyond the rows, "
        f"{growth['memory']['of_all_pairs']:.1%} of a matrix of all pairs.",
        [
            picture(shift_picture(curve), f"Times of mean-shift, {curve['title']}")
            for curve in growth["curves"]
        ],
    )


def _laplacian_quality(results):
    if not (quality := results["laplacian-quality"]):
        return ""
    rows = [
        [
            part["data"]["title"],
            name,
            *_scores(own),
            NOTHING if name == KMEANS else f"{own['moved']['mean']:.1%}",
            spread(own["ratio"]),
            _seconds(own),
        ]
        for part in quality["sets"]
        for name, own in part["contestants"].items()
    ]
    header = ["data", "", *SCORES, "labels changed", "time / KMeans", "seconds"]
    missing = ", ".join(quality["missing"])
    sources = (
        f"{part['data']['title'].split()[0]} {part['data']['source']}" for part in quality["sets"]
    )
    return section(
        "Laplacian K-modes: how well classes are found",
        header,
        rows,
        f"Means over random_state 0 to {results['repeats'] - 1}; in brackets the least and the "
        "most. Accuracy: of the best matching of clusters to classes. Labels changed: those that "
        "are not of the K-means that the fit starts from. KMeans with n_init=10; the others with "
        f"their defaults. Rows: {'; '.join(sources)}."
        + (f" Not at hand, so that the digits alone stand in: {missing}." if missing else ""),
    )


def _laplacian_bound(results):
    if not (part := results["laplacian-bound"]):
        return ""
    rows = [
        [
            name,
            spread(own["ratio"]),
            spread(own["seconds"], ".3g"),
            spread(own["graph_share"]) if name in (BOUND, GRADIENT) else NOTHING,
            f"{own['extra'] / 1e6:.0f} MB",
            *_scores(own),
        ]
        for name, own in part["contestants"].items()
    ]
    return section(
        f"Laplacian K-modes of many rows: {part['data']['title']}",
        ["", "time / KMeans", "seconds", "share of the graph", "memory beyond X", *SCORES],
        rows,
        f"{part['data']['source']}. At most 3 repeats, random_state=repeat; KMeans with n_init=10, "
        "the others with their defaults. The graph, exact neighbours and affinities, is built "
        "within the fit. Memory: the peak of a new process over what it held before.",
    )


def _laplacian_authors(results):
    if not (part := results["laplacian-authors"]):
        return ""
    rows = [
        [
            name,
            spread(own["seconds"], ".3g"),
            own["iterations"],
            f"{own['objective_ratio']:.5f}",
            f"{own['same_labels']:.1%}",
        ]
        for name, own in part["fits"].items()
    ]
    return section(
        "Laplacian K-modes from the authors' start: USPS 1,000 x 256, K=10",
        ["", "seconds", "iterations", "objective / theirs", "labels as theirs"],
        rows,
        "The authors' graph, smoothing and bandwidths; at most 3 repeats. Theirs took "
        f"{part['their_seconds']} s, in a run of its own.",
    )


def _scores(own):
    return [mean_and_range(own[key]) for key in ("accuracy", "nmi", "adjusted_rand")]


def _bounds(results):
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


def _chunks(results):
    if not (part := results["chunks"]):
        return ""
    rows = [
        [name, spread(own["ratio"]), _seconds(own), str(own["iterations"][-1])]
        for name, own in part["contestants"].items()
    ]
    return section(
        f"Chunks of a Dask cluster: {part['data']}",
        ["", "time / in memory", "seconds", "iterations"],
        rows,
        f"{part['run']}. The chunks are in the memory of the workers before the time begins. "
        f"Centroids differ by at most {part['farthest']:.2g}. {part['n_passes']} passes, in the "
        f"median of {1e3 * part['pass_seconds']['median']:.0f} ms; from one of K-modes "
        f"{part['bytes_back']['median']:,.0f} bytes come back to the client.",
    )


def _chunk_means(results):
    if not (part := results["chunks"]):
        return ""
    rows = [
        [
            name,
            spread(own["ratio"]),
            _seconds(own),
            str(own["iterations"][-1]),
            f"{own['inertia']:.6f}",
        ]
        for name, own in part["means"].items()
    ]
    return section(
        f"K-means on a Dask cluster: {part['data']}",
        ["", "time / in memory", "seconds", "iterations", "inertia / in memory"],
        rows,
        "From one start, at most 20 iterations, tol=0. dask-ml runs on the same 2 processes.",
    )


def _scale(results):
    if not (part := results["scale"]):
        return ""
    rows = [
        [
            f"{run['n_rows']:,}",
            str(run["n_passes"]),
            f"{run['predicted']:.1f}",
            f"{run['seconds']:.1f}",
            f"{run['seconds'] / run['predicted']:.2f}",
            f"{run['whole_fit']:.1f}",
            f"{run['bytes_back']['median']:,.0f}",
        ]
        for run in part["runs"]
    ]
    return section(
        f"Passes predicted: rows of {part['n_features']} float32, K={part['n_clusters']}, "
        f"{part['n_workers']} worker processes",
        [
            "rows",
            "passes",
            "predicted s",
            "measured s",
            "measured / predicted",
            "whole fit s",
            "bytes back",
        ],
        rows,
        f"From a fit of {part['rows']:,} rows: a pass takes "
        f"{1e9 * part['pass_per_row']:.1f} ns for each row in the median, and all of them "
        f"{1e6 * part['once_per_row']:.1f} µs more for each row. From one of 1,000 rows: a pass "
        f"takes {1e3 * part['latency']:.1f} ms beside that.",
    )


def _start(results):
    if not (start := results["start"]):
        return ""
    rows = [
        [title, name, spread(start[part][name]["ratio"]), _seconds(start[part][name])]
        for part, title in (("import", "import"), ("first_fit", "first fit"))
        for name in (OURS, THEIRS)
    ]
    return section(
        "Start of a new process",
        ["", "", "time / scikit-learn", "seconds"],
        rows,
        "Import: of KModes and of scikit-learn's KMeans. First fit: on iris, from the start of the "
        "process.",
    )


def _problems(results):
    lines = [f"- {line}" for line in (*results["left_out"], *results["failed"])]
    return "## Left out or failed\n\n" + "\n".join(lines) if lines else ""


def _parts(results, name):
    """Yield the title of each workload that has results for this part, and these results."""
    for workload in results["workloads"].values():
        if name in workload:
            yield workload["data"]["title"], workload[name]


def _numbers(values):
    return str(values[0]) if len(set(values)) == 1 else ", ".join(map(str, values))


def _milliseconds(own):
    return f"{1e3 * own['seconds']['median']:.3g}"


def _seconds(own):
    return f"{own['seconds']['median']:.3g}"

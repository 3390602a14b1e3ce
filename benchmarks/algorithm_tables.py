"""Tables of other algorithms: mean-shift, Laplacian K-modes, and other libraries' clusterings."""

from laplacian import BOUND, GRADIENT, KMEANS
from markdown_parts import NOTHING, mean_and_range, picture, seconds, section, spread
from plots import shift_picture

SCORES = ["accuracy", "NMI", "adjusted Rand index"]


def other_clusterings(results):
    """Compare other kinds of clustering."""
    rows = [
        [
            part["data"],
            name,
            spread(own["ratio"], ".3g"),
            seconds(own),
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


def mean_shift_growth(results):
    """Show how the time of mean-shift grows with the rows."""
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


def laplacian_quality(results):
    """Compare how well classes are found."""
    if not (quality := results["laplacian-quality"]):
        return ""
    rows = [
        [
            part["data"]["title"],
            name,
            *_scores(own),
            NOTHING if name == KMEANS else f"{own['moved']['mean']:.1%}",
            spread(own["ratio"]),
            seconds(own),
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


def laplacian_bound(results):
    """Compare fits of many rows."""
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


def laplacian_authors(results):
    """Compare with the authors' results."""
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


def neighbors(results):
    """Compare searches for exact neighbours."""
    if not (part := results["neighbors"]):
        return ""
    rows = [
        [name, spread(own["ratio"]), spread(own["seconds"], ".3g")]
        for name, own in part["contestants"].items()
    ]
    return section(
        f"Exact neighbours: {part['data']}",
        ["", "time / scikit-learn", "seconds"],
        rows,
        f"The {part['n_neighbors']} nearest other rows of every row, in float64; at most 3 "
        f"repeats. {part['same_neighbors']:.4%} of the neighbours are the same.",
    )


def _scores(own):
    return [mean_and_range(own[key]) for key in ("accuracy", "nmi", "adjusted_rand")]

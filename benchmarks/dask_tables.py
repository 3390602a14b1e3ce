"""Tables of fits on a Dask cluster."""

from markdown_parts import seconds, section, spread


def chunks(results):
    """Compare fits on a Dask cluster with fits in memory."""
    if not (part := results["chunks"]):
        return ""
    rows = [
        [name, spread(own["ratio"]), seconds(own), str(own["iterations"][-1])]
        for name, own in part["contestants"].items()
    ]
    return section(
        f"Chunks of a Dask cluster: {part['data']}",
        ["", "time / in memory", "seconds", "iterations"],
        rows,
        f"{part['run']}. The chunks are in the memory of the workers before the time begins. "
        f"Centers differ by at most {part['farthest']:.2g}. {part['n_passes']} passes, in the "
        f"median of {1e3 * part['pass_seconds']['median']:.0f} ms; from one of K-modes "
        f"{part['bytes_back']['median']:,.0f} bytes come back to the client.",
    )


def chunk_means(results):
    """Compare K-means on a Dask cluster."""
    if not (part := results["chunks"]):
        return ""
    rows = [
        [
            name,
            spread(own["ratio"]),
            seconds(own),
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


def predicted_passes(results):
    """Compare the time of passes with a prediction."""
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

"""A table of text by both metrics."""

from markdown_parts import section


def cosine_text(results):
    """Compare the labels along a path by both metrics."""
    if not (part := results["cosine-text"]):
        return ""
    rows = [
        [
            f"{name}: {known['shape'][0]:,} x {known['shape'][1]:,}, K={known['n_clusters']}",
            metric,
            *(f"{own[key]:.3f}" for key in ("kmeans", "lowest", "highest", "last_bandwidth")),
            " to ".join(f"{length:.2f}" for length in own["lengths"]),
        ]
        for name, known in part["sets"].items()
        for metric, own in known["metrics"].items()
    ]
    return section(
        "Text by both metrics",
        ["", "metric", "K-means", "lowest", "highest", "last bandwidth", "lengths of centers"],
        rows,
        "Adjusted Rand index along one path, from K-means (by cosine: spherical K-means) down to "
        f"modes that average {part['fewest_averaged']} rows in the median; means over random_state "
        f"0 to {part['seeds'] - 1}. SciPy: docstrings, with their subpackages as classes.",
    )

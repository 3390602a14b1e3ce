"""The table of ways to choose the number of clusters."""

from choosing_k import APART, COUNTS, DIMENSIONS, MAX_CLUSTERS, OURS, ROWS, WAYS
from markdown_parts import NOTHING, section


def choosing_k(results):
    """Compare ways to choose the number of clusters."""
    if not (part := results["choosing-k"]):
        return ""
    rows = []
    for kind, own in part["kinds"].items():
        for name in WAYS:
            found = own["ways"][name]
            sure = f"{found['n_sure_and_right']} of {found['n_sure']}"
            rows.append(
                [
                    f"{kind} ({own['n_sets']} sets)",
                    name,
                    f"{found['right']:.2f}",
                    f"{found['adjusted_rand']:.2f}",
                    sure if name == OURS else NOTHING,
                ]
            )
    return section(
        "Choosing K",
        ["data", "", "K right", "adjusted Rand index", "right where it is sure"],
        rows,
        f"Blobs of {_listed(COUNTS[1:])} clusters and single clusters (normal, uniform, "
        f"exponential, t with 3 degrees of freedom) in {_listed(DIMENSIONS)} dimensions, of "
        f"{_listed(ROWS)} rows or 30 for each cluster. Blobs apart have centers at least "
        f"{APART:g} standard deviations apart; blobs anywhere have random centers, so that many "
        "overlap in two dimensions. A set of the battery is right if K is that of one of its "
        "reference partitions. The other ways choose among up to "
        f"{MAX_CLUSTERS} clusters; HDBSCAN with min_cluster_size N / 50.",
    )


def _listed(numbers):
    return ", ".join(f"{number:,}" for number in numbers)

"""Tables of outlier scores and of unsure rows."""

from confidence import mean_area
from markdown_parts import mean_and_range, section


def outlier_scores(results):
    """Compare how well outlier scores find known noise."""
    if not (part := results["confidence"]):
        return ""
    headings = ["data", *part["outliers"][0]["scores"]]
    known = section(
        "Outlier scores on known noise",
        headings,
        _rows(part["outliers"]),
        f"Area under the ROC curve, means over random_state 0 to {part['seeds'] - 1}, in brackets "
        "the minimum and the maximum. There are 2 rows of noise for 100 others, or as many as the "
        "name says. KModes has the number of clusters that the data was made with, and for other "
        "shapes the one that the table says. HDBSCAN: 1 - its probabilities, with "
        "min_cluster_size=15.",
    )
    unseen = section(
        "Outlier scores on other sets",
        headings,
        _rows(part["unseen_outliers"]),
        "The same on sets of kinds that were made afterwards, so that nothing was chosen on them. "
        "There are 1 to 3 rows of noise for 100 others, or as many as the name says. Mixed rows "
        "have the values of different rows, and halves are those of two digits.",
    )
    return f"{known}\n\n{unseen}"


def unsure_rows(results):
    """Say how well the entropy of predict_proba finds rows on which fits disagree."""
    if not (part := results["confidence"]):
        return ""
    return section(
        "Rows on which bootstrap fits disagree",
        ["data", "KModes.predict_proba, entropy"],
        _rows(part["entropy"]),
        "How well the entropy of `predict_proba` finds the rows to which two fits on bootstrap "
        "samples give different labels, after their clusters are matched: area under the ROC "
        f"curve, means over all pairs of {part['resamples']} fits and over random_state 0 to "
        f"{part['seeds'] - 1}, in brackets the minimum and the maximum over random_state.",
    )


def _rows(sets):
    rows = [[known["name"], *map(mean_and_range, known["scores"].values())] for known in sets]
    means = [f"{mean_area(sets, who):.3f}" for who in sets[0]["scores"]]
    return [*rows, ["mean of the sets", *means]]

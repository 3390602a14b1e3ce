"""Tables of the defaults: their goals, quality, outliers and time."""

from statistics import fmean

from defaults_outliers import CLEAN, FAR_ROWS, NEAR_DISTANCE, NEAR_ROWS, cases
from defaults_outliers import NAMES as OUTLIER_NAMES
from defaults_quality import DEFAULT, N_NEAREST
from defaults_time import BANDWIDTHS, PATH_STAGES, STAGES
from goals import goals
from laplacian import KMEANS
from markdown_parts import NOTHING, mean_and_range, seconds, section, spread, table
from peers import LLOYD, OURS

BATTERY_TITLE = "Defaults: labels on a battery of small sets"
SCORES = ("purity", "adjusted_rand")


def goal_table(results):
    """List what should be reached, and whether it is."""
    rows = [
        [
            goal.what,
            goal.data,
            f"{'at most' if goal.at_most else 'at least'} {goal.limit:.3g}",
            f"{goal.measured:.4g}",
            "reached" if goal.is_reached else "missed",
        ]
        for goal in goals(results)
    ]
    n_reached = sum(goal.is_reached for goal in goals(results))
    return section(
        "Goals",
        ["", "data", "goal", "measured", ""],
        rows,
        f"{n_reached} of {len(rows)} are reached. The tables below say what each number is.",
    )


def default_quality(results):
    """Compare the modes and labels of the defaults with those of K-means."""
    if not (quality := results["defaults-quality"]):
        return ""
    rows = [
        [
            known["data"]["title"],
            name,
            mean_and_range(own["purity"]),
            mean_and_range(own["adjusted_rand"]),
            f"{own['rows_averaged']['mean']:.1f}",
        ]
        for known in quality["sets"]
        for name, own in known["contestants"].items()
    ]
    rows += [
        ["mean of the sets", name, *(_mean(quality["sets"], name, key) for key in SCORES), NOTHING]
        for name in quality["sets"][0]["contestants"]
    ]
    sources = (f"{known['name']} {known['data']['source']}" for known in quality["sets"])
    return section(
        "Defaults: how typical the modes are, and how good the labels",
        ["data", "", "purity near modes", "adjusted Rand index", "rows averaged"],
        rows,
        f"Means over random_state 0 to {quality['seeds'] - 1}, which also draws the rows if not "
        "all are used; in brackets the minimum and the maximum. Purity near modes: the share of "
        f"the most common class among the {N_NEAREST} rows of a cluster that are nearest to its "
        "mode (K-means: its mean), averaged over clusters. Rows averaged: the median over "
        f"clusters. KMeans with n_init=10, KModes with its defaults. Rows: {'; '.join(sources)}.",
    )


def _mean(sets, name, key):
    """Return the mean of a score over all sets."""
    return f"{fmean(known['contestants'][name][key]['mean'] for known in sets):.3f}"


def battery(results):
    """Compare labels on the sets of the battery."""
    if not (part := results["defaults-quality"].get("battery")):
        return ""
    rows = [
        [name, *(f"{fmean(own[estimator]):.3f}" for estimator in (KMEANS, DEFAULT))]
        for name, own in part["sets"].items()
    ]
    means = (mean_and_range(part["adjusted_rand"][name]) for name in (KMEANS, DEFAULT))
    rows.append(["mean of the sets", *means])
    return section(
        BATTERY_TITLE,
        ["data", KMEANS, DEFAULT],
        rows,
        "Adjusted Rand index, the best over the reference partitions of a set, each with its own "
        "number of clusters; rows of noise are clustered, but not scored. Means over random_state "
        f"0 to {results['defaults-quality']['seeds'] - 1}. KMeans with n_init=10.",
    )


def default_outliers(results):
    """Compare what outliers do to the clusters of the other rows."""
    if not (part := results["defaults-outliers"]):
        return ""
    columns = [CLEAN, *cases()]
    rows = [
        [
            known["data"]["title"],
            name,
            *(f"{known['contestants'][name][case]['mean']:.3f}" for case in columns),
        ]
        for known in part["sets"]
        for name in OUTLIER_NAMES
    ]
    rows += [
        ["mean of the sets", name, *(_mean(part["sets"], name, case) for case in columns)]
        for name in OUTLIER_NAMES
    ]
    far_rows = [
        [distance, *(f"{sum(kept[name])} of {len(kept[name])}" for name in OUTLIER_NAMES)]
        for distance, kept in part["far_cluster"].items()
    ]
    sets = section(
        "Defaults: outliers",
        ["data", "", *columns],
        rows,
        "Adjusted Rand index of the rows that are not outliers, mean over random_state 0 to "
        f"{part['seeds'] - 1}. The outliers are uniform in a box around the mean, which extends 10 "
        "or 100 standard deviations of each feature to both sides. KMeans with n_init=10.",
    )
    note = (
        f"How often a far cluster of {FAR_ROWS} rows has a label of its own (K=4), next to three "
        f"of {NEAR_ROWS} rows whose centers are {NEAR_DISTANCE} standard deviations from the "
        "origin, by its own distance:"
    )
    return "\n\n".join([sets, note, table(["distance", *OUTLIER_NAMES], far_rows)])


def default_time(results):
    """Compare the time of default fits."""
    if not (part := results["defaults-time"]):
        return ""
    rows, details = [], []
    for one in part["sets"]:
        title, ours = one["data"]["title"], one["contestants"][OURS]
        rows.append(
            [
                title,
                spread(ours["ratio"]),
                f"{ours['ratio']['mean']:.2f}",
                seconds(ours),
                seconds(one["contestants"][LLOYD]),
                mean_and_range(one["inertia_ratio"], ".4f"),
                f"{one['details'][f'{BANDWIDTHS} share']['mean']:.1%}",
            ]
        )
        own = one["details"]
        details.append(
            [
                title,
                *(f"{own[f'{name} share']['mean']:.0%}" for name in STAGES),
                *(f"{own[f'{name} iterations']['mean']:.1f}" for name in PATH_STAGES),
                *(f"{own[f'{name} passes']['mean']:.1f}" for name in (*PATH_STAGES, "all")),
                f"{fmean(one['contestants'][LLOYD]['iterations']):.1f}",
            ]
        )
    header = [
        "data",
        "time / KMeans",
        "mean",
        "KModes, s",
        "KMeans, s",
        "K-means inertia / KMeans",
        "share for bandwidths",
    ]
    details_header = [
        "data",
        *(f"{name}, share" for name in STAGES),
        *(f"{name}, iterations" for name in PATH_STAGES),
        *(f"{name}, passes" for name in (*PATH_STAGES, "all")),
        "KMeans, iterations",
    ]
    fits = section(
        "Defaults: time of a fit",
        header,
        rows,
        "`KModes(K).fit(X)` over `KMeans(K).fit(X)`, both with their defaults, random_state 0 to "
        f"{part['seeds'] - 1}. The inertia is that of the K-means stage, its mean over the seeds. "
        "Share for bandwidths: the time that finds the radius of the clusters and the bandwidth of "
        "each mode.",
    )
    note = (
        "Where the time of `KModes` goes, means over the seeds. The K-means stage begins on a "
        "sample; passes are those over all rows. At each level of the modes there are two passes "
        "more than iterations, one of which finds the bandwidths. All passes include those outside "
        "the stages."
    )
    return "\n\n".join([fits, note, table(details_header, details)])

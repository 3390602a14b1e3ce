"""The results as Markdown."""

from collections import Counter, defaultdict
from statistics import mean

from algorithm_tables import (
    laplacian_authors,
    laplacian_bound,
    laplacian_quality,
    mean_shift_growth,
    neighbors,
    other_clusterings,
)
from choosing_tables import choosing_k
from confidence_tables import outlier_scores, unsure_rows
from cosine_text_table import cosine_text
from dask_tables import chunk_means, chunks, predicted_passes
from defaults_tables import (
    battery,
    default_outliers,
    default_quality,
    default_time,
    goal_table,
)
from kmeans_tables import (
    bounds,
    growth,
    iteration_details,
    iteration_ratios,
    kmeans,
    memory,
    whole_fit,
)
from markdown_parts import seconds, section, spread
from peers import OURS
from start import THEIRS
from verdicts import LESS, LEVEL, MORE, VERDICTS, comparisons


def to_markdown(results) -> str:
    """Return all tables that have results. Their pictures are PNG files in the same folder."""
    results = defaultdict(dict, results)  # an older run has fewer parts
    sections = (
        _environment,
        _verdicts,
        _losses,
        goal_table,
        _data,
        default_quality,
        battery,
        default_outliers,
        default_time,
        choosing_k,
        outlier_scores,
        unsure_rows,
        cosine_text,
        iteration_ratios,
        iteration_details,
        kmeans,
        whole_fit,
        memory,
        growth,
        other_clusterings,
        mean_shift_growth,
        laplacian_quality,
        laplacian_bound,
        laplacian_authors,
        neighbors,
        chunks,
        chunk_means,
        predicted_passes,
        bounds,
        _start,
        _installation,
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
        "Every comparison in which it took more in all turns, the worst first; inf where the other "
        "misses nothing.",
    )


def _data(results):
    rows = [
        [name, w["data"]["title"], w["data"]["dtype"], w["data"]["source"]]
        for name, w in results["workloads"].items()
    ]
    return section("Data", ["name", "data", "type", "source"], rows)


STARTS = {"import": "import", "first_fit": "first fit", "warm_fit": "later fits"}


def _start(results):
    if not (start := results["start"]):
        return ""
    rows = [
        [title, name, spread(start[part][name]["ratio"]), seconds(start[part][name])]
        for part, title in STARTS.items()
        for name in (OURS, THEIRS)
        if part in start
    ]
    return section(
        "Start of a new process",
        ["", "", "time / scikit-learn", "seconds"],
        rows,
        "Import: of KModes and of scikit-learn's KMeans. First fit: on iris, from the start of the "
        "process. Later fits: the shortest of 51 on iris in one process.",
    )


def _installation(results):
    if not (part := results["installation"]):
        return ""
    others = ", ".join(part["other_packages"]) or "none"
    rows = [[f"{part['build_seconds']:.0f}", part["threads"], f"{part['bytes'] / 1e6:.2f}", others]]
    return section(
        "Building and installing",
        ["build, s", "threads", "size, MB", "other packages"],
        rows,
        "Build: a wheel from the sources, nothing of which is compiled before. Size: of the "
        "installed files, with those of packages that scikit-learn does not need.",
    )


def _problems(results):
    lines = [f"- {line}" for line in (*results["left_out"], *results["failed"])]
    return "## Left out or failed\n\n" + "\n".join(lines) if lines else ""

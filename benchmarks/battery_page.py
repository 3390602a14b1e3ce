"""The results of the battery as Markdown and pictures.

    python benchmarks/battery_page.py RESULTS FOLDER

makes what the documentation includes from `results.json` of a run.
"""

import argparse
import json
from pathlib import Path
from statistics import fmean

import matplotlib as mpl
import numpy as np
from battery_sets import BATTERY, GROUPS, LARGE
from markdown_parts import NOTHING, picture, section
from page import to_page
from plots import BLUE, COLOURS, INK, LINES, ORANGE, WIDTH, style

mpl.use("Agg")
import matplotlib.pyplot as plt

BOUND, GRADIENT = "LaplacianKModes", 'LaplacianKModes, "gradient"'
OURS = (BOUND, GRADIENT, "KModes")
PUBLISHED = {  # names in the file of published scores
    "sklearn_kmeans": "K-means",
    "sklearn_gm": "Gaussian mixture",
    "sklearn_birch_T0.01_BF50": "Birch",
    "sklearn_spectral_Arbf_G5": "spectral",
    "ITM": "ITM",
    "fastcluster_ward": "Ward",
    "fastcluster_average": "average linkage",
    "Genie_G0.3": "Genie",
}
EACH_SET = "Every set"
ROW_HEIGHT = 0.33  # inches for an algorithm in a picture
DOT_BINS = 100


def score_columns(sets) -> dict[str, list[float]]:
    """Return the scores of each algorithm on the sets, the best mean first.

    Algorithms that did not run on all of the sets are left out; published ones have the suffix
    "published".
    """
    columns: dict[str, list[float]] = {}
    for known in sets:
        for name, own in known["algorithms"].items():
            columns.setdefault(name, []).append(own["adjusted_rand"]["mean"])
        for name, score in known["published"].items():
            columns.setdefault(f"{PUBLISHED[name]}, published", []).append(score)
    whole = {name: own for name, own in columns.items() if len(own) == len(sets)}
    return dict(sorted(whole.items(), key=lambda item: -fmean(item[1])))


def to_markdown(results) -> str:
    """Return the tables, with pictures where they belong."""
    parts = [_means(results), *_dots(results), _large(results), _growth(results), _all(results)]
    return "\n\n".join([*(part for part in parts if part), _note(results)]) + "\n"


def _grouped(results):
    groups = {group: [s for s in results["sets"] if s["group"] == group] for group in GROUPS}
    return {group: own for group, own in groups.items() if own}


def _small(results):
    """Return the sets that all algorithms can cluster, apart from the battery."""
    return [s for s in results["sets"] if s["group"] not in (BATTERY, LARGE)]


def _means(results):
    groups = {group: score_columns(own) for group, own in _grouped(results).items()}
    groups.pop(LARGE, None)
    ours = score_columns([s for s in results["sets"] if s["group"] != LARGE])
    names = sorted(_names(results), key=lambda name: -fmean(ours.get(name, [0.0])))
    rows = [
        [name, *(_number(fmean(own[name])) if name in own else NOTHING for own in groups.values())]
        for name in names
    ]
    counts = [len(own) for group, own in _grouped(results).items() if group != LARGE]
    header = ["", *(f"{g} ({n} sets)" for g, n in zip(groups, counts, strict=True))]
    return section("Mean adjusted Rand index", header, rows)


def _names(results):
    return list(dict.fromkeys(name for s in results["sets"] for name in s["algorithms"]))


def _dots(results):
    titles = {"battery": "The public battery", "others": "The other sets"}
    return [
        f"## {titles[name]}\n\n" + picture(name, f"A dot for each set and algorithm: {name}")
        for name, sets in _pictured(results)
        if sets
    ]


def _pictured(results):
    return (
        ("battery", [s for s in results["sets"] if s["group"] == BATTERY]),
        ("others", _small(results)),
    )


def _large(results):
    rows = [
        [
            known["name"],
            name,
            _number(own["adjusted_rand"]["mean"]),
            f"{own['seconds']['median']:.3g}",
        ]
        for known in results["sets"]
        if known["group"] == LARGE
        for name, own in sorted(
            known["algorithms"].items(), key=lambda item: -item[1]["adjusted_rand"]["mean"]
        )
    ]
    return section("Many rows", ["set", "", "adjusted Rand index", "seconds"], rows)


def _growth(results):
    rows = [
        [
            f"{run['shape'][0]:,} x {run['shape'][1]}",
            run["n_clusters"],
            f"{run['seconds']:.3g}",
            *(f"{run['stages'][stage]:.3g}" for stage in run["stages"]),
            f"{run['extra'] / 2**30:.2f}",
            f"{run['extra'] / run['bytes_of_X']:.1f}",
        ]
        for run in results["growth"]
    ]
    stages = list(results["growth"][0]["stages"]) if rows else []
    header = ["rows x features", "K", "seconds", *stages, "GiB beside X", "of X"]
    return section("How it grows", header, rows)


def _all(results):
    names = _names(results)
    rows = [
        [
            known["name"],
            " x ".join(f"{n:,}" for n in known["shape"]),
            ", ".join(map(str, known["n_clusters"])),
            *(_cell(known["algorithms"].get(name)) for name in names),
        ]
        for known in results["sets"]
    ]
    note = "The mean adjusted Rand index of the draws and, in brackets, the seconds of a fit."
    return section(EACH_SET, ["set", "rows x features", "K", *names], rows, note)


def _cell(own):
    if own is None:
        return NOTHING
    return f"{_number(own['adjusted_rand']['mean'])} ({own['seconds']['median']:.2g})"


def _number(score):
    return f"{score:.3f}"


def _note(results):
    environment = results["environment"]
    versions = ", ".join(f"{name} {v}" for name, v in environment["packages"].items() if v)
    note = f"With {environment['threads']} threads, on {environment['cores']} cores; {versions}."
    if results["outside_cores"] is not None:
        note += f" Meanwhile other programs used {results['outside_cores']:.1f} cores."
    if results["quick"]:
        note += " A quick run on small data, which shows nothing."
    return " ".join([note, *results["left_out"]])


def draw_all(results, page="light"):
    """Yield the name and the figure of each picture that has results."""
    with mpl.rc_context(style(COLOURS[page])):
        for name, sets in _pictured(results):
            if sets:
                figure = _draw_dots(score_columns(sets), len(sets), COLOURS[page])
                yield name, figure
                plt.close(figure)


def _draw_dots(columns, n_sets, colours):
    """Draw a dot for each set and algorithm, and the mean as a line."""
    size = (WIDTH, 0.9 + ROW_HEIGHT * len(columns))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    for y, (name, scores) in enumerate(columns.items()):
        colour = colours[ORANGE if name in OURS else BLUE]
        x = np.array(scores)
        ax.plot(x, y + _spread(x), "o", color=colour, markersize=3.5, alpha=0.7, mew=0)
        ax.plot([fmean(scores)] * 2, [y - 0.4, y + 0.4], color=colours[INK], linewidth=1.5)
        ax.text(1.03, y, _number(fmean(scores)), va="center", fontsize="small")
        if y:
            ax.axhline(y - 0.5, color=colours[LINES], linewidth=0.8)
    ax.set_yticks(range(len(columns)), list(columns))
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(-0.05, 1.02), ylim=(len(columns) - 0.5, -0.5))
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"adjusted Rand index on {n_sets} sets; line and number: the mean")
    return figure


def _spread(x):
    """Return offsets that put dots of nearly the same score above and below each other."""
    offsets = np.zeros(len(x))
    bins = np.round(x * DOT_BINS).astype(int) // 2
    for own in (np.flatnonzero(bins == one) for one in np.unique(bins)):
        step = min(0.11, 0.7 / max(1, len(own) - 1))
        offsets[own] = step * (np.arange(len(own)) - 0.5 * (len(own) - 1))
    return offsets


def write_report(results, folder: Path):
    """Write the results of a run as JSON and Markdown, and its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    for name, figure in draw_all(results):
        figure.savefig(folder / f"{name}.png", dpi=150, facecolor="white")
    (folder / "results.md").write_text(to_markdown(results), encoding="utf-8")


def write_page(results, folder: Path):
    """Write `page.inc`, which a page includes, and its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in COLOURS:
        for name, figure in draw_all(results, page):
            figure.savefig(folder / f"{name}-{page}.svg", metadata={"Date": None})
    page = to_page(to_markdown(results), folder.name, folded=(EACH_SET,))
    (folder / "page.inc").write_text(page, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    write_page(json.loads(arguments.results.read_text(encoding="utf-8")), arguments.folder)


if __name__ == "__main__":
    main()

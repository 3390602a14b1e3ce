"""The results of the comparison as Markdown, for the documentation.

python benchmarks/comparison_page.py RESULTS FOLDER
"""

import argparse
import json
from pathlib import Path

from markdown_parts import section, spread

HEADER = [
    "",
    "clusters",
    "ARI",
    "NMI",
    "best ARI, and by what",
    "distance (farthest)",
    "one class",
    "time / KMeans",
]


def to_markdown(results) -> str:
    """Return a table for each set."""
    environment = results["environment"]
    versions = ", ".join(f"{name} {v}" for name, v in environment["packages"].items() if v)
    cores = results["outside_cores"]
    note = (
        f"Means over {results['repeats']} turns with other seeds, on {environment['cores']} cores; "
        f"{versions}."
    )
    if cores is not None:
        note += f" Meanwhile other programs used {cores:.1f} cores."
    if results["quick"]:
        note += " A quick run on small data, which shows nothing."
    return "\n\n".join([*(_table(part) for part in results["sets"]), note]) + "\n"


def _table(part):
    rows = [
        [
            name,
            _clusters(own),
            f"{own['adjusted_rand']['mean']:.3f}",
            f"{own['nmi']['mean']:.3f}",
            _best(own),
            f"{own['distance']['mean']:.2f} ({own['farthest']['mean']:.2f})",
            f"{own['purity']['mean']:.0%}",
            spread(own["ratio"], ".3g"),
        ]
        for name, own in part["contestants"].items()
    ]
    return section(part["title"], HEADER, rows, f"{part['source']}; K = {part['n_clusters']}.")


def _clusters(own):
    parts = [f"{own['n_clusters']['mean']:.3g}"]
    if own["n_of_outliers"]["mean"]:
        parts.append(f"{own['n_of_outliers']['mean']:.3g} of outliers")
    if own["left_out"]["mean"]:
        parts.append(f"{own['left_out']['mean']:.1%} of rows in none")
    return ", ".join(parts)


def _best(own):
    best = own["best"]
    if best["setting"] == "default":
        return "as it comes"
    return f"{best['adjusted_rand']:.3f}, {best['setting']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "page.inc").write_text(to_markdown(results), encoding="utf-8")


if __name__ == "__main__":
    main()

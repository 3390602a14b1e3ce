"""Wins and losses: every comparison with another library, turn by turn."""

from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

from chunks import MEANS_CLUSTER
from defaults_quality import DEFAULT
from iteration import BARE_READ, OPENING
from laplacian import KMEANS
from mean_shift import THEIRS as THEIR_SHIFT
from neighbors import THEIR_SEARCH
from peers import DASK_ML, LLOYD, OURS
from start import THEIRS
from timing import summary

VERDICTS = LESS, LEVEL, MORE = "less", "level", "more"
# Inertias with a relative difference below this count as equal.
SAME_INERTIA = 1e-3


class Comparison(NamedTuple):
    """The ratio of modeclust to another library, in each turn."""

    what: str
    data: str
    rival: str
    ratio: dict[str, Any]
    slack: float = 0.0  # ratios this close to 1 count as equal

    @property
    def verdict(self) -> str:
        """Whether modeclust took less or more in every turn, or neither."""
        if self.ratio["max"] < 1 - self.slack:
            return LESS
        return MORE if self.ratio["min"] > 1 + self.slack else LEVEL


def comparisons(results) -> Iterator[Comparison]:
    """Yield all comparisons of time, memory and quality in the results."""
    for workload in results["workloads"].values():
        yield from _of_workload(workload, workload["data"]["title"])
    for curve in results["growth"].values():
        for point in curve["points"]:
            n_rows, n_features, n_clusters = point["shape"]
            data = f"blobs {n_rows:,} x {n_features:,}, K={n_clusters}"
            yield Comparison("one iteration", data, LLOYD, point["ratio"])
    for part in results["others"].values():
        rival, *own = part["contestants"]
        yield from _times("a whole fit", part["data"], part["contestants"], own, [rival])
    yield from _of_defaults(results)
    yield from _of_mean_shift(results["mean-shift-growth"])
    for part in (*results["laplacian-quality"].get("sets", ()), results["laplacian-bound"]):
        if part:
            yield from _of_laplacian(part["contestants"], part["data"]["title"])
    if part := results["chunks"]:
        means, data = part["means"], part["data"]
        yield from _times("K-means on Dask", data, means, [MEANS_CLUSTER], [DASK_ML])
    if part := results["neighbors"]:
        own = part["contestants"]
        yield from _times("exact neighbours", part["data"], own, [OURS], [THEIR_SEARCH])
    if part := results["start"]:
        yield from _times("import", "-", part["import"], [OURS], [THEIRS])
        yield from _times("first fit of a process", "iris", part["first_fit"], [OURS], [THEIRS])


def _of_workload(workload, data):
    for part, what in (
        ("iteration", "one iteration"),
        ("kmeans", "K-means from one start"),
        ("whole_fit", "a whole fit"),
    ):
        if part in workload:
            contestants = workload[part]["contestants"]
            peers = [name for name in contestants if name not in (OURS, OPENING, BARE_READ)]
            yield from _times(what, data, contestants, [OURS], peers)
    if "kmeans" in workload:
        found = {name: own["inertia"] for name, own in workload["kmeans"]["contestants"].items()}
        for peer in (name for name in found if name != OURS):
            ratio = summary([found[OURS] / found[peer]])
            yield Comparison("inertia of that K-means", data, peer, ratio, SAME_INERTIA)
    if "memory" in workload:
        ours, theirs = (own["extra"] for own in workload["memory"]["libraries"].values())
        yield Comparison("memory of a fit", data, KMEANS, summary([ours / theirs]))


def _of_defaults(results):
    """Yield what the defaults reach beside K-means, seed by seed."""
    scores = {"purity": "1 - purity near modes", "adjusted_rand": "1 - adjusted Rand index"}
    for known in results["defaults-quality"].get("sets", ()):
        for key, what in scores.items():
            own = {name: score[key] for name, score in known["contestants"].items()}
            yield _misses(f"{what} of a default fit", known["data"]["title"], own)
    if battery := results["defaults-quality"].get("battery"):
        what = f"{scores['adjusted_rand']} of a default fit"
        yield _misses(what, "mean of the battery", battery["adjusted_rand"])
    for known in results["defaults-outliers"].get("sets", ()):
        own = {name: score["mean"] for name, score in known["contestants"].items()}
        yield _misses(f"{scores['adjusted_rand']} with outliers", known["data"]["title"], own)
    for part in results["defaults-time"].get("sets", ()):
        data = part["data"]["title"]
        yield from _times("a default fit", data, part["contestants"], [OURS], [LLOYD])
        inertias = part["inertia_ratio"]
        yield Comparison("inertia of its K-means", data, LLOYD, inertias, SAME_INERTIA)


def _misses(what, data, scores):
    """Compare how much a score of the defaults and of K-means misses 1."""
    turns = zip(scores[DEFAULT]["values"], scores[KMEANS]["values"], strict=True)
    ratio = summary(1.0 if a == b else (1 - a) / (1 - b) if b < 1 else inf for a, b in turns)
    return Comparison(what, data, KMEANS, ratio)


def _of_mean_shift(growth):
    for curve in growth.get("curves", ()):
        for n_rows in sorted({point["rows"] for point in curve["points"]}):
            points = {p["name"]: p for p in curve["points"] if p["rows"] == n_rows}
            own = [name for name in points if name != THEIR_SHIFT]
            data = f"blobs of {n_rows:,} rows, {curve['title']}"
            yield from _times("mean-shift", data, points, own, [THEIR_SHIFT])


def _of_laplacian(contestants, data):
    own = [name for name in contestants if name != KMEANS]
    yield from _times("a whole fit", data, contestants, own, [KMEANS])
    for name in own:
        misses = ([1 - nmi for nmi in contestants[key]["nmi"]["values"]] for key in (name, KMEANS))
        ratio = summary(a / b for a, b in zip(*misses, strict=True))
        yield Comparison(f"1 - NMI of {name}", data, KMEANS, ratio)


def _times(what, data, contestants, own, rivals):
    """Yield comparisons of the times of some contestants with others, turn by turn."""
    for name in own:
        for rival in rivals:
            if name in contestants and rival in contestants:
                turns = (contestants[key]["seconds"]["values"] for key in (name, rival))
                ratio = summary(a / b for a, b in zip(*turns, strict=True))
                of_which = f", {name.removeprefix('modeclust ')}" if len(own) > 1 else ""
                yield Comparison(what + of_which, data, rival, ratio)

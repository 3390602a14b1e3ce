"""What should be reached, and whether it is."""

from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from choosing_k import OURS as CHOOSING
from confidence import OURS as KMODES
from confidence import mean_area
from defaults_outliers import CLEAN, cases
from defaults_quality import DEFAULT
from defaults_time import BANDWIDTHS
from laplacian import KMEANS
from others import OUR_FLAT_SHIFT
from peers import OURS

PURITY = {"digits": 0.99, "USPS": 0.86, "MNIST": 0.94, "COIL20": 0.92}
LARGEST_LOSS = 0.02
LEAST_AREA = 0.8
LARGEST_RATIO, LARGEST_SHARE = 1.5, 0.05
# Speed and memory, beside scikit-learn.
A_THIRD, A_HUNDREDTH = 0.33, 0.01
FIRST_FIT, WARM_FIT = 1.3, 2.0
EXTRA_MEMORY = {"MNIST-10": 0.15}
LEAST_RIGHT = {"battery": 0.65}
INSTALLED_MEGABYTES, BUILD_SECONDS = 5.0, 60.0


class Goal(NamedTuple):
    """A number that should be at least, or at most, some limit."""

    what: str
    data: str
    measured: float
    limit: float
    at_most: bool = False

    @property
    def is_reached(self) -> bool:
        if self.at_most:
            return self.measured <= self.limit
        return self.measured >= self.limit


def goals(results) -> Iterator[Goal]:
    """Yield all goals that have results."""
    for name, own in results["workloads"].items():
        yield from _of_workload(name, own)
    if part := results["start"]:
        for key, what, limit in (
            ("first_fit", "a new process that fits / KMeans", FIRST_FIT),
            ("warm_fit", "later fits / KMeans", WARM_FIT),
        ):
            if own := part.get(key):
                yield Goal(what, "iris, n_init=10", own[OURS]["ratio"]["median"], limit, True)
    if part := results["others"].get("mean-shift"):
        ratio = part["contestants"][OUR_FLAT_SHIFT]["ratio"]["median"]
        what = "MeanShift, flat kernel / scikit-learn's"
        yield Goal(what, part["data"], ratio, A_HUNDREDTH, True)
    if part := results["neighbors"]:
        ratio = part["contestants"][OURS]["ratio"]["median"]
        yield Goal("exact neighbours / brute force", part["data"], ratio, A_THIRD, True)
    if part := results["installation"]:
        size = part["bytes"] / 1e6
        yield Goal("installed size beyond scikit-learn, MB", "-", size, INSTALLED_MEGABYTES, True)
        yield Goal("build from a clone, s", "-", part["build_seconds"], BUILD_SECONDS, True)
    if part := results["choosing-k"]:
        for kind, limit in LEAST_RIGHT.items():
            if own := part["kinds"].get(kind):
                yield Goal("K right", kind, own["ways"][CHOOSING]["right"], limit)
    if part := results["defaults-quality"]:
        yield from _of_quality(part)
    if part := results["defaults-outliers"]:
        yield from _of_outliers(part)
    if part := results["defaults-time"]:
        yield from _of_time(part)
    if part := results["confidence"]:
        yield from _of_confidence(part)


def _of_workload(name, own):
    title = own["data"]["title"]
    if part := own.get("iteration"):
        what = "K-modes iteration / Lloyd iteration"
        yield Goal(what, title, part["pooled_ratio"], A_THIRD, True)
    for key, what in (
        ("kmeans", "K-means from one start / scikit-learn Lloyd"),
        ("whole_fit", "20 starts and 100 bandwidths / KMeans(n_init=20)"),
    ):
        if part := own.get(key):
            yield Goal(what, title, part["contestants"][OURS]["ratio"]["median"], A_THIRD, True)
    if (part := own.get("memory")) and name in EXTRA_MEMORY:
        share = part["libraries"][OURS]["share"]
        yield Goal("extra memory of a fit / X", title, share, EXTRA_MEMORY[name], True)


def _of_confidence(part):
    for sets, data in (("outliers", "mean of the sets"), ("unseen_outliers", "mean of other sets")):
        ours = mean_area(part[sets], KMODES)
        for other in ("LocalOutlierFactor", "IsolationForest"):
            theirs = mean_area(part[sets], other)
            yield Goal(f"area of outlier scores, beside {other}", data, ours, theirs)
    ours = mean_area(part["entropy"], KMODES)
    yield Goal("area of entropy for unsure rows", "mean of the sets", ours, LEAST_AREA)


def _of_quality(part):
    for known in part["sets"]:
        if known["name"] in PURITY:
            purity = known["contestants"][DEFAULT]["purity"]["mean"]
            yield Goal("purity near modes", known["data"]["title"], purity, PURITY[known["name"]])
    ours, theirs = (
        fmean(known["contestants"][name]["adjusted_rand"]["mean"] for known in part["sets"])
        for name in (DEFAULT, KMEANS)
    )
    yield Goal("adjusted Rand index, beside K-means", "mean of the sets", ours, theirs)
    if battery := part.get("battery"):
        ours, theirs = (battery["adjusted_rand"][name]["mean"] for name in (DEFAULT, KMEANS))
        yield Goal("adjusted Rand index, beside K-means", "battery", ours, theirs)


def _of_outliers(part):
    own = [known["contestants"][DEFAULT] for known in part["sets"]]
    clean = fmean(scores[CLEAN]["mean"] for scores in own)
    for case in cases():
        loss = clean - fmean(scores[case]["mean"] for scores in own)
        yield Goal("loss by outliers", f"mean of the sets, {case}", loss, LARGEST_LOSS, True)
    # As good as K-means without outliers.
    hardest = fmean(scores[cases()[-1]]["mean"] for scores in own)
    theirs = fmean(known["contestants"][KMEANS][CLEAN]["mean"] for known in part["sets"])
    what = "adjusted Rand index of clean rows, beside K-means without outliers"
    yield Goal(what, f"mean of the sets, {cases()[-1]}", hardest, theirs)
    kept = [keeps for turns in part["far_cluster"].values() for keeps in turns[DEFAULT]]
    yield Goal("far cluster of 12 rows kept", "3 x 300 rows", fmean(kept), 1.0)


def _of_time(part):
    for one in part["sets"]:
        title = one["data"]["title"]
        ratio = one["contestants"][OURS]["ratio"]["median"]
        yield Goal("time of a default fit / KMeans", title, ratio, LARGEST_RATIO, True)
    for one in part["sets"]:
        inertia = one["inertia_ratio"]["mean"]
        yield Goal("inertia of its K-means / KMeans", one["data"]["title"], inertia, 1.0, True)
    for one in part["sets"]:
        share = one["details"][f"{BANDWIDTHS} share"]["mean"]
        yield Goal(
            "share of the time for bandwidths", one["data"]["title"], share, LARGEST_SHARE, True
        )

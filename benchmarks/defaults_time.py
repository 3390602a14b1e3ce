"""The time of a default fit beside that of a default K-means, and what the time is spent on."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from unittest.mock import patch

import numpy as np
from effort import Effort
from peers import LLOYD, OURS
from quality import inertia
from sklearn.cluster import KMeans
from timing import Run, compare, interleave, seconds, summaries, summary
from workloads import WORKLOADS, Data

from modeclust import KModes, _core
from modeclust.data.memory import MemoryDataset
from modeclust.solvers.cluster_modes import Levels
from modeclust.solvers.robust_start import Breathing

FITS = ("MNIST-10", "blobs-16", "blobs-2")
# What chooses bandwidths.
CHOICES = (Breathing, "radius"), (Levels, "bandwidths_for"), (_core, "distance_histogram")
# The methods of a fit, in their order.
STAGES = {
    "K-means": "_run_kmeans",
    "robust start": "_plan_path",
    "labels": "_follow_path",
    "modes": "_follow_modes",
}
PATH_STAGES = ("K-means", "labels", "modes")  # as numbered in `Path.stage`
BANDWIDTHS = "bandwidths"  # part of the robust start and of the modes


def measure_time(effort: Effort):
    """Return the times of default fits, for each workload."""
    return {
        "seeds": effort.n_seeds,
        "sets": [_measure(WORKLOADS[name].load(effort.quick), effort) for name in FITS],
    }


def _measure(data: Data, effort):
    interleave(_contestants(data.small(), data.n_clusters, []), 1)  # imports all modules
    details = []
    runs = interleave(_contestants(data.X, data.n_clusters, details), effort.n_seeds)
    theirs = [inertia(data.X, run.centers) for run in runs[LLOYD]]
    ours = [own.pop("inertia") for own in details]
    ratios = np.divide(ours, theirs).tolist()
    compared = compare(runs, LLOYD)
    for own in compared.values():
        own["ratio"]["mean"] = fmean(own["ratio"]["values"])
    return {
        "data": data.describe(),
        "contestants": compared,
        "inertia_ratio": {"mean": fmean(ratios)} | summary(ratios),
        "details": summaries(details),
    }


def _contestants(X, n_clusters, details):
    """Return the two default fits. Ours appends what it did to `details`."""

    def ours(seed):
        model = KModes(n_clusters, random_state=seed)
        with watch_fits(X.shape[0]) as watch:
            total, _ = seconds(lambda: model.fit(X))
        details.append({"inertia": float(model.path_.inertias[0])} | watch.describe(model, total))
        return Run(total, model.n_iter_, model.path_.centers[0])

    def theirs(seed):
        model = KMeans(n_clusters, random_state=seed)
        total, _ = seconds(lambda: model.fit(X))
        return Run(total, model.n_iter_, model.cluster_centers_)

    return {OURS: ours, LLOYD: theirs}


@dataclass
class Watch:
    """The times and passes of the stages of a fit."""

    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    passes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    stage: str = ""  # the one that runs

    def describe(self, model, total) -> dict[str, float]:
        """Return the iterations and passes of each stage, and its share of the time."""
        path = model.path_
        found = {f"{name} share": self.spent[name] / total for name in (*STAGES, BANDWIDTHS)}
        for number, name in enumerate(PATH_STAGES):
            found[f"{name} iterations"] = int(path.n_iter[path.stage == number].sum())
            found[f"{name} passes"] = self.passes[name]
        return found | {"all passes": sum(self.passes.values())}


@contextmanager
def watch_fits(n_rows) -> Iterator[Watch]:
    """Measure the stages of a fit of this many rows. This costs about a microsecond a pass."""
    watch = Watch()
    with ExitStack() as stack:
        for name, method in STAGES.items():
            stack.enter_context(patch.object(KModes, method, _timed(watch, name, KModes, method)))
        for owner, method in CHOICES:
            timed = _timed(watch, BANDWIDTHS, owner, method)
            stack.enter_context(patch.object(owner, method, timed))
        stack.enter_context(patch.object(MemoryDataset, "run", _counted(watch, n_rows)))
        yield watch


def _timed(watch, name, owner, method):
    original = getattr(owner, method)

    def timed(*arguments):
        if name in STAGES:
            watch.stage = name
        spent, result = seconds(lambda: original(*arguments))
        watch.spent[name] += spent
        if name in STAGES:
            watch.stage = ""
        return result

    return timed


def _counted(watch, n_rows):
    original = MemoryDataset.run

    def counted(dataset, pass_):
        if dataset.n_rows == n_rows:  # no sample
            watch.passes[watch.stage] += 1
        return original(dataset, pass_)

    return counted

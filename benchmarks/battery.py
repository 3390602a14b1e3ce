"""Compare clusterings of many kinds of data with their known clusters, where K is given.

    python benchmarks/battery.py [--only GROUP ...] [--quick] [--out DIR]

writes results.json, results.md and pictures to out/battery after every set.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import environment  # before modules that read its variables
import numpy as np
from battery_page import BOUND, GRADIENT, write_report
from battery_sets import GROUPS, KnownSet, Rows, all_sets, missing_sets, published
from laplacian_growth import measure_growth
from outside_load import OutsideLoad
from peers import is_installed
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from timing import seconds, summary

from modeclust import KModes, LaplacianKModes

GROWTH = "growth"
# Beyond this, some algorithms need all pairs of rows, or minutes.
MAX_ROWS = 20_000
MAX_COVARIANCE_FEATURES = 100

Fit = Callable[[Any, int, int], Any]  # takes rows, K and a seed; returns labels


class Algorithm(NamedTuple):
    """An algorithm with one or more settings, the best of which counts."""

    settings: tuple[Fit, ...]
    max_rows: float = np.inf


def algorithms() -> dict[str, Algorithm]:
    """Return the algorithms that are installed."""
    found = {
        BOUND: Algorithm((_fit(lambda k, seed: LaplacianKModes(k, random_state=seed)),)),
        GRADIENT: Algorithm(
            (_fit(lambda k, seed: LaplacianKModes(k, solver="gradient", random_state=seed)),)
        ),
        "KModes": Algorithm((_fit(lambda k, seed: KModes(k, random_state=seed)),)),
        "K-means": Algorithm((_fit(lambda k, seed: KMeans(k, n_init=10, random_state=seed)),)),
        "Gaussian mixture": Algorithm((_mixture,)),
        "spectral, best of 3": Algorithm(
            tuple(partial(_spectral, n) for n in (5, 10, 20)), MAX_ROWS
        ),
        "Ward": Algorithm((_fit(lambda k, seed: AgglomerativeClustering(k)),), MAX_ROWS),
        "HDBSCAN, best of 3": Algorithm(
            tuple(partial(_hdbscan, size) for size in (5, 15, 50)), MAX_ROWS
        ),
    }
    if is_installed("genieclust"):
        found["Genie"] = Algorithm((_genie,))
    return found


def _fit(make) -> Fit:
    return lambda X, n_clusters, seed: make(n_clusters, seed).fit(X).labels_


def _mixture(X, n_clusters, seed):
    kind = "full" if X.shape[1] <= MAX_COVARIANCE_FEATURES else "diag"
    model = GaussianMixture(n_clusters, covariance_type=kind, n_init=5, random_state=seed)
    return model.fit_predict(X)


def _spectral(n_neighbors, X, n_clusters, seed):
    graph = kneighbors_graph(X, min(n_neighbors, len(X) - 1), include_self=True)
    model = SpectralClustering(
        n_clusters, affinity="precomputed", assign_labels="cluster_qr", random_state=seed
    )
    return model.fit_predict(0.5 * (graph + graph.T))


def _hdbscan(min_cluster_size, X, n_clusters, seed):
    """Return labels, among them -1 for rows left out; K is not used."""
    return HDBSCAN(min(min_cluster_size, len(X)), copy=True).fit_predict(X)


def _genie(X, n_clusters, seed):
    from genieclust import Genie

    return Genie(n_clusters).fit_predict(X)


def measure(known: KnownSet) -> dict[str, Any]:
    """Return the scores and times of all algorithms on one set."""
    draws = [known.load(draw) for draw in range(known.n_draws)]
    n_rows, n_features = draws[0].X.shape
    runs = {
        name: [_run(algorithm, rows, draw) for draw, rows in enumerate(draws)]
        for name, algorithm in algorithms().items()
        if n_rows <= algorithm.max_rows
    }
    return {
        "name": known.name,
        "group": known.group,
        "shape": [n_rows, n_features],
        "n_clusters": draws[0].cluster_counts,
        "draws": known.n_draws,
        "published": published().get(known.name, {}),
        "algorithms": {
            name: {
                "adjusted_rand": {"mean": fmean(run["adjusted_rand"] for run in own)}
                | summary(run["adjusted_rand"] for run in own),
                "seconds": summary(run["seconds"] for run in own),
                "empty": sum(run["empty"] for run in own),
                "warnings": sorted({name for run in own for name in run["warnings"]}),
            }
            for name, own in runs.items()
        },
    }


def _run(algorithm: Algorithm, rows: Rows, seed) -> dict[str, Any]:
    """Return the best score over settings and partitions, and the mean time of a fit."""
    scores, times, empty, caught = [], [], 0, set()
    for fit in algorithm.settings:
        found = {}  # by K, which partitions may share
        for n_clusters in set(rows.cluster_counts):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                took, found[n_clusters] = seconds(partial(fit, rows.X, n_clusters, seed))
            times.append(took)
            empty += max(0, n_clusters - len(np.unique(found[n_clusters])))
            caught |= {warning.category.__name__ for warning in warned}
        scores.append(best_score(rows, found))
    return {
        "adjusted_rand": max(scores),
        "seconds": fmean(times),
        "empty": empty,
        "warnings": caught,
    }


def best_score(rows: Rows, labels_by_count) -> float:
    """Return the best adjusted Rand index over the partitions, without rows of noise."""
    return max(
        float(adjusted_rand_score(partition[partition > 0], labels_by_count[k][partition > 0]))
        for partition, k in zip(rows.partitions, rows.cluster_counts, strict=True)
    )


def main():
    arguments = parse()
    load = OutsideLoad()
    results = {
        "environment": environment.describe_environment(),
        "quick": arguments.quick,
        "left_out": missing_sets(),
        "outside_cores": None,
        "sets": [],
        GROWTH: [],
    }
    if not is_installed("genieclust"):
        results["left_out"].append("Genie is left out; `pip install '.[bench]'` brings it.")
    for known in all_sets(arguments.quick):
        if known.group in arguments.only:
            took, found = seconds(partial(measure, known))
            results["sets"].append(found)
            results["outside_cores"] = load.cores()
            write_report(results, arguments.out)
            print(f"{known.name}: {took:.0f} s", flush=True)
    if GROWTH in arguments.only:
        results[GROWTH] = measure_growth(arguments.quick)
        write_report(results, arguments.out)
    print(arguments.out / "results.md")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = (*GROUPS, GROWTH)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="what to measure")
    parser.add_argument("--quick", action="store_true", help="small data, as a quick check")
    parser.add_argument("--out", type=Path, default=Path("out/battery"), metavar="DIR")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Laplacian K-modes: the quality of its clusters, and the cost of a fit of many rows.

    python benchmarks/laplacian.py ESTIMATOR [--quick]

prints the memory in bytes of a fit of MNIST in 50 dimensions, in a separate process.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import environment  # noqa: F401  before modules that read its variables
import numpy as np
from effort import Effort
from environment import data_file
from labelled import QUICK_OF_EACH, Known, draw_each
from memory import extra_bytes
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from timing import Run, compare, interleave, seconds, summaries, summary

from modeclust import KModes, LaplacianKModes
from modeclust.estimators.soft_problem import SoftProblem

KMEANS, KMODES = "scikit-learn KMeans", "KModes"
GRADIENT, BOUND = "LaplacianKModes gradient", "LaplacianKModes bound"
ESTIMATORS: dict[str, Callable[[int, int], Any]] = {  # take K and the seed
    KMEANS: lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    KMODES: lambda k, seed: KModes(k, bandwidth="knn", n_init=10, random_state=seed),
    GRADIENT: lambda k, seed: LaplacianKModes(k, solver="gradient", random_state=seed),
    BOUND: lambda k, seed: LaplacianKModes(k, solver="bound", random_state=seed),
}
SETS = {"COIL20": ("coil20.npz", None), "MNIST": ("mnist.npz", 200), "USPS": ("usps.npz", 100)}
QUICK_STRIDE = 20
COMPONENTS = 50
AUTHORS_FILE = "../reference/usps_lap.npz"  # relative to the data folder
AUTHORS_SECONDS = 52
LIMITS = {
    "default limits": {},
    "tol=1e-6, path_iter=1000, max_iter=10000": {
        "tol": 1e-6,
        "path_iter": 1_000,
        "max_iter": 10_000,
    },
}


def missing_reference() -> list[str]:
    """Return a note if the authors' result is not available."""
    if data_file(AUTHORS_FILE) is not None:
        return []
    return ["The authors' usps_lap.npz is not in `reference` beside MODECLUST_DATA and left out."]


def measure_quality(effort: Effort):
    """Return how well each estimator finds the classes of images, with one seed per repeat."""
    found = {name: _read(name, effort) for name in SETS}
    digits = Known("digits", *_take(*load_digits(return_X_y=True), None, effort))
    _measure(digits.few(), ESTIMATORS, 1)  # imports all modules
    return {
        "missing": [name for name, known in found.items() if known is None],
        "sets": [
            {
                "data": known.data.describe(),
                "contestants": _measure(known, ESTIMATORS, effort.repeats),
            }
            for known in (*found.values(), digits)
            if known is not None
        ],
    }


def measure_bound(effort: Effort):
    """Return time, memory and quality of a fit of many rows, including the graph."""
    known = _reduced(effort.quick)
    names = (KMEANS, BOUND, GRADIENT)
    _measure(known.few(), names, 1)
    measured = _measure(known, names, effort.long_repeats)
    for name, own in measured.items():
        own["extra"] = _extra(name, effort)
    return {"data": known.data.describe(), "contestants": measured}


def measure_authors(effort: Effort):
    """Return the time and result of a fit from the authors' start on their graph."""
    if (path := data_file(AUTHORS_FILE)) is None:
        return None
    with np.load(path) as file:
        theirs = dict(file)
    names = list(LIMITS)[: 1 if effort.quick else None]
    models = {name: _authors_model(theirs, LIMITS[name]) for name in names}
    contestants = {name: _fit_to(theirs["X"], model) for name, model in models.items()}
    contestants[names[0]](0)  # imports all modules
    runs = interleave(contestants, effort.long_repeats)
    labels = theirs["assignments"].argmax(axis=1)
    return {
        "their_seconds": AUTHORS_SECONDS,
        "fits": {
            name: {
                "seconds": summary(run.seconds for run in own),
                "iterations": own[-1].n_iter,
                "objective_ratio": models[name].objective_ / float(theirs["objectives"][-1]),
                "same_labels": float(np.mean(models[name].labels_ == labels)),
            }
            for name, own in runs.items()
        },
    }


def _authors_model(theirs, limits):
    n_rows = len(theirs["X"])
    parts = [theirs[f"affinity_{part}"] for part in ("data", "indices", "indptr")]
    bandwidths = theirs["bandwidths"].tolist()
    return LaplacianKModes(
        len(theirs["init_centers"]),
        solver="gradient",
        smoothing=float(theirs["smoothing"]),
        affinity=sparse.csr_array(tuple(parts), shape=(n_rows, n_rows)),
        bandwidth=bandwidths[-1],
        start_bandwidth=bandwidths[0],
        n_bandwidths=len(bandwidths),
        init=theirs["init_centers"],
        **limits,
    )


def _fit_to(X, model):
    def fit(_repeat):
        total, _ = seconds(lambda: model.fit(X))
        return Run(total, model.n_iter_)

    return fit


def _read(name, effort: Effort) -> Known | None:
    """Return rows in [0, 1], or None if their file is not available."""
    file, n_of_each = SETS[name]
    if (path := data_file(file)) is None:
        return None
    with np.load(path) as arrays:
        X, y, source = _take(arrays["X"], arrays["y"], n_of_each, effort)
    return Known(name, X / 255.0 if X.dtype == np.uint8 else X.astype(np.float64), y, source)


def _take(X, y, n_of_each, effort: Effort):
    """Return some rows, or all, with their classes and a description."""
    n_of_each = QUICK_OF_EACH if effort.quick else n_of_each
    if n_of_each is None:
        return X, y, "all"
    return *draw_each(X, y, n_of_each), f"{n_of_each} of each class, drawn by RandomState(0)"


def _reduced(quick) -> Known:
    """Return MNIST, or the digits if it is not available, in few dimensions."""
    stride = QUICK_STRIDE if quick else 1
    if (path := data_file("mnist.npz")) is None:
        X, y = load_digits(return_X_y=True)
        name, source = "digits", "Stand-in of MNIST: scikit-learn's digits"
    else:
        with np.load(path) as file:
            X, y = file["X"][::stride] / 255.0, file["y"][::stride]
        every = "" if stride == 1 else f", every {stride}th row"
        name, source = "MNIST", f"MNIST training digits over 255{every}"
    X = PCA(COMPONENTS, random_state=0).fit_transform(X)
    return Known(name, X, y, f"{source}; {COMPONENTS} principal components")


def _measure(known: Known, names, repeats):
    """Return the times of fits, relative to K-means, and the quality of their labels."""
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in names}

    def contestant(name):
        def run(seed):
            model = ESTIMATORS[name](known.data.n_clusters, seed)
            with _timed_graphs() as graphs:
                total, _ = seconds(lambda: model.fit(known.X))
            scores[name].append(_score(model, known.y) | {"graph_share": sum(graphs) / total})
            return Run(total, model.n_iter_)

        return run

    compared = compare(interleave({name: contestant(name) for name in names}, repeats), KMEANS)
    return {name: own | summaries(scores[name]) for name, own in compared.items()}


@contextmanager
def _timed_graphs() -> Iterator[list[float]]:
    """Measure the time to build graphs."""
    set_graph, spent = SoftProblem.set_graph, []

    def timed(*arguments):
        spent.append(seconds(lambda: set_graph(*arguments))[0])

    with patch.object(SoftProblem, "set_graph", timed):
        yield spent


def _score(model, y):
    """Return how well labels match classes, and the share that differs from K-means."""
    labels = model.labels_
    pairs = contingency_matrix(y, labels)
    matched = pairs[linear_sum_assignment(pairs, maximize=True)].sum()
    path = getattr(model, "path_", None)
    return {
        "accuracy": float(matched / len(y)),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "adjusted_rand": float(adjusted_rand_score(y, labels)),
        "moved": 0.0 if path is None else float(np.mean(path.labels[0] != labels)),
    }


def _extra(name, effort: Effort):
    command = [sys.executable, "-W", "ignore", __file__, name, *["--quick"] * effort.quick]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("estimator", choices=ESTIMATORS)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    data = _reduced(arguments.quick).data
    print(extra_bytes(ESTIMATORS[arguments.estimator](data.n_clusters, 0), data))


if __name__ == "__main__":
    main()

"""Mean-shift compared with scikit-learn: time for growing numbers of rows, and memory.

    python benchmarks/mean_shift.py

prints the memory in bytes of a fit of 10,000 x 50, in a separate process.
"""

import json
import subprocess
import sys

import environment  # noqa: F401  before modules that read its variables
from effort import Effort
from environment import THREADS
from joblib.externals.loky import get_reusable_executor
from memory import extra_bytes
from sklearn.cluster import MeanShift as TheirMeanShift
from timing import Run, interleave, seconds, summary
from workloads import Data, blobs

from modeclust import MeanShift, estimate_bandwidth

OURS, OURS_FLAT, THEIRS = "modeclust gaussian", "modeclust epanechnikov", "scikit-learn"
LARGEST_THEIRS = 4_000  # rows; beyond, theirs takes minutes
MEMORY_SHAPE = (10_000, 50)
# The rows, features and blobs of each curve; the last is like the degrees of a graph's vertices.
CURVES = {
    "D = 2": ((1_000, 2_000, 4_000, 8_000, 16_000, 32_000), 2, 10),
    "D = 50": ((1_000, 2_000, 4_000, 8_000), 50, 10),
    "D = 1": ((1_000, 2_000, 4_000, 8_000, 16_000, 32_000), 1, 2),
}


def fit_theirs(X, bandwidth):
    """Time scikit-learn's mean-shift, with every row as a seed; its kernel is flat."""
    model = TheirMeanShift(bandwidth=bandwidth, bin_seeding=False, n_jobs=THREADS)
    total, _ = seconds(lambda: model.fit(X))
    return Run(total, model.n_iter_, model.cluster_centers_)


def fit_ours(X, bandwidth, kernel):
    """Time our mean-shift, with every row as a seed."""
    model = MeanShift(bandwidth, kernel=kernel)
    total, _ = seconds(lambda: model.fit(X))
    return Run(total, model.n_iter_, model.cluster_centers_)


def measure_shift_growth(effort: Effort):
    """Return the times of fits with every row as a seed, by the number of rows."""
    curves = []
    for title, (sizes, n_features, n_blobs) in CURVES.items():
        sizes = sizes[:2] if effort.quick else sizes
        curves.append({"title": title} | _measure_curve(sizes, n_features, n_blobs, effort))
    get_reusable_executor().shutdown()
    command = [sys.executable, "-W", "ignore", __file__]
    memory = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {
        "run": 'blobs; every row a seed; the "knn" bandwidth for all',
        "curves": curves,
        "memory": memory,
    }


def _measure_curve(sizes, n_features, n_blobs, effort: Effort):
    contestants = {}
    for n_rows in sizes:
        X = blobs(n_rows, n_features, n_blobs, std=1)
        bandwidth = estimate_bandwidth(X, random_state=0)
        own = {
            OURS: lambda _, X=X, h=bandwidth: fit_ours(X, h, "gaussian"),
            OURS_FLAT: lambda _, X=X, h=bandwidth: fit_ours(X, h, "epanechnikov"),
        }
        if n_rows <= LARGEST_THEIRS:
            own[THEIRS] = lambda _, X=X, h=bandwidth: fit_theirs(X, h)
        contestants |= {(name, n_rows): fit for name, fit in own.items()}
    interleave({key: fit for key, fit in contestants.items() if key[1] == sizes[0]}, 1)
    runs = interleave(contestants, effort.long_repeats)
    return {
        "points": [
            {
                "name": name,
                "rows": n_rows,
                "seconds": summary(run.seconds for run in own),
                "modes": len(own[-1].centers),
                "iterations": own[-1].n_iter,
            }
            for (name, n_rows), own in runs.items()
        ]
    }


def main():
    n_rows, n_features = MEMORY_SHAPE
    X = blobs(n_rows, n_features, 10, std=1)
    model = MeanShift(estimate_bandwidth(X, random_state=0))
    extra = extra_bytes(model, Data("mean-shift", X, 10, ""))
    found = {"shape": [n_rows, n_features], "extra": extra, "of_all_pairs": extra / (8 * n_rows**2)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

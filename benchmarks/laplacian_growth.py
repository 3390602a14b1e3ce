"""Time and memory of a fit of LaplacianKModes to many rows, each in a process of its own.

    python benchmarks/laplacian_growth.py ROWS FEATURES CLUSTERS

prints the seconds of the fit and of its stages, and the bytes that it needs in addition to X.
"""

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from functools import wraps
from unittest.mock import patch

import environment  # noqa: F401  before modules that read its variables
from memory import extra_bytes
from timing import seconds
from workloads import Data, blobs

from modeclust import LaplacianKModes
from modeclust.estimators.soft_problem import SoftProblem

SHAPES = ((10_000, 16, 20), (100_000, 16, 20), (1_000_000, 16, 20), (100_000, 128, 20))
QUICK_SHAPES = ((1_000, 16, 5),)
STD = 4
STAGES = {  # methods of a fit, timed one by one
    "neighbours": (SoftProblem, "_neighbors"),
    "graph": (SoftProblem, "_set_density_graph"),
    "linkage": (SoftProblem, "linkage_start"),
    "path": (LaplacianKModes, "_follow_path"),
    "modes": (LaplacianKModes, "_follow_modes"),
}


def measure_growth(quick):
    """Return the time and memory of a fit for each shape."""
    return [_measure(shape) for shape in (QUICK_SHAPES if quick else SHAPES)]


def _measure(shape):
    command = [sys.executable, "-W", "ignore", __file__, *map(str, shape)]
    found = json.loads(subprocess.check_output(command, text=True))
    print(f"{shape[0]:,} x {shape[1]}: {found['seconds']:.0f} s", flush=True)
    return found


class TimedFit:
    """A fit whose stages are timed."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters
        self.seconds, self.stages = 0.0, dict.fromkeys(STAGES, 0.0)

    def fit(self, X):
        """Fit, and replace the times by those of this fit."""
        self.stages = dict.fromkeys(STAGES, 0.0)
        with ExitStack() as stack:
            for stage, (owner, name) in STAGES.items():
                method = getattr(owner, name)
                stack.enter_context(patch.object(owner, name, self._timed(stage, method)))
            model = LaplacianKModes(self.n_clusters, random_state=0)
            self.seconds, _ = seconds(lambda: model.fit(X))

    def _timed(self, stage, method):
        @wraps(method)
        def run(*arguments, **options):
            took, result = seconds(lambda: method(*arguments, **options))
            self.stages[stage] += took
            return result

        return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("rows", "features", "clusters"):
        parser.add_argument(name, type=int)
    arguments = parser.parse_args()
    shape = (arguments.rows, arguments.features, arguments.clusters)
    data = Data("blobs", blobs(*shape, STD), arguments.clusters, "make_blobs")
    timed = TimedFit(arguments.clusters)
    extra = extra_bytes(timed, data)
    found = {
        "shape": shape[:2],
        "n_clusters": arguments.clusters,
        "seconds": timed.seconds,
        "stages": timed.stages,
        "extra": extra,
        "bytes_of_X": data.n_bytes,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()

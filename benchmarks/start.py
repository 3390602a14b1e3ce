"""Import and fits of iris: the first fit in a new process, and fits after it."""

import subprocess
import sys

from effort import Effort
from peers import OURS
from timing import Run, compare, interleave, seconds

THEIRS = "scikit-learn"
IMPORT = "from time import perf_counter as now; t = now(); from {} import {}; print(now() - t)"
FIT = (
    "from sklearn.datasets import load_iris; from {} import {} as E; "
    "E(3, n_init=10, random_state=0).fit(load_iris().data)"
)


# The shortest of many fits.
WARM = (
    "from time import perf_counter as now; from sklearn.datasets import load_iris; "
    "from {} import {} as E; X = load_iris().data; times = []\n"
    "for _ in range(51):\n t = now(); E(3, n_init=10, random_state=0).fit(X); "
    "times.append(now() - t)\n"
    "print(min(times))"
)


def measure_start(effort: Effort):
    """Return the times of the import, of the first fit of iris, and of fits after it."""
    estimators = {OURS: ("modeclust", "KModes"), THEIRS: ("sklearn.cluster", "KMeans")}
    contestants = {
        "import": {name: _import(*where) for name, where in estimators.items()},
        "first_fit": {name: _fit(*where) for name, where in estimators.items()},
        "warm_fit": {name: _warm_fit(*where) for name, where in estimators.items()},
    }
    interleave(contestants["first_fit"], 1)  # loads the files into the disk cache
    return {
        part: compare(interleave(runs, effort.repeats), THEIRS)
        for part, runs in contestants.items()
    }


def _import(module, name):
    return lambda _: Run(float(_python(IMPORT.format(module, name))))


def _fit(module, name):
    """Return a contestant that times a fit, including the start of its process."""
    return lambda _: Run(seconds(lambda: _python(FIT.format(module, name)))[0])


def _warm_fit(module, name):
    return lambda _: Run(float(_python(WARM.format(module, name))))


def _python(code):
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.check_output(command, text=True)

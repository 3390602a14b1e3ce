"""The start in a new process: the import, and the first fit without and with compiled code."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from effort import Effort
from peers import OURS
from timing import Run, compare, interleave, seconds

THEIRS = "scikit-learn"
COLD, WARM = "modeclust, nothing compiled", "modeclust, compiled before"
IMPORT = "from time import perf_counter as now; t = now(); from {} import {}; print(now() - t)"
FIT = (
    "from sklearn.datasets import load_iris; from {} import {} as E; "
    "E(3, n_init=10, random_state=0).fit(load_iris().data)"
)


def measure_start(effort: Effort):
    """Return the times of the import and of the first fit on iris."""
    imports = {
        OURS: _importer("modeclust", "KModes"),
        THEIRS: _importer("sklearn.cluster", "KMeans"),
    }
    interleave(imports, 1)  # brings the files into memory
    runs = interleave(imports, effort.repeats)
    with tempfile.TemporaryDirectory() as folder:
        fits = interleave(_first_fits(Path(folder)), 1 if effort.quick else effort.long_repeats)
        n_variants = len(list((Path(folder) / "0").rglob("*.nbc")))
    return {
        "import": compare(runs, THEIRS),
        "first_fit": compare(fits, THEIRS),
        "compiled_variants": n_variants,
    }


def _importer(module, name):
    return lambda _: Run(float(_python(IMPORT.format(module, name))))


def _first_fits(folder):
    """Return fits from the start of their process; each repeat has a cache of its own."""

    def fit(code):
        return lambda repeat: Run(seconds(lambda: _python(code, folder / str(repeat)))[0])

    ours = FIT.format("modeclust", "KModes")
    return {COLD: fit(ours), WARM: fit(ours), THEIRS: fit(FIT.format("sklearn.cluster", "KMeans"))}


def _python(code, cache=None):
    variables = os.environ if cache is None else {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.check_output(command, env=variables, text=True)

"""The memory of a fit in addition to the rows, in a separate process.

    python benchmarks/memory.py WORKLOAD LIBRARY [--quick]

prints the bytes of the fit, and those that the model keeps. The peak is that of the fit alone: the
rows are loaded before, and a small fit has imported all modules.
"""

import argparse
import gc
import json
import resource
import subprocess
import sys
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path

import environment  # noqa: F401  before modules that read its variables
import numpy as np
from effort import Effort
from sklearn.cluster import KMeans
from workloads import WORKLOADS, Data

from modeclust import KModes

FITS = {
    "modeclust": lambda k: KModes(
        k, bandwidth="knn", n_init=1, path_iter=2, max_iter=20, random_state=0
    ),
    "scikit-learn": lambda k: KMeans(k, n_init=1, max_iter=20, random_state=0),
}
STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure_memory(data: Data, effort: Effort):
    """Return the additional memory of a fit of each library, as a share of the rows."""
    # Unlike times, memory can be measured in parallel.
    processes = {library: _start(data.name, library, effort) for library in FITS}
    found = {library: json.loads(p.communicate()[0]) for library, p in processes.items()}
    return {
        "run": 'bandwidth="knn", n_init=1, at most 20 iterations of K-means, path_iter=2',
        "bytes_of_X": data.n_bytes,
        "libraries": {
            library: {**own, "share": own["extra"] / data.n_bytes} for library, own in found.items()
        },
    }


def _start(workload, library, effort):
    arguments = [__file__, workload, library, *["--quick"] * effort.quick]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", *arguments], stdout=subprocess.PIPE, text=True
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("library", choices=FITS)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    data = WORKLOADS[arguments.workload].load(arguments.quick)
    model = FITS[arguments.library](data.n_clusters)
    extra = extra_bytes(model, data)
    print(json.dumps({"extra": extra, "kept": kept_bytes(model)}))


def extra_bytes(model, data: Data) -> int:
    """Return by how much the fit raises the peak memory of the process."""
    model.fit(data.small())
    gc.collect()
    with suppress(OSError, AttributeError):
        CDLL(None).malloc_trim(0)  # otherwise the fit could reuse free memory
    with suppress(OSError):
        FORGET.write_text("5")  # resets the peak
    before = peak_bytes()
    model.fit(data.X)
    return peak_bytes() - before


def kept_bytes(model) -> int:
    """Return the memory of the fitted model: centers and labels."""
    path = getattr(model, "path_", None)
    values = [*vars(model).values(), *(vars(path).values() if path else ())]
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def peak_bytes() -> int:
    """Return the peak memory of the process, since the reset if the system has one."""
    if STATUS.exists():
        lines = STATUS.read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    main()

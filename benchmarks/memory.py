"""How much memory a fit takes beyond the rows, in a process of its own.

    python benchmarks/memory.py WORKLOAD LIBRARY [--quick]

prints the bytes, and those that the model keeps. The peak is that of the fit alone, after the
rows are loaded and a small fit has loaded the code.
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

import environment  # noqa: F401  before what reads it
import numpy as np
from effort import Effort
from sklearn.cluster import KMeans
from workloads import WORKLOADS, Data

from modeclust import KModes

FITS = {
    "modeclust": lambda k: KModes(k, n_init=1, path_iter=2, max_iter=20, random_state=0),
    "scikit-learn": lambda k: KMeans(k, n_init=1, max_iter=20, random_state=0),
}
STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure_memory(data: Data, effort: Effort):
    """Return the memory of a fit of each library beyond the rows, as a share of theirs."""
    # Memory does not mind company: all at once.
    processes = {library: _start(data.name, library, effort) for library in FITS}
    found = {library: json.loads(p.communicate()[0]) for library, p in processes.items()}
    return {
        "run": "n_init=1, at most 20 iterations of K-means, path_iter=2",
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
    """Return how far the fit raises the most memory that the process has held."""
    model.fit(data.small())
    gc.collect()
    with suppress(OSError, AttributeError):
        CDLL(None).malloc_trim(0)  # what is free already must not hide what the fit takes
    with suppress(OSError):
        FORGET.write_text("5")  # resets the peak
    before = peak_bytes()
    model.fit(data.X)
    return peak_bytes() - before


def kept_bytes(model) -> int:
    """Return how much of it the fitted model keeps: its centroids and labels."""
    path = getattr(model, "path_", None)
    values = [*vars(model).values(), *(vars(path).values() if path else ())]
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def peak_bytes() -> int:
    """Return the most memory that the process has held; since the reset, where there is one."""
    if STATUS.exists():
        lines = STATUS.read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    main()

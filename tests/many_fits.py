"""Many fits in one process, to find memory leaks: `python many_fits.py KIND TIMES FITS`.

Prints the memory of the process in bytes after every FITS fits, TIMES times.
"""

import ctypes
import gc
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from modeclust import (
    KModes,
    LaplacianKModes,
    MeanShift,
    cluster_modes,
    load,
    suggest_clusters,
)

rng = np.random.default_rng(0)
PLANE = rng.normal(size=(300, 2)) + rng.integers(0, 3, size=(300, 1)) * 5
CSR = sparse.random_array((300, 100), density=0.1, random_state=0, format="csr")


def short(i, **options):
    return KModes(3, n_init=1, n_bandwidths=2, path_iter=2, random_state=i, **options)


def save_and_load(i, folder):
    short(i).fit(PLANE).save(folder / "model")
    load(folder / "model").score(PLANE)


def refuse(i, folder):
    try:
        KModes(1000, random_state=i).fit(PLANE)
    except ValueError:
        return
    raise AssertionError("a fit with more clusters than rows was not refused")


KINDS = {
    "threads": lambda i, _: short(i, n_jobs=2).fit(PLANE).predict(PLANE),
    "adaptive": lambda i, _: short(i, adaptive=True).fit(PLANE),
    "cosine": lambda i, _: short(i, metric="cosine").fit(PLANE).predict_proba(PLANE),
    "cluster-modes": lambda i, _: cluster_modes(PLANE, PLANE.argmax(axis=1) + i % 2),
    "suggest": lambda i, _: suggest_clusters(PLANE[: 60 + i % 40], max_clusters=5, random_state=i),
    "outliers": lambda i, _: short(i).fit(PLANE).score_outliers(PLANE),
    "sparse": lambda i, _: short(i).fit(CSR).transform(CSR),
    "stream": lambda i, _: short(i).partial_fit(PLANE),
    "mean-shift": lambda i, _: MeanShift(1.0 + i / 1e4, n_jobs=2).fit(PLANE),
    "laplacian": lambda i, _: LaplacianKModes(
        3, n_init=1, n_bandwidths=2, path_iter=2, random_state=i
    ).fit(PLANE),
    "refused": refuse,
    "saved": save_and_load,
    "checkpoint": lambda i, folder: short(i, checkpoint=folder / str(i)).fit(PLANE),
    "report": lambda i, folder: (
        short(i).fit(PLANE).report(PLANE, path=folder / "page.html", overwrite=True)
    ),
}


def used_bytes():
    """Return the memory of the process in bytes, after free memory is returned."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def main(kind, times, fits):
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(times):
            for i in range(fits):
                KINDS[kind](turn * fits + i, Path(folder))
            print(used_bytes())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

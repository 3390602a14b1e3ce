"""Small fits of every kind, by the compiled functions or by the Python that they are written in.

As a program it interprets them, and writes what they find to a file. An index out of bounds is an
error then, and coverage sees their lines.
"""

import os
import sys
import tempfile
from unittest import mock

if __name__ == "__main__":
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before numba is imported

import numba
import numpy as np
from numba import extending
from scipy import sparse

OVERLOADS = []


def _recorded(overload):
    """Return numba's decorator, which then also notes what it decorates."""

    def decorate(stub, **options):
        def note(chooser):
            OVERLOADS.append((stub, chooser))
            return overload(stub, **options)(chooser)

        return note

    return decorate


if __name__ == "__main__":
    extending.overload = _recorded(extending.overload)

from modeclust import KModes, LaplacianKModes, MeanShift  # noqa: E402
from modeclust.data import bounds  # noqa: E402

rng = np.random.default_rng(0)
PLANE = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0)
WIDE = rng.normal(size=(40, 26)) + np.repeat(np.eye(4, 26) * 9, 10, axis=0)
CSR = sparse.csr_array(np.where(WIDE > 0.5, WIDE, 0))
MANY = rng.normal(size=(128, 24))
WEIGHT = 1.0 + np.arange(60) % 3
QUICK = {"n_init": 1, "n_bandwidths": 2, "path_iter": 2, "tol": 0.1, "random_state": 0, "n_jobs": 1}
ONE = {"n_jobs": 1}


def fit_in_groups():
    """Fit enough clusters for groups of centroids, as if they were large."""
    with mock.patch.object(bounds, "FEWEST_NUMBERS", 0):
        return KModes(64, init=MANY[::2] + 0.1, bandwidth=2.0, **QUICK).fit(MANY)


def fit_with_checkpoint(X):
    with tempfile.TemporaryDirectory() as folder:
        return KModes(3, bandwidth=4.0, **QUICK, checkpoint=f"{folder}/c").fit(X)


FITS = {
    "plane": lambda: KModes(3, **QUICK).fit(PLANE, sample_weight=WEIGHT),
    "float32": lambda: KModes(3, adaptive=True, **QUICK).fit(PLANE.astype(np.float32)),
    "six features": lambda: KModes(4, **QUICK).fit(WIDE[:, :6]),
    "wide": lambda: KModes(4, **QUICK).fit(WIDE),
    "sparse": lambda: KModes(4, **QUICK).fit(CSR),
    "groups": fit_in_groups,
    "empty": lambda: KModes(4, init=PLANE[[0, 20, 40, 40]], bandwidth=1.0, **QUICK).fit(PLANE),
    **{
        kernel: lambda kernel=kernel: KModes(3, kernel=kernel, bandwidth=2.0, **QUICK).fit(PLANE)
        for kernel in ("epanechnikov", "biweight", "cauchy")
    },
    "stream": lambda: KModes(3, **QUICK).fit(PLANE).partial_fit(PLANE[::2]),
    "likelihood": lambda: KModes(3, bandwidth="likelihood", **QUICK).fit(PLANE),
    "checkpoint": lambda: fit_with_checkpoint(PLANE),
    "checkpoint, sparse": lambda: fit_with_checkpoint(CSR),
    "mean-shift": lambda: MeanShift(1.5, **ONE).fit(PLANE, sample_weight=WEIGHT),
    "mean-shift, adaptive": lambda: MeanShift(1.5, adaptive=True, **ONE).fit(PLANE),
    "mean-shift, wide": lambda: MeanShift(4.0, **ONE).fit(WIDE),
    "mean-shift, sparse": lambda: MeanShift(4.0, **ONE).fit(CSR),
    "mean-shift, K": lambda: MeanShift(n_clusters=3, **ONE).fit(PLANE[::2]),
    **{
        f"mean-shift, {kernel}": lambda kernel=kernel: MeanShift(2.5, kernel=kernel, **ONE).fit(
            PLANE[::2]
        )
        for kernel in ("epanechnikov", "cauchy")
    },
    "Laplacian": lambda: LaplacianKModes(3, **QUICK).fit(PLANE),
    "Laplacian, bound": lambda: LaplacianKModes(4, solver="bound", **QUICK).fit(CSR),
}


def results():
    """Return what each fit finds, and says of other rows."""
    found = {}
    for name, fit in FITS.items():
        model = fit()
        rows = (PLANE if model.n_features_in_ == 2 else MANY)[:20, : model.n_features_in_]
        rows = np.resize(rows, (20, model.n_features_in_)).astype(model.cluster_centers_.dtype)
        found[f"{name}: centers"] = model.cluster_centers_
        found[f"{name}: labels"] = model.labels_
        found[f"{name}: predicted"] = model.predict(rows)
        if hasattr(model, "score"):
            found[f"{name}: score"] = model.score(rows)
    return found


def interpret():
    """Put the Python of each overloaded function in its place, wherever it is called."""
    modules = [module for name, module in sys.modules.items() if name.startswith("modeclust")]
    for stub, chooser in OVERLOADS:

        def chosen(X, *others, chooser=chooser):
            return chooser(numba.typeof(X), *(None for _ in others))(X, *others)

        for module in modules:
            for name, value in vars(module).items():
                if value is stub:
                    setattr(module, name, chosen)


if __name__ == "__main__":
    interpret()
    np.savez(sys.argv[1], **results())

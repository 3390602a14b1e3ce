"""Rows in every form that the core reads, for the tests of its passes."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
from protected import at_end_of_memory
from scipy import sparse

from modeclust import _core

FEATURES = [1, 2, 3, 7, 8, 9, 17, 33, 64, 100]
FORMS = ["dense", "csr"]


def open_rows(X, weight=None, scale=None, *, form="dense", n_threads=1, protect=False, **options):
    """Return the rows of X for the core."""
    place = at_end_of_memory if protect else np.ascontiguousarray
    precision = None if scale is None else 1.0 / np.square(scale)
    options |= {"weight": weight, "precision": precision, "n_threads": n_threads}
    if form == "dense":
        return _core.Rows(place(X), **options)
    C = sparse.csr_array(X)
    return _core.Rows(place(C.data), place(C.indices), C.indptr, X.shape[1], **options)


def make_rows(rng, n_rows, n_features, dtype=np.float64, *, form="dense", weighted=False):
    """Return rows, weights (some are 0) and scales; both are None if not `weighted`."""
    X = rng.normal(size=(n_rows, n_features)).astype(dtype)
    if form == "csr":
        X *= rng.random(X.shape) < 0.3
    if not weighted:
        return X, None, None
    weight = rng.uniform(0.5, 2.0, n_rows) * (rng.random(n_rows) < 0.8)
    return X, weight, rng.uniform(0.5, 2.0, n_rows)


def digest(*arrays):
    """Return a digest of the bits of arrays and numbers."""
    parts = hashlib.sha256()
    for array in arrays:
        parts.update(np.ascontiguousarray(array).tobytes())
    return parts.hexdigest()


def digests_of_variants(program):
    """Return the output of a program for each instruction set of this machine."""
    found = {}
    for name in _core.available_simd():
        environment = os.environ | {"MODECLUST_SIMD": name}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        command = [sys.executable, "-c", program]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found[name] = json.loads(run.stdout)
    return found

"""Data sets with known classes, drawn anew for each seed."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from environment import data_file
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler
from workloads import Data, read_tdt2

OF_EACH, QUICK_OF_EACH = 200, 20
TDT2_ROWS = 3_000
BLOB_CENTERS, BLOB_ROWS = 5, 1_000
IMAGES = {"USPS": "usps.npz", "MNIST": "mnist.npz", "COIL20": "coil20.npz"}
BUILT_IN = {"digits": load_digits, "iris": load_iris}
MIXED_UNITS = {"wine": load_wine, "breast cancer": load_breast_cancer}
FILES = {**IMAGES, "TDT2": "tdt2.npz"}


class Known(NamedTuple):
    """Rows with known classes."""

    name: str
    X: Any
    y: Any
    source: str

    @property
    def data(self) -> Data:
        return Data(self.name, self.X, len(np.unique(self.y)), self.source)

    def few(self) -> "Known":
        """Return a few rows for a warm-up."""
        X, y = draw_each(self.X, self.y, QUICK_OF_EACH)
        return self._replace(X=X, y=y)


def missing_sets() -> list[str]:
    """Return a note if sets of known classes are not available."""
    missing = [name for name, file in FILES.items() if data_file(file) is None]
    if not missing:
        return []
    return [f"{', '.join(missing)}: not in MODECLUST_DATA and left out of the defaults."]


def is_available(name: str) -> bool:
    """Return whether a set is built in, or its file is in MODECLUST_DATA."""
    return name not in FILES or data_file(FILES[name]) is not None


def load_known(name: str, seed: int, quick: bool) -> Known:
    """Return a set by name: all rows, or those that this seed draws."""
    if name.startswith("blobs"):
        return _blobs(name, seed, quick)
    X, y, source = _read(name)
    if name in ("USPS", "MNIST") or (quick and name != "TDT2"):
        n_of_each = QUICK_OF_EACH if quick else OF_EACH
        X, y = draw_each(X, y, n_of_each, seed)
        source += f", {n_of_each} of each class"
    elif name == "TDT2":
        n_rows = TDT2_ROWS // 10 if quick else TDT2_ROWS
        drawn = np.random.RandomState(seed).choice(len(y), n_rows, replace=False)
        X, y = X[drawn], y[drawn]
        source += f", {n_rows:,} rows"
    X = X / 255.0 if X.dtype == np.uint8 else X.astype(np.float64, copy=False)
    return Known(name, X, y, source)


def draw_each(X, y, n_of_each, seed=0):
    """Return some rows of each class."""
    rng = np.random.RandomState(seed)
    drawn = [rng.choice(np.flatnonzero(y == c), n_of_each, replace=False) for c in np.unique(y)]
    return X[np.concatenate(drawn)], y[np.concatenate(drawn)]


@cache
def _read(name):
    """Return all rows of a set, their classes and a description."""
    if name in BUILT_IN:
        return *BUILT_IN[name](return_X_y=True), "scikit-learn's"
    if name in MIXED_UNITS:
        X, y = MIXED_UNITS[name](return_X_y=True)
        return StandardScaler().fit_transform(X), y, "scikit-learn's, standardised"
    path = data_file(FILES[name])
    if name == "TDT2":
        return *read_tdt2(path), "(1 + log tf) log(N / df), unit rows"
    with np.load(path) as arrays:
        return arrays["X"], arrays["y"], "pixels in [0, 1]"


def _blobs(name, seed, quick):
    n_features = int(name.removeprefix("blobs-"))
    n_rows = BLOB_ROWS // 5 if quick else BLOB_ROWS
    X, y = make_blobs(n_rows, n_features, centers=BLOB_CENTERS, random_state=seed)
    return Known(name, X, y, "make_blobs")

"""The data sets of the paper: from `MODECLUST_DATA`, else from OpenML, else a stand-in."""

import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from modeclust.datasets import load_dataset

SETTING = "MODECLUST_DATA"
OPENML = {"mnist": "mnist_784", "usps": "USPS"}
TITLES = {"coil20": "COIL-20", "mnist": "MNIST", "tdt2": "TDT2", "usps": "USPS"}
SHAPES = {"coil20": (32, 32), "mnist": (28, 28), "usps": (16, 16)}


class Source(NamedTuple):
    """Rows with their classes.

    Pixels lie between 0 and 1. Documents and the images of COIL-20 have length 1. The paper says
    nothing of lengths, but its numbers for mean-shift on COIL-20 are those of images of length 1.
    """

    X: Any  # float64, dense or CSR
    y: npt.NDArray[np.intp]
    title: str
    image_shape: tuple[int, int] | None
    stand_in: str | None = None  # what is missing, how to get it, and what is used instead

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(np.unique(self.y))

    def draw(self, n_each: int, seed: int) -> "Source":
        """Return `n_each` random rows of each class, or all rows of a class that has fewer."""
        rng = np.random.RandomState(seed)
        rows = []
        for label in np.unique(self.y):
            own = np.flatnonzero(self.y == label)
            rows.append(rng.permutation(own)[:n_each])
        chosen = np.sort(np.concatenate(rows))
        return self._replace(X=self.X[chosen], y=self.y[chosen])


def load_source(name: str, *, fetch: bool = True) -> Source:
    """Return a data set of the paper, or a stand-in for it.

    Parameters
    ----------
    name : {"coil20", "mnist", "tdt2", "usps"}
        Name of the data set.
    fetch : bool, default=True
        Whether to download a missing data set from OpenML.

    Returns
    -------
    Source
        The data; `stand_in` is not None if other data is used instead.
    """
    folder = os.environ.get(SETTING)
    file = Path(folder) / f"{name}.npz" if folder else None
    if file is not None and file.is_file():
        try:
            with np.load(file) as arrays:  # without pickle
                return _from_arrays(name, dict(arrays))
        except (KeyError, ValueError, TypeError, EOFError, BadZipFile, zlib.error) as error:
            expected = "data, indices, indptr, shape and y" if name == "tdt2" else "X and y"
            raise ValueError(
                f"{file.name} in {SETTING} must be an npz file with {expected}: {error}"
            ) from error
    advice = f"set {SETTING} to a folder with {name}.npz"
    if fetch and name in OPENML:
        try:
            return _from_openml(name)
        except Exception as error:  # a network can fail in any way
            advice += f"; the download from OpenML failed ({type(error).__name__})"
    digits = load_dataset("digits")
    stand_in = f"{TITLES[name]} is missing: {advice}. The digits of scikit-learn are used instead."
    return Source(digits.X, digits.y, f"digits instead of {TITLES[name]}", (8, 8), stand_in)


def _from_arrays(name: str, arrays: dict[str, npt.NDArray[Any]]) -> Source:
    y = np.unique(arrays["y"], return_inverse=True)[1]
    n_rows = arrays["shape"][0] if name == "tdt2" else len(arrays["X"])
    if arrays["y"].shape != (n_rows,):
        raise ValueError(f"y must have shape ({n_rows},), got {arrays['y'].shape}")
    if name == "tdt2":
        counts = sparse.csr_matrix(
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"])
        )
        return Source(weight_terms(counts), y, TITLES[name], None)
    n_pixels = np.prod(SHAPES[name])
    if arrays["X"].shape != (n_rows, n_pixels):
        raise ValueError(f"X must have {n_pixels} columns, got shape {arrays['X'].shape}")
    pixels = _between_0_and_1(arrays["X"])
    return Source(normalize(pixels) if name == "coil20" else pixels, y, TITLES[name], SHAPES[name])


def check_setting() -> None:
    """Raise an error if `MODECLUST_DATA` is not a folder."""
    folder = os.environ.get(SETTING)
    if folder and not Path(folder).is_dir():
        raise ValueError(f"{SETTING} must be a folder, got {folder!r}; correct or unset it.")


def _from_openml(name: str) -> Source:
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(OPENML[name], version="active", as_frame=False, parser="liac-arff")
    # The classes of USPS are "1" to "10" there. As text, they sort in the wrong order.
    y = np.unique(bunch.target.astype(np.int64), return_inverse=True)[1]
    return Source(_between_0_and_1(bunch.data), y, TITLES[name], SHAPES[name])


def _between_0_and_1(X: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return pixels scaled to the range from 0 to 1."""
    pixels = np.ascontiguousarray(X, dtype=np.float64)
    low, high = pixels.min(), pixels.max()
    if not low < high < np.inf:  # false for NaN too
        raise ValueError(f"pixels must be finite and not all equal, got {low} to {high}")
    scaled: npt.NDArray[np.float64] = (pixels - low) / (high - low)
    return scaled


def weight_terms(counts: Any) -> Any:
    """Return documents as rows (1 + log tf) log(N / df), normalized to unit length."""
    weighted = sparse.csr_matrix(counts, dtype=np.float64, copy=True)
    document_counts = np.bincount(weighted.indices, minlength=weighted.shape[1])
    rarity = np.log(weighted.shape[0] / np.maximum(document_counts, 1))
    weighted.data = (1 + np.log(weighted.data)) * rarity[weighted.indices]
    return normalize(weighted)

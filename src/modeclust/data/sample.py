"""Some rows with their weights."""

import operator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust import _core
from modeclust.data.reading import Floats, UnitRows, core_rows, is_sparse

# Lengths that differ by less than this are equal, up to the rounding of float32.
SAME_LENGTH = 1e-4


class Sample(NamedTuple):
    """Some rows, dense or CSR, and the weight of each."""

    X: Any
    weight: npt.NDArray[np.float64]
    unit_length: bool = False  # whether the rows have length 1 (metric "cosine")

    def rows(self, step: int = 1) -> Any:
        """Return every `step`-th row, for a dataset."""
        X = self.X[::step]
        return UnitRows.of(X) if self.unit_length else X

    def has_unit_length(self) -> bool:
        """Return whether all rows have length 1, up to the rounding of float32."""
        inverse_lengths = core_rows(self.X).inverse_lengths()
        return bool(np.all(np.abs(inverse_lengths - 1.0) < SAME_LENGTH))

    def dense(self, indices: Any = None) -> npt.NDArray[np.float64]:
        """Return all rows, or those at `indices`, as a float64 array."""
        X = self.X if indices is None else self.X[indices]
        return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)

    def distinct(self, *, in_place: bool = False) -> "Sample":
        """Return each distinct row once, with the total weight of its copies, ordered by key.

        The result is the same for a row of weight 2 and for the row twice, for any order of the
        rows, and for dense and CSR rows. With `in_place` it reuses the memory of this sample, which
        is overwritten.
        """
        keys = row_keys(core_rows(self.X))
        order = np.argsort(keys, kind="stable")
        alike = keys[order][1:] == keys[order][:-1]
        repeats = self._repeats(order, alike)
        if np.any(alike & ~repeats):
            # Different rows share a key: order them by their numbers.
            run = np.concatenate([alike, [False]]) | np.concatenate([[False], alike])
            numbers = Sample(self.X[order[run]], self.weight).dense()
            order[run] = order[run][np.lexsort((*numbers.T[::-1], keys[order[run]]))]
            repeats = self._repeats(order, alike)
        first = np.flatnonzero(np.concatenate([[True], ~repeats]))
        weight = np.add.reduceat(self.weight[order], first)
        take = _take_in_place if in_place and not is_sparse(self.X) else operator.getitem
        return Sample(take(self.X, order[first]), weight, self.unit_length)

    def _repeats(
        self, order: npt.NDArray[np.int64], alike: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return which rows, in this order, equal the row before; only `alike` rows can."""
        repeats = np.zeros(len(alike), dtype=np.bool_)
        indices = np.flatnonzero(alike)
        repeats[indices] = equal_rows(self.X[order[indices + 1]], self.X[order[indices]])
        return repeats


def _take_in_place(X: Floats, rows: npt.NDArray[np.int64]) -> Floats:
    """Return some rows of `X` in its own memory, to avoid a copy."""
    for first in range(0, X.shape[1], 64):
        columns = slice(first, first + 64)
        X[: len(rows), columns] = X[rows, columns]
    return X[: len(rows)]


def equal_rows(X: Any, Y: Any) -> npt.NDArray[np.bool_]:
    """Return where the rows of `X` and `Y`, both dense or both CSR, are equal."""
    if not is_sparse(X):
        return np.asarray((X == Y).all(axis=1))
    differences = sparse.csr_array(X != Y)
    differences.eliminate_zeros()
    return np.asarray(np.diff(differences.indptr) == 0)


def row_keys(rows: _core.Rows) -> npt.NDArray[np.float64]:
    """Return a number for each row: equal for equal rows, dense or CSR.

    The number is the product of the row with a fixed random vector. So different rows almost always
    have different numbers, and the order stays the same if all rows are shifted or scaled.
    """
    return rows.keys(np.random.RandomState(0).uniform(0.5, 1.5, rows.n_features))

"""Some rows with their weights, in an order that does not depend on the data's order."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.rows.reading import Csr, Floats, compiled_form, is_sparse, row_keys


class Sample(NamedTuple):
    """Some rows, dense or CSR, and the weight of each."""

    X: Any
    weight: npt.NDArray[np.float64]

    def dense(self) -> npt.NDArray[np.float64]:
        """Return the rows as a float64 array."""
        X = self.X.toarray() if is_sparse(self.X) else self.X
        return np.asarray(X, dtype=np.float64)

    def distinct(self) -> "Sample":
        """Return each distinct row once, weighted by all of its kind, ordered by key.

        What is drawn from it is the same for a row of weight 2 and the row twice, for
        any order of the rows, and for dense and CSR rows.
        """
        order = np.argsort(keys_of(compiled_form(self.X), self.X.shape[1]), kind="stable")
        X, weight = self.X[order], self.weight[order]
        if is_sparse(X):
            differences = sparse.csr_array(X[1:] != X[:-1])
            differences.eliminate_zeros()
            repeats = np.diff(differences.indptr) == 0
        else:
            repeats = (X[1:] == X[:-1]).all(axis=1)
        first = np.flatnonzero(np.concatenate([[True], ~repeats]))
        return Sample(X[first], np.add.reduceat(weight, first))


def keys_of(X: Floats | Csr, n_features: int) -> npt.NDArray[np.float64]:
    """Return a number for each row: equal for equal rows, dense or CSR.

    It is the row's product with a fixed vector of random numbers, so that different rows differ
    in it, and its order is kept where all rows are shifted or scaled.
    """
    directions = np.random.RandomState(0).uniform(0.5, 1.5, n_features)
    return np.asarray(row_keys(X, directions))

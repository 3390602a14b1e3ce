"""Projection of rows onto one or two axes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.utils.sparsefuncs import mean_variance_axis

from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Rescaling

# With more rows than this, principal components are computed from a random sample.
MAX_ROWS = 20_000
SPARSE_TOLERANCE = 1e-3


class Projection(NamedTuple):
    """Projection onto a line (one feature) or a plane (two features or principal components)."""

    axis_labels: tuple[str, ...]  # one or two
    components: Any  # a fitted PCA; None if the features are the axes
    rescaling: Rescaling  # applied to rows before `components`

    @classmethod
    def of(cls, X: Any, feature_names: Sequence[str] | None = None) -> "Projection":
        """Fit a projection to the rows `X`."""
        n_rows, n_features = X.shape
        if n_features <= 2:
            names = feature_names or [f"x{d}" for d in range(n_features)]
            return cls(tuple(str(name) for name in names), None, Rescaling())
        if n_rows > MAX_ROWS:
            X = X[np.sort(np.random.default_rng(0).choice(n_rows, MAX_ROWS, replace=False))]
        rescaling = Rescaling.of(X)
        X = rescaling.to_internal(X)
        pca = PCA(min(2, *X.shape), random_state=0)
        if is_sparse(X):
            if X.shape[0] > 2 and mean_variance_axis(X, axis=0)[1].any():
                pca.set_params(svd_solver="arpack", tol=SPARSE_TOLERANCE)
            else:  # few rows, or equal ones, which it cannot take
                X = X[:2].toarray()
        with np.errstate(invalid="ignore"):  # if all rows are equal, the variance is 0
            pca.fit(X)
        shares = np.nan_to_num(pca.explained_variance_ratio_)
        labels = (
            f"principal component {i} ({_percent(share)} of variance)"
            for i, share in enumerate(shares, 1)
        )
        return cls(tuple(labels), pca, rescaling)

    @property
    def n_axes(self) -> int:
        """Number of axes: 1 for a line, 2 for a plane."""
        return len(self.axis_labels)

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the coordinates of rows or modes, of shape (n_rows, n_axes)."""
        if self.components is not None:
            points = self.components.transform(self.rescaling.to_internal(X))
            return np.asarray(points, dtype=np.float64) * self.rescaling.scale
        return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"

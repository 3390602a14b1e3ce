"""From rows of any length to what fits on a page: a line, or a plane."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA, TruncatedSVD

from modeclust.data.reading import is_sparse
from modeclust.data.rescaling import Rescaling

# Principal components are taken of at most this many rows, drawn at random.
MOST_ROWS = 20_000


class Projection(NamedTuple):
    """Where rows lie on a line (one feature) or a plane (two, or two principal components)."""

    axis_labels: tuple[str, ...]  # one or two
    components: Any  # a fitted PCA or TruncatedSVD; None where features are drawn as they are
    rescaling: Rescaling  # in which they are taken

    @classmethod
    def of(cls, X: Any, feature_names: Sequence[str] | None = None) -> "Projection":
        """Return the projection that suits rows `X`."""
        n_rows, n_features = X.shape
        if n_features <= 2:
            names = feature_names or [f"x{d}" for d in range(n_features)]
            return cls(tuple(str(name) for name in names), None, Rescaling())
        if n_rows > MOST_ROWS:
            X = X[np.sort(np.random.default_rng(0).choice(n_rows, MOST_ROWS, replace=False))]
        rescaling = Rescaling.of(X)
        X = rescaling.to_internal(X)
        method = TruncatedSVD if is_sparse(X) else PCA
        n_components = min(2, *X.shape)
        with np.errstate(invalid="ignore"):  # rows that are all equal have no variance to share
            components = method(n_components, random_state=0).fit(X)
        word = "singular vector" if is_sparse(X) else "principal component"
        shares = np.nan_to_num(components.explained_variance_ratio_)
        labels = (
            f"{word} {i} ({_percent(share)} of variance)" for i, share in enumerate(shares, 1)
        )
        return cls(tuple(labels), components, rescaling)

    @property
    def n_axes(self) -> int:
        """One for a line, two for a plane."""
        return len(self.axis_labels)

    def forward(self, X: Any) -> npt.NDArray[np.float64]:
        """Return where rows or centroids lie, of shape (n_rows, n_axes)."""
        if self.components is not None:
            places = self.components.transform(self.rescaling.to_internal(X))
            return np.asarray(places, dtype=np.float64) * self.rescaling.scale
        return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"

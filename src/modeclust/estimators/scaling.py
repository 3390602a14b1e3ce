"""The scaling of the columns before a fit, which new rows need too."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Doubles, is_sparse
from modeclust.io.model_file import is_array


@dataclass(frozen=True)
class Scaling:
    """Standardization of columns: subtract the mean, and divide by the scale.

    It is the attribute `scaling_` of a model that ``modeclust fit --standardize`` wrote.

    Attributes
    ----------
    mean : ndarray of shape (n_features,) or None
        The means. None for sparse rows, which are not centered.
    scale : ndarray of shape (n_features,)
        The standard deviations; 1 for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from modeclust.estimators.scaling import Scaling
    >>> scaling = Scaling(mean=np.array([1.0, 10.0]), scale=np.array([2.0, 1.0]))
    >>> scaling.transform([[3.0, 10.0]])
    array([[1., 0.]])
    >>> scaling.inverse_transform(np.array([[1.0, 0.0]]))
    array([[ 3., 10.]])
    """

    mean: Doubles | None
    scale: Doubles

    def __post_init__(self) -> None:
        mean, scale = self.mean, self.scale
        is_right = is_array(scale, "f", None) and bool((np.isfinite(scale) & (scale > 0)).all())
        if is_right and mean is not None:
            is_right = is_array(mean, "f", len(scale)) and bool(np.isfinite(mean).all())
        if not is_right:
            raise ValueError("a scaling must have one finite mean and one scale > 0 per feature")

    def transform(self, X: Any) -> Any:
        """Scale rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows in the units of the data. A frame of pandas, polars or Dask, or a Dask array, is
            accepted too.

        Returns
        -------
        {array, sparse matrix, frame} of shape (n_samples, n_features)
            The rows to pass to the model. A frame stays a frame, and keeps its column names.
        """
        if hasattr(X, "map_partitions"):
            return X.map_partitions(self.transform)
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            scaled = zip(frame.columns, self.transform(frame.to_numpy()).T, strict=True)
            return nw.from_dict(dict(scaled), backend=frame.implementation).to_native()
        X = self._checked(X)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        scale: Any = self.scale.astype(dtype)
        if self.mean is None:
            return X.multiply(1 / scale).tocsr() if is_sparse(X) else X / scale
        rows = X.toarray() if is_sparse(X) else X
        return (rows - self.mean.astype(dtype)) / scale

    def inverse_transform(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return scaled rows in the units of the data.

        Parameters
        ----------
        X : ndarray of shape (..., n_features)
            Scaled rows, such as `cluster_centers_`.

        Returns
        -------
        ndarray of shape (..., n_features)
            The rows in the units of the data.
        """
        rows: npt.NDArray[Any] = self._checked(X)
        return rows * self.scale + (0.0 if self.mean is None else self.mean)

    def _checked(self, X: Any) -> Any:
        """Return the rows; raise an error if they are not numbers with one column per scale."""
        rows = X if hasattr(X, "dtype") else np.asarray(X)
        if rows.ndim < 2 or rows.shape[-1] != len(self.scale):
            raise ValueError(
                f"X must be rows of {len(self.scale)} features, as the model was fitted on, got "
                f"shape {rows.shape}."
            )
        if rows.dtype.kind not in "biuf":
            raise ValueError(f"X must hold numbers, got {rows.dtype}.")
        return rows

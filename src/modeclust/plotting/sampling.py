"""Which rows are drawn where there are too many."""

import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from modeclust.data.dask.chunks import as_array
from modeclust.data.reading import is_dask
from modeclust.plotting.fitted import check_rows_of_fit

MOST_POINTS = 5_000
FEWEST_OF_A_CLUSTER = 10
# Of rows that are not in memory, so many stand for all, or fewer where they are wide.
MOST_SAMPLED, MOST_SAMPLED_NUMBERS = 20_000, 2**24


class RowSample(NamedTuple):
    """Some rows of a Dask collection, and the model as if it had been fitted on them."""

    model: Any
    X: Any
    indices: npt.NDArray[np.intp]  # of the rows, increasing
    n_rows: int  # of which they are a sample
    names: Any  # of the features, where the model knows them

    @property
    def is_all(self) -> bool:
        """Return whether no row is left out."""
        return len(self.indices) == self.n_rows

    def at(self, values: Any) -> Any:
        """Return what belongs to the rows of the sample, of numbers or classes for all rows."""
        if values is None:
            return None
        if hasattr(values, "to_dask_array"):
            values = values.to_dask_array().compute_chunk_sizes()
        elif not is_dask(values):
            values = np.asarray(values)
        if values.shape[:1] != (self.n_rows,):
            raise ValueError(
                f"expected one value for each of the {self.n_rows} rows of X, got {values.shape}."
            )
        return np.asarray(values[self.indices])

    def told_of_all(self, told: dict[str, Any], labels: npt.NDArray[Any]) -> dict[str, Any]:
        """Return a summary of the sample, with its `labels`, as one of all rows.

        Rows have the numbers that they have among all, and counts are brought to the whole.
        """
        if self.is_all:
            return told
        place = self.indices.tolist()
        for own, step, tops in zip(
            labels, told["steps"], told.get("commonest", [[]] * len(labels)), strict=True
        ):
            step["changed"] = round(step["changed"] * self.n_rows / len(place))
            sizes = np.bincount(own, minlength=len(step["counts"])).tolist()
            for top, size, count in zip(tops, sizes, step["counts"], strict=bool(tops)):
                if top is not None:
                    top[1] = round(top[1] * count / size)
        told["exemplars"] = [[[place[r] for r in own] for own in k] for k in told["exemplars"]]
        told["exemplar_rows"] = [place[r] for r in told["exemplar_rows"]]
        for part in (told["map"], told["labels"]):
            part["rows"] = [place[r] for r in part["rows"]]
        told["n_rows"] = self.n_rows
        told["is_sample"] = True
        told["notes"].append(
            f"A sample of {len(place):,} of the {self.n_rows:,} rows is shown. Sizes, centroids "
            "and objectives are of all rows; nearest rows, mean distances, classes and changed "
            "labels are of the sample."
        )
        return told


def sample_rows(model: Any, X: Any) -> RowSample:
    """Return some rows of the Dask collection that a model was fitted on."""
    check_is_fitted(model)
    array = as_array(X, estimator=model, reset=False)
    check_rows_of_fit(model, array)
    n_rows, n_features = array.shape
    labels = np.asarray(model.labels_)
    size = min(MOST_SAMPLED, MOST_SAMPLED_NUMBERS // n_features)
    chosen = sample_by_cluster(labels, len(model.cluster_centers_), size)
    nearest = model.exemplar_indices_[model.exemplar_indices_ >= 0]
    indices = np.union1d(chosen, nearest)
    view = copy.copy(model)
    view.labels_ = labels[indices]
    names = vars(view).pop("feature_names_in_", None)  # the sample is an array, without names
    sample = array[indices].compute()
    check_rows_of_fit(view, sample, indices)
    return RowSample(view, sample, indices, n_rows, names)


def sample_by_cluster(
    labels: npt.NDArray[np.integer[Any]], n_clusters: int, size: int = MOST_POINTS
) -> npt.NDArray[np.intp]:
    """Return the rows to draw, in their order: all, or about `size` of them at random.

    Each cluster has its share, and no fewer than ten rows, so that small ones are seen.
    """
    if len(labels) <= size:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters)) * size / len(labels)
    shares = np.diff(np.round(ends).astype(int), prepend=0)
    chosen = []
    for k, share in enumerate(np.maximum(shares, FEWEST_OF_A_CLUSTER)):
        own = np.flatnonzero(labels == k)
        chosen.append(rng.choice(own, min(share, len(own)), replace=False))
    return np.sort(np.concatenate(chosen))

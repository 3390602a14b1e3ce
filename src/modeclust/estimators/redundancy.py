"""Find and merge the redundant clusters of a fitted model."""

from numbers import Real
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from modeclust.data.validation import check_rows
from modeclust.estimators.fit_path import PathEstimator
from modeclust.estimators.observers import Progress
from modeclust.estimators.problem import Record
from modeclust.estimators.same_rows import check_same_rows
from modeclust.solvers.redundancy import redundant_pairs, representatives

T = TypeVar("T", bound=PathEstimator)


class RedundancyMixin(PathEstimator):
    """Adds `redundant_clusters` and `merge_redundant` to an estimator with a path."""

    redundancy_: sparse.csr_array

    def redundant_clusters(self, threshold: float = 0.9) -> list[tuple[int, int]]:
        """Return pairs of clusters without a dip in the density between their modes.

        Two clusters are redundant if the lowest density of the rows of both, on the segment between
        their modes, is above `threshold` times the lower of the two peaks. A few such pairs mean
        that K is too large. Very many such pairs mean that the bandwidth is too large: the density
        of all rows then has few peaks.

        Parameters
        ----------
        threshold : float, default=0.9
            A number between 0 and 1. A higher threshold allows smaller dips.

        Returns
        -------
        list of tuple of int
            Pairs (i, j) with i < j, the most redundant first.
        """
        check_is_fitted(self)
        if not (isinstance(threshold, Real) and 0 <= threshold <= 1):
            raise ValueError(f"threshold must be a number between 0 and 1, got {threshold!r}.")
        if np.isinf(self.bandwidth_):
            raise ValueError(
                "redundant_clusters compares densities and needs a finite bandwidth; this "
                "model was fitted with bandwidth=np.inf."
            )
        return redundant_pairs(self.redundancy_, threshold)

    def merge_redundant(
        self,
        X: Any,
        *,
        threshold: float = 0.9,
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> Self:
        """Return a new model in which redundant clusters are merged.

        In each group of clusters that are redundant with one another, the mode of the largest
        cluster is kept. K-modes then runs again from these modes, at the bandwidth of this model.
        This is repeated until no two clusters are redundant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that the model was fitted on.
        threshold : float, default=0.9
            As in `redundant_clusters`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales of the rows.

        Returns
        -------
        KModes
            A fitted model with the remaining clusters; this model if no clusters are redundant.

        Notes
        -----
        `path_` of the new model starts from the modes that were kept, without K-means. Its `init`
        is an array of these modes. `fit` runs K-means from there first, so a clone that is fitted
        to the same rows may find other clusters.
        """
        model, pairs = self, self.redundant_clusters(threshold)
        check_same_rows(self, check_rows(X, estimator=self, reset=False, chunked=True))
        while pairs:
            kept = representatives(pairs, model.counts_)
            model = refit(model, X, kept, sample_weight, sample_scale)
            pairs = model.redundant_clusters(threshold)
        return model


def refit(model: T, X: Any, kept: npt.NDArray[np.intp], sample_weight: Any, sample_scale: Any) -> T:
    """Return a model with the clusters `kept`, fitted again at the bandwidth of `model`."""
    centers = model.cluster_centers_[kept].astype(np.float64)
    new: T = clone(model).set_params(**model._fitted_with)
    new.n_clusters, new.init, new.start_bandwidth = len(kept), centers, "auto"
    if new.bandwidth != "auto":
        new.bandwidth = model.bandwidth_
    checked = new._check_input(X, sample_weight, sample_scale)
    rng = check_random_state(model.random_state)
    with new._open_problem(checked, rng, len(kept)) as problem:
        new._set_bandwidth(problem, rng, None)
        record = Record.begin(problem, model.store_labels, 1 + new._n_levels())
        target = problem.bandwidth_to_internal(model.bandwidth_)
        start = problem.rescaling.to_internal(centers)
        for state in problem.follow_path(start, np.array([target])):
            record.add(state)
        new._follow_modes(Progress(problem, record, target))
        new._store(new._fitted_attributes(record) | {"cluster_suggestion_": None})
    record.warn()
    return new

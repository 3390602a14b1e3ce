"""Find and merge the redundant clusters of a fitted model."""

from collections.abc import Iterator
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
from modeclust.estimators.saving import SavingMixin, is_square
from modeclust.exceptions import WideBandwidthWarning, _warn_user
from modeclust.solvers.redundancy import (
    SIGNIFICANT,
    Redundant,
    dip_significance,
    every_nth,
    redundant_pairs,
    representatives,
)

T = TypeVar("T", bound=PathEstimator)


class RedundancyMixin(PathEstimator, SavingMixin):
    """Adds `redundant_clusters` and `merge_redundant` to an estimator with a path."""

    redundancy_: sparse.csr_array

    @property
    def dip_significance_(self) -> sparse.csr_array:
        """The depth of the dips between pairs of centers, in standard deviations."""
        check_is_fitted(self)
        averaged = self.path_.rows_averaged
        assert averaged is not None
        labelled = averaged[max(int(np.count_nonzero(self.path_.stage < 2)) - 1, 0)]
        step = every_nth(len(self.labels_), len(self.cluster_centers_))
        return dip_significance(self.redundancy_, labelled / step)

    def redundant_clusters(self, threshold: float = SIGNIFICANT) -> list[tuple[int, int]]:
        r"""Return pairs of clusters without a significant dip in the density between their centers.

        The dip between two clusters is compared with what chance would do. With the ratio of the
        lowest density of the rows of both, on the segment between their centers, to the lower of
        the two peaks (`redundancy_`), and the smaller number N of rows averaged at the peaks, it is

        .. math:: \sqrt{2 N} \, (1 - \sqrt{\text{ratio}})

        standard deviations deep (`dip_significance_`). Pairs below `threshold` are redundant: K may
        be too large. Where N is less than 4, nothing can be told, and no pair is redundant.

        Parameters
        ----------
        threshold : float, default=2.5
            Number of standard deviations. A higher threshold returns more pairs.

        Returns
        -------
        list of tuple of int
            Pairs (i, j) with i < j, the most redundant first. An empty list if the bandwidth is too
            wide to tell.

        Warns
        -----
        WideBandwidthWarning
            Most pairs have no dip, and join more than half of the clusters. Then the density has
            hardly any dips at this bandwidth, whatever K is.
        """
        found = self._redundant(threshold)
        if found.is_too_wide:
            _warn_user(
                f"bandwidth {self.bandwidth_:.6g} is too wide to tell which clusters are "
                "redundant: most pairs have no dip in the density between them. Pass a smaller "
                "bandwidth, such as 'knn/2'.",
                WideBandwidthWarning,
            )
        return found.pairs

    def _redundant(self, threshold: float = SIGNIFICANT) -> Redundant:
        check_is_fitted(self)
        if not (isinstance(threshold, Real) and threshold >= 0):
            raise ValueError(f"threshold must be a number >= 0, got {threshold!r}.")
        if np.isinf(self.bandwidth_):
            raise ValueError(
                "redundant_clusters compares densities and needs a finite bandwidth; the "
                "labels of this model are those of K-means, at an infinite bandwidth."
            )
        return redundant_pairs(self.dip_significance_, float(threshold))

    def merge_redundant(
        self,
        X: Any,
        *,
        threshold: float = SIGNIFICANT,
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> Self:
        """Return a new model in which redundant clusters are merged.

        In each group of clusters that are redundant with one another, the center of the largest
        cluster is kept. K-modes then runs again from these centers, at the bandwidth of this model.
        This is repeated until no two clusters are redundant, or the bandwidth is too wide to tell.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that the model was fitted on.
        threshold : float, default=2.5
            As in `redundant_clusters`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales of the rows.

        Returns
        -------
        KModes
            A fitted model with the remaining clusters; this model if no clusters are redundant, or
            if the bandwidth is too wide to tell.

        Warns
        -----
        WideBandwidthWarning
            The bandwidth of this model is too wide to tell, as in `redundant_clusters`.

        Notes
        -----
        `path_` of the new model starts from the centers that were kept, without K-means. Its `init`
        is an array of these centers. `fit` runs K-means from there first, so a clone that is fitted
        to the same rows may find other clusters.
        """
        model, pairs = self, self.redundant_clusters(threshold)
        check_same_rows(self, check_rows(X, estimator=self, reset=False, chunked=True))
        while pairs:
            kept = representatives(pairs, model.counts_)
            model = refit(model, X, kept, sample_weight, sample_scale)
            pairs = model._redundant(threshold).pairs
        return model

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        size = len(self.cluster_centers_)
        is_right = is_square(self.redundancy_, size) and self.redundancy_.format == "csr"
        is_right = is_right and bool(np.all(self.redundancy_.data >= 0))
        yield "redundancy_", is_right, f"sparse of shape {(size, size)}, without negative numbers"
        averaged = getattr(self.path_, "rows_averaged", None)
        yield "path_", averaged is not None, "a path with rows averaged"


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

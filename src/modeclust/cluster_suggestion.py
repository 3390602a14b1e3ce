"""How many clusters there are, with the evidence for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust.io.model_file import is_array

Doubles = npt.NDArray[np.float64]

# Below this intrinsic dimension, the peaks give the answer; otherwise the dips.
MANY_DIMENSIONS = 3.0
# The answer is not sure if there are peaks above this share of what counts.
ALMOST = 0.75


@dataclass(frozen=True, eq=False, repr=False)
class ClusterSuggestion:
    """The number of clusters, and what the tests have seen; see `suggest_clusters`.

    Attributes
    ----------
    n_clusters : int
        The suggested number of clusters K: `n_by_shape` if there is one, otherwise `n_by_peaks` if
        `dimension` is below 3, and `n_by_dips` if not.
    is_sure : bool
        Whether peaks and dips agree on fewer than `max_clusters` clusters, no further peak has
        more than three quarters of `peak_threshold`, no clusters touch, and there are at least 20
        different rows, or one.
    n_by_peaks : int
        The number of clusters by the peaks of the density.
    n_by_dips : int
        The number of clusters by the dips between clusters.
    labels : ndarray of shape (n_samples,) or None
        The cluster of each row by the test that gave the answer, the largest cluster first. None
        for a Dask collection, and in a fitted estimator, which has labels of its own.
    dimension : float
        The intrinsic dimension of the rows.
    peak_heights : ndarray of shape (n_peaks,)
        How high each peak but the highest rises above the density between it and a higher one, in
        standard errors; decreasing.
    peak_threshold : float
        The height from which on a peak is a cluster.
    dip_counts : ndarray of shape (n_merges,)
        The numbers of clusters that were tried for dips, decreasing to 2.
    dips : ndarray of shape (n_merges,)
        The smallest dip between two of this many clusters: sqrt(n) times Hartigan's dip of their n
        rows.
    dip_threshold : float
        The dip from which on two clusters are separate.
    merged_values, merged_weights : ndarray of shape (n_merged,)
        The rows of the last two clusters that were merged, ascending from one center to the other:
        ``|x - c_i|^2 - |x - c_j|^2``, with their weights. Empty if nothing was merged.
    kept_values, kept_weights : ndarray of shape (n_kept,)
        The same for the pair with the smallest dip that was kept. Empty if there is one cluster.
    max_clusters : int
        The largest number of clusters that was tried.
    n_rows : int
        The number of rows that the tests have seen, without copies.
    n_by_shape : int or None
        The number of clusters by their shape, where some touch. None if there are no more than
        those with gaps between them, or if the rows do not have such a shape.
    """

    n_clusters: int
    is_sure: bool
    n_by_peaks: int
    n_by_dips: int
    labels: npt.NDArray[np.int32] | None
    dimension: float
    peak_heights: Doubles
    peak_threshold: float
    dip_counts: npt.NDArray[np.int64]
    dips: Doubles
    dip_threshold: float
    merged_values: Doubles
    merged_weights: Doubles
    kept_values: Doubles
    kept_weights: Doubles
    max_clusters: int
    n_rows: int
    n_by_shape: int | None = None

    def __post_init__(self) -> None:
        numbers = (
            self.n_clusters,
            self.n_by_peaks,
            self.n_by_dips,
            self.max_clusters,
            self.n_rows,
        )
        lengths = [
            (self.peak_heights, self.peak_heights),
            (self.dip_counts, self.dips),
            (self.merged_values, self.merged_weights),
            (self.kept_values, self.kept_weights),
        ]
        sure: Any = self.is_sure
        levels = (self.dimension, self.peak_threshold, self.dip_threshold)
        is_right = (
            all(type(number) is int and number > 0 for number in numbers)
            and type(sure) is bool
            and (self.n_by_shape is None or type(self.n_by_shape) is int)
            and all(isinstance(level, float) for level in levels)
            and all(is_array(array, "if", len(pair[0])) for pair in lengths for array in pair)
            and (self.labels is None or is_array(self.labels, "iu", None))
        )
        if not is_right:
            raise ValueError("the parts of a cluster suggestion must be those that it documents")

    @property
    def answered_by(self) -> str:
        """The test that gave the answer: "peaks", "dips" or "shape"."""
        if self.n_by_shape is not None:
            return "shape"
        return "peaks" if self.dimension < MANY_DIMENSIONS else "dips"

    @property
    def has_other_peaks(self) -> bool:
        """Whether there are peaks that are almost high enough to count."""
        n_almost = np.count_nonzero(self.peak_heights >= ALMOST * self.peak_threshold)
        return bool(1 + n_almost > self.n_by_peaks)

    @property
    def answer(self) -> str:
        """The answer in words: "6 clusters", or "not sure: 9 by peaks, 12 by dips"."""
        if self.is_sure:
            return "1 cluster" if self.n_clusters == 1 else f"{self.n_clusters} clusters"
        answer = f"not sure: {self.n_by_peaks} by peaks, {self.n_by_dips} by dips"
        if self.n_by_shape is not None:
            return f"{answer}, {self.n_by_shape} by shape"
        if self.n_by_peaks != self.n_by_dips:
            return answer
        if self.n_clusters >= self.max_clusters:
            return f"{answer}, and max_clusters={self.max_clusters} allows no more"
        if self.has_other_peaks:
            return f"{answer}, but another peak is almost high enough"
        return f"{answer}, but too few different rows to tell"

    def __str__(self) -> str:
        if self.is_sure:
            return self.answer
        return f"{self.answer}. Look at .plot(); n_clusters={self.n_clusters}"

    def __repr__(self) -> str:
        return f"ClusterSuggestion({self})"

    def plot(self, ax: Any = None) -> Any:
        """Plot what the tests have seen.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is created.

        Returns
        -------
        modeclust.plotting.ClusterCountDisplay
            The display.
        """
        from modeclust.plotting.cluster_count_display import ClusterCountDisplay

        return ClusterCountDisplay.from_suggestion(self, ax=ax)

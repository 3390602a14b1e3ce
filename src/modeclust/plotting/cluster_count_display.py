"""Display of the evidence for a number of clusters."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.plotting.axes import divide, open_axes
from modeclust.plotting.palette import COLORS

# Peaks that are shown, besides those that count.
N_LOWER_PEAKS = 5
MAX_BINS = 40
KEPT, MERGED = COLORS[0], COLORS[8]


@dataclass(kw_only=True, eq=False, repr=False)
class ClusterCountDisplay:
    """What the two tests of `suggest_clusters` have seen.

    Below the answer, a line says why it is sure or not. The panels show:

    - The peaks of the density by height; those above the dashed line are clusters, and the highest
      peak, which is not shown, is one more.
    - The smallest gap (dip) between two of K clusters, from right to left as clusters are merged.
      The test ends where it first reaches the dashed line.
    - The rows of the last two clusters that were merged, along the line through their centers: if
      the test is right, they have one hump.
    - The rows of the two clusters with the smallest dip that were kept: if the test is right, they
      have two humps.

    It is recommended to use `from_suggestion`, or ``suggestion.plot()``, to create a
    `ClusterCountDisplay`.

    Parameters
    ----------
    suggestion : ClusterSuggestion
        The result of `suggest_clusters`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that contains the axes.
    ax_ : matplotlib Axes
        Axes that were divided into panels.
    title_ : matplotlib Text
        Title above the panels: the answer.
    axes_ : ndarray of shape (4,) of matplotlib Axes
        Panels with the peaks, the dips, the pair that was merged and the pair that was kept.
    peak_bars_ : matplotlib BarContainer
        Bars of the peaks.
    dip_line_ : matplotlib Line2D
        Line of the dips, down to the answer.
    merged_bars_, kept_bars_ : matplotlib BarContainer or None
        Bars of the histograms; None if no clusters were merged or kept.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_blobs
    >>> from modeclust import suggest_clusters
    >>> X, _ = make_blobs(500, n_features=5, centers=6, random_state=0)
    >>> display = suggest_clusters(X, random_state=0).plot()
    >>> display.title_.get_text()
    '6 clusters'
    >>> plt.close()
    """

    suggestion: ClusterSuggestion

    @classmethod
    def from_suggestion(cls, suggestion: ClusterSuggestion, *, ax: Any = None) -> Self:
        """Plot the evidence for a number of clusters.

        Parameters
        ----------
        suggestion : ClusterSuggestion
            The result of `suggest_clusters`.
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is created.

        Returns
        -------
        ClusterCountDisplay
            The display.
        """
        if not isinstance(suggestion, ClusterSuggestion):
            raise TypeError(
                f"suggestion must be a ClusterSuggestion, as returned by suggest_clusters, got "
                f"{suggestion!r}."
            )
        return cls(suggestion=suggestion).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Plot the panels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is created.

        Returns
        -------
        ClusterCountDisplay
            The display.
        """
        found = self.suggestion
        ax = open_axes("ClusterCountDisplay", ax, (8.5, 6.3))
        self.ax_, self.figure_ = ax, ax.figure
        answer = f"{found.answer[0].upper()}{found.answer[1:]}"
        self.title_, grid = divide(ax, 2, [1, 1], answer, _reason(found))
        self.axes_ = grid.subplots().ravel()
        peaks, dips, merged, kept = self.axes_
        self._draw_peaks(peaks)
        self._draw_dips(dips)
        self.merged_bars_ = _draw_values(merged, found.merged_values, found.merged_weights, MERGED)
        merged.set_title(
            "The last two that were merged: one hump?"
            if self.merged_bars_
            else "No clusters were merged"
        )
        self.kept_bars_ = _draw_values(kept, found.kept_values, found.kept_weights, KEPT)
        kept.set_title(
            f"The closest two of the {found.n_by_dips} left: two humps?"
            if self.kept_bars_
            else "No two clusters are left"
        )
        for panel in self.axes_:
            panel.title.set_fontsize("medium")
            panel.spines[["top", "right"]].set_visible(False)
        return self

    def _draw_peaks(self, panel: Any) -> None:
        found = self.suggestion
        heights = found.peak_heights[: found.n_by_peaks - 1 + N_LOWER_PEAKS]
        numbers = np.arange(2, len(heights) + 2)
        counts = numbers <= found.n_by_peaks
        self.peak_bars_ = panel.bar(numbers, heights, color=np.where(counts, KEPT, MERGED))
        _draw_threshold(panel, found.peak_threshold, "too high for chance")
        panel.set_title(f"Peaks of the density: {found.n_by_peaks}")
        panel.set(xlabel="peak, the highest is number 1", ylabel="height (standard errors)")
        panel.set_xlim(1.3, max(found.n_by_peaks + N_LOWER_PEAKS, 3) + 0.7)
        panel.xaxis.get_major_locator().set_params(integer=True)

    def _draw_dips(self, panel: Any) -> None:
        found = self.suggestion
        # The merges after the answer do not count.
        panel.plot(found.dip_counts, found.dips, ".-", color="0.8")
        before = found.dip_counts >= found.n_by_dips
        (self.dip_line_,) = panel.plot(
            found.dip_counts[before], found.dips[before], ".-", color="0.3"
        )
        stops = found.dip_counts == found.n_by_dips
        panel.plot(found.dip_counts[stops], found.dips[stops], "o", color=KEPT)
        _draw_threshold(panel, found.dip_threshold, "a gap")
        panel.set_title(f"Clusters with gaps between them: {found.n_by_dips}")
        panel.set(xlabel="number of clusters", ylabel="smallest gap (dip · √n)")
        panel.set_ylim(0, 1.08 * max(found.dips.max(initial=0.0), 2 * found.dip_threshold))
        panel.xaxis.get_major_locator().set_params(integer=True)


def _reason(found: ClusterSuggestion) -> str:
    """Return in a line why the answer is sure or not."""
    if found.is_sure:
        return "Both tests find this number: peaks of the density, and gaps between clusters."
    if found.n_by_shape is not None:
        return (
            f"Some clusters touch. Round ones of one width explain the rows best if there are "
            f"{found.n_by_shape}."
        )
    if found.n_by_peaks == found.n_by_dips:
        if found.n_clusters >= found.max_clusters:
            return f"There may be more: max_clusters={found.max_clusters} allows no more."
        if found.has_other_peaks:
            return (
                "Both tests find this number, but it is close: look at what is next to the lines."
            )
        return f"With {found.n_rows} different rows, the tests can find no more."
    few = "few" if found.answered_by == "peaks" else "many"
    return (
        f"The tests disagree. The {found.answered_by} are suggested, as the rows have {few} "
        f"dimensions (about {found.dimension:.0f})."
    )


def _draw_threshold(panel: Any, height: float, above: str) -> None:
    """Draw a limit, and say at its right end what is above it."""
    if np.isfinite(height):
        panel.axhline(height, color="k", ls="--", lw=1)
        panel.annotate(
            f"↑ {above}",
            (0.99, height),
            (0, 2),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            fontsize="small",
        )


def _draw_values(
    panel: Any,
    values: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    color: str,
) -> Any:
    """Draw a histogram of rows between two centers; return its bars."""
    panel.set_yticks([])
    if not len(values):
        panel.set_axis_off()
        return None
    # A few rows far outside would leave the others in one bar.
    low, high = np.quantile(values, [0.01, 0.99])
    margin = 0.1 * (high - low) or 1.0
    n_bins = int(np.clip(1.5 * np.sqrt(len(values)), 8, MAX_BINS))
    limits = low - margin, high + margin
    *_, bars = panel.hist(values, n_bins, range=limits, weights=weights, color=color)
    panel.axvline(0, color="k", lw=1, ls=":")
    panel.set_xticks([0], ["halfway"])
    panel.set(xlabel="nearer to one center  ←   →  nearer to the other", ylabel="rows")
    return bars

"""The path in numbers: objective, sizes and changed labels at every bandwidth."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.path import Path
from modeclust.plotting.canvas import divide, open_axes, spread_ticks
from modeclust.plotting.fitted import path_of
from modeclust.plotting.palette import color, line

MOST_LEGEND = 20
MOST_TICKS = 7


class ScheduleDisplay:
    """Objective, cluster sizes and changed labels along a path of bandwidths.

    Bandwidths fall from left to right on a log axis, as the path runs; K-means, whose bandwidth
    is infinite, stands at the left end.

    It is recommended to use `from_estimator` or `from_path` to create a `ScheduleDisplay`.

    Parameters
    ----------
    bandwidths : ndarray of shape (S,)
        The bandwidths, decreasing; the first may be infinite.
    objectives : ndarray of shape (S,)
        The objective at each of them.
    counts : ndarray of shape (S, K)
        The number of rows in each cluster.
    changed : ndarray of shape (S - 1,), default=None
        The share of rows whose label is not the same as one bandwidth before; None if labels
        were not kept.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes that was divided.
    title_ : matplotlib Text
        The title.
    axes_ : ndarray of shape (3,) of matplotlib Axes
        The panels: objective, sizes, changed labels.
    objective_line_ : matplotlib Line2D
        The objective.
    size_lines_ : list of matplotlib Line2D
        The sizes, one line for each cluster.
    changed_line_ : matplotlib Line2D or None
        The share of changed labels.

    See Also
    --------
    PathDisplay : The same path, among the rows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from modeclust import KModes
    >>> from modeclust.plotting import ScheduleDisplay
    >>> model = KModes(3, random_state=0).fit(load_iris().data)
    >>> display = ScheduleDisplay.from_estimator(model)
    >>> len(display.size_lines_)
    3
    >>> plt.close()
    """

    def __init__(
        self,
        *,
        bandwidths: npt.NDArray[np.float64],
        objectives: npt.NDArray[np.float64],
        counts: npt.NDArray[np.int64],
        changed: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.bandwidths = bandwidths
        self.objectives = objectives
        self.counts = counts
        self.changed = changed

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator : KModes or LaplacianKModes
            A fitted model.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into three. By default a new figure.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        return cls.from_path(path_of(estimator), ax=ax)

    @classmethod
    def from_path(cls, path: Path, *, ax: Any = None) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : Path
            What `kmodes_path` returns.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into three. By default a new figure.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        if not isinstance(path, Path):
            raise TypeError(f"path must be a Path, which kmodes_path returns, got {path!r}.")
        changed = None
        if path.labels is not None:
            changed = np.mean(path.labels[1:] != path.labels[:-1], axis=1)
        display = cls(
            bandwidths=path.bandwidths,
            objectives=path.objectives,
            counts=path.counts,
            changed=changed,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the three panels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into three. By default a new figure.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        ax = open_axes("ScheduleDisplay", ax, (7.5, 6.5))
        self.ax_, self.figure_ = ax, ax.figure
        title = "Objective, cluster sizes and labels as the bandwidth falls"
        self.title_, grid = divide(ax, 3, [1], title)
        self.axes_ = grid.subplots(sharex=True).ravel()
        objective, sizes, changed = self.axes_
        places = self._places()

        (self.objective_line_,) = objective.plot(places, self.objectives, "k.-")
        objective.set(ylabel="objective per\nunit of weight", ylim=(0, 1.05))

        self.size_lines_ = [
            sizes.plot(
                places, column, line(k), marker=".", color=color(k), label=str(k), clip_on=False
            )[0]
            for k, column in enumerate(self.counts.T)
        ]
        sizes.set(ylabel="rows in\neach cluster", ylim=(0, 1.05 * self.counts.max() or 1))
        if len(self.size_lines_) <= MOST_LEGEND:
            self._name_clusters(sizes)

        self.changed_line_ = None
        if self.changed is None:
            words = "labels were not stored along the path\n(fit with store_labels=True)"
            changed.text(0.5, 0.5, words, transform=changed.transAxes, ha="center", va="center")
            changed.set_yticks([])
        else:
            (self.changed_line_,) = changed.plot(places[1:], 100 * self.changed, "k.-")
            changed.set_ylim(0, 105 * max(self.changed, default=0) or 1)
        changed.set_ylabel("labels changed\nby the step (%)")

        self._mark_bandwidths(places)
        self.figure_.align_ylabels(self.axes_)
        return self

    def _name_clusters(self, sizes: Any) -> None:
        sizes.legend(
            title="cluster",
            loc="upper left",
            bbox_to_anchor=(1, 1.04),
            ncols=1 + (len(self.size_lines_) - 1) // 7,
            fontsize="small",
            frameon=False,
            handlelength=1.5,
            columnspacing=1.0,
        )

    def _places(self) -> npt.NDArray[np.float64]:
        """Return the bandwidths, with a finite place for the infinite one."""
        places = self.bandwidths.copy()
        finite = places[np.isfinite(places)]
        if len(finite) < len(places):
            gap = 1.5 if len(finite) < 2 else (finite[0] / finite[-1]) ** 0.1
            places[0] = gap * (finite[0] if len(finite) else 1.0)
        return places

    def _mark_bandwidths(self, places: npt.NDArray[np.float64]) -> None:
        last = self.axes_[-1]
        last.set_xscale("log")
        last.minorticks_off()
        shown = spread_ticks(-np.log(places), MOST_TICKS)
        names = ["K-means" if np.isinf(h) else f"{h:.3g}" for h in self.bandwidths[shown]]
        last.set_xticks(places[shown], names)
        last.set_xlabel("bandwidth")
        margin = max((places[0] / places[-1]) ** 0.03, 1.01)
        last.set_xlim(places[0] * margin, places[-1] / margin)
        for panel in self.axes_:
            panel.grid(axis="x", alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
            if np.isinf(self.bandwidths[0]) and len(places) > 1:
                # The axis is broken between K-means and the first finite bandwidth.
                panel.axvline(np.sqrt(places[0]) * np.sqrt(places[1]), color="0.6", ls=":", lw=1)

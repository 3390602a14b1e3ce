"""Display of the objective, the cluster sizes and the changed labels along the path."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.path import Path
from modeclust.plotting.axes import divide, open_axes, spread_ticks
from modeclust.plotting.clustering import path_of
from modeclust.plotting.palette import color, line

MAX_LEGEND = 20  # clusters named in a legend
MAX_TICK_GAPS = 7


@dataclass(kw_only=True, eq=False, repr=False)
class ScheduleDisplay:
    """Objective, cluster sizes and changed labels along a path of bandwidths.

    The bandwidth decreases from left to right on a log axis. K-means, which has an infinite
    bandwidth, is at the left end.

    It is recommended to use `from_estimator` or `from_path` to create a `ScheduleDisplay`.

    Parameters
    ----------
    bandwidths : ndarray of shape (S,)
        Decreasing bandwidths; the first may be infinite.
    objectives : ndarray of shape (S,)
        Objective at each bandwidth.
    counts : ndarray of shape (S, K)
        Number of rows in each cluster at each bandwidth.
    changed : ndarray of shape (S - 1,), default=None
        Fraction of rows whose label differs from the label at the previous bandwidth. None if
        the labels were not stored.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that contains the axes.
    ax_ : matplotlib Axes
        Axes that were divided into panels.
    title_ : matplotlib Text
        Title above the panels.
    axes_ : ndarray of shape (3,) of matplotlib Axes
        Panels with the objective, the cluster sizes and the changed labels.
    objective_line_ : matplotlib Line2D
        Line of the objective.
    size_lines_ : list of matplotlib Line2D
        Line of the size of each cluster.
    changed_line_ : matplotlib Line2D or None
        Line of the changed labels.

    See Also
    --------
    PathDisplay : Plot the path among the rows.

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

    bandwidths: npt.NDArray[np.float64]
    objectives: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    changed: npt.NDArray[np.float64] | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the path of a fitted model.

        Parameters
        ----------
        estimator : KModes or LaplacianKModes
            Fitted model.
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into three panels. By default, a new figure is
            created.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        return cls.from_path(path_of(estimator), ax=ax)

    @classmethod
    def from_path(cls, path: Path, *, ax: Any = None) -> Self:
        """Plot a path.

        Parameters
        ----------
        path : Path
            Path returned by `kmodes_path`.
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into three panels. By default, a new figure is
            created.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        if not isinstance(path, Path):
            raise TypeError(f"path must be a Path, as returned by kmodes_path, got {path!r}.")
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
        """Plot the three panels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into three panels. By default, a new figure is
            created.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        ax = open_axes("ScheduleDisplay", ax, (7.5, 6.5))
        self.ax_, self.figure_ = ax, ax.figure
        title = "Objective, cluster sizes and changed labels along the path"
        self.title_, grid = divide(ax, 3, [1], title)
        self.axes_ = grid.subplots(sharex=True).ravel()
        objective, sizes, changed = self.axes_
        x = self._x()

        (self.objective_line_,) = objective.plot(x, self.objectives, "k.-")
        objective.set(ylabel="objective per\nunit of weight", ylim=(0, 1.05))

        self.size_lines_: list[Any] = []
        for k, column in enumerate(self.counts.T):
            style = {"marker": ".", "color": color(k), "label": str(k), "clip_on": False}
            self.size_lines_ += sizes.plot(x, column, line(k), **style)
        sizes.set(ylabel="rows per\ncluster", ylim=(0, 1.05 * self.counts.max() or 1))
        if len(self.size_lines_) <= MAX_LEGEND:
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

        self.changed_line_ = None
        if self.changed is None:
            text = "labels were not stored along the path\n(fit with store_labels=True)"
            changed.text(0.5, 0.5, text, transform=changed.transAxes, ha="center", va="center")
            changed.set_yticks([])
        else:
            (self.changed_line_,) = changed.plot(x[1:], 100 * self.changed, "k.-")
            changed.set_ylim(0, 105 * max(self.changed, default=0) or 1)
        changed.set_ylabel("changed\nlabels (%)")

        self._draw_ticks(x)
        self.figure_.align_ylabels(self.axes_)
        return self

    def _x(self) -> npt.NDArray[np.float64]:
        """Return the bandwidths, with a finite position for an infinite bandwidth."""
        x = self.bandwidths.copy()
        finite = x[np.isfinite(x)]
        if len(finite) < len(x):
            gap = 1.5 if len(finite) < 2 else (finite[0] / finite[-1]) ** 0.1
            x[0] = gap * (finite[0] if len(finite) else 1.0)
        return x

    def _draw_ticks(self, x: npt.NDArray[np.float64]) -> None:
        last = self.axes_[-1]
        last.set_xscale("log")
        last.minorticks_off()
        labelled = spread_ticks(-np.log(x), MAX_TICK_GAPS)
        names = ["K-means" if np.isinf(h) else f"{h:.3g}" for h in self.bandwidths[labelled]]
        last.set_xticks(x[labelled], names)
        last.set_xlabel("bandwidth")
        margin = max((x[0] / x[-1]) ** 0.03, 1.01)
        last.set_xlim(x[0] * margin, x[-1] / margin)
        for panel in self.axes_:
            panel.grid(axis="x", alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
            if np.isinf(self.bandwidths[0]) and len(x) > 1:
                # A dotted line separates K-means from the finite bandwidths, where the axis is cut.
                panel.axvline(np.sqrt(x[0]) * np.sqrt(x[1]), color="0.6", ls=":", lw=1)

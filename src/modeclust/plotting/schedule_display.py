"""Display of objective, cluster sizes, rows averaged and changed labels along the path."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.path import Path
from modeclust.plotting.axes import divide, open_axes, spread_ticks
from modeclust.plotting.clustering import (
    comparable_objectives,
    count_rows,
    has_own_bandwidths,
    labelled_step,
    path_of,
)
from modeclust.plotting.palette import color, line

MAX_LEGEND = 20  # clusters named in a legend
MAX_TICK_GAPS = 7


@dataclass(kw_only=True, eq=False, repr=False)
class ScheduleDisplay:
    """Objective, cluster sizes, rows averaged and changed labels along a path of bandwidths.

    The bandwidth decreases from left to right on a log axis. The initial clusters, by K-means or
    linkage, have an infinite bandwidth and are at the left end. If each cluster gets a bandwidth
    of its own, as with ``bandwidth="auto"``, the steps are evenly spaced. Those with such
    bandwidths are named by how many rows a mode averages (the median over clusters). Dotted lines
    separate the stages.

    It is recommended to use `from_estimator` or `from_path` to create a `ScheduleDisplay`.

    Parameters
    ----------
    bandwidths : ndarray of shape (S,)
        Decreasing bandwidths; the first may be infinite.
    objectives : ndarray of shape (S,)
        Objective at each bandwidth; NaN is not drawn.
    counts : ndarray of shape (S, K)
        Number of rows in each cluster at each bandwidth.
    changed : ndarray of shape (S - 1,), default=None
        Fraction of rows whose label differs from the label at the previous bandwidth. None if
        the labels were not stored.
    rows_averaged : ndarray of shape (S, K), default=None
        How many rows each mode averages. None if it is not known.
    stages : ndarray of shape (S,), default=None
        Stage of each bandwidth, as in `Path`. By default, 0 where it is infinite, and otherwise 1.
    step_names : sequence of str, default=None
        Names of S evenly spaced steps. By default, the axis is that of the bandwidths.
    start : {"K-means", "linkage"}, default="K-means"
        How the initial clusters were found.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that contains the axes.
    ax_ : matplotlib Axes
        Axes that were divided into panels.
    title_ : matplotlib Text
        Title above the panels.
    axes_ : ndarray of shape (n_panels,) of matplotlib Axes
        Panels with the objective, the cluster sizes, the rows averaged if they are known, and the
        changed labels.
    objective_line_ : matplotlib Line2D
        Line of the objective.
    size_lines_ : list of matplotlib Line2D
        Line of the size of each cluster.
    averaged_lines_ : list of matplotlib Line2D
        Line of the rows averaged of each cluster.
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
    rows_averaged: npt.NDArray[np.float64] | None = None
    stages: npt.NDArray[np.int64] | None = None
    step_names: Sequence[str] | None = None
    start: str = "K-means"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the path of a fitted model.

        The objective of `LaplacianKModes` is drawn where it includes the graph, which is where the
        labels are found.

        Parameters
        ----------
        estimator : KModes or LaplacianKModes
            Fitted model.
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is
            created.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        path = path_of(estimator)
        return cls._of(path, comparable_objectives(estimator, path)).plot(ax)

    @classmethod
    def from_path(cls, path: Path, *, ax: Any = None) -> Self:
        """Plot a path.

        Parameters
        ----------
        path : Path
            Path returned by `kmodes_path`.
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is
            created.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        if not isinstance(path, Path):
            raise TypeError(f"path must be a Path, as returned by kmodes_path, got {path!r}.")
        return cls._of(path, path.objectives).plot(ax)

    @classmethod
    def _of(cls, path: Path, objectives: npt.NDArray[np.float64]) -> Self:
        changed = None
        if path.labels is not None:
            changed = np.mean(path.labels[1:] != path.labels[:-1], axis=1)
        return cls(
            bandwidths=path.bandwidths,
            objectives=objectives,
            counts=path.counts,
            changed=changed,
            rows_averaged=path.rows_averaged,
            stages=path.stage,
            step_names=_step_names(path),
            start=path.start,
        )

    def plot(self, ax: Any = None) -> Self:
        """Plot the panels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is
            created.

        Returns
        -------
        ScheduleDisplay
            The display.
        """
        has_averaged = self.rows_averaged is not None
        ax = open_axes("ScheduleDisplay", ax, (7.5, 8.0 if has_averaged else 6.5))
        self.ax_, self.figure_ = ax, ax.figure
        names = "cluster sizes, rows averaged" if has_averaged else "cluster sizes"
        title = f"Objective, {names} and changed labels along the path"
        self.title_, grid = divide(ax, 3 + has_averaged, [1], title)
        self.axes_ = grid.subplots(sharex=True).ravel()
        objective, sizes, *averaged, changed = self.axes_
        x = self._x()

        (self.objective_line_,) = objective.plot(x, self.objectives, "k.-")
        objective.set_ylabel("objective per\nunit of weight")
        known = self.objectives[np.isfinite(self.objectives)]
        if np.all((known >= 0) & (known <= 1)):
            objective.set_ylim(0, 1.05)

        self.size_lines_ = _draw_clusters(sizes, x, self.counts)
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

        self.averaged_lines_: list[Any] = []
        for panel in averaged:
            self._draw_averaged(panel, x)

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

    def _draw_averaged(self, panel: Any, x: npt.NDArray[np.float64]) -> None:
        """Draw the rows averaged on a log axis; clusters without rows are not on it."""
        from matplotlib.ticker import LogLocator, StrMethodFormatter

        averaged = self.rows_averaged
        assert averaged is not None
        shown = averaged[averaged > 0]
        self.averaged_lines_ = _draw_clusters(panel, x, np.where(averaged > 0, averaged, np.nan))
        panel.set(ylabel="rows\naveraged", yscale="log")
        panel.set_ylim(shown.min() / 1.5, 1.1 * shown.max())
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        panel.minorticks_off()

    def _x(self) -> npt.NDArray[np.float64]:
        """Return the positions of the steps; the initial clusters have a finite one too."""
        if self.step_names is not None:
            return np.arange(len(self.bandwidths), dtype=np.float64)
        x = self.bandwidths.copy()
        finite = x[np.isfinite(x)]
        if len(finite) < len(x):
            gap = 1.5 if len(finite) < 2 else (finite[0] / finite[-1]) ** 0.1
            x[0] = gap * (finite[0] if len(finite) else 1.0)
        return x

    def _ticks_of_steps(self) -> list[int]:
        """Return the steps that get a tick label, among them the last one before labels freeze."""
        n_steps, ticks = len(self.bandwidths), [0]
        ends = {n_steps - 1} if self.stages is None else {labelled_step(self.stages), n_steps - 1}
        for end in sorted(ends - {0}):
            steps = np.arange(ticks[-1], end + 1)
            n_gaps = max(1, MAX_TICK_GAPS * len(steps) // n_steps)
            ticks += [int(steps[i]) for i in spread_ticks(steps, n_gaps)[1:]]
        return ticks

    def _draw_ticks(self, x: npt.NDArray[np.float64]) -> None:
        last, names = self.axes_[-1], self.step_names
        if names is None:
            last.set_xscale("log")
            last.minorticks_off()
            labelled = spread_ticks(-np.log(x), MAX_TICK_GAPS)
            names = [_bandwidth_name(bandwidth, self.start) for bandwidth in self.bandwidths]
            last.set_xlabel("bandwidth")
            margin = max((x[0] / x[-1]) ** 0.03, 1.01)
            last.set_xlim(x[0] * margin, x[-1] / margin)
            middles = np.sqrt(x[1:]) * np.sqrt(x[:-1])
        else:
            labelled = self._ticks_of_steps()
            last.set_xlabel("bandwidth, then rows averaged (median over clusters)")
            last.set_xlim(-0.03 * len(x), len(x) - 1 + 0.03 * len(x))
            middles = x[1:] - 0.5
        last.set_xticks(x[labelled], [names[i] for i in labelled])
        stages = np.isfinite(self.bandwidths) if self.stages is None else self.stages
        for panel in self.axes_:
            panel.grid(axis="x", alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
            # Dotted lines separate the stages. After the first one, the axis is cut there.
            for middle in middles[np.flatnonzero(stages[1:] != stages[:-1])]:
                panel.axvline(middle, color="0.6", ls=":", lw=1)


def _draw_clusters(panel: Any, x: npt.NDArray[np.float64], values: Any) -> list[Any]:
    """Draw a line for each cluster, from values of shape (S, K)."""
    return [
        panel.plot(x, column, line(k), marker=".", color=color(k), label=str(k), clip_on=False)[0]
        for k, column in enumerate(values.T)
    ]


def _bandwidth_name(bandwidth: float, start: str) -> str:
    return start if np.isinf(bandwidth) else f"{bandwidth:.3g}"


def _step_names(path: Path) -> list[str] | None:
    """Return the names of the steps, if each cluster gets a bandwidth of its own; else None."""
    is_own = has_own_bandwidths(path)
    if path.rows_averaged is None or not is_own.any():
        return None
    return [
        count_rows(float(np.median(rows[rows > 0])))
        if own
        else _bandwidth_name(bandwidth, path.start)
        for own, rows, bandwidth in zip(is_own, path.rows_averaged, path.bandwidths, strict=True)
    ]

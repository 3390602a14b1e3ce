"""Display of the clusters among the rows: means, modes, paths and densities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Doubles
from modeclust.data.validation import check_scales, check_weights
from modeclust.plotting.axes import label_text, open_axes
from modeclust.plotting.clustering import (
    Clustering,
    adaptive_scales,
    density_bandwidths,
    fit_parameter,
    is_soft,
    known_steps,
    labelled_step,
    labels_at,
    path_of,
    row_range,
    start_center,
)
from modeclust.plotting.density import ClusterDensity, histogram_edges, histogram_limits
from modeclust.plotting.exemplars import (
    MAX_POINTS,
    nearest_in_cluster,
    sample_by_cluster,
    without_zero_weights,
)
from modeclust.plotting.palette import color, darker, halo, symbol
from modeclust.plotting.projection import Projection

# Diameters of the marks in points. They differ, so that all are visible at the same position.
MODE_SIZE, CENTER_SIZE, MEAN_SIZE, EXEMPLAR_SIZE = 6.5, 8, 13.5, 17
MAX_NUMBERED = 20  # clusters whose modes are numbered
MAX_ASPECT = 3  # a plane with a larger aspect ratio is not drawn to scale


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """Clusters at one bandwidth, with the path from the mean of each initial cluster to its mode.

    Rows with two features are drawn in the plane: the K-means centers, or the means of the linkage,
    as stars, the row of the cluster nearest to each of them as a ring, the modes as numbered dots,
    the path of each mode as the bandwidth decreases, and contours of the density of each cluster.
    Rows with more features are projected onto two principal components, without contours.

    Rows with one feature are drawn as a histogram, with black lines at the boundaries between
    clusters. The density of each cluster has the same area as its bars, so its height is the
    expected number of rows in a bin.

    If labels are frozen while the modes move on, as with ``bandwidth="auto"``, the centers before
    that are drawn as white diamonds. Boundaries are halfway between them, and each density has the
    bandwidth of its cluster. The clusters of `LaplacianKModes` have no such boundaries.

    It is recommended to use `from_estimator` to create a `PathDisplay`.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_axes)
        Coordinates of the rows, on a line or in a plane.
    labels : ndarray of shape (n_points,)
        Cluster of each row.
    bandwidths : ndarray of shape (S,)
        Bandwidths of the path, up to the one that is drawn.
    paths : ndarray of shape (S, K, n_axes)
        Coordinates of the modes at each bandwidth.
    axis_labels : sequence of str
        Labels of the axes, one or two.
    exemplars : ndarray of shape (K, n_axes), default=None
        Coordinates of the row nearest to the mean of each initial cluster; NaN if it is empty.
    grid : sequence of ndarray, default=None
        Coordinates along each axis at which the densities were evaluated.
    densities : ndarray of shape (K, n_x) or (K, n_y, n_x), default=None
        Density of each cluster. On a line, its area is the weight of the cluster.
    weights : ndarray of shape (n_points,), default=None
        Weights of the rows, for a histogram.
    n_rows : int, default=None
        Number of rows in the data, if `points` is a sample of them.
    stages : ndarray of shape (S,), default=None
        Stage of each bandwidth, as in `Path`. By default, 0 where it is infinite, and otherwise 1.
    rows_averaged : ndarray of shape (K,), default=None
        How many rows each mode averages, if each cluster has a bandwidth of its own.
    start : {"K-means", "linkage"}, default="K-means"
        How the initial clusters were found.
    is_soft : bool, default=False
        Whether rows have shares in clusters, as in `LaplacianKModes`. Then labels do not follow
        from the centers.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that contains the axes.
    ax_ : matplotlib Axes
        Axes with the plot.
    points_ : list of matplotlib artists
        Rows of each cluster: a PathCollection, or a BarContainer for a histogram.
    means_ : matplotlib PathCollection or None
        Means of the initial clusters, if the path starts with them.
    exemplars_ : matplotlib PathCollection or None
        Rows nearest to these means; in the plane only.
    centers_ : matplotlib PathCollection or None
        Centers at the bandwidth of the labels, if they are neither these means nor the modes.
    modes_ : matplotlib PathCollection or None
        Modes; None for the initial clusters.
    paths_ : list of matplotlib Line2D
        Path of each mode; in the plane only.
    densities_ : list of matplotlib artists
        Density of each cluster that is not empty: a QuadContourSet, or a Line2D on a line.
    boundaries_ : list of matplotlib Line2D
        Boundaries between clusters; on a line only, and not for soft clusters.

    See Also
    --------
    ModesDisplay : Plot the modes and their nearest rows.
    ScheduleDisplay : Plot the objective and the cluster sizes along the path.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_moons
    >>> from modeclust import KModes
    >>> from modeclust.plotting import PathDisplay
    >>> X, _ = make_moons(400, noise=0.05, random_state=0)
    >>> model = KModes(2, bandwidth=0.1, random_state=0).fit(X)
    >>> display = PathDisplay.from_estimator(model, X)
    >>> display.ax_.get_title()
    'K-modes at bandwidth 0.1'
    >>> plt.close()
    """

    points: Doubles
    labels: npt.NDArray[np.integer[Any]]
    bandwidths: Doubles
    paths: Doubles
    axis_labels: Sequence[str]
    exemplars: Any = None
    grid: Any = None
    densities: Any = None
    weights: Doubles | None = None
    n_rows: int | None = None
    stages: npt.NDArray[np.integer[Any]] | None = None
    rows_averaged: Doubles | None = None
    start: str = "K-means"
    is_soft: bool = False

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        bandwidth: float | None = None,
        feature_names: Sequence[str] | None = None,
        sample_weight: Any = None,
        sample_scale: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the clusters of a fitted model.

        Parameters
        ----------
        estimator : KModes or LaplacianKModes
            Fitted model.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data that the model was fitted on.
        bandwidth : float, default=None
            Bandwidth to plot; the nearest one on the path is used, and the first of equal ones.
            ``np.inf`` plots the initial clusters, ``estimator.bandwidth_`` those of the labels,
            and None the end of the path.
        feature_names : sequence of str, default=None
            Names of the features. By default, the names seen during fit.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that the model was fitted with.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales that the model was fitted with. They are computed for an adaptive model.
        ax : matplotlib Axes, default=None
            Axes to plot on. By default, a new figure is created.
        **kwargs : dict
            Keyword arguments passed to `plot`.

        Returns
        -------
        PathDisplay
            The display.
        """
        path = path_of(estimator)
        clustering = Clustering.of(estimator, X, bandwidth, feature_names)
        X, labels = clustering.X, clustering.labels
        weight = check_weights(sample_weight, X)
        scale = check_scales(sample_scale, X, adaptive=fit_parameter(estimator, "adaptive"))
        projection = Projection.of(X, clustering.feature_names)
        points = projection.transform(X)
        paths = np.stack([projection.transform(c) for c in path.centers[: clustering.step + 1]])

        exemplars = None
        if path.stage[0] == 0 and 0 in known_steps(estimator, path):
            candidates = without_zero_weights(labels_at(estimator, X, path, 0), weight)
            (nearest,) = nearest_in_cluster(X, candidates, path.centers[0], 1).T
            exemplars = np.where(nearest[:, None] >= 0, points[nearest], np.nan)

        grid = densities = None
        bandwidths = density_bandwidths(path, clustering.step)
        if projection.components is None and bandwidths is not None:
            if scale is None:
                scale = adaptive_scales(estimator, X, weight)
            density = ClusterDensity.of(points, fit_parameter(estimator, "kernel"), weight, scale)
            evaluate = density.on_line if projection.n_axes == 1 else density.on_plane
            grid, densities = evaluate(labels, paths[[0, -1]], bandwidths)

        drawn: Any = slice(None)
        if projection.n_axes == 2 and len(points) > MAX_POINTS:
            drawn = sample_by_cluster(labels, len(paths[-1]), MAX_POINTS)
        display = cls(
            points=points[drawn],
            labels=labels[drawn],
            bandwidths=path.bandwidths[: clustering.step + 1],
            paths=paths,
            axis_labels=projection.axis_labels,
            exemplars=exemplars,
            grid=grid,
            densities=densities,
            weights=None if weight is None else weight[drawn],
            n_rows=len(points),
            stages=path.stage[: clustering.step + 1],
            rows_averaged=clustering.rows_averaged,
            start=path.start,
            is_soft=is_soft(estimator),
        )
        return display.plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        levels: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
        bins: Any = "auto",
        legend: bool = True,
    ) -> Self:
        """Plot the clusters.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. By default, a new figure is created.
        levels : sequence of float, default=(0.1, 0.3, 0.5, 0.7, 0.9)
            Levels of the contours, as fractions of the maximum density of the cluster.
        bins : int, sequence or str, default="auto"
            Bins of a histogram, as for `numpy.histogram_bin_edges`. "auto" makes 30 to 120 bins
            of equal width.
        legend : bool, default=True
            Whether to draw a legend below the axes.

        Returns
        -------
        PathDisplay
            The display.
        """
        on_line = len(self.axis_labels) == 1
        _check_levels(levels)
        edges = self._bin_edges(bins) if on_line else None
        ax = open_axes("PathDisplay", ax, (8, 4.5) if on_line else self._figsize())
        self.ax_, self.figure_ = ax, ax.figure
        self.means_: Any = None
        self.exemplars_: Any = None
        self.centers_: Any = None
        self.modes_: Any = None
        self.points_: list[Any] = []
        self.paths_: list[Any] = []
        self.densities_: list[Any] = []
        self.boundaries_: list[Any] = []
        if on_line:
            self._draw_line(edges)
        else:
            self._draw_plane(levels)
        ax.set_title(self._title())
        ax.set_xlabel(label_text(self.axis_labels[0], 60))
        if legend:
            self._draw_legend(levels)
        return self

    def _draw_plane(self, levels: Sequence[float]) -> None:
        ax, n_clusters = self.ax_, self.paths.shape[1]
        size = np.clip(8_000 / len(self.points), 7, 22)
        for k in range(n_clusters):
            own = self.points[self.labels == k]
            style = {"marker": symbol(k), "color": color(k), "alpha": 0.55, "linewidths": 0}
            self.points_.append(ax.scatter(*own.T, s=size, **style))
        if self.densities is not None:
            self._draw_contours(levels)
        if len(self.paths) > 1:
            style = {"lw": 1.5, "path_effects": halo(3.5), "zorder": 4}
            for k in range(n_clusters):
                self.paths_ += ax.plot(*self.paths[:, k].T, "k-", **style)
        stages = self._stages()
        if stages[0] == 0:
            self._draw_means(self.paths[0])
        if stages[0] == 0 and self.exemplars is not None:
            style = {"fc": "none", "ec": "black", "lw": 1.4, "path_effects": halo(3), "zorder": 5}
            self.exemplars_ = ax.scatter(*self.exemplars.T, s=EXEMPLAR_SIZE**2, **style)
        labelled = labelled_step(stages)
        if 0 < stages[labelled] < stages[-1]:
            self._draw_centers(self.paths[labelled])
        if stages[-1] > 0:
            self._draw_modes(self.paths[-1])
        # The axes may be low, so the share of variance gets a line of its own.
        ax.set_ylabel(label_text(self.axis_labels[1], 60).replace(" (", "\n("))
        if self._aspect() is not None:
            ax.set_aspect("equal", anchor="N")  # the legend is below
        if self.n_rows is not None and len(self.points) < self.n_rows:
            note = f"{len(self.points):,} of {self.n_rows:,} rows are shown"
            self._draw_note(note, 0.01, "bottom")

    def _draw_contours(self, levels: Sequence[float]) -> None:
        ax = self.ax_
        for k, density in enumerate(self.densities):
            values = density.max() * np.unique(levels)
            values = values[(values > density.min()) & (values < density.max())]
            if len(values):
                style = {"colors": [darker(color(k))], "linewidths": 0.9, "zorder": 3}
                self.densities_.append(ax.contour(*self.grid, density, values, **style))
        ax.set(xlim=self.grid[0][[0, -1]], ylim=self.grid[1][[0, -1]])

    def _bin_edges(self, bins: Any) -> Doubles:
        values = self.points[:, 0]
        low, high = histogram_limits(values, self.paths[[0, -1]])
        if isinstance(bins, str) and bins == "auto":
            return histogram_edges(values, low, high)
        return np.histogram_bin_edges(values[(low <= values) & (values <= high)], bins)

    def _draw_line(self, edges: Any) -> None:
        ax, n_clusters = self.ax_, self.paths.shape[1]
        values = self.points[:, 0]
        low, high = histogram_limits(values, self.paths[[0, -1]])
        is_inside = (low <= values) & (values <= high)
        bottom = np.zeros(len(edges) - 1)
        for k in range(n_clusters):
            own = is_inside & (self.labels == k)
            weights = None if self.weights is None else self.weights[own]
            heights = np.histogram(values[own], edges, weights=weights)[0]
            style = {"color": color(k), "alpha": 0.45, "align": "edge", "linewidth": 0}
            self.points_.append(ax.bar(edges[:-1], heights, np.diff(edges), bottom, **style))
            bottom = bottom + heights
        means, modes = self.paths[0, :, 0], self.paths[-1, :, 0]
        mode_heights = np.zeros(n_clusters)
        if self.densities is not None:
            (x,) = self.grid
            for k, density in enumerate(self.densities * np.diff(edges).mean()):
                mode_heights[k] = np.interp(modes[k], x, density)
                self.densities_ += ax.plot(x, density, color=darker(color(k)), lw=1.4)
        stages = self._stages()
        labelled = labelled_step(stages)
        centers = self.paths[labelled, :, 0]
        ordered = np.unique([] if self.is_soft else centers)
        for x in (ordered[1:] + ordered[:-1]) / 2:
            self.boundaries_.append(ax.axvline(x, color="black", lw=1.2))
        if stages[0] == 0:
            self._draw_means(np.column_stack([means, np.zeros(n_clusters)]))
        if 0 < stages[labelled] < stages[-1]:
            self._draw_centers(np.column_stack([centers, np.zeros(n_clusters)]))
        if stages[-1] > 0:
            self._draw_modes(np.column_stack([modes, mode_heights]))
        ax.set_ylabel("rows per bin" if self.weights is None else "weight of the rows per bin")
        top = max(bottom.max(), *(curve.get_ydata().max() for curve in self.densities_), 0)
        ax.set(xlim=(low, high), ylim=(0, 1.1 * top or 1))
        if n_outside := len(values) - is_inside.sum():
            note = f"{n_outside:,} of {len(values):,} rows are outside the axis limits"
            self._draw_note(note, 0.98, "top")

    def _draw_means(self, points: Doubles) -> None:
        colors = [color(k) for k in range(len(points))]
        style = {"marker": "*", "edgecolors": "black", "clip_on": False, "zorder": 6}
        self.means_ = self.ax_.scatter(*points.T, s=MEAN_SIZE**2, c=colors, **style)

    def _draw_centers(self, points: Doubles) -> None:
        style = {"marker": "D", "c": "white", "edgecolors": "black", "clip_on": False, "zorder": 6}
        self.centers_ = self.ax_.scatter(*points.T, s=CENTER_SIZE**2, **style)

    def _draw_modes(self, points: Doubles) -> None:
        colors = [color(k) for k in range(len(points))]
        style = {"edgecolors": "black", "linewidths": 1.4, "zorder": 7}
        self.modes_ = self.ax_.scatter(*points.T, s=MODE_SIZE**2, c=colors, **style)
        if len(points) <= MAX_NUMBERED:
            style = {"textcoords": "offset points", "path_effects": halo(3), "zorder": 8}
            for k, point in enumerate(points):
                self.ax_.annotate(str(k), point, (8, 6), weight="bold", **style)

    def _draw_legend(self, levels: Sequence[float]) -> None:
        from matplotlib.lines import Line2D

        mark = {"ls": "", "mfc": "0.75", "mec": "black"}
        density = f"density, {100 * min(levels):g} to {100 * max(levels):g}% of its maximum"
        if len(self.axis_labels) == 1:
            density = f"density, in {'rows' if self.weights is None else 'weight'} per bin"
        center = "center" if self.is_soft else "center of the labels"
        entries: list[tuple[Any, str, dict[str, Any]]] = [
            (self.means_, start_center(self.start), {"marker": "*", "ms": 11, **mark}),
            (self.exemplars_, "its nearest row", {"marker": "o", "ms": 10, **mark, "mfc": "none"}),
            (self.centers_, center, {"marker": "D", "ms": 7, **mark, "mfc": "w"}),
            (self.modes_, "mode", {"marker": "o", "ms": MODE_SIZE, "mew": 1.4, **mark}),
            (self.paths_, "path of the mode", {"color": "black", "lw": 1.5}),
            (self.densities_, density, {"color": "0.35", "lw": 1.1}),
            (self.boundaries_, "cluster boundary", {"color": "black", "lw": 1.2}),
        ]
        handles = [Line2D([], [], label=name, **style) for drawn, name, style in entries if drawn]
        self.ax_.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            borderaxespad=4.5,  # in font sizes: below the tick labels and the axis label
            ncols=min(len(handles), 5 - len(self.axis_labels)),
            fontsize="small",
            frameon=False,
            columnspacing=1.2,
        )

    def _draw_note(self, text: str, y: float, va: str) -> None:
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        style = {"ha": "right", "va": va, "transform": self.ax_.transAxes, "zorder": 8}
        self.ax_.text(0.99, y, text, fontsize="small", bbox=box, **style)

    def _stages(self) -> npt.NDArray[np.integer[Any]]:
        return np.isfinite(self.bandwidths).astype(int) if self.stages is None else self.stages

    def _title(self) -> str:
        if self._stages()[-1] == 0:
            return self.start if self.start == "K-means" else f"Clusters of {self.start}"
        name = "Laplacian K-modes" if self.is_soft else "K-modes"
        if self.rows_averaged is not None:
            return f"{name}: modes average {row_range(self.rows_averaged)}"
        return f"{name} at bandwidth {self.bandwidths[-1]:.3g}"

    def _aspect(self) -> float | None:
        """Return the height of the plane divided by its width; None if it is not to scale."""
        width, height = np.ptp(np.vstack([self.points, *self.paths]), axis=0)
        is_to_scale = width / MAX_ASPECT <= height <= width * MAX_ASPECT and width > 0
        return float(height / width) if is_to_scale else None

    def _figsize(self) -> tuple[float, float]:
        """Return a figure size without empty space around a plane that is drawn to scale."""
        aspect = self._aspect()
        return 6.4, 6.4 if aspect is None else 1.8 + 5.5 * min(aspect, 1.2)


def _check_levels(levels: Any) -> None:
    """Raise an error if the levels are not a list of fractions."""
    try:
        fractions = np.asarray(levels, dtype=np.float64)
    except (TypeError, ValueError):
        fractions = np.empty(0)
    if fractions.ndim != 1 or not fractions.size or not np.all((fractions >= 0) & (fractions <= 1)):
        raise ValueError(f"levels must be a list of numbers between 0 and 1, got {levels!r}.")

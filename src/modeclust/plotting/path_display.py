"""The clusters among their rows: means, modes, the paths between them, and densities."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust.data.validation import check_scales, check_weights
from modeclust.plotting.canvas import darker, halo, open_axes, readable
from modeclust.plotting.density import Ground
from modeclust.plotting.exemplars import labels_at, labels_of_weight, nearest_in_cluster
from modeclust.plotting.fitted import Fitted, fitted_with, path_of, scales_of
from modeclust.plotting.histogram import edges, limits
from modeclust.plotting.palette import color, symbol
from modeclust.plotting.projection import Projection
from modeclust.plotting.sampling import MOST_POINTS, sample_by_cluster

Doubles = npt.NDArray[np.float64]

# Sizes of marks in points: one inside the other, so that all are seen where they meet.
DOT, STAR, RING = 6.5, 13.5, 17
MOST_NUMBERED = 20
MOST_STRETCH = 3  # a plane longer than this is not drawn to scale


class PathDisplay:
    """Clusters at one bandwidth, with the path from each mean to its mode.

    Rows of two features are drawn in the plane: the K-means centroids as stars, the row of
    the cluster nearest to each as a ring, the modes as numbered dots, the paths that the modes
    followed as the bandwidth fell, and contours of the density of each cluster, at shares of its
    highest value. Rows of more features are projected, and have no contours.

    Rows of one feature are drawn as a histogram, cut by black lines where clusters meet. The
    density of each cluster is scaled to the area of its bars: its height is the number of rows
    that the density expects in a bin.

    It is recommended to use `from_estimator` to create a `PathDisplay`.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_axes)
        The rows, on a line or a plane.
    labels : ndarray of shape (n_points,)
        The cluster of each.
    bandwidths : ndarray of shape (S,)
        The bandwidths, from the first to that which is drawn.
    trails : ndarray of shape (S, K, n_axes)
        The centroids at each of them.
    axis_labels : sequence of str
        What the axes are, one or two.
    neighbors : ndarray of shape (K, n_axes), default=None
        The row nearest to each mean; NaN where the cluster is empty.
    places : sequence of ndarray, default=None
        The coordinates along each axis at which the densities are known.
    densities : ndarray of shape (K, n_x) or (K, n_y, n_x), default=None
        The density of each cluster; on a line, with its area equal to the weight of the cluster.
    weights : ndarray of shape (n_points,), default=None
        The weights of the rows, for a histogram.
    n_rows : int, default=None
        The number of rows of which `points` are a sample; None if they are all.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.
    points_ : list of matplotlib artists
        The rows of each cluster: a PathCollection, or the BarContainer of its bars.
    stars_ : matplotlib PathCollection or None
        The means, where the path begins with K-means.
    rings_ : matplotlib PathCollection or None
        The rows nearest to the means; in the plane only.
    modes_ : matplotlib PathCollection or None
        The modes, at a finite bandwidth.
    paths_ : list of matplotlib Line2D
        The path of each mode; in the plane only.
    densities_ : list of matplotlib artists
        For each cluster that has some, the QuadContourSet or Line2D of its density.
    boundaries_ : list of matplotlib Line2D
        Where clusters meet; on a line only.

    See Also
    --------
    ModesDisplay : The centroids themselves and their neighbours.
    ScheduleDisplay : Objective and sizes along the path.

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

    def __init__(
        self,
        *,
        points: Doubles,
        labels: npt.NDArray[np.integer[Any]],
        bandwidths: Doubles,
        trails: Doubles,
        axis_labels: Sequence[str],
        neighbors: Any = None,
        places: Any = None,
        densities: Any = None,
        weights: Doubles | None = None,
        n_rows: int | None = None,
    ) -> None:
        self.points = points
        self.labels = labels
        self.bandwidths = bandwidths
        self.trails = trails
        self.axis_labels = axis_labels
        self.neighbors = neighbors
        self.places = places
        self.densities = densities
        self.weights = weights
        self.n_rows = n_rows

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
        **looks: Any,
    ) -> Self:
        """Draw a fitted model and its data.

        Parameters
        ----------
        estimator : KModes or LaplacianKModes
            A fitted model.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that it was fitted on.
        bandwidth : float, default=None
            Draw the point of the path nearest to it; ``np.inf`` is K-means, None the end of the
            path.
        feature_names : sequence of str, default=None
            Names of the features; by default those seen by `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that it was fitted with.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales that it was fitted with; made anew where it is adaptive.
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        **looks : dict
            Passed to `plot`.

        Returns
        -------
        PathDisplay
            The display.
        """
        path = path_of(estimator)
        fitted = Fitted.of(estimator, X, bandwidth, feature_names)
        X, labels = fitted.X, fitted.labels
        weight = check_weights(sample_weight, X)
        scale = check_scales(sample_scale, X, adaptive=fitted_with(estimator, "adaptive"))
        view = Projection.of(X, fitted.feature_names)
        points = view.forward(X)
        trails = np.stack([view.forward(c) for c in path.centers[: fitted.step + 1]])

        neighbors = None
        if np.isinf(path.bandwidths[0]):
            first = labels_at(X, path, 0)
            present = labels_of_weight(first, weight)
            (nearest,) = nearest_in_cluster(X, present, path.centers[0], 1).T
            neighbors = np.where(nearest[:, None] >= 0, points[nearest], np.nan)

        places = densities = None
        end = float(path.bandwidths[fitted.step])
        if view.components is None and np.isfinite(end):
            if scale is None:
                scale = scales_of(estimator, X, weight)
            ground = Ground.of(points, fitted_with(estimator, "kernel"), weight, scale)
            draw = ground.on_line if view.n_axes == 1 else ground.on_plane
            places, densities = draw(labels, trails[[0, -1]], end)

        chosen: Any = slice(None)
        if view.n_axes == 2 and len(points) > MOST_POINTS:
            chosen = sample_by_cluster(labels, len(trails[-1]), MOST_POINTS)
        display = cls(
            points=points[chosen],
            labels=labels[chosen],
            bandwidths=path.bandwidths[: fitted.step + 1],
            trails=trails,
            axis_labels=view.axis_labels,
            neighbors=neighbors,
            places=places,
            densities=densities,
            weights=None if weight is None else weight[chosen],
            n_rows=len(points),
        )
        return display.plot(ax, **looks)

    def plot(
        self,
        ax: Any = None,
        *,
        levels: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
        bins: Any = "auto",
        legend: bool = True,
    ) -> Self:
        """Draw the clusters.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        levels : sequence of float, default=(0.1, 0.3, 0.5, 0.7, 0.9)
            Where contours lie, as shares of the highest density of the cluster.
        bins : int, sequence or str, default="auto"
            The bins of a histogram, as for `numpy.histogram_bin_edges`; "auto" makes
            30 to 120 equal ones.
        legend : bool, default=True
            Whether to explain the marks, below the axes.

        Returns
        -------
        PathDisplay
            The display.
        """
        on_line = len(self.axis_labels) == 1
        _check_levels(levels)
        bounds = self._bounds(bins) if on_line else None
        ax = open_axes("PathDisplay", ax, (8, 4.5) if on_line else self._figsize())
        self.ax_, self.figure_ = ax, ax.figure
        self.stars_: Any = None
        self.rings_: Any = None
        self.modes_: Any = None
        self.points_: list[Any] = []
        self.paths_: list[Any] = []
        self.densities_: list[Any] = []
        self.boundaries_: list[Any] = []
        if on_line:
            self._draw_line(bounds)
        else:
            self._draw_plane(levels)
        bandwidth = self.bandwidths[-1]
        finite = np.isfinite(bandwidth)
        ax.set_title(f"K-modes at bandwidth {bandwidth:.3g}" if finite else "K-means")
        ax.set_xlabel(readable(self.axis_labels[0], 60))
        if legend:
            self._explain(levels)
        return self

    def _draw_plane(self, levels: Sequence[float]) -> None:
        ax, n_clusters = self.ax_, self.trails.shape[1]
        size = np.clip(8_000 / len(self.points), 7, 22)
        for k in range(n_clusters):
            own = self.points[self.labels == k]
            looks = {"marker": symbol(k), "color": color(k), "alpha": 0.55, "linewidths": 0}
            self.points_.append(ax.scatter(*own.T, s=size, **looks))
        if self.densities is not None:
            self._draw_contours(levels)
        if len(self.trails) > 1:
            looks = {"lw": 1.5, "path_effects": halo(3.5), "zorder": 4}
            for k in range(n_clusters):
                self.paths_ += ax.plot(*self.trails[:, k].T, "k-", **looks)
        if np.isinf(self.bandwidths[0]):
            self._draw_means(self.trails[0])
            looks = {"facecolors": "none", "edgecolors": "black", "path_effects": halo(3)}
            self.rings_ = ax.scatter(*self.neighbors.T, s=RING**2, lw=1.4, zorder=5, **looks)
        if np.isfinite(self.bandwidths[-1]):
            self._draw_modes(self.trails[-1])
        ax.set_ylabel(readable(self.axis_labels[1], 60).replace(" (", "\n("))  # planes may be low
        if 1 / MOST_STRETCH <= self._stretch() <= MOST_STRETCH:
            ax.set_aspect("equal", anchor="N")  # the room left over is for the legend
        if self.n_rows is not None and len(self.points) < self.n_rows:
            self._note(f"{len(self.points):,} of {self.n_rows:,} rows are drawn", 0.01, "bottom")

    def _draw_contours(self, levels: Sequence[float]) -> None:
        ax = self.ax_
        for k, density in enumerate(self.densities):
            heights = density.max() * np.unique(levels)
            heights = heights[(heights > density.min()) & (heights < density.max())]
            if len(heights):
                looks = {"colors": [darker(color(k))], "linewidths": 0.9, "zorder": 3}
                self.densities_.append(ax.contour(*self.places, density, heights, **looks))
        ax.set(xlim=self.places[0][[0, -1]], ylim=self.places[1][[0, -1]])

    def _bounds(self, bins: Any) -> Doubles:
        """Return the edges of the bins of a histogram."""
        values = self.points[:, 0]
        low, high = limits(values, self.trails[[0, -1]])
        if isinstance(bins, str) and bins == "auto":
            return edges(values, low, high)
        return np.histogram_bin_edges(values[(low <= values) & (values <= high)], bins)

    def _draw_line(self, bounds: Any) -> None:
        ax, n_clusters = self.ax_, self.trails.shape[1]
        values = self.points[:, 0]
        low, high = limits(values, self.trails[[0, -1]])
        inside = (low <= values) & (values <= high)
        bottom = np.zeros(len(bounds) - 1)
        for k in range(n_clusters):
            own = inside & (self.labels == k)
            weights = None if self.weights is None else self.weights[own]
            heights = np.histogram(values[own], bounds, weights=weights)[0]
            looks = {"color": color(k), "alpha": 0.45, "align": "edge", "linewidth": 0}
            self.points_.append(ax.bar(bounds[:-1], heights, np.diff(bounds), bottom, **looks))
            bottom = bottom + heights
        means, modes = self.trails[0, :, 0], self.trails[-1, :, 0]
        tops = np.zeros(n_clusters)
        if self.densities is not None:
            (places,) = self.places
            for k, density in enumerate(self.densities * np.diff(bounds).mean()):
                tops[k] = np.interp(modes[k], places, density)
                looks = {"color": darker(color(k)), "lw": 1.4}
                self.densities_ += ax.plot(places, density, **looks)
        centers = np.unique(modes)
        for place in (centers[1:] + centers[:-1]) / 2:
            self.boundaries_.append(ax.axvline(place, color="black", lw=1.2))
        if np.isinf(self.bandwidths[0]):
            self._draw_means(np.column_stack([means, np.zeros(n_clusters)]))
        if np.isfinite(self.bandwidths[-1]):
            self._draw_modes(np.column_stack([modes, tops]))
        ax.set_ylabel("rows in a bin" if self.weights is None else "weight of the rows in a bin")
        top = max(bottom.max(), *(curve.get_ydata().max() for curve in self.densities_), 0)
        ax.set(xlim=(low, high), ylim=(0, 1.1 * top or 1))
        if beyond := len(values) - inside.sum():
            self._note(f"{beyond:,} of {len(values):,} rows lie beyond the axis", 0.98, "top")

    def _draw_means(self, places: Doubles) -> None:
        colors = [color(k) for k in range(len(places))]
        looks = {"marker": "*", "edgecolors": "black", "clip_on": False, "zorder": 6}
        self.stars_ = self.ax_.scatter(*places.T, s=STAR**2, c=colors, **looks)

    def _draw_modes(self, places: Doubles) -> None:
        colors = [color(k) for k in range(len(places))]
        looks = {"edgecolors": "black", "linewidths": 1.4, "zorder": 7}
        self.modes_ = self.ax_.scatter(*places.T, s=DOT**2, c=colors, **looks)
        if len(places) <= MOST_NUMBERED:
            looks = {"textcoords": "offset points", "path_effects": halo(3), "zorder": 8}
            for k, place in enumerate(places):
                self.ax_.annotate(str(k), place, (8, 6), weight="bold", **looks)

    def _explain(self, levels: Sequence[float]) -> None:
        """Name the marks below the axes."""
        from matplotlib.lines import Line2D

        mark = {"ls": "", "mfc": "0.75", "mec": "black"}
        density = f"density, {100 * min(levels):g} to {100 * max(levels):g} % of its peak"
        if len(self.axis_labels) == 1:
            density = f"density, in {'rows' if self.weights is None else 'weight'} per bin"
        marks: list[tuple[Any, str, dict[str, Any]]] = [
            (self.stars_, "K-means centroid", {"marker": "*", "ms": 11, **mark}),
            (self.rings_, "its nearest row", {"marker": "o", "ms": 10, **mark, "mfc": "none"}),
            (self.modes_, "mode of the cluster", {"marker": "o", "ms": DOT, "mew": 1.4, **mark}),
            (self.paths_, "path of the mode", {"color": "black", "lw": 1.5}),
            (self.densities_, density, {"color": "0.35", "lw": 1.1}),
            (self.boundaries_, "boundary of clusters", {"color": "black", "lw": 1.2}),
        ]
        lines = [Line2D([], [], label=name, **looks) for drawn, name, looks in marks if drawn]
        self.ax_.legend(
            handles=lines,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            borderaxespad=4.5,  # in letters, to pass below the labels of the axis
            ncols=min(len(lines), 5 - len(self.axis_labels)),
            fontsize="small",
            frameon=False,
            columnspacing=1.2,
        )

    def _note(self, words: str, height: float, side: str) -> None:
        looks = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        place = {"ha": "right", "va": side, "transform": self.ax_.transAxes, "zorder": 8}
        self.ax_.text(0.99, height, words, fontsize="small", bbox=looks, **place)

    def _stretch(self) -> float:
        """Return the height of a plane over its width."""
        width, height = np.ptp(np.vstack([self.points, *self.trails]), axis=0)
        return float(height / width) if width > 0 else np.inf

    def _figsize(self) -> tuple[float, float]:
        """Return a size in which a plane drawn to scale leaves no room empty."""
        stretch = self._stretch()
        to_scale = 1 / MOST_STRETCH <= stretch <= MOST_STRETCH
        return 6.4, 1.8 + 5.5 * min(stretch, 1.2) if to_scale else 6.4


def _check_levels(levels: Any) -> None:
    """Refuse what cannot be shares of the highest density."""
    try:
        shares = np.asarray(levels, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.ndim != 1 or not shares.size or not np.all((shares >= 0) & (shares <= 1)):
        raise ValueError(f"levels must be a list of numbers between 0 and 1, got {levels!r}.")

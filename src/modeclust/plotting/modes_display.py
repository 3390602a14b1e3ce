"""Display of the modes, each with its nearest rows and their classes."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from modeclust.data.reading import Doubles, is_sparse
from modeclust.data.validation import check_weights
from modeclust.plotting.axes import divide, import_pyplot, open_axes
from modeclust.plotting.clustering import (
    Clustering,
    check_classes,
    check_image_shape,
    row_range,
    start_center,
)
from modeclust.plotting.exemplars import nearest_in_cluster, without_zero_weights
from modeclust.plotting.mode_panels import Classes, Cluster, Features, Images, Profiles, Terms
from modeclust.preparation.values import is_numeric, read_columns

MAX_CLUSTERS = 20  # clusters drawn by default
MAX_FEATURES = 50  # named features that are all drawn; with more, the largest are listed


@dataclass(kw_only=True, eq=False, repr=False)
class ModesDisplay:
    """Mode of each cluster and its exemplars, the rows of the cluster nearest to it.

    There is one row of panels for each cluster, as in figure 5 of the paper. Images are drawn
    side by side. Up to 50 named features are drawn as dots among all rows, with the values of the
    mode; if the estimator is a pipeline, these are in the units of the table. Features without
    names are drawn as profiles: a thick line for the mode and thin lines for its exemplars. Sparse
    data, and more named features, are drawn as terms: bars for the largest features of the mode,
    with ticks at the mean of its exemplars. If classes are given, the classes of the exemplars are
    counted.

    For clusterers without modes, the cluster centers are drawn instead.

    It is recommended to use `from_estimator` to create a `ModesDisplay`.

    Parameters
    ----------
    clusters : list of Cluster
        Clusters to draw, with the attributes `number`, `size`, `center` and `exemplars`.
    n_clusters : int
        Number of clusters of the model.
    n_exemplars : int
        Maximum number of exemplars of a cluster.
    kind : {"images", "features", "profiles", "terms"}
        How the modes are drawn.
    bandwidth : float, default=None
        Bandwidth of the modes, infinite for initial clusters. None if the model has no bandwidth.
    classes : Classes, default=None
        Names of the classes, and the number of exemplars of each cluster in each class.
    image_shape : tuple of int, default=None
        Shape of the images, (height, width) or (height, width, 3).
    feature_names : sequence of str, default=None
        Names of the features.
    n_terms : int, default=10
        Number of features listed as terms.
    rows_averaged : ndarray of shape (n_shown,), default=None
        How many rows each of these modes averages, if each cluster has a bandwidth of its own.
    scale : ndarray of shape (2, n_features), default=None
        Mean and standard deviation of each feature over all rows. Only for "features".
    units : ndarray of shape (n_shown, n_features), default=None
        The modes in the units of the user. Only for "features".
    start : {"K-means", "linkage"}, default="K-means"
        How the initial clusters of the path were found.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that contains the axes.
    ax_ : matplotlib Axes
        Axes that were divided into panels.
    title_ : matplotlib Text
        Title above the panels.
    axes_ : ndarray of shape (n_shown, n_panels) of matplotlib Axes
        Panels of each cluster: the mode and its exemplars (two panels for images, otherwise
        one), then the classes if there are any.

    See Also
    --------
    PathDisplay : Plot the clusters among the rows.

    References
    ----------
    Carreira-Perpiñán, M. Á. & Wang, W. (2013). The K-modes algorithm for clustering.
    arXiv:1304.6478.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from modeclust import KModes
    >>> from modeclust.plotting import ModesDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KModes(3, random_state=0).fit(X)
    >>> display = ModesDisplay.from_estimator(model, X, y)
    >>> display.axes_.shape
    (3, 2)
    >>> display.classes.counts.sum(axis=1)
    array([20, 20, 20])
    >>> plt.close()
    """

    clusters: list[Cluster]
    n_clusters: int
    n_exemplars: int
    kind: str
    bandwidth: float | None = None
    classes: Classes | None = None
    image_shape: Any = None
    feature_names: Sequence[str] | None = None
    n_terms: int = 10
    rows_averaged: Any = None
    scale: Any = None
    units: Any = None
    start: str = "K-means"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        bandwidth: float | None = None,
        n_exemplars: int = 20,
        image_shape: tuple[int, ...] | None = None,
        feature_names: Sequence[str] | None = None,
        n_terms: int = 10,
        clusters: Sequence[int] | None = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the modes of a fitted model.

        Parameters
        ----------
        estimator : KModes, LaplacianKModes, MeanShift, another clusterer, or a pipeline
            Fitted model with `cluster_centers_` and `labels_`, or a pipeline that ends in one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data that the model was fitted on.
        y : array-like of shape (n_samples,), default=None
            Class of each row.
        bandwidth : float, default=None
            Bandwidth to plot; the nearest one on the path is used, and the first of equal ones.
            ``np.inf`` plots the initial clusters, ``estimator.bandwidth_`` those of the labels,
            and None the end of the path.
        n_exemplars : int, default=20
            Maximum number of exemplars of a cluster.
        image_shape : tuple of int, default=None
            Shape of the images, (height, width) or (height, width, 3).
        feature_names : sequence of str, default=None
            Names of the features. By default, the names seen during fit.
        n_terms : int, default=10
            Number of features listed as terms.
        clusters : sequence of int, default=None
            Clusters to plot. By default, the first 20.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that the model was fitted with. Rows of weight 0 are not exemplars.
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is created.
        **kwargs : dict
            Keyword arguments passed to `plot`.

        Returns
        -------
        ModesDisplay
            The display.
        """
        data = X
        if isinstance(estimator, Pipeline) and len(estimator) > 1:
            check_is_fitted(estimator)
            before, estimator = estimator[:-1], estimator[-1]
            X = before.transform(data)
            if feature_names is None and hasattr(before, "get_feature_names_out"):
                feature_names = before.get_feature_names_out()
        clustering = Clustering.of(estimator, X, bandwidth, feature_names)
        X, names = clustering.X, clustering.feature_names
        n_clusters, n_features = clustering.centers.shape
        for name, number in [("n_exemplars", n_exemplars), ("n_terms", n_terms)]:
            if not isinstance(number, Integral) or number < 1:
                raise ValueError(f"{name} must be an integer > 0, got {number!r}.")
        chosen = _check_clusters(clusters, n_clusters)
        image_shape = check_image_shape(image_shape, n_features)
        y = None if y is None else check_classes(y, len(clustering.labels))
        candidates = without_zero_weights(clustering.labels, check_weights(sample_weight, X))
        nearest = nearest_in_cluster(X, candidates, clustering.centers, n_exemplars)[chosen]
        averaged = clustering.rows_averaged
        kind = "images" if image_shape else "profiles"
        if kind == "profiles" and (is_sparse(X) or (names and n_features > MAX_FEATURES)):
            kind = "terms"
        scale = units = None
        if kind == "profiles" and names is not None:
            kind = "features"
            scale = np.array([X.mean(axis=0), X.std(axis=0)], dtype=np.float64)
            scale[1, scale[1] == 0] = 1
            units = in_units(clustering.centers[chosen], X, names, data)
        display = cls(
            clusters=[
                Cluster.of(k, clustering, rows[rows >= 0])
                for k, rows in zip(chosen, nearest, strict=True)
            ],
            n_clusters=n_clusters,
            n_exemplars=n_exemplars,
            kind=kind,
            bandwidth=clustering.bandwidth,
            classes=None if y is None else Classes.of(y, nearest),
            image_shape=image_shape,
            feature_names=names,
            n_terms=n_terms,
            rows_averaged=None if averaged is None else averaged[chosen],
            scale=scale,
            units=units,
            start=clustering.start,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, cmap: Any = "gray_r") -> Self:
        """Plot the modes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on, which are divided into panels. By default, a new figure is created.
        cmap : str or matplotlib Colormap, default="gray_r"
            Colormap of images with one number for each pixel.

        Returns
        -------
        ModesDisplay
            The display.
        """
        try:
            import_pyplot("ModesDisplay").get_cmap(cmap)
        except (TypeError, ValueError):
            raise ValueError(f"cmap must be a Colormap or the name of one, got {cmap!r}.") from None
        panels = self._panels(cmap)
        n_shown = len(self.clusters)
        widths, n_columns = list(panels.widths), panels.n_columns
        if self.classes is not None:
            n_columns, widths = 1, [*widths, self.classes.width]
        n_rows = -(-n_shown // n_columns)
        n_columns = -(-n_shown // n_rows)
        height = 0.8 + n_rows * panels.height
        ax = open_axes("ModesDisplay", ax, (1.2 + n_columns * sum(widths), 0.6 + height))
        self.ax_, self.figure_ = ax, ax.figure
        self.title_, grid = divide(ax, n_rows, widths * n_columns, self._title(), panels.note)
        axes = [self.figure_.add_subplot(grid[i]) for i in range(n_shown * len(widths))]
        self.axes_ = np.reshape(axes, (n_shown, len(widths)))
        panels.draw(self.axes_, self.clusters)
        if self.classes is not None:
            self.classes.draw(self.axes_[:, -1], self.clusters)
        return self

    def _panels(self, cmap: Any) -> Images | Features | Profiles | Terms:
        is_finite = self.bandwidth is not None and np.isfinite(self.bandwidth)
        center_name = "mode" if is_finite or self.rows_averaged is not None else "center"
        if self.kind == "images":
            # At least 1, since an image of width 0 cannot be drawn.
            n_exemplars = max(1, *(cluster.exemplars.shape[0] for cluster in self.clusters))
            return Images(center_name, self.image_shape, n_exemplars, cmap)
        if self.kind == "terms":
            return Terms(center_name, self.feature_names, self.n_terms)
        if self.kind == "features":
            middle, spread = self.scale
            return Features(center_name, self.feature_names or (), middle, spread, self.units)
        return Profiles(center_name)

    def _title(self) -> str:
        if self.rows_averaged is not None:
            title = f"Modes that average {row_range(self.rows_averaged)}"
        elif self.bandwidth is None:
            title = "Cluster centers"
        elif np.isinf(self.bandwidth):
            title = f"{start_center(self.start)}s"
            title = title[0].upper() + title[1:]
        else:
            title = f"Modes at bandwidth {self.bandwidth:.3g}"
        n_shown = len(self.clusters)
        if n_shown == self.n_clusters:
            return title
        are_first = [cluster.number for cluster in self.clusters] == list(range(n_shown))
        prefix = "the first " if are_first else ""
        return f"{title} ({prefix}{n_shown} of {self.n_clusters} clusters)"


def in_units(centers: Doubles, X: Any, names: Sequence[str], data: Any) -> Doubles:
    """Return centers in the units of the columns of a frame from which features were computed.

    A feature belongs to the column of its name if one never falls while the other rises. Values
    between those of two rows are interpolated. Other features stay as they are.
    """
    columns = read_columns(data) or {}
    found = centers.astype(np.float64, copy=True)
    for d, name in enumerate(names):
        values = columns.get(name, columns.get(name.rpartition("__")[2]))
        if values is None or not is_numeric(values):
            continue
        known = np.isfinite(values)
        order = np.argsort(X[known, d], kind="stable")
        feature, column = X[known, d][order], values[known][order]
        steps = np.diff(column)[np.diff(feature) > 0]
        if known.any() and ((steps >= 0).all() or (steps <= 0).all()):
            found[:, d] = np.interp(centers[:, d], feature, column)
    return found


def _check_clusters(clusters: Sequence[int] | None, n_clusters: int) -> list[int]:
    """Return the clusters to plot, by default the first `MAX_CLUSTERS`."""
    if clusters is None:
        return list(range(min(n_clusters, MAX_CLUSTERS)))
    try:
        chosen = [operator.index(k) for k in clusters]
    except TypeError:
        chosen = []
    if not chosen or not all(0 <= k < n_clusters for k in chosen):
        raise ValueError(
            f"clusters must be a list of integers from 0 to {n_clusters - 1}, got {clusters!r}."
        )
    return chosen

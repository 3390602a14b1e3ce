"""The centroids themselves, each with its nearest neighbours and their classes."""

import operator
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np

from modeclust.data.reading import is_sparse
from modeclust.data.validation import check_weights
from modeclust.plotting.canvas import divide, open_axes, pyplot_for
from modeclust.plotting.exemplars import labels_of_weight, nearest_in_cluster
from modeclust.plotting.fitted import Fitted, check_classes, check_image_shape
from modeclust.plotting.mode_panels import (
    Classes,
    Cluster,
    Images,
    Profiles,
    Terms,
)

MOST_CLUSTERS = 20  # drawn unless told which
MOST_PROFILE = 50  # named features beyond which the largest are listed instead


class ModesDisplay:
    """The centroid of each cluster and its nearest neighbours within the cluster.

    There is one row for each cluster, as in figure 5 of the paper. Images are drawn side by
    side. Other rows are drawn as profiles: the centroid is a strong line over thin lines of its
    neighbours. Sparse rows, and those of many named features, are told by their terms: bars of
    the largest features of the centroid, with marks at the mean of its neighbours. Where
    classes are known, those of the neighbours are counted beside.

    It is recommended to use `from_estimator` to create a `ModesDisplay`.

    Parameters
    ----------
    clusters : list of Cluster
        What is drawn: number, size, center and neighbors of each cluster.
    n_clusters : int
        The number of clusters that there are.
    n_neighbors : int
        The number of neighbours wanted of each.
    kind : {"images", "profiles", "terms"}
        How they are drawn.
    bandwidth : float, default=None
        The bandwidth at which the centroids were found.
    classes : Classes, default=None
        The names of the classes, and how many neighbours of each cluster are of each class.
    image_shape : tuple of int, default=None
        Height and width of images, and 3 for colours.
    feature_names : sequence of str, default=None
        Names of the features.
    n_terms : int, default=10
        The number of features listed as terms.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes that was divided.
    title_ : matplotlib Text
        The title.
    axes_ : ndarray of shape (n_shown, n_panels) of matplotlib Axes
        The panels of each cluster: centroid and neighbours (one panel but for images), then
        classes if there are any.

    See Also
    --------
    PathDisplay : The clusters among their rows.

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

    def __init__(
        self,
        *,
        clusters: list[Cluster],
        n_clusters: int,
        n_neighbors: int,
        kind: str,
        bandwidth: float | None = None,
        classes: Classes | None = None,
        image_shape: Any = None,
        feature_names: Sequence[str] | None = None,
        n_terms: int = 10,
    ) -> None:
        self.clusters = clusters
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.kind = kind
        self.bandwidth = bandwidth
        self.classes = classes
        self.image_shape = image_shape
        self.feature_names = feature_names
        self.n_terms = n_terms

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        bandwidth: float | None = None,
        n_neighbors: int = 20,
        image_shape: tuple[int, ...] | None = None,
        feature_names: Sequence[str] | None = None,
        n_terms: int = 10,
        clusters: Sequence[int] | None = None,
        sample_weight: Any = None,
        ax: Any = None,
        **looks: Any,
    ) -> Self:
        """Draw the centroids of a fitted model.

        Parameters
        ----------
        estimator : KModes, MeanShift or another clusterer
            A fitted model with `cluster_centers_` and `labels_`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that it was fitted on.
        y : array-like of shape (n_samples,), default=None
            The class of each row.
        bandwidth : float, default=None
            Draw the point of the path nearest to it; ``np.inf`` is K-means, None the end of the
            path.
        n_neighbors : int, default=20
            The number of neighbours.
        image_shape : tuple of int, default=None
            Draw images of this height and width; a third number 3 stands for colours.
        feature_names : sequence of str, default=None
            Names of the features; by default those seen by `fit`.
        n_terms : int, default=10
            The number of features listed as terms.
        clusters : sequence of int, default=None
            Which clusters to draw; by default the first 20.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that it was fitted with; rows of weight 0 are nobody's neighbours.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided. By default a new figure.
        **looks : dict
            Passed to `plot`.

        Returns
        -------
        ModesDisplay
            The display.
        """
        fitted = Fitted.of(estimator, X, bandwidth, feature_names)
        n_clusters, n_features = fitted.centers.shape
        for name, number in [("n_neighbors", n_neighbors), ("n_terms", n_terms)]:
            if not isinstance(number, Integral) or number < 1:
                raise ValueError(f"{name} must be a whole number above 0, got {number!r}.")
        chosen = _check_clusters(clusters, n_clusters)
        image_shape = check_image_shape(image_shape, n_features)
        y = None if y is None else check_classes(y, len(fitted.labels))
        present = labels_of_weight(fitted.labels, check_weights(sample_weight, fitted.X))
        nearest = nearest_in_cluster(fitted.X, present, fitted.centers, n_neighbors)[chosen]
        kind = "images" if image_shape else "profiles"
        if kind == "profiles" and (
            is_sparse(fitted.X) or (fitted.feature_names and n_features > MOST_PROFILE)
        ):
            kind = "terms"
        display = cls(
            clusters=[
                Cluster.of(k, fitted, rows[rows >= 0])
                for k, rows in zip(chosen, nearest, strict=True)
            ],
            n_clusters=n_clusters,
            n_neighbors=n_neighbors,
            kind=kind,
            bandwidth=fitted.bandwidth,
            classes=None if y is None else Classes.of(y, nearest),
            image_shape=image_shape,
            feature_names=fitted.feature_names,
            n_terms=n_terms,
        )
        return display.plot(ax, **looks)

    def plot(self, ax: Any = None, *, cmap: Any = "gray_r") -> Self:
        """Draw the clusters.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; it is divided. By default a new figure.
        cmap : str or matplotlib Colormap, default="gray_r"
            The colours of images of one number a pixel.

        Returns
        -------
        ModesDisplay
            The display.
        """
        try:
            pyplot_for("ModesDisplay").get_cmap(cmap)
        except (TypeError, ValueError):
            raise ValueError(f"cmap must be a Colormap or the name of one, got {cmap!r}.") from None
        panels = self._panels(cmap)
        n_shown = len(self.clusters)
        widths = list(panels.widths)
        n_across = panels.n_across
        if self.classes is not None:
            n_across, widths = 1, [*widths, self.classes.width]
        n_down = -(-n_shown // n_across)
        n_across = -(-n_shown // n_down)
        height = 0.8 + n_down * panels.height
        ax = open_axes("ModesDisplay", ax, (1.2 + n_across * sum(widths), 0.6 + height))
        self.ax_, self.figure_ = ax, ax.figure
        self.title_, grid = divide(ax, n_down, widths * n_across, self._title(), panels.note)
        cells = [divmod(i, n_across) for i in range(n_shown)]
        self.axes_ = np.array(
            [
                [self.figure_.add_subplot(grid[i, j * len(widths) + m]) for m in range(len(widths))]
                for i, j in cells
            ]
        )
        panels.draw(self.axes_, self.clusters)
        if self.classes is not None:
            self.classes.draw(self.axes_[:, -1], self.clusters)
        return self

    def _panels(self, cmap: Any) -> Images | Profiles | Terms:
        if self.kind == "images":
            # At least one: an image without width cannot be drawn.
            n_places = max(1, *(cluster.neighbors.shape[0] for cluster in self.clusters))
            return Images(self._word(), self.image_shape, n_places, cmap)
        if self.kind == "terms":
            return Terms(self._word(), self.feature_names, self.n_terms)
        return Profiles(self._word(), self.feature_names)

    def _word(self) -> str:
        finite = self.bandwidth is not None and np.isfinite(self.bandwidth)
        return "mode" if finite else "centroid"

    def _title(self) -> str:
        if self.bandwidth is None:
            title = "Centroids of the clusters"
        elif np.isinf(self.bandwidth):
            title = "K-means centroids"
        else:
            title = f"Modes at bandwidth {self.bandwidth:.3g}"
        n_shown = len(self.clusters)
        if n_shown == self.n_clusters:
            return title
        first = [cluster.number for cluster in self.clusters] == list(range(n_shown))
        return f"{title} ({'the first ' if first else ''}{n_shown} of {self.n_clusters} clusters)"


def _check_clusters(clusters: Sequence[int] | None, n_clusters: int) -> list[int]:
    """Return the clusters to draw, the first `MOST_CLUSTERS` where none are named."""
    if clusters is None:
        return list(range(min(n_clusters, MOST_CLUSTERS)))
    try:
        chosen = [operator.index(k) for k in clusters]
    except TypeError:
        chosen = []
    if not chosen or not all(0 <= k < n_clusters for k in chosen):
        raise ValueError(
            f"clusters must be some of the numbers from 0 to {n_clusters - 1}, got {clusters!r}."
        )
    return chosen

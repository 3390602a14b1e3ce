"""How one cluster is drawn: as images, as profiles, by its terms; and its classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import is_sparse
from modeclust.plotting.canvas import readable
from modeclust.plotting.fitted import Fitted
from modeclust.plotting.palette import color

Doubles = npt.NDArray[np.float64]

MOST_NAMED = 12  # features or classes named along an axis
STRIP = 8.0  # the width that neighbours share, in inches


class Cluster(NamedTuple):
    """A cluster to be drawn."""

    number: int
    size: int
    center: Doubles  # (D,)
    neighbors: Any  # (n, D), dense or CSR, the nearest first

    @classmethod
    def of(cls, number: int, fitted: Fitted, nearest: npt.NDArray[np.intp]) -> "Cluster":
        """Return a cluster of a fitted model, with the rows nearest to its centroid."""
        size = int(np.sum(fitted.labels == number))
        return cls(number, size, fitted.centers[number], fitted.X[nearest])

    @property
    def rows(self) -> Doubles:
        """The neighbours as a dense array."""
        dense = self.neighbors.toarray() if is_sparse(self.neighbors) else self.neighbors
        return np.asarray(dense, dtype=np.float64)

    @property
    def name(self) -> str:
        """The number of the cluster, and how large it is."""
        return f"cluster {self.number}\n{self.size:,} row{'s' * (self.size != 1)}"


class Images(NamedTuple):
    """The centroid as an image, beside the images of its neighbours."""

    word: str  # what the centroid is called
    shape: tuple[int, ...]
    n_neighbors: int  # the most that a cluster has
    cmap: Any
    n_across: int = 1
    note: str = ""

    @property
    def tile(self) -> tuple[float, float]:
        """Width and height of an image in inches."""
        stretch = self.shape[1] / self.shape[0]
        height = float(np.clip(STRIP / (max(self.n_neighbors, 1) * stretch), 0.25, 0.45))
        return height * stretch, height

    @property
    def widths(self) -> list[float]:
        """Widths of the panels in inches."""
        return [self.tile[0], max(1.1 * self.tile[0] * self.n_neighbors, 3.5)]

    @property
    def height(self) -> float:
        """Height of the panels in inches."""
        return self.tile[1] + 0.12

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw the clusters, two panels each."""
        shown = np.concatenate([np.vstack([c.center, c.rows]) for c in clusters])
        low, high = shown.min(), shown.max()
        if len(self.shape) == 3 and low >= 0:
            low, high = 0.0, next((top for top in (1.0, 255.0) if high <= top), high)
        limits = {"vmin": low, "vmax": high if high > low else low + 1}
        for (own, strip, *_), cluster in zip(axes, clusters, strict=True):
            own.imshow(self._row(cluster.center[None], 1, **limits), self.cmap, **limits)
            strip.imshow(self._row(cluster.rows, self.n_neighbors, **limits), self.cmap, **limits)
            strip.set_anchor("W")
            strip.set_axis_off()
            own.set(xticks=[], yticks=[])
            own.spines[:].set(color=color(cluster.number), linewidth=2.5)
            _name_row(own, cluster)
            if cluster.size == 0:
                strip.text(0, 0.5, "no rows", transform=strip.transAxes, va="center")
        # To the left, since the word may be wider than the image.
        axes[0, 0].set_title(self.word, loc="right", fontsize="medium")
        words = "its nearest neighbours in the cluster"
        axes[0, 1].set_title(words, loc="left", fontsize="medium")

    def _row(self, images: Doubles, n_places: int, *, vmin: float, vmax: float) -> Doubles:
        """Return images side by side, with gaps between."""
        height, width, *depth = self.shape
        step = width + (max(1, width // 10) if n_places > 1 else 0)
        row = np.full((height, n_places * step, *depth), 1.0 if depth else np.nan)
        for i, image in enumerate(images.reshape(-1, *self.shape)):
            pixels = np.clip((image - vmin) / (vmax - vmin), 0, 1) if depth else image
            row[:, i * step : i * step + width] = pixels
        return row


class Profiles(NamedTuple):
    """The centroid as a line over the features, with thin lines for its neighbours."""

    word: str
    feature_names: Sequence[str] | None
    widths: Sequence[float] = (5.5,)
    height: float = 1.15
    n_across: int = 1

    @property
    def note(self) -> str:
        """What the lines are."""
        return (
            f"value of each feature: the {self.word} (coloured line), "
            "its nearest neighbours in the cluster (thin lines)"
        )

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw the clusters, one panel each."""
        n_features = len(clusters[0].center)
        marker = "o" if n_features <= MOST_NAMED else ""
        places = np.arange(n_features)
        for ax, cluster in zip(axes[:, 0], clusters, strict=True):
            if ax is not axes[0, 0]:
                ax.sharex(axes[0, 0])
                ax.sharey(axes[0, 0])
            ax.plot(places, cluster.rows.T, color="0.55", lw=0.6, alpha=0.7, marker=marker, ms=1.5)
            looks = {"marker": marker, "markeredgecolor": "black"}
            ax.plot(places, cluster.center, color=color(cluster.number), lw=2.2, ms=5, **looks)
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(labelbottom=ax is axes[-1, 0], labelsize="small")
            _name_row(ax, cluster)
        if self.feature_names is not None and n_features <= MOST_NAMED:
            _name_ticks(axes[-1, 0], self.feature_names, room=self.widths[0])
        else:
            axes[-1, 0].set_xlabel("feature")
            axes[-1, 0].xaxis.get_major_locator().set_params(integer=True)


class Terms(NamedTuple):
    """The largest features of the centroid as bars, with marks at the mean of its neighbours."""

    word: str
    feature_names: Sequence[str] | None
    n_terms: int
    widths: Sequence[float] = (3.4,)
    n_across: int = 3

    @property
    def note(self) -> str:
        """What the bars and marks are."""
        return f"bars: largest features of the {self.word}; marks: mean of its nearest neighbours"

    @property
    def height(self) -> float:
        """Height of the panels in inches."""
        return 0.17 * self.n_terms + 0.7

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw the clusters, one panel each."""
        for ax, cluster in zip(axes[:, 0], clusters, strict=True):
            if ax is not axes[0, 0]:
                ax.sharex(axes[0, 0])
            largest = np.argsort(-cluster.center, kind="stable")[: self.n_terms]
            names = [self._term(d) for d in largest]
            places = np.arange(len(largest))
            ax.barh(places, cluster.center[largest], 0.75, color=color(cluster.number))
            if cluster.neighbors.shape[0]:
                means = np.asarray(cluster.neighbors[:, largest].mean(axis=0)).ravel()
                ax.plot(means, places, "k|", ms=9, mew=1.6)
            ax.set_yticks(places, names, fontsize="small")
            ax.tick_params(axis="y", length=0)
            ax.tick_params(axis="x", labelsize="small")
            ax.invert_yaxis()
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_title(cluster.name.replace("\n", ", "), fontsize="medium")

    def _term(self, feature: int) -> str:
        if self.feature_names is None:
            return f"x{feature}"
        return readable(self.feature_names[feature], 20)


class Classes(NamedTuple):
    """How many neighbours of each cluster are of each class."""

    names: tuple[str, ...]  # (C,)
    counts: npt.NDArray[np.intp]  # (n_shown, C)
    width: float = 2.4  # in inches

    @classmethod
    def of(cls, y: npt.NDArray[Any], nearest: npt.NDArray[np.intp]) -> "Classes":
        """Count the classes of rows; -1 stands for no row."""
        names, codes = np.unique(y, return_inverse=True)
        counts = [np.bincount(codes[rows[rows >= 0]], minlength=len(names)) for rows in nearest]
        return cls(tuple(str(name) for name in names), np.array(counts))

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw one histogram for each cluster, with its commonest class in words."""
        places = np.arange(len(self.names))
        for ax, counts, cluster in zip(axes, self.counts, clusters, strict=True):
            ax.bar(places, counts, color=color(cluster.number))
            ax.set(ylim=(0, max(self.counts.max(), 1)), xlim=(-0.6, len(places) - 0.4))
            ax.set_yticks([])
            ax.set_xticks(places if len(places) <= MOST_NAMED else [], [])
            ax.spines[["top", "right", "left"]].set_visible(False)
            if total := counts.sum():
                most = readable(self.names[counts.argmax()], 14)
                words = f"{counts.max()} of {total}\nare {most}"
                ax.text(1.02, 0.5, words, transform=ax.transAxes, va="center", fontsize="small")
        axes[0].set_title("classes of the neighbours", fontsize="medium")
        if len(places) <= MOST_NAMED:
            _name_ticks(axes[-1], self.names, room=self.width)
        else:
            axes[-1].set_xlabel(f"{len(places)} classes, in order", fontsize="small")


def _name_row(ax: Any, cluster: Cluster) -> None:
    ax.set_ylabel(cluster.name, rotation=0, ha="right", va="center", fontsize="small")


def _name_ticks(ax: Any, names: Sequence[str], room: float) -> None:
    """Name the ticks, upright where the names are too long to stand side by side."""
    texts = [readable(name, 24) for name in names]
    upright = 0.075 * max(map(len, texts)) > room / len(texts)
    if upright:
        texts = [readable(name, 14) for name in names]
    ax.set_xticks(range(len(texts)), texts, rotation=90 if upright else 0, fontsize="small")

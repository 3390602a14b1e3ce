"""Panels of `ModesDisplay`: a mode as an image, a profile, or by its features; classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import Doubles, is_sparse
from modeclust.plotting.axes import label_text
from modeclust.plotting.clustering import Clustering
from modeclust.plotting.palette import color

MAX_NAMED = 12  # features with a marker, or classes with a name, on the axis
STRIP_WIDTH = 8.0  # width of the images of all exemplars, in inches


class Cluster(NamedTuple):
    """A cluster to draw."""

    number: int
    size: int
    center: Doubles  # (D,)
    exemplars: Any  # (n, D), dense or CSR, the nearest first

    @classmethod
    def of(cls, number: int, clustering: Clustering, nearest: npt.NDArray[np.intp]) -> "Cluster":
        """Return a cluster with its exemplars, the rows `nearest`."""
        size = int(np.sum(clustering.labels == number))
        return cls(number, size, clustering.centers[number], clustering.X[nearest])

    @property
    def rows(self) -> Doubles:
        """Exemplars as a dense array."""
        rows = self.exemplars
        return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)

    @property
    def name(self) -> str:
        """Number and size of the cluster."""
        return f"cluster {self.number}\n{self.size:,} row{'s' * (self.size != 1)}"


class Images(NamedTuple):
    """The mode as an image, next to the images of its exemplars."""

    center_name: str  # "mode" or "center"
    shape: tuple[int, ...]
    n_exemplars: int  # the largest number that a cluster has
    cmap: Any
    n_columns: int = 1
    note: str = ""

    @property
    def image_size(self) -> tuple[float, float]:
        """Width and height of an image in inches."""
        aspect = self.shape[1] / self.shape[0]
        height = float(np.clip(STRIP_WIDTH / (max(self.n_exemplars, 1) * aspect), 0.25, 0.45))
        return height * aspect, height

    @property
    def widths(self) -> list[float]:
        """Widths of the panels in inches."""
        width, _ = self.image_size
        return [width, max(1.1 * width * self.n_exemplars, 3.5)]

    @property
    def height(self) -> float:
        """Height of the panels in inches."""
        return self.image_size[1] + 0.12

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw each cluster in two panels."""
        values = np.concatenate([np.vstack([c.center, c.rows]) for c in clusters])
        low, high = values.min(), values.max()
        if len(self.shape) == 3 and low >= 0:
            low, high = 0.0, next((top for top in (1.0, 255.0) if high <= top), high)
        limits = {"vmin": low, "vmax": high if high > low else low + 1}
        for (left, strip, *_), cluster in zip(axes, clusters, strict=True):
            center = self._side_by_side(cluster.center[None], 1, **limits)
            left.imshow(center, self.cmap, **limits)
            exemplars = self._side_by_side(cluster.rows, self.n_exemplars, **limits)
            strip.imshow(exemplars, self.cmap, **limits)
            strip.set_anchor("W")
            strip.set_axis_off()
            left.set(xticks=[], yticks=[])
            left.spines[:].set(color=color(cluster.number), linewidth=2.5)
            _draw_cluster_name(left, cluster)
            if cluster.size == 0:
                strip.text(0, 0.5, "no rows", transform=strip.transAxes, va="center")
        # Aligned right, since the title may be wider than the image.
        axes[0, 0].set_title(self.center_name, loc="right", fontsize="medium")
        axes[0, 1].set_title("nearest rows of the cluster", loc="left", fontsize="medium")

    def _side_by_side(self, images: Doubles, n_images: int, *, vmin: float, vmax: float) -> Doubles:
        """Return one image with all images next to each other, with gaps."""
        height, width, *depth = self.shape
        step = width + (max(1, width // 10) if n_images > 1 else 0)
        joined = np.full((height, n_images * step, *depth), 1.0 if depth else np.nan)
        for i, image in enumerate(images.reshape(-1, *self.shape)):
            pixels = np.clip((image - vmin) / (vmax - vmin), 0, 1) if depth else image
            joined[:, i * step : i * step + width] = pixels
        return joined


class Profiles(NamedTuple):
    """The mode as a line over the features, with thin lines for its exemplars."""

    center_name: str
    widths: Sequence[float] = (5.5,)
    height: float = 1.15
    n_columns: int = 1

    @property
    def note(self) -> str:
        """Explanation of the lines."""
        return f"coloured line: {self.center_name}; thin lines: nearest rows of the cluster"

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw each cluster in one panel."""
        n_features = len(clusters[0].center)
        marker = "o" if n_features <= MAX_NAMED else ""
        x = np.arange(n_features)
        for ax, cluster in zip(axes[:, 0], clusters, strict=True):
            if ax is not axes[0, 0]:
                ax.sharex(axes[0, 0])
                ax.sharey(axes[0, 0])
            ax.plot(x, cluster.rows.T, color="0.55", lw=0.6, alpha=0.7, marker=marker, ms=1.5)
            style = {"marker": marker, "markeredgecolor": "black"}
            ax.plot(x, cluster.center, color=color(cluster.number), lw=2.2, ms=5, **style)
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(labelbottom=ax is axes[-1, 0], labelsize="small")
            _draw_cluster_name(ax, cluster)
        axes[-1, 0].set_xlabel("feature")
        axes[-1, 0].xaxis.get_major_locator().set_params(integer=True)


class Features(NamedTuple):
    """The named features of the mode as dots among all rows, with their values in words."""

    center_name: str
    feature_names: Sequence[str]
    middle: Doubles  # (D,) mean of all rows
    spread: Doubles  # (D,) standard deviation of all rows
    units: Doubles  # (n_shown, D) the features of the modes in the units of the user
    widths: Sequence[float] = (3.0,)
    n_columns: int = 3

    @property
    def note(self) -> str:
        """Explanation of the dots."""
        return (
            f"coloured dots: {self.center_name}, with its values; grey dots: nearest rows of the "
            "cluster; 0 is the mean of all rows, 1 their standard deviation"
        )

    @property
    def height(self) -> float:
        """Height of the panels in inches."""
        return 0.2 * len(self.feature_names) + 0.6

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw each cluster in one panel."""
        y = np.arange(len(self.feature_names))
        names = [label_text(name, 24) for name in self.feature_names]
        for ax, cluster, values in zip(axes[:, 0], clusters, self.units, strict=True):
            if ax is not axes[0, 0]:
                ax.sharex(axes[0, 0])
            is_first = ax.get_subplotspec().colspan.start == 0
            rows = (cluster.rows - self.middle) / self.spread
            ax.axvline(0, color="0.7", lw=0.8, zorder=0)
            ax.plot(rows, np.broadcast_to(y, rows.shape), "o", color="0.6", alpha=0.5, ms=2.5)
            center = (cluster.center - self.middle) / self.spread
            ax.plot(center, y, "o", color=color(cluster.number), mec="black", mew=0.6, ms=6.5)
            for place, value in zip(y, values, strict=True):
                text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
                where = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "center"}
                ax.text(1, place, text, fontsize="small", **where)
            ax.set_yticks(y, names if is_first else [""] * len(y), fontsize="small")
            ax.set_ylim(len(y) - 0.5, -0.5)
            ax.tick_params(axis="y", length=0)
            ax.tick_params(axis="x", labelsize="small")
            ax.grid(axis="y", color="0.92", lw=0.8)
            ax.set_axisbelow(True)
            ax.spines[["top", "right", "left"]].set_visible(False)
            ax.set_title(cluster.name.replace("\n", ", "), fontsize="medium")
        low, high = axes[0, 0].get_xlim()
        axes[0, 0].set_xlim(low, high + 0.35 * (high - low))  # room for the values


class Terms(NamedTuple):
    """The largest features of the mode as bars, with ticks at the mean of its exemplars."""

    center_name: str
    feature_names: Sequence[str] | None
    n_terms: int
    widths: Sequence[float] = (3.4,)
    n_columns: int = 3

    @property
    def note(self) -> str:
        """Explanation of the bars and ticks."""
        return f"bars: largest features of the {self.center_name}; ticks: mean of its nearest rows"

    @property
    def height(self) -> float:
        """Height of the panels in inches."""
        return 0.17 * self.n_terms + 0.7

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw each cluster in one panel."""
        for ax, cluster in zip(axes[:, 0], clusters, strict=True):
            if ax is not axes[0, 0]:
                ax.sharex(axes[0, 0])
            largest = np.argsort(-cluster.center, kind="stable")[: self.n_terms]
            y = np.arange(len(largest))
            ax.barh(y, cluster.center[largest], 0.75, color=color(cluster.number))
            if cluster.exemplars.shape[0]:
                means = np.asarray(cluster.exemplars[:, largest].mean(axis=0)).ravel()
                ax.plot(means, y, "k|", ms=9, mew=1.6)
            ax.set_yticks(y, [self._feature_name(d) for d in largest], fontsize="small")
            ax.tick_params(axis="y", length=0)
            ax.tick_params(axis="x", labelsize="small")
            ax.invert_yaxis()
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_title(cluster.name.replace("\n", ", "), fontsize="medium")

    def _feature_name(self, feature: int) -> str:
        if self.feature_names is None:
            return f"x{feature}"
        return label_text(self.feature_names[feature], 20)


class Classes(NamedTuple):
    """Number of exemplars of each cluster that belong to each class."""

    names: tuple[str, ...]  # (C,)
    counts: npt.NDArray[np.intp]  # (n_shown, C)
    width: float = 2.4  # in inches

    @classmethod
    def of(cls, y: npt.NDArray[Any], nearest: npt.NDArray[np.intp]) -> "Classes":
        """Count the classes of the rows `nearest`, which are padded with -1."""
        names, codes = np.unique(y, return_inverse=True)
        counts = [np.bincount(codes[rows[rows >= 0]], minlength=len(names)) for rows in nearest]
        return cls(tuple(str(name) for name in names), np.array(counts))

    def draw(self, axes: Any, clusters: list[Cluster]) -> None:
        """Draw a bar chart for each cluster, and name its most frequent class."""
        x = np.arange(len(self.names))
        for ax, counts, cluster in zip(axes, self.counts, clusters, strict=True):
            ax.bar(x, counts, color=color(cluster.number))
            ax.set(ylim=(0, max(self.counts.max(), 1)), xlim=(-0.6, len(x) - 0.4))
            ax.set_yticks([])
            ax.set_xticks(x if len(x) <= MAX_NAMED else [], [])
            ax.spines[["top", "right", "left"]].set_visible(False)
            if total := counts.sum():
                most_frequent = label_text(self.names[counts.argmax()], 14)
                text = f"{counts.max()} of {total}\nare {most_frequent}"
                ax.text(1.02, 0.5, text, transform=ax.transAxes, va="center", fontsize="small")
        axes[0].set_title("classes of these rows", fontsize="medium")
        if len(x) <= MAX_NAMED:
            _draw_tick_names(axes[-1], self.names, width=self.width)
        else:
            axes[-1].set_xlabel(f"{len(x)} classes", fontsize="small")


def _draw_cluster_name(ax: Any, cluster: Cluster) -> None:
    ax.set_ylabel(cluster.name, rotation=0, ha="right", va="center", fontsize="small")


def _draw_tick_names(ax: Any, names: Sequence[str], width: float) -> None:
    """Name the ticks; the names are rotated if they are too long for the width in inches."""
    texts = [label_text(name, 24) for name in names]
    rotate = 0.075 * max(map(len, texts)) > width / len(texts)
    if rotate:
        texts = [label_text(name, 14) for name in names]
    ax.set_xticks(range(len(texts)), texts, rotation=90 if rotate else 0, fontsize="small")

"""The panels of fig. 4: degrees and their densities as the bandwidth falls."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust import KModes
from modeclust.plotting.density import KernelDensity
from modeclust.plotting.palette import color, darker

Doubles = npt.NDArray[np.float64]

END = 800.0  # of the axes
BIN = 8
STYLES = ("-", "--")  # of the densities of the left and the right cluster


def draw_panels(model: KModes, X: Doubles, bandwidths: Sequence[float]) -> Any:
    """Draw a row for each bandwidth: histogram, density of each cluster, density of all.

    The densities of K-means, which are flat, are drawn at the largest finite bandwidth.
    """
    import matplotlib.pyplot as plt

    size = (11, 1.75 * len(bandwidths) + 0.6)
    figure, rows = plt.subplots(
        len(bandwidths), 3, figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    density = KernelDensity.of(X, "gaussian")
    largest = float(model.path_.bandwidths[np.isfinite(model.path_.bandwidths)].max())
    for (bars, own, whole), bandwidth in zip(rows, bandwidths, strict=True):
        point = model.path_.at(bandwidth)
        # Colours go from left to right, whatever the numbers of the clusters.
        rank = np.argsort(np.argsort(point.centers[:, 0]))
        _draw_histogram(bars, X[:, 0], rank[point.labels], np.sort(point.centers[:, 0]))
        name = f"bandwidth {bandwidth:.4g}" if np.isfinite(bandwidth) else "K-means"
        bars.set_ylabel(f"{name}\nvertices in a bin")
        width = min(point.bandwidth, largest)
        _draw_densities(own, density, rank[point.labels], width)
        _draw_densities(whole, density, np.zeros(len(X), dtype=int), width)
        for ax in (bars, own):
            _mark_centers(ax, point.centers[:, 0])
        if width < point.bandwidth:
            for ax in (own, whole):
                words = f"drawn at\nbandwidth {width:g}"
                ax.text(1, 1, words, ha="right", va="top", transform=ax.transAxes, fontsize="small")
    titles = ("histogram by cluster", "density of each cluster", "density of all vertices")
    for ax, title in zip(rows[0], titles, strict=True):
        ax.set_title(title)
    for ax in rows[-1]:
        ax.set(xlabel="degree", xlim=(0, END))
    for ax in rows.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_histogram(
    ax: Any, values: Doubles, labels: npt.NDArray[np.intp], centers: Doubles
) -> None:
    edges = np.arange(-0.5, END + BIN, BIN)
    for k in range(len(centers)):
        looks = {"color": color(k), "hatch": ("", "////")[k], "alpha": 0.8}
        ax.hist(values[labels == k], edges, histtype="stepfilled", **looks)
    ax.axvline(centers.mean(), color="black", lw=1.6)
    for center in centers[centers > END]:
        looks = {"ha": "right", "va": "center", "fontsize": "small"}
        ax.text(0.85, 0.6, f"other centroid at {center:,.0f} →", transform=ax.transAxes, **looks)


def _mark_centers(ax: Any, centers: npt.NDArray[Any]) -> None:
    shown = centers[centers <= END]
    ax.plot(shown, np.zeros(len(shown)), "k^", ms=7, clip_on=False, zorder=5)


def _draw_densities(
    ax: Any, density: KernelDensity, labels: npt.NDArray[np.intp], bandwidth: float
) -> None:
    places = np.linspace(0, END, 1601)
    n_curves = int(labels.max()) + 1
    for k, curve in enumerate(density.with_area_of_weights(places, labels, n_curves, bandwidth)):
        shade = "black" if n_curves == 1 else darker(color(k))
        ax.plot(places, curve, ls=STYLES[k], color=shade, lw=1.1)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("vertices per degree")

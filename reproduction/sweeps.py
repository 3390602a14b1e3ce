"""Fits over bandwidths: the path of K-modes, and mean-shift at several bandwidths."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes, MeanShift
from modeclust.plotting.palette import color

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LINES = ((2, "--"), (4, "-."))  # colour and style of the lines to compare with


class Schedule(NamedTuple):
    """Bandwidths of a path: a geometric sequence that includes both ends."""

    first: float
    last: float
    n_bandwidths: int

    def fit(self, X: Any, n_clusters: int, *, seed: int = 0, n_init: int = 20) -> KModes:
        """Return K-modes fitted along these bandwidths, with the labels at each of them.

        As in the paper, the path starts from the best of 20 runs of K-means.
        """
        model = KModes(
            n_clusters,
            start_bandwidth=self.first,
            bandwidth=self.last,
            n_bandwidths=self.n_bandwidths,
            n_init=n_init,
            random_state=seed,
            store_labels=True,
        )
        return model.fit(X)


def fit_mean_shift(X: Doubles, bandwidth: float, n_jobs: int | None = None) -> MeanShift:
    """Return mean-shift at a bandwidth, with enough iterations for slow trajectories."""
    model = MeanShift(bandwidth=float(bandwidth), max_iter=10_000, random_state=0, n_jobs=n_jobs)
    return model.fit(X)


class Sweep(NamedTuple):
    """The result of mean-shift at each of several bandwidths."""

    bandwidths: Doubles  # increasing
    modes: list[Doubles]
    rand: Doubles  # adjusted Rand index

    @classmethod
    def of(cls, X: Doubles, y: npt.NDArray[Any], bandwidths: Doubles) -> "Sweep":
        """Run mean-shift at all bandwidths."""
        fits = (delayed(fit_mean_shift)(X, bandwidth, n_jobs=1) for bandwidth in bandwidths)
        models = Parallel(n_jobs=-1, prefer="threads")(fits)
        return cls(
            bandwidths,
            [model.cluster_centers_ for model in models],
            np.array([adjusted_rand_score(y, model.labels_) for model in models]),
        )

    @property
    def n_modes(self) -> npt.NDArray[np.intp]:
        """Return the number of modes at each bandwidth."""
        return np.array([len(modes) for modes in self.modes])

    @property
    def best(self) -> int:
        """Return the index of the bandwidth with the highest adjusted Rand index."""
        return int(self.rand.argmax())

    @property
    def best_with_two_modes(self) -> float:
        """Return the highest index with two modes; 0 if no bandwidth has two."""
        return float(self.rand[self.n_modes == 2].max(initial=0.0))


def draw_sweeps(
    sweeps: Sequence[Sweep], dotted: Sequence[Flags], bandwidth: float, lines: dict[str, float]
) -> Any:
    """Draw the number of modes and the Rand index over bandwidths, with the first sweep in bold.

    Dots mark the bandwidths where `dotted` is true. Vertical lines mark the `bandwidth` of K-modes
    and horizontal `lines` the Rand index of other algorithms.
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for i, (sweep, flags) in reversed(list(enumerate(zip(sweeps, dotted, strict=True)))):
        shade, width = (color(0), 2.2) if i == 0 else ("0.7", 0.8)
        for ax, values in ((left, sweep.n_modes), (right, sweep.rand)):
            ax.plot(sweep.bandwidths, values, color=shade, lw=width)
            dots = {"color": shade, "ms": 2 + 1.6 * width}
            ax.plot(sweep.bandwidths[flags], values[flags], "o", **dots)
    for ax in (left, right):
        ax.axvline(bandwidth, color="black", ls=":", lw=1, label="bandwidth of K-modes")
        ax.set(xscale="log", xlabel="bandwidth")
        _label_ticks(ax.xaxis)
        ax.spines[["top", "right"]].set_visible(False)
    left.axhline(2, color=color(2), ls="--", lw=1.2, label="two modes")
    left.set(yscale="log", ylabel="modes of mean-shift")
    _label_ticks(left.yaxis)
    for (name, value), (k, style) in zip(lines.items(), LINES, strict=False):
        right.axhline(value, color=color(k), ls=style, lw=1.2, label=name)
    right.set(ylabel="adjusted Rand index", ylim=(min(-0.03, *lines.values()) - 0.02, 1.03))
    for ax in (left, right):
        # Below the axes, the legend covers no curve.
        options = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13), "fontsize": "small"}
        ax.legend(frameon=False, ncols=3, **options)
    return figure


def _label_ticks(axis: Any) -> None:
    """Label 1, 2, 5, 10, 20 and so on along a log axis."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")

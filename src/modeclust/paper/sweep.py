"""Mean-shift over bandwidths: its modes, and how well its clusters agree with classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score

from modeclust import MeanShift
from modeclust.plotting.palette import color

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LINES = ((2, "--"), (4, "-."))  # colours and styles of lines to compare with


class Sweep(NamedTuple):
    """What mean-shift finds at each of some bandwidths."""

    bandwidths: Doubles  # increasing
    modes: list[Doubles]
    agree: Doubles  # adjusted Rand index

    @classmethod
    def of(cls, X: Doubles, y: npt.NDArray[Any], bandwidths: Doubles) -> "Sweep":
        """Run mean-shift at all bandwidths."""
        fits = (delayed(mean_shift)(X, bandwidth, n_jobs=1) for bandwidth in bandwidths)
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
        """Return where the clusters agree best."""
        return int(self.agree.argmax())

    @property
    def best_of_two(self) -> float:
        """Return the best agreement with two modes; 0 if no bandwidth has two."""
        return float(self.agree[self.n_modes == 2].max(initial=0.0))


def mean_shift(X: Doubles, bandwidth: float, n_jobs: int | None = None) -> MeanShift:
    """Return mean-shift at a bandwidth, run to its end where climbs are slow."""
    model = MeanShift(bandwidth=float(bandwidth), max_iter=10_000, random_state=0, n_jobs=n_jobs)
    model.fit(X)
    return model


def draw_sweeps(
    sweeps: Sequence[Sweep], dotted: Sequence[Flags], bandwidth: float, lines: dict[str, float]
) -> Any:
    """Draw modes and agreement over bandwidths, the first sweep in bold.

    There are dots at the bandwidths that are `dotted`. The bandwidth of K-modes is drawn, and as
    `lines` the agreement of others.
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for i, (sweep, flags) in reversed(list(enumerate(zip(sweeps, dotted, strict=True)))):
        shade, width = (color(0), 2.2) if i == 0 else ("0.7", 0.8)
        for ax, heights in ((left, sweep.n_modes), (right, sweep.agree)):
            ax.plot(sweep.bandwidths, heights, color=shade, lw=width)
            dots = {"color": shade, "ms": 2 + 1.6 * width}
            ax.plot(sweep.bandwidths[flags], heights[flags], "o", **dots)
    for ax in (left, right):
        ax.axvline(bandwidth, color="black", ls=":", lw=1, label="bandwidth of K-modes")
        ax.set(xscale="log", xlabel="bandwidth")
        _name_ticks(ax.xaxis)
        ax.spines[["top", "right"]].set_visible(False)
    left.axhline(2, color=color(2), ls="--", lw=1.2, label="two modes")
    left.set(yscale="log", ylabel="modes of mean-shift")
    _name_ticks(left.yaxis)
    for (name, height), (k, style) in zip(lines.items(), LINES, strict=False):
        right.axhline(height, color=color(k), ls=style, lw=1.2, label=name)
    right.set(ylabel="adjusted Rand index", ylim=(min(-0.03, *lines.values()) - 0.02, 1.03))
    for ax in (left, right):
        # Below the axes, where no curve is.
        looks = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13), "fontsize": "small"}
        ax.legend(frameon=False, ncols=3, **looks)
    return figure


def _name_ticks(axis: Any) -> None:
    """Name 1, 2, 5, 10 and so on along a log axis."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")

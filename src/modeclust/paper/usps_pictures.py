"""The pictures of fig. 5, and of what changes with the bandwidth."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modeclust import ModeTree
from modeclust.paper.findings import Picture
from modeclust.paper.usps_sample import N_NEIGHBORS, Doubles, Sample
from modeclust.plotting import ModesDisplay
from modeclust.plotting.palette import color

Shape = tuple[int, int] | None


def draw_panels(samples: Sequence[Sample], shape: Shape) -> list[Picture]:
    """Return the centroids of K-means, of K-modes and of mean-shift with their neighbours."""
    first = samples[0]
    pictures = []
    for step, bandwidth, name in ((0, np.inf, "K-means"), (-1, None, "K-modes")):
        display = _draw_centroids(first.model, first, shape, bandwidth)
        caption = (
            f"{name}: each centroid, the images nearest to it in its cluster, and their classes. "
            f"On average {first.purity(step):.0%} of them are of the commonest class."
        )
        pictures.append(Picture(display.figure_, caption))
    found = next((sample for sample in samples if sample.gms is not None), None)
    if found is not None and found.gms is not None:
        display = _draw_centroids(found.gms, found, shape, None)
        display.title_.set_text(f"Mean-shift: {display.title_.get_text().lower()}")
        share = found.gms.counts_.max() / len(found.X)
        caption = f"Mean-shift with ten modes: one cluster has {share:.1%} of the rows."
        pictures.append(Picture(display.figure_, caption))
    return pictures


def _draw_centroids(
    model: Any, sample: Sample, shape: Shape, bandwidth: float | None
) -> ModesDisplay:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(11, 5.4), layout="constrained")
    return ModesDisplay.from_estimator(
        model,
        sample.X,
        sample.y,
        bandwidth=bandwidth,
        n_exemplars=N_NEIGHBORS,
        image_shape=shape,
        ax=ax,
    )


def draw_pair(sample: Sample, shape: Shape) -> Picture:
    """Return the two nearest modes, and the one that stays after it took over the other's rows."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(6.6, 2.6), layout="constrained")
    removed, kept, center, taken, moved = sample.without_lower
    images = {
        f"cluster {removed},\nremoved": (removed, sample.modes[removed]),
        f"cluster {kept},\nkept": (kept, sample.modes[kept]),
        f"cluster {kept},\nK = 9": (kept, center),
    }
    for ax, (title, (cluster, image)) in zip(axes, images.items(), strict=True):
        ax.imshow(image.reshape(shape), "gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize="medium")
        ax.spines[:].set(color=color(cluster), linewidth=2.5)
    caption = (
        "The two modes nearest to each other. Without the left one, at K = 9, the other takes over "
        f"{taken:.0%} of its rows, and moves by {moved:.0%} of its median distance to the rest."
    )
    return Picture(figure, caption)


def draw_sweeps(bandwidths: Doubles, purities: Doubles, trees: Sequence[ModeTree]) -> Picture:
    """Return the purity of K-modes and the number of modes of mean-shift over bandwidths."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    finite = np.isfinite(bandwidths)
    left.plot(bandwidths[finite], purities[:, finite].T, color=color(3), linewidth=0.8)
    left.plot(
        bandwidths[finite],
        purities[:, finite].mean(axis=0),
        color=color(0),
        linewidth=2.5,
        label="K-modes, mean of the samples",
    )
    left.axhline(purities[:, ~finite].mean(), color=color(2), linestyle="--", label="K-means, mean")
    left.set(ylabel="purity of the neighbours", title="K-modes: classes of the neighbours")
    for i, tree in enumerate(trees):
        style = {"color": color(i), "linestyle": ["-", "--", ":"][i % 3]}
        right.plot(tree.bandwidths, tree.n_modes, label=f"sample {i}", **style)
    right.set(yscale="log", ylabel="modes", title="Mean-shift: number of modes")
    for ax, ticks in ((left, (1, 2, 3, 5, 10)), (right, (1, 1.5, 2, 3, 4))):
        ax.set(xscale="log", xlabel="bandwidth")
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
    right.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    left.invert_xaxis()
    caption = (
        "Left: the share of the commonest class among the neighbours as the bandwidth falls, with "
        "a thin line for each sample. Right: how many modes the density of all rows has."
    )
    return Picture(figure, caption)

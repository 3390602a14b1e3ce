"""Draw the handwritten digits by which K-means, K-modes and exemplars represent clusters.

    python docs/pictures/front.py [--out FOLDER]

The picture of the front page has the five of ten clusters in which K-means mixes classes most. The
picture of the README and of the guide, digits.png, has all ten.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from modeclust import KModes
from modeclust.datasets import load_dataset

N_DRAWN, N_NEAREST = 5, 20
INK = {"light": "#222832", "dark": "#ced6dd"}  # the theme's colours of text


def shares(classes):
    """Return the classes with their shares, in words, the commonest first."""
    found, counts = np.unique(classes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [f"{counts[i] / len(classes):.0%} {found[i]}s" for i in order]


def largest_share(classes):
    """Return the share of the commonest class."""
    return np.unique(classes, return_counts=True)[1].max() / len(classes)


def nearest(X, point):
    """Return which rows are nearest to a point."""
    return np.argsort(np.linalg.norm(X - point, axis=1), kind="stable")[:N_NEAREST]


def show(ax, point, shape):
    """Draw one image, without ticks."""
    ax.imshow(point.reshape(shape), cmap="gray_r", vmin=0, vmax=1, interpolation="none")
    ax.set(xticks=[], yticks=[])


def draw_front(X, y, model, shape, ink):
    """Return a figure: for each cluster its mean, its mode, and the row nearest to the mode."""
    means = model.path_[0]
    mixed = np.argsort([largest_share(y[means.labels == k]) for k in range(len(means.counts))])
    drawn = mixed[:N_DRAWN]
    rows = {
        "K-means returns its mean; nearest to it are": means.centers[drawn],
        "K-modes returns its mode; nearest to it are": model.modes_[drawn],
        "The row nearest to the mode": X[model.exemplar_indices_[drawn]],
    }
    figure, axes = plt.subplots(4, N_DRAWN, figsize=(6, 5.7), height_ratios=[0.35, 1, 1, 1])
    figure.subplots_adjust(left=0.01, right=0.99, top=0.95, bottom=0.02, wspace=0.15, hspace=0.55)
    headings = ["A cluster of K-means holds", *rows]
    for ax, heading in zip(axes[:, 0], headings, strict=True):
        ax.set_title(heading, loc="left", color=ink, fontsize=14, fontweight="bold")
    for ax, k in zip(axes[0], drawn, strict=True):
        ax.axis("off")
        words = "\n".join(shares(y[means.labels == k])[:2])
        ax.text(0.5, 0.5, words, ha="center", va="center", color=ink, fontsize=13)
    for line, (heading, points) in zip(axes[1:], rows.items(), strict=True):
        for ax, point in zip(line, points, strict=True):
            show(ax, point, shape)
            if heading.startswith("K-"):
                near, *_ = shares(y[nearest(X, point)])
                ax.set_xlabel(near, color=ink, fontsize=13)
    return figure


def draw_digits(X, y, model, shape):
    """Return a figure of four rows: the means, centers, modes and exemplars of all clusters.

    Below an image is the most frequent class of the rows nearest to it, if there are several.
    """
    rows = {
        "means of\nK-means": model.path_[0].centers,
        "centers": model.cluster_centers_,
        "modes": model.modes_,
        "exemplars": X[model.exemplar_indices_],
    }
    figure, axes = plt.subplots(len(rows), len(model.modes_), figsize=(9, 4.3))
    figure.subplots_adjust(left=0.1, right=0.995, top=0.94, bottom=0.01, wspace=0.12, hspace=0.3)
    for k, ax in enumerate(axes[0]):
        ax.set_title(f"cluster {k}", fontsize=9)
    for line, (name, points) in zip(axes, rows.items(), strict=True):
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11)
        for ax, point in zip(line, points, strict=True):
            show(ax, point, shape)
            near = shares(y[nearest(X, point)])
            if name != "exemplars" and len(near) > 1:
                ax.set_xlabel(near[0], fontsize=9, labelpad=2)
    return figure


def main():
    """Draw the front page's picture for light and dark pages, and that of all clusters."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="FOLDER")
    folder = parser.parse_args().out
    X, y, _, shape, _ = load_dataset("digits")
    model = KModes(10, random_state=0).fit(X)
    mpl.rcParams["svg.hashsalt"] = "front"  # the same file from the same numbers
    for mode, ink in INK.items():
        figure = draw_front(X, y, model, shape, ink)
        file = folder / f"front_{mode}.svg"
        figure.savefig(file, transparent=True, metadata={"Date": None})
        plt.close(figure)
    draw_digits(X, y, model, shape).savefig(folder / "digits.png", dpi=110)


if __name__ == "__main__":
    main()

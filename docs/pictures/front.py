"""Draw the picture of the front page: means and modes of the handwritten digits.

    python docs/pictures/front.py [--out FOLDER]

Of ten clusters, the five are drawn in which K-means mixes classes most.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from modeclust import KModes, estimate_bandwidth
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


def nearest(X, place):
    """Return which rows are nearest to a place."""
    return np.argsort(np.linalg.norm(X - place, axis=1), kind="stable")[:N_NEAREST]


def draw(X, y, model, shape, ink):
    """Return a figure: for each cluster its mean, its mode, and the row nearest to the mode."""
    means = model.path_[0]
    mixed = np.argsort([largest_share(y[means.labels == k]) for k in range(len(means.counts))])
    drawn = mixed[:N_DRAWN]
    rows = {
        "K-means returns its mean; nearest to it are": means.centers[drawn],
        "K-modes returns its mode; nearest to it are": model.cluster_centers_[drawn],
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
    for line, (heading, places) in zip(axes[1:], rows.items(), strict=True):
        for ax, place in zip(line, places, strict=True):
            ax.imshow(place.reshape(shape), cmap="gray_r", vmin=0, vmax=1, interpolation="none")
            ax.set(xticks=[], yticks=[])
            if heading.startswith("K-"):
                near, *_ = shares(y[nearest(X, place)])
                ax.set_xlabel(near, color=ink, fontsize=13)
    return figure


def main():
    """Draw it for pages on a light and on a dark ground."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="FOLDER")
    folder = parser.parse_args().out
    X, y, _, shape, _ = load_dataset("digits")
    model = KModes(10, bandwidth=estimate_bandwidth(X) / 3, random_state=0).fit(X)
    mpl.rcParams["svg.hashsalt"] = "front"  # the same file from the same numbers
    for mode, ink in INK.items():
        figure = draw(X, y, model, shape, ink)
        file = folder / f"front_{mode}.svg"
        figure.savefig(file, transparent=True, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()

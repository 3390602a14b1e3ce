"""Draw the pictures of the user guide, but that of the explorer, which is a screenshot.

python docs/pictures/guide.py [NAME ...] [--out FOLDER]
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from kmedoids import KMedoids
from sklearn.cluster import KMeans

from modeclust import KModes, LaplacianKModes, MeanShift, _core, estimate_bandwidth
from modeclust.data.mode_pass import ModePass
from modeclust.datasets import load_dataset
from modeclust.kernels import KERNELS
from modeclust.plotting import PathDisplay
from modeclust.plotting.palette import color, line

mpl.use("Agg")
import matplotlib.pyplot as plt


def arc_and_blobs():
    """Return the data of the page "Which algorithm when"."""
    rng = np.random.RandomState(0)
    angles = rng.uniform(0, np.pi, 200)
    arc = 1.5 * np.c_[np.cos(angles), np.sin(angles)] + rng.normal(0, 0.08, (200, 2))
    inside = rng.normal([0, -0.9], 0.22, (200, 2))
    beside = rng.normal([3, 0.5], 0.3, (200, 2))
    return np.r_[arc, inside, beside]


def two_sizes(seed):
    """Return one shape twice, small and dense, large and sparse, as in "Adaptive bandwidths"."""
    rng = np.random.RandomState(seed)
    return np.r_[rng.gamma(3, 1, (500, 2)) / 20, rng.gamma(3, 1, (500, 2)) + [6, 0]]


def which_algorithm():
    """Draw what six clusterers make of an arc and two blobs."""
    X = arc_and_blobs()
    models = {
        "KMeans": KMeans(3, n_init=10, random_state=0),
        "KModes": KModes(3, random_state=0),
        "KMedoids": KMedoids(3, method="fasterpam", metric="euclidean", random_state=0),
        "MeanShift": MeanShift(bandwidth=0.25),
        "MeanShift, three modes": MeanShift(n_clusters=3),
        "LaplacianKModes": LaplacianKModes(3),
    }
    figure, axes = plt.subplots(
        2, 3, figsize=(9, 4), sharex=True, sharey=True, layout="constrained"
    )
    for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
        labels = model.fit(X).labels_
        centers = getattr(model, "modes_", model.cluster_centers_)
        order = np.argsort(np.argsort(centers @ [1, 2], kind="stable"))  # one colour for one place
        for k, center in enumerate(centers):
            own = X[labels == k]
            ax.scatter(*own.T, s=6, color=color(order[k]), linewidths=0)
            ax.scatter(*center, s=140, color="w", edgecolors="k", marker="*", zorder=3)
        ax.set_title(name, fontsize=10)
        ax.set_aspect("equal")
    figure.supxlabel("x0", fontsize=9)
    figure.supylabel("x1", fontsize=9)
    return figure


def kernels():
    """Draw the kernels and the weights that they give to rows."""
    distances = np.linspace(0, 3, 301)
    center = np.zeros((1, 1))

    def measure(distance, code):
        """Return G and g at a distance, by a pass over a row there and a row at the center."""
        sums = ModePass(center, code, 1.0).run(_core.Rows(np.array([[0.0], [distance]])))
        return sums.objective - 1.0, sums.mass[0] - 1.0

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharex=True, layout="constrained")
    for k, (name, code) in enumerate(KERNELS.items()):
        looks = {"color": color(k), "ls": line(10 * k), "label": name}
        measured = np.array([measure(distance, code) for distance in distances])
        for ax, values in zip(axes, measured.T, strict=True):
            ax.plot(distances, values, **looks)
    axes[0].set(ylabel="kernel G", title="What a row adds to the objective")
    axes[1].set(ylabel="weight g, 1 at the center", title="Its weight in the mode step")
    axes[1].legend(frameon=False)
    for ax in axes:
        ax.set(xlabel="distance in bandwidths", ylim=(-0.02, 1.05))
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def adaptive():
    """Draw modes in a dense and in a sparse cluster."""
    X = two_sizes(0)
    rule = estimate_bandwidth(X)
    means = KModes(2, bandwidth=np.inf, random_state=0).fit(X)
    labels = means.labels_
    local = estimate_bandwidth(X, local=True) / rule
    scale = (np.bincount(labels, local) / np.bincount(labels))[labels]
    found = {
        "K-means": means,
        "default": KModes(2, random_state=0).fit(X),
        "one bandwidth, knn": KModes(2, bandwidth="knn", random_state=0).fit(X),
        "adaptive, 3 x knn": KModes(2, bandwidth=3 * rule, adaptive=True, random_state=0).fit(X),
        "a scale for each cluster": KModes(2, bandwidth="knn", random_state=0).fit(
            X, sample_scale=scale
        ),
    }
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    true = np.array([[0.1, 0.1], [8, 2]])
    for ax, peak, title in zip(axes, true, ("dense cluster", "sparse cluster"), strict=True):
        own = labels == found["K-means"].predict(peak[None])[0]
        ax.scatter(*X[own].T, s=5, color="0.75", linewidths=0)
        ax.scatter(*peak, s=160, marker="+", color="k", label="true mode", zorder=3)
        for k, (name, model) in enumerate(found.items()):
            center = model.modes_[model.predict(peak[None])[0]]
            looks = {"color": color(k), "marker": "*Dos^"[k], "edgecolors": "k", "s": 70}
            ax.scatter(*center, label=name, zorder=4, **looks)
        size = 1 / 20 if title == "dense cluster" else 1
        corner = peak - 2 * size
        ax.set(xlim=corner[0] + np.array([0, 7]) * size, ylim=corner[1] + np.array([0, 7]) * size)
        ax.set(title=title, xlabel="x0", ylabel="x1", aspect="equal")
    axes[0].legend(fontsize=8)
    return figure


def paths():
    """Draw the paths of the modes of two moons."""
    X = load_dataset("moons").X
    model = KModes(2, bandwidth=0.1, random_state=0).fit(X)
    return PathDisplay.from_estimator(model, X).figure_


PICTURES = {draw.__name__: draw for draw in (which_algorithm, kernels, adaptive, paths)}


def main():
    """Draw all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="FOLDER")
    arguments = parser.parse_args()
    for name in arguments.names or PICTURES:
        PICTURES[name]().savefig(arguments.out / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()

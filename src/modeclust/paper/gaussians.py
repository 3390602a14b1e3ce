"""Fig. 2: three Gaussians in two clusters.

With K = 2, K-means puts one centroid between two of the clusters, where there is no data. K-modes
moves it into one of them.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeclust.datasets import load_dataset
from modeclust.paper.course import Course
from modeclust.paper.findings import Findings, Measure, Picture
from modeclust.paper.typicality import densities_at, distances_to_rows
from modeclust.plotting import PathDisplay

COURSE = Course(3.0, 1.0, 20)
LAST = COURSE.last
DRAWN_AT = (np.inf, LAST)


def reproduce(*, quick: bool = False) -> Findings:
    """Return how typical the centroids of K-means and of K-modes are."""
    import matplotlib.pyplot as plt

    data = load_dataset("gaussians")
    two, three = (COURSE.follow(data.X, n_clusters) for n_clusters in (2, 3))
    means, modes = two.path_.centers[0], two.cluster_centers_
    highest = densities_at(data.X, data.X, LAST).max()
    low, high = (densities_at(data.X, centers, LAST).min() / highest for centers in (means, modes))
    far, near = (distances_to_rows(data.X, centers).max() for centers in (means, modes))
    agreement = [adjusted_rand_score(data.y, labels) for labels in three.path_.labels[[0, -1]]]

    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    for ax, bandwidth in zip(axes, DRAWN_AT, strict=True):
        PathDisplay.from_estimator(two, data.X, bandwidth=bandwidth, ax=ax)
    caption = (
        "K = 2. Left, K-means: one centroid lies between two clusters, and the row of its cluster "
        "nearest to it at the rim of one. Right, K-modes: both lie at peaks of the density."
    )
    return Findings(
        {
            "mean-in-low-density": Measure.exactly(low),
            "mode-in-high-density": Measure.exactly(high),
            "mode-nearer-to-data": Measure.exactly(near / far),
            "both-find-three": Measure.exactly(min(agreement)),
        },
        [Picture(figure, caption)],
    )

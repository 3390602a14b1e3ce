"""Fig. 2: three Gaussians in two clusters.

With K = 2, one mean of K-means lies between two Gaussians, where there is no data. K-modes moves it
into one of them.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeclust.datasets import load_dataset
from modeclust.plotting import PathDisplay
from reproduction.findings import Findings, Measure, Picture
from reproduction.sweeps import Schedule
from reproduction.typicality import densities_at, distances_to_rows

SCHEDULE = Schedule(3.0, 1.0, 20)
LAST = SCHEDULE.last


def reproduce(*, quick: bool = False) -> Findings:
    """Measure how typical the centers of K-means and of K-modes are."""
    import matplotlib.pyplot as plt

    data = load_dataset("gaussians")
    two, three = (SCHEDULE.fit(data.X, n_clusters) for n_clusters in (2, 3))
    means, modes = two.path_.centers[0], two.cluster_centers_
    highest = densities_at(data.X, data.X, LAST).max()
    low, high = (densities_at(data.X, centers, LAST).min() / highest for centers in (means, modes))
    far, near = (distances_to_rows(data.X, centers).max() for centers in (means, modes))
    rand = [adjusted_rand_score(data.y, three.path_[step].labels) for step in (0, -1)]

    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    for ax, bandwidth in zip(axes, (np.inf, LAST), strict=True):
        PathDisplay.from_estimator(two, data.X, bandwidth=bandwidth, ax=ax)
    caption = (
        "K = 2. Left, K-means: one mean lies between two Gaussians, and its exemplar at the edge "
        "of one of them. Right, K-modes: both modes lie at peaks of the density."
    )
    return Findings(
        {
            "mean-in-low-density": Measure.exactly(low),
            "mode-in-high-density": Measure.exactly(high),
            "mode-nearer-to-data": Measure.exactly(near / far),
            "both-find-three": Measure.exactly(min(rand)),
        },
        [Picture(figure, caption)],
    )

"""Fig. 3: two moons.

No straight line separates them, so neither K-means nor K-modes does. K-modes comes nearer, and
moves its centroids from the empty insides of the moons onto them. Mean-shift has many modes.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes
from modeclust.paper.course import Course
from modeclust.paper.findings import Findings, Grid, Measure, Picture
from modeclust.paper.sweep import Sweep, draw_sweeps
from modeclust.paper.typicality import density_ranks
from modeclust.plotting import PathDisplay
from modeclust.plotting.exemplars import nearest_in_cluster

Doubles = npt.NDArray[np.float64]

COURSE = Course(1.0, 0.1, 20)
LAST = COURSE.last
N_ROWS, NOISE = 1000, 0.08  # as in the data set that comes with the library
N_SAMPLES = 10
# Bandwidths of mean-shift, the closest together where it comes to two modes.
SWEPT = np.concatenate(
    [np.geomspace(0.05, 0.2, 7), np.linspace(0.22, 0.36, 15), [0.4, 0.45, 0.5, 0.7, 1.0]]
)
DRAWN_AT = (np.inf, LAST)


class Sample(NamedTuple):
    """Moons, clustered in all ways."""

    X: Doubles
    model: KModes
    means_agree: float  # adjusted Rand index of K-means
    modes_agree: float  # and of K-modes
    mean_rank: float  # share of rows in a lower density than a mean, the higher of two
    mode_rank: float  # and than a mode, the lower of two
    is_nearest_wrong: bool
    at_last: Sweep  # of mean-shift, at the bandwidth of K-modes alone
    sweep: Sweep


def reproduce(*, quick: bool = False) -> Findings:
    """Return how well moons are separated, and how typical of them the centroids are."""
    n_rows, n_samples, swept = (200, 2, SWEPT[::7]) if quick else (N_ROWS, N_SAMPLES, SWEPT)
    samples = [cluster_moons(n_rows, seed, swept) for seed in range(n_samples)]
    measures = {
        "neither-perfect": Measure.mean_of(max(s.means_agree, s.modes_agree) for s in samples),
        "modes-improve": Measure.mean_of(s.modes_agree - s.means_agree for s in samples),
        "mean-where-none-are": Measure.mean_of(s.mean_rank for s in samples),
        "mode-typical": Measure.mean_of(s.mode_rank for s in samples),
        "nearest-row-wrong": Measure.mean_of(s.is_nearest_wrong for s in samples),
        "mean-shift-modes": Measure.mean_of(s.at_last.n_modes[0] for s in samples),
        "no-two-modes": Measure.mean_of(s.sweep.best_of_two for s in samples),
    }
    pictures = [
        Picture(
            _draw_paths(samples[0]),
            "K = 2. Left, K-means: the centroids lie inside the moons, where there are no rows. "
            "Right, K-modes: they lie on the moons.",
        ),
        Picture(
            _draw_sweeps(samples),
            f"Mean-shift on {n_samples} samples of the moons, that of the picture above in bold. "
            "Left, the number of modes. Right, how well its clusters agree with the moons; dots "
            "are where it has two modes.",
        ),
    ]
    return Findings(measures, pictures, [_table(samples)])


def cluster_moons(n_rows: int, seed: int, swept: Doubles) -> Sample:
    """Draw moons, and cluster them by K-means, K-modes and mean-shift."""
    X, y = make_moons(n_rows, noise=NOISE, random_state=seed)
    model = COURSE.follow(X, 2)
    means, labels = model.path_.centers[0], model.path_.labels[0]
    return Sample(
        X,
        model,
        adjusted_rand_score(y, labels),
        adjusted_rand_score(y, model.labels_),
        density_ranks(X, means, LAST).max(),
        density_ranks(X, model.cluster_centers_, LAST).min(),
        is_nearest_row_wrong(X, y, labels, means),
        Sweep.of(X, y, np.array([LAST])),
        Sweep.of(X, y, swept),
    )


def is_nearest_row_wrong(
    X: Doubles, y: npt.NDArray[Any], labels: npt.NDArray[Any], centers: Doubles
) -> bool:
    """Return whether a row nearest to the centroid of its cluster is not of its main class."""
    (nearest,) = nearest_in_cluster(X, labels, centers, 1).T
    main = [np.bincount(y[labels == k]).argmax() for k in range(len(centers))]
    return bool(np.any(y[nearest] != main))


def _table(samples: list[Sample]) -> Grid:
    def row(name: str, n_clusters: Iterable[float], agreement: Iterable[float]) -> list[str]:
        found = Measure.mean_of(agreement)
        return [
            name,
            f"{np.mean(list(n_clusters)):.1f}",
            f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})",
        ]

    return Grid(
        f"Agreement with the moons: adjusted Rand index, mean over {len(samples)} samples.",
        ["algorithm", "clusters", "adjusted Rand index"],
        [
            row("K-means", [2], [s.means_agree for s in samples]),
            row(f"K-modes at {LAST:g}", [2], [s.modes_agree for s in samples]),
            row(
                f"mean-shift at {LAST:g}",
                [s.at_last.n_modes[0] for s in samples],
                [s.at_last.agree[0] for s in samples],
            ),
            row("mean-shift, best with two modes", [2], [s.sweep.best_of_two for s in samples]),
            row(
                "mean-shift, best at any bandwidth",
                [s.sweep.n_modes[s.sweep.best] for s in samples],
                [s.sweep.agree[s.sweep.best] for s in samples],
            ),
        ],
    )


def _draw_paths(sample: Sample) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for ax, bandwidth in zip(axes, DRAWN_AT, strict=True):
        PathDisplay.from_estimator(sample.model, sample.X, bandwidth=bandwidth, ax=ax)
    return figure


def _draw_sweeps(samples: list[Sample]) -> Any:
    sweeps = [s.sweep for s in samples]
    lines = {"K-modes": samples[0].modes_agree, "K-means": samples[0].means_agree}
    return draw_sweeps(sweeps, [sweep.n_modes == 2 for sweep in sweeps], LAST, lines)

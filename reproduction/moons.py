"""Fig. 3: two moons.

No straight line separates the moons, so neither K-means nor K-modes does. K-modes comes closer, and
moves the centers from the empty insides of the moons onto the moons. Mean-shift has many modes.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes
from modeclust.plotting import PathDisplay
from modeclust.plotting.exemplars import nearest_in_cluster
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.sweeps import Schedule, Sweep, draw_sweeps
from reproduction.typicality import density_ranks

Doubles = npt.NDArray[np.float64]

SCHEDULE = Schedule(1.0, 0.1, 20)
LAST = SCHEDULE.last
N_ROWS, NOISE = 1000, 0.08  # as in `load_dataset("moons")`
N_SAMPLES = 10
# Bandwidths of mean-shift, densest where the number of modes approaches two.
SWEPT = np.concatenate(
    [np.geomspace(0.05, 0.2, 7), np.linspace(0.22, 0.36, 15), [0.4, 0.45, 0.5, 0.7, 1.0]]
)


class Sample(NamedTuple):
    """A sample of the moons with the results of all algorithms."""

    X: Doubles
    model: KModes
    rand_of_kmeans: float  # adjusted Rand index
    rand_of_kmodes: float
    mean_rank: float  # share of rows with a lower density than a mean; the larger of two
    mode_rank: float  # share of rows with a lower density than a mode; the smaller of two
    is_nearest_wrong: bool
    at_last: Sweep  # mean-shift at the last bandwidth of K-modes
    sweep: Sweep


def reproduce(*, quick: bool = False) -> Findings:
    """Measure how well the moons are separated, and how typical the centers are."""
    n_rows, n_samples, swept = (200, 2, SWEPT[::7]) if quick else (N_ROWS, N_SAMPLES, SWEPT)
    samples = [cluster_moons(n_rows, seed, swept) for seed in range(n_samples)]
    measures = {
        "neither-perfect": Measure.mean_of(
            max(s.rand_of_kmeans, s.rand_of_kmodes) for s in samples
        ),
        "modes-improve": Measure.mean_of(s.rand_of_kmodes - s.rand_of_kmeans for s in samples),
        "mean-where-none-are": Measure.mean_of(s.mean_rank for s in samples),
        "mode-typical": Measure.mean_of(s.mode_rank for s in samples),
        "nearest-row-wrong": Measure.mean_of(s.is_nearest_wrong for s in samples),
        "mean-shift-modes": Measure.mean_of(s.at_last.n_modes[0] for s in samples),
        "no-two-modes": Measure.mean_of(s.sweep.best_with_two_modes for s in samples),
    }
    pictures = [
        Picture(
            _draw_paths(samples[0]),
            "K = 2. Left, K-means: the means lie inside the moons, where there are no rows. "
            "Right, K-modes: the modes lie on the moons.",
        ),
        Picture(
            _draw_sweeps(samples),
            f"Mean-shift on {n_samples} samples of the moons, the one in the picture above in "
            "bold. Left, the number of modes. Right, the agreement of its clusters with the "
            "moons. Dots mark bandwidths with two modes.",
        ),
    ]
    return Findings(measures, pictures, [_table(samples)])


def cluster_moons(n_rows: int, seed: int, swept: Doubles) -> Sample:
    """Draw two moons and cluster them by K-means, K-modes and mean-shift."""
    X, y = make_moons(n_rows, noise=NOISE, random_state=seed)
    model = SCHEDULE.fit(X, 2)
    kmeans = model.path_[0]
    return Sample(
        X,
        model,
        adjusted_rand_score(y, kmeans.labels),
        adjusted_rand_score(y, model.labels_),
        density_ranks(X, kmeans.centers, LAST).max(),
        density_ranks(X, model.cluster_centers_, LAST).min(),
        is_nearest_row_wrong(X, y, kmeans.labels, kmeans.centers),
        Sweep.of(X, y, np.array([LAST])),
        Sweep.of(X, y, swept),
    )


def is_nearest_row_wrong(X: Doubles, y: npt.NDArray[Any], labels: Any, centers: Any) -> bool:
    """Return whether the nearest row to any center is not of the main class of its cluster."""
    (nearest,) = nearest_in_cluster(X, labels, centers, 1).T
    main = [np.bincount(y[labels == k]).argmax() for k in range(len(centers))]
    return bool(np.any(y[nearest] != main))


def _table(samples: list[Sample]) -> Table:
    def row(name: str, n_clusters: Iterable[float], rand: Iterable[float]) -> list[str]:
        mean = Measure.mean_of(rand)
        return [
            name,
            f"{np.mean(list(n_clusters)):.1f}",
            f"{mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})",
        ]

    return Table(
        f"Agreement with the moons: adjusted Rand index, mean over {len(samples)} samples.",
        ["algorithm", "clusters", "adjusted Rand index"],
        [
            row("K-means", [2], [s.rand_of_kmeans for s in samples]),
            row(f"K-modes at {LAST:g}", [2], [s.rand_of_kmodes for s in samples]),
            row(
                f"mean-shift at {LAST:g}",
                [s.at_last.n_modes[0] for s in samples],
                [s.at_last.rand[0] for s in samples],
            ),
            row(
                "mean-shift, best with two modes",
                [2],
                [s.sweep.best_with_two_modes for s in samples],
            ),
            row(
                "mean-shift, best at any bandwidth",
                [s.sweep.n_modes[s.sweep.best] for s in samples],
                [s.sweep.rand[s.sweep.best] for s in samples],
            ),
        ],
    )


def _draw_paths(sample: Sample) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for ax, bandwidth in zip(axes, (np.inf, LAST), strict=True):
        PathDisplay.from_estimator(sample.model, sample.X, bandwidth=bandwidth, ax=ax)
    return figure


def _draw_sweeps(samples: list[Sample]) -> Any:
    sweeps = [s.sweep for s in samples]
    lines = {"K-modes": samples[0].rand_of_kmodes, "K-means": samples[0].rand_of_kmeans}
    return draw_sweeps(sweeps, [sweep.n_modes == 2 for sweep in sweeps], LAST, lines)

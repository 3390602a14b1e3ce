"""Fig. 4: the degrees of a graph.

A random graph is joined to one whose degrees follow a power law. K-means is drawn away by the
hubs, and mean-shift makes clusters of them. K-modes finds the two distributions.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes
from modeclust.paper.course import Course
from modeclust.paper.degree_panels import draw_panels
from modeclust.paper.findings import Findings, Grid, Measure, Picture
from modeclust.paper.joined_graphs import Sizes, build_graph
from modeclust.paper.sweep import Sweep, draw_sweeps, mean_shift
from modeclust.paper.typicality import densities_at
from modeclust.path import Floats

Doubles = npt.NDArray[np.float64]

COURSE = Course(200.0, 1.0, 40)
LAST = COURSE.last
PANELS = (np.inf, 29.8551, 15.1361, 3.8905, 1.0)  # of the paper, as its files name them
SMOOTH = 29.8551  # the bandwidth at which a density is called low
SWEPT = np.geomspace(1, 400, 30)  # bandwidths of mean-shift
N_GRAPHS = 5


PAPER = Sizes(1_000, 9_918, 3_000, 506_489)
SMALL = Sizes(500, 4_959, 1_500, 150_000)


class Sample(NamedTuple):
    """The degrees of a graph, clustered in all ways."""

    X: Doubles  # (N, 1)
    is_power: npt.NDArray[np.bool_]
    model: KModes
    sweep: Sweep  # of mean-shift

    def agreement(self, step: int) -> float:
        """Return the adjusted Rand index of K-modes at a step of its path."""
        return float(adjusted_rand_score(self.is_power, self.model.path_[step].labels))

    @property
    def have_both(self) -> npt.NDArray[np.bool_]:
        """Return at which bandwidths of mean-shift both distributions have a mode."""
        gap = (self.X[~self.is_power].max() + self.X[self.is_power].min()) / 2
        return np.array([len(np.unique(modes > gap)) == 2 for modes in self.sweep.modes])

    @property
    def fewest_with_both(self) -> float:
        """Return the fewest modes of mean-shift that leave one to each distribution."""
        return float(self.sweep.n_modes[self.have_both].min()) if self.have_both.any() else np.nan


def reproduce(*, quick: bool = False) -> Findings:
    """Return how well the degrees of two joined graphs are told apart."""
    sizes, n_graphs, swept = (SMALL, 1, SWEPT[3::12]) if quick else (PAPER, N_GRAPHS, SWEPT)
    samples = [cluster_degrees(sizes, seed, swept) for seed in range(n_graphs)]
    measures = {
        "bandwidths-on-the-schedule": Measure.exactly(off_schedule(samples[0].model)),
        "means-wrong": Measure.mean_of(s.agreement(0) for s in samples),
        "mean-in-low-density": Measure.mean_of(density_at_right_mean(s) for s in samples),
        "head-with-the-gaussian": Measure.mean_of(share_with_random(s) for s in samples),
        "modes-perfect": Measure.mean_of(s.agreement(-1) for s in samples),
        "many-modes": Measure.mean_of(len(modes_of(s.X[s.is_power])) for s in samples),
        "principal-modes": Measure.mean_of(share_of_highest(s) for s in samples),
        "mean-shift-never-separates": Measure.mean_of(s.sweep.agree.max() for s in samples),
        "small-modes-in-the-tail": Measure.mean_of(s.fewest_with_both for s in samples),
    }
    first = samples[0]
    panels = draw_panels(first.model, first.X, PANELS)
    caption = (
        "From top to bottom, the bandwidth falls. Triangles are the centroids, the black bar is "
        "the boundary of the clusters; the right one is hatched, and its density dashed. The "
        "axes end at a degree of 800, as in the paper; hubs lie beyond."
    )
    lines = {"K-modes": first.agreement(-1), "K-means": first.agreement(0)}
    sweeps = draw_sweeps([s.sweep for s in samples], [s.have_both for s in samples], LAST, lines)
    return Findings(
        measures,
        [
            Picture(panels, caption),
            Picture(
                sweeps,
                f"Mean-shift on {n_graphs} graphs, that of the picture above in bold. Left, the "
                "number of modes. Right, how well its clusters agree with the two graphs; dots "
                "are where both distributions have a mode.",
            ),
        ],
        [_table(samples, swept)],
    )


def cluster_degrees(sizes: Sizes, seed: int, swept: Doubles) -> Sample:
    """Build a graph, and cluster its degrees by K-means, K-modes and mean-shift."""
    graph = build_graph(sizes, seed)
    X = np.array([[degree] for _, degree in sorted(graph.degree)], dtype=np.float64)
    is_power = np.arange(len(X)) >= sizes.n_random
    model = COURSE.follow(X, 2)
    return Sample(X, is_power, model, Sweep.of(X, is_power, swept))


def modes_of(X: Doubles) -> Floats:
    """Return the modes of degrees at the last bandwidth, the highest first."""
    return mean_shift(X, LAST).cluster_centers_


def off_schedule(model: KModes) -> float:
    """Return by how much of itself a bandwidth of the paper's panels is off the path."""
    finite = [bandwidth for bandwidth in PANELS if np.isfinite(bandwidth)]
    return max(abs(model.path_.at(h).bandwidth / h - 1) for h in finite)


def density_at_right_mean(sample: Sample) -> float:
    """Return the density at the right one of the means, over the highest at any vertex."""
    right = sample.model.path_.centers[0].max(axis=0, keepdims=True)
    (density,) = densities_at(sample.X, right, SMOOTH)
    return float(density / densities_at(sample.X, np.unique(sample.X)[:, None], SMOOTH).max())


def share_with_random(sample: Sample) -> float:
    """Return the share of the power law that K-means puts with most of the random graph."""
    labels: Any = sample.model.path_[0].labels
    main = np.bincount(labels[~sample.is_power]).argmax()
    return float(np.mean(labels[sample.is_power] == main))


def share_of_highest(sample: Sample) -> float:
    """Return the density of a distribution at its mode of K-modes, over its highest, the lower."""
    left, right = np.sort(sample.model.cluster_centers_, axis=0)
    shares = []
    for own, mode in ((~sample.is_power, left), (sample.is_power, right)):
        places = np.vstack([mode, modes_of(sample.X[own])])
        density = densities_at(sample.X[own], places, LAST)
        shares.append(float(density[0] / density.max()))
    return min(shares)


def _table(samples: list[Sample], swept: Doubles) -> Grid:
    def row(name: str, bandwidth: str, n_clusters: float, agreement: list[float]) -> list[str]:
        found = Measure.mean_of(agreement)
        index = f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
        return [name, bandwidth, f"{n_clusters:.1f}", index]

    best = [s.sweep.best for s in samples]
    n_best = float(np.mean([s.sweep.n_modes[s.sweep.best] for s in samples]))
    return Grid(
        f"Agreement with the two graphs: adjusted Rand index, mean over {len(samples)} graphs.",
        ["algorithm", "bandwidth", "clusters", "adjusted Rand index"],
        [
            row("K-means", "∞", 2, [s.agreement(0) for s in samples]),
            row("K-modes", f"{LAST:g}", 2, [s.agreement(-1) for s in samples]),
            row(
                "mean-shift, best at any bandwidth",
                f"{np.mean(swept[best]):.1f}",
                n_best,
                [s.sweep.agree[s.sweep.best] for s in samples],
            ),
            row(
                "mean-shift, best with two modes", "any", 2, [s.sweep.best_of_two for s in samples]
            ),
        ],
    )

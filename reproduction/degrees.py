"""Fig. 4: the degrees of a graph.

A random graph is joined to a graph whose degrees follow a power law. The vertices of high degree
attract a mean of K-means, and have clusters of their own in mean-shift. K-modes finds the two
distributions, at the bandwidths of the paper and as it comes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes
from modeclust.plotting.palette import color
from reproduction.default_fit import DefaultFit, fit_default
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.sweeps import Schedule, Sweep, draw_sweeps, fit_mean_shift
from reproduction.typicality import densities_at

Doubles = npt.NDArray[np.float64]

SCHEDULE = Schedule(200.0, 1.0, 40)
LAST = SCHEDULE.last
PANELS = (np.inf, 29.8551, 15.1361, 3.8905, 1.0)  # bandwidths in the names of the paper's files
SMOOTH = 29.8551  # bandwidth at which a density is called low
SWEPT = np.geomspace(1, 400, 30)  # bandwidths of mean-shift
N_GRAPHS = 5

MIN_WEIGHT, EXPONENT = 131.0, 1.5  # of the power law
N_LINKS = 10

X_MAX = 800.0  # end of the axes
BIN = 8
STYLES = ("-", "--")  # of the densities of the left and the right cluster
DARK = ("#295e8e", "#a66e09")  # darker colours of the left and the right cluster


class Sizes(NamedTuple):
    """Numbers of vertices and edges of the two graphs."""

    n_random: int
    m_random: int
    n_power: int
    m_power: int


PAPER = Sizes(1_000, 9_918, 3_000, 506_489)
SMALL = Sizes(500, 4_959, 1_500, 150_000)


class Sample(NamedTuple):
    """The degrees of a graph with the results of all algorithms."""

    X: Doubles  # (N, 1)
    is_power: npt.NDArray[np.bool_]
    model: KModes
    sweep: Sweep  # of mean-shift
    default: DefaultFit

    def rand(self, step: int) -> float:
        """Return the adjusted Rand index of K-modes at a step of its path."""
        return float(adjusted_rand_score(self.is_power, self.model.path_[step].labels))

    @property
    def have_both(self) -> npt.NDArray[np.bool_]:
        """Return whether both distributions have a mode at each bandwidth of mean-shift."""
        gap = (self.X[~self.is_power].max() + self.X[self.is_power].min()) / 2
        return np.array([len(np.unique(modes > gap)) == 2 for modes in self.sweep.modes])

    @property
    def fewest_with_both(self) -> float:
        """Return the smallest number of modes of mean-shift with a mode in each distribution."""
        return float(self.sweep.n_modes[self.have_both].min()) if self.have_both.any() else np.nan


def reproduce(*, quick: bool = False) -> Findings:
    """Measure how well the degrees of two joined graphs are separated."""
    sizes, n_graphs, swept = (SMALL, 1, SWEPT[3::12]) if quick else (PAPER, N_GRAPHS, SWEPT)
    samples = [cluster_degrees(sizes, seed, swept) for seed in range(n_graphs)]
    measures = {
        "bandwidths-on-the-schedule": Measure.exactly(distance_to_schedule(samples[0].model)),
        "means-wrong": Measure.mean_of(s.rand(0) for s in samples),
        "mean-in-low-density": Measure.mean_of(density_at_right_mean(s) for s in samples),
        "head-with-the-gaussian": Measure.mean_of(share_with_random(s) for s in samples),
        "modes-perfect": Measure.mean_of(s.rand(-1) for s in samples),
        "many-modes": Measure.mean_of(len(modes_of(s.X[s.is_power])) for s in samples),
        "principal-modes": Measure.mean_of(
            density_over_highest(s, s.model.modes_) for s in samples
        ),
        "mean-shift-never-separates": Measure.mean_of(s.sweep.rand.max() for s in samples),
        "small-modes-in-the-tail": Measure.mean_of(s.fewest_with_both for s in samples),
    }
    first = samples[0]
    lines = {"K-modes": first.rand(-1), "K-means": first.rand(0)}
    sweeps = draw_sweeps([s.sweep for s in samples], [s.have_both for s in samples], LAST, lines)
    pictures = [
        Picture(
            draw_panels(first.model, first.X, PANELS),
            "The bandwidth decreases from top to bottom. Triangles are the centers, and the black "
            "bar is the boundary between the clusters. The right cluster is hatched, and its "
            "density dashed. The axes end at a degree of 800, as in the paper; some vertices have "
            "a higher degree.",
        ),
        Picture(
            sweeps,
            f"Mean-shift on {n_graphs} graphs, the one in the picture above in bold. Left, the "
            "number of modes. Right, the agreement of its clusters with the two graphs. Dots mark "
            "bandwidths at which both distributions have a mode.",
        ),
    ]
    return Findings(measures, pictures, [_table(samples, swept)])


def cluster_degrees(sizes: Sizes, seed: int, swept: Doubles) -> Sample:
    """Build a graph and cluster its degrees by K-means, K-modes and mean-shift."""
    graph = build_graph(sizes, seed)
    X = np.array([[degree] for _, degree in sorted(graph.degree)], dtype=np.float64)
    is_power = np.arange(len(X)) >= sizes.n_random
    return Sample(
        X,
        is_power,
        SCHEDULE.fit(X, 2),
        Sweep.of(X, is_power, swept),
        fit_default(X, is_power, 2, seed=0),
    )


def build_graph(sizes: Sizes, seed: int) -> Any:
    """Return a connected graph: a random graph joined to a power-law graph by a few edges.

    The vertices of the random graph come first.
    """
    import networkx as nx

    random = nx.gnm_random_graph(sizes.n_random, sizes.m_random, seed=seed)
    power = power_law_graph(sizes.n_power, sizes.m_power, seed)
    graph = nx.disjoint_union(random, power)
    rng = np.random.RandomState(seed)
    # An edge that is drawn twice is added once.
    graph.add_edges_from(
        zip(
            rng.randint(sizes.n_random, size=N_LINKS).tolist(),
            (sizes.n_random + rng.randint(sizes.n_power, size=N_LINKS)).tolist(),
            strict=True,
        )
    )
    if not nx.is_connected(graph):
        raise ValueError(f"the graph of seed {seed} is not connected; use another seed.")
    return graph


def power_law_graph(n_vertices: int, n_edges: int, seed: int) -> Any:
    """Return a simple graph with `n_edges` edges whose degrees follow a power law.

    This is the model of Chung and Lu: two vertices are joined with a probability proportional to
    the product of their weights, at most 1. The weights are scaled so that the expected number of
    edges is right. Random edges are then added or removed to make the number exact.
    """
    import networkx as nx

    rng = np.random.RandomState(seed)
    weights = MIN_WEIGHT * (1 + rng.pareto(EXPONENT, n_vertices))
    graph = nx.expected_degree_graph(
        (weights * scale_for(weights, n_edges)).tolist(), seed=seed, selfloops=False
    )
    edges = list(graph.edges)
    for i in rng.permutation(len(edges))[n_edges:]:
        graph.remove_edge(*edges[i])
    while graph.number_of_edges() < n_edges:
        u, v = rng.choice(n_vertices, 2, replace=False).tolist()
        graph.add_edge(u, v)
    return graph


def scale_for(weights: Doubles, n_edges: int) -> float:
    """Return the factor of the weights that makes `n_edges` the expected number of edges."""
    products = np.outer(weights, weights)[np.triu_indices(len(weights), 1)] / weights.sum()

    def excess(log_scale: float) -> float:
        return float(np.minimum(np.exp(log_scale) * products, 1).sum() - n_edges)

    return float(np.exp(brentq(excess, -5, 5, xtol=1e-6)))


def modes_of(X: Doubles) -> Any:
    """Return the modes of degrees at the last bandwidth, highest density first."""
    return fit_mean_shift(X, LAST).cluster_centers_


def distance_to_schedule(model: KModes) -> float:
    """Return the largest relative distance of a bandwidth of the panels to the path."""
    finite = [bandwidth for bandwidth in PANELS if np.isfinite(bandwidth)]
    return max(abs(model.path_.at(h).bandwidth / h - 1) for h in finite)


def density_at_right_mean(sample: Sample) -> float:
    """Return the density at the right mean, divided by the highest density at any vertex."""
    right = sample.model.path_.centers[0].max(axis=0, keepdims=True)
    (density,) = densities_at(sample.X, right, SMOOTH)
    return float(density / densities_at(sample.X, np.unique(sample.X)[:, None], SMOOTH).max())


def share_with_random(sample: Sample) -> float:
    """Return the share of the power-law graph in the main K-means cluster of the random graph."""
    labels: Any = sample.model.path_[0].labels
    main = np.bincount(labels[~sample.is_power]).argmax()
    return float(np.mean(labels[sample.is_power] == main))


def density_over_highest(sample: Sample, modes: Any) -> float:
    """Return the density at a mode of K-modes, divided by the highest of its own distribution.

    Of the two modes, the smaller ratio counts.
    """
    left, right = np.sort(modes, axis=0)
    ratios = []
    for own, mode in ((~sample.is_power, left), (sample.is_power, right)):
        points = np.vstack([mode, modes_of(sample.X[own])])
        density = densities_at(sample.X[own], points, LAST)
        ratios.append(float(density[0] / density.max()))
    return min(ratios)


def _table(samples: list[Sample], swept: Doubles) -> Table:
    def spread(values: list[float]) -> str:
        mean = Measure.mean_of(values)
        return f"{mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})"

    def row(
        name: str, bandwidth: str, n_clusters: float, rand: list[float], density: str = ""
    ) -> list[str]:
        return [name, bandwidth, f"{n_clusters:.1f}", spread(rand), density]

    sweeps = [s.sweep for s in samples]
    at_set, at_own = (
        spread(
            [density_over_highest(s, model.modes_) for s, model in zip(samples, own, strict=True)]
        )
        for own in ([s.model for s in samples], [s.default.model for s in samples])
    )
    return Table(
        f"Agreement with the two graphs: adjusted Rand index, mean over {len(samples)} graphs. "
        "The last column is the density at the modes, divided by the highest of each distribution, "
        f"at a bandwidth of {LAST:g}; the smaller ratio of the two. KModes(K) is the library as it "
        "comes.",
        ["algorithm", "bandwidth", "clusters", "adjusted Rand index", "density at the modes"],
        [
            row("K-means", "∞", 2, [s.rand(0) for s in samples]),
            row("K-modes", f"{LAST:g}", 2, [s.rand(-1) for s in samples], at_set),
            row(
                "KModes(K)",
                "one for each cluster",
                2,
                [s.default.scores[0] / 100 for s in samples],
                at_own,
            ),
            row(
                "mean-shift, best at any bandwidth",
                f"{np.mean(swept[[sweep.best for sweep in sweeps]]):.1f}",
                float(np.mean([sweep.n_modes[sweep.best] for sweep in sweeps])),
                [sweep.rand[sweep.best] for sweep in sweeps],
            ),
            row(
                "mean-shift, best with two modes",
                "any",
                2,
                [sweep.best_with_two_modes for sweep in sweeps],
            ),
        ],
    )


def draw_panels(model: KModes, X: Doubles, bandwidths: Sequence[float]) -> Any:
    """Draw a row for each bandwidth: histogram, density of each cluster, density of all vertices.

    K-means has flat densities. They are drawn at the largest finite bandwidth instead.
    """
    import matplotlib.pyplot as plt

    size = (11, 1.75 * len(bandwidths) + 0.6)
    figure, rows = plt.subplots(
        len(bandwidths), 3, figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    degrees = X[:, 0]
    largest = float(model.path_.bandwidths[np.isfinite(model.path_.bandwidths)].max())
    for (bars, own, whole), bandwidth in zip(rows, bandwidths, strict=True):
        point = model.path_.at(bandwidth)
        # The left cluster gets the first colour, whatever its number.
        rank = np.argsort(np.argsort(point.centers[:, 0]))
        parts = [degrees[rank[point.labels] == k] for k in range(2)]
        _draw_histogram(bars, parts, np.sort(point.centers[:, 0]))
        name = f"bandwidth {bandwidth:.4g}" if np.isfinite(bandwidth) else "K-means"
        bars.set_ylabel(f"{name}\nvertices in a bin")
        width = min(point.bandwidth, largest)
        _draw_densities(own, parts, width, DARK)
        _draw_densities(whole, [degrees], width, ("black",))
        for ax in (bars, own):
            shown = point.centers[point.centers <= X_MAX]
            ax.plot(shown, np.zeros(len(shown)), "k^", ms=7, clip_on=False, zorder=5)
        if width < point.bandwidth:
            for ax in (own, whole):
                words = f"drawn at\nbandwidth {width:g}"
                ax.text(1, 1, words, ha="right", va="top", transform=ax.transAxes, fontsize="small")
    titles = ("histogram by cluster", "density of each cluster", "density of all vertices")
    for ax, title in zip(rows[0], titles, strict=True):
        ax.set_title(title)
    for ax in rows[-1]:
        ax.set(xlabel="degree", xlim=(0, X_MAX))
    for ax in rows.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_histogram(ax: Any, parts: list[Doubles], centers: Doubles) -> None:
    edges = np.arange(-0.5, X_MAX + BIN, BIN)
    for k, own in enumerate(parts):
        style = {"color": color(k), "hatch": ("", "////")[k], "alpha": 0.8}
        ax.hist(own, edges, histtype="stepfilled", **style)
    ax.axvline(centers.mean(), color="black", lw=1.6)
    for center in centers[centers > X_MAX]:
        style = {"ha": "right", "va": "center", "fontsize": "small"}
        ax.text(0.85, 0.6, f"other center at {center:,.0f} →", transform=ax.transAxes, **style)


def _draw_densities(
    ax: Any, parts: list[Doubles], bandwidth: float, shades: tuple[str, ...]
) -> None:
    x = np.linspace(0, X_MAX, 1601)
    for own, style, shade in zip(parts, STYLES, shades, strict=False):
        # The area below the curve is the number of vertices.
        height = len(own) / (bandwidth * np.sqrt(2 * np.pi))
        curve = height * densities_at(own[:, None], x[:, None], bandwidth)
        ax.plot(x, curve, style, color=shade, lw=1.1)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("vertices per degree")

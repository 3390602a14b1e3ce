"""Section 6: landmarks on a manifold, and spectral clustering with K-modes instead of K-means.

The means of K-means lie off a curved manifold, and off the sphere on which the rows of a spectral
embedding lie. The modes of K-modes lie closer to both.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.spatial import KDTree
from sklearn.datasets import make_circles, make_moons, make_swiss_roll
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.preprocessing import normalize

from modeclust import KModes, Path, estimate_bandwidth, kmodes_path
from modeclust.datasets import load_dataset
from modeclust.plotting.exemplars import nearest_in_cluster
from modeclust.plotting.palette import COLORS
from reproduction.default_fit import fit_default
from reproduction.findings import Findings, Measure, Picture, Table

Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]

FEW, MANY, ROLL_NOISE = 20, 50, 0.5  # landmarks, landmarks, noise
# The Swiss roll of scikit-learn: x = t cos t, z = t sin t for these t, and 0 <= y <= HEIGHT.
T_RANGE, HEIGHT = (1.5 * np.pi, 4.5 * np.pi), 21.0
N_SPIRAL = 100_000  # points on the spiral, about 0.001 apart
# Bandwidths of the path, as multiples of the estimated bandwidth. One of them is 1.
MULTIPLES = np.concatenate([np.geomspace(8, 1, 13), np.geomspace(1, 0.1, 13)[1:]])
TICKS = (8, 4, 2, 1, 0.5, 0.25, 0.1)

SPECTRAL_DATA = ("moons", "circles", "digits")
SPECTRAL_NOISE = 0.1

MEANS, MODES = "K-means", "K-modes"
STYLES: dict[str, dict[str, Any]] = {
    MEANS: {"color": COLORS[2], "marker": "s"},
    MODES: {"color": COLORS[0], "marker": "o"},
}


class Sizes(NamedTuple):
    """The sizes of the runs."""

    seeds: int = 10
    roll: int = 2000
    n_init: int = 20
    toy: int = 600
    digits: int = 1000


QUICK = Sizes(2, 400, 2, 150, 200)


class Landmarks(NamedTuple):
    """Landmarks of one Swiss roll, and their mean distances to the roll."""

    path: Path  # K-means, then the multiples of the estimated bandwidth
    distances: Doubles  # (S,) of the centers at each bandwidth of the path
    exemplar_distance: float  # of the exemplars of the K-means clusters
    row_distance: float  # of all rows

    @property
    def chosen(self) -> int:
        """Return the step of the path at the estimated bandwidth."""
        return 1 + int(np.flatnonzero(MULTIPLES == 1.0)[0])

    @property
    def mode_to_mean(self) -> float:
        """Return the distance of the modes, divided by the distance of the means."""
        return float(self.distances[self.chosen] / self.distances[0])


class Spectral(NamedTuple):
    """Spectral clustering by K-means and by K-modes, in this order."""

    centers: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    rand: tuple[float, float]  # adjusted Rand index
    off_sphere: tuple[float, float]  # |1 - norm|, averaged over the centers
    default: tuple[float, float]  # both numbers of `KModes(K)` as it comes


Rolls = dict[str, list[Landmarks]]
Spectrals = dict[str, list[Spectral]]


def reproduce(*, quick: bool = False) -> Findings:
    """Measure the distance of modes to a manifold, and the quality of spectral clustering."""
    sizes = QUICK if quick else Sizes()
    rolls = {
        name: [
            place_landmarks(sizes.roll, n_landmarks, noise, seed, sizes.n_init)
            for seed in range(sizes.seeds)
        ]
        for name, n_landmarks, noise in (
            ("few", FEW, 0.0),
            ("many", MANY, 0.0),
            ("noisy", MANY, ROLL_NOISE),
        )
    }
    spectrals = {
        name: [
            cluster_spectrally(name, sizes.digits if name == "digits" else sizes.toy, seed)
            for seed in range(sizes.seeds)
        ]
        for name in SPECTRAL_DATA
    }
    return Findings(
        _measure_rolls(rolls) | _measure_spectrals(spectrals),
        [_draw_rolls(rolls), _draw_spectrals(spectrals)],
        [_table_of_rolls(rolls), _table_of_spectrals(spectrals)],
    )


def spiral(n_points: int = N_SPIRAL) -> Doubles:
    """Return points (x, z) along the cross-section of the Swiss roll."""
    t = np.linspace(*T_RANGE, n_points)
    return np.column_stack([t * np.cos(t), t * np.sin(t)])


@cache
def _spiral_tree() -> KDTree:
    return KDTree(spiral())


def distances_to_roll(points: Doubles) -> Doubles:
    """Return the distance of each point (x, y, z) to the Swiss roll."""
    across = _spiral_tree().query(points[:, [0, 2]])[0]
    above = points[:, 1] - np.clip(points[:, 1], 0.0, HEIGHT)
    distances: Doubles = np.hypot(across, above)
    return distances


def place_landmarks(
    n_rows: int, n_landmarks: int, noise: float, seed: int, n_init: int = 20
) -> Landmarks:
    """Draw a Swiss roll and place landmarks on it by K-means and K-modes."""
    X = make_swiss_roll(n_rows, noise=noise, random_state=seed)[0]
    path = kmodes_path(
        X,
        n_landmarks,
        bandwidths=[np.inf, *(MULTIPLES * estimate_bandwidth(X, random_state=seed))],
        n_init=n_init,
        path_iter=50,
        random_state=seed,
        store_labels=True,
    )
    row_distances = distances_to_roll(X)
    return Landmarks(
        path,
        np.array([distances_to_roll(centers).mean() for centers in path.centers]),
        float(row_distances[exemplars_of_kmeans(X, path)].mean()),
        float(row_distances.mean()),
    )


def exemplars_of_kmeans(X: Doubles, path: Path) -> Labels:
    """Return the exemplar of each K-means cluster: the row nearest to its mean."""
    kmeans = path[0]
    assert kmeans.labels is not None
    return nearest_in_cluster(X, kmeans.labels, kmeans.centers, 1)[:, 0]


def draw_rows(name: str, n_rows: int, seed: int) -> tuple[Doubles, Labels]:
    """Return random rows of a data set and their classes."""
    if name == "moons":
        X, y = make_moons(n_rows, noise=SPECTRAL_NOISE, random_state=seed)
    elif name == "circles":
        X, y = make_circles(n_rows, noise=SPECTRAL_NOISE, factor=0.4, random_state=seed)
    else:
        digits = load_dataset("digits")
        chosen = np.random.RandomState(seed).permutation(len(digits.y))[:n_rows]
        X, y = digits.X[chosen], digits.y[chosen]
    return X, y


def embed_spectrally(X: Doubles, n_components: int, bandwidth: float) -> Doubles:
    """Return the spectral embedding of Ng, Jordan and Weiss, with rows of unit length.

    Its columns are the leading eigenvectors of D^-1/2 A D^-1/2, where A has the Gaussian
    affinities of all pairs of rows and a zero diagonal, and D has the row sums of A.
    """
    affinity = np.exp(-0.5 * pairwise_distances(X, metric="sqeuclidean") / bandwidth**2)
    np.fill_diagonal(affinity, 0.0)
    scale = 1.0 / np.sqrt(affinity.sum(axis=1))
    n = len(X)
    vectors = eigh(scale[:, None] * affinity * scale, subset_by_index=[n - n_components, n - 1])[1]
    rows: Doubles = normalize(vectors)
    return rows


def cluster_spectrally(name: str, n_rows: int, seed: int) -> Spectral:
    """Cluster one spectral embedding by K-means, and from there by K-modes."""
    X, y = draw_rows(name, n_rows, seed)
    n_clusters = len(np.unique(y))
    embedding = embed_spectrally(X, n_clusters, estimate_bandwidth(X, random_state=seed))
    model = KModes(
        n_clusters, bandwidth="knn", n_init=20, random_state=seed, store_labels=True
    ).fit(embedding)
    kmeans, kmodes = model.path_[0], model.path_[-1]
    default = fit_default(embedding, y, n_clusters, seed)
    return Spectral(
        (kmeans.centers, kmodes.centers),
        (adjusted_rand_score(y, kmeans.labels), adjusted_rand_score(y, kmodes.labels)),
        (off_sphere(kmeans.centers), off_sphere(kmodes.centers)),
        (default.scores[0] / 100, off_sphere(default.model.modes_)),
    )


def off_sphere(centers: npt.NDArray[Any]) -> float:
    """Return the mean distance of centers to the unit sphere."""
    return float(np.abs(1.0 - np.linalg.norm(centers, axis=1)).mean())


def _measure_rolls(rolls: Rolls) -> dict[str, Measure]:
    return {
        "few-landmarks": Measure.mean_of(run.mode_to_mean for run in rolls["few"]),
        "many-landmarks": Measure.mean_of(run.mode_to_mean for run in rolls["many"]),
        "small-bandwidth": Measure.mean_of(
            run.distances[-1] / run.distances[0] for run in rolls["many"]
        ),
        "noise-averaged-out": Measure.mean_of(
            run.distances[run.chosen] / run.exemplar_distance for run in rolls["noisy"]
        ),
    }


def _measure_spectrals(spectrals: Spectrals) -> dict[str, Measure]:
    measures = {}
    for name, runs in spectrals.items():
        ratios = (run.off_sphere[1] / run.off_sphere[0] for run in runs)
        gains = (run.rand[1] - run.rand[0] for run in runs)
        measures[f"sphere-{name}"] = Measure.mean_of(ratios)
        measures[f"spectral-{name}"] = Measure.mean_of(gains)
    return measures


def _draw_rolls(rolls: Rolls) -> Picture:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(11, 5.2), layout="constrained", width_ratios=(0.8, 1)
    )
    _draw_section(axes[0], rolls["few"][0])
    _draw_distances(axes[1], rolls)
    caption = (
        f"Left, the cross-section of the roll with {FEW} landmarks: means lie inside the bends of "
        "the roll, and modes closer to it. Right, the mean distance of landmarks to the roll as "
        "the bandwidth decreases to the right, with the 95% interval over runs. Without noise, a "
        "smaller bandwidth is better. With noise, an intermediate bandwidth is best, and its modes "
        "are closer to the roll than rows are."
    )
    return Picture(figure, caption)


def _draw_section(ax: Any, run: Landmarks) -> None:
    ax.plot(*spiral(1000).T, color="0.75", lw=1, zorder=1, label="the roll")
    means, modes = run.path.centers[0], run.path.centers[run.chosen]
    for name, centers in ((MEANS, means), (MODES, modes)):
        ax.plot(*centers[:, [0, 2]].T, linestyle="", ms=6, mec="white", label=name, **STYLES[name])
    ax.set(xlabel="x", ylabel="z", aspect="equal", title=f"{FEW} landmarks")
    ax.legend(loc="upper left", frameon=False)
    ax.margins(y=0.12)


def _draw_distances(ax: Any, rolls: Rolls) -> None:
    for name, title, style in (("many", "no noise", "-"), ("noisy", "noise", "--")):
        steps = zip(*(run.distances for run in rolls[name]), strict=True)
        means, *modes = (Measure.mean_of(distances) for distances in steps)
        color = STYLES[MODES]["color"]
        ax.plot(MULTIPLES, [m.value for m in modes], style, color=color, label=f"{MODES}, {title}")
        low, high = np.array([(m.low, m.high) for m in modes]).T
        ax.fill_between(MULTIPLES, np.maximum(low, 1e-4), high, color=color, alpha=0.2, lw=0)
        ax.axhline(
            means.value, color=STYLES[MEANS]["color"], ls=style, lw=1, label=f"{MEANS}, {title}"
        )
    exemplars = np.mean([run.exemplar_distance for run in rolls["noisy"]])
    ax.axhline(exemplars, color="0.35", ls=":", label="rows nearest to the means, noise")
    ax.axvline(1.0, color="0.85", lw=1, zorder=0)
    ax.set(xscale="log", yscale="log", title=f"{MANY} landmarks")
    ax.set(xlabel="bandwidth / estimated bandwidth", ylabel="mean distance to the roll")
    ax.invert_xaxis()
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.minorticks_off()
    ax.legend(loc="lower left", frameon=False)


def _draw_spectrals(spectrals: Spectrals) -> Picture:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    norms = {
        name: [[np.linalg.norm(run.centers[i], axis=1) for run in runs] for i in (0, 1)]
        for name, runs in spectrals.items()
    }
    rand = {
        name: [[[run.rand[i]] for run in runs] for i in (0, 1)] for name, runs in spectrals.items()
    }
    _draw_paired(axes[0], norms, "norm of the centers")
    axes[0].axhline(1.0, color="0.6", lw=1, zorder=0)
    _draw_paired(axes[1], rand, "adjusted Rand index")
    axes[1].set_ylim(top=1.03)
    axes[1].legend(loc="lower left", frameon=False)
    caption = (
        "Spectral clustering. Left, the norm of each center of each run: rows lie on the unit "
        "sphere, and modes lie closer to it than means. Right, the agreement with the classes. "
        "A line joins K-means and K-modes of the same run."
    )
    return Picture(figure, caption)


def _draw_paired(ax: Any, values: dict[str, list[list[Any]]], label: str) -> None:
    """Draw K-means and K-modes of each data set side by side, with a line for each run."""
    for i, both in enumerate(values.values()):
        positions = (i - 0.18, i + 0.18)
        for means, modes in zip(*both, strict=True):
            ax.plot(positions, [np.mean(means), np.mean(modes)], color="0.8", lw=1, zorder=1)
        for name, position, runs in zip((MEANS, MODES), positions, both, strict=True):
            points = np.concatenate(runs)
            ax.plot(
                np.full(len(points), position),
                points,
                linestyle="",
                ms=5,
                alpha=0.6,
                mec="none",
                label=None if i else name,
                **STYLES[name],
            )
    ax.set(ylabel=label, xlim=(-0.5, len(values) - 0.5))
    ax.set_xticks(range(len(values)), list(values))


def _table_of_rolls(rolls: Rolls) -> Table:
    rows = []
    titles = (f"{FEW} landmarks", f"{MANY} landmarks", f"{MANY} landmarks, noise {ROLL_NOISE}")
    for title, runs in zip(titles, rolls.values(), strict=True):
        columns = [
            [run.distances[0] for run in runs],
            [run.distances[run.chosen] for run in runs],
            [run.distances[-1] for run in runs],
            [run.exemplar_distance for run in runs],
            [run.row_distance for run in runs],
        ]
        rows.append([title, *(f"{np.mean(column):.3f}" for column in columns)])
    return Table(
        "Mean distance to the Swiss roll, whose layers are about 6.3 apart.",
        ["", MEANS, MODES, "K-modes, a tenth of the bandwidth", "exemplars of K-means", "all rows"],
        rows,
    )


def _table_of_spectrals(spectrals: Spectrals) -> Table:
    contestants = (MEANS, MODES, "KModes(K)")
    rows = []
    for name, runs in spectrals.items():
        rand = np.mean([(*run.rand, run.default[0]) for run in runs], axis=0)
        off = np.mean([(*run.off_sphere, run.default[1]) for run in runs], axis=0)
        rows.append([name, *(f"{r:.3f}" for r in rand), *(f"{o:.2g}" for o in off)])
    return Table(
        "Spectral clustering: adjusted Rand index, and mean distance of the centers to the sphere. "
        "KModes(K) is the library as it comes.",
        ["", *(f"{what}, {who}" for what in ("index", "distance") for who in contestants)],
        rows,
    )

"""Data sets with known clusters of many kinds: a public battery, made sets, tables and images.

A set may have several reference partitions. Labels are 1 to K in each; 0 is noise, which is left
out of the score.
"""

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from environment import data_file, data_folder
from labelled import draw_each, load_known
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.decomposition import PCA

N_DRAWS = 5
BATTERY, MADE, TABLES = "battery", "made", "tables"
IMAGES, SMALL, LARGE = "images", "small clusters", "large"
GROUPS = (BATTERY, MADE, TABLES, IMAGES, SMALL, LARGE)
COMPONENTS = 50
OF_EACH_SMALL = 10  # rows of each class in sets of small clusters


class Rows(NamedTuple):
    """One draw of a set."""

    X: Any
    partitions: Any  # (P, N)

    @property
    def cluster_counts(self) -> list[int]:
        return [int(partition.max()) for partition in self.partitions]


class KnownSet(NamedTuple):
    """A set by name. Sets that are not random have one draw."""

    name: str
    group: str
    load: Callable[[int], Rows]  # takes the number of the draw
    n_draws: int = 1


def all_sets(quick: bool) -> list[KnownSet]:
    """Return the sets that are available."""
    n_draws = 2 if quick else N_DRAWS
    made = [KnownSet(name, MADE, partial(_made, name, quick), n_draws) for name in MADE_SETS]
    tables = [
        KnownSet(name, TABLES, partial(_table, name, quick))
        for name in ("digits", "iris", "wine", "breast cancer")
    ]
    return [*_battery(quick), *made, *tables, *_images(quick, n_draws)]


def missing_sets() -> list[str]:
    """Return notes on the sets that are not available."""
    names = {"COIL-20": "coil20.npz", "USPS": "usps.npz", "MNIST": "mnist.npz"}
    missing = [name for name, file in names.items() if data_file(file) is None]
    if data_folder("battery") is None:
        missing.insert(0, "the folder `battery`")
    return [f"{', '.join(missing)}: not in MODECLUST_DATA and left out."] if missing else []


@cache
def published() -> dict[str, dict[str, float]]:
    """Return the published scores of each set of the battery, by algorithm."""
    folder = data_folder("battery")
    if folder is None:
        return {}
    found = json.loads((folder / "published.json").read_text(encoding="utf-8"))
    return {name: own["ari"] for name, own in found.items()}


def _battery(quick):
    folder = data_folder("battery")
    files = [] if folder is None else sorted(folder.glob("*.npz"))
    return [
        KnownSet(file.stem, BATTERY, partial(_read_battery, file))
        for file in files[: 3 if quick else None]
    ]


def _read_battery(file, draw) -> Rows:
    with np.load(file) as arrays:
        X, partitions = arrays["X"].astype(np.float64), arrays["labels"]
    return Rows(X[:, np.ptp(X, axis=0) > 0], np.atleast_2d(partitions))


def _table(name, quick, draw) -> Rows:
    known = load_known(name, draw, quick)
    return _rows(known.X, known.y)


def _rows(X, y) -> Rows:
    return Rows(X, np.unique(y, return_inverse=True)[1][None] + 1)


def _made(name, quick, draw) -> Rows:
    return _rows(*MADE_SETS[name](200 if quick else 1_000, np.random.RandomState(draw)))


def _round_blobs(n_features, n_clusters, distance, n_rows, rng):
    """Return Gaussian blobs of unit width; each center is `distance` from its nearest one."""
    centers = rng.normal(size=(n_clusters, n_features))
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)
    np.fill_diagonal(apart, np.inf)
    centers *= distance / np.median(apart.min(axis=1))
    return make_blobs(n_rows, centers=centers, random_state=rng)


def _stretched_blobs(n_rows, rng):
    X, y = make_blobs(n_rows, centers=[[0, 0], [6, 2], [2, 8]], random_state=rng)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def _unequal_blobs(n_rows, rng):
    """Return blobs of different sizes and widths."""
    sizes = [n_rows * share // 20 for share in (1, 2, 5, 12)]
    centers, stds = [[0, 0], [5, 1], [1, 8], [12, 9]], [0.3, 0.6, 1.2, 2.4]
    return make_blobs(sizes, centers=centers, cluster_std=stds, random_state=rng)


def _rolled_sheets(n_rows, rng):
    """Return two sheets that are rolled up in one another, in three dimensions."""
    y = np.arange(n_rows) % 2
    angle = 1.5 * np.pi * (1 + rng.uniform(size=n_rows))
    height = 10 * rng.uniform(size=n_rows)
    turned = angle + np.pi * y
    X = np.column_stack([angle * np.cos(turned), height, angle * np.sin(turned)])
    return X + 0.3 * rng.normal(size=X.shape), y


MADE_SETS = {  # take the number of rows and a random state
    "moons": lambda n, rng: make_moons(n, noise=0.08, random_state=rng),
    "circles": lambda n, rng: make_circles(n, noise=0.05, factor=0.5, random_state=rng),
    "rolled sheets": _rolled_sheets,
    "blobs, overlapping": partial(_round_blobs, 2, 5, 4.0),
    "blobs, 10 features": partial(_round_blobs, 10, 8, 4.5),
    "blobs, 100 features": partial(_round_blobs, 100, 10, 8.0),
    "blobs, stretched": _stretched_blobs,
    "blobs, unequal": _unequal_blobs,
}


@cache
def _image_file(name):
    with np.load(data_file(f"{name}.npz")) as arrays:
        X = arrays["X"]
        return X / 255.0 if X.dtype == np.uint8 else X.astype(np.float64), arrays["y"]


def _images(quick, n_draws):
    sets = [
        ("coil20", "COIL-20", IMAGES, _whole, 1),
        ("usps", "USPS 1,000", IMAGES, partial(_drawn, 20 if quick else 100), n_draws),
        ("mnist", "MNIST 2,000", IMAGES, partial(_drawn, 20 if quick else 200), n_draws),
        ("coil20", "COIL-20, 20 x 10", SMALL, partial(_drawn, OF_EACH_SMALL), n_draws),
        ("coil20", "COIL-20 arcs, 40 x 10", SMALL, _arcs, n_draws),
        ("usps", "USPS styles, 30 x 10", SMALL, partial(_styles, 3), n_draws),
        ("mnist", "MNIST styles, 30 x 10", SMALL, partial(_styles, 3), n_draws),
    ]
    if not quick:
        sets.append(("mnist", "MNIST 60,000", LARGE, _reduced, 1))
    return [
        KnownSet(title, group, partial(draw, name), draws)
        for name, title, group, draw, draws in sets
        if data_file(f"{name}.npz") is not None
    ]


def _whole(name, draw) -> Rows:
    return _rows(*_image_file(name))


def _drawn(n_of_each, name, draw) -> Rows:
    return _rows(*draw_each(*_image_file(name), n_of_each, draw))


def _arcs(name, draw) -> Rows:
    """Return ten consecutive views from each of two opposite sides of every object."""
    X, y = _image_file(name)
    chosen, classes = [], []
    for label in np.unique(y):
        views = np.flatnonzero(y == label)
        start = np.random.RandomState(1_000 * draw + int(label)).randint(len(views))
        for side in range(2):
            places = start + side * len(views) // 2 + np.arange(OF_EACH_SMALL)
            chosen.append(views[places % len(views)])
            classes += [2 * int(label) + side] * OF_EACH_SMALL
    return _rows(X[np.concatenate(chosen)], np.array(classes))


def _styles(n_styles, name, draw) -> Rows:
    """Return some styles of every digit: ten of the 30 nearest images to a random one."""
    X, y = _image_file(name)
    rng = np.random.RandomState(draw)
    chosen, classes = [], []
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        rows = X[rng.choice(own, min(len(own), 1_000), replace=False)]
        for style in range(n_styles):
            row = rows[rng.randint(len(rows))]
            nearest = np.argsort(np.square(rows - row).sum(axis=1))[: 3 * OF_EACH_SMALL]
            picked = rng.choice(nearest, OF_EACH_SMALL, replace=False)
            chosen.append(rows[picked])
            classes += [n_styles * int(label) + style] * OF_EACH_SMALL
            rows = np.delete(rows, nearest, axis=0)
    return _rows(np.concatenate(chosen), np.array(classes))


@cache
def _reduced(name, draw) -> Rows:
    """Return all rows, in their first principal components."""
    X, y = _image_file(name)
    return _rows(PCA(COMPONENTS, svd_solver="covariance_eigh", random_state=0).fit_transform(X), y)

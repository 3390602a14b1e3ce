"""Fig. 1: a digit 1 rotated by seven angles.

The images lie on a curve. Their mean lies off the curve, and so does the single mode of mean-shift.
The mode of K-modes, with K = 1, lies on it.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from sklearn.metrics import pairwise_distances

from modeclust import KModes, MeanShift
from reproduction.findings import Findings, Measure, Picture, Table
from reproduction.sources import Source, load_source

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[Any]  # float32 or float64

ANGLES = np.linspace(-45, 45, 7)  # degrees
FINE_ANGLES = np.linspace(-45, 45, 91)
N_ONES, N_ONES_QUICK = 10, 1
BANDWIDTH = 1 / 3  # of K-modes, in steps: distances between neighbouring images
N_HALVINGS = 8


class Rotation(NamedTuple):
    """A digit 1 at seven angles, and at 91 angles."""

    shape: tuple[int, int]
    images: Doubles  # (7, n_pixels)
    valid: Doubles  # (91, n_pixels)

    @property
    def step(self) -> float:
        """Return the mean distance between neighbouring images."""
        return float(np.linalg.norm(np.diff(self.images, axis=0), axis=1).mean())

    def nearest(self, centers: Floats) -> tuple[npt.NDArray[np.intp], Doubles]:
        """Return the valid image nearest to each center, and its distance in steps."""
        distances = pairwise_distances(centers, self.valid)
        return distances.argmin(axis=1), distances.min(axis=1) / self.step

    def distance(self, centers: Floats) -> float:
        """Return the largest distance of a center to its nearest valid image, in steps."""
        return float(self.nearest(centers)[1].max())


class Centers(NamedTuple):
    """The centers of one rotated 1, and their bandwidths."""

    mean: Floats  # (1, n_pixels)
    mode: Floats  # (1, n_pixels), of K-modes
    single_mode: Floats  # (1, n_pixels), of mean-shift
    modes: Floats  # (n_modes, n_pixels), of mean-shift at the bandwidth of K-modes
    bandwidth: float  # of K-modes
    single_bandwidth: float  # the smallest at which mean-shift has one mode


def reproduce(*, quick: bool = False) -> Findings:
    """Measure the distances of centers to the rotated images."""
    source = load_source("usps", fetch=not quick)
    ones = typical_ones(source, N_ONES_QUICK if quick else N_ONES)
    rotations = [rotate(one) for one in ones]
    found = [find_centers(rotation) for rotation in rotations]
    pairs = list(zip(rotations, found, strict=True))
    measures = {
        "mean-not-valid": Measure.mean_of(r.distance(c.mean) for r, c in pairs),
        "mode-valid": Measure.mean_of(r.distance(c.mode) for r, c in pairs),
        "one-mode-not-valid": Measure.mean_of(r.distance(c.single_mode) for r, c in pairs),
        "smaller-bandwidth-several-modes": Measure.mean_of(len(c.modes) for c in found),
        "smaller-bandwidth-valid-modes": Measure.mean_of(r.distance(c.modes) for r, c in pairs),
    }
    caption = (
        f"Top, a 1 ({source.title}) at seven angles. Bottom, each center next to its nearest "
        "rotated 1, with the distance between them: 1 step is the distance between neighbouring "
        "images in the top row."
    )
    return Findings(
        measures,
        [Picture(_draw(*pairs[0]), caption)],
        [_table(measures, pairs)],
        {"": source.stand_in} if source.stand_in else {},
    )


def typical_ones(source: Source, n_ones: int) -> Doubles:
    """Return the images of a 1 nearest to the mean of all ones, nearest first."""
    ones = source.X[source.y == 1]
    order = np.argsort(np.linalg.norm(ones - ones.mean(axis=0), axis=1), kind="stable")
    images: Doubles = ones[order[:n_ones]].reshape(n_ones, *(source.image_shape or ()))
    return images


def slant(image: Doubles) -> float:
    """Return the angle in degrees between the long axis of the ink and the vertical."""
    rows, columns = np.indices(image.shape)
    down = rows - np.average(rows, weights=image)
    across = columns - np.average(columns, weights=image)
    along, beside = (image * down**2).sum(), (image * across**2).sum()
    return float(np.degrees(np.arctan2(2 * (image * down * across).sum(), along - beside) / 2))


def rotate(image: Doubles) -> Rotation:
    """Set an image upright, and rotate it from there."""
    # The padding has space for the corners at any angle.
    padding = int(np.ceil((np.hypot(*image.shape) - min(image.shape)) / 2))
    padded = np.pad(image, padding)
    upright = -slant(image)

    def turned(angles: Doubles) -> Doubles:
        images = [ndimage.rotate(padded, upright + angle, reshape=False) for angle in angles]
        return np.clip(images, 0, 1).reshape(len(angles), -1)  # the spline overshoots

    return Rotation(padded.shape, turned(ANGLES), turned(FINE_ANGLES))


def find_centers(rotation: Rotation) -> Centers:
    """Return the centers of K-means, K-modes and mean-shift for seven images."""
    images = rotation.images
    bandwidth = BANDWIDTH * rotation.step
    model = KModes(1, bandwidth=bandwidth, n_init=10, random_state=0).fit(images)
    single = narrowest_single_mode(images, bandwidth)
    return Centers(
        model.path_.centers[0],
        model.cluster_centers_,
        single.cluster_centers_,
        _mean_shift(images, bandwidth).cluster_centers_,
        bandwidth,
        single.bandwidth_,
    )


def narrowest_single_mode(X: Doubles, low: float, n_halvings: int = N_HALVINGS) -> MeanShift:
    """Return mean-shift at the smallest bandwidth, not below `low`, with a single mode."""
    model = _mean_shift(X, low)
    if model.n_clusters_ == 1:
        return model
    # The density has one mode at a bandwidth as large as the largest distance.
    high = float(pairwise_distances(X).max())
    for _ in range(n_halvings):
        middle = float(np.sqrt(low * high))
        if _mean_shift(X, middle).n_clusters_ == 1:
            high = middle
        else:
            low = middle
    return _mean_shift(X, high)


def _mean_shift(X: Doubles, bandwidth: float) -> MeanShift:
    # Trajectories are slow at bandwidths where modes are about to merge.
    return MeanShift(bandwidth, max_iter=100_000, random_state=0, n_jobs=1).fit(X)


def _table(measures: dict[str, Measure], pairs: list[tuple[Rotation, Centers]]) -> Table:
    def mean(values: list[float]) -> str:
        return f"{np.mean(values):.2f}"

    bandwidth = mean([c.bandwidth / r.step for r, c in pairs])
    single = mean([c.single_bandwidth / r.step for r, c in pairs])
    several = measures["smaller-bandwidth-several-modes"].value
    rows = [
        ["K-means", "∞", "1", "mean-not-valid"],
        ["K-modes", bandwidth, "1", "mode-valid"],
        ["mean-shift, one mode", single, "1", "one-mode-not-valid"],
        ["mean-shift, several modes", bandwidth, f"{several:.1f}", "smaller-bandwidth-valid-modes"],
    ]
    return Table(
        f"Bandwidths and distances in steps between neighbouring images, mean over {len(pairs)} "
        "different 1s. Mean-shift with one mode uses the smallest bandwidth that has one.",
        ["algorithm", "bandwidth", "centers", "largest distance to a rotated 1"],
        [[*cells, f"{measures[claim].value:.2f}"] for *cells, claim in rows],
    )


def _draw(rotation: Rotation, found: Centers) -> Any:
    import matplotlib.pyplot as plt

    figure: Any = plt.figure(figsize=(11, 4.35), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.3])
    style: dict[str, Any] = {"cmap": "gray_r", "vmin": 0, "vmax": 1}
    for ax, image, angle in zip(above.subplots(1, 7), rotation.images, ANGLES, strict=True):
        ax.imshow(image.reshape(rotation.shape), **style)
        ax.set_title(f"{angle:g}°")
        ax.set(xticks=[], yticks=[])
    titles = (
        "K-means",
        f"K-modes, bandwidth {found.bandwidth:.2f}",
        f"mean-shift, bandwidth {found.single_bandwidth:.2f}",
    )
    centers = np.vstack([found.mean, found.mode, found.single_mode])
    panels = below.subfigures(1, 3)
    shown = zip(panels, titles, centers, *rotation.nearest(centers), strict=True)
    for panel, title, center, nearest, distance in shown:
        panel.suptitle(title)
        left, right = panel.subplots(1, 2)
        left.imshow(center.reshape(rotation.shape), **style)
        left.set_xlabel(f"{distance:.2f} steps off")
        right.imshow(rotation.valid[nearest].reshape(rotation.shape), **style)
        right.set_xlabel(f"nearest 1, at {FINE_ANGLES[nearest]:g}°")
        right.spines[:].set(linestyle=":", color="0.5")
        for ax in (left, right):
            ax.set(xticks=[], yticks=[])
    return figure

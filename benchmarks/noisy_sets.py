"""Sets of clusters with known noise."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import (
    load_digits,
    load_sample_images,
    make_blobs,
    make_circles,
    make_moons,
)

NOISE_SHARE = 0.02
N_ROWS = 1_000
LARGEST_STD = 2.0
PHOTO_SCALES = (2, 4, 8)


class Noisy(NamedTuple):
    """Rows, of which the last ones are noise."""

    X: Any
    n_noise: int
    n_clusters: int

    @property
    def is_noise(self):
        return np.arange(len(self.X)) >= len(self.X) - self.n_noise


def with_noise(X, noise, n_clusters):
    """Return rows, the last of which are noise."""
    return Noisy(np.concatenate([X, noise]), len(noise), n_clusters)


def box(X, rng, share, size=1.2):
    """Return noise that is uniform in the box of the rows, a bit enlarged."""
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, size * (high - low) / 2
    return rng.uniform(middle - half, middle + half, (round(share * len(X)), X.shape[1]))


def _blobs(seed, n_features, n_clusters, is_long=False):
    """Return rows, the centers and widths of their clusters, and a generator."""
    rng = np.random.default_rng(seed)
    std = rng.uniform(LARGEST_STD / 4, LARGEST_STD, n_clusters)
    X, y, centers = make_blobs(
        N_ROWS,
        n_features,
        centers=n_clusters,
        cluster_std=std,
        random_state=seed,
        return_centers=True,
    )
    if is_long:
        for k in range(n_clusters):  # another direction and length for each cluster
            turned = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
            lengths = np.exp(rng.uniform(-1.2, 1.0, n_features))
            X[y == k] = centers[k] + (X[y == k] - centers[k]) @ (turned * lengths)
    return X, centers, std, rng


def box_noise(n_features, n_clusters, share=NOISE_SHARE, *, is_long=False):
    """Return a function that makes clusters of different widths, and noise in a box."""

    def make(seed):
        X, _, _, rng = _blobs(seed, n_features, n_clusters, is_long)
        return with_noise(X, box(X, rng, share), n_clusters)

    return make


def wide_noise(n_features, n_clusters):
    """Return a function that makes round clusters, and noise three times as wide around them."""

    def make(seed):
        X, centers, std, rng = _blobs(seed, n_features, n_clusters)
        own = rng.integers(0, n_clusters, round(NOISE_SHARE * len(X)))
        away = rng.normal(size=(len(own), n_features)) * 3 * std[own, None]
        return with_noise(X, centers[own] + away, n_clusters)

    return make


def far_group(n_features, n_clusters):
    """Return a function that makes round clusters, and a tight group of noise far away."""

    def make(seed):
        X, _, _, rng = _blobs(seed, n_features, n_clusters)
        away = rng.normal(size=n_features)
        away *= 3 * np.linalg.norm(X - X.mean(axis=0), axis=1).max() / np.linalg.norm(away)
        group = rng.normal(size=(round(NOISE_SHARE * len(X)), n_features)) * 0.3
        return with_noise(X, X.mean(axis=0) + away + group, n_clusters)

    return make


def shape_noise(shape, n_clusters, share=NOISE_SHARE, **options):
    """Return a function that makes clusters of another shape, and noise in a box."""

    def make(seed):
        X, _ = shape(N_ROWS, random_state=seed, **options)
        return with_noise(X, box(X, np.random.default_rng(seed), share), n_clusters)

    return make


def digits_and_photos(seed, share=NOISE_SHARE):
    """Return handwritten digits, and pieces of two photos."""
    rng = np.random.default_rng(seed)
    X = load_digits().data / 16
    photos = [image.mean(axis=2) for image in load_sample_images().images]
    pieces = [_piece(photos[rng.integers(2)], rng) for _ in range(round(share * len(X)))]
    return with_noise(X, np.array(pieces), 10)


def _piece(photo, rng, size=8):
    scale = rng.choice(PHOTO_SCALES)
    row, column = (rng.integers(0, length - size * scale) for length in photo.shape)
    part = photo[row : row + size * scale, column : column + size * scale]
    small = part.reshape(size, scale, size, scale).mean(axis=(1, 3)).ravel()
    return (small - small.min()) / max(np.ptp(small), 1e-9)


def digits_and_scrambled(seed, share=NOISE_SHARE):
    """Return handwritten digits, and some with their pixels in another order."""
    rng = np.random.default_rng(seed)
    X = load_digits().data / 16
    chosen = X[rng.choice(len(X), round(share * len(X)), replace=False)]
    return with_noise(X, rng.permuted(chosen, axis=1), 10)


def digits_and_zeros(seed, share=NOISE_SHARE):
    """Return the digits from 1 to 9, and a few zeros."""
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    others, zeros = X[y > 0] / 16, X[y == 0] / 16
    n_noise = round(share * len(others))
    return with_noise(others, zeros[rng.choice(len(zeros), n_noise, replace=False)], 9)


# With 2% of noise, unless the name has another share.
NOISY_SETS = {
    "blobs, 2 features, 4 clusters": box_noise(2, 4),
    "blobs, 2 features, 10 clusters": box_noise(2, 10),
    "blobs, 2 features, 10%": box_noise(2, 5, 0.1),
    "blobs, 6 features": box_noise(6, 5),
    "blobs, 5 features, 10%": box_noise(5, 5, 0.1),
    "blobs, 25 features": box_noise(25, 6),
    "long blobs, 2 features, 5%": box_noise(2, 5, 0.05, is_long=True),
    "long blobs, 5 features, 5%": box_noise(5, 5, 0.05, is_long=True),
    "blobs and wide noise, 2 features": wide_noise(2, 5),
    "blobs and wide noise, 15 features": wide_noise(15, 5),
    "blobs and a far group, 2 features": far_group(2, 5),
    "blobs and a far group, 20 features": far_group(20, 5),
    "moons (K = 2), 5%": shape_noise(make_moons, 2, 0.05, noise=0.06),
    "moons (K = 10)": shape_noise(make_moons, 10, noise=0.06),
    "circles (K = 12)": shape_noise(make_circles, 12, noise=0.04, factor=0.5),
    "digits and pieces of photos": digits_and_photos,
    "digits and pieces of photos, 5%": partial(digits_and_photos, share=0.05),
    "digits and scrambled ones": digits_and_scrambled,
    "digits and scrambled ones, 5%": partial(digits_and_scrambled, share=0.05),
    "digits 1 to 9 and some zeros": digits_and_zeros,
    "digits 1 to 9 and some zeros, 5%": partial(digits_and_zeros, share=0.05),
}

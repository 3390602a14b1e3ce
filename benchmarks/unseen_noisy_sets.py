"""Sets of clusters with known noise, of kinds on which nothing was chosen."""

from functools import partial

import numpy as np
from noisy_sets import box, with_noise
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_s_curve,
    make_swiss_roll,
)
from sklearn.preprocessing import StandardScaler

SIZES = (500, 250, 120, 60, 30)
N_DIGITS = 40


def of_all_sizes(seed, n_features):
    """Return blobs of 30 to 500 rows, and noise in their box."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-10, 10, (len(SIZES), n_features))
    std = rng.uniform(0.4, 1.5, len(SIZES))
    X, _ = make_blobs(SIZES, centers=centers, cluster_std=std, random_state=seed)
    return with_noise(X, box(X, rng, 0.03, size=1), len(SIZES))


def much_noise(seed, n_features):
    """Return blobs, and noise in their box for every fourth row."""
    X, _ = make_blobs(800, n_features, centers=4, random_state=seed)
    return with_noise(X, box(X, np.random.default_rng(seed), 0.25, size=1), 4)


def between(seed, n_features):
    """Return blobs, and noise between pairs of them."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-12, 12, (5, n_features))
    X, _ = make_blobs(1_000, centers=centers, random_state=seed)
    ends = centers[[rng.choice(5, 2, replace=False) for _ in range(30)]]
    shares = rng.uniform(0.3, 0.7, (30, 1))
    noise = (1 - shares) * ends[:, 0] + shares * ends[:, 1]
    return with_noise(X, noise + rng.normal(0, 0.3, noise.shape), 5)


def near_group(seed, n_features):
    """Return blobs, and a tight group of noise near one of them."""
    rng = np.random.default_rng(seed)
    X, _ = make_blobs(900, n_features, centers=5, random_state=seed)
    away = rng.normal(size=n_features)
    away *= 9 / np.linalg.norm(away)
    return with_noise(X, X[0] + away + rng.normal(0, 0.15, (12, n_features)), 5)


def flat(seed, n_features, n_dimensions):
    """Return clusters with few dimensions in many features, and noise that leaves these."""
    rng = np.random.default_rng(seed)
    sheets = [rng.normal(size=(n_dimensions, n_features)) for _ in range(6)]
    X = [
        rng.normal(0, 4, n_features) + rng.normal(size=(170, n_dimensions)) @ sheet
        for sheet in sheets
    ]
    X = np.concatenate(X) + rng.normal(0, 0.2, (1_020, n_features))
    chosen = X[rng.choice(len(X), 25, replace=False)]
    return with_noise(X, chosen + rng.normal(0, 1.2, chosen.shape), 6)


def binary(seed):
    """Return answers to 40 questions with yes or no, and answers at random."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.08, 0.92], (5, 40))[rng.integers(0, 5, 1_000)]
    X = (rng.uniform(size=shares.shape) < shares).astype(float)
    return with_noise(X, rng.integers(0, 2, (30, 40)).astype(float), 5)


def table(seed, load, n_clusters, share, kind):
    """Return a standardized table, and noise in its box, or with values of different rows."""
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(load().data)
    noise = box(X, rng, share, size=1)
    if kind == "mixed":
        chosen = rng.integers(0, len(X), noise.shape)
        noise = np.take_along_axis(X, chosen, axis=0)
    return with_noise(X, noise, n_clusters)


def digits(seed, kind):
    """Return handwritten digits, and some that were changed."""
    rng = np.random.default_rng(seed)
    X = load_digits().data / 16
    chosen, others = X[rng.choice(len(X), (2, N_DIGITS), replace=False)]
    noise = {
        "inverted": 1 - chosen,
        "upside down": chosen.reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64),
        "halves": np.concatenate([chosen[:, :32], others[:, 32:]], axis=1),
        "noisy": np.clip(chosen + rng.normal(0, 0.4, chosen.shape), 0, 1),
    }
    return with_noise(X, noise[kind], 10)


def sheet(seed, make, n_clusters):
    """Return rows on a sheet that is bent, and noise in its box."""
    X, _ = make(1_000, noise=0.05, random_state=seed)
    return with_noise(X, box(X, np.random.default_rng(seed), 0.03, size=1), n_clusters)


UNSEEN_SETS = {
    "blobs of 30 to 500 rows, 2 features": partial(of_all_sizes, n_features=2),
    "blobs of 30 to 500 rows, 8 features": partial(of_all_sizes, n_features=8),
    "blobs, 2 features, 25%": partial(much_noise, n_features=2),
    "blobs, 6 features, 25%": partial(much_noise, n_features=6),
    "noise between blobs, 2 features": partial(between, n_features=2),
    "noise between blobs, 10 features": partial(between, n_features=10),
    "a group near blobs, 2 features": partial(near_group, n_features=2),
    "a group near blobs, 12 features": partial(near_group, n_features=12),
    "2 dimensions in 10 features": partial(flat, n_features=10, n_dimensions=2),
    "4 dimensions in 30 features": partial(flat, n_features=30, n_dimensions=4),
    "yes or no, and at random": binary,
    "iris and a box, 6%": partial(table, load=load_iris, n_clusters=3, share=0.06, kind="box"),
    "wine and a box, 5%": partial(table, load=load_wine, n_clusters=3, share=0.05, kind="box"),
    "wine and mixed rows, 5%": partial(
        table, load=load_wine, n_clusters=3, share=0.05, kind="mixed"
    ),
    "breast cancer and mixed rows, 3%": partial(
        table, load=load_breast_cancer, n_clusters=2, share=0.03, kind="mixed"
    ),
    "digits and inverted ones": partial(digits, kind="inverted"),
    "digits and some upside down": partial(digits, kind="upside down"),
    "digits and halves of two": partial(digits, kind="halves"),
    "digits and noisy ones": partial(digits, kind="noisy"),
    "S curve (K = 8), 3%": partial(sheet, make=make_s_curve, n_clusters=8),
    "Swiss roll (K = 12), 3%": partial(sheet, make=make_swiss_roll, n_clusters=12),
}

"""
Landmarks on a Swiss roll
=========================

Many methods reduce a large data set to a few landmarks: Nyström's approximation of a kernel,
landmark Isomap, a codebook. Random rows are the usual choice, and the centroids of K-means a
better one, but centroids of a curved sheet lie off it. K-modes goes from the centroids back to the
sheet, and its path has everything between the two.

Two things are measured here for each choice: how far the landmarks are from the sheet, and how
well they approximate a kernel.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel

from modeclust import estimate_bandwidth, kmodes_path
from modeclust.show.palette import COLORS

N_LANDMARKS, N_SEEDS = 20, 5
MULTIPLES = np.array([4, 2, 1.4, 1, 0.7, 0.5, 0.35])  # of the estimated bandwidth

# %%
# The sheet is known: in section it is the spiral (t cos t, t sin t). Nyström's approximation of
# the kernel matrix of the rows, from their kernel with the landmarks, has an error relative to the
# matrix itself.

turn = np.linspace(1.5 * np.pi, 4.5 * np.pi, 20_000)
spiral = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
sheet = KDTree(spiral)


def distance_to_sheet(landmarks):
    return sheet.query(landmarks[:, [0, 2]])[0].mean()


def kernel_error(X, landmarks, gamma=1 / 32):
    exact = rbf_kernel(X, gamma=gamma)
    across, among = (rbf_kernel(rows, landmarks, gamma=gamma) for rows in (X, landmarks))
    approximate = across @ np.linalg.pinv(among, hermitian=True) @ across.T
    return np.linalg.norm(exact - approximate) / np.linalg.norm(exact)


# %%
# For each roll, one call of :func:`modeclust.kmodes_path` gives the centroids of K-means (at an
# infinite bandwidth) and the modes at each smaller one. Random rows are drawn beside them.


def measure(noise, seed):
    X, _ = make_swiss_roll(1000, noise=noise, random_state=seed)
    bandwidths = [np.inf, *(MULTIPLES * estimate_bandwidth(X))]
    path = kmodes_path(X, N_LANDMARKS, bandwidths=bandwidths, n_init=5, random_state=seed)
    rows = np.random.default_rng(seed).choice(X, N_LANDMARKS, replace=False)
    places = [rows, *path.centers]
    return X, path, [(distance_to_sheet(place), kernel_error(X, place)) for place in places]


names = ["random rows", "K-means", *(f"K-modes, {m:g} x bandwidth" for m in MULTIPLES)]
noises = (0.0, 0.5)
found = {noise: np.array([measure(noise, seed)[2] for seed in range(N_SEEDS)]) for noise in noises}
for noise, values in found.items():
    print(f"\nnoise {noise}, means over {N_SEEDS} rolls{'':13}  distance  kernel error")
    for name, (distance, error) in zip(names, values.mean(axis=0), strict=True):
        print(f"{name:<45}  {distance:8.3f}  {error:12.3f}")

# %%
# On the left is the section of a roll without noise. Means lie on the inner side of the bends;
# modes at the estimated bandwidth are nearer to the sheet.
#
# On the right each line follows the path, from K-means at its square to smaller and smaller
# bandwidths. At first it goes left: down to about the estimated bandwidth, landmarks come nearer to
# the sheet at hardly any cost. Farther down they come nearer still, but approximate the kernel less
# well. With noise the line turns back at the end: a mode at a small bandwidth is nearly a row, and
# has the noise of a row.
#
# So for a kernel alone K-means will do. Modes are for landmarks that must be places on the sheet,
# such as prototypes to show, or to ask somebody about. Random rows lie on it only where the data
# has no noise, and approximate the kernel worst.

X, path, _ = measure(0.0, seed=0)
fig, (section, errors) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
section.plot(*spiral.T, color="0.75", zorder=1, label="the sheet")
looks = {"linestyle": "", "markeredgecolor": "white", "markersize": 7}
for centers, name, marker, color in (
    (path.centers[0], "K-means", "s", COLORS[2]),
    (path.at(estimate_bandwidth(X)).centers, "K-modes", "o", COLORS[0]),
):
    section.plot(*centers[:, [0, 2]].T, marker=marker, color=color, label=name, **looks)
section.set(xlabel="x", ylabel="z", aspect="equal", title=f"{N_LANDMARKS} landmarks, from the side")
section.legend(loc="upper left")

for noise, style in zip(noises, ("-", "--"), strict=True):
    rows, means, *modes = found[noise].mean(axis=0)
    line = np.array([means, *modes]).T
    errors.plot(*line, style, marker="o", color=COLORS[0], label=f"K-modes, noise {noise}")
    errors.plot(*means, "s", color=COLORS[2], ms=9, label="K-means" if noise else None)
    errors.plot(*rows, "X", color=COLORS[1], ms=9, label="random rows" if noise else None)
    side = {"ha": "right", "xytext": (-9, -4)} if noise else {"ha": "left", "xytext": (9, -4)}
    errors.annotate(f"noise {noise}", rows, textcoords="offset points", **side)
errors.set(xlabel="mean distance of the landmarks to the sheet", ylabel="error of the kernel")
errors.set_title(f"means over {N_SEEDS} rolls")
errors.legend()
plt.show()

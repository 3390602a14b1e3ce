"""
Landmarks on a Swiss roll
=========================

Many methods reduce a large data set to a few landmarks: Nyström's approximation of a kernel,
landmark Isomap, a codebook. Random rows are the usual choice. The centers of K-means are a better
one, but for a curved sheet they are not on the sheet. The path of K-modes leads from these centers
back to the sheet.

For each choice, this example measures how far the landmarks are from the sheet, and how well they
approximate a kernel.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel

from modeclust import estimate_bandwidth, kmodes_path
from modeclust.plotting.palette import COLORS

N_SEEDS = 3
MULTIPLES = np.array([4, 2, 1.4, 1, 0.7, 0.5, 0.35])  # of the estimated bandwidth

# %%
# The cross section of the sheet is the spiral (t cos t, t sin t). The error of Nyström's
# approximation of the kernel matrix is relative to the matrix itself.

turn = np.linspace(1.5 * np.pi, 4.5 * np.pi, 20_000)
spiral = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
sheet = KDTree(spiral)


def distance_to_sheet(landmarks):
    return sheet.query(landmarks[:, [0, 2]])[0].mean()


def kernel_error(X, exact, landmarks, gamma):
    across, among = (rbf_kernel(rows, landmarks, gamma=gamma) for rows in (X, landmarks))
    approximate = across @ np.linalg.pinv(among, hermitian=True) @ across.T
    return np.linalg.norm(exact - approximate) / np.linalg.norm(exact)


# %%
# For each roll, one call of :func:`modeclust.kmodes_path` returns the centers of K-means (at an
# infinite bandwidth) and the modes at smaller bandwidths. Random rows are drawn for comparison.


def measure(n_landmarks, noise, seed, gamma=1 / 32):
    X, _ = make_swiss_roll(1000, noise=noise, random_state=seed)
    bandwidths = [np.inf, *(MULTIPLES * estimate_bandwidth(X))]
    path = kmodes_path(X, n_landmarks, bandwidths=bandwidths, random_state=seed)
    rows = np.random.default_rng(seed).choice(X, n_landmarks, replace=False)
    exact = rbf_kernel(X, gamma=gamma)
    return path, [
        (distance_to_sheet(place), kernel_error(X, exact, place, gamma))
        for place in (rows, *path.centers)
    ]


chosen = 2 + int(np.flatnonzero(MULTIPLES == 1)[0])  # after random rows and K-means
found = {}
print("                  distance to the sheet    error of the kernel")
print("landmarks  noise   rows  means  modes       rows  means  modes")
for n_landmarks in (20, 100):
    for noise in (0.0, 0.5, 1.0):
        runs = [measure(n_landmarks, noise, seed)[1] for seed in range(N_SEEDS)]
        found[n_landmarks, noise] = np.mean(runs, axis=0)
        distance, error = found[n_landmarks, noise][[0, 1, chosen]].T
        line = "{:9d}  {:5.1f}  {:5.3f}  {:5.3f}  {:5.3f}      {:5.3f}  {:5.3f}  {:5.3f}"
        print(line.format(n_landmarks, noise, *distance, *error))

# %%
# With few landmarks, modes at the estimated bandwidth are about half as far from the sheet as
# means, and approximate the kernel equally well. With many landmarks, each cluster is an almost
# flat piece of the sheet, and means are as good as modes: K-means is enough. Random rows are on the
# sheet only if the data have no noise, and they approximate the kernel worst.
#
# The left plot shows the cross section of a roll without noise: means are on the inner side of the
# bends. In the right plot, each line is a path, from K-means (square) to smaller bandwidths. At
# first it goes left: down to about the estimated bandwidth, landmarks come closer to the sheet, and
# the approximation is hardly worse. At smaller bandwidths the approximation is worse. With noise,
# the line then turns back: a mode at a small bandwidth is almost a row, with the noise of this row.

path, _ = measure(20, 0.0, seed=0)
fig, (section, errors) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
section.plot(*spiral.T, color="0.75", zorder=1, label="the sheet")
looks = {"linestyle": "", "markeredgecolor": "white", "markersize": 7}
for centers, name, marker, color in (
    (path.centers[0], "K-means", "s", COLORS[2]),
    (path.centers[chosen - 1], "K-modes", "o", COLORS[0]),
):
    section.plot(*centers[:, [0, 2]].T, marker=marker, color=color, label=name, **looks)
section.set(xlabel="x", ylabel="z", aspect="equal", title="20 landmarks, from the side")
section.legend(loc="upper left")

for noise, style in ((0.0, "-"), (0.5, "--"), (1.0, ":")):
    rows, means, *modes = found[20, noise]
    line = np.array([means, *modes]).T
    errors.plot(*line, style, marker="o", color=COLORS[0], label=f"K-modes, noise {noise}")
    errors.plot(*means, "s", color=COLORS[2], ms=9, label=None if noise else "K-means")
    errors.plot(*rows, "X", color=COLORS[1], ms=9, label=None if noise else "random rows")
    errors.annotate(f"noise {noise}", rows, (0, -16), textcoords="offset points", ha="center")
errors.margins(x=0.12)
errors.set(xlabel="mean distance of the landmarks to the sheet", ylabel="error of the kernel")
errors.set_title(f"20 landmarks, means over {N_SEEDS} rolls")
errors.legend()
plt.show()

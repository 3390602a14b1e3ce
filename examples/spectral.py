"""
Spectral clustering with modes
==============================

Spectral clustering maps each row to a point on a sphere, by eigenvectors of a neighbour graph, and
clusters the points with K-means. Means of points on a sphere are inside the sphere, where no row
can be. K-modes can replace K-means: its modes are where rows are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin_min
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from modeclust import KModes
from modeclust.plotting.palette import COLORS

X, y = load_digits(return_X_y=True)

# %%
# The graph joins each digit to its nearest neighbours. The rows of the ten leading eigenvectors,
# scaled to unit length, are the embedding by Ng, Jordan and Weiss.


def embed(n_neighbors):
    graph = kneighbors_graph(X, n_neighbors)
    graph = graph.maximum(graph.T)
    return normalize(spectral_embedding(graph, n_components=10, drop_first=False, random_state=0))


# %%
# A fit starts with K-means, which is the first point of its path. So means and modes are compared
# from the same start, here for several graphs.

print("neighbours  adjusted Rand index   shortest center     center to nearest row")
print("            K-means  K-modes      K-means  K-modes    K-means  K-modes")
for n_neighbors in (8, 10, 12, 14, 16):
    embedding = embed(n_neighbors)
    path = KModes(10, random_state=0).fit(embedding).path_
    ends = path[0], path[-1]  # means, modes
    index = [adjusted_rand_score(y, point.labels) for point in ends]
    length = [np.linalg.norm(point.centers, axis=1).min() for point in ends]
    gap = [pairwise_distances_argmin_min(point.centers, embedding)[1].mean() for point in ends]
    row = "{:10d}  {:7.3f}  {:7.3f}      {:7.3f}  {:7.3f}    {:7.3f}  {:7.3f}"
    print(row.format(n_neighbors, *index, *length, *gap))

# %%
# The labels of the default agree at least as well with the digits as those of K-means: its start
# moves a center if that raises the objective. The representatives differ most. If a cluster is one
# compact group, its mean is almost on the sphere. If it has several groups, its mean is between
# them, inside the sphere and far from every row. The mode is in the densest group.
#
# The plot shows the clusters of one graph, those with the shortest mean first, each with the digits
# nearest to its mean and to its mode. No row is within 0.1 of the mean of the first cluster, and
# about a fifth of its rows are within 0.1 of its mode.

embedding = embed(n_neighbors=10)
model = KModes(10, random_state=0).fit(embedding)
means, modes = model.path_[0].centers, model.modes_
order = np.argsort(np.linalg.norm(means, axis=1))
own = embedding[model.path_[0].labels == order[0]]
for centers, name in ((means, "mean"), (modes, "mode")):
    distances = np.linalg.norm(own - centers[order[0]], axis=1)
    shares = " ".join(f"{np.mean(distances < radius):.2f}" for radius in (0.1, 0.3, 0.5, 1))
    print(f"share of cluster {order[0]} within 0.1, 0.3, 0.5 and 1 of its {name}: {shares}")

fig = plt.figure(figsize=(9, 5), layout="constrained")
grid = fig.add_gridspec(3, 10, height_ratios=(2.2, 1, 1))
ax = fig.add_subplot(grid[0, :], xlim=(-0.5, 9.5), ylabel="length of the center")
ax.axhline(1, color="0.6", label="the sphere")
for line, centers, name, marker, color in (
    (1, means, "mean", "s", COLORS[2]),
    (2, modes, "mode", "o", COLORS[0]),
):
    lengths = np.linalg.norm(centers[order], axis=1)
    ax.plot(lengths, marker, color=color, ms=9, mec="white", label=f"K-{name}s")
    nearest, _ = pairwise_distances_argmin_min(centers[order], embedding)
    for column, row in enumerate(nearest):
        panel = fig.add_subplot(grid[line, column], xticks=[], yticks=[])
        panel.imshow(X[row].reshape(8, 8), cmap="gray_r")
        if column == 0:
            panel.set_ylabel(f"nearest\nto the {name}")
ax.set_xticks(range(10), [f"cluster {k}" for k in order])
ax.legend(loc="lower right")
plt.show()

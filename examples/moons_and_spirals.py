"""
Moons and spirals: clusters that are not convex
===============================================

K-means and K-modes assign each row to its nearest center, which splits curved clusters.
``LaplacianKModes`` starts from clusters of a graph of neighbours and keeps neighbours in the same
cluster. Each cluster still has a mode.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KDTree

from modeclust import KModes, LaplacianKModes, estimate_bandwidth
from modeclust.plotting.palette import COLORS


def make_spirals(turns, n_arms=3, n_rows=600, noise=0.03):
    """Return rows on spiral arms around the origin, and the arm of each row."""
    rng = np.random.RandomState(0)
    arm = np.arange(n_rows) % n_arms
    radius = np.sqrt(rng.uniform(0.25**2, 1, n_rows))
    angle = 2 * np.pi * (turns * radius + arm / n_arms)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + rng.normal(scale=noise, size=X.shape), arm


# %%
# Three clusterers
# ----------------
#
# All have their default parameters and the right number of clusters. The title of each panel is the
# adjusted Rand index: 1 is a perfect result, 0 is chance. The large dots are the means or modes.

datasets = {"moons": make_moons(500, noise=0.07, random_state=0), "spirals": make_spirals(0.75)}
clusterers = [KMeans(n_init=10), KModes(), LaplacianKModes()]

figure, axes = plt.subplots(2, 3, figsize=(9.5, 6), layout="constrained")
print("from a center to the nearest row, in bandwidths: median, largest")
for row, (name, (X, y)) in zip(axes, datasets.items(), strict=True):
    for ax, clusterer in zip(row, clusterers, strict=True):
        model = clusterer.set_params(n_clusters=len(set(y)), random_state=0).fit(X)
        ax.scatter(*X.T, s=6, c=np.array(COLORS)[model.labels_], alpha=0.6)
        centers = getattr(model, "modes_", model.cluster_centers_)
        ax.scatter(*centers.T, s=110, c=COLORS[: len(centers)], edgecolor="black", linewidth=2)
        agreement = adjusted_rand_score(y, model.labels_)
        ax.set(title=f"{type(model).__name__}: {agreement:.2f}", aspect="equal")
        ax.set(xticks=[], yticks=[])
        away = KDTree(X).query(centers)[0] / estimate_bandwidth(X)
        print(f"{name:>7}  {type(model).__name__:<15}  {np.median(away):.2f}  {away.max():.2f}")
    row[0].set_ylabel(name)
plt.show()

# %%
# The centers of K-means are far from all rows. The modes of the other two are among rows.
#
# How much a row belongs to a cluster
# -----------------------------------
#
# ``assignments_`` has the share of each row in each cluster, and ``predict_proba`` returns it for
# any point. Rows and points have the colours of the clusters, mixed by these shares; black dots are
# the modes. These moons are noisier and touch each other. With the automatic smoothing, nearly
# every row belongs to one cluster alone. A smaller smoothing leaves rows near the border in doubt,
# and more of these are in the wrong cluster than of the others.

X, y = make_moons(500, noise=0.15, random_state=0)
colors = np.array([to_rgb(color) for color in COLORS[:2]])
figure, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
for ax, smoothing in zip(axes, ("auto", 5), strict=True):
    model = LaplacianKModes(2, smoothing=smoothing).fit(X)
    (left, low), (right, high) = X.min(axis=0) - 0.15, X.max(axis=0) + 0.15
    plane = np.meshgrid(np.linspace(left, right, 200), np.linspace(low, high, 200))
    shares = model.predict_proba(np.reshape(plane, (2, -1)).T)
    mixed = (shares @ colors).reshape(200, 200, 3)
    ax.imshow(mixed, origin="lower", extent=(left, right, low, high), alpha=0.45)
    ax.scatter(*X.T, s=12, c=model.assignments_ @ colors, edgecolor="black", linewidth=0.3)
    ax.scatter(*model.modes_.T, s=90, color="black", edgecolor="white", linewidth=1.5)
    ax.set(title=f"smoothing {model.smoothing_:.3g}", xticks=[], yticks=[])

    commonest = np.array([np.bincount(y[model.labels_ == k]).argmax() for k in range(2)])
    wrong = commonest[model.labels_] != y
    sure = model.assignments_.max(axis=1) > 0.9
    print(
        f"smoothing {model.smoothing_:.3g}: {sure.sum()} rows belong to one cluster by more than "
        f"0.9, of these {wrong[sure].sum()} to a wrong one; of the other {(~sure).sum()}, "
        f"{wrong[~sure].sum()}"
    )
plt.show()

# %%
# Limits
# ------
#
# The fit starts from average linkage over the graph, and corrects little of it. Linkage cuts very
# long clusters: between the ends of one arm there are hardly any edges for their number of rows.
# Here it cuts arms of more than a full turn.

for turns in (0.5, 0.75, 1, 1.25, 1.5):
    X, y = make_spirals(turns)
    model = LaplacianKModes(3).fit(X)
    start, end = (adjusted_rand_score(y, labels) for labels in model.path_.labels[[0, -1]])
    print(f"{turns:4.2f} turns: adjusted Rand index {start:.2f} by linkage, {end:.2f} by the fit")

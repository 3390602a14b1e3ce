"""
Degrees of a graph
==================

The paper's example of a long tail. A random graph, in which all vertices have much the same
degree, is joined to a graph with hubs, whose degrees follow a power law. The degrees are one
number for each vertex: can they tell which graph a vertex comes from?
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes
from modeclust.plotting import PathDisplay

N_RANDOM, N_POWER = 500, 1500

# %%
# Both graphs come from networkx. Each vertex of the second has a weight drawn from a power law,
# and two of its vertices are joined with a probability in proportion to the product of their
# weights.

rng = np.random.default_rng(0)
random = nx.gnm_random_graph(N_RANDOM, 10 * N_RANDOM, seed=0)
weights = 80 * (1 + rng.pareto(1.5, N_POWER))
power = nx.expected_degree_graph(weights.tolist(), seed=0, selfloops=False)
graph = nx.disjoint_union(random, power)
graph.add_edges_from((int(rng.integers(N_RANDOM)), N_RANDOM + i) for i in range(10))

degrees = np.array([[degree] for _, degree in graph.degree], dtype=float)
is_power = np.arange(len(degrees)) >= N_RANDOM
print(graph)
for name, own in (("random graph", ~is_power), ("power law", is_power)):
    low, middle, high = np.quantile(degrees[own], (0, 0.5, 1))
    print(f"degrees of the {name}: {low:.0f} to {high:.0f}, median {middle:.0f}")

# %%
# K-means has two centroids to spend, and spends one on the tail: a mean is where squared distances
# balance, and those of the hubs are huge. Along the path the bandwidth falls, far vertices lose
# their pull, and each mode climbs to where many vertices are. The boundary, halfway between the
# two, follows.

model = KModes(2, bandwidth=2.0, n_bandwidths=40, random_state=0).fit(degrees)
agreement = [adjusted_rand_score(is_power, point.labels) for point in model.path_]
for point, index in list(zip(model.path_, agreement, strict=True))[::8]:
    low, high = np.sort(point.centers[:, 0])
    print(
        f"bandwidth {point.bandwidth:6.1f}: centroids at {low:5.1f} and {high:5.1f}, "
        f"{point.counts.min()} vertices in the smaller cluster, adjusted Rand index {index:.3f}"
    )

# %%
# The axis ends where the tail is thin; some hubs lie beyond. In the upper picture one cluster holds
# the random graph and most of the other one, and the second mean is out among the hubs, where few
# vertices are. In the lower one the boundary is in the gap between the graphs, and the modes are at
# their peaks.

fig, axes = plt.subplots(2, 1, figsize=(8, 6.4), sharex=True, layout="constrained")
for ax, bandwidth in zip(axes, (np.inf, None), strict=True):
    PathDisplay.from_estimator(
        model,
        degrees,
        bandwidth=bandwidth,
        feature_names=["degree"],
        bins=np.arange(0, degrees.max() + 8, 8),
        legend=bandwidth is None,
        ax=ax,
    )
    ax.set_xlim(0, 800)
axes[0].set_xlabel("")
plt.show()

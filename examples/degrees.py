"""
Degrees of a graph
==================

This is the paper's example of a long tail. A random graph, in which all vertices have similar
degrees, is joined to a graph with hubs, whose degrees follow a power law. Can the degree of a
vertex tell which graph it comes from?
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes
from modeclust.plotting import PathDisplay

N_RANDOM, N_POWER = 500, 1500

# %%
# Both graphs are made with networkx. Each vertex of the second graph has a weight drawn from a
# power law, and the probability that two vertices are joined is proportional to the product of
# their weights.

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
# K-means uses one of its two centers for the tail, because the squared distances of the hubs are
# huge. As the bandwidth decreases along the path, far vertices lose their weight, and each center
# moves to where many vertices are. The boundary between the two clusters moves with them. This is
# the algorithm of the paper: one bandwidth for labels and modes, which we set.

model = KModes(2, bandwidth=2.0, n_bandwidths=40, random_state=0).fit(degrees)
agreement = [adjusted_rand_score(is_power, point.labels) for point in model.path_]
for point, index in list(zip(model.path_, agreement, strict=True))[::8]:
    low, high = np.sort(point.centers[:, 0])
    print(
        f"bandwidth {point.bandwidth:6.1f}: modes at {low:5.1f} and {high:5.1f}, "
        f"{point.counts.min()} vertices in the smaller cluster, adjusted Rand index {index:.3f}"
    )

# %%
# Some hubs are beyond the end of the axis. In the upper plot, one cluster contains the random graph
# and most of the other graph, and the second mean is among the hubs, where there are few vertices.
# In the lower plot, the boundary is in the gap between the graphs, and the modes are at their
# peaks.

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

"""The graph of fig. 4: a random one, joined by a few edges to one of a power law."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

Doubles = npt.NDArray[np.float64]

LEAST, EXPONENT = 131.0, 1.5  # of the weights of the power law
N_LINKS = 10


class Sizes(NamedTuple):
    """Vertices and edges of the two graphs."""

    n_random: int
    m_random: int
    n_power: int
    m_power: int


def build_graph(sizes: Sizes, seed: int) -> Any:
    """Return a random graph joined to one of a power law by a few edges, connected.

    The vertices of the random graph come first.
    """
    import networkx as nx

    random = nx.gnm_random_graph(sizes.n_random, sizes.m_random, seed=seed)
    power = power_law_graph(sizes.n_power, sizes.m_power, seed)
    graph = nx.disjoint_union(random, power)
    rng = np.random.RandomState(seed)
    # Edges that are drawn twice are one.
    graph.add_edges_from(
        zip(
            rng.randint(sizes.n_random, size=N_LINKS).tolist(),
            (sizes.n_random + rng.randint(sizes.n_power, size=N_LINKS)).tolist(),
            strict=True,
        )
    )
    if not nx.is_connected(graph):
        raise ValueError(f"the graph of seed {seed} is not connected; use another.")
    return graph


def power_law_graph(n_vertices: int, n_edges: int, seed: int) -> Any:
    """Return a simple graph of so many edges, whose degrees follow a power law.

    As by Chung and Lu, two vertices are joined with a probability in proportion to the product
    of their weights, and surely where that is past 1. The weights are scaled so that the number
    of edges is right on average; the few that are then missing or too many are drawn evenly.
    """
    import networkx as nx

    rng = np.random.RandomState(seed)
    weights = LEAST * (1 + rng.pareto(EXPONENT, n_vertices))
    graph = nx.expected_degree_graph(
        (weights * scale_for(weights, n_edges)).tolist(), seed=seed, selfloops=False
    )
    edges = list(graph.edges)
    for i in rng.permutation(len(edges))[n_edges:]:
        graph.remove_edge(*edges[i])
    while graph.number_of_edges() < n_edges:
        u, v = rng.choice(n_vertices, 2, replace=False).tolist()
        graph.add_edge(u, v)
    return graph


def scale_for(weights: Doubles, n_edges: int) -> float:
    """Return what to multiply weights by, so that a graph has so many edges on average."""
    products = np.outer(weights, weights)[np.triu_indices(len(weights), 1)] / weights.sum()

    def excess(log_scale: float) -> float:
        return float(np.minimum(np.exp(log_scale) * products, 1).sum() - n_edges)

    return float(np.exp(brentq(excess, -5, 5, xtol=1e-6)))

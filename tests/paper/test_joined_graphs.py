import networkx as nx
import numpy as np
import pytest

from modeclust.paper.joined_graphs import N_LINKS, Sizes, build_graph, power_law_graph, scale_for

SIZES = Sizes(50, 300, 200, 3_000)


def test_graphs_have_their_vertices_and_edges():
    graph = build_graph(SIZES, 0)
    random, power = graph.subgraph(range(50)), graph.subgraph(range(50, 250))
    assert (random.number_of_nodes(), random.number_of_edges()) == (50, 300)
    assert (power.number_of_nodes(), power.number_of_edges()) == (200, 3_000)
    between = graph.number_of_edges() - 300 - 3_000
    assert 1 <= between <= N_LINKS
    assert nx.is_connected(graph)
    assert nx.number_of_selfloops(graph) == 0
    assert not graph.is_multigraph()


def test_a_seed_gives_one_graph():
    edges = set(build_graph(SIZES, 0).edges)
    assert edges == set(build_graph(SIZES, 0).edges)
    assert edges != set(build_graph(SIZES, 1).edges)


def test_a_graph_in_pieces_is_refused():
    with pytest.raises(ValueError, match="not connected"):
        build_graph(SIZES._replace(m_random=5), 0)


def test_degrees_have_a_long_tail():
    degrees = np.array([degree for _, degree in power_law_graph(1_000, 20_000, 0).degree])
    assert degrees.sum() == 40_000
    assert np.median(degrees) < degrees.mean() < degrees.max() / 5


def test_scale_by_hand():
    # Three pairs, each joined with probability 1 / 3 before it is scaled.
    assert scale_for(np.ones(3), 2) == pytest.approx(2)
